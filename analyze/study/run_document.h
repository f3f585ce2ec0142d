/* A whole run as one JSON document; report/README.md says what each member means. */
#ifndef STUDY_RUN_DOCUMENT_H
#define STUDY_RUN_DOCUMENT_H

#include "base/json.h"
#include "study/cost.h"

enum { RUN_DOCUMENT_VERSION = 1 };

/* COST: what a million crashes cost, with these terms; NULL: the default ones. */
void run_document_write_json(struct json *j, const struct run_figures *figures,
                             const struct cost_question *cost);

/* The frames of one module that one kind of symbols named. */
void symbol_row_write_json(struct json *j, const struct symbol_row *row);

/* One engine's shares, {exact: {right, total, value, low, high}, top1: ...}: the same object in the
 * run's document and on the dashboard. */
void measures_write_json(struct json *j, const struct engine_total *total);

#endif
