/* All stacks of one engine in one picture: folded lines, as flame graph tools read them
 * ("main;middle;poke 3"), and speedscope's file format.  Outermost frame first. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"

struct folded {
    const struct stack *stack;
    char *line;
    uint64_t count;
};

static const char *frame_name(const struct frame *f, struct arena *scratch)
{
    if (f->function != NULL)
        return f->function;
    return arena_printf(scratch, "%s!0x%llx", f->module_name != NULL ? f->module_name : "?",
                        (unsigned long long)f->offset);
}

/* The engine to show: the one that was asked for, else the first subject with stacks. */
static const char *choose_engine(const struct run_figures *report, const char *engine)
{
    for (uint32_t i = 0; engine == NULL && i < report->engine_count; i++)
        if (report->engines[i].subject && report->engines[i].stacks > 0)
            return report->engines[i].engine;
    return engine;
}

static char *fold(const struct stack *s, struct arena *scratch)
{
    size_t room = 1;
    for (uint32_t i = 0; i < s->frame_count; i++)
        room += strlen(frame_name(&s->frames[i], scratch)) + 1;
    char *line = arena_alloc(scratch, room), *at = line;
    for (uint32_t i = s->frame_count; line != NULL && i-- > 0;) {
        for (const char *name = frame_name(&s->frames[i], scratch); *name != 0; name++)
            *at++ = *name == ';' || (unsigned char)*name < 0x20 ? '_' : *name;
        if (i > 0)
            *at++ = ';';
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
    qsort(*out, *count, sizeof **out, by_line);
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

/* ---- speedscope ----------------------------------------------------------------------- */

/* Frames by name, file and line; a hash table with open addressing. */
struct frame_table {
    const struct frame **slots;
    uint32_t *numbers;
    size_t size;
    uint32_t count;
    const struct frame **order;
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
    return a->line == b->line && same_text(a->function, b->function) &&
           same_text(a->file, b->file) &&
           (a->function != NULL ||
            (a->offset == b->offset && same_text(a->module_name, b->module_name)));
}

static uint64_t frame_hash(const struct frame *f)
{
    uint64_t hash = 14695981039346656037u + f->line;
    const char *text = f->function != NULL ? f->function : f->module_name;
    for (; text != NULL && *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash + (f->function == NULL ? f->offset * 31 : 0);
}

static uint32_t frame_number(struct frame_table *t, const struct frame *f)
{
    size_t slot = (size_t)(frame_hash(f) % t->size);
    while (t->slots[slot] != NULL && !same_frame(t->slots[slot], f))
        slot = (slot + 1) % t->size;
    if (t->slots[slot] == NULL) {
        t->slots[slot] = f;
        t->numbers[slot] = t->count;
        t->order[t->count++] = f;
    }
    return t->numbers[slot];
}

static void write_frames(struct json *j, const struct frame_table *t, struct arena *scratch)
{
    json_key(j, "shared");
    json_object(j);
    json_key(j, "frames");
    json_array(j);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct frame *f = t->order[i];
        json_object(j);
        json_key_string(j, "name", frame_name(f, scratch));
        if (f->file != NULL)
            json_key_string(j, "file", f->file);
        if (f->line != 0)
            json_key_uint(j, "line", f->line);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void write_profile(struct json *j, const struct folded *rows, size_t count,
                          struct frame_table *t, const char *name)
{
    uint64_t total = 0;
    json_key(j, "profiles");
    json_array(j);
    json_object(j);
    json_key_string(j, "type", "sampled");
    json_key_string(j, "name", name);
    json_key_string(j, "unit", "none");
    json_key_uint(j, "startValue", 0);
    for (size_t i = 0; i < count; i++)
        total += rows[i].count;
    json_key_uint(j, "endValue", total);
    json_key(j, "samples");
    json_array(j);
    for (size_t i = 0; i < count; i++) {
        json_array(j);
        for (uint32_t f = rows[i].stack->frame_count; f-- > 0;)
            json_uint(j, frame_number(t, &rows[i].stack->frames[f]));
        json_array_end(j);
    }
    json_array_end(j);
    json_key(j, "weights");
    json_array(j);
    for (size_t i = 0; i < count; i++)
        json_uint(j, rows[i].count);
    json_array_end(j);
    json_object_end(j);
    json_array_end(j);
}

static bool make_table(struct frame_table *t, const struct folded *rows, size_t count,
                       struct arena *scratch)
{
    size_t frames = 0;
    for (size_t i = 0; i < count; i++)
        frames += rows[i].stack->frame_count;
    t->size = frames * 2 + 1;
    t->count = 0;
    t->slots = ARENA_ARRAY(scratch, t->size, const struct frame *);
    t->numbers = ARENA_ARRAY(scratch, t->size, uint32_t);
    t->order = ARENA_ARRAY(scratch, frames + 1, const struct frame *);
    if (t->slots == NULL || t->numbers == NULL || t->order == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        for (uint32_t f = rows[i].stack->frame_count; f-- > 0;)
            (void)frame_number(t, &rows[i].stack->frames[f]);
    return true;
}

enum status report_speedscope(const struct run_figures *report, const char *engine,
                              struct arena *scratch, FILE *out, struct fault *fault)
{
    struct folded *rows = NULL;
    size_t count = 0;
    struct frame_table table;
    struct json j;
    engine = choose_engine(report, engine);
    if (collect_stacks(report, engine, scratch, &rows, &count, fault) != ERR_NONE)
        return fault->code;
    if (!make_table(&table, rows, count, scratch))
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stacks for speedscope");
    json_to_stream(&j, out, false);
    json_object(&j);
    json_key_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    write_frames(&j, &table, scratch);
    write_profile(&j, rows, count, &table, engine != NULL ? engine : "no stacks");
    json_key_string(&j, "exporter", "twinstack");
    json_object_end(&j);
    json_newline(&j);
    return j.failed || ferror(out) != 0
               ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
               : ERR_NONE;
}
