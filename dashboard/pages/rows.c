/* Rows that several views write: cases, frames, evidence. */
#include "pages/rows.h"

#include <inttypes.h>
#include <string.h>

#include "code/evidence.h"

/* The causes of all findings, or of the failing ones only, each once. */
static void write_causes_of(struct json *out, const char *key, const struct case_result *result,
                            bool only_failing)
{
    bool seen[CAUSE_COUNT] = {false};
    json_key_array(out, key);
    for (uint32_t i = 0; i < result->finding_count; i++) {
        enum cause cause = result->findings[i].cause;
        if (seen[cause] || (only_failing && !result->findings[i].fails))
            continue;
        seen[cause] = true;
        json_string(out, cause_name(cause));
    }
    json_array_end(out);
}

void view_begin_case_line(struct json *out, const struct run_case *c)
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
    json_key_array(out, "scores");
    for (uint32_t i = 0; i < c->result.score_count; i++)
        engine_score_write_json(out, &c->result.scores[i]);
    json_array_end(out);
    json_key_uint(out, "findings", c->result.finding_count);
    write_causes_of(out, "causes", &c->result, true);
    write_causes_of(out, "all_causes", &c->result, false);
}

void view_write_case_line(struct json *out, const struct run_case *c)
{
    view_begin_case_line(out, c);
    json_object_end(out);
}

void view_write_truth_frame(struct json *out, const struct truth_frame *f)
{
    json_object(out);
    json_key_string(out, "function", f->function);
    json_key_string(out, "file", f->file);
    json_key_uint_known(out, "line", f->line);
    json_key_bool(out, "tail", f->tail);
    json_key_string(out, "gap", truth_gap_name(f->gap));
    json_key_uint(out, "gap_count", f->gap_count);
    json_object_end(out);
}

void view_write_frame(struct json *out, const struct frame *f)
{
    char note[FRAME_NOTE_BYTES];
    json_object(out);
    json_key_uint(out, "index", f->index);
    json_key_uint(out, "inline_depth", f->inline_depth);
    json_key_string(out, "module", f->module_name);
    json_key_hex(out, "offset", f->offset);
    if (f->method_token != 0)
        json_key_hex(out, "method", f->method_token);
    json_key_hex_known(out, "address", f->pc_va);
    json_key_string(out, "kind", pc_kind_name(f->kind));
    json_key_string(out, "function", f->function);
    json_key_string(out, "file", f->file);
    json_key_uint_known(out, "line", f->line);
    json_key_string(out, "class", frame_class_name(f->frame_class));
    json_key_string(out, "found_by", found_by_name(f->found_by));
    json_key_string(out, "symbols", symbols_from_name(f->symbols));
    json_key_string(out, "compiland", f->compiland);
    json_key_string(out, "module_id",
                    f->module != NULL && f->module->debug_id[0] != '\0' ? f->module->debug_id
                                                                        : NULL);
    if (f->module != NULL && f->module->mvid[0] != '\0')
        json_key_string(out, "mvid", f->module->mvid);
    json_key_string(out, "note", frame_note_text(f, note));
    json_object_end(out);
}

/* Lines such as "+0x04 UWOP_ALLOC_SMALL 40 bytes", each as {had_run, text}. */
static void write_steps(struct json *out, const char *steps, struct arena *keep)
{
    json_key_array(out, "steps");
    while (steps != NULL && *steps != '\0') {
        const size_t size = strcspn(steps, "\n");
        json_object(out);
        json_key_bool(out, "had_run", steps[0] == '+');
        json_key_string(out, "text", size > 1 ? arena_text(keep, steps + 1, size - 1) : "");
        json_object_end(out);
        steps += size + (steps[size] == '\n');
    }
    json_array_end(out);
}

/* The instructions around the pc. Without memory for them, there are none. */
static void write_code(struct json *out, const struct stack *stack, const struct frame_evidence *e,
                       enum cpu cpu, struct arena *keep)
{
    struct code_listing listing = {0};
    struct fault ignored = FAULT_INIT;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *f = &stack->frames[i];
        if (f->index != e->index || f->inline_depth != 0)
            continue;
        if (evidence_list_code(cpu, e, f->offset, f->kind, keep, &listing, &ignored) != ERR_NONE)
            listing.count = 0;
        break;
    }
    json_key(out, "code");
    code_listing_write(&listing, out);
}

void view_write_evidence(struct json *out, const struct stack *stack,
                         const struct frame_evidence *e, enum cpu cpu, struct arena *keep)
{
    if (e == NULL) {
        json_null(out);
        return;
    }
    json_object(out);
    json_key_uint(out, "index", e->index);
    json_key_hex_known(out, "sp", e->sp_va);
    json_key_string(out, "where", e->where);
    json_key_hex_known(out, "function_begin", e->function_begin_rva);
    json_key_hex_known(out, "function_end", e->function_end_rva);
    json_key_hex_known(out, "unwind_data", e->unwind_data_va);
    json_key_hex_known(out, "return_slot", e->return_slot_va);
    json_key_hex_known(out, "caller_sp", e->caller_sp_va);
    write_steps(out, e->steps, keep);
    json_key_string(out, "code_before", e->code_before);
    json_key_string(out, "code_after", e->code_after);
    write_code(out, stack, e, cpu, keep);
    json_object_end(out);
}

bool view_name_has(const char *scenario, const char *variant, uint32_t repeat, const char *search,
                   struct arena *keep)
{
    if (search == NULL)
        return true;
    const char *name = repeat > 0
                           ? arena_printf(keep, "%s.%s#%" PRIu32, scenario, variant, repeat + 1)
                           : arena_printf(keep, "%s.%s", scenario, variant);
    return name != NULL && strstr(name, search) != NULL;
}
