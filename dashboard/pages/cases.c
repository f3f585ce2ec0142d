/* Cases: lists of them, one of them with its aligned stacks, one through all runs. */
#include "pages/view.h"

#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "pages/asked.h"
#include "pages/rows.h"
#include "pages/trend.h"
#include "study/triage.h"

enum status view_run_cases(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t limit = 0;
    struct case_query query = {.variant = http_query_get(in->query, "variant"),
                               .search = http_query_get(in->query, "search")};
    struct case_page page;
    struct view_filters filters;
    enum status status = view_find_run(in, in->query->params[0], &query.run_id, fault);
    if (status == ERR_NONE)
        status = view_read_filters(in, &filters, fault);
    if (status == ERR_NONE) {
        query.kind = filters.kind;
        query.verdict = filters.verdict;
        query.cause = filters.cause;
    }
    if (status == ERR_NONE)
        status = view_get_limit(in, 50, &limit, fault);
    if (status == ERR_NONE)
        status = view_get_uint(in, "after", 0, UINT64_MAX, &query.after, fault);
    query.limit = (uint32_t)limit;
    if (status == ERR_NONE)
        status = store_list_cases(in->store, &query, in->keep, &page, fault);
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key_uint(out, "run", query.run_id);
    json_key_array(out, "cases");
    for (uint32_t i = 0; i < page.count; i++)
        view_write_case_line(out, &page.cases[i]);
    json_array_end(out);
    view_write_page(out, page.total, page.next);
    json_object_end(out);
    return ERR_NONE;
}

/* A stack without frames is not compared row by row, yet every frame that the truth demands is
 * missing from it. */
static bool lacks_all(const struct thread_result *t, uint32_t row, uint32_t column)
{
    const struct align_cell *truth = thread_result_cell(t, row, 0);
    if (column == 0 || t->truth == NULL || truth->frame < 0)
        return false;
    const struct stack *stack = t->stacks[column - 1];
    const struct truth_frame *wanted = &t->truth->frames[truth->frame];
    return stack != NULL && stack->state == STACK_OK && stack->frame_count == 0 &&
           wanted->gap == TRUTH_GAP_NONE && !wanted->tail;
}

static void write_cell(struct json *out, const struct thread_result *t, uint32_t row,
                       uint32_t column)
{
    const struct align_cell *cell = thread_result_cell(t, row, column);
    json_object(out);
    const enum cell_mark mark = lacks_all(t, row, column) ? CELL_MISSING : cell->mark;
    json_key_string(out, "mark", cell_mark_name(mark));
    json_key_string(out, "cause", cell->cause != CAUSE_NONE ? cause_name(cell->cause) : NULL);
    json_key(out, "frame");
    if (cell->frame < 0 || (column == 0 ? t->truth == NULL : t->stacks[column - 1] == NULL))
        json_null(out);
    else if (column == 0)
        view_write_truth_frame(out, &t->truth->frames[cell->frame]);
    else
        view_write_frame(out, &t->stacks[column - 1]->frames[cell->frame]);
    json_object_end(out);
}

static void write_thread(struct json *out, const struct thread_result *t, enum cpu cpu,
                         struct arena *keep)
{
    json_object(out);
    json_key_uint(out, "thread_id", t->thread_id);
    json_key_string(out, "name", t->name);
    json_key_string(out, "role", thread_role_name(t->role, t->role_word));
    json_key_bool(out, "has_truth", t->truth != NULL);
    json_key_array(out, "stacks");
    for (uint32_t i = 0; i + 1 < t->column_count; i++) {
        const struct stack *s = t->stacks[i];
        if (s == NULL) {
            json_null(out);
            continue;
        }
        json_object(out);
        json_key_string(out, "state", stack_state_name(s->state));
        json_key_string(out, "stop", stack_stop_text(s));
        json_key_uint(out, "left_out", s->left_out);
        json_key_uint(out, "walk_ns", s->walk_ns);
        json_key_array(out, "evidence");
        for (uint32_t e = 0; e < s->evidence_count; e++)
            view_write_evidence(out, s, &s->evidence[e], cpu, keep);
        json_array_end(out);
        json_object_end(out);
    }
    json_array_end(out);
    json_key_array(out, "rows");
    for (uint32_t row = 0; row < t->row_count; row++) {
        json_array(out);
        for (uint32_t column = 0; column < t->column_count; column++)
            write_cell(out, t, row, column);
        json_array_end(out);
    }
    json_array_end(out);
    json_object_end(out);
}

static void write_dump(struct json *out, const struct run_case *c, struct arena *keep)
{
    const char *path = view_dump_path(c, keep);
    json_key(out, "dump_file");
    if (path == NULL) {
        json_null(out);
        return;
    }
    json_object(out);
    json_key_uint(out, "bytes", path_bytes(path));
    json_object_end(out);
}

enum { MODULE_TIMES_MOST = 64 };

static bool came_or_went(const struct module *m)
{
    return m != NULL && (m->loaded_at_ns != 0 || m->unloaded_at_ns != MODULE_STILL_LOADED);
}

static bool is_same_load(const struct module *a, const struct module *b)
{
    return a->base_va == b->base_va && a->loaded_at_ns == b->loaded_at_ns &&
           strcmp(text_or_empty(a->name), text_or_empty(b->name)) == 0;
}

/* Adds MODULE in the order in which modules came, once. */
static void add_load(const struct module *loads[MODULE_TIMES_MOST], uint32_t *count,
                     const struct module *module)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (is_same_load(loads[i], module))
            return;
    while (at < *count && loads[at]->loaded_at_ns <= module->loaded_at_ns)
        at++;
    if (*count == MODULE_TIMES_MOST)
        return;
    memmove((void *)(loads + at + 1), (const void *)(loads + at), (*count - at) * sizeof *loads);
    loads[at] = module;
    ++*count;
}

/* When the modules of frames came and went, where that was while the process ran. */
static void write_loads(struct json *out, const struct run_case *c)
{
    const struct module *loads[MODULE_TIMES_MOST];
    uint32_t count = 0;
    for (uint32_t n = 0; n < c->result.thread_count; n++) {
        const struct thread_result *t = &c->result.threads[n];
        for (uint32_t i = 0; i + 1 < t->column_count; i++)
            for (uint32_t f = 0; t->stacks[i] != NULL && f < t->stacks[i]->frame_count; f++)
                if (came_or_went(t->stacks[i]->frames[f].module))
                    add_load(loads, &count, t->stacks[i]->frames[f].module);
    }
    json_key_array(out, "loads");
    for (uint32_t i = 0; i < count; i++) {
        json_object(out);
        json_key_string(out, "module", loads[i]->name);
        json_key_hex(out, "base", loads[i]->base_va);
        json_key_uint(out, "loaded_ns", loads[i]->loaded_at_ns);
        json_key_uint_if(out, "unloaded_ns", loads[i]->unloaded_at_ns,
                         loads[i]->unloaded_at_ns != MODULE_STILL_LOADED);
        json_object_end(out);
    }
    json_array_end(out);
}

static void write_artifacts(struct json *out, const struct run_case *c, struct arena *keep)
{
    json_key_array(out, "artifacts");
    for (uint32_t i = 0; i < c->artifact_count; i++) {
        json_object(out);
        json_key_string(out, "role", artifact_role_name(c->artifacts[i].role));
        json_key_string(out, "name", c->artifacts[i].name);
        json_key_string(out, "sha256", c->artifacts[i].sha256);
        json_key_uint(out, "bytes", c->artifacts[i].bytes);
        json_key_string(out, "url",
                        c->artifacts[i].role == ARTIFACT_SOURCE_LINK
                            ? arena_text(keep, c->artifacts[i].data, c->artifacts[i].bytes)
                            : NULL);
        json_object_end(out);
    }
    json_array_end(out);
}

enum status view_case(const struct view_input *in, struct json *out, struct fault *fault)
{
    struct run_case c;
    if (view_read_case(in, &c, fault) != ERR_NONE)
        return fault->code;
    json_object(out);
    json_key_uint(out, "run", c.run_id);
    json_key(out, "case");
    run_case_write_json(out, &c);
    json_key_string(out, "sentence", triage_sentence(&c, in->keep));
    json_key_string(out, "trouble", trouble_name(triage_trouble(&c)));
    json_key_array(out, "apart");
    for (uint32_t i = 0; i < c.result.score_count; i++)
        if (case_is_apart(&c, c.result.scores[i].engine))
            json_string(out, c.result.scores[i].engine);
    json_array_end(out);
    json_key_array(out, "threads");
    for (uint32_t i = 0; i < c.result.thread_count; i++)
        write_thread(out, &c.result.threads[i], c.arch, in->keep);
    json_array_end(out);
    write_loads(out, &c);
    write_artifacts(out, &c, in->keep);
    write_dump(out, &c, in->keep);
    json_object_end(out);
    return ERR_NONE;
}

enum status view_case_history(const struct view_input *in, struct json *out, struct fault *fault)
{
    struct case_query query = {.scenario = in->query->params[0],
                               .variant = in->query->params[1],
                               .newest_first = true,
                               .limit = 60};
    struct case_page page;
    enum status status = store_list_cases(in->store, &query, in->keep, &page, fault);
    if (status == ERR_NONE && page.total == 0)
        status = fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "case of this name in any run");
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key_string(out, "scenario", query.scenario);
    json_key_string(out, "variant", query.variant);
    json_key(out, "newest");
    run_case_write_json(out, &page.cases[0]);
    json_key_array(out, "cases");
    for (uint32_t i = 0; i < page.count; i++)
        view_write_case_line(out, &page.cases[i]);
    json_array_end(out);
    view_write_page(out, page.total, page.next);
    static const enum metric metrics[] = {METRIC_F1, METRIC_OFFSET, METRIC_DUMP};
    json_key_object(out, "trends");
    for (size_t i = 0; i < COUNT_OF(metrics) && status == ERR_NONE; i++) {
        json_key(out, metric_name(metrics[i]));
        status = view_write_trend(in,
                                  &(struct trend_query){.metric = metrics[i],
                                                        .scenario = query.scenario,
                                                        .variant = query.variant,
                                                        .limit = 60},
                                  out, fault);
    }
    json_object_end(out);
    json_object_end(out);
    return status;
}
