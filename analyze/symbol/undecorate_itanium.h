/* Itanium C++ names and Rust's; use them through undecorate.h. LLVM's demangler, which C++'s
 * runtime library has, reads C++ of any year; libiberty reads Rust's names, and what LLVM's leaves.
 */
#ifndef SYMBOL_UNDECORATE_ITANIUM_H
#define SYMBOL_UNDECORATE_ITANIUM_H

#include "symbol/undecorate.h"

/* NAME starts with "_Z" or "_R".  As undecorate(); 0: not understood, or built without both
 * libraries. */
size_t undecorate_itanium(const char *name, enum symbol_names names, char *out, size_t out_bytes);

#endif
