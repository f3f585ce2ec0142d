/* Starts victims, collects their files, and seals them as cases.
 *
 * Victims are Windows programs: they are started directly on Windows and through a
 * launcher prefix ("wine") elsewhere.  Every victim runs under capture's own launcher
 * program, which keeps the full 32-bit exit code and ends the victim after its time limit;
 * a second, outer limit kills any program that still does not end.
 *
 * Several run at a time, each on a processor of its own. A hang waits for half of its life and
 * needs no processor meanwhile: hangs have some processors for themselves, where one waits while
 * another computes (schedule.c). A hang computes from the moment when its record is written, other
 * victims from their start. Measurements taken while more victims compute than there are processors
 * are marked `crowded` (base/turns.h).
 *
 * Cases land in OUT/cases/SCENARIO.VARIANT; images and PDBs once each in OUT/symbols, in
 * the Windows symbol-server layout, and each case names them by a relative path. */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/case.h"
#include "model/scenario.h"

struct collect_options {
    const char *victims_folder;  /* victims-<variant>.exe and what they need              */
    const char *source_root;     /* of the victims' sources; files compare relative to it */
    const char *out_folder;      /* cases/ and symbols/ are made in it                    */
    const char *const *launcher; /* argv prefix that runs Windows programs; NULL: none    */
    const char *prefix_folder;   /* Wine prefix, made when missing; the first worker uses
                                    it, the others clones beside it; NULL: no Wine        */
    uint32_t jobs;               /* at a time; 0: one per processor, and two hangs where one
                                    would do, since they mostly wait */
    struct turns *turns;         /* base/turns.h: over all that computes; NULL: none */
    bool beside_run;             /* a session gets a prefix of its own: a run has the others */
    const char *const *dlls;     /* NULL-ended paths: victims load these in place of Wine's, in
                                    prefixes of their own; NULL: Wine's */
    const char *const *dlls_x86; /* with DLLS, those of victims for x86; NULL: they keep Wine's */
    const char *writer;          /* who writes dumps, with DLLS: "dbgcore 10.0.29507.1001"; NULL */
    uint64_t timeout_ms;         /* replaces each scenario's own limit; 0: keeps it */
    const struct named_version *tools; /* of this run, written into every case             */
    uint32_t tool_count;
    /* True for a run to skip, for example because its case exists; NULL: none is skipped. */
    bool (*skip)(const void *context, const struct scenario *scenario, uint32_t repeat);
    const void *skip_context;
    bool ask_victims; /* ask for scenarios again, even if the lists are cached */
    /* Called every 100 ms while another process uses the prefix; false: give up (ERR_TIMEOUT).
     * NULL: wait until the prefix is free. */
    bool (*keeps_waiting)(void *context);
    void *wait_context;
    /* Called several times per second while the build VARIANT is walked; NULL. */
    void (*stepping)(const char *variant);
    bool reuse_sealed; /* a case that is already sealed in its folder is used as it is */
};

/* How one run of a scenario ended. A calm victim is sealed like any other: its case shows that it
 * left no record. */
enum collect_outcome {
    COLLECT_SEALED,      /* the victim ran, and its case is in its folder */
    COLLECT_UNSUPPORTED, /* not run: this host cannot show it               */
    COLLECT_ERROR,       /* the victim did not build, start or signal       */
    COLLECT_TIME_LIMIT,  /* not even the launcher could end it              */
    COLLECT_INTERRUPTED,
    COLLECT_SKIPPED, /* see collect_options.skip; DONE is not called */
};

struct collected {
    const struct scenario *scenario;
    uint32_t repeat;
    enum collect_outcome outcome;
    const char *folder; /* of the case, when one was sealed */
    const char *why;    /* one line, when there is none     */
    uint64_t wall_ns;
    bool crowded; /* its times were taken while more ran than there are processors */
};

/* The scenarios of every victims-*.exe of the folder, sorted by name, then variant.  The list of a
 * program is cached under its hash; only programs without a cached list are started. A build for
 * x86 that toolchain.json names and that has no program is listed with those of the first program,
 * all unsupported: a host without 32-bit Wine does not build it, and must not look complete.
 * Fails: ERR_ABSENT no victims there; ERR_IO; ERR_MALFORMED. */
enum status collect_list(const struct collect_options *options, struct arena *keep,
                         struct scenario **out, uint32_t *count, struct fault *fault);

/* Why scenarios of x86 are unsupported on a host that has no 32-bit Wine. */
#define COLLECT_NO_WINE32 "no wine32"

/* The PDBs that images in the victims' folder name and that are not beside them, are of another
 * build or cannot be opened, as "a.pdb is missing, b.pdb is of another build, c.pdb is damaged";
 * NULL: none. Without them functions have no names, and cases fail. */
const char *collect_lacking_pdbs(const char *victims_folder, struct arena *keep);

/* The plugins of the builds in the victims' folder that toolchain.json names and that are not
 * there, as "a.dll, other/b.dll"; NULL: none. Victims that load them cannot do what their scenarios
 * say. */
const char *collect_lacking_plugins(const char *victims_folder, struct arena *keep);

/* True for the name of a build for x86. Where its program is missing, its scenarios are listed all
 * the same, as unsupported. */
bool collect_is_x86_variant(const char *variant);

/* Makes the Wine prefix, which runs and sessions share, if it is missing.  A run does this itself;
 * call it before opening a session beside a run.  Fails as the runs do. */
enum status collect_prepare(const struct collect_options *options, struct fault *fault);

/* Called once for each finished scenario, never two at a time. */
typedef void collect_done_fn(void *context, const struct collected *done);

/* Runs SCENARIOS[0..COUNT) REPEAT times each and seals their cases; results in order of the list in
 * OUT (COUNT * REPEAT). Repeats after the first land in OUT/cases.1, OUT/cases.2, ... The failure
 * of one scenario is its outcome, not a fault. Fails: ERR_IO when the folders cannot be made;
 * ERR_INTERRUPTED. */
enum status collect_run(const struct collect_options *options, const struct scenario *scenarios,
                        uint32_t count, uint32_t repeat, struct arena *keep, collect_done_fn *done,
                        void *context, struct collected **out, struct fault *fault);

/* Describes this machine, for cases and runs; unknown members are NULL. */
struct collect_host {
    const char *os, *wine, *cpu;
};
enum status collect_describe_host(const struct collect_options *options, struct arena *keep,
                                  struct collect_host *out, struct fault *fault);

/* Runs Windows programs outside of cases, for judges: under Wine the warmed-up prefix of worker 0.
 * The launcher is an argv prefix that also sets the environment; it lives as long as the session.
 * Fails as the runs do; *out is NULL then. */
struct collect_session;
enum status collect_session_open(const struct collect_options *options,
                                 struct collect_session **out, struct fault *fault);
const char *const *collect_session_launcher(const struct collect_session *session);
void collect_session_close(struct collect_session *session); /* NULL is fine */

/* A walk at every instruction (format/record/record_steps.h) that was just made. */
struct collected_steps {
    const char *variant, *program, *file; /* steps-VARIANT.exe, and the record that it left */
    const char **images;                  /* files of the modules that were loaded          */
    uint32_t image_count;
    uint64_t wall_ns;
};

/* Runs every steps-VARIANT.exe of the victims' folder, or those of VARIANTS[0..VARIANT_COUNT), into
 * OUT/steps-VARIANT.rec.  WALKERS: names, comma separated; NULL:
 * all.  Fails: ERR_ABSENT no such folder; ERR_IO; as runs do. */
enum status collect_steps(const struct collect_options *options, const char *const *variants,
                          uint32_t variant_count, const char *walkers, struct arena *keep,
                          struct collected_steps **out, uint32_t *count, struct fault *fault);

#endif
