/* Faults of a minidump by the format. The reader of this folder is tolerant: it reads what a writer
 * meant. A Windows debugger is not, and its messages say little; minidump_lint() says what is
 * wrong, where, and what such a debugger makes of it.
 *
 * The effects are those that dbgeng.dll 10.0.29507.1001 (2026) was seen to have, under Wine, on
 * dumps that were changed in one place each. */
#ifndef FORMAT_MINIDUMP_LINT_H
#define FORMAT_MINIDUMP_LINT_H

#include "format/minidump/minidump.h"

struct minidump_complaint {
    const char *rule;   /* stable: "list_size"                                  */
    const char *stream; /* "ModuleList"; NULL: no single stream, or unnamed     */
    uint64_t foff;      /* the first byte that is wrong, or that states it      */
    const char *text;   /* "the directory states 868 bytes, 8 entries take 872" */
    const char *effect; /* what a Windows debugger makes of it                  */
};

struct minidump_complaints {
    struct minidump_complaint *rows; /* in the order of rules, then of the file; in KEEP */
    uint32_t count;
    uint64_t left_out; /* more than LIMIT_COMPLAINTS */
};

enum { LIMIT_COMPLAINTS = 1000 };

/* Examines a dump that minidump_read() has read. Fails: ERR_MEMORY. */
enum status minidump_lint(const struct minidump *dump, struct arena *keep,
                          struct minidump_complaints *out, struct fault *fault);

void minidump_lint_write_json(struct json *j, const struct minidump_complaints *complaints);

#endif
