/* What shadow comparisons of reports found, as JSON. */
#ifndef STUDY_SHADOW_JSON_H
#define STUDY_SHADOW_JSON_H

#include "base/json.h"
#include "stream/totals.h"

/* {"reports", "verdicts": [...], "engines": [...], "causes": [...]}. */
void shadow_write_json(struct json *j, const struct shadow_list *list);

#endif
