/* See log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/files.h"

static enum log_level threshold = LOG_WARN;
static bool progress_shown;

void log_set_level(enum log_level level)
{
    threshold = level;
}

void log_progress_end(void)
{
    if (progress_shown)
        (void)fputs("\r\033[K", stderr);
    progress_shown = false;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
static void
log_line(enum log_level level, const char *format, va_list list)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    char text[2048];

    if (level > threshold)
        return;
    (void)vsnprintf(text, sizeof text, format, list);
    log_progress_end();
    (void)fprintf(stderr, "twinstack: %s: %s\n", words[level], text);
}

#define LOG_BODY(level)                                                                            \
    va_list list;                                                                                  \
    va_start(list, format);                                                                        \
    log_line((level), format, list);                                                               \
    va_end(list)

void log_error(const char *format, ...)
{
    LOG_BODY(LOG_ERROR);
}

void log_warn(const char *format, ...)
{
    LOG_BODY(LOG_WARN);
}

void log_info(const char *format, ...)
{
    LOG_BODY(LOG_INFO);
}

void log_debug(const char *format, ...)
{
    LOG_BODY(LOG_DEBUG);
}

void log_fault(const struct fault *fault)
{
    char text[1024];
    fault_describe(fault, text, sizeof text);
    log_error("%s", text);
}

void log_progress(const char *format, ...)
{
    char text[256];
    va_list list;

    if (!file_is_terminal(stderr))
        return;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)fprintf(stderr, "\r\033[K%s", text);
    (void)fflush(stderr);
    progress_shown = true;
}
