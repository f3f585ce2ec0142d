/* Reports of a stored run: for people (terminal, Markdown) and for other programs (JSON, JUnit,
 * CTRF, OpenMetrics, badge, folded stacks, speedscope).
 *
 * Every writer takes the same input and writes to a stream; the same input gives the same bytes. A
 * writer that leaves something out to limit the size reports how much. A write error shows in
 * ferror(). */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"
#include "study/figures.h"

struct report_style {
    uint32_t columns; /* 0: 100 */
    bool color;
    bool details;   /* also the cases that do not deviate, findings, hooks, times */
    const char *db; /* for commands that the report suggests; NULL: the default database */
};

enum status report_text(const struct run_figures *report, const struct report_style *style,
                        struct arena *scratch, FILE *out, struct fault *fault);
enum status report_json(const struct run_figures *report, FILE *out, struct fault *fault);
enum status report_junit(const struct run_figures *report, FILE *out, struct fault *fault);
enum status report_ctrf(const struct run_figures *report, FILE *out, struct fault *fault);

/* At most MAX_BYTES (0: 1,000,000, under the 1,024 KiB of a CI step summary): the totals are always
 * complete, lists end with "and N more". */
enum status report_markdown(const struct run_figures *report, size_t max_bytes,
                            struct arena *scratch, FILE *out, struct fault *fault);
enum status report_openmetrics(const struct run_figures *report, struct arena *scratch, FILE *out,
                               struct fault *fault);

/* The colours that shields knows by name. */
enum badge_color {
    BADGE_LIGHT_GREY,
    BADGE_BRIGHT_GREEN,
    BADGE_GREEN,
    BADGE_YELLOW,
    BADGE_RED,
    BADGE_BLUE,
    BADGE_COLOR_COUNT
};

struct badge {
    const char *label; /* static */
    enum badge_color color;
    char message[128];
};

/* NAME: "verdict", "capture_rate", "exact", "f1", "speed_ratio".  Fails: ERR_USAGE. */
enum status report_make_badge(const struct run_figures *report, const char *name, struct badge *out,
                              struct fault *fault);

/* The same badge as JSON, in the form of https://shields.io/badges/endpoint-badge. */
enum status report_badge(const struct run_figures *report, const char *name, FILE *out,
                         struct fault *fault);

/* Stacks of ENGINE (NULL: the first subject that gave one), outermost first, counted. */
enum status report_folded(const struct run_figures *report, const char *engine,
                          struct arena *scratch, FILE *out, struct fault *fault);
enum status report_speedscope(const struct run_figures *report, const char *engine,
                              struct arena *scratch, FILE *out, struct fault *fault);

#endif
