/* What the files of minidump_lint() share. Private to this folder. */
#ifndef FORMAT_MINIDUMP_LINT_RULES_H
#define FORMAT_MINIDUMP_LINT_RULES_H

#include "format/minidump/lint.h"

enum lint_rule {
    LINT_STREAM_PAST_END,
    LINT_RESERVED_TYPE,
    LINT_STREAM_TWICE,
    LINT_LIST_SIZE,
    LINT_STREAM_MISSING,
    LINT_PLACES_OVERLAP,
    LINT_TEXT_PAST_END,
    LINT_TEXT_NOT_TERMINATED,
    LINT_TEXT_ODD,
    LINT_NAME_AT_END,
    LINT_NO_CODEVIEW,
    LINT_CODEVIEW_DAMAGED,
    LINT_MODULES_OVERLAP,
    LINT_MEMORY_OVERLAP,
    LINT_MEMORY_PAST_END,
    LINT_CONTEXT_SIZE,
    LINT_THREAD_TWICE,
    LINT_EXCEPTION_THREAD,
    LINT_RULE_COUNT
};

struct lint {
    const struct minidump *dump;
    struct arena *keep;
    struct minidump_complaints *out;
    bool out_of_memory;
};

/* A range of addresses or of the file, and the offset that states it. */
struct lint_range {
    uint64_t start, bytes, stated_foff;
    const char *name;
};

/* Adds a complaint; TEXT is in keep, NULL: no memory. */
void lint_add(struct lint *l, enum lint_rule rule, uint32_t stream_type, uint64_t foff,
              const char *text);

/* True while complaints are still kept: checks that make a text for each stop to do so. */
bool lint_has_room(struct lint *l);

/* Sorts the ranges and complains of each that begins before the end of an earlier one. FORMAT makes
 * the text of the later range's name, its start, the earlier one's name and its end. */
void lint_overlaps(struct lint *l, enum lint_rule rule, uint32_t stream_type,
                   struct lint_range *ranges, uint32_t count);

/* The first stream of TYPE that lies within the file, or NULL. */
const struct minidump_stream *lint_stream(const struct minidump *dump, uint32_t type);

/* The file offset of row INDEX of a list with a 4-byte count and rows of SIZE bytes. */
uint64_t lint_row(const struct minidump_stream *stream, uint32_t index, uint32_t size);

/* ---- lint_contents.c ---- */
void lint_texts(struct lint *l);
void lint_modules(struct lint *l);
void lint_memory(struct lint *l);
void lint_threads(struct lint *l);

#endif
