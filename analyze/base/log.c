/* See log.h. */
#include "base/log.h"
#include "base/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"

enum style { STYLE_NONE, STYLE_PLAIN, STYLE_BAR, STYLE_AUTO };
static const char *const styles[] = {"none", "plain", "bar"};
static enum style style = STYLE_AUTO;
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

/* ---- progress ------------------------------------------------------------------------- */

enum { PLAIN_PARTS = 20 };
static const uint64_t PLAIN_EACH_NS = 30000000000U, PLAIN_LEAST_NS = 1000000000U;
static const uint64_t PLAIN_UNASKED_NS = 5000000000U; /* work that ends earlier prints nothing */

bool log_progress_as(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(styles); i++)
        if (strcmp(word, styles[i]) == 0) {
            style = (enum style)i;
            return true;
        }
    return false;
}

static enum style style_now(void)
{
    if (style != STYLE_AUTO)
        return style;
    return file_is_terminal(stderr) ? STYLE_BAR : STYLE_PLAIN;
}

/* True when a plain line is due: after 30 s, or when another twentieth is done. */
static bool plain_is_due(uint64_t done, uint64_t all)
{
    static uint64_t first_ns, last_ns, last_part;
    const uint64_t now_ns = clock_ns(), part = all > 0 ? done * PLAIN_PARTS / all : 0;

    if (first_ns == 0)
        first_ns = last_ns = now_ns;
    if (part < last_part) /* a new count begins */
        last_part = 0;
    if (style == STYLE_AUTO && now_ns - first_ns < PLAIN_UNASKED_NS)
        return false;
    if (now_ns - last_ns < (part > last_part ? PLAIN_LEAST_NS : PLAIN_EACH_NS))
        return false;
    last_ns = now_ns;
    last_part = part;
    return true;
}

/* What continues on a second line of the terminal would stay there. The last column stays free,
 * since some terminals begin the next line as soon as it is written. */
static void cut_to_terminal(char *text)
{
    uint32_t columns = file_terminal_columns(stderr);

    if (columns == 0)
        return;
    for (; *text != '\0'; text++) {
        const bool begins_character = ((unsigned char)*text & 0xC0) != 0x80;
        if (begins_character && --columns == 0)
            *text = '\0';
        if (*text == '\0')
            return;
    }
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 0)))
#endif
static void
show(uint64_t done, uint64_t all, const char *format, va_list list)
{
    char text[256];
    const enum style how = style_now();

    if (how == STYLE_NONE || (how == STYLE_PLAIN && !plain_is_due(done, all)))
        return;
    (void)vsnprintf(text, sizeof text, format, list);
    if (how == STYLE_PLAIN) {
        (void)fprintf(stderr, "twinstack: %s\n", text);
        return;
    }
    cut_to_terminal(text);
    (void)fprintf(stderr, "\r\033[K%s", text);
    (void)fflush(stderr);
    progress_shown = true;
}

void log_progress(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    show(0, 0, format, list);
    va_end(list);
}

void log_progress_of(uint64_t done, uint64_t all, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    show(done, all, format, list);
    va_end(list);
}

void log_progress_news(const char *format, ...)
{
    char text[2048];
    va_list list;

    if (style_now() == STYLE_NONE)
        return;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    log_progress_end();
    (void)fprintf(stderr, "twinstack: %s\n", text);
}
