/* An image without a PDB as a Breakpad symbol file; see export.h. It asks symbol_object_at() what
 * applies from an offset on, and goes on where that ends. */
#include <string.h>

#include "base/limits.h"
#include "symbol/breakpad_writer.h"
#include "symbol/export.h"
#include "symbol/object_parts.h"

/* The function that is being written. */
struct open_function {
    const char *name;    /* NULL: none is open */
    uint32_t start, end; /* END stays: symbols before it say nothing new */
};

static void close_function(struct breakpad_writer *w, struct open_function *open)
{
    if (open->name != NULL && open->end > open->start)
        breakpad_function_end(w, open->start, open->end - open->start, open->name);
    open->name = NULL;
}

/* One piece: code of the function that is open, of another one, or after a symbol. */
static void add_piece(struct breakpad_writer *w, struct open_function *open,
                      const struct symbol_frame *frames, uint32_t count, uint32_t at, uint64_t end,
                      uint64_t *last_public)
{
    const char *name = count > 0 ? frames[count - 1].function : NULL;
    const bool function = name != NULL && frames[count - 1].from == SYMBOLS_DWARF;
    const bool starts = function && frames[count - 1].distance == 0;
    if (open->name != NULL && (!function || starts || strcmp(open->name, name) != 0))
        close_function(w, open);
    if (function) {
        if (open->name == NULL) {
            *open = (struct open_function){name, at, at};
            breakpad_function_begin(w);
        }
        breakpad_segment(w, frames, count, at);
        open->end = end < UINT32_MAX ? (uint32_t)end : UINT32_MAX;
    } else if (name != NULL && at - frames[count - 1].distance >= open->end &&
               *last_public != at - frames[count - 1].distance) {
        *last_public = at - frames[count - 1].distance;
        breakpad_public(w, (uint32_t)*last_public, name);
    }
}

static enum status add_pieces(struct breakpad_writer *w, struct symbol_object *object,
                              struct fault *fault)
{
    const struct object_debug *code = &object->code;
    struct open_function open = {NULL, 0, 0};
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    uint64_t last_public = UINT64_MAX;

    for (uint32_t i = 0; i < code->code_count; i++) {
        if (code->code[i].start_va < code->base_va)
            continue;
        const uint64_t from = code->code[i].start_va - code->base_va;
        const uint64_t to = code->code[i].end_va - code->base_va;
        if (to > UINT32_MAX || to - from > LIMIT_INDEX_CODE_BYTES)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code of an image");
        for (uint64_t at = from; at < to && !breakpad_failed(w);) {
            struct object_answer answer;
            symbol_object_at(object, (uint32_t)at, &answer);
            const uint64_t end = answer.end > at ? (answer.end < to ? answer.end : to) : at + 1;
            add_piece(w, &open, frames, symbol_object_lookup(object, (uint32_t)at, frames),
                      (uint32_t)at, end, &last_public);
            at = end;
        }
        close_function(w, &open);
    }
    return breakpad_failed(w) ? fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "Breakpad symbols")
                              : ERR_NONE;
}

/* Breakpad has its own word for 32-bit x86 and one for all 64-bit ARM. */
static const char *arch_name(enum object_arch arch)
{
    const char *name = object_arch_name(arch);
    switch (arch) {
    case ARCH_I386:
        return "x86";
    case ARCH_ARM64E:
        return "arm64";
    case ARCH_X86_64H:
        return "x86_64";
    default:
        return name != NULL ? name : "unknown";
    }
}

static const char *os_name(enum object_kind kind)
{
    return kind == OBJECT_PE ? "windows" : kind == OBJECT_MACHO ? "mac" : "Linux";
}

enum status symbol_export_object(struct symbol_object *object, enum object_arch arch,
                                 const char *name, FILE *out, struct fault *fault)
{
    static const char unknown[] = "000000000000000000000000000000000";
    const struct object_file *file = &object->image;
    struct breakpad_writer *writer = breakpad_writer_new();
    char code_id[CODE_ID_BYTES];
    struct breakpad_head head = {.os = os_name(file->kind),
                                 .arch = arch_name(arch),
                                 .id = file->debug_id[0] != '\0' ? file->debug_id : unknown,
                                 .name = name};

    if (writer == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "Breakpad symbols");
    if (file->kind == OBJECT_PE) {
        pe_code_id(&file->as.pe, code_id);
        head.code_id = code_id;
        head.image_name = name;
    } else if (file->id[0] != '\0') {
        head.code_id = file->id;
    }
    if (add_pieces(writer, object, fault) == ERR_NONE)
        breakpad_writer_print(writer, &head, out);
    breakpad_writer_close(writer);
    if (ferror(out) != 0)
        fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "output");
    return fault->code;
}
