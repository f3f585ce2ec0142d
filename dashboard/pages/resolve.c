/* Resolves what a user gave to the page: a pasted stack, a record, or a minidump.
 *
 * Nothing of it is stored.  Names come from the symbol roots that the server was started
 * with; only the names of frames leave this machine, never a symbol file. */
#include "pages/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "engine/dump_engine.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/secret.h"
#include "http/state.h"
#include "stacks/stack_input.h"
#include "symbol/store.h"

enum { RESOLVE_STACKS_MAX = 256 };

static enum status open_symbols(struct dashboard *d, struct symbol_store **out, struct fault *fault)
{
    enum status status = ERR_NONE;
    mutex_lock(d->lock);
    if (d->symbols == NULL) {
        struct symbol_store_options options = {.roots = d->options.symbol_roots,
                                               .root_count = d->options.symbol_root_count,
                                               .indexing = INDEXING_AUTO,
                                               .cache = d->options.cache};
        if (d->options.fetch != NULL)
            options.fetch = *d->options.fetch;
        status = symbol_store_open(&options, &d->symbols, fault);
    }
    *out = d->symbols;
    mutex_unlock(d->lock);
    return status;
}

static void write_stack(struct json *j, const struct stack *stack)
{
    json_object(j);
    json_key_string(j, "label", stack->label);
    json_key(j, "thread_id");
    stack->thread_id != 0 ? json_uint(j, stack->thread_id) : json_null(j);
    json_key_string(j, "role", stack_role_text(stack));
    json_key_string(j, "stop", stack_stop_text(stack));
    json_key_uint(j, "left_out", stack->left_out);
    json_key(j, "frames");
    json_array(j);
    for (uint32_t i = 0; i < stack->frame_count; i++)
        frame_write_json(j, &stack->frames[i]);
    json_array_end(j);
    json_object_end(j);
}

static void write_fault(struct json *j, const char *label, const struct fault *fault)
{
    json_object(j);
    json_key_string(j, "label", label);
    json_key_string(j, "code", fault_code_name(fault->code));
    json_key_string(j, "what", fault->what);
    json_key(j, "offset");
    fault->offset != FAULT_NO_OFFSET ? json_uint(j, fault->offset) : json_null(j);
    json_key_string(j, "hint", fault->hint);
    json_object_end(j);
}

struct resolving {
    struct exchange *x;
    struct symbol_store *symbols;
    struct json stacks, errors; /* two lists, each a text of its own */
    uint32_t count;
    struct fault failed; /* this machine failed, e.g. its disk is full: there is no answer */
};

static void resolve_stream(struct resolving *r, FILE *stream)
{
    struct stack_input *input = NULL;
    struct stack_item item;
    struct fault fault = FAULT_INIT;

    if (stack_input_open(stream, "upload", &input, &fault) != ERR_NONE) {
        write_fault(&r->errors, NULL, &fault);
        return;
    }
    while (r->count < RESOLVE_STACKS_MAX && stack_input_next(input, &r->x->keep, &item)) {
        struct stack out;
        r->count++;
        if (item.fault.code == ERR_NONE)
            (void)symbol_resolve_stack(r->symbols, &item.stack, &r->x->keep, &out, &item.fault);
        if (item.fault.code != ERR_NONE)
            write_fault(&r->errors, item.label, &item.fault);
        else
            write_stack(&r->stacks, &out);
    }
    stack_input_close(input);
}

static void resolve_text(struct resolving *r, const char *body, size_t bytes)
{
    FILE *stream = tmpfile();
    if (stream == NULL || fwrite(body, 1, bytes, stream) != bytes || fflush(stream) != 0 ||
        fseek(stream, 0, SEEK_SET) != 0)
        (void)fault_set(&r->failed, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    else
        resolve_stream(r, stream);
    if (stream != NULL)
        (void)fclose(stream);
}

static void resolve_threads(struct resolving *r, struct dump_session *session)
{
    const struct minidump *dump = dump_minidump(session);
    const char *why = NULL;
    const uint32_t suspect = dump_suspect(session, &why);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < dump->thread_count && r->count < RESOLVE_STACKS_MAX; i++) {
            struct stack out;
            struct fault fault = FAULT_INIT;
            uint32_t id = dump->threads[i].id;
            if ((id == suspect) != (pass == 0))
                continue;
            r->count++;
            if (dump_thread_stack(session, id, r->symbols, &r->x->keep, &out, &fault) == ERR_NONE)
                write_stack(&r->stacks, &out);
            else
                write_fault(&r->errors, NULL, &fault);
        }
}

/* The dump reader maps a file, so the upload needs a file name for a moment: a random one. */
static void resolve_dump(struct resolving *r, const char *body, size_t bytes)
{
    struct fault fault = FAULT_INIT;
    struct dump_session *session = NULL;
    unsigned char random[16];
    char path[512], hex[33];
    const char *folder = getenv("TMPDIR");

    if (!secret_bytes(random, sizeof random)) {
        (void)fault_set(&r->failed, ERR_IO, FAULT_NO_OFFSET, "random bytes of the system");
        return;
    }
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", random[i]);
    (void)snprintf(path, sizeof path, "%s/twinstack-%s.dmp", folder != NULL ? folder : "/tmp", hex);
    if (file_write(path, body, bytes, &r->failed) == ERR_NONE &&
        dump_open(path, r->symbols, &r->x->keep, &session, &fault) == ERR_NONE) {
        resolve_threads(r, session);
        dump_close(session);
    } else if (fault.code != ERR_NONE) {
        write_fault(&r->errors, NULL, &fault);
    }
    (void)path_remove(path, &fault);
}

int answer_resolve(struct exchange *x)
{
    struct resolving r = {.x = x, .failed = FAULT_INIT};
    struct fault fault = FAULT_INIT;
    char *body = NULL;
    size_t bytes = 0;

    if (!exchange_read_body(x, UPLOAD_MAX_BYTES, &body, &bytes))
        return 400;
    if (open_symbols(x->dashboard, &r.symbols, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    bool dump = bytes >= 4 && memcmp(body, "MDMP", 4) == 0;
    json_to_text(&r.stacks, false);
    json_to_text(&r.errors, false);
    json_array(&r.stacks);
    json_array(&r.errors);
    if (dump)
        resolve_dump(&r, body, bytes);
    else
        resolve_text(&r, body, bytes);
    json_array_end(&r.stacks);
    json_array_end(&r.errors);
    if (r.failed.code != ERR_NONE) {
        json_free(&r.stacks);
        json_free(&r.errors);
        return answer_error(x, 507, "io", "The upload cannot be kept on this machine's disk",
                            "make room in the folder for temporary files, or set TMPDIR");
    }
    char *stacks = json_take(&r.stacks, NULL), *errors = json_take(&r.errors, NULL);
    const char *data = NULL;
    if (stacks != NULL && errors != NULL)
        data = arena_printf(&x->keep, "{\"form\":\"%s\",\"stacks\":%s,\"errors\":%s}",
                            dump ? "dump" : "stack", stacks, errors);
    free(stacks);
    free(errors);
    if (data == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    return answer_data(x, 200, data, strlen(data), NULL);
}
