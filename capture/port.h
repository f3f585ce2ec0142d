/* The one place for compiler extensions in victims/ and capture/: what C11 cannot say and
 * MSVC, clang-cl and clang for mingw-w64 say differently. */
#ifndef CAPTURE_PORT_H
#define CAPTURE_PORT_H

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define NOINLINE __declspec(noinline)
#define PAUSE() _mm_pause()
#define UNREACHABLE() __assume(0)
/* Pointers collected by the linker between section $a and section $z, in link order. */
#pragma section("vict$a", read)
#pragma section("vict$m", read)
#pragma section("vict$z", read)
#define IN_SECTION(name) __declspec(allocate(name))
#else
#define NOINLINE __attribute__((noinline))
#define PAUSE() __builtin_ia32_pause()
#define UNREACHABLE() __builtin_unreachable()
#define IN_SECTION(name) __attribute__((section(name), used))
#endif

/* Naked functions with AT&T assembler inside: clang only.  What needs them is not there
 * elsewhere, and says so. */
#if defined(__clang__)
#define HAVE_NAKED 1
#define NAKED __attribute__((naked, noinline))
#else
#define HAVE_NAKED 0
#endif

/* A pointer-sized slot of the thread's environment block, without a call. */
#if defined(_MSC_VER) && !defined(__clang__)
#if defined(_M_X64)
#define TEB_SLOT(offset) ((void *)__readgsqword((unsigned long)(offset)))
#else
#define TEB_SLOT(offset) ((void *)__readfsdword((unsigned long)(offset)))
#endif
#elif defined(__x86_64__)
#define TEB_SLOT(offset)                                                                           \
    (*(void *__attribute__((address_space(256))) const volatile *)(uintptr_t)(offset))
#else
#define TEB_SLOT(offset)                                                                           \
    (*(void *__attribute__((address_space(257))) const volatile *)(uintptr_t)(offset))
#endif

/* Where TlsSlots starts in the thread's environment block. */
#if defined(_WIN64)
enum { TEB_TLS_SLOTS = 0x1480 };
#else
enum { TEB_TLS_SLOTS = 0xE10 };
#endif

#endif
