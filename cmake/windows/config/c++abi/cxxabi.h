/* In place of libc++abi's own header, whose declarations clash with those of mingw's C++ headers.
 */
#include <__cxxabi_config.h>

#define _LIBCXXABI_NORETURN __attribute__((noreturn))
#define _LIBCXXABI_ASSERT(expr, message) ((expr) ? (void)0 : __builtin_trap())
