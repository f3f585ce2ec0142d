/* What judges answer: reading it, and what our symbols add to it. */
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/dump.h"
#include "engine/frame_class.h"
#include "engine/judge.h"
#include "stacks/claims.h"
#include "symbol/symbol_store.h"

/* What our own form states besides stacks. */
static enum status read_members(const char *text, size_t bytes, struct arena *keep,
                                struct engine_result *out, struct fault *fault)
{
    cJSON *root;
    if (json_parse(text, bytes, &root, fault) != ERR_NONE)
        return fault->code;
    if (cJSON_GetObjectItemCaseSensitive(root, "error") != NULL) {
        out->why = json_get_string(root, "error", keep, fault);
        cJSON_Delete(root);
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "judge");
    }
    const cJSON *times = json_get_object(root, "times", fault);
    out->version = json_get_string(root, "version", keep, fault);
    if (times != NULL) {
        out->cost.open_ns = json_get_uint(times, "open_ns", 0, fault);
        out->cost.load_ns = json_get_uint(times, "load_ns", 0, fault);
        out->cost.unwind_ns = json_get_uint(times, "unwind_ns", 0, fault);
        out->cost.resolve_ns = json_get_uint(times, "resolve_ns", 0, fault);
    }
    cJSON_Delete(root);
    return fault->code;
}

enum status judge_read_answer(const char *text, size_t bytes, const char *engine,
                              struct arena *keep, struct engine_result *out, struct fault *fault)
{
    size_t at = 0;
    while (at < bytes && strchr(" \t\r\n", text[at]) != NULL)
        at++;
    const bool json = at < bytes && text[at] == '{';
    if (json && read_members(text, bytes, keep, out, fault) != ERR_NONE)
        return fault->code;
    (void)stack_claims_read(text, bytes, keep, &out->stacks, &out->stack_count, fault);
    if (out->stack_count == 0 && !json) {
        fault_clear(fault);
        (void)fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "JSON document",
                             "nor does it hold a stack in another notation");
    }
    for (uint32_t i = 0; i < out->stack_count; i++) {
        out->stacks[i].engine = engine;
        if (out->stacks[i].stop == STOP_NONE)
            out->stacks[i].stop = STOP_JUDGE_END;
    }
    if (out->stack_count > 0 && out->stacks[0].role == THREAD_ROLE_NONE)
        out->stacks[0].role = THREAD_ROLE_SUSPECT;
    return fault->code;
}

/* The physical function of FRAME, as our symbols know it; 0 frames: none. */
static uint32_t ask_symbols(const struct engine_input *in, const struct frame *frame,
                            struct symbol_frame frames[SYMBOL_FRAMES_MAX])
{
    if (in->symbols == NULL || frame->module == NULL)
        return 0;
    return symbol_lookup(symbol_store_module(in->symbols, frame->module),
                         frame_lookup_offset(frame), frames);
}

/* The object file that holds the physical function. */
static const char *compiland_of(const struct engine_input *in, const struct frame *frame)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const uint32_t count = ask_symbols(in, frame, frames);
    return count > 0 ? frames[count - 1].compiland : NULL;
}

/* True when MODULE has FRAME's function at FRAME's offset. */
static bool has_function(const struct engine_input *in, const struct frame *frame,
                         const struct module *module)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct frame there = *frame;
    there.module = module;
    const uint32_t count = ask_symbols(in, &there, frames);
    for (uint32_t i = 0; i < count && frame->function != NULL; i++)
        if (frames[i].function != NULL && strcmp(frames[i].function, frame->function) == 0)
            return true;
    return false;
}

/* The module that FRAME names.  Of several with that name it is the one that has the function;
 * NULL: that does not decide, or there is none. */
static const struct module *module_of(const struct engine_input *in, const struct frame *frame,
                                      const struct module *modules, uint32_t count)
{
    const struct module *found = NULL, *fits = NULL;
    uint32_t named = 0, fitting = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!text_equal_nocase(modules[i].name, path_base(frame->module_name)) ||
            (found != NULL && strcmp(found->code_id, modules[i].code_id) == 0))
            continue;
        found = &modules[i];
        named++;
        if (has_function(in, frame, found)) {
            fits = found;
            fitting++;
        }
    }
    if (named <= 1)
        return found;
    return fitting == 1 ? fits : NULL;
}

/* Tools number threads differently. An id that is not in the dump is a position in its list
 * (Breakpad). The crashed thread's id becomes 0. */
static void settle_thread(const struct minidump *dump, struct stack *stack)
{
    if (minidump_thread_find(dump, stack->thread_id) != NULL)
        return;
    if (stack->role == THREAD_ROLE_SUSPECT)
        stack->thread_id = 0;
    else if (stack->thread_id < dump->thread_count)
        stack->thread_id = dump->threads[stack->thread_id].id;
}

void judge_classify(const struct engine_input *in, struct engine_result *out)
{
    const struct dump_session *session = in->opened->dump;
    uint32_t count = 0;
    const struct module *modules = session != NULL ? dump_modules(session, &count) : NULL;
    for (uint32_t s = 0; s < out->stack_count; s++) {
        if (session != NULL)
            settle_thread(dump_minidump(session), &out->stacks[s]);
        for (uint32_t i = 0; i < out->stacks[s].frame_count; i++) {
            struct frame *frame = &out->stacks[s].frames[i];
            if (frame->module == NULL && frame->module_name != NULL)
                frame->module = module_of(in, frame, modules, count);
            frame->compiland = compiland_of(in, frame);
        }
        frame_class_assign(in->opened->crash, &out->stacks[s]);
    }
}

/* ---- addresses -------------------------------------------------------------------------- */

/* COUNT frames become physical frame INDEX: the last one, into which the others were inlined. */
static void set_group(struct frame *frames, uint32_t count, uint32_t index,
                      const struct dump_session *session)
{
    const uint64_t pc_va = frames[0].pc_va;
    uint32_t modules;
    const struct module *all = dump_modules(session, &modules), *module = NULL;
    for (uint32_t i = 0; i < modules; i++)
        if (pc_va >= all[i].base_va && pc_va - all[i].base_va < all[i].image_bytes)
            module = &all[i];
    for (uint32_t i = 0; i < count; i++) {
        struct frame *frame = &frames[i];
        *frame = (struct frame){
            .index = index,
            .inline_depth = (uint16_t)(count - 1 - i),
            .kind = index == 0 ? PC_INTERRUPTED : PC_RETURN,
            .found_by = i + 1 < count ? FOUND_INLINED : FOUND_GIVEN,
            .identity = IDENTITY_UNCHECKED,
            .pc_va = pc_va,
            .module = module,
            .module_name = module != NULL ? module->name : NULL,
            .offset = module != NULL ? pc_va - module->base_va : pc_va,
            .function = frame->function,
            .file = frame->file,
            .line = frame->line,
            .symbols = frame->function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE,
        };
    }
}

void judge_place_frames(struct stack *stack, judge_begins_fn *begins,
                        const struct dump_session *session)
{
    uint32_t index = 0;
    for (uint32_t first = 0, next; first < stack->frame_count; first = next) {
        next = first + 1;
        while (next < stack->frame_count && !begins(stack->frames, first, next))
            next++;
        set_group(stack->frames + first, next - first, index++, session);
    }
}
