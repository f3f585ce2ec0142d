/* The lookup in an image's table of functions (.pdata of x64).  Freestanding, so that tests on any
 * system reach it.
 *
 * A row has 12 bytes: first rva, end rva, rva of the unwind data.  Rows are sorted by their first
 * rva and do not overlap. Lowest bit of the third set: the row shares its unwind data with another
 * row, at the rva without that bit.
 * https://learn.microsoft.com/en-us/cpp/build/exception-handling-x64#struct-runtime_function; the
 * shared form is in none of Microsoft's pages, but RtlLookupFunctionEntry follows it. */
#ifndef CAPTURE_FUNCTION_TABLE_H
#define CAPTURE_FUNCTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct cap_function_row {
    uint32_t start_rva, end_rva, unwind_rva;
};

/* The row whose unwind data describes RVA, borrowed from the image at BASE; NULL: none, so RVA is
 * in a leaf or in no function. */
static inline const struct cap_function_row *
cap_crash_function_row(const uint8_t *base, const struct cap_function_row *rows, uint32_t count,
                       uint32_t rva)
{
    uint32_t low = 0, high = count;
    while (low < high) { /* the first row that starts after it */
        const uint32_t middle = low + (high - low) / 2;
        if (rows[middle].start_rva <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || rva >= rows[low - 1].end_rva)
        return NULL;
    const struct cap_function_row *found = &rows[low - 1];
    if ((found->unwind_rva & 1) != 0)
        found = (const struct cap_function_row *)(const void *)(base + (found->unwind_rva & ~1u));
    return found;
}

#endif
