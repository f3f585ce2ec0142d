/* What the readers of record.h's sections share: record.c, record_captures.c, steps.c. */
#ifndef FORMAT_RECORD_PARTS_H
#define FORMAT_RECORD_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "format/record.h"

struct record_section {
    uint32_t type, count;
    struct bytes body; /* after the section header; its fault is the caller's */
};

/* Takes the next section of R.  False at the end, and with a fault.  Fails: ERR_TRUNCATED,
 * ERR_MALFORMED. */
bool record_section_next(struct bytes *r, struct record_section *out);

/* Lays *ENTRY over a variable entry, whose first word is its size, past that word, and moves R
 * behind it.  False with a fault.  Fails: ERR_TRUNCATED, ERR_MALFORMED. */
bool record_entry_next(struct bytes *r, uint32_t min_bytes, struct bytes *entry);

/* Adds the captures of S, for which there is room, to *out.  Fails: ERR_TRUNCATED, ERR_MALFORMED,
 * ERR_LIMIT, ERR_MEMORY. */
void record_captures_read(struct record_section s, struct arena *keep, struct record *out);
void record_captures_sort(struct record *record);

/* Gives a frame in generated code the name that the program registered for it. */
void record_name_generated(const struct record *record, struct frame *frame);

#endif
