/* The one place for compiler extensions in victims/ and capture/: what C11 cannot express and MSVC,
 * clang-cl, and clang and gcc for mingw-w64 spell differently. */
#ifndef CAPTURE_PORT_H
#define CAPTURE_PORT_H

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define NOINLINE __declspec(noinline)
#define PAUSE() _mm_pause()
#define UNREACHABLE() __assume(0)
#define ALIGNED(bytes) __declspec(align(bytes))
/* Pointers collected by the linker between section $a and section $z, in link order. */
#pragma section("vict$a", read)
#pragma section("vict$m", read)
#pragma section("vict$z", read)
#define IN_SECTION(name) __declspec(allocate(name))
#else
#define NOINLINE __attribute__((noinline))
#define PAUSE() __builtin_ia32_pause()
#define UNREACHABLE() __builtin_unreachable()
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define IN_SECTION(name) __attribute__((section(name), used))
#endif

/* Copies without a call, as fast as the processor can: a thread is suspended meanwhile. */
#if defined(_MSC_VER) && !defined(__clang__)
#define COPY_BYTES(to, from, bytes)                                                                \
    __movsb((unsigned char *)(to), (const unsigned char *)(from), (bytes))
#else
#define COPY_BYTES(to, from, bytes)                                                                \
    do {                                                                                           \
        void *copy_to_ = (to);                                                                     \
        const void *copy_from_ = (from);                                                           \
        size_t copy_bytes_ = (bytes);                                                              \
        __asm__ volatile("rep movsb"                                                               \
                         : "+D"(copy_to_), "+S"(copy_from_), "+c"(copy_bytes_)                     \
                         :                                                                         \
                         : "memory");                                                              \
    } while (0)
#endif

/* Naked functions with AT&T assembler of x64 inside: clang only. Other compilers leave out the code
 * that needs them, and report that. */
#if defined(__clang__) && defined(__x86_64__)
#define HAVE_NAKED 1
#define NAKED __attribute__((naked, noinline))
#else
#define HAVE_NAKED 0
#endif
#if defined(__clang__) && defined(__i386__)
#define HAVE_NAKED_X86 1
#define NAKED_X86 __attribute__((naked, noinline))
#else
#define HAVE_NAKED_X86 0
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define RETURN_ADDRESS_SLOT() ((volatile uintptr_t *)_AddressOfReturnAddress())
#define HALT() __halt()
#define ILLEGAL() __ud2()
#else /* a frame address makes the function keep its frame pointer */
#define RETURN_ADDRESS_SLOT() ((volatile uintptr_t *)__builtin_frame_address(0) + 1)
#define HALT() __asm__ volatile("hlt")
#define ILLEGAL() __asm__ volatile("ud2")
#endif

/* The x87 and SSE units as a program starts with them: no exception is raised. */
#if defined(_MSC_VER) && !defined(__clang__)
#define RESET_FLOATING_POINT()                                                                     \
    do {                                                                                           \
        __declspec(align(16)) unsigned char fp_area_[512];                                         \
        _fxsave(fp_area_);                                                                         \
        *(unsigned short *)(void *)fp_area_ = 0x27F;                                               \
        fp_area_[2] = 0; /* exceptions that are pending */                                         \
        *(unsigned *)(void *)(fp_area_ + 24) = 0x1F80;                                             \
        _fxrstor(fp_area_);                                                                        \
    } while (0)
#else
#define RESET_FLOATING_POINT()                                                                     \
    do {                                                                                           \
        const unsigned short fp_x87_ = 0x27F;                                                      \
        const unsigned fp_sse_ = 0x1F80;                                                           \
        __asm__ volatile("fnclex\n\tfldcw %0\n\tldmxcsr %1" : : "m"(fp_x87_), "m"(fp_sse_));       \
    } while (0)
#endif

/* 32-bit headers silently leave these to the compiler. */
#if defined(__clang__) && defined(__i386__) && !defined(__cplusplus)
long long _InterlockedExchangeAdd64(long long volatile *, long long);
long long _InterlockedExchange64(long long volatile *, long long);
long long _InterlockedIncrement64(long long volatile *);
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
