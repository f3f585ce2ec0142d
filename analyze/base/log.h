/* Diagnostics on stderr, one line each. Only the command-line verbs, collect and the dashboard log;
 * library folders return faults. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/fault.h"

#if defined(__GNUC__)
#define LOG_FORMAT __attribute__((format(printf, 1, 2)))
#else
#define LOG_FORMAT
#endif
void log_error(const char *format, ...) LOG_FORMAT;
void log_warn(const char *format, ...) LOG_FORMAT;
void log_note(const char *format, ...) LOG_FORMAT;

/* Prints one line for a fault: where, what, at which offset, what to do. */
void log_fault(const struct fault *fault);

/* Shows progress by rewriting one line of stderr; prints nothing when stderr is not a terminal.
 * log_progress_end() and any other message clear the line. */
void log_progress(const char *format, ...) LOG_FORMAT;
void log_progress_end(void);

#endif
