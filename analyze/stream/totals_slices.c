/* Results that came in slices, until they are whole: see slice.h. */
#include <string.h>

#include "base/text.h"
#include "stream/totals_days.h"
#include "stream/totals_file.h"

/* A statement whose first values are the result that SLICE is of, and its digest. */
static struct query begin(struct totals *t, enum totals_statement which, const struct slice *slice,
                          struct fault *fault)
{
    struct query q = database_query(&t->database, which, NULL, fault);
    query_text(&q, slice->of);
    query_text(&q, slice->digest);
    return q;
}

static void store(struct totals *t, const struct slice *slice, struct fault *fault)
{
    struct query q = begin(t, TOTALS_ADD_SLICE, slice, fault);
    query_int(&q, slice->number);
    query_text(&q, t->day);
    query_blob(&q, slice->data, slice->bytes);
    (void)query_run(&q);
}

/* The bytes of all slices; 0: some are missing. */
static size_t whole_bytes(struct totals *t, const struct slice *slice, struct fault *fault)
{
    struct query q = begin(t, TOTALS_COUNT_SLICES, slice, fault);
    const bool has_all = query_row(&q) && query_get(&q) == slice->count;
    const size_t bytes = has_all ? (size_t)query_get(&q) : 0;
    (void)query_end(&q);
    return bytes;
}

static void read_whole(struct totals *t, const struct slice *slice, char *out, size_t bytes,
                       struct fault *fault)
{
    char digest[65];
    size_t at = 0, more = 0;
    struct query q = begin(t, TOTALS_READ_SLICES, slice, fault);
    while (query_row(&q)) {
        const void *part = query_see_blob(&q, &more);
        if (more > bytes - at)
            break;
        memcpy(out + at, part, more);
        at += more;
    }
    (void)query_end(&q);
    text_sha256(out, at, digest);
    if (fault->code == ERR_NONE && strcmp(digest, slice->digest) != 0)
        (void)fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "slices of a partial result");
}

enum status totals_add_slice(struct totals *totals, const struct slice *slice, struct arena *keep,
                             const char **whole, size_t *bytes, struct fault *fault)
{
    *whole = NULL;
    /* A slice has no time of its own, and the clock here is no reason to go on by days: it has the
     * day of the newest id. */
    if ((totals->day[0] == '\0' && totals_set_day(totals, NULL, fault) != ERR_NONE) ||
        totals_has(totals, slice->of, fault))
        return fault->code;
    store(totals, slice, fault);
    *bytes = whole_bytes(totals, slice, fault);
    if (*bytes == 0 || fault->code != ERR_NONE)
        return fault->code;
    char *text = arena_alloc(keep, *bytes + 1);
    if (text == NULL)
        return fault_no_memory(fault, "slices of a partial result");
    read_whole(totals, slice, text, *bytes, fault);
    struct query q = database_query(&totals->database, TOTALS_DELETE_SLICES, NULL, fault);
    query_text(&q, slice->of);
    *whole = text;
    return query_run(&q);
}
