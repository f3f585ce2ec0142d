/* What lookups in damaged symbols may answer, for tests that take pieces away. */
#ifndef TESTS_CUT_FRAMES_H
#define TESTS_CUT_FRAMES_H

#include <stdbool.h>
#include <string.h>

#include "symbol/symbol_store.h"

static inline bool text_same_or_lost(const char *now, const char *whole)
{
    return now == NULL || now[0] == '\0' || (whole != NULL && strcmp(now, whole) == 0);
}

/* True if NOW has the frames of WHOLE, which may lack functions, files and lines, but has no
 * others. Notes do not count here. */
static inline bool frames_same_or_lost(const struct symbol_frame *now, uint32_t now_count,
                                       const struct symbol_frame *whole, uint32_t whole_count)
{
    if (now_count != whole_count)
        return false;
    for (uint32_t i = 0; i < now_count; i++)
        if (!text_same_or_lost(now[i].function, whole[i].function) ||
            !text_same_or_lost(now[i].file, whole[i].file) ||
            (now[i].line != 0 && now[i].line != whole[i].line))
            return false;
    return true;
}

#endif
