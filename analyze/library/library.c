/* libtwinstack: the installed functions over the rooms below.  See twinstack.h. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "library/library_handles.h"
#include "symbol/csv.h"

_Static_assert((int)TWINSTACK_TIMEOUT == (int)ERR_TIMEOUT, "statuses are those of base/fault.h");
_Static_assert((int)TWINSTACK_NAMES_DECORATED == (int)NAMES_DECORATED, "as symbol/undecorate.h");
_Static_assert((int)TWINSTACK_FETCH_FAULT == (int)FETCH_EVENT_FAULT, "as fetch/fetch.h");
_Static_assert(offsetof(struct twinstack_address, mvid) >= sizeof(struct {
                   void *pointers[4];
                   uint64_t offset;
                   enum twinstack_kind kind;
               }),
               "not in the padding of the struct that older programs have");
_Static_assert(TWINSTACK_CSV_BASE == CSV_BASE_DEFAULT, "as symbol/csv.h");

const char *twinstack_version(void)
{
    return TWINSTACK_VERSION;
}

const char *twinstack_status_name(enum twinstack_status status)
{
    return fault_code_name((enum status)status);
}

enum twinstack_status library_report(const struct fault *fault, struct twinstack_error *error)
{
    if (error != NULL && fault->code == ERR_NONE) {
        error->offset = TWINSTACK_NO_OFFSET;
        error->text[0] = '\0';
    } else if (error != NULL) {
        error->offset = fault->offset;
        fault_describe(fault, error->text, sizeof error->text);
    }
    return (enum twinstack_status)fault->code;
}

enum twinstack_status library_succeed(struct twinstack_error *error)
{
    const struct fault none = FAULT_INIT;
    return library_report(&none, error);
}

enum twinstack_status library_refuse(enum status code, const char *what,
                                     struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    (void)fault_set_lasting(&fault, code, FAULT_NO_OFFSET, what, NULL);
    return library_report(&fault, error);
}

void library_copy_known(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
    memcpy(to, from, from_bytes < to_bytes ? from_bytes : to_bytes);
}

enum { DEBUG_ID_LEAST = 9 }; /* a PDB 2.0: its time in 8 digits, and its age */

static enum symbol_indexing indexing_of(enum twinstack_indexing indexing)
{
    switch (indexing) {
    case TWINSTACK_INDEX_ALWAYS:
        return INDEXING_ALWAYS;
    case TWINSTACK_INDEX_AUTO:
        return INDEXING_AUTO;
    case TWINSTACK_INDEX_IMAGES:
        return INDEXING_IMAGES;
    default:
        return INDEXING_NONE;
    }
}

static void on_fetch(void *context, const struct fetch_event *event)
{
    const struct twinstack_symbols *symbols = context;
    const struct twinstack_fetch_event same = {.kind = (enum twinstack_fetch_kind)event->kind,
                                               .name = event->name,
                                               .text = event->text,
                                               .bytes = event->bytes,
                                               .total_bytes = event->total_bytes,
                                               .running = event->running};
    symbols->fetched(symbols->context, &same);
}

int twinstack_is_arch(const char *name)
{
    const enum object_arch arch = object_arch_parse(name);

    return arch != ARCH_OTHER && arch != ARCH_NONE;
}

/* The name of a file, and not the way to another one. */
static bool is_file_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strpbrk(name, "/\\") == NULL;
}

/* Puts the files that are in memory where the others are: on the disk. Formats are read from mapped
 * files, however large they are. */
static enum status write_memory(const struct twinstack_options *known,
                                struct twinstack_symbols *made, struct fault *fault)
{
    made->folder = folder_temporary_name("symbols", &made->keep);
    if (made->folder == NULL)
        return fault_no_memory(fault, "symbols");
    if (folder_make(made->folder, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < known->memory_count; i++) {
        const struct twinstack_memory *file = &known->memory[i];
        if (!is_file_name(file->name) || file->data == NULL)
            return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "file in memory");
        const char *path = path_join(&made->keep, made->folder, file->name);
        if (path == NULL)
            return fault_no_memory(fault, "symbols");
        if (file_write(path, file->data, file->bytes, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

/* The paths of the caller, and the folder of the files in memory. */
static enum status keep_paths(const struct twinstack_options *known, struct twinstack_symbols *made,
                              struct fault *fault)
{
    made->paths = ARENA_ARRAY(&made->keep, (size_t)known->path_count + 1, const char *);
    if (made->paths == NULL)
        return fault_no_memory(fault, "symbols");
    for (uint32_t i = 0; i < known->path_count; i++)
        if ((made->paths[i] = arena_string(&made->keep, known->paths[i])) == NULL)
            return fault_no_memory(fault, "symbols");
    made->path_count = known->path_count;
    if (known->memory_count > 0 && write_memory(known, made, fault) == ERR_NONE)
        made->paths[known->path_count] = made->folder;
    return fault->code;
}

static void release(struct twinstack_symbols *symbols)
{
    struct fault ignored = FAULT_INIT;
    if (symbols->folder != NULL)
        (void)path_remove(symbols->folder, &ignored);
    arena_free(&symbols->keep);
    free(symbols);
}

static enum twinstack_status open_store(const struct twinstack_options *known,
                                        struct twinstack_symbols *made,
                                        struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    if (keep_paths(known, made, &fault) != ERR_NONE)
        return library_report(&fault, error);
    made->by_name = known->path_count + known->memory_count > 0;
    made->fetched = known->fetched;
    made->context = known->context;
    const struct symbol_store_options store = {
        .roots = made->paths,
        .root_count = known->path_count + (known->memory_count > 0 ? 1 : 0),
        .names = (enum symbol_names)known->names,
        .indexing = indexing_of(known->indexing),
        .arch = object_arch_parse(known->arch),
        .cache = known->cache,
        .system = known->system != 0,
        .fetch = {.offline = known->offline != 0,
                  .limit_ms = known->fetch_limit_ms,
                  .missing_ms = known->fetch_missing_ms,
                  .event = known->fetched != NULL ? on_fetch : NULL,
                  .context = made},
    };
    (void)symbol_store_open(&store, &made->store, &fault);
    return library_report(&fault, error);
}

enum twinstack_status twinstack_open(const struct twinstack_options *options,
                                     struct twinstack_symbols **symbols,
                                     struct twinstack_error *error)
{
    struct twinstack_options known = {0};

    *symbols = NULL;
    if (options != NULL)
        library_copy_known(&known, sizeof known, options, options->size);
    if (known.names > TWINSTACK_NAMES_DECORATED || known.indexing > TWINSTACK_INDEX_IMAGES ||
        (known.arch != NULL && !twinstack_is_arch(known.arch)))
        return library_refuse(ERR_USAGE, "options of twinstack_open", error);
    struct twinstack_symbols *made = calloc(1, sizeof *made);
    if (made == NULL)
        return library_refuse(ERR_MEMORY, "symbols", error);
    arena_init(&made->keep, 0);
    const enum twinstack_status status = open_store(&known, made, error);
    if (status == TWINSTACK_OK)
        *symbols = made;
    else
        release(made);
    return status;
}

enum twinstack_status twinstack_bind_pdb(struct twinstack_symbols *symbols, const char *module,
                                         const char *path, struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    (void)symbol_store_bind_pdb(symbols->store, module, path, &fault);
    return library_report(&fault, error);
}

enum twinstack_status twinstack_bind_csv(struct twinstack_symbols *symbols, const char *module,
                                         const char *path, uint64_t base,
                                         struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    (void)symbol_store_bind_csv(symbols->store, module, path, base, &fault);
    return library_report(&fault, error);
}

enum twinstack_status twinstack_path_fault(const struct twinstack_symbols *symbols,
                                           struct twinstack_error *error)
{
    return library_report(symbol_store_path_fault(symbols->store), error);
}

uint32_t twinstack_indexes_built(struct twinstack_symbols *symbols, uint64_t *ns)
{
    struct symbol_store_built built;

    symbol_store_built(symbols->store, &built);
    if (ns != NULL)
        *ns = built.ns;
    return built.indexes;
}

const char *twinstack_unused(struct twinstack_symbols *symbols)
{
    return symbol_store_unused(symbols->store, symbols->paths, symbols->path_count, &symbols->keep);
}

void twinstack_close(struct twinstack_symbols *symbols)
{
    if (symbols == NULL)
        return;
    symbol_store_close(symbols->store);
    release(symbols);
}

struct twinstack_stack *library_new_stack(void)
{
    struct twinstack_stack *made = calloc(1, sizeof *made);

    if (made != NULL)
        arena_init(&made->keep, 0);
    return made;
}

void twinstack_stack_free(struct twinstack_stack *stack)
{
    if (stack == NULL)
        return;
    arena_free(&stack->keep);
    free(stack);
}

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* An id as the store compares it: hexadecimal digits, at least LEAST of them, where a GUID may have
 * hyphens. False: it is none. */
static bool copy_id(const char *id, size_t least, char *out, size_t out_bytes)
{
    const size_t length = id != NULL ? strlen(id) : 0;
    size_t digits = 0;

    for (size_t i = 0; i < length; i++) {
        if (id[i] != '-' && !is_hex_digit(id[i]))
            return false;
        digits += id[i] != '-';
    }
    if (length >= out_bytes || (length > 0 && digits < least))
        return false;
    if (length > 0)
        memcpy(out, id, length + 1);
    return true;
}

/* Reads what is stated of managed code. False: a GUID or a token that is none. */
static bool read_managed(const struct twinstack_address *known, struct module *module,
                         struct frame *out)
{
    const size_t length = known->mvid != NULL ? strlen(known->mvid) : 0;

    if (length > 0 && !module_mvid_parse(known->mvid, length, module->mvid))
        return false;
    if (known->method == 0)
        return true;
    out->method_token = known->method;
    return FRAME_IS_METHOD(known->method) && known->offset <= UINT32_MAX;
}

static bool make_frame(const struct twinstack_address *first, uint32_t index, struct arena *keep,
                       struct frame *out)
{
    struct twinstack_address known = {0};
    library_copy_known(&known, sizeof known, (const char *)first + (size_t)index * first->size,
                       first->size);
    struct module *module = ARENA_NEW(keep, struct module);
    if (known.module == NULL || module == NULL)
        return false;
    *module = (struct module){.index = index, .name = arena_string(keep, known.module)};
    module->unloaded_at_ns = MODULE_STILL_LOADED;
    *out = (struct frame){
        .index = index,
        .kind = known.kind == TWINSTACK_RETURN ? PC_RETURN : PC_INTERRUPTED,
        .found_by = FOUND_GIVEN,
        .module = module,
        .module_name = module->name,
        .offset = known.offset,
    };
    return module->name != NULL && read_managed(&known, module, out) &&
           copy_id(known.debug_id, DEBUG_ID_LEAST, module->debug_id, sizeof module->debug_id) &&
           copy_id(known.code_id, 1, module->code_id, sizeof module->code_id);
}

enum twinstack_status library_frames(const struct twinstack_address *addresses, uint32_t count,
                                     struct arena *keep, struct stack *out,
                                     struct twinstack_error *error)
{
    *out = (struct stack){.state = STACK_OK, .frame_count = count};
    out->frames = ARENA_ARRAY(keep, (size_t)count + 1, struct frame);
    if (out->frames == NULL)
        return library_refuse(ERR_MEMORY, "stack", error);
    for (uint32_t i = 0; i < count; i++)
        if (!make_frame(addresses, i, keep, &out->frames[i]))
            return library_refuse(
                ERR_USAGE, "address without a module, or with an id or a token of another form",
                error);
    return library_succeed(error);
}

enum twinstack_status twinstack_resolve(struct twinstack_symbols *symbols,
                                        const struct twinstack_address *addresses, uint32_t count,
                                        struct twinstack_stack **stack,
                                        struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;
    struct stack in;

    *stack = NULL;
    struct twinstack_stack *made = library_new_stack();
    if (made == NULL)
        return library_refuse(ERR_MEMORY, "stack", error);
    enum twinstack_status status = library_frames(addresses, count, &made->keep, &in, error);
    if (status == TWINSTACK_OK &&
        symbol_resolve_stack(symbols->store, &in, &made->keep, &made->stack, &fault) != ERR_NONE)
        status = library_report(&fault, error);
    if (status == TWINSTACK_OK)
        *stack = made;
    else
        twinstack_stack_free(made);
    return status;
}

const char *twinstack_label(const struct twinstack_stack *stack)
{
    return stack->stack.label;
}

uint32_t twinstack_frame_count(const struct twinstack_stack *stack)
{
    return stack->stack.frame_count;
}

static const struct frame *frame_at(const struct twinstack_stack *stack, uint32_t frame)
{
    static const struct frame none;

    return frame < stack->stack.frame_count ? &stack->stack.frames[frame] : &none;
}

uint32_t twinstack_index(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->index;
}

uint32_t twinstack_inline_depth(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->inline_depth;
}

enum twinstack_kind twinstack_kind(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->kind == PC_RETURN ? TWINSTACK_RETURN : TWINSTACK_INTERRUPTED;
}

const char *twinstack_module(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->module_name;
}

uint64_t twinstack_offset(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->offset;
}

uint32_t twinstack_method(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->method_token;
}

const char *twinstack_mvid(const struct twinstack_stack *stack, uint32_t frame)
{
    const struct module *module = frame_at(stack, frame)->module;

    return module != NULL && module->mvid[0] != '\0' ? module->mvid : NULL;
}

const char *twinstack_function(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->function;
}

const char *twinstack_file(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->file;
}

uint32_t twinstack_line(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->line;
}

uint64_t twinstack_distance(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame_at(stack, frame)->symbol_distance;
}

const char *twinstack_source(const struct twinstack_stack *stack, uint32_t frame)
{
    return symbols_from_name(frame_at(stack, frame)->symbols);
}

const char *twinstack_found_by(const struct twinstack_stack *stack, uint32_t frame)
{
    return found_by_name(frame_at(stack, frame)->found_by);
}

int twinstack_identity_checked(const struct twinstack_stack *stack, uint32_t frame)
{
    return frame < stack->stack.frame_count && frame_at(stack, frame)->identity == IDENTITY_CHECKED;
}

const char *twinstack_note(const struct twinstack_stack *stack, uint32_t frame, char *out,
                           size_t out_bytes)
{
    char text[FRAME_NOTE_BYTES];
    const char *note = frame_note_text(frame_at(stack, frame), text);

    if (note == NULL || out_bytes == 0)
        return NULL;
    (void)snprintf(out, out_bytes, "%s", note);
    return out;
}

const char *twinstack_stop(const struct twinstack_stack *stack)
{
    return stack_stop_text(&stack->stack);
}
