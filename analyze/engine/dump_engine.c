/* The `dump` engine: the stacks of a case's minidump, by our own reader, unwinder and symbols. */
#include "engine/dump_engine.h"

#include <string.h>

#include "engine/dump_evidence.h"
#include "engine/frame_class.h"
#include "engine/judge.h"
#include "symbol/symbol_store.h"

static bool available(const struct engine *self, const struct engine_input *in, const char **why)
{
    (void)self;
    return judge_has_dump(in, why);
}

static enum status thread_stack(struct dump_session *session, uint32_t thread_id,
                                struct symbol_store *symbols, bool own_only, struct arena *keep,
                                struct stack *out, struct fault *fault)
{
    struct unwind_stack walk;
    struct stack physical;
    uint64_t start = clock_ns();
    enum status status = dump_walk(session, thread_id, keep, &walk, fault);
    if (status == ERR_NONE)
        status = dump_stack(session, thread_id, &walk, keep, &physical, fault);
    if (status != ERR_NONE)
        return status;
    uint64_t walked = clock_ns();
    if (symbols == NULL) {
        *out = physical;
        out->cost.unwind_ns = walked - start;
        return ERR_NONE;
    }
    if (own_only)
        frame_class_drop_system(&physical);
    symbol_load_modules(symbols, &physical);
    uint64_t loaded = clock_ns();
    status = symbol_resolve_stack(symbols, &physical, keep, out, fault);
    out->cost.unwind_ns = walked - start;
    out->cost.load_ns = loaded - walked;
    out->cost.resolve_ns = clock_ns() - loaded;
    out->cost.total_ns = clock_ns() - start;
    return status;
}

enum status dump_thread_stack(struct dump_session *session, uint32_t thread_id,
                              struct symbol_store *symbols, struct arena *keep, struct stack *out,
                              struct fault *fault)
{
    return thread_stack(session, thread_id, symbols, false, keep, out, fault);
}

struct stack dump_failed_stack(uint32_t thread_id, const struct fault *why, struct arena *keep)
{
    const char *text = arena_printf(keep, "%s: %s", why->what, fault_code_name(why->code));
    return (struct stack){.thread_id = thread_id,
                          .state = STACK_FAILED,
                          .stop = STOP_OTHER,
                          .stop_detail = text != NULL ? text : why->what};
}

/* One thread's stack; for a thread that cannot be walked, a stack that says so. */
static enum status add_thread(const struct engine *self, struct dump_session *session,
                              const struct engine_input *in, uint32_t thread_id, struct arena *keep,
                              struct engine_result *out, struct fault *fault)
{
    struct stack *stack = &out->stacks[out->stack_count];
    struct fault single = FAULT_INIT;
    enum status status = thread_stack(session, thread_id, in->symbols, false, keep, stack, &single);
    if (status == ERR_MEMORY) {
        *fault = single;
        return status;
    }
    if (status != ERR_NONE) {
        const struct minidump_thread *thread =
            minidump_thread_find(dump_minidump(session), thread_id);
        *stack = dump_failed_stack(thread_id, &single, keep);
        stack->role = thread != NULL ? thread->role : THREAD_ROLE_NONE;
    }
    stack->engine = self->name;
    frame_class_assign(in->opened->crash, stack);
    out->stack_count++;
    out->cost.unwind_ns += stack->cost.unwind_ns;
    out->cost.load_ns += stack->cost.load_ns;
    out->cost.resolve_ns += stack->cost.resolve_ns;
    return ERR_NONE;
}

/* A dump that was cut off during writing does not say which thread crashed; the first thread would
 * be a guess. */
static bool names_suspect(const struct engine_input *in, const struct minidump *dump)
{
    return in->opened->crash->kind == CASE_KIND_HANG || dump->exception.present ||
           dump->breakpad.present || (dump->user != NULL && dump->user->suspect_id != 0);
}

/* For a crash the crashed thread is enough; for a hang any thread may be the cause. */
static enum status run_threads(const struct engine *self, struct dump_session *session,
                               const struct engine_input *in, struct arena *keep,
                               struct engine_result *out, struct fault *fault)
{
    const struct minidump *dump = dump_minidump(session);
    const char *why;
    uint32_t suspect = dump_suspect(session, &why);
    const bool all = in->opened->crash->kind == CASE_KIND_HANG;
    out->stacks = ARENA_ARRAY(keep, dump->thread_count + 1, struct stack);
    if (out->stacks == NULL)
        return fault_no_memory(fault, "stacks");
    if (!names_suspect(in, dump)) {
        out->stacks[out->stack_count++] = (struct stack){.engine = self->name,
                                                         .role = THREAD_ROLE_SUSPECT,
                                                         .state = STACK_FAILED,
                                                         .stop = STOP_NO_SUSPECT};
        return ERR_NONE;
    }
    enum status status = add_thread(self, session, in, suspect, keep, out, fault);
    for (uint32_t i = 0; all && status == ERR_NONE && i < dump->thread_count; i++)
        if (dump->threads[i].id != suspect)
            status = add_thread(self, session, in, dump->threads[i].id, keep, out, fault);
    return status;
}

enum status dump_suspect_stack(const struct engine_input *in, struct dump_session *session,
                               bool own_only, struct arena *keep, struct stack *out,
                               struct fault *fault)
{
    const char *why;
    *out = (struct stack){.state = STACK_FAILED};
    if (!names_suspect(in, dump_minidump(session)))
        return ERR_NONE;
    if (thread_stack(session, dump_suspect(session, &why), in->symbols, own_only, keep, out,
                     fault) == ERR_NONE)
        frame_class_assign(in->opened->crash, out);
    return fault->code;
}

/* Walks the threads of SESSION, which took OPENED's time and memory. */
static enum status run_session(const struct engine *self, struct dump_session *session,
                               const struct engine_input *in, struct arena *keep,
                               struct engine_result *out, struct fault *fault)
{
    const struct opened_file *opened = &in->opened->files[OPENED_DUMP];
    const uint64_t held_bytes = memory_peak_restart();
    const uint64_t start_ns = clock_ns();
    enum status status = run_threads(self, session, in, keep, out, fault);
    out->version = dump_minidump(session)->misc.debugger_build;
    out->cost.open_ns = opened->ns;
    out->cost.total_ns = opened->ns + clock_ns() - start_ns;
    out->cost.peak_bytes = opened->peak_bytes + memory_peak_beyond(held_bytes);
    for (uint32_t i = 0; status == ERR_NONE && i < out->stack_count; i++)
        status = dump_add_evidence(session, keep, &out->stacks[i], fault);
    return status;
}

static enum status run(const struct engine *self, const struct engine_input *in, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    const struct opened_case *c = in->opened;
    *out = (struct engine_result){0};
    if (c->dump != NULL)
        return run_session(self, c->dump, in, keep, out, fault);
    *fault = c->files[OPENED_DUMP].fault;
    return fault->code != ERR_NONE
               ? fault->code
               : fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "dump of the case");
}

const struct engine engine_dump = {
    .name = ENGINE_NAME_DUMP,
    .kind = ENGINE_KIND_DUMP,
    .shares = "minidump reader, unwinder and symbol lookup: ours; the lookup also serves offset",
    .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_DUMP_READER | ENGINE_SHARES_SYMBOLS |
             ENGINE_SHARES_SYMBOL_FILES,
    .subject = true,
    .available = available,
    .run = run,
};

/* Only a dump with a code map has anything to show here; other cases do not list this engine. */
static bool has_code_map(const struct engine *self, const struct engine_input *in, const char **why)
{
    (void)self;
    *why = NULL;
    return in->opened->dump != NULL && dump_has_methods(in->opened->dump);
}

/* In a session of its own, since what a walk learns is kept in one. */
static enum status run_plain(const struct engine *self, const struct engine_input *in,
                             struct arena *keep, struct engine_result *out, struct fault *fault)
{
    const struct opened_file *file = &in->opened->files[OPENED_DUMP];
    struct dump_session *session;
    *out = (struct engine_result){0};
    const struct file_map *map = case_map(in->opened->crash, file->file, fault);
    if (map == NULL ||
        dump_open_map(map, file->path, in->symbols, keep, &session, fault) != ERR_NONE)
        return fault->code;
    dump_ignore_code_map(session);
    (void)run_session(self, session, in, keep, out, fault);
    dump_close(session);
    return fault->code;
}

const struct engine engine_dump_plain = {
    .name = "dump-plain",
    .kind = ENGINE_KIND_OTHER,
    .shares = "all of dump, but without the code map of generated code that our capture adds",
    .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_DUMP_READER | ENGINE_SHARES_DUMP_WALK |
             ENGINE_SHARES_SYMBOLS | ENGINE_SHARES_SYMBOL_FILES,
    .available = has_code_map,
    .run = run_plain,
};
