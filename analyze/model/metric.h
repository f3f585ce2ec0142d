/* The figures that badges, gates, reports, and trends name: one table of their facts. */
#ifndef MODEL_METRIC_H
#define MODEL_METRIC_H

#include <stdbool.h>

/* id, name in JSON, addresses and the database, title for people, unit, less is better */
#define METRICS(ROW)                                                                               \
    ROW(EXACT, "exact", "Exact stacks", SHARE, false)                                              \
    ROW(F1, "f1", "Frame F1", SHARE, false)                                                        \
    ROW(CAPTURE_RATE, "capture_rate", "Captured either way", SHARE, false)                         \
    ROW(SPEED_RATIO, "speed_ratio", "Plain dump : offsets", RATIO, false)                          \
    ROW(OFFSET, "offset_ns", "Offset way, warm", NS, true)                                         \
    ROW(DUMP, "dump_ns", "Dump way, warm", NS, true)                                               \
    ROW(OFFSET_COLD, "offset_cold_ns", "Offset way, cold", NS, true)                               \
    ROW(DUMP_COLD, "dump_cold_ns", "Dump way, cold", NS, true)                                     \
    ROW(WALK, "walk_ns", "Walk in the process", NS, true)                                          \
    ROW(STOP_WALK, "stop_walk_ns", "Target stopped for the walk", NS, true)                        \
    ROW(STOP_DUMP, "stop_dump_ns", "Target stopped for walk and dump", NS, true)                   \
    ROW(RECORD_WRITE, "record_write_ns", "Record write", NS, true)                                 \
    ROW(DUMP_WRITE, "dump_write_ns", "Dump write", NS, true)                                       \
    ROW(DUMP_TUNED, "dump_tuned_ns", "Dump write, cheapest form", NS, true)                        \
    ROW(CAPTURE_NOW, "capture_now_ns", "Capture on demand", NS, true)                              \
    ROW(HANG_LATE, "hang_late_ns", "Hang found late by", NS, true)                                 \
    ROW(RECORD_BYTES, "record_bytes", "Record size", BYTES, true)                                  \
    ROW(DUMP_BYTES, "dump_bytes", "Dump size", BYTES, true)

enum metric {
#define METRIC_ID(ID, NAME, TITLE, UNIT, LESS) METRIC_##ID,
    METRICS(METRIC_ID)
#undef METRIC_ID
        METRIC_COUNT
};

/* Fewer values give no figure that would be the same the next time: faces say "too few". */
enum { MEASUREMENT_LEAST = 12 };

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

/* The names that metric_parse() knows, for a hint: "exact, f1, ...". */
#define METRIC_COMMA_NAME(ID, NAME, TITLE, UNIT, LESS) ", " NAME
#define METRIC_NAMES (&METRICS(METRIC_COMMA_NAME)[2])

#endif
