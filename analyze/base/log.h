/* Diagnostics on stderr, one line each. Only the command-line verbs, collect and the dashboard log;
 * library folders return faults. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

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

/* Progress on stderr: `bar` rewrites one line, `plain` writes lines, `none` nothing. Until
 * log_progress_as() names one, it is bar on a terminal and plain elsewhere, where the first 5 s
 * print nothing.  False: WORD is none of them. */
bool log_progress_as(const char *word);

/* What the program is doing.  bar: at each call; plain: every 30 s. log_progress_end() and any
 * other message clear the line. */
void log_progress(const char *format, ...) LOG_FORMAT;
void log_progress_end(void);

/* The same, when DONE of ALL are done: plain also at each twentieth of ALL, but at most once per
 * second. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void log_progress_of(uint64_t done, uint64_t all, const char *format, ...);

/* One line about an event that the user should see before the report; `none` suppresses it. */
void log_progress_news(const char *format, ...) LOG_FORMAT;

#endif
