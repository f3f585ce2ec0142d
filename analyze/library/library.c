/* libtwinstack: the installed functions over the rooms below.  See twinstack.h. */
#include "library/twinstack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "engine/dump.h"
#include "engine/dump_engine.h"
#include "symbol/store.h"

_Static_assert((int)TWINSTACK_TIMEOUT == (int)ERR_TIMEOUT, "statuses are those of base/fault.h");
_Static_assert((int)TWINSTACK_NAMES_DECORATED == (int)NAMES_DECORATED, "as symbol/undecorate.h");

struct twinstack_symbols {
    struct symbol_store *store;
};

struct twinstack_stack {
    struct arena keep;
    struct stack stack;
};

struct twinstack_dump {
    struct arena keep;
    struct symbol_store *store; /* borrowed; NULL */
    struct dump_session *session;
};

const char *twinstack_version(void)
{
    return TWINSTACK_VERSION;
}

const char *twinstack_status_name(enum twinstack_status status)
{
    return fault_code_name((enum status)status);
}

/* Copies FAULT to the caller and returns its code. */
static enum twinstack_status report(const struct fault *fault, struct twinstack_error *error)
{
    if (error != NULL) {
        error->offset = fault->offset;
        fault_describe(fault, error->text, sizeof error->text);
    }
    return (enum twinstack_status)fault->code;
}

static enum twinstack_status refuse(enum status code, const char *what,
                                    struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    (void)fault_set(&fault, code, FAULT_NO_OFFSET, what);
    return report(&fault, error);
}

static enum symbol_indexing indexing_of(enum twinstack_indexing indexing)
{
    switch (indexing) {
    case TWINSTACK_INDEX_ALWAYS:
        return INDEXING_ALWAYS;
    case TWINSTACK_INDEX_AUTO:
        return INDEXING_AUTO;
    default:
        return INDEXING_NONE;
    }
}

/* What the caller knows of OPTIONS: a program built against an older header gives less. */
static struct twinstack_options known_options(const struct twinstack_options *options)
{
    struct twinstack_options known = {0};

    if (options != NULL)
        memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    return known;
}

enum twinstack_status twinstack_open(const struct twinstack_options *options,
                                     struct twinstack_symbols **symbols,
                                     struct twinstack_error *error)
{
    const struct twinstack_options known = known_options(options);
    struct fault fault = FAULT_INIT;

    *symbols = NULL;
    if (known.names > TWINSTACK_NAMES_DECORATED || known.indexing > TWINSTACK_INDEX_ALWAYS)
        return refuse(ERR_USAGE, "options of twinstack_open", error);
    struct twinstack_symbols *made = calloc(1, sizeof *made);
    if (made == NULL)
        return refuse(ERR_MEMORY, "symbols", error);
    const struct symbol_store_options store = {
        .roots = known.paths,
        .root_count = known.path_count,
        .names = (enum symbol_names)known.names,
        .indexing = indexing_of(known.indexing),
        .cache = known.cache,
        .system = known.system != 0,
    };
    if (symbol_store_open(&store, &made->store, &fault) != ERR_NONE) {
        free(made);
        return report(&fault, error);
    }
    *symbols = made;
    return TWINSTACK_OK;
}

void twinstack_close(struct twinstack_symbols *symbols)
{
    if (symbols == NULL)
        return;
    symbol_store_close(symbols->store);
    free(symbols);
}

static struct twinstack_stack *new_stack(void)
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

/* An id as the store compares it; false: too long to be one. */
static bool copy_id(const char *id, char *out, size_t out_bytes)
{
    const size_t length = id != NULL ? strlen(id) : 0;

    if (length >= out_bytes)
        return false;
    if (length > 0)
        memcpy(out, id, length + 1);
    return true;
}

/* The element at INDEX of an array whose elements may be of another version's size. */
static struct twinstack_address known_address(const struct twinstack_address *first, uint32_t index)
{
    struct twinstack_address known = {0};
    const char *given = (const char *)first + (size_t)index * first->size;

    memcpy(&known, given, first->size < sizeof known ? first->size : sizeof known);
    return known;
}

static bool make_frame(const struct twinstack_address *first, uint32_t index, struct arena *keep,
                       struct frame *out)
{
    const struct twinstack_address known = known_address(first, index);
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
    return module->name != NULL &&
           copy_id(known.debug_id, module->debug_id, sizeof module->debug_id) &&
           copy_id(known.code_id, module->code_id, sizeof module->code_id);
}

enum twinstack_status twinstack_resolve(struct twinstack_symbols *symbols,
                                        const struct twinstack_address *addresses, uint32_t count,
                                        struct twinstack_stack **stack,
                                        struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;
    struct stack in = {.state = STACK_OK, .frame_count = count};

    *stack = NULL;
    struct twinstack_stack *made = new_stack();
    if (made == NULL)
        return refuse(ERR_MEMORY, "stack", error);
    in.frames = ARENA_ARRAY(&made->keep, (size_t)count + 1, struct frame);
    if (in.frames == NULL) {
        twinstack_stack_free(made);
        return refuse(ERR_MEMORY, "stack", error);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!make_frame(addresses, i, &made->keep, &in.frames[i])) {
            twinstack_stack_free(made);
            return refuse(ERR_USAGE, "address without a module, or with an id of another form",
                          error);
        }
    if (symbol_resolve_stack(symbols->store, &in, &made->keep, &made->stack, &fault) != ERR_NONE) {
        twinstack_stack_free(made);
        return report(&fault, error);
    }
    *stack = made;
    return TWINSTACK_OK;
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

enum twinstack_status twinstack_dump_open(struct twinstack_symbols *symbols, const char *path,
                                          struct twinstack_dump **dump,
                                          struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    *dump = NULL;
    struct twinstack_dump *made = calloc(1, sizeof *made);
    if (made == NULL)
        return refuse(ERR_MEMORY, "dump", error);
    arena_init(&made->keep, 0);
    made->store = symbols != NULL ? symbols->store : NULL;
    if (dump_open(path, made->store, &made->keep, &made->session, &fault) != ERR_NONE) {
        arena_free(&made->keep);
        free(made);
        return report(&fault, error);
    }
    *dump = made;
    return TWINSTACK_OK;
}

void twinstack_dump_close(struct twinstack_dump *dump)
{
    if (dump == NULL)
        return;
    dump_close(dump->session);
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
    struct twinstack_stack *made = new_stack();
    if (made == NULL)
        return refuse(ERR_MEMORY, "stack", error);
    if (dump_thread_stack(dump->session, thread_id, dump->store, &made->keep, &made->stack,
                          &fault) != ERR_NONE) {
        twinstack_stack_free(made);
        return report(&fault, error);
    }
    *stack = made;
    return TWINSTACK_OK;
}
