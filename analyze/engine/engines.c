/* The table of engines: subjects first, then those that are only scored and shown. */
#include "engine/engines.h"

#include "base/array.h"
#include "engine/dump_engine.h"
#include "engine/judges.h"
#include "engine/offset.h"
#include "model/result.h"

enum { DUMP_AT = 1 };

/* The walkers by number, except the first: it is a subject, like `dump`, which comes second. */
#define OFFSET_ENGINE(ID, NUMBER, NAME, WALK, TRAITS, SHARES)                                      \
    [(NUMBER) == RECORD_WALKER_RTL ? 0 : (NUMBER)] = &engine_offset[NUMBER],

/* The judges follow the walkers. */
#define JUDGE_PLACE(NAME) AT_##NAME,
#define JUDGE_ROW(NAME) [AT_##NAME] = &judge_##NAME.engine,

enum { PLAIN_AT = RECORD_WALKER_COUNT, JUDGES(JUDGE_PLACE) };

const struct engine *const engines[] = {[DUMP_AT] = &engine_dump,
                                        [PLAIN_AT] = &engine_dump_plain,
                                        RECORD_WALKERS(OFFSET_ENGINE) JUDGES(JUDGE_ROW)};

_Static_assert(COUNT_OF(engines) <= CLAIMS_MAX, "a case has a claim of each engine");

const uint32_t engine_count = COUNT_OF(engines);

const struct engine *engine_subject(enum engine_kind kind)
{
    return kind == ENGINE_KIND_DUMP ? &engine_dump : &engine_offset[RECORD_WALKER_RTL];
}
