/* truth.json from the mapping of a dead victim. */
#ifndef HARNESS_LAUNCHER_TRUTH_JSON_H
#define HARNESS_LAUNCHER_TRUTH_JSON_H

#include <stdio.h>

#include "victims/truth.h"

/* TEXT as a JSON string with its quotes. */
void json_text(FILE *to, const char *text);

/* {"threads": [{"id", "role", "frames": [...]}]}, frames innermost first. The mapping was written
 * by a process that may be corrupt, so every number and pointer is checked. */
void truth_print(FILE *to, const struct truth_map *truth);

#endif
