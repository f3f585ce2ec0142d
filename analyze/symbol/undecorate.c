/* Turns linker names into readable ones: detects the kind of decoration and handles the simple
 * kinds; see undecorate.h. MSVC's C++ names: undecorate_msvc.c. */
#include "symbol/undecorate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TWINSTACK_LIBIBERTY
#include <libiberty/demangle.h>
#endif

#include "base/array.h"
#include "symbol/undecorate_itanium.h"
#include "symbol/undecorate_msvc.h"

static size_t write_text(const char *text, size_t bytes, char *out, size_t out_bytes)
{
    if (bytes == 0 || bytes >= out_bytes)
        return 0;
    memmove(out, text, bytes);
    out[bytes] = '\0';
    return bytes;
}

#ifdef TWINSTACK_LIBIBERTY
/* Where the parameters of TEXT start that end it: at its last opening parenthesis of that level. */
static size_t parameters_start(const char *text)
{
    size_t at = strlen(text), depth = 0;
    if (at == 0 || text[at - 1] != ')')
        return at;
    do {
        at--;
        if (text[at] == ')')
            depth++;
        else if (text[at] == '(')
            depth--;
    } while (at > 0 && depth > 0);
    return depth == 0 && at > 0 ? at : strlen(text);
}
#endif

/* D names, through libiberty: "_D3app4mainFZv". */
static size_t undecorate_d(const char *name, enum symbol_names names, char *out, size_t out_bytes)
{
#ifdef TWINSTACK_LIBIBERTY
    char *text = cplus_demangle(name, DMGL_DLANG);
    size_t bytes = 0;
    if (text != NULL)
        bytes = write_text(text, names == NAMES_FULL ? strlen(text) : parameters_start(text), out,
                           out_bytes);
    free(text);
    return bytes;
#else
    (void)name, (void)names, (void)out, (void)out_bytes;
    return 0;
#endif
}

size_t undecorate_ada(const char *name, char *out, size_t out_bytes)
{
    size_t bytes = 0;
#ifdef TWINSTACK_LIBIBERTY
    char *text = ada_demangle(name, 0);
    if (text != NULL && text[0] != '<') /* "<name>": it cannot read this */
        bytes = write_text(text, strlen(text), out, out_bytes);
    free(text);
#else
    (void)name;
#endif
    if (bytes == 0 && out_bytes > 0)
        out[0] = '\0';
    return bytes;
}

/* gfortran's name of a procedure of a module: "__shapes_MOD_area". */
static size_t undecorate_fortran(const char *name, char *out, size_t out_bytes)
{
    const char *middle = strstr(name, "_MOD_");
    if (middle == NULL || middle == name + 2 || middle[5] == '\0')
        return 0;
    const int bytes =
        snprintf(out, out_bytes, "%.*s::%s", (int)(middle - name - 2), name + 2, middle + 5);
    return bytes > 0 && (size_t)bytes < out_bytes ? (size_t)bytes : 0;
}

static bool is_d(const char *name)
{
    return name[0] == '_' && name[1] == 'D' && name[2] >= '0' && name[2] <= '9';
}

static bool is_fortran(const char *name)
{
    return name[0] == '_' && name[1] == '_' && strstr(name, "_MOD_") != NULL;
}

/* The length of the argument-bytes suffix of "name@8"; 0 when NAME has none. */
static size_t stack_suffix(const char *name, size_t bytes)
{
    size_t digits = 0;
    while (digits < bytes && name[bytes - 1 - digits] >= '0' && name[bytes - 1 - digits] <= '9')
        digits++;
    return digits > 0 && digits < 6 && digits < bytes && name[bytes - 1 - digits] == '@'
               ? digits + 1
               : 0;
}

/* A C++ name with the decoration of its calling convention on x86: "_Z1fi@4", its prefix already
 * taken off. */
static size_t undecorate_wrapped(const char *name, enum symbol_names names, char *out,
                                 size_t out_bytes)
{
    char base[UNDECORATED_BYTES];
    const size_t bytes = strlen(name);
    const size_t suffix = stack_suffix(name, bytes);

    if (suffix == 0 || write_text(name, bytes - suffix, base, sizeof base) == 0)
        return undecorate_itanium(name, names, out, out_bytes);
    return undecorate_itanium(base, names, out, out_bytes);
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

/* What rustc writes into names of its older form, where they are not wrapped in "_ZN...E". */
static const struct {
    const char *escape, *text;
} rust_escapes[] = {
    {"$LT$", "<"},  {"$GT$", ">"},  {"$RF$", "&"},  {"$BP$", "*"},  {"$C$", ","},
    {"$LP$", "("},  {"$RP$", ")"},  {"$SP$", "@"},  {"$u20$", " "}, {"$u22$", "\""},
    {"$u27$", "'"}, {"$u2b$", "+"}, {"$u3b$", ";"}, {"$u5b$", "["}, {"$u5d$", "]"},
    {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"},
};

static size_t undecorate_rust(const char *name, char *out, size_t out_bytes)
{
    size_t at = 0, escapes = 0;
    if (strstr(name, "$LT$") == NULL && strstr(name, "$u") == NULL)
        return 0;
    if (name[0] == '_' && name[1] == '$')
        name++;
    while (*name != '\0' && at + 2 < out_bytes) {
        const char *text = NULL;
        for (size_t i = 0; i < COUNT_OF(rust_escapes) && text == NULL; i++) {
            const size_t bytes = strlen(rust_escapes[i].escape);
            if (strncmp(name, rust_escapes[i].escape, bytes) == 0) {
                text = rust_escapes[i].text;
                name += bytes;
                escapes += bytes > 2;
            }
        }
        for (; text != NULL && *text != '\0'; text++)
            out[at++] = *text;
        if (text == NULL)
            out[at++] = *name++;
    }
    out[at] = '\0';
    return *name == '\0' && escapes > 0 ? at : 0;
}

/* arm64ec: the code between a function and its x64 callers or callees, "f$exit_thunk". */
static size_t undecorate_thunk(const char *name, enum symbol_names names, bool x86, char *out,
                               size_t out_bytes)
{
    static const char *const kinds[][2] = {{"$exit_thunk", "`exit thunk'"},
                                           {"$entry_thunk", "`entry thunk'"}};
    char whole[UNDECORATED_BYTES], base[UNDECORATED_BYTES];
    const size_t length = strlen(name);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const size_t tail = strlen(kinds[i][0]);
        if (length <= tail || length - tail >= sizeof whole ||
            strstr(name, kinds[i][0]) != name + length - tail) /* once, so that it goes no deeper */
            continue;
        memcpy(whole, name, length - tail);
        whole[length - tail] = '\0';
        const char *text = undecorate(whole, names, x86, base, sizeof base) != 0 ? base : whole;
        const int bytes = snprintf(out, out_bytes, "[thunk]:%s%s", text, kinds[i][1]);
        return bytes > 0 && (size_t)bytes < out_bytes ? (size_t)bytes : 0;
    }
    return 0;
}

bool undecorate_is_decorated(const char *name)
{
    return name[0] == '?' || strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ||
           is_d(name) || is_fortran(name) ||
           (strchr(name, '$') != NULL &&
            (strstr(name, "$LT$") != NULL || strstr(name, "$u20$") != NULL ||
             strstr(name, "$exit_thunk") != NULL || strstr(name, "$entry_thunk") != NULL));
}

size_t undecorate(const char *name, enum symbol_names names, bool x86, char *out, size_t out_bytes)
{
    size_t bytes = 0;

    if (out_bytes == 0)
        return 0;
    out[0] = '\0';
    if (names == NAMES_DECORATED)
        return 0;
    /* arm64ec code has its usual name after one '#'. "#5" is an export without a name. */
    if (name[0] == '#' && strchr("#0123456789", name[1]) == NULL) {
        bytes = undecorate(name + 1, names, x86, out, out_bytes);
        return bytes != 0 ? bytes : write_text(name + 1, strlen(name + 1), out, out_bytes);
    }
    bytes = undecorate_thunk(name, names, x86, out, out_bytes);
    if (bytes != 0)
        return bytes;
    if (name[0] == '?')
        bytes = undecorate_msvc(name, names, out, out_bytes);
    else if (x86 && (strncmp(name, "__Z", 3) == 0 || strncmp(name, "@_Z", 3) == 0))
        bytes = undecorate_wrapped(name + 1, names, out, out_bytes);
    else if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0)
        bytes = undecorate_itanium(name, names, out, out_bytes);
    else if (is_d(name) || (x86 && name[0] == '_' && is_d(name + 1)))
        bytes = undecorate_d(name + (name[1] == '_'), names, out, out_bytes);
    else if (is_fortran(name))
        bytes = undecorate_fortran(name + (x86 && name[2] == '_'), out, out_bytes);
    if (bytes == 0 && name[0] != '?')
        bytes = undecorate_rust(name, out, out_bytes);
    if (bytes == 0 && name[0] != '?')
        bytes = undecorate_c(name, x86, out, out_bytes);
    if (bytes == 0)
        out[0] = '\0';
    return bytes;
}
