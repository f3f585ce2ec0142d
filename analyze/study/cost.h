/* What a million crashes cost by each way, in the units of who decides: core-seconds, bytes,
 * seconds in which users' processes were stopped. A million times the case in the middle; the cases
 * are victims. Computed here, once; faces only show it. */
#ifndef STUDY_COST_H
#define STUDY_COST_H

#include "base/json.h"
#include "study/figures.h"

enum cost_lane_index { COST_PLAIN, COST_TUNED, COST_FULL, COST_OFFSET, COST_LANES };

/* The first two are those of the table of speed (study/speed.h): warm, and a new process with the
 * index on disk. COST_STOPPED: until record or dump was written, or the target of a hang went on.
 */
enum cost_row { COST_WARM, COST_INDEX, COST_STOPPED, COST_RAW, COST_GZIP, COST_ZSTD, COST_ROWS };

/* What happens to one crash, one thing after the other: in the dying process, on the way, and on
 * the back end in a new process with the index on disk. */
enum cost_step {
    COST_STEP_WALK,
    COST_STEP_WRITE, /* of record or dump */
    COST_STEP_SEND,  /* of what gzip leaves, by the terms */
    COST_STEP_OPEN,
    COST_STEP_UNWIND,
    COST_STEP_LOAD, /* symbols */
    COST_STEP_RESOLVE,
    COST_STEP_REST,
    COST_STEPS
};

struct cost_amount {
    size_t cases;        /* scenarios in a build */
    size_t scenarios;    /* which is what the interval is over */
    struct interval one; /* of one crash, nanoseconds or bytes: the median; NaN: not
                            SAMPLE_ENOUGH */
};

struct cost_lane {
    const char *name;
    struct cost_amount amounts[COST_ROWS];
    double steps_ns[COST_STEPS]; /* those of the headline (study/headline.h), but COST_STEP_SEND;
                                    NaN: this way has no such step, or it was not measured */
    bool is_judged;
    uint32_t unusable, judged; /* crashes that left no stack, or one whose innermost own frame is
                                  wrong; of those that should be captured */
};

struct cost {
    enum cpu arch; /* processors are not mixed; of x86, which `rtl` cannot walk, there are stacks of
                      dumps alone, and their times are not those of pairs */
    struct cost_lane lanes[COST_LANES];
    const char *where; /* see speed_where() */
};

/* What a face may ask with. Prices are in any currency. */
enum cost_term { COST_MBIT_S, COST_HOURS_KEPT, COST_GB_MONTH, COST_CORE_HOUR, COST_TERMS };
struct cost_terms {
    double of[COST_TERMS];
};
extern const struct cost_terms cost_terms_default;

/* The name of each term, in JSON, on the command line and in queries: "mbit_s". */
struct cost_term_words {
    const char *name, *means;
};
extern const struct cost_term_words cost_term_words[COST_TERMS];

/* Sets term NAME to what VALUE says. False: there is no such term, or VALUE is no number from 0
 * (mbit_s: above it) to 10^9; TERMS is as before. */
bool cost_term_set(struct cost_terms *terms, const char *name, const char *value);

struct cost_question {
    struct cost_terms terms;
    const struct run_figures *full; /* a run whose plain dumps have all memory; NULL: none */
};

/* One for each processor that has stacks, in the order of the figures. */
struct costs {
    struct cost of[CPU_COUNT];
    size_t count; /* at least 1 */
};

/* The costs of FIGURES, with the full dumps of another run (NULL: none). The steps of one crash are
 * those of the first processor alone. */
void cost_make(const struct run_figures *figures, const struct run_figures *full,
               struct costs *out);

/* From the samples of all cases, without full dumps and steps: what figures have. Strings live in
 * KEEP; without memory, or when a temporary file cannot be read, nothing is measured. */
void cost_of_samples(const struct run_figures *figures, struct sample_set *samples,
                     struct arena *keep, struct costs *out);

/* Of a million crashes: seconds, or GB (10^9 bytes). NaN: not known. */
double cost_per_million(const struct cost_amount *amount);

/* Seconds in which a million users' uplinks are busy with what gzip left. NaN: not known. */
double cost_upload_s(const struct cost_lane *lane, const struct cost_terms *terms);

/* Keeping what zstd left, and naming it warm. NaN: not known. */
double cost_price(const struct cost_lane *lane, const struct cost_terms *terms);

/* Of one crash; NaN: there is no such step, or it is not known. The total is the sum of all steps,
 * and is known only if it was measured how record or dump are written, how small they become, and
 * the back end. */
double cost_step_ns(const struct cost_lane *lane, enum cost_step step,
                    const struct cost_terms *terms);
double cost_total_ns(const struct cost_lane *lane, const struct cost_terms *terms);

/* "walk_ns" and "walk"; the last is their sum. */
struct cost_step_words {
    const char *key, *name;
};
extern const struct cost_step_words cost_step_words[COST_STEPS + 1];

/* "core_s_warm" and "warm, core-s": in JSON, and for people, with the unit of a million. After the
 * amounts follow what is computed of them. */
enum { COST_UPLOAD = COST_ROWS, COST_PRICE, COST_UNUSABLE, COST_LINES };
struct cost_line_words {
    const char *key, *name;
};
extern const struct cost_line_words cost_line_words[COST_LINES];

/* {"lines": [{key, name}], "steps": [{key, name}]}: the words above, for a face that gets its
 * figures as JSON. */
void cost_write_words(struct json *j);

/* The value of "cost", an object, of the first processor: see report/README.md. QUESTION may be
 * NULL: the default terms. */
void cost_write_json(struct json *j, const struct run_figures *figures,
                     const struct cost_question *question);

#endif
