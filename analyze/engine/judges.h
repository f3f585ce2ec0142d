/* The judges, for the table of engines.  Each is defined in its own file. */
#ifndef ENGINE_JUDGES_H
#define ENGINE_JUDGES_H

#include "engine/engine.h"

extern const struct engine engine_judge_dbghelp;
extern const struct engine engine_judge_symbolizer;
extern const struct engine engine_judge_winedbg;
extern const struct engine engine_judge_lldb;

/* `judge:NAME`, any program: TWINSTACK_ADAPTER="NAME=COMMAND WORD..." names it. engine/README.md
 * describes its input and its answer. */
extern const struct engine engine_judge_adapter;

#endif
