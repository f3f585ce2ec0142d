/* All stacks of one engine: folded lines, as flame graph tools read them ("main;middle;poke 3"),
 * and speedscope's file format. Outermost frame first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/folded.h"
#include "report/report.h"
#include "report/speedscope.h"

struct folded {
    const struct stack *stack;
    char *line;
    uint64_t count;
};

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
    put(to, place, (size_t)(token + bytes));
}

void folded_stack_write(const struct stack *stack, bool with_modules, folded_put *put, void *to)
{
    for (uint32_t i = stack->frame_count; i-- > 0;) {
        put_frame(&stack->frames[i], with_modules, put, to);
        if (i > 0)
            put(to, ";", 1);
    }
}

/* The engine to show: the one that was asked for, else the first subject with stacks. */
static const char *choose_engine(const struct run_figures *report, const char *engine)
{
    for (uint32_t i = 0; engine == NULL && i < report->engine_count; i++)
        if (report->engines[i].subject && report->engines[i].stacks > 0)
            return report->engines[i].engine;
    return engine;
}

static void count_piece(void *to, const char *text, size_t bytes)
{
    (void)text;
    *(size_t *)to += bytes;
}

static void copy_piece(void *to, const char *text, size_t bytes)
{
    char **at = to;
    memcpy(*at, text, bytes);
    *at += bytes;
}

static char *fold(const struct stack *s, struct arena *scratch)
{
    size_t bytes = 0;
    folded_stack_write(s, false, count_piece, &bytes);
    char *line = arena_alloc(scratch, bytes + 1), *at = line;
    if (line != NULL) {
        folded_stack_write(s, false, copy_piece, (void *)&at);
        *at = '\0';
    }
    return line;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(((const struct folded *)a)->line, ((const struct folded *)b)->line);
}

static bool is_shown(const struct stack *s)
{
    return s->state == STACK_OK && s->frame_count > 0;
}

static enum status collect_stacks(const struct run_figures *report, const char *engine,
                                  struct arena *scratch, struct folded **out, size_t *count,
                                  struct fault *fault)
{
    size_t room = 1;
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct engine_claim *k = case_claim(&report->cases[i], engine);
        room += k != NULL ? k->stack_count : 0;
    }
    *count = 0;
    *out = ARENA_ARRAY(scratch, room, struct folded);
    for (uint32_t i = 0; *out != NULL && i < report->case_count; i++) {
        const struct engine_claim *k = case_claim(&report->cases[i], engine);
        for (uint32_t s = 0; k != NULL && k->stacks != NULL && s < k->stack_count; s++) {
            if (!is_shown(&k->stacks[s]))
                continue;
            struct folded *f = &(*out)[(*count)++];
            *f = (struct folded){&k->stacks[s], fold(&k->stacks[s], scratch), 1};
            if (f->line == NULL)
                return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "folded stacks");
        }
    }
    if (*out == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "folded stacks");
    array_sort(*out, *count, sizeof **out, by_line);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (kept > 0 && strcmp((*out)[kept - 1].line, (*out)[i].line) == 0)
            (*out)[kept - 1].count++;
        else
            (*out)[kept++] = (*out)[i];
    *count = kept;
    return ERR_NONE;
}

enum status report_folded(const struct run_figures *report, const char *engine,
                          struct arena *scratch, FILE *out, struct fault *fault)
{
    struct folded *rows = NULL;
    size_t count = 0;
    engine = choose_engine(report, engine);
    if (collect_stacks(report, engine, scratch, &rows, &count, fault) != ERR_NONE)
        return fault->code;
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%s %llu\n", rows[i].line, (unsigned long long)rows[i].count);
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}

enum status report_speedscope(const struct run_figures *report, const char *engine,
                              struct arena *scratch, FILE *out, struct fault *fault)
{
    struct folded *rows = NULL;
    size_t count = 0;
    engine = choose_engine(report, engine);
    if (collect_stacks(report, engine, scratch, &rows, &count, fault) != ERR_NONE)
        return fault->code;
    struct speedscope *scope = speedscope_start(out, engine != NULL ? engine : "no stacks");
    if (scope == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stacks for speedscope");
    for (size_t i = 0; i < count; i++)
        (void)speedscope_add(scope, rows[i].stack, rows[i].count);
    return !speedscope_end(scope) || ferror(out) != 0
               ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
               : ERR_NONE;
}
