/* Stacks as a speedscope document of one profile, written as they come: samples first, outermost
 * frame first, and the table of frames last.
 *
 * Format: https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts */
#ifndef REPORT_SPEEDSCOPE_H
#define REPORT_SPEEDSCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct speedscope;

/* Begins a document on OUT whose profile is called NAME.  NULL: out of memory. */
struct speedscope *speedscope_start(FILE *out, const char *name);

/* What the format shows of a frame. */
struct speedscope_frame {
    const char *module, *function, *file; /* NULL: unknown */
    uint64_t offset;                      /* shown where there is no function */
    uint32_t line;                        /* 0: unknown */
};

/* Adds a stack that was seen COUNT times: begin it, add its frames, the outermost first, end it.
 * False: something is missing. */
void speedscope_stack(struct speedscope *s, uint64_t count);
void speedscope_frame(struct speedscope *s, const struct speedscope_frame *frame);
bool speedscope_stack_end(struct speedscope *s);

/* Ends the document and frees S.  False: something is missing. */
bool speedscope_end(struct speedscope *s);

#endif
