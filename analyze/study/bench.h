/* A bench: the dump way and the offset way on the same cases, alternating, with a control: the
 * offset way compared with itself gives the machine's noise. Measures, judges and writes the one
 * JSON form. */
#ifndef STUDY_BENCH_H
#define STUDY_BENCH_H

#include "base/json.h"
#include "model/difference.h"
#include "study/measurement.h"
#include "study/runs.h"

enum { BENCH_ROUNDS_MAX = 1000, BENCH_PROCESSES_MAX = 50, BENCH_VERSION = 1 };

struct bench {
    struct bench_sample *samples;
    uint32_t sample_count;
    struct bench_case *costs; /* of each process warm, then cold */
    uint32_t cost_count;
    struct case_timing *timings; /* of the dying processes; 0: not measured; NULL: a stored bench */
    enum cpu *archs;             /* likewise: of the cases */
    uint32_t case_count;         /* 0: no case has both a record and a dump; nothing was measured */
    bool cold;                   /* there were cold rounds as well */
    uint32_t index_count;        /* symbol indexes that were built: the very first use */
    uint64_t index_ns;
};

/* ---- what they mean ------------------------------------------------------------------- */

enum { BENCH_CAPTURE_STAGES = 4 };

struct bench_row {
    const char *name, *key; /* for people, and in JSON */
    bool bytes;
    struct measurement ways[BENCH_WAYS]; /* by enum bench_lane */
    double ratio; /* dump : offset, of the medians; NaN when either is missing */
};

/* dump : offset over the cases of one processor, as in the table of speed (study/speed.h): the
 * ratio of medians of what both ways cost at least, with an interval for another selection of
 * scenarios in another process. */
struct bench_ratio {
    enum cpu arch;
    size_t cases, scenarios; /* 0: an older bench, which stored rounds only */
    size_t processes;
    struct interval ratio; /* no interval: one process, or not SAMPLE_ENOUGH */
};

/* The back end, warm or cold. */
struct bench_side {
    struct bench_row stages[BENCH_STAGES]; /* by enum bench_stage */
    struct bench_ratio ratios[CPU_COUNT];  /* the first is the headline's; of an older bench, all */
    uint32_t ratio_count;
    double noise;                           /* today's A/A difference, a share */
    struct change_verdict dump;             /* the dump way compared with the offset way    */
    struct change_verdict then[BENCH_WAYS]; /* each way compared with the last bench        */
};

struct bench_findings {
    uint32_t case_count, captured;                  /* captured: of the processor of `capture` */
    enum cpu capture_arch;                          /* CPU_UNKNOWN: there is none */
    struct bench_row capture[BENCH_CAPTURE_STAGES]; /* in the dying process; of one processor */
    struct bench_side sides[2];                     /* warm, cold           */
    uint32_t side_count;
    bool slower; /* a way became slower than in the last bench */
};

/* STORE has earlier benches; NULL: there are none. */
enum status bench_judge(const struct bench *bench, struct store *store, struct arena *keep,
                        struct bench_findings *out, struct fault *fault);

/* What stored bench RUN_ID means, alone. Fails: ERR_ABSENT it has no samples; as the database. */
enum status bench_read(struct store *store, uint64_t run_id, struct arena *keep,
                       struct bench_findings *out, struct fault *fault);

/* Too noisy to judge, in what was measured so far: the offset way differs from itself by more than
 * STATISTICS_MOST_NOISE. Scratch memory is taken from KEEP. */
bool bench_is_noisy(const struct bench *bench, struct arena *keep);

/* One per processor that has a case with both times, in the order of all figures of time; none: an
 * older bench. Fails: ERR_MEMORY. */
enum status bench_ratios(const struct bench *bench, bool cold, struct arena *keep,
                         struct bench_ratio out[CPU_COUNT], uint32_t *count, struct fault *fault);

/* The value of the first of them, and its processor; NaN: there is none, or no memory. */
double bench_ratio_value(const struct bench *bench, bool cold, struct arena *keep, enum cpu *arch);

/* Bench RUN_ID as it is stored, without what comes of it: samples, or only the cases. Fails: as the
 * database. */
enum status bench_read_stored(struct store *store, uint64_t run_id, bool samples,
                              struct arena *keep, struct bench *out, struct fault *fault);

/* What it costs when another program reads the dump; see conduct/bench_programs.h. */

/* The rows, in the order in which they are shown. */
enum bench_program_id {
    PROGRAM_OFFSETS, /* this program, `resolve` of the record */
    PROGRAM_DUMP,    /* this program, `dump` of the dump      */
    PROGRAM_DBGHELP_MICROSOFT,
    PROGRAM_DBGENG,
    PROGRAM_DBGHELP,
    BENCH_PROGRAMS
};

struct bench_program {
    const char *name;           /* "dump", or the judge's: "judge:dbgeng" */
    const char *version;        /* of a judge's library; NULL: it did not answer, or it is ours */
    const char *why_not;        /* it was not measured; NULL: it was */
    struct measurement process; /* ns per crash, start and end of the process included */
    struct measurement again;   /* ns per crash in a process that has had the same ones before; of
                                 * this program as the bench measured it warm */
};

struct bench_programs {
    struct bench_program rows[BENCH_PROGRAMS];
    uint32_t case_count;
    enum cpu arch; /* of the cases: processors are not mixed */
};

/* PROGRAMS: NULL: they were not asked, and there is no such member. */
void bench_write_json(struct json *j, const struct bench_findings *findings,
                      const struct bench_programs *programs);

/* The noise (warm) that the newest bench of the database measured, and that run; RUN_ID 0 and NaN:
 * there is none. */
enum status bench_newest_noise(struct store *store, struct arena *keep, double *noise,
                               uint64_t *run_id, struct fault *fault);

#endif
