/* All stacks of one engine: folded lines, as flame graph tools read them ("main;middle;poke 3"),
 * and speedscope's file format. Outermost frame first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "model/folded.h"
#include "report/report.h"
#include "report/speedscope.h"

/* Stacks that are alike, once. */
struct folded {
    const char *line;
    const struct stack *stack; /* the first one, with the frames that are shown */
    uint64_t count;
    struct folded *next; /* with the same hash */
};

enum { SLOTS = 4096 };

struct folding {
    struct arena *keep;
    struct folded *slots[SLOTS];
    struct folded **rows; /* by line, when all are known */
    size_t count;
};

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
    return strcmp((*(struct folded *const *)a)->line, (*(struct folded *const *)b)->line);
}

static bool is_shown(const struct stack *s)
{
    return s->state == STACK_OK && s->frame_count > 0;
}

static bool copy_text(struct arena *keep, const char *text, const char **out)
{
    *out = arena_string(keep, text);
    return text == NULL || *out != NULL;
}

/* A copy that outlives the case, with what the formats show of a frame. */
static const struct stack *copy_stack(const struct stack *s, struct arena *keep)
{
    struct stack *out = ARENA_NEW(keep, struct stack);
    struct frame *frames = ARENA_ARRAY(keep, s->frame_count, struct frame);
    if (out == NULL || frames == NULL)
        return NULL;
    for (uint32_t i = 0; i < s->frame_count; i++) {
        const struct frame *f = &s->frames[i];
        if (!copy_text(keep, f->function, &frames[i].function) ||
            !copy_text(keep, f->module_name, &frames[i].module_name) ||
            !copy_text(keep, f->file, &frames[i].file))
            return NULL;
        frames[i].line = f->line;
        frames[i].offset = f->offset;
        frames[i].method_token = f->method_token;
    }
    out->frames = frames;
    out->frame_count = s->frame_count;
    return out;
}

static bool add_stack(struct folding *folding, const struct stack *s, struct arena *scratch)
{
    const char *line = fold(s, scratch);
    if (line == NULL)
        return false;
    struct folded **slot = &folding->slots[hash_fold(hash_text(HASH_START, line)) % SLOTS];
    for (struct folded *at = *slot; at != NULL; at = at->next)
        if (strcmp(at->line, line) == 0) {
            at->count++;
            return true;
        }
    struct folded *added = ARENA_NEW(folding->keep, struct folded);
    if (added == NULL)
        return false;
    *added = (struct folded){.line = arena_string(folding->keep, line),
                             .stack = copy_stack(s, folding->keep),
                             .count = 1,
                             .next = *slot};
    *slot = added;
    folding->count++;
    return added->line != NULL && added->stack != NULL;
}

static bool sort_rows(struct folding *folding)
{
    size_t count = 0;
    folding->rows = ARENA_ARRAY(folding->keep, folding->count + 1, struct folded *);
    if (folding->rows == NULL)
        return false;
    for (size_t i = 0; i < SLOTS; i++)
        for (struct folded *at = folding->slots[i]; at != NULL; at = at->next)
            folding->rows[count++] = at;
    array_sort((void *)folding->rows, count, sizeof(struct folded *), by_line);
    return true;
}

/* Memory is that of the stacks that differ. */
static enum status collect_stacks(const struct run_figures *report, const char *engine,
                                  struct folding *out, struct fault *fault)
{
    struct case_window w;
    struct arena scratch;
    bool good = true;
    arena_init(&scratch, 0);
    case_window_open(&w, report, CASE_STACKS, fault);
    for (uint32_t i = 0; i < w.count && good && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, fault);
        const struct engine_claim *k = c != NULL ? case_claim(c, engine) : NULL;
        arena_reset(&scratch);
        for (uint32_t s = 0; good && k != NULL && k->stacks != NULL && s < k->stack_count; s++)
            good = !is_shown(&k->stacks[s]) || add_stack(out, &k->stacks[s], &scratch);
    }
    case_window_close(&w);
    arena_free(&scratch);
    if (fault->code == ERR_NONE && !(good && sort_rows(out)))
        (void)fault_no_memory(fault, "folded stacks");
    return fault->code;
}

enum status report_folded(const struct report_job *job, FILE *out, struct fault *fault)
{
    const struct run_figures *report = job->report;
    struct arena *const scratch = job->scratch;
    struct folding *folding = ARENA_NEW(scratch, struct folding);
    if (folding == NULL)
        return fault_no_memory(fault, "folded stacks");
    folding->keep = scratch;
    if (collect_stacks(report, choose_engine(report, job->engine), folding, fault) != ERR_NONE)
        return fault->code;
    for (size_t i = 0; i < folding->count; i++)
        (void)fprintf(out, "%s %llu\n", folding->rows[i]->line,
                      (unsigned long long)folding->rows[i]->count);
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}

static void add_sample(struct speedscope *scope, const struct folded *row)
{
    speedscope_stack(scope, row->count);
    for (uint32_t i = row->stack->frame_count; i-- > 0;) {
        const struct frame *f = &row->stack->frames[i];
        speedscope_frame(scope, &(struct speedscope_frame){.module = f->module_name,
                                                           .function = f->function,
                                                           .file = f->file,
                                                           .offset = f->offset,
                                                           .line = f->line});
    }
    (void)speedscope_stack_end(scope);
}

enum status report_speedscope(const struct report_job *job, FILE *out, struct fault *fault)
{
    const struct run_figures *report = job->report;
    struct arena *const scratch = job->scratch;
    struct folding *folding = ARENA_NEW(scratch, struct folding);
    if (folding == NULL)
        return fault_no_memory(fault, "stacks for speedscope");
    folding->keep = scratch;
    const char *engine = choose_engine(report, job->engine);
    if (collect_stacks(report, engine, folding, fault) != ERR_NONE)
        return fault->code;
    struct speedscope *scope = speedscope_start(out, engine != NULL ? engine : "no stacks");
    if (scope == NULL)
        return fault_no_memory(fault, "stacks for speedscope");
    for (size_t i = 0; i < folding->count; i++)
        add_sample(scope, folding->rows[i]);
    return !speedscope_end(scope) || ferror(out) != 0
               ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
               : ERR_NONE;
}
