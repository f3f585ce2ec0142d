/* See dump_text.h: the evidence for one frame, as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "library/dump_text.h"
#include "unwind/x64_info.h"

/* Which of the codes had run when the frame was left. */
static bool had_run(const struct unwind_frame *frame, const struct x64_code *code)
{
    uint64_t rva = frame->pc_va - frame->module->base_va;
    return frame->where != WHERE_PROLOGUE ||
           rva - frame->function_begin_rva >= code->prologue_offset;
}

static bool x64_codes(const struct dump_session *session, const struct unwind_frame *frame,
                      struct x64_info *out)
{
    return frame->cpu == CPU_X64 && frame->module != NULL && frame->unwind_data_va != 0 &&
           x64_info_read(dump_process(session), frame->module->base_va,
                         (uint32_t)(frame->unwind_data_va - frame->module->base_va),
                         out) == STOP_NONE;
}

static void print_code(struct text_out *out, const struct x64_code *code, bool ran)
{
    text_format(out, "    +0x%02x %-20s", code->prologue_offset, x64_op_name(code->op));
    switch (code->op) {
    case X64_PUSH_NONVOL:
        text_format(out, " %s", register_name(CPU_X64, code->info));
        break;
    case X64_ALLOC_LARGE:
    case X64_ALLOC_SMALL:
        text_format(out, " %" PRIu32 " bytes", code->bytes);
        break;
    case X64_SAVE_NONVOL:
    case X64_SAVE_NONVOL_FAR:
        text_format(out, " %s at +0x%" PRIx32, register_name(CPU_X64, code->info), code->bytes);
        break;
    case X64_SAVE_XMM128:
    case X64_SAVE_XMM128_FAR:
        text_format(out, " xmm%u at +0x%" PRIx32, (unsigned)code->info, code->bytes);
        break;
    default:
        break;
    }
    text_format(out, "%s\n", ran ? "" : "   (had not run)");
}

static void print_address(struct text_out *out, const char *what, uint64_t va)
{
    if (va != 0)
        text_format(out, "  %-16s 0x%016" PRIx64 "\n", what, va);
}

void dump_print_explain(struct text_out *out, const struct dump_session *session,
                        const struct unwind_stack *walk, uint32_t index,
                        const struct stack *resolved)
{
    const struct unwind_frame *frame = &walk->frames[index];
    struct x64_info info;
    text_format(out, "frame %" PRIu32, index);
    for (uint32_t i = 0; resolved != NULL && i < resolved->frame_count; i++)
        if (resolved->frames[i].index == index) {
            const char *function = resolved->frames[i].function;
            text_puts(out, i > 0 && resolved->frames[i - 1].index == index ? " < " : ": ");
            text_put_clean(out, function != NULL ? function : "?");
        }
    text_format(out, "\n  found by         %s: %s\n", found_by_name(frame->found_by),
                found_by_rule(frame->found_by));
    if (frame->note != NOTE_NONE)
        text_format(out, "  note             %s\n", frame_note_name(frame->note));
    print_address(out, "pc", frame->pc_va);
    print_address(out, "stack pointer", frame->sp_va);
    text_format(out, "  kind             %s: symbols are asked about %s\n",
                pc_kind_name(frame->kind),
                frame->kind == PC_RETURN ? "pc - 1, inside the call" : "pc itself");
    text_puts(out, "  module           ");
    if (frame->module != NULL) {
        text_put_clean(out, frame->module->name);
        text_format(out, "+0x%" PRIx64 " (code id %s, debug id %s)\n",
                    frame->pc_va - frame->module->base_va, frame->module->code_id,
                    frame->module->debug_id);
    } else {
        text_puts(out, "none\n");
    }
    if (frame->cpu == CPU_ARM64 && dump_minidump(session)->cpu == CPU_X64)
        text_puts(out, "  code             arm64 (ARM64EC)\n");
    if (frame->function_end_rva != 0)
        text_format(out, "  unwind range     0x%" PRIx32 "-0x%" PRIx32 ", pc in the %s\n",
                    frame->function_begin_rva, frame->function_end_rva,
                    unwind_where_name(frame->where));
    print_address(out, "unwind data", frame->unwind_data_va);
    if (x64_codes(session, frame, &info)) {
        text_format(out, "  version %u, prologue of %u bytes%s\n", (unsigned)info.version,
                    (unsigned)info.prologue_bytes,
                    (info.flags & X64_CHAINED) != 0 ? ", chained to another" : "");
        for (uint32_t i = 0; i < info.code_count; i++)
            print_code(out, &info.codes[i], had_run(frame, &info.codes[i]));
    }
    print_address(out, "return slot", frame->return_slot_va);
    print_address(out, "caller's sp", frame->caller_sp_va);
    if (index + 1 == walk->frame_count)
        text_format(out, "  walk ends here   %s\n", stop_reason_name(walk->stop));
}

void dump_write_explain(struct json *j, const struct dump_session *session,
                        const struct unwind_stack *walk, uint32_t index)
{
    const struct unwind_frame *frame = &walk->frames[index];
    struct x64_info info;
    bool coded = x64_codes(session, frame, &info);
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_uint(j, "index", index);
    json_key_string(j, "found_by", found_by_name(frame->found_by));
    json_key_string(j, "rule", found_by_rule(frame->found_by));
    json_key_string(j, "note", frame_note_name(frame->note));
    json_key_string(j, "kind", pc_kind_name(frame->kind));
    json_key_hex(j, "pc", frame->pc_va);
    json_key_hex(j, "sp", frame->sp_va);
    json_key_string(j, "module", frame->module != NULL ? frame->module->name : NULL);
    json_key_hex_known(j, "module_base", frame->module != NULL ? frame->module->base_va : 0);
    json_key_string(j, "where",
                    frame->where != WHERE_NONE ? unwind_where_name(frame->where) : NULL);
    json_key_hex_known(j, "function_begin", frame->function_begin_rva);
    json_key_hex_known(j, "function_end", frame->function_end_rva);
    json_key_hex_known(j, "unwind_data", frame->unwind_data_va);
    json_key_array(j, "codes");
    for (uint32_t i = 0; coded && i < info.code_count; i++) {
        const struct x64_code *code = &info.codes[i];
        json_object(j);
        json_key_string(j, "op", x64_op_name(code->op));
        json_key_hex(j, "prologue_offset", code->prologue_offset);
        json_key_uint(j, "info", code->info);
        json_key_uint(j, "bytes", code->bytes);
        json_key_bool(j, "had_run", had_run(frame, code));
        json_object_end(j);
    }
    json_array_end(j);
    json_key_hex_known(j, "return_slot", frame->return_slot_va);
    json_key_hex_known(j, "caller_sp", frame->caller_sp_va);
    json_key_string(j, "stop",
                    index + 1 == walk->frame_count ? stop_reason_name(walk->stop) : NULL);
    json_object_end(j);
}
