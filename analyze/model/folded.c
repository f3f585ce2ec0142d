/* See folded.h. */
#include "model/folded.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

static void put_clean(const char *text, folded_put *put, void *to)
{
    const char *start = text;
    while (*text != '\0') {
        const size_t control = text_control_length(text), skip = control > 0 ? control : 1;
        if (control > 0 || *text == ';') {
            put(to, start, (size_t)(text - start));
            put(to, control > 0 ? "?" : ":", 1);
            start = text + skip;
        }
        text += skip;
    }
    put(to, start, (size_t)(text - start));
}

static void put_frame(const struct frame *f, bool with_modules, folded_put *put, void *to)
{
    char place[48];
    if (with_modules || f->function == NULL) {
        put_clean(f->module_name != NULL ? f->module_name : "?", put, to);
        put(to, "!", 1);
    }
    if (f->function != NULL) {
        put_clean(f->function, put, to);
        return;
    }
    const int token = f->method_token != 0
                          ? snprintf(place, sizeof place, "0x%08" PRIx32 "+", f->method_token)
                          : 0;
    const int bytes = snprintf(place + token, sizeof place - (size_t)token, "0x%llx",
                               (unsigned long long)f->offset);
    put(to, place, (size_t)token + (size_t)bytes);
}

void folded_stack_write(const struct stack *stack, bool with_modules, folded_put *put, void *to)
{
    for (uint32_t i = stack->frame_count; i-- > 0;) {
        put_frame(&stack->frames[i], with_modules, put, to);
        if (i > 0)
            put(to, ";", 1);
    }
}
