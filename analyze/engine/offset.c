/* See offset.h. */
#include "engine/offset.h"

#include <string.h>

#include "base/files.h"
#include "engine/frame_class.h"
#include "format/record/record.h"
#include "symbol/symbol_store.h"

static bool always_available(const struct engine *self, const struct engine_input *in,
                             const char **why)
{
    (void)self;
    (void)in;
    (void)why;
    return true;
}

static enum status resolve_stack(const struct engine *self, const struct engine_input *in,
                                 const struct record *record, const struct record_stack *from,
                                 bool own_only, struct arena *keep, struct stack *out,
                                 struct fault *fault)
{
    struct stack physical;
    const uint64_t start_ns = clock_ns();

    record_stack_describe(record, from, &physical);
    physical.engine = self->name;
    if (own_only)
        frame_class_drop_system(&physical);
    symbol_load_modules(in->symbols, &physical);
    const uint64_t loaded_ns = clock_ns();
    if (symbol_resolve_stack(in->symbols, &physical, keep, out, fault) != ERR_NONE)
        return fault->code;
    const uint64_t end_ns = clock_ns();
    out->cost.load_ns = loaded_ns - start_ns;
    out->cost.resolve_ns = end_ns - loaded_ns;
    out->cost.total_ns = end_ns - start_ns;
    frame_class_assign(in->opened->crash, out);
    return ERR_NONE;
}

/* x86 has no unwind tables, so the capture rightly has no stack of this walker. */
static bool is_tableless(const struct engine *self, const struct engine_input *in)
{
    return (record_walker(self->walker)->traits & RECORD_WALKER_TRAIT_TABLES) != 0 &&
           in->opened->crash->arch == CPU_X86;
}

/* A case without a stack of this walker reports one stack without frames. */
static enum status say_absent(const struct engine *self, const struct engine_input *in,
                              const struct record *record, enum stop_reason why, struct arena *keep,
                              struct engine_result *out, struct fault *fault)
{
    out->stacks = ARENA_NEW(keep, struct stack);
    if (out->stacks == NULL)
        return fault_no_memory(fault, "stack");
    out->stack_count = 1;
    out->stacks->engine = self->name;
    out->stacks->role = THREAD_ROLE_SUSPECT;
    out->stacks->thread_id = record != NULL ? record->suspect_id : 0;
    out->stacks->state = STACK_NOT_APPLICABLE;
    out->stacks->stop = why;
    if (is_tableless(self, in)) {
        out->stacks->stop = STOP_NO_TABLES;
        out->stacks->stop_detail = why == STOP_NO_RECORD ? stop_reason_name(why) : NULL;
    }
    return ERR_NONE;
}

/* Stacks of the suspect, or of all others, in the record's order. */
static enum status take_stacks(const struct engine *self, const struct engine_input *in,
                               const struct record *record, bool suspect, struct arena *keep,
                               struct engine_result *out, struct fault *fault)
{
    for (uint32_t i = 0; i < record->stack_count; i++) {
        const struct record_stack *from = &record->stacks[i];
        if (from->walker != self->walker || (from->thread_id == record->suspect_id) != suspect)
            continue;
        struct stack *to = &out->stacks[out->stack_count];
        if (resolve_stack(self, in, record, from, false, keep, to, fault) != ERR_NONE)
            return fault->code;
        out->cost.load_ns += to->cost.load_ns;
        out->cost.resolve_ns += to->cost.resolve_ns;
        out->stack_count++;
    }
    return ERR_NONE;
}

static bool has_stack_of(const struct engine_result *out, uint32_t thread_id)
{
    for (uint32_t i = 0; i < out->stack_count; i++)
        if (out->stacks[i].thread_id == thread_id)
            return true;
    return false;
}

/* One stack without frames for each thread that other walkers walked and this one cannot walk: the
 * suspect's, or those of all others. There is room, since each of these threads has a stack. */
static void add_tableless(const struct engine *self, const struct record *record, bool suspect,
                          struct engine_result *out)
{
    for (uint32_t i = 0; i < record->stack_count; i++) {
        const struct record_stack absent = {.walker = self->walker,
                                            .state = RECORD_STATE_NOT_APPLICABLE,
                                            .thread_id = record->stacks[i].thread_id};
        if ((absent.thread_id == record->suspect_id) != suspect ||
            has_stack_of(out, absent.thread_id))
            continue;
        struct stack *to = &out->stacks[out->stack_count++];
        record_stack_describe(record, &absent, to);
        to->engine = self->name;
    }
}

static enum status run(const struct engine *self, const struct engine_input *in, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    const uint64_t held_bytes = memory_peak_restart();
    const uint64_t start_ns = clock_ns();
    const struct opened_file *file = &in->opened->files[OPENED_RECORD];
    const struct record *record = in->opened->record;

    memset(out, 0, sizeof *out);
    if (file->path == NULL)
        return say_absent(self, in, NULL, STOP_NO_RECORD, keep, out, fault);
    if (file->fault.code != ERR_NONE) {
        *fault = file->fault;
        return fault->code;
    }
    out->stacks = ARENA_ARRAY(keep, record->stack_count, struct stack);
    if (out->stacks == NULL)
        return fault_no_memory(fault, "stacks");
    if (take_stacks(self, in, record, true, keep, out, fault) != ERR_NONE ||
        take_stacks(self, in, record, false, keep, out, fault) != ERR_NONE)
        return fault->code;
    if (is_tableless(self, in)) {
        add_tableless(self, record, true, out);
        add_tableless(self, record, false, out);
    }
    if (out->stack_count == 0 &&
        say_absent(self, in, record, STOP_NOT_WALKED, keep, out, fault) != ERR_NONE)
        return fault->code;
    out->cost.open_ns = file->ns;
    out->cost.total_ns = file->ns + clock_ns() - start_ns;
    out->cost.peak_bytes = file->peak_bytes + memory_peak_beyond(held_bytes);
    return ERR_NONE;
}

enum status offset_suspect_stack(const struct engine_input *in, const struct record *record,
                                 bool own_only, struct arena *keep, struct stack *out,
                                 struct fault *fault)
{
    const struct engine *self = &engine_offset[RECORD_WALKER_RTL];

    *out = (struct stack){.state = STACK_NOT_APPLICABLE};
    for (uint32_t i = 0; i < record->stack_count; i++)
        if (record->stacks[i].walker == self->walker &&
            record->stacks[i].thread_id == record->suspect_id) /* of several samples the first */
            return resolve_stack(self, in, record, &record->stacks[i], own_only, keep, out, fault);
    return ERR_NONE;
}

#define OFFSET_PARTS(TRAITS)                                                                       \
    (ENGINE_SHARES_SYMBOLS | ENGINE_SHARES_SYMBOL_FILES | ENGINE_SHARES_RECORD |                   \
     (((TRAITS) & RECORD_WALKER_TRAIT_SYSTEM) != 0 ? ENGINE_SHARES_SYSTEM_UNWINDER : 0) |          \
     (((TRAITS) & RECORD_WALKER_TRAIT_DBGHELP) != 0 ? ENGINE_SHARES_SYSTEM_DBGHELP : 0))

/* NOLINTBEGIN(bugprone-macro-parentheses) names are put together from literals */
#define OFFSET_ENGINE(ID, NUMBER, NAME, WALK, TRAITS, SHARES)                                      \
    [NUMBER] = {.name = "offset:" NAME,                                                            \
                .kind = ENGINE_KIND_OFFSET,                                                        \
                .shares = SHARES,                                                                  \
                .parts = OFFSET_PARTS(TRAITS),                                                     \
                .subject = (NUMBER) == RECORD_WALKER_RTL,                                          \
                .walker = (NUMBER),                                                                \
                .available = always_available,                                                     \
                .run = run},
/* NOLINTEND(bugprone-macro-parentheses) */

const struct engine engine_offset[RECORD_WALKER_COUNT] = {RECORD_WALKERS(OFFSET_ENGINE)};
