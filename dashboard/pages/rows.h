/* Rows that several views write: cases, frames, evidence. */
#ifndef PAGES_ROWS_H
#define PAGES_ROWS_H

#include "model/run.h"
#include "pages/view.h"

void view_write_truth_frame(struct json *out, const struct truth_frame *f);
void view_write_frame(struct json *out, const struct frame *f);
/* E: of a frame of STACK, which is of a case on CPU; NULL is null. */
void view_write_evidence(struct json *out, const struct stack *stack,
                         const struct frame_evidence *e, enum cpu cpu, struct arena *keep);

/* One line of a list: verdict, reason and how each engine did. */
void view_write_case_line(struct json *out, const struct run_case *c);
/* The same without the end of its object, for a list that adds members. */
void view_begin_case_line(struct json *out, const struct run_case *c);

/* The name of a case, "scenario.variant" and of a repeat "#2", has SEARCH; NULL: any. */
bool view_name_has(const char *scenario, const char *variant, uint32_t repeat, const char *search,
                   struct arena *keep);

#endif
