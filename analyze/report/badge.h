/* Badges: one figure of a run in a few words, for the first page of a repository. */
#ifndef REPORT_BADGE_H
#define REPORT_BADGE_H

#include "base/fault.h"
#include "study/figures.h"

/* The name in addresses and on the command line, which is the figure's, and what makes it. */
#define BADGES(ROW)                                                                                \
    ROW("verdict", badge_of_verdict)                                                               \
    ROW("capture_rate", badge_of_share)                                                            \
    ROW("exact", badge_of_share)                                                                   \
    ROW("f1", badge_of_share)                                                                      \
    ROW("speed_ratio", badge_of_speed)

#define BADGE_BYTE(NAME, MAKE) 0,
enum { BADGES_COUNT = sizeof((char[]){BADGES(BADGE_BYTE)}) };
#undef BADGE_BYTE

/* "verdict, capture_rate, ...". */
#define BADGE_COMMA_NAME(NAME, MAKE) ", " NAME
#define BADGE_NAMES (&BADGES(BADGE_COMMA_NAME)[2])

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
    char message[192];
};

/* NAME: one of BADGES.  Fails: ERR_USAGE. */
enum status report_make_badge(const struct run_figures *report, const char *name, struct badge *out,
                              struct fault *fault);

#endif
