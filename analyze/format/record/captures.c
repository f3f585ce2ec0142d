/* Captures on demand in a record: see record.h; layout in capture/record.h.
 *
 * There may be 10^5 of them, so the frames stay in the file's form until a capture is requested;
 * only then are their modules looked up by time. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "format/record/record.h"
#include "format/record/sections.h"

static const uint64_t va_mask = ((uint64_t)1 << RECORD_N_VA_BITS) - 1;

static enum status read_capture(struct bytes r, struct arena *keep, struct record_capture *out)
{
    out->thread_id = bytes_u32(&r);
    out->at_ns = bytes_u64(&r);
    out->walk_ns = bytes_u32(&r);
    out->left_out = bytes_u32(&r);
    const uint16_t frames = bytes_u16(&r);
    const uint16_t label_bytes = bytes_u16(&r);
    out->stop = bytes_u32(&r);
    out->frame_count = bytes_count(&r, frames, 8);
    if (frames > LIMIT_FRAMES)
        return fault_set(r.fault, ERR_LIMIT, r.offset, "frames of a capture on demand");
    uint64_t *words = ARENA_ARRAY(keep, out->frame_count, uint64_t);
    if (words == NULL)
        return fault_set(r.fault, ERR_MEMORY, r.offset, "capture on demand");
    for (uint32_t i = 0; i < out->frame_count; i++)
        words[i] = bytes_u64(&r);
    out->frames = words;
    const uint8_t *label = bytes_take(&r, label_bytes);
    if (label != NULL && label_bytes > 0 &&
        (out->label = arena_text(keep, (const char *)label, label_bytes)) == NULL)
        return fault_set(r.fault, ERR_MEMORY, r.offset, "label of a capture");
    return r.fault->code;
}

void record_captures_read(struct record_section s, struct arena *keep, struct record *out)
{
    struct bytes entry;

    out->captures_asked = bytes_u64(&s.body);
    out->captures_cost_ns = bytes_u64(&s.body);
    out->captures_dearest_ns = bytes_u64(&s.body);
    for (uint32_t i = 0; i < s.count && record_entry_next(&s.body, RECORD_CAPTURE_BYTES, &entry);
         i++) {
        struct record_capture *capture = &out->captures[out->capture_count];
        memset(capture, 0, sizeof *capture);
        if (read_capture(entry, keep, capture) != ERR_NONE)
            return;
        out->capture_count++;
    }
}

ARRAY_ORDER_2(compare_times, struct record_capture, at_ns, thread_id)

void record_captures_sort(struct record *record)
{
    if (record->capture_count > 1)
        array_sort(record->captures, record->capture_count, sizeof *record->captures,
                   compare_times);
}

/* The module that covered VA at that time; otherwise the last one that did, because a load or
 * unload notification may arrive slightly late. */
static const struct module *module_at(const struct record *record, uint64_t va, uint64_t at_ns)
{
    const struct module *last = NULL;

    for (uint32_t i = 0; i < record->module_count; i++) {
        const struct module *module = &record->modules[i];
        if (va < module->base_va || va - module->base_va >= module->image_bytes)
            continue;
        if (module->loaded_at_ns <= at_ns && at_ns < module->unloaded_at_ns)
            return module;
        last = module;
    }
    return last;
}

static void describe_frame(const struct record *record, const struct record_capture *capture,
                           uint32_t index, struct frame *out)
{
    const uint64_t word = capture->frames[index], va = word & va_mask;
    const uint32_t flags = (uint32_t)(word >> RECORD_N_VA_BITS);
    const uint32_t found = flags >> RECORD_FRAME_SHIFT_FOUND & 15U;
    const bool is_return = (flags & RECORD_FRAME_RETURN) != 0;

    out->index = index;
    out->kind = is_return ? PC_RETURN : PC_INTERRUPTED;
    out->found_by = found <= RECORD_FOUND_GIVEN ? (enum found_by)found : FOUND_GIVEN;
    out->identity = IDENTITY_UNCHECKED;
    out->pc_va = va;
    out->offset = va;
    out->module = module_at(record, is_return ? va - 1 : va, capture->at_ns);
    if (out->module != NULL) {
        out->module_name = out->module->name;
        out->offset = va - out->module->base_va;
    } else {
        record_name_generated(record, out);
    }
}

enum status record_capture_stack(const struct record *record, uint32_t index, struct arena *keep,
                                 struct record_stack *out, struct fault *fault)
{
    const struct record_capture *capture = &record->captures[index];

    *out = (struct record_stack){
        .walker = RECORD_WALKER_RTL,
        .stop = capture->stop,
        .thread_id = capture->thread_id,
        .left_out = capture->left_out,
        .walk_ns = capture->walk_ns,
        .at_ns = capture->at_ns,
        .label = capture->label,
        .frames = ARENA_ARRAY(keep, capture->frame_count, struct frame),
        .frame_count = capture->frame_count,
    };
    if (out->frames == NULL)
        return fault_no_memory(fault, "capture on demand");
    for (uint32_t i = 0; i < out->frame_count; i++)
        describe_frame(record, capture, i, &out->frames[i]);
    return ERR_NONE;
}
