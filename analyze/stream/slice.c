/* See slice.h. */
#include "stream/slice.h"

#include <string.h>

#include "base/text.h"

static const char mark[] = "#slice\t";
enum { DIGEST_DIGITS = 64, COLUMNS = 5 };

bool slice_is_text(const char *text, size_t bytes)
{
    return bytes >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0;
}

char *slice_write(const struct slice *slice, struct arena *keep, size_t *bytes)
{
    const char *head = arena_printf(keep, "%s1\t%s\t%u\t%u\t%s\n", mark, slice->of,
                                    (unsigned)slice->number, (unsigned)slice->count, slice->digest);
    const size_t head_bytes = head != NULL ? strlen(head) : 0;
    char *text = head != NULL ? arena_alloc(keep, head_bytes + slice->bytes + 1) : NULL;
    if (text == NULL)
        return NULL;
    memcpy(text, head, head_bytes);
    memcpy(text + head_bytes, slice->data, slice->bytes);
    *bytes = head_bytes + slice->bytes;
    return text;
}

static bool is_digest(const char *text)
{
    return strlen(text) == DIGEST_DIGITS && strspn(text, "0123456789abcdef") == DIGEST_DIGITS;
}

enum status slice_read(const char *text, size_t bytes, struct arena *keep, struct slice *out,
                       struct fault *fault)
{
    const char *columns[COLUMNS] = {NULL};
    uint64_t version = 0, number = 0, count = 0;
    memset(out, 0, sizeof *out);
    const char *stop = bytes > 0 ? memchr(text, '\n', bytes) : NULL;
    if (stop == NULL || !slice_is_text(text, bytes))
        return fault_set(fault, ERR_TRUNCATED, bytes, "slice of a partial result");
    const char *at = text + sizeof mark - 1;
    for (int i = 0; i < COLUMNS; i++) {
        const char *tab = i + 1 < COLUMNS ? memchr(at, '\t', (size_t)(stop - at)) : stop;
        if (tab == NULL)
            return fault_set(fault, ERR_MALFORMED, 0, "slice of a partial result");
        columns[i] = arena_text(keep, at, (size_t)(tab - at));
        if (columns[i] == NULL)
            return fault_no_memory(fault, "slice of a partial result");
        at = tab + 1;
    }
    if (!text_parse_uint(columns[0], strlen(columns[0]), &version) ||
        !text_parse_uint(columns[2], strlen(columns[2]), &number) ||
        !text_parse_uint(columns[3], strlen(columns[3]), &count))
        return fault_set(fault, ERR_MALFORMED, 0, "numbers of a slice");
    if (version > 1)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "version of a slice", FAULT_NEWER,
                                "a newer version wrote it");
    if (version != 1 || count == 0 || count > SLICES_MAX || number >= count ||
        !queue_id_is_valid(columns[1]) || !is_digest(columns[4]) || bytes == (size_t)(at - text))
        return fault_set(fault, ERR_MALFORMED, 0, "slice of a partial result");
    *out = (struct slice){.of = columns[1],
                          .digest = columns[4],
                          .number = (uint32_t)number,
                          .count = (uint32_t)count,
                          .data = at,
                          .bytes = bytes - (size_t)(at - text)};
    return ERR_NONE;
}
