/* Cases: lists of them, one of them with its aligned stacks, one through all runs. */
#include <string.h>

#include "view/parts.h"

/* The causes of the findings, or of the subjects' alone, each once. */
static void write_causes_of(struct json *out, const char *key, const struct case_result *result,
                            bool only_failing)
{
    bool seen[CAUSE_COUNT] = {false};
    json_key(out, key);
    json_array(out);
    for (uint32_t i = 0; i < result->finding_count; i++) {
        enum cause cause = result->findings[i].cause;
        if (seen[cause] || (only_failing && !result->findings[i].fails))
            continue;
        seen[cause] = true;
        json_string(out, cause_name(cause));
    }
    json_array_end(out);
}

void view_write_case_line(struct json *out, const struct run_case *c)
{
    json_object(out);
    json_key_uint(out, "id", c->id);
    json_key_uint(out, "run", c->run_id);
    json_key_string(out, "scenario", c->scenario);
    json_key_string(out, "variant", c->variant);
    json_key_string(out, "kind", case_kind_name(c->kind));
    json_key_uint(out, "repeat", c->repeat);
    json_key_string(out, "verdict", verdict_name(c->result.verdict));
    json_key_string(out, "reason", c->result.reason);
    json_key_string(out, "right", c->result.right);
    json_key_string(out, "signature", c->result.signature);
    json_key_string(out, "known_id", c->known_id);
    json_key(out, "scores");
    json_array(out);
    for (uint32_t i = 0; i < c->result.score_count; i++)
        engine_score_write_json(out, &c->result.scores[i]);
    json_array_end(out);
    json_key_uint(out, "findings", c->result.finding_count);
    write_causes_of(out, "causes", &c->result, true);
    write_causes_of(out, "all_causes", &c->result, false);
    json_object_end(out);
}

enum status view_run_cases(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t limit = 0;
    struct case_query query = {.variant = view_query_get(in->query, "variant"),
                               .kind = view_query_get(in->query, "kind"),
                               .verdict = view_query_get(in->query, "verdict"),
                               .cause = view_query_get(in->query, "cause"),
                               .search = view_query_get(in->query, "search")};
    struct case_page page;
    enum status status = view_find_run(in, in->query->params[0], &query.run_id, fault);
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
    json_key(out, "cases");
    json_array(out);
    for (uint32_t i = 0; i < page.count; i++)
        view_write_case_line(out, &page.cases[i]);
    json_array_end(out);
    view_write_page(out, page.total, page.next);
    json_object_end(out);
    return ERR_NONE;
}

void view_write_truth_frame(struct json *out, const struct truth_frame *f)
{
    json_object(out);
    json_key_string(out, "function", f->function);
    json_key_string(out, "file", f->file);
    json_key(out, "line");
    f->line != 0 ? json_uint(out, f->line) : json_null(out);
    json_key_bool(out, "tail", f->tail);
    json_key_string(out, "gap", truth_gap_name(f->gap));
    json_key_uint(out, "gap_count", f->gap_count);
    json_object_end(out);
}

void view_write_frame(struct json *out, const struct frame *f)
{
    json_object(out);
    json_key_uint(out, "index", f->index);
    json_key_uint(out, "inline_depth", f->inline_depth);
    json_key_string(out, "module", f->module_name);
    json_key_hex(out, "offset", f->offset);
    json_key(out, "address");
    f->pc_va != 0 ? json_hex(out, f->pc_va) : json_null(out);
    json_key_string(out, "kind", pc_kind_name(f->kind));
    json_key_string(out, "function", f->function);
    json_key_string(out, "file", f->file);
    json_key(out, "line");
    f->line != 0 ? json_uint(out, f->line) : json_null(out);
    json_key_string(out, "class", frame_class_name(f->frame_class));
    json_key_string(out, "found_by", found_by_name(f->found_by));
    json_key_string(out, "symbols", symbols_from_name(f->symbols));
    json_key_string(out, "compiland", f->compiland);
    json_key_string(out, "module_id", f->module != NULL ? f->module->debug_id : NULL);
    json_key_string(out, "note", f->note);
    json_object_end(out);
}

/* A stack without a frame is not held against the truth row by row; what the truth demands, it
 * lacks all the same. */
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

static void write_thread(struct json *out, const struct thread_result *t, struct arena *keep)
{
    json_object(out);
    json_key_uint(out, "thread_id", t->thread_id);
    json_key_string(out, "name", t->name);
    json_key_string(out, "role", thread_role_name(t->role, t->role_word));
    json_key_bool(out, "has_truth", t->truth != NULL);
    json_key(out, "stacks");
    json_array(out);
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
        json_key(out, "evidence");
        json_array(out);
        for (uint32_t e = 0; e < s->evidence_count; e++)
            view_write_evidence(out, &s->evidence[e], keep);
        json_array_end(out);
        json_object_end(out);
    }
    json_array_end(out);
    json_key(out, "rows");
    json_array(out);
    for (uint32_t row = 0; row < t->row_count; row++) {
        json_array(out);
        for (uint32_t column = 0; column < t->column_count; column++)
            write_cell(out, t, row, column);
        json_array_end(out);
    }
    json_array_end(out);
    json_object_end(out);
}

static enum status split_case(const struct view_input *in, const char *name, const char **scenario,
                              const char **variant, struct fault *fault)
{
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name || dot[1] == '\0')
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "case",
                              "a case is called SCENARIO.VARIANT");
    *scenario = arena_text(in->keep, name, (size_t)(dot - name));
    *variant = dot + 1;
    return *scenario != NULL ? ERR_NONE : fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "case");
}

enum status view_read_case(const struct view_input *in, struct run_case *out, struct fault *fault)
{
    uint64_t run_id = 0, case_id = 0, repeat = 0;
    const char *scenario = NULL, *variant = NULL;
    enum status status = view_find_run(in, in->query->params[0], &run_id, fault);
    if (status == ERR_NONE)
        status = split_case(in, in->query->params[1], &scenario, &variant, fault);
    if (status == ERR_NONE)
        status = view_get_uint(in, "repeat", 0, UINT32_MAX, &repeat, fault);
    if (status == ERR_NONE)
        status = store_find_case(in->store, run_id, scenario, variant, (uint32_t)repeat, &case_id,
                                 fault);
    return status == ERR_NONE ? store_read_case(in->store, case_id, in->keep, out, fault) : status;
}

static void write_artifacts(struct json *out, const struct run_case *c)
{
    json_key(out, "artifacts");
    json_array(out);
    for (uint32_t i = 0; i < c->artifact_count; i++) {
        json_object(out);
        json_key_string(out, "role", artifact_role_name(c->artifacts[i].role));
        json_key_string(out, "name", c->artifacts[i].name);
        json_key_string(out, "sha256", c->artifacts[i].sha256);
        json_key_uint(out, "bytes", c->artifacts[i].bytes);
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
    run_case_write_json(out, &c, false);
    json_key(out, "threads");
    json_array(out);
    for (uint32_t i = 0; i < c.result.thread_count; i++)
        write_thread(out, &c.result.threads[i], in->keep);
    json_array_end(out);
    write_artifacts(out, &c);
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
    run_case_write_json(out, &page.cases[0], false);
    json_key(out, "cases");
    json_array(out);
    for (uint32_t i = 0; i < page.count; i++)
        view_write_case_line(out, &page.cases[i]);
    json_array_end(out);
    view_write_page(out, page.total, page.next);
    static const char *const metrics[] = {"f1", "offset_ns", "dump_ns"};
    json_key(out, "trends");
    json_object(out);
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0] && status == ERR_NONE; i++) {
        json_key(out, metrics[i]);
        status = view_write_trend(in, metrics[i], query.scenario, query.variant, 0, 60, out, fault);
    }
    json_object_end(out);
    json_object_end(out);
    return status;
}
