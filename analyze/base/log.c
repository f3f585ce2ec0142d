/* See log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/files.h"

static bool progress_shown;

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
log_line(const char *level, const char *format, va_list list)
{
    char text[2048];

    (void)vsnprintf(text, sizeof text, format, list);
    log_progress_end();
    (void)fprintf(stderr, "twinstack: %s: %s\n", level, text);
}

void log_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    log_line("error", format, list);
    va_end(list);
}

void log_warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    log_line("warning", format, list);
    va_end(list);
}

void log_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    log_line("note", format, list);
    va_end(list);
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
