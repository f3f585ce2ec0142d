/* Linker names to readable ones: which kind of decoration it is, and the simple kinds; see
 * undecorate.h.  MSVC's C++ names: undecorate_msvc.c. */
#include "symbol/undecorate.h"

#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "symbol/undecorate_msvc.h"

static size_t write_text(const char *text, size_t bytes, char *out, size_t out_bytes)
{
    if (bytes == 0 || bytes >= out_bytes)
        return 0;
    memmove(out, text, bytes);
    out[bytes] = '\0';
    return bytes;
}

/* Itanium C++ and Rust names, as mingw and rustc make them, through libiberty. */
static size_t undecorate_itanium(const char *name, enum symbol_names names, char *out,
                                 size_t out_bytes)
{
    const int options = DMGL_AUTO | (names == NAMES_FULL ? DMGL_PARAMS | DMGL_ANSI : 0);
    char *text = cplus_demangle(name, options);
    const size_t bytes = text != NULL ? write_text(text, strlen(text), out, out_bytes) : 0;
    free(text);
    return bytes;
}

/* The count of argument bytes at the end of "name@8"; 0 when NAME does not end so. */
static size_t stack_suffix(const char *name, size_t bytes)
{
    size_t digits = 0;
    while (digits < bytes && name[bytes - 1 - digits] >= '0' && name[bytes - 1 - digits] <= '9')
        digits++;
    return digits > 0 && digits < 6 && digits < bytes && name[bytes - 1 - digits] == '@'
               ? digits + 1
               : 0;
}

/* C names: _name (cdecl), _name@8 (stdcall), @name@8 (fastcall) on x86; name@@16 (vectorcall). */
static size_t undecorate_c(const char *name, bool x86, char *out, size_t out_bytes)
{
    const size_t bytes = strlen(name);
    const size_t suffix = stack_suffix(name, bytes);

    if (suffix > 0 && bytes > suffix + 1 && name[bytes - suffix - 1] == '@')
        return write_text(name, bytes - suffix - 1, out, out_bytes);
    if (!x86)
        return 0;
    if (name[0] == '@' && suffix > 0)
        return write_text(name + 1, bytes - 1 - suffix, out, out_bytes);
    if (name[0] == '_')
        return write_text(name + 1, bytes - 1 - suffix, out, out_bytes);
    return 0;
}

size_t undecorate(const char *name, enum symbol_names names, bool x86, char *out, size_t out_bytes)
{
    size_t bytes = 0;

    if (out_bytes == 0)
        return 0;
    out[0] = '\0';
    if (names == NAMES_DECORATED)
        return 0;
    if (name[0] == '#' && name[1] != '\0') { /* arm64ec code; its other names are as everywhere */
        bytes = undecorate(name + 1, names, x86, out, out_bytes);
        return bytes != 0 ? bytes : write_text(name + 1, strlen(name + 1), out, out_bytes);
    }
    if (name[0] == '?')
        bytes = undecorate_msvc(name, names, out, out_bytes);
    else if (x86 && strncmp(name, "__Z", 3) == 0)
        bytes = undecorate_itanium(name + 1, names, out, out_bytes);
    else if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0)
        bytes = undecorate_itanium(name, names, out, out_bytes);
    if (bytes == 0 && name[0] != '?')
        bytes = undecorate_c(name, x86, out, out_bytes);
    if (bytes == 0)
        out[0] = '\0';
    return bytes;
}
