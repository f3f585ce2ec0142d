/* See bench.h. */
#include "model/bench.h"

#include "model/names.h"

static const char *const lane_names[] = {
    [LANE_OFFSET] = "offset",
    [LANE_DUMP] = "dump",
    [LANE_CONTROL] = "offset-control",
    [LANE_OTHER] = "other",
};

static const char *const stage_names[] = {
    [STAGE_PARSE] = "parse",     [STAGE_UNWIND] = "unwind", [STAGE_LOAD] = "load",
    [STAGE_RESOLVE] = "resolve", [STAGE_TOTAL] = "total",   [STAGE_OTHER] = "other",
};

const char *bench_lane_name(enum bench_lane lane)
{
    return lane_names[lane];
}

enum bench_lane bench_lane_parse(const char *text)
{
    const int found = name_index(lane_names, LANE_OTHER, text);
    return found < 0 ? LANE_OTHER : (enum bench_lane)found;
}

const char *bench_stage_name(enum bench_stage stage)
{
    return stage_names[stage];
}

enum bench_stage bench_stage_parse(const char *text)
{
    const int found = name_index(stage_names, STAGE_OTHER, text);
    return found < 0 ? STAGE_OTHER : (enum bench_stage)found;
}
