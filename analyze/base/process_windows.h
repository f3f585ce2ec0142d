/* Private to the room: a child on Windows, for process_windows.c, which runs one to its end, and
 * process_stay_windows.c, which keeps one running. */
#ifndef BASE_PROCESS_WINDOWS_H
#define BASE_PROCESS_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <windows.h>

#include "base/process.h"

/* The exit code of a child that had to be ended: as on Linux, 128 + SIGKILL. */
enum { JOB_KILLED = 128 + 9 };

/* A running child, alone in a job, and our ends of its pipes. */
struct child {
    PROCESS_INFORMATION info;
    HANDLE job, input, output, errors;
};

/* Starts REQUEST's program; its standard error is dropped unless WITH_ERRORS. After a fault there
 * is nothing to close. Fails: ERR_ABSENT, ERR_IO, ERR_MEMORY. */
enum status child_open(const struct process_request *request, bool with_errors, struct child *out,
                       struct fault *fault);

/* Closes what is not NULL; since the job's last handle closes, no process of the job outlives it.
 */
void child_close(struct child *child);

/* What a pipe has delivered. */
struct pump {
    HANDLE pipe;
    char *text; /* malloc */
    size_t bytes, room, max;
    bool cut; /* there was more than MAX bytes, or no memory */
};
void pump_add(struct pump *pump, const char *block, size_t bytes);

#endif
