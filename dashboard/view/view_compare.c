/* Two runs held against each other: what is new, fixed or differs for another reason. */
#include <math.h>
#include <string.h>

#include "compare/run_diff.h"
#include "view/parts.h"

/* Rows that a page shows; the counts are true whatever they are. */
enum { CHANGES_SHOWN = 200 };

static const enum diff_group shown_groups[] = {DIFF_NEW,   DIFF_FIXED, DIFF_CHANGED,
                                               DIFF_STILL, DIFF_ADDED, DIFF_GONE};

static void write_row(struct json *out, const struct diff_row *row)
{
    const struct run_case *any = row->b != NULL ? row->b : row->a;
    json_object(out);
    json_key_string(out, "scenario", any->scenario);
    json_key_string(out, "variant", any->variant);
    json_key_uint(out, "repeat", any->repeat);
    json_key_string(out, "was", row->a != NULL ? verdict_name(row->a->result.verdict) : NULL);
    json_key_string(out, "is", row->b != NULL ? verdict_name(row->b->result.verdict) : NULL);
    json_key_string(out, "signature", any->result.signature);
    json_key_string(out, "reason", any->result.reason);
    json_object_end(out);
}

static void write_changes(struct json *out, const struct run_diff *diff)
{
    json_object(out);
    for (size_t g = 0; g < sizeof shown_groups / sizeof shown_groups[0]; g++) {
        uint32_t written = 0;
        json_key(out, diff_group_name(shown_groups[g]));
        json_array(out);
        for (uint32_t i = 0; i < diff->row_count && written < CHANGES_SHOWN; i++)
            if (diff->rows[i].group == shown_groups[g]) {
                write_row(out, &diff->rows[i]);
                written++;
            }
        json_array_end(out);
    }
    json_key(out, "counts");
    json_object(out);
    for (int g = 0; g < DIFF_GROUPS; g++)
        json_key_uint(out, diff_group_name((enum diff_group)g), diff->counts[g]);
    json_object_end(out);
    json_object_end(out);
}

static enum status make_diff(const struct view_input *in, const struct run_info *a,
                             const struct run_info *b, bool with_times, struct run_diff *out,
                             struct fault *fault)
{
    struct run_case *before = NULL, *now = NULL;
    uint32_t before_count = 0, now_count = 0;
    enum status status =
        store_read_outcomes(in->store, a->id, with_times, in->keep, &before, &before_count, fault);
    if (status == ERR_NONE)
        status =
            store_read_outcomes(in->store, b->id, with_times, in->keep, &now, &now_count, fault);
    if (status == ERR_NONE)
        status = run_diff_make(a, before, before_count, b, now, now_count, 0, in->keep, out, fault);
    return status;
}

enum status view_write_changes(const struct view_input *in, uint64_t a, uint64_t b,
                               struct json *out, struct fault *fault)
{
    const struct run_info before = {.id = a}, now = {.id = b};
    struct run_diff diff;
    memset(&diff, 0, sizeof diff);
    (void)make_diff(in, &before, &now, false, &diff, fault);
    write_changes(out, &diff);
    return fault->code;
}

static void write_facts(struct json *out, const struct run_diff *diff)
{
    json_key(out, "environment");
    json_array(out);
    for (uint32_t i = 0; i < diff->fact_count; i++) {
        json_object(out);
        json_key_string(out, "name", diff->facts[i].name);
        json_key_string(out, "a", diff->facts[i].a);
        json_key_string(out, "b", diff->facts[i].b);
        json_object_end(out);
    }
    json_array_end(out);
}

static void write_time(struct json *out, const struct diff_time *time)
{
    const bool enough = time->change.change != CHANGE_TOO_FEW;
    json_object(out);
    json_key_string(out, "engine", time->engine);
    json_key_uint(out, "samples", time->cases);
    json_key_number(out, "a_ns", time->before_ns);
    json_key_number(out, "b_ns", time->now_ns);
    json_key_string(out, "change", change_name(time->change.change));
    json_key_number(out, "effect", enough ? time->change.effect : (double)NAN);
    json_key_number(out, "threshold", enough ? time->change.threshold : (double)NAN);
    json_key_number(out, "p", enough ? time->change.p : (double)NAN);
    json_object_end(out);
}

enum status view_compare(const struct view_input *in, struct json *out, struct fault *fault)
{
    uint64_t ids[2] = {0, 0};
    struct run_info runs[2];
    struct run_diff diff;
    const char *first = view_query_get(in->query, "a");
    enum status status = view_find_run(in, first != NULL ? first : "latest~1", &ids[0], fault);
    if (status == ERR_NONE)
        status = view_find_run(in, view_query_get(in->query, "b"), &ids[1], fault);
    for (int i = 0; i < 2 && status == ERR_NONE; i++)
        status = store_read_run(in->store, ids[i], in->keep, &runs[i], fault);
    if (status == ERR_NONE)
        status = make_diff(in, &runs[0], &runs[1], true, &diff, fault);
    if (status != ERR_NONE)
        return status;
    json_object(out);
    json_key(out, "a");
    run_info_write_json(out, &runs[0]);
    json_key(out, "b");
    run_info_write_json(out, &runs[1]);
    write_facts(out, &diff);
    json_key(out, "changes");
    write_changes(out, &diff);
    json_key(out, "timing");
    json_array(out);
    for (uint32_t i = 0; i < diff.time_count; i++)
        if (diff.times[i].cases > 0)
            write_time(out, &diff.times[i]);
    json_array_end(out);
    json_object_end(out);
    return ERR_NONE;
}
