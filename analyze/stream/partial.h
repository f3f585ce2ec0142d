/* Partial results: what one part of a stream gave, in a form that adds up with others.
 *
 * Columns, one line per signature, separated by tabs:
 *
 *     #signatures 1 ROWS STACKS FLOOR BAD OF HOUR VERSION
 *     COUNT ERROR FIRST_SEEN EXAMPLE SIGNATURE
 *
 * \t, \n, \r and \\ in a text are written as these two characters, other control characters are
 * left out; an unknown text is empty. FLOOR: no signature that is missing was seen more often.
 * HOUR and VERSION are empty, or say of which hour (2026-11-22T08) and of which version of the
 * program these stacks are. Several partial results may follow each other in one file.
 *
 * NDJSON, one object per line, without what is unknown or 0:
 *
 *     {"schema_version":1,"of":...,"total":ROWS,"stacks":...,"floor":...,"bad":...}
 *     {"signature":...,"count":...,"error":...,"first_seen":...,"example":...}
 */
#ifndef STREAM_PARTIAL_H
#define STREAM_PARTIAL_H

#include "base/arena.h"
#include "base/fault.h"
#include "base/text.h"
#include "model/stored.h"

enum { PARTIAL_ROWS_MAX = 1 << 24 };
#define PARTIAL_STACKS_MAX ((uint64_t)1 << 50) /* of one, and of all that are added up */

struct partial {
    const char *of, *hour, *version; /* NULL: none */
    uint64_t stacks, floor, bad;
    const struct signature_count *rows; /* text, example, first_seen, count, error */
    uint32_t count;
};

void partial_write_columns(struct text_buffer *out, const struct partial *partial);
void partial_write_ndjson(struct text_buffer *out, const struct partial *partial);

/* Reads the partial result at the start of TEXT, in either form, into KEEP. *USED: its length.
 * Fails: ERR_TRUNCATED rows are missing; ERR_MALFORMED; ERR_UNSUPPORTED another version; ERR_LIMIT;
 * ERR_MEMORY. Offsets of faults count from TEXT. */
enum status partial_read(const char *text, size_t bytes, struct arena *keep, struct partial *out,
                         size_t *used, struct fault *fault);

#endif
