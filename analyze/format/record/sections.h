/* The sections of a record, and what reads each: private to this folder. sections.c splits a record
 * into them and uses no other file here; captures.c and record_code.c read their own kinds,
 * record.c the rest. */
#ifndef FORMAT_RECORD_SECTIONS_H
#define FORMAT_RECORD_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "format/record/record.h"

struct record_section {
    uint32_t type, count;
    struct bytes body; /* after the section header; reports to the caller's fault */
};

/* Reads the next section of R. False at the end and on a fault. Fails: ERR_TRUNCATED,
 * ERR_MALFORMED. */
bool record_section_next(struct bytes *r, struct record_section *out);

/* Starts *ENTRY on a variable-size entry, after its first word (its size), and moves R to the next
 * entry. False on a fault. Fails: ERR_TRUNCATED, ERR_MALFORMED. */
bool record_entry_next(struct bytes *r, uint32_t min_bytes, struct bytes *entry);

/* Adds the captures of S to *out, which has room for them. Fails: ERR_TRUNCATED, ERR_MALFORMED,
 * ERR_LIMIT, ERR_MEMORY. */
void record_captures_read(struct record_section s, struct arena *keep, struct record *out);
void record_captures_sort(struct record *record);

/* Read the code map of managed code; ASSEMBLIES after MODULES and before METHODS. */
void record_assemblies_read(struct record_section s, struct record *out);
void record_methods_read(struct record_section s, struct arena *keep, struct record *out);
void record_methods_sort(struct record *record);

/* Text of BYTES at R, in KEEP; NULL when it is empty. */
const char *record_take_text(struct bytes *r, uint64_t size, struct arena *keep);

/* Read the data about generated code: CODE_MAP, FUNCTIONS and MEMORY sections; *out has room. */
void record_codes_read(struct record_section s, struct arena *keep, struct record *out);
void record_functions_read(struct record_section s, struct record *out);
void record_memory_take(struct record_section s, struct arena *keep, struct record *out);
void record_code_sort(struct record *record);

#endif
