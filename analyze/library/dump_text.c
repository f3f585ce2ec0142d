/* See dump_text.h: the summary of a dump and its stacks. */
#include "library/dump_text.h"

#include <inttypes.h>

#include "base/limits.h"

/* Padded with spaces up to WIDTH bytes. */
static void put_padded(struct text_out *out, const char *text, size_t width)
{
    const size_t start = out->bytes;

    text_put_clean(out, text);
    while (out->bytes - start < width && !out->failed)
        text_puts(out, " ");
}

static void put_labelled(struct text_out *out, const char *label, const char *text, const char *end)
{
    text_puts(out, label);
    text_put_clean(out, text);
    text_puts(out, end);
}

static void print_streams(struct text_out *out, const struct minidump *d)
{
    text_puts(out, "streams:\n");
    for (uint32_t i = 0; i < d->stream_count; i++) {
        const struct minidump_stream *stream = &d->streams[i];
        const char *name = minidump_stream_name(stream->type);
        if (stream->type == STREAM_UNUSED)
            continue;
        text_format(out, "  %-20s %10" PRIu64 " bytes at 0x%" PRIx64, name != NULL ? name : "?",
                    stream->place.bytes, stream->place.foff);
        if (name == NULL)
            text_format(out, "  type 0x%" PRIx32, stream->type);
        if (stream->fault.code != ERR_NONE)
            text_format(out, "  damaged: %s: %s", stream->fault.what,
                        fault_code_name(stream->fault.code));
        text_puts(out, "\n");
    }
}

static void print_crash(struct text_out *out, const struct minidump *d, struct arena *scratch)
{
    const struct minidump_exception *e = &d->exception;
    if (!e->present) {
        text_puts(out, "crash:   none; the dump has no exception stream\n");
        return;
    }
    text_format(out, "crash:   %s (0x%08" PRIx32 ") in thread %" PRIu32 " at 0x%" PRIx64,
                minidump_reason(d, scratch), e->code, e->thread_id, e->address_va);
    if (minidump_crash_va(d) != e->address_va || e->code == 0xc0000005)
        text_format(out, ", touching 0x%" PRIx64, minidump_crash_va(d));
    text_puts(out, "\n");
    if (d->breakpad.assert_expression != NULL && d->breakpad.assert_expression[0] != '\0')
        put_labelled(out, "assert:  ", d->breakpad.assert_expression, "\n");
}

static void print_counts(struct text_out *out, const struct dump_session *session)
{
    const struct minidump *d = dump_minidump(session);
    const char *why;
    const uint32_t suspect = dump_suspect(session, &why);
    uint64_t memory = 0;
    uint32_t modules;
    (void)dump_modules(session, &modules);
    for (uint32_t i = 0; i < d->memory_count; i++)
        memory += d->memory[i].place.bytes;
    text_format(out, "holds:   %" PRIu32 " threads, %" PRIu32 " modules, %" PRIu32 " unloaded",
                d->thread_count, modules, d->unloaded_count);
    if (d->unloaded_listed > d->unloaded_count)
        text_format(out, " (the first of %" PRIu32 " entries)", d->unloaded_listed);
    text_format(out, ", %" PRIu64 " bytes of memory in %" PRIu32 " ranges\n", memory,
                d->memory_listed);
    text_format(out, "suspect: thread %" PRIu32 ", by the %s\n", suspect, why);
    if (d->user != NULL)
        text_format(out, "capture: identities of %" PRIu32 " modules in the user stream\n",
                    d->user->module_count);
    if (d->user != NULL && d->user->code_left_out != 0)
        text_format(out,
                    "capture: %" PRIu32 " entries of the map of generated code had no room: stacks "
                    "may lack names, or end early\n",
                    d->user->code_left_out);
}

void dump_print_summary(struct text_out *out, const char *path, const struct dump_session *session)
{
    const struct minidump *d = dump_minidump(session);
    struct arena scratch;
    arena_init(&scratch, (size_t)1 << 20);
    text_puts(out, path);
    text_format(out, ": %" PRIu64 " bytes%s\n", d->data_bytes, d->partial ? ", damaged" : "");
    put_labelled(out, "system:  ", minidump_os_name(d, &scratch), ", ");
    text_format(out, "%s%s, %u processors\n", cpu_name(d->cpu),
                d->cpu != d->dump_cpu ? " on x64 (WoW64)" : "", (unsigned)d->system.processors);
    if (!minidump_is_windows(d))
        text_puts(out,
                  "         not Windows: stacks are walked by .sym files and the .eh_frame of ELF "
                  "images (--symbols),\n         else by frame pointers and scans\n");
    if (d->misc.present && (d->misc.flags & 1) != 0) {
        text_format(out, "process: %" PRIu32, d->misc.process_id);
        if (d->misc.build != NULL)
            put_labelled(out, ", build ", d->misc.build, "");
        text_puts(out, "\n");
    }
    print_crash(out, d, &scratch);
    print_counts(out, session);
    print_streams(out, d);
    arena_free(&scratch);
}

enum { LINT_LINES = 10 }; /* of one rule and stream */

void dump_print_lint(struct text_out *out, const char *path,
                     const struct minidump_complaints *complaints)
{
    uint32_t lines = 0;
    text_puts(out, path);
    text_format(out, ": %" PRIu64 " faults by the format\n",
                complaints->count + complaints->left_out);
    for (uint32_t i = 0; i < complaints->count; i++) {
        const struct minidump_complaint *row = &complaints->rows[i], *last = row - 1;
        const bool begins = i == 0 || row->rule != last->rule || row->stream != last->stream;
        const bool ends =
            i + 1 == complaints->count || row[1].rule != row->rule || row[1].stream != row->stream;
        lines = begins ? 1 : lines + 1;
        if (begins)
            text_format(out, "%s%s%s: a Windows debugger: %s\n", row->rule,
                        row->stream != NULL ? " in " : "", row->stream != NULL ? row->stream : "",
                        row->effect);
        if (lines <= LINT_LINES) {
            text_format(out, "  at 0x%" PRIx64 ": ", row->foff);
            put_labelled(out, "", row->text, "\n");
        }
        if (ends && lines > LINT_LINES)
            text_format(out, "  and %" PRIu32 " more\n", lines - LINT_LINES);
    }
    if (complaints->left_out > 0)
        text_format(out, "and %" PRIu64 " more faults\n", complaints->left_out);
}

static void print_frame(struct text_out *out, const struct frame *frame)
{
    char note[FRAME_NOTE_BYTES], place[512] = "";
    if (frame->file != NULL)
        (void)snprintf(place, sizeof(place), "%s:%" PRIu32, path_base(frame->file), frame->line);
    const bool inlined = frame->inline_depth > 0;
    if (inlined)
        text_puts(out, "         ");
    else
        text_format(out, "  #%-4" PRIu32 "  ", frame->index);
    put_padded(out, frame->function != NULL ? frame->function : "?", 44);
    text_puts(out, " ");
    put_padded(out, place, 28);
    if (inlined) {
        text_puts(out, " inlined\n");
        return;
    }
    put_labelled(out, " ", frame->module_name != NULL ? frame->module_name : "?", "");
    text_puts(out, "!");
    if (frame->method_token != 0)
        text_format(out, "0x%08" PRIx32 "+", frame->method_token);
    text_format(out, "0x%" PRIx64, frame->module_name != NULL ? frame->offset : frame->pc_va);
    text_format(out, "  %s%s", found_by_name(frame->found_by),
                frame->kind == PC_INTERRUPTED ? ", interrupted" : "");
    if (frame->note != NOTE_NONE)
        put_labelled(out, " (", frame_note_text(frame, note), ")");
    text_puts(out, "\n");
}

void dump_print_stack(struct text_out *out, const struct stack *stack)
{
    text_format(out, "\nthread %" PRIu32, stack->thread_id);
    if (stack->thread_name != NULL)
        put_labelled(out, " \"", stack->thread_name, "\"");
    if (stack->role != THREAD_ROLE_NONE)
        put_labelled(out, " (", stack_role_text(stack), ")");
    text_puts(out, "\n");
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        if (stack->left_out > 0 && i > 0 && frame->index != stack->frames[i - 1].index &&
            frame->index == LIMIT_FRAMES_HEAD)
            text_format(out, "         ... %" PRIu32 " frames left out\n", stack->left_out);
        print_frame(out, frame);
    }
    if (stack->state == STACK_FAILED)
        text_format(out, "  not walked: %s\n", stack_stop_text(stack));
    else if (stack->stop != STOP_NONE)
        text_format(out, "  stop: %s\n", stack_stop_text(stack));
}
