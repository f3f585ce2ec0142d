/* The figures that badges, gates, reports, and trends name: one table of their facts. */
#ifndef MODEL_METRIC_H
#define MODEL_METRIC_H

#include <stdbool.h>

enum metric {
    METRIC_EXACT,
    METRIC_F1,
    METRIC_CAPTURE_RATE,
    METRIC_SPEED_RATIO,
    METRIC_OFFSET,
    METRIC_DUMP,
    METRIC_OFFSET_COLD,
    METRIC_DUMP_COLD,
    METRIC_WALK,
    METRIC_STOP_WALK,
    METRIC_STOP_DUMP,
    METRIC_RECORD_WRITE,
    METRIC_DUMP_WRITE,
    METRIC_DUMP_TUNED,
    METRIC_CAPTURE_NOW,
    METRIC_HANG_LATE,
    METRIC_RECORD_BYTES,
    METRIC_DUMP_BYTES,
    METRIC_COUNT
};

enum metric_unit {
    METRIC_UNIT_SHARE,
    METRIC_UNIT_RATIO,
    METRIC_UNIT_NS,
    METRIC_UNIT_BYTES,
    METRIC_UNIT_COUNT
};

struct metric_facts {
    const char *name;  /* in JSON, addresses and the database */
    const char *title; /* for people                          */
    enum metric_unit unit;
    bool less_is_better;
};

const struct metric_facts *metric_facts(enum metric metric);
const char *metric_name(enum metric metric);
bool metric_parse(const char *name, enum metric *out);

const char *metric_unit_name(enum metric_unit unit); /* "share", "ratio", "ns", "bytes" */

/* The names that metric_parse() knows, for a hint. */
#define METRIC_NAMES                                                                               \
    "capture_rate, exact, f1, speed_ratio, offset_ns, dump_ns, offset_cold_ns, dump_cold_ns, "     \
    "walk_ns, stop_walk_ns, stop_dump_ns, record_write_ns, dump_write_ns, dump_tuned_ns, "         \
    "capture_now_ns, hang_late_ns, record_bytes, dump_bytes"

#endif
