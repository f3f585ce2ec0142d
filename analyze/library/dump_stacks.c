/* libtwinstack: minidumps.  See twinstack.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/dump.h"
#include "engine/dump_engine.h"
#include "library/dump_text.h"
#include "library/library_handles.h"
#include "stacks/rust.h"

struct twinstack_dump {
    struct arena keep;
    struct symbol_store *store; /* borrowed; NULL */
    struct dump_session *session;
    const char *path;     /* as it was given */
    bool detailed;        /* dump_tell() was called */
    uint64_t fault_count; /* of the last lint */
    struct text_out text; /* of twinstack_dump_write */
    char *json;           /* the same; malloc */
};

enum twinstack_status twinstack_dump_open(struct twinstack_symbols *symbols, const char *path,
                                          struct twinstack_dump **dump,
                                          struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    *dump = NULL;
    struct twinstack_dump *made = calloc(1, sizeof *made);
    if (made == NULL)
        return library_refuse(ERR_MEMORY, "dump", error);
    arena_init(&made->keep, 0);
    made->store = symbols != NULL ? symbols->store : NULL;
    made->path = arena_string(&made->keep, path);
    if (made->path == NULL)
        (void)fault_no_memory(&fault, "dump");
    else
        (void)dump_open(path, made->store, &made->keep, &made->session, &fault);
    if (fault.code != ERR_NONE) {
        arena_free(&made->keep);
        free(made);
        return library_report(&fault, error);
    }
    *dump = made;
    return library_succeed(error);
}

void twinstack_dump_close(struct twinstack_dump *dump)
{
    if (dump == NULL)
        return;
    dump_close(dump->session);
    text_free(&dump->text);
    free(dump->json);
    arena_free(&dump->keep);
    free(dump);
}

uint32_t twinstack_thread_count(const struct twinstack_dump *dump)
{
    return dump_minidump(dump->session)->thread_count;
}

uint32_t twinstack_thread_id(const struct twinstack_dump *dump, uint32_t position)
{
    const struct minidump *file = dump_minidump(dump->session);

    return position < file->thread_count ? file->threads[position].id : 0;
}

const char *twinstack_thread_name(const struct twinstack_dump *dump, uint32_t position)
{
    const struct minidump *file = dump_minidump(dump->session);

    return position < file->thread_count ? file->threads[position].name : NULL;
}

uint32_t twinstack_suspect(const struct twinstack_dump *dump)
{
    const char *why;

    return dump_suspect(dump->session, &why);
}

enum twinstack_status twinstack_dump_walk(struct twinstack_dump *dump, uint32_t thread_id,
                                          struct twinstack_stack **stack,
                                          struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    *stack = NULL;
    struct twinstack_stack *made = library_new_stack();
    if (made == NULL)
        return library_refuse(ERR_MEMORY, "stack", error);
    if (dump_thread_stack(dump->session, thread_id, dump->store, &made->keep, &made->stack,
                          &fault) != ERR_NONE) {
        twinstack_stack_free(made);
        return library_report(&fault, error);
    }
    *stack = made;
    return library_succeed(error);
}

void twinstack_dump_ignore_code_map(struct twinstack_dump *dump)
{
    dump_ignore_code_map(dump->session);
}

enum twinstack_status twinstack_dump_damage(const struct twinstack_dump *dump,
                                            struct twinstack_error *error)
{
    const struct minidump *file = dump_minidump(dump->session);

    for (uint32_t i = 0; i < file->stream_count; i++) {
        struct fault fault = file->streams[i].fault;
        if (fault.code == ERR_NONE)
            continue;
        fault_set_path(&fault, dump->path);
        return library_report(&fault, error);
    }
    return library_succeed(error);
}

uint64_t twinstack_dump_fault_count(const struct twinstack_dump *dump)
{
    return dump->fault_count;
}

/* ---- writing ---- */

/* What one call of twinstack_dump_write works with. */
struct writing {
    struct twinstack_dump *dump;
    struct dump_session *session;
    struct twinstack_dump_request request;
    uint32_t thread_id;   /* the one asked for, or the suspect */
    uint32_t frame_count; /* of its walk, for TWINSTACK_DUMP_FRAME and _WALK */
    struct arena scratch;
    struct json json;
};

/* A thread with the id of an earlier thread of the list: it cannot be asked for by id. */
static struct stack second_of_its_id(uint32_t thread_id)
{
    return (struct stack){
        .thread_id = thread_id, .state = STACK_FAILED, .stop = STOP_REPEATED_THREAD};
}

/* One thread's stack, or why it cannot be walked. */
static enum status thread_stack(struct writing *w, uint32_t thread_id, struct stack *out,
                                struct fault *fault)
{
    struct fault single = FAULT_INIT;
    const enum status status =
        dump_thread_stack(w->session, thread_id, w->dump->store, &w->scratch, out, &single);

    if (status == ERR_MEMORY) {
        *fault = single;
        return status;
    }
    if (status != ERR_NONE)
        *out = dump_failed_stack(thread_id, &single, &w->scratch);
    return ERR_NONE;
}

enum threads { ALL_THREADS /* in the dump's order */, ONE_THREAD, ONE_THREAD_FIRST };

static enum status collect_stacks(struct writing *w, enum threads threads, struct stack **out,
                                  uint32_t *count, struct fault *fault)
{
    const struct minidump *file = dump_minidump(w->session);
    enum status status = ERR_NONE;

    *count = 0;
    *out = ARENA_ARRAY(&w->scratch, (size_t)file->thread_count + 1, struct stack);
    if (*out == NULL)
        return fault_no_memory(fault, "stacks");
    if (threads != ALL_THREADS)
        status = thread_stack(w, w->thread_id, &(*out)[(*count)++], fault);
    if (threads == ONE_THREAD)
        return status;
    for (uint32_t i = 0; status == ERR_NONE && i < file->thread_count; i++) {
        const uint32_t id = file->threads[i].id;
        if (minidump_thread_find(file, id) != &file->threads[i])
            (*out)[(*count)++] = second_of_its_id(id);
        else if (threads == ALL_THREADS || id != w->thread_id)
            status = thread_stack(w, id, &(*out)[(*count)++], fault);
    }
    return status;
}

/* rust-minidump does not walk the thread that wrote the dump, and programs that read its output
 * expect that. */
static enum status write_stackwalk(struct writing *w, struct fault *fault)
{
    const struct minidump *file = dump_minidump(w->session);
    struct stack *stacks;
    struct registers regs;
    struct fault ignored = FAULT_INIT;
    enum pc_kind kind;
    uint32_t count, crashed = UINT32_MAX;
    const uint32_t suspect = twinstack_suspect(w->dump);

    if (collect_stacks(w, ALL_THREADS, &stacks, &count, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count; i++) {
        if (file->breakpad.present && (file->breakpad.validity & 1) != 0 &&
            stacks[i].thread_id == file->breakpad.dump_thread_id)
            stacks[i].frame_count = 0;
        if (stacks[i].thread_id == suspect && crashed == UINT32_MAX)
            crashed = i;
    }
    const bool known = dump_registers(w->session, suspect, &regs, &kind, &ignored) == ERR_NONE;
    rust_write(&w->json, file, stacks, count, crashed, known ? &regs : NULL);
    return ERR_NONE;
}

/* One frame, or with TWINSTACK_DUMP_WALK all. */
static enum status write_frames(struct writing *w, struct fault *fault)
{
    struct unwind_stack walk;
    struct stack resolved;
    const bool all = w->request.part == TWINSTACK_DUMP_WALK;
    const uint32_t first = all ? 0 : w->request.frame;

    if (dump_walk(w->session, w->thread_id, &w->scratch, &walk, fault) != ERR_NONE)
        return fault->code;
    w->frame_count = walk.frame_count;
    if (first >= walk.frame_count)
        return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "frame");
    if (!w->request.json && thread_stack(w, w->thread_id, &resolved, fault) != ERR_NONE)
        return fault->code;
    if (w->request.json && all) {
        json_object(&w->json);
        json_key_uint(&w->json, "schema_version", 1);
        json_key_array(&w->json, "frames");
    }
    for (uint32_t i = first; i < (all ? walk.frame_count : first + 1); i++) {
        if (w->request.json)
            dump_write_explain(&w->json, w->session, &walk, i);
        else
            dump_print_explain(&w->dump->text, w->session, &walk, i, &resolved);
    }
    if (w->request.json && all) {
        json_array_end(&w->json);
        json_object_end(&w->json);
    }
    return ERR_NONE;
}

static void write_stacks(struct json *j, const struct stack *stacks, uint32_t count)
{
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_array(j, "threads");
    for (uint32_t i = 0; i < count; i++) {
        json_object(j);
        json_key_uint(j, "id", stacks[i].thread_id);
        json_key_string(j, "name", stacks[i].thread_name);
        json_key_string(j, "role", stack_role_text(&stacks[i]));
        json_key_string(j, "state", stack_state_name(stacks[i].state));
        json_key_string(j, "stop", stack_stop_text(&stacks[i]));
        json_key_uint(j, "left_out", stacks[i].left_out);
        json_key(j, "stack");
        stack_write_json(j, &stacks[i]);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static enum status write_dump(struct writing *w, struct fault *fault)
{
    const bool summary = w->request.part == TWINSTACK_DUMP_SUMMARY;
    struct twinstack_dump *dump = w->dump;
    struct stack *stacks;
    uint32_t count;

    if (w->request.json && summary) {
        minidump_write_json(&w->json, dump_minidump(w->session));
        return ERR_NONE;
    }
    if (collect_stacks(w, summary ? ONE_THREAD : ONE_THREAD_FIRST, &stacks, &count, fault) !=
        ERR_NONE)
        return fault->code;
    if (w->request.json) {
        write_stacks(&w->json, stacks, count);
        return ERR_NONE;
    }
    if (summary)
        dump_print_summary(&dump->text, dump->path, w->session);
    for (uint32_t i = 0; i < count; i++)
        dump_print_stack(&dump->text, &stacks[i]);
    return ERR_NONE;
}

static enum status write_lint(struct writing *w, struct fault *fault)
{
    struct minidump_complaints found;

    if (minidump_lint(dump_minidump(w->session), &w->scratch, &found, fault) != ERR_NONE)
        return fault->code;
    w->dump->fault_count = found.count + found.left_out;
    if (w->request.json)
        minidump_lint_write_json(&w->json, &found);
    else
        dump_print_lint(&w->dump->text, w->dump->path, &found);
    return ERR_NONE;
}

static enum status write_part(struct writing *w, struct fault *fault)
{
    /* Every form reads every stream: the same damage is reported whatever is written. */
    if (!w->dump->detailed && dump_tell(w->session, &w->dump->keep, fault) != ERR_NONE)
        return fault->code;
    w->dump->detailed = true;
    switch (w->request.part) {
    case TWINSTACK_DUMP_STACKWALK:
        w->request.json = 1;
        return write_stackwalk(w, fault);
    case TWINSTACK_DUMP_FRAME:
    case TWINSTACK_DUMP_WALK:
        return write_frames(w, fault);
    case TWINSTACK_DUMP_LINT:
        return write_lint(w, fault);
    case TWINSTACK_DUMP_SUMMARY:
    case TWINSTACK_DUMP_STACKS:
        return write_dump(w, fault);
    }
    return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "part of a dump");
}

static enum twinstack_status refuse(const struct writing *w, const struct fault *fault,
                                    struct twinstack_error *error)
{
    const enum twinstack_status status = library_report(fault, error);

    if (w->frame_count > 0 && status == TWINSTACK_USAGE && error != NULL)
        (void)snprintf(error->text, sizeof error->text,
                       "thread %" PRIu32 " has frames 0 to %" PRIu32, w->thread_id,
                       w->frame_count - 1);
    return status;
}

enum twinstack_status twinstack_dump_write(struct twinstack_dump *dump,
                                           const struct twinstack_dump_request *request,
                                           const char **text, size_t *bytes,
                                           struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;
    struct writing w = {.dump = dump, .session = dump->session};

    *text = NULL;
    *bytes = 0;
    library_copy_known(&w.request, sizeof w.request, request, request->size);
    w.thread_id = w.request.thread_id != 0 ? w.request.thread_id : twinstack_suspect(dump);
    text_restart(&dump->text);
    free(dump->json);
    dump->json = NULL;
    arena_init(&w.scratch, 0);
    json_to_text(&w.json, true);
    (void)write_part(&w, &fault);
    arena_free(&w.scratch);
    if (fault.code == ERR_NONE && w.request.json) {
        json_newline(&w.json);
        *text = dump->json = json_take(&w.json, bytes);
    } else if (fault.code == ERR_NONE) {
        *text = dump->text.failed ? NULL : dump->text.text;
        *bytes = dump->text.bytes;
    }
    json_free(&w.json);
    if (fault.code != ERR_NONE)
        return refuse(&w, &fault, error);
    return *text != NULL ? TWINSTACK_OK : library_refuse(ERR_MEMORY, "text of a dump", error);
}
