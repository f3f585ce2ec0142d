/* See gate_check.h. */
#include "study/gate_check.h"

#include <stdarg.h>
#include <stdio.h>

void gate_add(struct gate_session *s, const char *name, bool holds, const char *format, ...)
{
    struct gate *out = s->out;
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (out->check_count == GATE_CHECKS_MAX) {
        if (holds)
            return;
        out->check_count--;
    }
    out->checks[out->check_count].name = name;
    out->checks[out->check_count].holds = holds;
    out->checks[out->check_count++].text = arena_string(s->keep, text);
}
