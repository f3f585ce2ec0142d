/* See nearest.h. */
#include "verbs/nearest.h"

#include <string.h>

enum { NAME_MAX_BYTES = 40, LETTERS_PER_MISTAKE = 3, MISTAKES_MAX = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters that must be inserted, dropped, changed or swapped with the next one (Damerau). */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t k = 0; k <= b_length; k++)
        before[k] = last[k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            row[k] = least(least(last[k], row[k - 1]) + 1, last[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = least(row[k], before[k - 2] + 1);
        }
        size_t *const free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b_length];
}

void nearest_begin(struct nearest *nearest, const char *word, size_t length)
{
    const size_t most = least(length / LETTERS_PER_MISTAKE, MISTAKES_MAX);
    *nearest = (struct nearest){word, length, NULL, most + 1};
}

void nearest_look(struct nearest *nearest, const char *name)
{
    const size_t length = name != NULL ? strlen(name) : 0;
    if (length == 0 || length > NAME_MAX_BYTES || nearest->length > NAME_MAX_BYTES)
        return;
    const size_t distance = distance_of(nearest->word, nearest->length, name, length);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->name = name;
    }
}
