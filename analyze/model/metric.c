/* See metric.h. */
#include "model/metric.h"

#include <string.h>

static const struct metric_facts facts[METRIC_COUNT] = {
    [METRIC_EXACT] = {"exact", "Exact stacks", METRIC_UNIT_SHARE, false},
    [METRIC_F1] = {"f1", "Frame F1", METRIC_UNIT_SHARE, false},
    [METRIC_CAPTURE_RATE] = {"capture_rate", "Captured", METRIC_UNIT_SHARE, false},
    [METRIC_SPEED_RATIO] = {"speed_ratio", "Dump : offset, warm", METRIC_UNIT_RATIO, false},
    [METRIC_OFFSET] = {"offset_ns", "Offset way, warm", METRIC_UNIT_NS, true},
    [METRIC_DUMP] = {"dump_ns", "Dump way, warm", METRIC_UNIT_NS, true},
    [METRIC_OFFSET_COLD] = {"offset_cold_ns", "Offset way, cold", METRIC_UNIT_NS, true},
    [METRIC_DUMP_COLD] = {"dump_cold_ns", "Dump way, cold", METRIC_UNIT_NS, true},
    [METRIC_WALK] = {"walk_ns", "Walk in the process", METRIC_UNIT_NS, true},
    [METRIC_STOP_WALK] = {"stop_walk_ns", "Target stopped for the walk", METRIC_UNIT_NS, true},
    [METRIC_STOP_DUMP] = {"stop_dump_ns", "Target stopped for walk and dump", METRIC_UNIT_NS, true},
    [METRIC_RECORD_WRITE] = {"record_write_ns", "Record write", METRIC_UNIT_NS, true},
    [METRIC_DUMP_WRITE] = {"dump_write_ns", "Dump write", METRIC_UNIT_NS, true},
    [METRIC_DUMP_TUNED] = {"dump_tuned_ns", "Dump write, cheapest form", METRIC_UNIT_NS, true},
    [METRIC_CAPTURE_NOW] = {"capture_now_ns", "Capture on demand", METRIC_UNIT_NS, true},
    [METRIC_HANG_LATE] = {"hang_late_ns", "Hang found late by", METRIC_UNIT_NS, true},
    [METRIC_RECORD_BYTES] = {"record_bytes", "Record size", METRIC_UNIT_BYTES, true},
    [METRIC_DUMP_BYTES] = {"dump_bytes", "Dump size", METRIC_UNIT_BYTES, true},
};

static const char *const unit_names[METRIC_UNIT_COUNT] = {"share", "ratio", "ns", "bytes"};

const struct metric_facts *metric_facts(enum metric metric)
{
    return &facts[metric];
}

const char *metric_name(enum metric metric)
{
    return facts[metric].name;
}

bool metric_parse(const char *name, enum metric *out)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (strcmp(facts[i].name, name) == 0) {
            *out = (enum metric)i;
            return true;
        }
    return false;
}

const char *metric_unit_name(enum metric_unit unit)
{
    return unit_names[unit];
}
