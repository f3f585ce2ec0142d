/* A whole run as one JSON document; report/README.md says what each member means. */
#ifndef STUDY_RUN_DOCUMENT_H
#define STUDY_RUN_DOCUMENT_H

#include "base/json.h"
#include "study/figures.h"

enum { RUN_DOCUMENT_VERSION = 1 };

void run_document_write_json(struct json *j, const struct run_figures *figures);

/* The frames of one module that one kind of symbols named. */
void symbol_row_write_json(struct json *j, const struct symbol_row *row);

/* One engine's shares, {exact: {right, total, value, low, high}, top1: ...}: the same object in the
 * run's document and on the dashboard. */
void measures_write_json(struct json *j, const struct engine_total *total);

#endif
