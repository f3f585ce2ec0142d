/* From physical frames to logical ones; see symbol_resolve_stack() in symbol_store.h. */
#include <string.h>

#include "symbol/store_lookup.h"
#include "symbol/store_managed.h"

enum { MODULES_REMEMBERED = 32 };

/* The modules of one stack: few, and they recur. */
struct stack_modules {
    const struct module *modules[MODULES_REMEMBERED];
    struct source_view views[MODULES_REMEMBERED];
    uint32_t count;
};

struct resolved {
    struct frame *frames; /* in KEEP */
    uint32_t count, room;
};

static const struct source_view *view_of(struct symbol_store *store, const struct module *module,
                                         uint32_t frame_count, struct stack_modules *known)
{
    for (uint32_t i = 0; i < known->count; i++)
        if (known->modules[i] == module)
            return &known->views[i];
    const uint32_t at = known->count < MODULES_REMEMBERED ? known->count++ : MODULES_REMEMBERED - 1;
    known->modules[at] = module;
    known->views[at] = store_view(symbol_store_module(store, module), frame_count);
    return &known->views[at];
}

static struct frame *add_frames(struct resolved *out, uint32_t count, struct arena *keep)
{
    if (!ARENA_ROOM(keep, out->frames, out->room, (uint64_t)out->count + count))
        return NULL;
    struct frame *at = out->frames + out->count;
    out->count += count;
    return at;
}

/* Notes why a physical frame has no name. */
static void set_unresolved(struct frame *frame, const struct symbol_module *sources)
{
    frame->symbols = sources->without;
    frame->note = sources->note;
    if (frame->note == NOTE_NONE)
        frame->note = NOTE_NOT_COVERED;
}

/* Bit 0 of an address of Thumb code is the processor's mode, not a part of the address. */
static uint64_t lookup_offset(const struct symbol_module *sources, const struct frame *in)
{
    struct frame even = *in;
    if (in->method_token != 0)
        return frame_lookup_offset(in);
    if ((sources->names != NULL && sources->names->id.arch == ARCH_ARM) ||
        (sources->image != NULL && sources->image->id.arch == ARCH_ARM))
        even.offset &= ~(uint64_t)1;
    return frame_lookup_offset(&even);
}

/* True for answers of lookups that set a frame's note. */
static bool has_own_note(enum symbols_from from)
{
    static const bool sets[SYMBOLS_COUNT] = {
        [SYMBOLS_PPDB] = true,   [SYMBOLS_PDB] = true,     [SYMBOLS_PDB_PUBLIC] = true,
        [SYMBOLS_DWARF] = true,  [SYMBOLS_SYMTAB] = true,  [SYMBOLS_COFF] = true,
        [SYMBOLS_EXPORT] = true, [SYMBOLS_NEAREST] = true,
    };
    return sets[from];
}

/* Generic code has a name of its own for the type arguments that it was compiled for. */
static const char *name_of(const struct source_view *view, const struct frame *in,
                           const struct symbol_frame *found)
{
    struct store_managed *managed = view->sources->managed;
    const char *name = in->type_arguments != NULL && managed != NULL && found->from == SYMBOLS_PPDB
                           ? store_managed_instance(managed, in->method_token, in->type_arguments)
                           : NULL;
    return name != NULL ? name : found->function;
}

static enum frame_note unnamed_note(const struct symbol_module *sources)
{
    struct source *names = sources->names;
    if (sources->note != NOTE_NONE)
        return sources->note;
    return names != NULL && names->kind->unnamed != NULL ? names->kind->unnamed(names)
                                                         : NOTE_CODE_UNNAMED;
}

static bool resolve_frame(const struct source_view *view, const struct frame *in,
                          struct arena *keep, struct resolved *out)
{
    struct symbol_frame found[SYMBOL_FRAMES_MAX];
    uint32_t count = store_view_lookup(view, lookup_offset(view->sources, in), found);
    if (count == 1 && found[0].function == NULL && found[0].line == 0)
        count = 0; /* a known place without a name is not an answer */
    struct frame *to = add_frames(out, count > 0 ? count : 1, keep);

    if (to == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = *in;
        to[i].inline_depth = (uint16_t)(count - 1 - i);
        to[i].found_by = i + 1 < count ? FOUND_INLINED : in->found_by;
        to[i].symbols = found[i].from;
        to[i].function = name_of(view, in, &found[i]);
        to[i].file = found[i].file;
        to[i].line = found[i].line;
        to[i].symbol_distance = found[i].distance;
        to[i].compiland = found[i].compiland;
        to[i].identity = view->sources->state;
        if (found[i].function == NULL && in->note == NOTE_NONE)
            to[i].note = unnamed_note(view->sources);
        else if (found[i].from != SYMBOLS_PDB && found[i].from != SYMBOLS_CSV &&
                 in->note == NOTE_NONE)
            to[i].note = view->sources->note;
        if (has_own_note(found[i].from) && found[i].note != NOTE_NONE && in->note == NOTE_NONE)
            to[i].note = found[i].note;
    }
    if (count == 0) {
        *to = *in;
        to->identity = view->sources->state;
        set_unresolved(to, view->sources);
    }
    return true;
}

void symbol_load_modules(struct symbol_store *store, const struct stack *stack)
{
    for (uint32_t i = 0; i < stack->frame_count; i++)
        if (stack->frames[i].module != NULL)
            (void)symbol_store_module(store, stack->frames[i].module);
}

enum status symbol_resolve_stack(struct symbol_store *store, const struct stack *in,
                                 struct arena *keep, struct stack *out, struct fault *fault)
{
    struct stack_modules known;
    struct resolved resolved = {NULL, 0, 0};
    bool enough = true;

    known.count = 0;
    symbol_store_expect(store, in);
    for (uint32_t i = 0; enough && i < in->frame_count; i++) {
        const struct frame *frame = &in->frames[i];
        if (frame->module == NULL || frame->symbols == SYMBOLS_JIT) {
            struct frame *to = add_frames(&resolved, 1, keep);
            enough = to != NULL;
            if (to != NULL)
                *to = *frame;
            continue;
        }
        enough = resolve_frame(view_of(store, frame->module, in->frame_count, &known), frame, keep,
                               &resolved);
    }
    if (!enough)
        return fault_no_memory(fault, "resolved stack");
    arena_trim(keep, resolved.frames, &resolved.room, resolved.count, sizeof *resolved.frames);
    *out = *in;
    out->frames = resolved.frames;
    out->frame_count = resolved.count;
    return ERR_NONE;
}
