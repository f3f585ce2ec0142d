/* What runs Windows programs on this host; private to this room. */
#ifndef COLLECT_RUNNER_H
#define COLLECT_RUNNER_H

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

#endif
