/* Runs other programs under a time limit and collects their output. One implementation per system:
 * process_posix.c, process_windows.c. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"

struct process_request {
    const char *const *argv; /* NULL-terminated; argv[0] is searched in PATH       */
    const char *const
        *environment; /* NULL-terminated "NAME=value" entries, added to our environment; or NULL */
    const char *folder; /* working folder; NULL: ours                         */
    const void *input;  /* fed to standard input; NULL: empty                 */
    size_t input_bytes;
    uint32_t processor;        /* the one that it runs on, see base/processor.h; 0: any */
    uint32_t limit_ms;         /* then the whole process group is killed; 0: 60,000 */
    uint64_t memory_max_bytes; /* of its writable memory, beyond which it gets none; 0: any. Not
                                * kept on Windows */
    size_t output_max_bytes;   /* per stream; the rest is dropped, see output_cut; 0: 64 MiB */
    /* Called about every 20 ms while it runs; NULL. */
    void (*while_running)(void *context);
    void *context;
    bool despite_interrupt; /* for clean-up: keeps running after the user asked to stop */
};

struct process_result {
    int exit_code; /* 0..255; 128 + signal when killed by one */
    bool timed_out;
    bool output_cut; /* standard output was longer than output_max_bytes */
    char *output;    /* standard output, NUL-terminated, in KEEP */
    size_t output_bytes;
    char *errors; /* standard error, likewise */
    size_t errors_bytes;
    uint64_t wall_ns;
    uint64_t peak_bytes; /* peak resident size; 0: unknown. On Linux a child's peak starts at the
                          * size of this process, so it is unknown while this process is large */
};

/* Runs a program to its end. A program that fails is not a fault: see exit_code. Fails: ERR_ABSENT
 * when argv[0] cannot be found, ERR_IO, ERR_MEMORY, ERR_INTERRUPTED. Safe from several threads. */
enum status process_run(const struct process_request *request, struct arena *keep,
                        struct process_result *out, struct fault *fault);

/* A program that keeps running: it reads questions as lines of text and answers in lines, one
 * question at a time. Belongs to one thread. */
struct process;

/* Starts it; of REQUEST only argv, environment, folder and memory_max_bytes count. Fails: as
 * process_run. */
enum status process_open(const struct process_request *request, struct process **out,
                         struct fault *fault);

/* Writes QUESTION and reads LINES lines, which are in KEEP, NUL-terminated. Fails: ERR_TIMEOUT;
 * ERR_IO it ended, or closed its output; ERR_LIMIT it wrote more than 64 MiB; ERR_INTERRUPTED;
 * ERR_MEMORY. After a failure its answers are no longer in step: close it. */
enum status process_ask(struct process *process, const char *question, uint32_t lines,
                        uint32_t limit_ms, struct arena *keep, char **answer, struct fault *fault);

enum { PROCESS_CLOSE_LIMIT_MS = 2000, PROCESS_WORDS_BYTES = 512 };

/* How such a program ended. */
struct process_ended {
    int exit_code;                   /* as in struct process_result; -1: it had to be killed */
    uint64_t peak_bytes;             /* 0: unknown, as on Windows */
    char words[PROCESS_WORDS_BYTES]; /* the end of its standard error; on Windows it is dropped */
};

/* Closes its input, waits for at most PROCESS_CLOSE_LIMIT_MS, and kills what is left. NULL is fine;
 * OUT may be NULL. */
void process_end(struct process *process, struct process_ended *out);
void process_close(struct process *process);

/* Searches PATH.  Returns the full path in KEEP, or NULL. */
char *process_find(const char *name, struct arena *keep);

/* A name by which another program can later check whether this process is still running:
 * "PID@HOST". */
enum { PROCESS_NAME_BYTES = 288 };
void process_name_self(char out[PROCESS_NAME_BYTES]);

/* The file of this program, in UTF-8, to start it again; NULL: not known. */
const char *process_program(struct arena *keep);

enum process_life { PROCESS_UNKNOWN, PROCESS_ALIVE, PROCESS_GONE };

/* NAME is what that process got from process_name_self(). For an empty name or a process on another
 * host the answer is not known. */
enum process_life process_life_of(const char *name);

/* Call first in main. Makes the standard streams carry bytes as they are; on a Windows console,
 * UTF-8 and colours. */
void process_prepare(void);

/* Makes this program's standard output, and that of programs it starts, write where TO does; TO
 * stays open. False: it cannot. */
bool process_redirect_output(FILE *to);

/* Interruption by the user (Ctrl-C): install the handler once, then poll. */
void process_catch_interrupts(void);
bool process_interrupted(void);

/* The same for a program that only reads and prints: so long after the first interruption the
 * process ends with EXIT_CODE, if it has not ended by itself. What is in its way then is no input,
 * which polls (stacks/stack_reader.c), but a large symbol file or a full pipe. */
enum { PROCESS_INTERRUPT_LIMIT_MS = 500 };
void process_catch_interrupts_until(int exit_code);

#endif
