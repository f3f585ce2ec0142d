/* Rows that several views write: cases, frames, evidence. */
#ifndef PAGES_ROWS_H
#define PAGES_ROWS_H

#include "model/run.h"
#include "pages/view.h"

void view_write_truth_frame(struct json *out, const struct truth_frame *f);
void view_write_frame(struct json *out, const struct frame *f);
void view_write_evidence(struct json *out, const struct frame_evidence *e, struct arena *keep);

/* One line of a list: verdict, reason and how each engine did. */
void view_write_case_line(struct json *out, const struct run_case *c);
/* The same without the end of its object, for a list that adds members. */
void view_begin_case_line(struct json *out, const struct run_case *c);

#endif
