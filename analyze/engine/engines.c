/* The table of engines: subjects first, then those that are only scored and shown. */
#include "engine/engines.h"

#include "base/array.h"
#include "engine/dump_engine.h"
#include "engine/judges.h"
#include "engine/offset.h"

enum { DUMP_AT = 1, JUDGES_AT = RECORD_WALKER_COUNT };

/* The walkers by number, except the first: it is a subject, like `dump`, which comes second. */
#define OFFSET_ENGINE(ID, NUMBER, NAME, WALK, TRAITS, SHARES)                                      \
    [(NUMBER) == RECORD_WALKER_RTL ? 0 : (NUMBER)] = &engine_offset[NUMBER],

const struct engine *const engines[] = {
    RECORD_WALKERS(OFFSET_ENGINE)[DUMP_AT] = &engine_dump,
    [JUDGES_AT] = &engine_judge_dbghelp,
    &engine_judge_symbolizer,
    &engine_judge_winedbg,
    &engine_judge_lldb,
    &engine_judge_adapter,
};

const uint32_t engine_count = COUNT_OF(engines);

const struct engine *engine_subject(enum engine_kind kind)
{
    return kind == ENGINE_KIND_DUMP ? &engine_dump : &engine_offset[RECORD_WALKER_RTL];
}
