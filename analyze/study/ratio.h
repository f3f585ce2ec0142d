/* The one answer to "how much longer does a dump take than offsets": what tile, badge, metric,
 * trend and every report show. Two measurements can give it. A bench takes both ways in turn on the
 * same cases and compares one way with itself, so it has a control; a run measures on the side, and
 * has none. The bench is preferred. Computed here, once; faces print its text. */
#ifndef STUDY_RATIO_H
#define STUDY_RATIO_H

#include "base/json.h"
#include "study/bench.h"
#include "study/speed.h"

enum ratio_origin {
    RATIO_NOT_MEASURED,
    RATIO_OF_RUN,   /* of the run itself: no control */
    RATIO_OF_BENCH, /* of the bench of its commit, machine and victims */
    RATIO_ORIGINS
};

struct dump_ratio {
    enum ratio_origin origin;
    uint64_t run_id; /* that measured it; 0: none, or a run that is not stored */
    enum cpu arch;   /* CPU_UNKNOWN: an older bench, of all at once */
    enum speed_state state;
    size_t cases, scenarios; /* 0: an older bench, which stored rounds only */
    struct interval value;   /* dump : offsets; NaN: no interval, not measured */
    double noise;            /* of the bench, a share; NaN: no control */
    bool drifts;             /* of a run: struct speed_cell */
};

/* The newest complete bench of RUN's commit, platform, processor and build among BENCHES, newest
 * first; NULL: none, or RUN's commit is not known. A bench is its own. */
const struct run_info *ratio_bench_of(const struct run_info *run, const struct run_info *benches,
                                      uint32_t count);

/* Sets `ratio` of FIGURES, in KEEP: of the bench beside their run in STORE (NULL: none is looked
 * for), else what `speed` has. */
void ratio_make(struct run_figures *figures, struct store *store, struct arena *keep);

/* That of RUN alone in STORE, the same that ratio_make() gives, in KEEP: what is stored of
 * it as the text of ratio_address(), while that counts (store_read_shown()); else of its bench;
 * else the times of all cases are read. NULL: FAULT says why. */
const struct dump_ratio *ratio_read(struct store *store, const struct run_info *run,
                                    struct arena *keep, struct fault *fault);

/* The address that the text of run RUN_ID is stored under; no request has it. In KEEP; NULL: no
 * memory. */
const char *ratio_address(uint64_t run_id, struct arena *keep);

/* RATIO as it is stored: the object of ratio_write_json(), in KEEP. NULL: no memory. */
const char *ratio_stored_text(const struct dump_ratio *ratio, struct arena *keep, size_t *bytes);

/* The value alone that ratio_make() has of bench RUN_ID, without the work for its interval, and its
 * processor; NaN: none. */
double ratio_value_of_bench(struct store *store, uint64_t run_id, struct arena *keep,
                            enum cpu *arch);

/* "8.7× [7.0, 9.4], noise 14 %, 13 cases", "9.4× [8.8, 10.1], 506 cases, no control", "9.4× [8.8,
 * 10.1] !, ..." where it drifts, "not measured". Returns OUT. */
enum { RATIO_TEXT = 96 };
const char *ratio_text(const struct dump_ratio *ratio, char out[RATIO_TEXT]);

/* How many decimals every face shows of a ratio and of its interval: "1.25×", "8.7×", "120×". */
int ratio_decimals(double ratio);

/* Which way is faster, by how much and how sure, in words: "In the back end offsets are faster, a
 * dump takes 7.0 to 9.4 times as long (95 % sure)". Not sure where the interval or the noise of a
 * bench reaches 1. In KEEP; NULL: not measured, or no memory. */
const char *ratio_answer(const struct dump_ratio *ratio, struct arena *keep);

/* What "no control" means, without a full stop; `twinstack bench` measures one. NULL: the ratio has
 * a control, or is not measured. */
const char *ratio_note(const struct dump_ratio *ratio);

/* What "!" means at a time or a ratio. */
extern const char ratio_drift_words[];

/* "dump : offsets 8.7× [7.0, 9.4], noise 14 %, 13 cases (x64, index on disk; bench, run 9)", in
 * KEEP. NULL: no memory. */
const char *ratio_sentence(const struct dump_ratio *ratio, struct arena *keep);

/* Whether a face that shows the ratios of two runs shows any: one of them has measured cases. NULL:
 * there is no such run. */
bool ratio_of_either(const struct dump_ratio *a, const struct dump_ratio *b);

/* The value of "speed_ratio", an object: see report/README.md. */
void ratio_write_json(struct json *j, const struct dump_ratio *ratio);

/* The member "speed_ratio" of what compares two runs: {"a": of the one before, "b"}; null: there is
 * no such run, or not ratio_of_either(). */
void ratio_write_both(struct json *j, const struct dump_ratio *a, const struct dump_ratio *b);

#endif
