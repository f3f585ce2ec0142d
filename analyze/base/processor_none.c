/* processor.h on Windows, where no program waits for a server for each piece of memory, and on
 * other systems without Linux's call: the system places programs by itself. */
#include "base/processor.h"

int processor_number(uint32_t n)
{
    (void)n;
    return -1;
}

void processor_stay(int number)
{
    (void)number;
}

void processor_move(uint64_t id, int number)
{
    (void)id;
    (void)number;
}
