/* Starting other programs and hearing them out, under a time limit.
 * One implementation per system: process_posix.c, process_windows.c. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

struct process_request {
    const char *const *argv;        /* NULL-terminated; argv[0] is searched in PATH       */
    const char *const *environment; /* NULL-terminated "NAME=value" rows added to ours; or NULL */
    const char *folder;             /* working folder; NULL: ours                         */
    const void *input;              /* fed to standard input; NULL: empty                 */
    size_t input_bytes;
    uint32_t limit_ms;       /* then the whole process group is killed; 0: 60,000 */
    size_t output_max_bytes; /* per stream; more is dropped and said; 0: 64 MiB   */
    bool despite_interrupt;  /* clean-up: runs on though the user asked to stop   */
};

struct process_result {
    int exit_code; /* 0..255; 128 + signal when killed by one */
    bool timed_out;
    bool output_cut; /* more than output_max_bytes came          */
    char *output;    /* standard output, NUL-terminated, in KEEP */
    size_t output_bytes;
    char *errors; /* standard error, likewise */
    size_t errors_bytes;
    uint64_t wall_ns;
    uint64_t cpu_ns;     /* user + system                */
    uint64_t peak_bytes; /* largest resident size; 0: unknown, since on Linux a child
                          * starts with the size of this process, and this one is large      */
};

/* Runs to the end.  A program that fails is no fault: see exit_code.  Fails: ERR_ABSENT
 * when argv[0] cannot be found, ERR_IO, ERR_MEMORY, ERR_INTERRUPTED.  Safe from several threads. */
enum status process_run(const struct process_request *request, struct arena *keep,
                        struct process_result *out, struct fault *fault);

/* Searches PATH.  Returns the full path in KEEP, or NULL. */
char *process_find(const char *name, struct arena *keep);

/* A name from which a later program can find out whether this process is still alive:
 * "PID@HOST". */
enum { PROCESS_NAME_BYTES = 288 };
void process_name_self(char out[PROCESS_NAME_BYTES]);

enum process_life { PROCESS_UNKNOWN, PROCESS_ALIVE, PROCESS_GONE };

/* NAME: what process_name_self() said then; of another host, or none, nothing is known. */
enum process_life process_life_of(const char *name);

/* Asked-for interruption (Ctrl-C): install once, then poll. */
void process_catch_interrupts(void);
bool process_interrupted(void);

#endif
