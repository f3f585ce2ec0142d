/* Looks up one offset in an image without a PDB; see image_names.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "symbol/symbol_object.h"

#define NO_END ((uint64_t)UINT32_MAX + 1)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of a row of the function table: {begin, end, unwind} on x64, {begin, unwind} on arm64; 0:
 * other processors, whose rows are not read. */
static uint32_t row_bytes(const struct pe *pe)
{
    switch (pe->machine) {
    case PE_MACHINE_X64:
        return 12;
    case PE_MACHINE_ARM64:
        return 8;
    default:
        return 0;
    }
}

static const uint8_t *function_table(const struct pe *pe, uint32_t *rows)
{
    const struct pe_directory *table = &pe->directories[PE_DIR_EXCEPTION];
    const uint32_t bytes = row_bytes(pe);
    *rows = bytes != 0 ? table->bytes / bytes : 0;
    return *rows > 0 ? pe_at(pe, table->rva, *rows * bytes) : NULL;
}

/* Where the function of ROW ends. On arm64 its unwind data has the number of instructions: packed
 * in 11 bits of the row, or in 18 bits of what the row leads to.
 * Source: https://learn.microsoft.com/cpp/build/arm64-exception-handling */
static uint64_t function_end(const struct pe *pe, const uint8_t *row)
{
    const uint32_t word = load_u32(row + 4);
    if (pe->machine == PE_MACHINE_X64)
        return word;
    if ((word & 3) != 0)
        return load_u32(row) + (uint64_t)(word >> 2 & 0x7ff) * 4;
    const uint8_t *data = pe_at(pe, word, 4);
    return data != NULL ? load_u32(row) + (uint64_t)(load_u32(data) & 0x3ffff) * 4 : NO_END;
}

/* A table that is not in order gives answers that depend on where one starts to search. */
void object_count_functions(struct symbol_object *object)
{
    uint32_t rows = 0;
    const uint8_t *at =
        object->image.kind == OBJECT_PE ? function_table(&object->image.as.pe, &rows) : NULL;
    if (rows > 0 && at == NULL) { /* a debug file has no bytes of it */
        const struct pe *pe = &object->image.as.pe;
        struct pe_section section;
        object->damaged = object->damaged ||
                          !pe_section_of_rva(pe, pe->directories[PE_DIR_EXCEPTION].rva, &section) ||
                          section.raw_bytes > 0;
    }
    const size_t bytes = at != NULL ? row_bytes(&object->image.as.pe) : 0;
    for (uint32_t i = 1; at != NULL && i < rows; i++)
        if (load_u32(at + i * bytes) < load_u32(at + (i - 1) * bytes))
            return;
    object->function_rows = at != NULL ? rows : 0;
}

/* Where the function around RVA starts (0: the table has none), and in *end where that changes. */
static uint32_t function_start(const struct symbol_object *object, uint32_t rva, uint64_t *end)
{
    uint32_t low = 0, rows;
    uint32_t high = object->function_rows;
    const struct pe *pe = &object->image.as.pe; /* if there are rows */
    const uint8_t *at = high > 0 ? function_table(pe, &rows) : NULL;
    const size_t bytes = at != NULL ? row_bytes(pe) : 0;
    const uint32_t count = high;

    if (at == NULL)
        return 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (load_u32(at + middle * bytes) <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count)
        *end = least(*end, load_u32(at + low * bytes));
    if (low == 0)
        return 0;
    const uint8_t *row = at + (low - 1) * bytes;
    const uint64_t row_end = function_end(pe, row);
    if (row_end <= rva)
        return 0;
    *end = least(*end, row_end);
    return load_u32(row);
}

/* The number of ranges of code that start at or before OFFSET. */
static uint32_t ranges_before(const struct symbol_object *object, uint32_t offset)
{
    return ARRAY_UPPER(object->code.code, object->code.code_count, start_va,
                       object->code.base_va + offset);
}

/* The range of code that OFFSET lies in; NULL: none. */
static const struct object_range *code_around(const struct symbol_object *object, uint32_t offset)
{
    const uint32_t low = ranges_before(object, offset);
    return low > 0 && object->code.base_va + offset < object->code.code[low - 1].end_va
               ? &object->code.code[low - 1]
               : NULL;
}

/* Where the next range of code starts. */
static uint64_t next_code(const struct symbol_object *object, uint32_t offset)
{
    const uint32_t low = ranges_before(object, offset);
    return low < object->code.code_count ? object->code.code[low].start_va - object->code.base_va
                                         : NO_END;
}

/* True when a symbol without a size can be the name of the code at OFFSET of a Mach-O image: by the
 * list of function starts, no other function is between them. */
static enum symbols_from macho_reach(const struct symbol_object *object,
                                     const struct object_symbol *symbol, uint32_t offset,
                                     uint64_t *end)
{
    const uint32_t low = array_upper(object->starts, object->start_count, sizeof *object->starts,
                                     sizeof *object->starts, offset);
    if (low < object->start_count)
        *end = least(*end, object->starts[low]);
    return low > 0 && object->starts[low - 1] <= symbol->offset ? SYMBOLS_SYMTAB : SYMBOLS_NEAREST;
}

/* The same for a PE image, by its function table. A table of all symbols also names what follows a
 * function, which is padding. After an exported one there may be others, whose names are not known:
 * those without a row call none. */
static bool pe_reach(const struct symbol_object *object, const struct object_symbol *symbol,
                     uint32_t offset, bool exported, uint64_t *end)
{
    const uint32_t start = function_start(object, offset, end);
    uint64_t of_symbol = NO_END;
    if (start != 0)
        return symbol->offset >= start;
    if (offset - symbol->offset >= OBJECT_EXPORT_BYTES ||
        (exported && function_start(object, (uint32_t)symbol->offset, &of_symbol) != 0))
        return false; /* the answer stays until the next symbol, or the next function */
    *end = least(*end, (uint64_t)symbol->offset + OBJECT_EXPORT_BYTES);
    return true;
}

/* The symbol that names the code at OFFSET; NULL: none. *end: the latest offset at which that
 * changes. */
static const struct object_symbol *symbol_at(const struct symbol_object *object,
                                             const struct object_symbols *symbols, uint32_t offset,
                                             enum symbols_from *from, uint64_t *end)
{
    const struct object_symbol *symbol = object_symbol_before(symbols, offset);
    const struct object_symbol *next = symbol != NULL ? symbol + 1 : symbols->at;
    const struct object_range *code = code_around(object, offset);

    if (next != NULL && next < symbols->at + symbols->count)
        *end = least(*end, next->offset);
    if (code == NULL) { /* a header symbol names only its exact address */
        const bool same = symbol != NULL && symbol->offset == offset;
        *end = same ? (uint64_t)offset + 1 : least(*end, next_code(object, offset));
        return same ? symbol : NULL;
    }
    if (symbol == NULL)
        return NULL;
    *end = least(*end, code->end_va - object->code.base_va);
    *end = least(*end, next_code(object, offset)); /* sections of a damaged file may overlap */
    if (symbol->bytes != 0) {
        const uint64_t symbol_end = (uint64_t)symbol->offset + symbol->bytes;
        if (offset >= symbol_end)
            return NULL;
        *end = least(*end, symbol_end);
        return symbol;
    }
    if (object->code.base_va + symbol->offset < code->start_va)
        return NULL;
    if (object->image.kind == OBJECT_PE)
        return pe_reach(object, symbol, offset, symbols == &object->exports, end) ? symbol : NULL;
    *from = object->image.kind == OBJECT_MACHO ? macho_reach(object, symbol, offset, end)
                                               : SYMBOLS_NEAREST;
    return symbol;
}

/* The piece of the debug map around OFFSET; NULL: none, and *end is where the next one starts. */
static const struct object_piece *piece_at(const struct symbol_object *object, uint32_t offset,
                                           uint64_t *end)
{
    const uint32_t low = ARRAY_UPPER(object->pieces, object->piece_count, start, offset);
    if (low < object->piece_count)
        *end = least(*end, object->pieces[low].start);
    if (low == 0 || offset - object->pieces[low - 1].start >= object->pieces[low - 1].bytes)
        return NULL;
    const struct object_piece *piece = &object->pieces[low - 1];
    *end = least(*end, (uint64_t)piece->start + piece->bytes);
    return piece;
}

/* The part that covers OFFSET, and the offset within that part; NULL: none. */
static const struct object_part *part_at(const struct symbol_object *object, uint32_t offset,
                                         uint32_t *part_offset, uint64_t *end)
{
    const struct object_piece *piece = NULL;

    *part_offset = offset;
    if (object->pieces == NULL)
        return object->part_count > 0 ? &object->parts[0] : NULL;
    piece = piece_at(object, offset, end);
    if (piece == NULL)
        return NULL;
    *part_offset = piece->part_start + (offset - piece->start);
    return &object->parts[piece->part];
}

/* What is known about one offset. */
struct object_answer {
    const struct dwarf_scope *scope; /* NULL: no function of DWARF */
    uint32_t scope_shift;            /* add this to a scope's start to get an offset in the image */
    const char *file;
    uint32_t line;
    const struct object_symbol *symbol; /* where scope is NULL; NULL: none */
    enum symbols_from from;
    uint64_t end;     /* the first offset at which the answer may differ */
    bool damaged;     /* what applies here is not all readable */
    bool lacks_split; /* or is in a .dwo file that was not found */
};
static void answer_at(struct symbol_object *object, uint32_t offset, struct object_answer *out)
{
    uint32_t part_offset;

    *out = (struct object_answer){.end = NO_END};
    const struct object_part *part = part_at(object, offset, &part_offset, &out->end);
    out->damaged = object->damaged || (part != NULL && part->damaged);
    if (part != NULL && part->dwarf != NULL) {
        struct dwarf_place place;
        dwarf_at(part->dwarf, part_offset, &place);
        out->damaged = out->damaged || place.damaged;
        out->lacks_split = place.lacks_split;
        out->scope = place.scope;
        out->scope_shift = offset - part_offset;
        out->file = place.file;
        out->line = place.line;
        out->from = SYMBOLS_DWARF;
        out->end = least(out->end, (uint64_t)offset + (place.end - part_offset));
    }
    if (out->scope != NULL)
        return;
    enum symbols_from from = object->image.kind == OBJECT_PE ? SYMBOLS_COFF : SYMBOLS_SYMTAB;
    out->symbol = symbol_at(object, object_symbols_of(object), offset, &from, &out->end);
    if (out->symbol == NULL && object->exports.count > 0) {
        from = SYMBOLS_EXPORT;
        out->symbol = symbol_at(object, &object->exports, offset, &from, &out->end);
    }
    if (out->symbol != NULL)
        out->from = from;
}

static bool is_x86_pe(const struct symbol_object *object)
{
    return object->image.kind == OBJECT_PE && object->image.as.pe.machine == PE_MACHINE_X86;
}

/* A C++ name with the decoration of its calling convention around it, as clang writes it for 32-bit
 * Windows: "__Z1fi@4", "@_Z1fi@4". */
static bool has_wrapped_mangling(const char *name)
{
    return (strncmp(name, "__Z", 3) == 0 || strncmp(name, "@_Z", 3) == 0) &&
           strchr(name + 1, '@') != NULL;
}

enum name_origin { OF_TABLE, OF_DWARF, OF_ADA };

/* Symbol tables of 32-bit Windows decorate every name, DWARF decorates none but those of clang. */
static const char *readable_name(struct symbol_object *object, const char *name,
                                 enum name_origin origin)
{
    const bool x86 = is_x86_pe(object) && (origin == OF_TABLE || has_wrapped_mangling(name));
    char text[UNDECORATED_BYTES];

    const uint32_t hash = (uint32_t)((uintptr_t)name * 0x9e3779b1u >> 8);
    uint32_t at = hash;
    struct slot *slot;
    if (!ARRAY_ROOM(object->readable, object->readable_room,
                    (uint64_t)object->readable_count + 1) ||
        !slots_reserve(&object->by_linker, 256))
        return name;
    while ((slot = slots_next(&object->by_linker, hash, &at))->row != 0)
        if (object->readable[slot->row - 1].linker == name)
            return object->readable[slot->row - 1].readable;
    const size_t bytes = origin == OF_ADA && object->names != NAMES_DECORATED
                             ? undecorate_ada(name, text, sizeof text)
                             : undecorate(name, object->names, x86, text, sizeof text);
    const char *copy = bytes > 0 ? arena_text(&object->arena, text, bytes) : NULL;
    if (copy == NULL)
        copy = name;
    object->readable[object->readable_count++] = (struct readable_name){name, copy};
    slots_take(&object->by_linker, slot, hash, object->readable_count);
    return copy;
}

/* The readable name of a scope of DWARF; NULL: it has no name. */
static const char *scope_name(struct symbol_object *object, const struct dwarf_scope *scope)
{
    struct scope_name *known = &object->scope_names[(uintptr_t)scope / sizeof *scope % SCOPE_NAMES];
    if (known->scope == scope)
        return known->name;
    const char *name = dwarf_scope_name(scope);
    *known =
        (struct scope_name){scope, name != NULL && name[0] != '\0'
                                       ? readable_name(object, name, scope->ada ? OF_ADA : OF_DWARF)
                                       : NULL};
    return known->name;
}

/* The same for a symbol of a table; NULL: it has no name, or SYMBOL is NULL. */
static const char *symbol_name(struct symbol_object *object, const struct object_symbol *symbol)
{
    return symbol != NULL && symbol->name[0] != '\0' ? readable_name(object, symbol->name, OF_TABLE)
                                                     : NULL;
}

static bool is_mangled(const char *name)
{
    return name[0] == '?' || (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')) ||
           (name[0] == '_' && name[1] == 'D' && name[2] >= '0' && name[2] <= '9');
}

/* The name of a symbol table, with the decoration of 32-bit Windows. */
static bool is_mangled_symbol(const struct symbol_object *object, const char *name)
{
    return is_mangled(name) ||
           (is_x86_pe(object) && (name[0] == '_' || name[0] == '@') && is_mangled(name + 1));
}

/* The readable name of the function around OFFSET: from DWARF, or from the symbol if DWARF has no
 * name or one without its enclosing scopes. *end is lowered to where that
 * changes. */
static const char *function_name(struct symbol_object *object, const struct object_answer *answer,
                                 const struct dwarf_scope *function, uint32_t offset, uint64_t *end)
{
    enum symbols_from from;
    const struct object_symbol *symbol = NULL;
    const char *name = dwarf_scope_name(function);

    if (name == NULL) {
        symbol = symbol_at(object, object_symbols_of(object), offset, &from, end);
        return symbol_name(object, symbol);
    }
    if (!is_mangled(name) && !function->is_linked_so) {
        const uint32_t start = function->start + answer->scope_shift;
        symbol = object_symbol_before(object_symbols_of(object), start);
        if (symbol != NULL && symbol->offset == start && is_mangled_symbol(object, symbol->name))
            return symbol_name(object, symbol);
    }
    return scope_name(object, function);
}

static const char *known_file(const char *file)
{
    return file != NULL && file[0] != '\0' ? file : NULL;
}

static void object_piece(struct symbol_object *object, struct code_piece *out)
{
    const uint32_t offset = out->start;
    struct symbol_frame *frames = out->frames;
    struct object_answer answer;
    uint32_t count = 0;

    answer_at(object, offset, &answer);
    const char *file = answer.file;
    const struct dwarf_scope *s = answer.scope;
    uint32_t line = answer.line, start = 0;
    for (; s != NULL && count < SYMBOL_FRAMES_MAX; s = s->around) {
        const char *name = s->around != NULL
                               ? scope_name(object, s)
                               : function_name(object, &answer, s, offset, &answer.end);
        frames[count++] = (struct symbol_frame){.function = name,
                                                .file = known_file(file),
                                                .line = line,
                                                .inlined = s->around != NULL,
                                                .from = SYMBOLS_DWARF};
        file = s->call_file;
        line = s->call_line;
        start = s->start + answer.scope_shift;
    }
    if (count == 0 && (answer.symbol != NULL || answer.line != 0)) {
        const struct object_symbol *symbol = answer.symbol;
        start = symbol != NULL ? (uint32_t)symbol->offset : offset;
        frames[count++] = (struct symbol_frame){.function = symbol_name(object, symbol),
                                                .file = known_file(file),
                                                .line = line,
                                                .from = answer.from};
    }
    enum frame_note note = answer.lacks_split ? NOTE_SPLIT_MISSING : NOTE_NONE;
    if (answer.damaged)
        note = NOTE_IMAGE_PART_DAMAGED;
    for (uint32_t i = 0; i < count; i++) {
        frames[i].distance = offset - start;
        frames[i].note = note;
    }
    out->end = answer.end;
    out->count = count;
    out->has_start = answer.scope != NULL || answer.symbol != NULL;
    out->partial = answer.damaged || answer.lacks_split;
    out->cut = s != NULL;
}

uint32_t symbol_object_lookup(struct symbol_object *object, uint32_t offset,
                              struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    struct code_piece piece = {.start = offset, .frames = out};
    object_piece(object, &piece);
    return piece.count;
}

/* Ranges before the base have no offsets. */
static bool object_range(const void *self, uint32_t number, uint64_t *from, uint64_t *to)
{
    const struct object_debug *code = &((const struct symbol_object *)self)->code;
    const uint32_t below =
        code->base_va == 0 ? 0
                           : ARRAY_UPPER(code->code, code->code_count, start_va, code->base_va - 1);
    if (number >= code->code_count - below)
        return false;
    *from = code->code[below + number].start_va - code->base_va;
    *to = code->code[below + number].end_va - code->base_va;
    return true;
}

static bool object_at(void *self, struct code_piece *piece)
{
    object_piece(self, piece);
    return true;
}

void symbol_object_pieces(struct symbol_object *object, struct code_pieces *out)
{
    *out = (struct code_pieces){object, object_range, object_at, NULL};
}

uint32_t symbol_object_lines(struct symbol_object *object, uint32_t offset, uint32_t *out,
                             uint32_t max)
{
    uint64_t end = 0;
    uint32_t part_offset;
    const struct object_part *part = part_at(object, offset, &part_offset, &end);
    return part != NULL && part->dwarf != NULL ? dwarf_lines(part->dwarf, part_offset, out, max)
                                               : 0;
}
