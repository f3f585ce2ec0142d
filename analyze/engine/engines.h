/* The table of engines. */
#ifndef ENGINE_ENGINES_H
#define ENGINE_ENGINES_H

#include "engine/engine.h"

/* All engines, subjects first: one table, in engines.c. */
extern const struct engine *const engines[];
extern const uint32_t engine_count;

/* NULL: no engine has that name. */
const struct engine *engine_find(const char *name);

#endif
