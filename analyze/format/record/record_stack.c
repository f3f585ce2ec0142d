/* Converts a recorded stack to the model: see record.h. */
#include "format/record/record.h"

/* RECORD_H_MACHINE: IMAGE_FILE_MACHINE_I386. */
enum { MACHINE_X86 = 0x14c };

static enum stack_state state_of(const struct record_stack *from)
{
    switch (from->state) {
    case RECORD_STATE_OK:
        return STACK_OK;
    case RECORD_STATE_NOT_APPLICABLE:
        return STACK_NOT_APPLICABLE;
    case RECORD_STATE_BLOCKED:
        return STACK_BLOCKED;
    default:
        return STACK_FAILED;
    }
}

/* A truncated record may lack the thread list; its header still names the suspect. */
static enum thread_role role_of(const struct record *record, uint32_t thread_id)
{
    const struct record_thread *thread = record_thread_find(record, thread_id);
    if (thread != NULL)
        return record_thread_role(record, thread);
    return thread_id == record->suspect_id ? THREAD_ROLE_SUSPECT : THREAD_ROLE_NONE;
}

/* True when WALKER unwinds by tables and the record's processor (x86) has none. */
static bool record_lacks_tables(const struct record *record, uint32_t walker)
{
    const struct record_walker *row = record_walker(walker);
    return row != NULL && (row->traits & RECORD_WALKER_TRAIT_TABLES) != 0 &&
           record->machine == MACHINE_X86;
}

/* The place of a walker in the order in which its stack is taken; the others are not. */
static uint32_t rank_of(uint32_t walker)
{
    static const uint32_t order[] = {RECORD_WALKER_RTL, RECORD_WALKER_FRAME_POINTER,
                                     RECORD_WALKER_DBGHELP_OWN, RECORD_WALKER_DBGHELP,
                                     RECORD_WALKER_BACKTRACE};
    uint32_t rank = 0;
    while (rank < sizeof order / sizeof order[0] && order[rank] != walker)
        rank++;
    return rank;
}

const struct record_stack *record_crash_stack(const struct record *record)
{
    const struct record_stack *best = NULL, *first = NULL;
    for (uint32_t i = 0; i < record->stack_count; i++) {
        const struct record_stack *s = &record->stacks[i];
        if (s->thread_id != record->suspect_id)
            continue;
        first = first != NULL ? first : s;
        if (s->state == RECORD_STATE_OK && s->frame_count > 0 && s->sample == 0 &&
            (best == NULL || rank_of(s->walker) < rank_of(best->walker)))
            best = s;
    }
    return best != NULL ? best : first;
}

void record_stack_describe(const struct record *record, const struct record_stack *from,
                           struct stack *out)
{
    const struct record_thread *thread = record_thread_find(record, from->thread_id);

    *out = (struct stack){
        .label = from->label,
        .thread_id = from->thread_id,
        .thread_name = thread != NULL ? thread->name : NULL,
        .role = role_of(record, from->thread_id),
        .state = state_of(from),
        .stop = record_stop_reason(from->stop),
        .frames = from->frames,
        .frame_count = from->frame_count,
        .left_out = from->left_out,
        .sample = from->sample,
        .walk_ns = from->walk_ns,
        .stopped_ns = from->walker == RECORD_WALKER_RTL ? record->stop_rtl_ns : 0,
    };
    if (from->reason != NULL)
        stack_set_stop_text(out, from->reason);
    if (out->state == STACK_NOT_APPLICABLE && record_lacks_tables(record, from->walker))
        out->stop = STOP_NO_TABLES;
}
