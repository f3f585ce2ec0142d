/* What an emulator of the processor lacks. */
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <string.h>
#endif

#include "victims/victim.h"

/* QEMU's translator names itself where hypervisors do, in leaf 0x40000000 ("Hypervisor CPUID" of
 * its documentation). It computes with floating-point exceptions masked, whatever the program says.
 */
const char *victim_without_float_traps(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned eax = 0, words[3] = {0};

    __cpuid(0x40000000, eax, words[0], words[1], words[2]);
    if (memcmp(words, "TCGTCGTCGTCG", sizeof words) == 0)
        return "the emulator of this processor raises no floating-point exceptions";
#endif
    return NULL;
}
