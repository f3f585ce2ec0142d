/* What the files of this room share; private to it. */
#ifndef COLLECT_PARTS_H
#define COLLECT_PARTS_H

#include "base/process.h"
#include "collect/collect.h"

/* Runs Windows programs on this host; one per worker. Under Wine each has its own prefix and so its
 * own wineserver, since MiniDumpWriteDump serialises on the server. */
struct runner {
    const struct collect_options *options;
    struct arena keep;
    const char *prefix;                   /* WINEPREFIX; NULL: no Wine */
    const char *loader;                   /* replaces the launcher's first word, see
                                             wine32_loader(); NULL: nothing does */
    const char *environment[8];           /* NULL-terminated           */
    const char *drives[2];                /* folders that our own drives lead to; NULL: none */
    bool holds_prefix;                    /* and no other process uses it */
    void (*while_running)(void *context); /* as in process_request */
    void *while_context;
    uint32_t processor;    /* on which the next program starts, see runner_move(); 0: any */
    struct process *guard; /* ends what this runner started if this process is killed; NULL: none */
};

/* The worker of sessions beside a run; those of a run have smaller numbers. */
enum {
    RUNNER_WORKERS_MAX = 128,
    RUNNER_SESSION = RUNNER_WORKERS_MAX,
    RUNNER_ARGUMENTS_MAX = 32, /* of one program, the launcher's included */
};

/* False when worker 0 must be opened and closed once before others can be opened. */
bool runner_is_prepared(const struct collect_options *options);

/* WORKER 0 gets the prefix itself, made when missing; the others a clone.  Fails: ERR_ABSENT
 * the launcher is not there; ERR_IO; ERR_TIMEOUT, also when options->keeps_waiting() gave up;
 * ERR_INTERRUPTED. */
enum status runner_open(const struct collect_options *options, uint32_t worker, struct runner *out,
                        struct fault *fault);

/* Ends everything that still runs there. */
void runner_close(struct runner *runner);

/* Runs a Windows program: ARGS[0] is its path on this host.  Fails as process_run. */
enum status runner_run(const struct runner *runner, const char *const *args, uint32_t limit_ms,
                       struct arena *keep, struct process_result *out, struct fault *fault);

/* Everything that runs there moves to PROCESSOR (base/processor.h), and what is started from now on
 * stays on it.  Nothing on Windows. */
void runner_move(struct runner *runner, uint32_t processor);

/* Cleans up after a program that could not be ended. */
enum status runner_reset(struct runner *runner, struct fault *fault);

/* The order of a run: hangs first, then the others; with one job, the order of the list. With
 * lanes, hangs and others run side by side. The caller holds a lock. */
struct schedule {
    uint32_t *order;                     /* the hangs, then the others */
    uint32_t count, waiting_count;       /* waiting: hangs             */
    uint32_t next_waiting, next_other;   /* places in `order`          */
    uint32_t jobs, lanes;                /* lanes: processors that hangs have for themselves */
    uint32_t waiting_now, computing_now; /* hangs that run, and those of them that compute   */
    uint64_t began_ns;                   /* when the last of them began to compute           */
    uint64_t life_ns, computing_ns;      /* of the LIVED hangs so far  */
    uint32_t lived;
};
enum schedule_next { SCHEDULE_NONE, SCHEDULE_ONE, SCHEDULE_LATER };
enum schedule_kind { SCHEDULE_ALL, SCHEDULE_HANGS, SCHEDULE_OTHERS };

/* Without lanes: JOBS victims at a time. */
enum status schedule_open(const struct collected *results, uint32_t count, uint32_t jobs,
                          struct arena *keep, struct schedule *out, struct fault *fault);

/* Opens as many lanes as pay, if any, when WAITING hangs and OTHERS are not skipped. */
void schedule_open_lanes(struct schedule *schedule, uint32_t waiting, uint32_t others);

/* True for a victim that waits for most of its life. */
bool schedule_waits(const struct scenario *scenario);

/* The next victim of KIND.  SCHEDULE_LATER: ask again soon. */
enum schedule_next schedule_take(struct schedule *schedule, enum schedule_kind kind,
                                 uint64_t now_ns, uint32_t *index);

/* A hang begins to compute. */
void schedule_computes(struct schedule *schedule, uint64_t now_ns);

/* A hang has ended; for COMPUTING_NS of its life it computed (0: never).  LIFE_NS 0: it was
 * skipped.  True: it was the last one. */
bool schedule_ended(struct schedule *schedule, uint64_t life_ns, uint64_t computing_ns);

/* True when every victim has been taken. */
bool schedule_is_done(const struct schedule *schedule);

/* The path by which a Windows program should be given PATH, a file or folder of this host. */
const char *runner_guest_path(const struct runner *runner, const char *path, struct arena *keep);

/* The file on this host that a Windows path names; NULL when there is none. */
const char *runner_host_path(const struct runner *runner, const char *windows_path,
                             struct arena *keep);

/* The same runner, but Wine says on standard error in which mode it starts a program. */
struct runner runner_with_mode(const struct runner *runner);

/* Adds the launcher's words to WORDS, which has room for MAX and holds *COUNT. */
void runner_launcher(const struct runner *runner, size_t max, const char **words, size_t *count);

/* The loader of the Wine whose 32-bit half `./run` has unpacked into PREFIX32, to start instead of
 * LAUNCHER; NULL: there is none, or it belongs to another Wine than LAUNCHER. */
const char *wine32_loader(const char *prefix, const char *launcher, struct arena *keep);

/* What runs the 32-bit loader on a machine whose kernel runs 64-bit programs alone, as "qemu-i386
 * 10.0.13"; NULL: nothing, the kernel runs it. */
const char *wine32_emulator(const char *prefix, const char *launcher, struct arena *keep);

/* Leaves a link in PREFIX, by which wine32_loader() finds the half of a copy of the prefix. */
void wine32_link(const char *prefix, struct arena *keep);

/* The prefix has the system's 32-bit DLLs; Wine without them makes an empty folder.  True when
 * PREFIX is NULL. */
bool prefix_runs_32_bits(const char *prefix, struct arena *keep);

/* The cached scenario lists of victims, one file per program, in the Wine prefix: a program that
 * only needs the scenarios starts no Windows program and so waits for no run.  The name of a file
 * is a hash of the program, the launcher, the host, the Wine and whether that Wine runs 32-bit
 * programs. */
struct list_cache {
    const char *folder; /* NULL: no prefix, so nothing is kept */
    const char *facts;
};
void list_cache_open(const struct collect_options *options, struct arena *keep,
                     struct list_cache *out);

/* The file of PROGRAM's list, whether it exists or not; NULL: none is kept. */
const char *list_cache_path(const struct list_cache *cache, const char *program,
                            struct arena *keep);

/* The list as the program printed it; "": this host could not start the program.  NULL: PATH is
 * NULL, missing or damaged. */
const char *list_cache_read(const char *path, struct arena *keep);

/* Puts the file in place whole.  Failures are ignored: then the program is asked again. */
void list_cache_write(const struct list_cache *cache, const char *path, const char *text);

/* The variant in a file's name such as START "ob2.exe"; NULL: another file, or memory is out. */
const char *program_variant(const char *name, const char *start, struct arena *keep);

/* PE_MACHINE_* of a program; 0: none that can be read. */
uint32_t program_machine(const char *program);

/* Operating system and processor in words. */
enum status host_describe(struct arena *keep, const char **os, const char **cpu,
                          struct fault *fault);

/* What cases share, and the lock for work that only one worker may do at a time. */
struct evidence {
    const struct collect_options *options; /* with absolute folders */
    struct collect_host host;
    const char *compiler;
    struct named_version *flags; /* variant, flags */
    uint32_t flags_count;
    struct mutex *symbols_lock; /* over the shared symbols folder */
};

/* ---- plugins.c ---- */
/* The plugins that toolchain.json names, of the builds that have a program: paths in the victims'
 * folder, ending with NULL. NULL: none. */
const char *const *collect_plugins(const char *victims_folder, struct arena *keep);

/* Reads toolchain.json of the victims' folder, if there is one. */
enum status evidence_open(const struct collect_options *options, struct arena *keep,
                          struct evidence *out, struct fault *fault);
void evidence_close(struct evidence *evidence);

/* Makes a case of the files in FOLDER (a folder in OUT/cases) after a victim ran, and seals it.
 * Fails: ERR_ABSENT the launcher left no outcome; ERR_MISMATCH an image of ours is of another build
 * than the one that ran; ERR_IO. */
enum status evidence_seal(const struct evidence *evidence, const struct runner *runner,
                          const struct scenario *scenario, const char *folder, struct fault *fault);

#endif
