#include "victims/victim.h"

#include <emmintrin.h>

#if HAVE_NAKED
enum { LINE_OF_LOAD = __LINE__ + 3 };
static NAKED int load_aligned(const void *p)
{
    __asm__("movaps 1(%rcx), %xmm0\n"
            "ret");
}
#elif HAVE_NAKED_X86
enum { LINE_OF_LOAD = __LINE__ + 3 };
static NAKED_X86 int load_aligned(const void *p)
{
    __asm__("movl 4(%esp), %eax\n"
            "movaps 1(%eax), %xmm0\n"
            "ret");
}
#else
enum { LINE_OF_LOAD = 0 };
static NOINLINE int load_aligned(const void *p)
{
    return _mm_cvtsi128_si32(_mm_load_si128((const __m128i *)((const char *)p + 1)));
}
#endif

SCENARIO(misaligned_sse, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence =
             "An aligned load from an odd address: an access violation, not a misalignment, "
             "and no address to go by.")
{
    static volatile char room[64];
    return HERE_LEAF(load_aligned, LINE_OF_LOAD, load_aligned((const void *)(uintptr_t)room)) + 1;
}
