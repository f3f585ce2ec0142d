/* See slots.h. */
#include "base/slots.h"

#include <stdlib.h>
#include <string.h>

bool slots_reserve(struct slots *slots, uint32_t first)
{
    if (slots->used < slots->count / 2)
        return true;
    struct slots wider = {.count = slots->count != 0 ? slots->count * 2 : first,
                          .used = slots->used};
    wider.at = wider.count != 0 ? calloc(wider.count, sizeof *wider.at) : NULL;
    if (wider.at == NULL)
        return false;
    for (uint32_t i = 0; i < slots->count; i++) {
        uint32_t at = slots->at[i].hash;
        if (slots->at[i].row == 0)
            continue;
        while (wider.at[at & (wider.count - 1)].row != 0)
            at++;
        wider.at[at & (wider.count - 1)] = slots->at[i];
    }
    free(slots->at);
    *slots = wider;
    return true;
}

void slots_clear(struct slots *slots)
{
    slots->used = 0;
    if (slots->at != NULL)
        memset(slots->at, 0, slots->count * sizeof *slots->at);
}
