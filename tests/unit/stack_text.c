/* See stack_text.h. */
#include "stack_text.h"

#include <stdio.h>
#include <string.h>

#include "stacks/stack_raw.h"
#include "test.h"

struct stack_input *stack_text_open(const char *text, size_t bytes)
{
    static char path[600];
    struct fault fault = FAULT_INIT;
    struct stack_input *input = NULL;

    (void)snprintf(path, sizeof path, "%s/input", test_scratch());
    test_write(path, text, bytes);
    REQUIRE(stack_input_open_path(path, &input, &fault) == ERR_NONE);
    return input;
}

/* One line per item: "label: module!0xoffset@kind ..." or "label: !code@offset". */
static void describe(const struct stack_item *item, char *out, size_t room)
{
    const bool is_suspect = item->crashed_first && item->stack.role == THREAD_ROLE_SUSPECT;
    size_t at = (size_t)snprintf(out, room, "%s%s:", item->label != NULL ? item->label : "-",
                                 is_suspect ? " (crashed)" : "");
    if (item->fault.code != ERR_NONE) {
        (void)snprintf(out + at, room - at, " !%s@%llu", fault_code_name(item->fault.code),
                       (unsigned long long)item->fault.offset);
        return;
    }
    for (uint32_t i = 0; i < item->stack.frame_count && at < room; i++) {
        const struct frame *f = &item->stack.frames[i];
        at += (size_t)snprintf(
            out + at, room - at, " %s%s%s!0x%llx@%s", f->module_name != NULL ? f->module_name : "?",
            f->function != NULL ? "!" : "", f->function ? f->function : "",
            (unsigned long long)f->offset, f->kind == PC_INTERRUPTED ? "i" : "r");
        if (f->module != NULL && at < room && (f->module->code_id[0] || f->module->debug_id[0]))
            at += (size_t)snprintf(out + at, room - at, "{%s,%s}", f->module->code_id,
                                   f->module->debug_id);
        if (f->line != 0 && at < room)
            at += (size_t)snprintf(out + at, room - at, "(%s:%u)", f->file, f->line);
    }
    if (item->stack.left_out > 0 && at < room)
        (void)snprintf(out + at, room - at, " left %u", (unsigned)item->stack.left_out);
}

const char *stack_text_of(struct stack_input *input)
{
    static char out[4096];
    struct stack_item item;
    struct arena keep;

    arena_init(&keep, 0);
    out[0] = '\0';
    while (stack_input_next(input, &keep, &item)) {
        const size_t at = strlen(out);
        describe(&item, out + at, sizeof out - at);
        if (strlen(out) + 2 < sizeof out)
            strcat(out, "\n");
        arena_reset(&keep); /* the input must keep nothing in this arena */
    }
    arena_free(&keep);
    stack_input_close(input);
    return out;
}

const char *stack_text(const char *text, size_t bytes)
{
    return stack_text_of(stack_text_open(text, bytes));
}

void stack_text_read(const uint8_t *data, size_t bytes, void *context)
{
    struct fault fault = FAULT_INIT;
    struct stack_input *input = NULL;
    (void)context;
    REQUIRE(stack_input_open_bytes((const char *)data, bytes, &input, &fault) == ERR_NONE);
    (void)stack_text_of(input);
}

void stack_text_check(const struct stack_text_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = strlen(rows[i].text);
        test_row(rows[i].name);
        CHECK_STR(stack_text(rows[i].text, bytes), rows[i].want);
        test_truncations((const uint8_t *)rows[i].text, bytes, stack_text_read, NULL);
    }
}
