/* The table of engines: subjects first, then exhibits. */
#include "engine/engine.h"

#include <string.h>

#include "engine/dump.h"
#include "engine/judge.h"
#include "engine/offset.h"

const struct engine *const engines[] = {
    &engine_offset_rtl,       &engine_dump,
    &engine_offset_dbghelp,   &engine_offset_dbghelp_own,
    &engine_offset_backtrace, &engine_offset_frame_pointer,
    &engine_judge_dbghelp,    &engine_judge_symbolizer,
    &engine_judge_winedbg,    &engine_judge_lldb,
    &engine_judge_adapter,
};

const uint32_t engine_count = sizeof engines / sizeof engines[0];

const struct engine *engine_find(const char *name)
{
    for (uint32_t i = 0; i < engine_count; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}
