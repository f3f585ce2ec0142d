#include "victims/victim.h"

static volatile int rounds;

static int compare(const void *a, const void *b)
{
    (void)a, (void)b;
    HERE_BLOCK(while (victim_zero == 0) rounds++;);
    return rounds;
}

static int sort_them(int *numbers)
{
    HERE_DO(qsort(numbers, 8, sizeof numbers[0], compare));
    return numbers[0];
}

SCENARIO(sort_spin, .kind = KIND_HANG, .group = "A5",
         .sentence = "A comparison that never ends, called from the C runtime's sort.")
{
    int numbers[8] = {3, 1, 2, 4, 6, 5, 8, 7};
    victim_ready();
    return HERE(sort_them(numbers)) + 1;
}
