/* The table of engines. */
#ifndef ENGINE_ENGINES_H
#define ENGINE_ENGINES_H

#include "engine/engine.h"

/* All engines, subjects first: one table, in engines.c. */
extern const struct engine *const engines[];
extern const uint32_t engine_count;

/* The engine under test of ENGINE_KIND_DUMP or ENGINE_KIND_OFFSET: our own reader of dumps, or the
 * walker whose stack decides the verdict. */
const struct engine *engine_subject(enum engine_kind kind);

#endif
