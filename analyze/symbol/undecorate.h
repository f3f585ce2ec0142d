/* Turns linker names into names that people read: MSVC's C++ decoration ("?f@ns@@YAHH@Z"), the
 * decorations of C on x86 (_name, _name@8, @fast@8, name@@16), Rust's legacy and v0 forms, D's and
 * those of gfortran's modules.
 *
 * A name is rewritten only if every character of it is understood; otherwise it is left unchanged.
 * NAMES_SHORT is what Windows debuggers show: scopes, name and template arguments, as compilers
 * spell them. NAMES_FULL adds parameters and "const" of the member function; it leaves out every
 * calling convention, and "enum" in template arguments. Both leave out return type, access and the
 * convention of the function itself. No parameters are "(void)". symbol/README.md compares both
 * with Microsoft's UnDecorateSymbolName.
 *
 * Form of the decoration: https://llvm.org/doxygen/MicrosoftDemangle_8cpp_source.html and
 * https://en.wikiversity.org/wiki/Visual_C%2B%2B_name_mangling (facts, not code). */
#ifndef SYMBOL_UNDECORATE_H
#define SYMBOL_UNDECORATE_H

#include <stdbool.h>
#include <stddef.h>

enum symbol_names { NAMES_SHORT, NAMES_FULL, NAMES_DECORATED };

/* Enough for nearly every name; longer ones stay decorated. */
enum { UNDECORATED_BYTES = 16384 };

/* True for a name that should not be shown unchanged: decorated C++ and Rust names and arm64ec's
 * thunks, but not decorated C names. */
bool undecorate_is_decorated(const char *name);

/* The same for a name of an Ada unit ("shapes__nested__go"), which only its language distinguishes
 * from a C name. */
size_t undecorate_ada(const char *name, char *out, size_t out_bytes);

/* Writes the readable form of NAME (NUL-terminated) to OUT, with a NUL, and returns its length
 * without it; 0: not understood, too long or NAMES_DECORATED, and OUT is "": show NAME unchanged.
 * X86: also undo the C decorations of 32-bit x86, which on other machines would be plain names. */
size_t undecorate(const char *name, enum symbol_names names, bool x86, char *out, size_t out_bytes);

#endif
