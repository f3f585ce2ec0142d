/* Diagnostics on stderr, one line each.  Library rooms do not log: they return faults.
 * Verbs, collect and the dashboard do. */
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

/* One line for a fault: where, what, at which offset, what to do. */
void log_fault(const struct fault *fault);

/* Progress on a terminal: rewrites one line of stderr; nothing when stderr is no
 * terminal.  log_progress_end() clears it; other messages do so too. */
void log_progress(const char *format, ...) LOG_FORMAT;
void log_progress_end(void);

#endif
