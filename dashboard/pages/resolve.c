/* Resolves what a user gave to the page: pasted stacks, records and minidumps, and symbol files
 * beside them.
 *
 * Nothing of it is stored.  Names come from these files and from the symbol roots that the server
 * was started with; only the names of frames leave this machine, never a symbol file. */
#include "pages/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "engine/dump_engine.h"
#include "http/response.h"
#include "http/secret.h"
#include "http/state.h"
#include "pages/sent_files.h"
#include "stacks/stack_input.h"
#include "symbol/source.h"
#include "symbol/symbol_store.h"

enum { RESOLVE_STACKS_MAX = 256, RESOLVE_MAX_MS = 30 * 1000 };

static enum status open_shared_symbols(struct dashboard *d, struct symbol_store **out,
                                       struct fault *fault)
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
    json_key_uint_known(j, "thread_id", stack->thread_id);
    json_key_string(j, "role", stack_role_text(stack));
    json_key_string(j, "stop", stack_stop_text(stack));
    json_key_uint(j, "left_out", stack->left_out);
    json_key_array(j, "frames");
    for (uint32_t i = 0; i < stack->frame_count; i++)
        frame_write_json(j, &stack->frames[i]);
    json_array_end(j);
    json_object_end(j);
}

/* A text that is not read as a whole, such as a record, has no lines. */
static bool has_lines(const char *text, size_t bytes)
{
    return text != NULL && memchr(text, 0, bytes) == NULL;
}

/* Where FAULT is in TEXT, of BYTES bytes (NULL: none): its line and column, from 1. */
static void write_place(struct json *j, const struct fault *fault, const char *text, size_t bytes)
{
    uint64_t line = 1, column = 1;
    if (fault->offset == FAULT_NO_OFFSET || fault->offset > bytes || !has_lines(text, bytes))
        return;
    for (uint64_t i = 0; i < fault->offset; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    json_key_uint(j, "line", line);
    json_key_uint(j, "column", column);
}

/* TEXT: what was read. */
static void write_fault(struct json *j, const char *label, const struct fault *fault,
                        const char *text, size_t bytes)
{
    json_object(j);
    write_place(j, fault, text, bytes);
    json_key_string(j, "label", label);
    json_key_string(j, "code", fault_code_name(fault->code));
    json_key_string(j, "what", fault->what);
    json_key_uint_if(j, "offset", fault->offset, fault->offset != FAULT_NO_OFFSET);
    json_key_string(j, "hint", fault->hint);
    json_object_end(j);
}

/* A symbol file that came with the stacks. */
struct sent_file {
    const char *name, *path, *what;
    bool fits; /* a module of the stacks */
};

/* Modules of the stacks that are listed where a file is of none of them. */
enum { MODULES_MAX = 32 };

struct resolving {
    struct exchange *x;
    struct symbol_store *symbols;
    struct json stacks, errors; /* two lists, each a text of its own */
    uint32_t count;
    struct sent_file files[UPLOAD_PARTS_MAX];
    uint32_t file_count;
    const struct module *modules[MODULES_MAX]; /* that state an identity, each once */
    uint32_t module_count;
    uint64_t end_ns;     /* nothing is begun after that */
    bool dump, late;     /* one of them was a minidump; time is up */
    struct fault failed; /* this machine failed, e.g. its disk is full: there is no answer */
};

static bool goes_on(struct resolving *r)
{
    r->late = r->late || clock_ns() > r->end_ns;
    return !r->late && r->count < RESOLVE_STACKS_MAX;
}

/* Notes which of the files that were sent can be of a module of STACK. */
static void note_files(struct resolving *r, const struct stack *stack)
{
    for (uint32_t i = 0; i < r->file_count; i++)
        for (uint32_t f = 0; f < stack->frame_count && !r->files[i].fits; f++) {
            const struct frame *frame = &stack->frames[f];
            const struct module named = {.name = frame->module_name};
            r->files[i].fits =
                frame->module_name != NULL &&
                symbol_store_file_fits(r->symbols, r->files[i].path,
                                       frame->module != NULL ? frame->module : &named);
        }
}

static const char *identity_of(const struct module *module)
{
    return module->debug_id[0] != '\0' ? module->debug_id : module->code_id;
}

static void note_module(struct resolving *r, const struct module *module)
{
    for (uint32_t i = 0; i < r->module_count; i++)
        if (strcmp(identity_of(r->modules[i]), identity_of(module)) == 0)
            return;
    struct module *copy = ARENA_ARRAY(&r->x->keep, 1, struct module);
    if (copy == NULL || identity_of(module)[0] == '\0' || r->module_count == MODULES_MAX)
        return;
    *copy = *module;
    copy->name = arena_string(&r->x->keep, module->name);
    r->modules[r->module_count++] = copy;
}

static void take_stack(struct resolving *r, const struct stack *stack)
{
    note_files(r, stack);
    for (uint32_t i = 0; i < stack->frame_count && r->file_count > 0; i++)
        if (stack->frames[i].module != NULL)
            note_module(r, stack->frames[i].module);
    write_stack(&r->stacks, stack);
}

static void resolve_stream(struct resolving *r, FILE *stream, const char *text, size_t bytes)
{
    struct stack_input *input = NULL;
    struct stack_item item;
    struct fault fault = FAULT_INIT;

    if (stack_input_open(stream, "upload", &input, &fault) != ERR_NONE) {
        write_fault(&r->errors, NULL, &fault, text, bytes);
        return;
    }
    while (goes_on(r) && stack_input_next(input, &r->x->keep, &item)) {
        struct stack out;
        r->count++;
        if (item.fault.code == ERR_NONE)
            (void)symbol_resolve_stack(r->symbols, &item.stack, &r->x->keep, &out, &item.fault);
        if (item.fault.code != ERR_NONE)
            write_fault(&r->errors, item.label, &item.fault, text, bytes);
        else
            take_stack(r, &out);
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
        resolve_stream(r, stream, body, bytes);
    if (stream != NULL)
        (void)fclose(stream);
}

static void resolve_threads(struct resolving *r, struct dump_session *session)
{
    const struct minidump *dump = dump_minidump(session);
    const char *why = NULL;
    const uint32_t suspect = dump_suspect(session, &why);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < dump->thread_count && goes_on(r); i++) {
            struct stack out;
            struct fault fault = FAULT_INIT;
            uint32_t id = dump->threads[i].id;
            if ((id == suspect) != (pass == 0))
                continue;
            r->count++;
            if (dump_thread_stack(session, id, r->symbols, &r->x->keep, &out, &fault) == ERR_NONE)
                take_stack(r, &out);
            else
                write_fault(&r->errors, NULL, &fault, NULL, 0);
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
        write_fault(&r->errors, NULL, &fault, NULL, 0);
    }
    (void)path_remove(path, &fault);
}

static void refuse_part(struct resolving *r, const struct upload_part *part, const char *what,
                        const char *hint)
{
    struct fault fault = FAULT_INIT;
    (void)fault_set_lasting(&fault, ERR_LIMIT, FAULT_NO_OFFSET, what, hint);
    write_fault(&r->errors, part->name, &fault, NULL, 0);
}

/* A CSV states nothing by which it could be recognised. */
static bool is_symbols(const struct upload_part *part, const struct source_kind **kind)
{
    *kind = part->too_large ? NULL : source_recognize(part->data, part->bytes);
    return part->name != NULL && *kind != NULL;
}

/* A server that others can reach opens no files of theirs unless it is allowed to. */
static bool may_send_symbols(const struct dashboard *d)
{
    return !d->options.allow_remote || d->options.allow_write || d->options.allow_symbols;
}

/* Whether FILE can be read. One that cannot is an error of its own, and the others are used. */
static bool is_whole(struct resolving *r, const struct sent_file *file)
{
    const struct symbol_store_options options = {.roots = (const char *const *)&file->path,
                                                 .root_count = 1,
                                                 .cache = r->x->dashboard->options.cache};
    struct symbol_store *alone = NULL;
    struct fault fault = FAULT_INIT;
    if (symbol_store_open(&options, &alone, &fault) == ERR_NONE) {
        symbol_store_close(alone);
        return true;
    }
    write_fault(&r->errors, file->name, &fault, NULL, 0);
    return false;
}

/* Opens the symbols: the server's own, and before them the files that were sent. */
static enum status open_symbols(struct resolving *r, const struct upload *upload,
                                struct fault *fault)
{
    struct dashboard *d = r->x->dashboard;
    const char **roots = ARENA_ARRAY(
        &r->x->keep, UPLOAD_PARTS_MAX + (size_t)d->options.symbol_root_count, const char *);
    const struct source_kind *kind = NULL;
    uint32_t count = 0;
    if (roots == NULL)
        return fault_no_memory(fault, "upload");
    for (uint32_t i = 0; i < upload->count; i++) {
        if (!is_symbols(&upload->parts[i], &kind) || !may_send_symbols(d))
            continue;
        const char *path = upload_file(r->x, upload, &upload->parts[i], fault);
        if (path == NULL)
            return fault->code != ERR_NONE ? fault->code : fault_no_memory(fault, "upload");
        const struct sent_file file = {upload->parts[i].name, path, kind->what, false};
        if (!is_whole(r, &file))
            continue;
        r->files[r->file_count++] = file;
        roots[count++] = path;
    }
    if (count == 0)
        return open_shared_symbols(d, &r->symbols, fault);
    for (uint32_t i = 0; i < d->options.symbol_root_count; i++)
        roots[count++] = d->options.symbol_roots[i];
    struct symbol_store_options options = {
        .roots = roots, .root_count = count, .cache = d->options.cache};
    if (d->options.fetch != NULL)
        options.fetch = *d->options.fetch;
    return symbol_store_open(&options, &r->symbols, fault);
}

static void resolve_part(struct resolving *r, const struct upload_part *part)
{
    const struct source_kind *kind = NULL;
    if (part->too_large) {
        refuse_part(r, part, "file", "the limit is 64 MiB");
    } else if (is_symbols(part, &kind)) {
        if (!may_send_symbols(r->x->dashboard))
            refuse_part(r, part, "symbol file",
                        "this server takes none: start it with --allow-symbols");
    } else if (part->bytes >= 4 && memcmp(part->data, "MDMP", 4) == 0) {
        r->dump = true;
        resolve_dump(r, part->data, part->bytes);
    } else {
        resolve_text(r, part->data, part->bytes);
    }
}

/* Also a file that gave names by what is in it, whatever it is called. */
static bool gave_names(const struct resolving *r, const struct sent_file *file)
{
    return r->count > 0 && symbol_store_unused(r->symbols, (const char *const *)&file->path, 1,
                                               &r->x->keep) == NULL;
}

static void write_files(struct json *j, const struct resolving *r)
{
    json_array(j);
    for (uint32_t i = 0; i < r->file_count; i++) {
        json_object(j);
        json_key_string(j, "name", r->files[i].name);
        json_key_string(j, "what", r->files[i].what);
        json_key_string(j, "identity", symbol_store_file_identity(r->symbols, r->files[i].path));
        json_key_bool(j, "fits", r->files[i].fits || gave_names(r, &r->files[i]));
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_modules(struct json *j, const struct resolving *r)
{
    json_array(j);
    for (uint32_t i = 0; i < r->module_count; i++) {
        json_object(j);
        json_key_string(j, "name", r->modules[i]->name);
        json_key_string(j, "identity", identity_of(r->modules[i]));
        json_object_end(j);
    }
    json_array_end(j);
}

static int answer_parts(struct resolving *r)
{
    struct json files, modules;
    json_to_text(&files, false);
    write_files(&files, r);
    json_to_text(&modules, false);
    write_modules(&modules, r);
    char *lists[] = {json_take(&r->stacks, NULL), json_take(&r->errors, NULL),
                     json_take(&files, NULL), json_take(&modules, NULL)};
    const char *data = NULL;
    if (lists[0] != NULL && lists[1] != NULL && lists[2] != NULL && lists[3] != NULL)
        data =
            arena_printf(&r->x->keep,
                         "{\"form\":\"%s\",\"stacks\":%s,\"errors\":%s,\"files\":%s,\"modules\":%s,"
                         "\"takes_symbols\":%s}",
                         r->dump ? "dump" : "stack", lists[0], lists[1], lists[2], lists[3],
                         may_send_symbols(r->x->dashboard) ? "true" : "false");
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        free(lists[i]);
    if (data == NULL)
        return answer_error(r->x, 503, "no_memory", "There is no memory for this answer", NULL);
    return answer_data(r->x, data, strlen(data), NULL);
}

static int resolve_upload(struct resolving *r, const struct upload *upload)
{
    struct fault fault = FAULT_INIT;
    r->end_ns = clock_ns() + (uint64_t)RESOLVE_MAX_MS * 1000000u;
    json_to_text(&r->stacks, false);
    json_to_text(&r->errors, false);
    json_array(&r->stacks);
    json_array(&r->errors);
    if (open_symbols(r, upload, &fault) != ERR_NONE) {
        json_free(&r->stacks);
        json_free(&r->errors);
        return answer_fault(r->x, &fault);
    }
    for (uint32_t i = 0; i < upload->count; i++)
        resolve_part(r, &upload->parts[i]);
    if (r->late) {
        (void)fault_set_hint(&fault, ERR_TIMEOUT, FAULT_NO_OFFSET, "stacks after these",
                             "there are 30 seconds: send fewer, or use `twinstack resolve`");
        write_fault(&r->errors, NULL, &fault, NULL, 0);
    }
    json_array_end(&r->stacks);
    json_array_end(&r->errors);
    if (r->failed.code == ERR_NONE)
        return answer_parts(r);
    json_free(&r->stacks);
    json_free(&r->errors);
    return answer_error(r->x, 507, "io", "The upload cannot be kept on this machine's disk",
                        "make room in the folder for temporary files, or set TMPDIR");
}

int answer_resolve(struct exchange *x)
{
    struct resolving r = {.x = x, .failed = FAULT_INIT};
    struct upload upload;
    int code = 400;
    if (upload_read(x, &upload))
        code = resolve_upload(&r, &upload);
    if (r.file_count > 0)
        symbol_store_close(r.symbols);
    upload_end(&upload);
    return code;
}
