#include "victims/victim.h"

static int compare(const void *a, const void *b)
{
    (void)a, (void)b;
    return HERE(*victim_null) + 1;
}

static int sort_them(int *numbers)
{
    HERE_DO(qsort(numbers, 8, sizeof numbers[0], compare));
    return numbers[0];
}

SCENARIO(sort_callback, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A crash in the comparison of qsort: the C runtime's frames lie in between.")
{
    int numbers[8] = {3, 1, 2, 4, 6, 5, 8, 7};
    return HERE(sort_them(numbers)) + 1;
}
