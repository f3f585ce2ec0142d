/* See types.h.  Types as text, as Microsoft undecorates them (symbol/undecorate.h): "const" after
 * what it qualifies, a blank before "*" and "&", "(void)" for no parameters. */
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "format/pdb/types.h"

enum leaf {
    LF_MODIFIER = 0x1001,
    LF_POINTER = 0x1002,
    LF_PROCEDURE = 0x1008,
    LF_MFUNCTION = 0x1009,
    LF_ARGLIST = 0x1201,
    LF_ARRAY_ST = 0x1003,
    LF_CLASS_ST = 0x1004,
    LF_STRUCTURE_ST = 0x1005,
    LF_UNION_ST = 0x1006,
    LF_ENUM_ST = 0x1007,
    LF_ARRAY = 0x1503,
    LF_CLASS = 0x1504,
    LF_STRUCTURE = 0x1505,
    LF_UNION = 0x1506,
    LF_ENUM = 0x1507,
    LF_INTERFACE = 0x1519,
    LF_FUNC_ID = 0x1601,
    LF_MFUNC_ID = 0x1602,
    LF_STRING_ID = 0x1605,
    LF_CLASS2 = 0x1608,
    LF_STRUCTURE2 = 0x1609,
    LF_UNION2 = 0x160a,
    LF_INTERFACE2 = 0x160b,
};

enum {
    POINTER_CONST = 1 << 10,
    POINTER_VOLATILE = 1 << 9,
    MODIFIER_CONST = 1,
    MODIFIER_VOLATILE = 2
};

/* Bytes of a numeric leaf: small numbers are stored as they are, others have a kind. */
static uint32_t numeric_bytes(const struct pdb_type *type, uint32_t at)
{
    if (at + 2 > type->data.bytes)
        return (uint32_t)type->data.bytes;
    switch (view_u16(type->data, at)) {
    case 0x8000:
        return 3;
    case 0x8001:
    case 0x8002:
        return 4;
    case 0x8003:
    case 0x8004:
        return 6;
    case 0x8009:
    case 0x800a:
        return 10;
    default:
        return 2;
    }
}

/* The name of a class, union or enum; its length, or 0. It follows the size, in the newest kinds
 * the count of members and the size. No public header has those kinds; tools that read the PDBs of
 * Windows' kernel (Visual Studio 2019 16.8 and newer) agree on them. */
static uint32_t name_of(const struct pdb_type *type, const char **name)
{
    uint32_t at, numbers = type->kind >= LF_CLASS2 ? 2 : 1;
    const bool pascal = type->kind < LF_ARRAY;
    switch (type->kind) {
    case LF_CLASS_ST:
    case LF_STRUCTURE_ST:
    case LF_CLASS:
    case LF_STRUCTURE:
    case LF_INTERFACE:
    case LF_CLASS2:
    case LF_STRUCTURE2:
    case LF_INTERFACE2:
        at = 16;
        break;
    case LF_UNION_ST:
    case LF_UNION:
    case LF_UNION2:
        at = 8;
        break;
    case LF_ENUM_ST:
    case LF_ENUM:
        at = 12;
        numbers = 0;
        break;
    default:
        return 0;
    }
    for (; numbers > 0; numbers--)
        at += numeric_bytes(type, at);
    if (at >= type->data.bytes)
        return 0;
    *name = (const char *)type->data.data + at;
    if (pascal) {
        *name += 1;
        return type->data.data[at] < type->data.bytes - at ? type->data.data[at] : 0;
    }
    const void *nul = memchr(*name, 0, type->data.bytes - at);
    return nul != NULL ? (uint32_t)((const char *)nul - *name) : 0;
}

/* The name of a class, union or enum, scopes included; "" for anything else. */
static const char *pdb_type_name(const struct pdb_types *types, uint32_t index,
                                 struct arena *copies)
{
    struct pdb_type type;
    const char *name = "";
    uint32_t bytes;
    if (!pdb_type(types, index, copies, &type) || (bytes = name_of(&type, &name)) == 0)
        return "";
    if (type.kind >= LF_ARRAY)
        return name;
    const char *text = arena_text(copies, name, bytes);
    return text != NULL ? text : "";
}

static const char *simple_name(uint32_t kind)
{
    static const struct {
        uint8_t kind;
        const char *name;
    } names[] = {
        {0x03, "void"},
        {0x08, "HRESULT"},
        {0x10, "signed char"},
        {0x11, "short"},
        {0x12, "long"},
        {0x13, "__int64"},
        {0x14, "__int128"},
        {0x20, "unsigned char"},
        {0x21, "unsigned short"},
        {0x22, "unsigned long"},
        {0x23, "unsigned __int64"},
        {0x24, "unsigned __int128"},
        {0x30, "bool"},
        {0x31, "bool16"},
        {0x32, "bool32"},
        {0x33, "bool64"},
        {0x40, "float"},
        {0x41, "double"},
        {0x42, "long double"},
        {0x43, "__float128"},
        {0x44, "float48"},
        {0x45, "float"},
        {0x46, "_Float16"},
        {0x50, "_Complex float"},
        {0x51, "_Complex double"},
        {0x68, "__int8"},
        {0x69, "unsigned __int8"},
        {0x70, "char"},
        {0x71, "wchar_t"},
        {0x72, "short"},
        {0x73, "unsigned short"},
        {0x74, "int"},
        {0x75, "unsigned int"},
        {0x76, "__int64"},
        {0x77, "unsigned __int64"},
        {0x78, "__int128"},
        {0x79, "unsigned __int128"},
        {0x7a, "char16_t"},
        {0x7b, "char32_t"},
        {0x7c, "char8_t"},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i].kind == kind)
            return names[i].name;
    return NULL;
}

struct type_writer {
    const struct pdb_types *types;
    struct arena *scratch;
    char *out;
    size_t bytes, at;
    uint32_t steps; /* steps left: bounds the cost of hostile types */
    size_t
        inside; /* where to insert a pointer to the last type written: "void (*|)()"; 0: after it */
    bool failed;
};

static void put(struct type_writer *w, const char *text, size_t bytes)
{
    if (w->failed || bytes >= w->bytes - w->at) {
        w->failed = true;
        return;
    }
    memcpy(w->out + w->at, text, bytes);
    w->at += bytes;
    w->out[w->at] = '\0';
}

static void put_string(struct type_writer *w, const char *text)
{
    put(w, text, strlen(text));
}

/* Adds a qualifier of the pointer itself after it, or inside the parentheses of a pointer to a
 * function. */
static void put_qualifier(struct type_writer *w, const char *mark)
{
    const size_t bytes = strlen(mark);
    if (w->inside == 0 || w->failed || bytes >= w->bytes - w->at) {
        put_string(w, mark);
        return;
    }
    memmove(w->out + w->inside + bytes, w->out + w->inside, w->at - w->inside + 1);
    memcpy(w->out + w->inside, mark, bytes);
    w->inside += bytes;
    w->at += bytes;
}

/* The same for "const" and "volatile". A pointer to a function has no blank before them:
 * "(*const)".
 */
static void put_word(struct type_writer *w, const char *word)
{
    const bool first = w->inside >= 2 && w->out[w->inside - 1] == '*' &&
                       strchr("(:", w->out[w->inside - 2]) != NULL;
    put_qualifier(w, first ? word + 1 : word);
}

/* Adds the mark of a pointer to the last type written. */
static void put_mark(struct type_writer *w, const char *mark)
{
    if (w->inside == 0)
        put_string(w, " ");
    put_qualifier(w, mark);
}

static void put_type(struct type_writer *w, uint32_t index, uint32_t depth);

static void put_arguments(struct type_writer *w, uint32_t list, uint32_t depth)
{
    struct pdb_type args;
    put_string(w, "(");
    if (!pdb_type(w->types, list, w->scratch, &args) || args.kind != LF_ARGLIST ||
        args.data.bytes < 4) {
        w->failed = true;
        return;
    }
    const uint32_t count = view_u32(args.data, 0);
    if (count > (args.data.bytes - 4) / 4) {
        w->failed = true;
        return;
    }
    if (count == 0)
        put_string(w, "void");
    for (uint32_t i = 0; i < count && !w->failed; i++) {
        const uint32_t index = view_u32(args.data, 4 + 4 * i);
        if (i != 0)
            put_string(w, ",");
        if (index == 0)
            put_string(w, "..."); /* no type as the last argument means "..." */
        else
            put_type(w, index, depth + 1);
    }
    put_string(w, ")");
}

/* The function's own "const" is in the type of `this`. */
static bool this_is_const(struct type_writer *w, uint32_t index)
{
    struct pdb_type pointer, modifier;
    return pdb_type(w->types, index, w->scratch, &pointer) && pointer.kind == LF_POINTER &&
           pointer.data.bytes >= 8 &&
           pdb_type(w->types, view_u32(pointer.data, 0), w->scratch, &modifier) &&
           modifier.kind == LF_MODIFIER && modifier.data.bytes >= 6 &&
           (view_u16(modifier.data, 4) & MODIFIER_CONST) != 0;
}

static bool put_parameters(struct type_writer *w, const struct pdb_type *function, uint32_t depth)
{
    if (function->kind == LF_PROCEDURE && function->data.bytes >= 12) {
        put_arguments(w, view_u32(function->data, 8), depth);
        return true;
    }
    if (function->kind != LF_MFUNCTION || function->data.bytes < 20)
        return false;
    put_arguments(w, view_u32(function->data, 16), depth);
    if (this_is_const(w, view_u32(function->data, 8)))
        put_string(w, " const");
    return true;
}

static void put_pointer(struct type_writer *w, const struct pdb_type *pointer, uint32_t depth)
{
    static const char *const marks[] = {"*", "&", "*", "*", "&&"};
    if (pointer->data.bytes < 8) {
        w->failed = true;
        return;
    }
    const uint32_t target = view_u32(pointer->data, 0), attributes = view_u32(pointer->data, 4);
    const uint32_t mode = attributes >> 5 & 7;
    const char *mark = mode < 5 ? marks[mode] : "*";
    const bool member = (mode == 2 || mode == 3) && pointer->data.bytes >= 12;
    struct pdb_type function;
    const bool to_function = pdb_type(w->types, target, w->scratch, &function) &&
                             (function.kind == LF_PROCEDURE || function.kind == LF_MFUNCTION) &&
                             function.data.bytes >= 4;
    put_type(w, to_function ? view_u32(function.data, 0) : target, depth + 1);
    if (!to_function && !member) {
        put_mark(w, mark);
    } else {
        put_string(w, to_function ? " (" : " ");
        if (member) {
            put_type(w, view_u32(pointer->data, 8), depth + 1);
            put_string(w, "::");
        }
        put_string(w, mark);
        w->inside = to_function ? w->at : 0;
    }
    if ((attributes & POINTER_CONST) != 0)
        put_word(w, " const");
    if ((attributes & POINTER_VOLATILE) != 0)
        put_word(w, " volatile");
    if (!to_function)
        return;
    const size_t inside = w->at;
    put_string(w, ")");
    (void)put_parameters(w, &function, depth + 1);
    w->inside = inside;
}

static void put_modifier(struct type_writer *w, const struct pdb_type *type, uint32_t depth)
{
    const uint16_t flags = view_u16(type->data, 4);
    put_type(w, view_u32(type->data, 0), depth + 1);
    if ((flags & MODIFIER_CONST) != 0)
        put_word(w, " const");
    if ((flags & MODIFIER_VOLATILE) != 0)
        put_word(w, " volatile");
}

static void put_simple(struct type_writer *w, uint32_t index)
{
    const char *name = simple_name(index & 0xff);
    if (index == 0x103) { /* a near pointer to void is how nullptr's type is stored */
        put_string(w, "std::nullptr_t");
        return;
    }
    if (name == NULL) {
        w->failed = true;
        return;
    }
    put_string(w, name);
    if ((index & 0xf00) != 0)
        put_string(w, " *");
}

static void put_type(struct type_writer *w, uint32_t index, uint32_t depth)
{
    struct pdb_type type;
    const char *name = NULL;
    if (depth > LIMIT_TYPE_DEPTH || w->steps == 0) {
        w->failed = true;
        return;
    }
    w->steps--;
    w->inside = 0; /* only a pointer to a function sets another position */
    if (index < 0x1000) {
        put_simple(w, index);
        return;
    }
    if (!pdb_type(w->types, index, w->scratch, &type)) {
        w->failed = true;
        return;
    }
    const uint32_t name_bytes = name_of(&type, &name);
    if (name_bytes != 0) {
        put(w, name, name_bytes);
    } else if (type.kind == LF_POINTER) {
        put_pointer(w, &type, depth);
    } else if (type.kind == LF_MODIFIER && type.data.bytes >= 6) {
        put_modifier(w, &type, depth);
    } else if ((type.kind == LF_ARRAY || type.kind == LF_ARRAY_ST) && type.data.bytes >= 4) {
        put_type(w, view_u32(type.data, 0), depth + 1);
        put_qualifier(w, "[]");
    } else if ((type.kind == LF_PROCEDURE || type.kind == LF_MFUNCTION) && type.data.bytes >= 4) {
        put_type(w, view_u32(type.data, 0), depth + 1);
        (void)put_parameters(w, &type, depth + 1);
        w->inside = 0;
    } else {
        w->failed = true;
    }
}

size_t pdb_type_parameters(const struct pdb_types *types, uint32_t function_type,
                           struct arena *scratch, char *out, size_t out_bytes)
{
    struct type_writer w = {types, scratch, out, out_bytes, 0, LIMIT_TYPE_STEPS, 0, false};
    struct pdb_type function;
    out[0] = '\0';
    if (!pdb_type(types, function_type, scratch, &function) || !put_parameters(&w, &function, 0) ||
        w.failed) {
        out[0] = '\0';
        return 0;
    }
    return w.at;
}

static const char *string_at(const struct pdb_type *type, uint32_t at)
{
    if (at >= type->data.bytes || memchr(type->data.data + at, 0, type->data.bytes - at) == NULL)
        return "";
    return (const char *)type->data.data + at;
}

bool pdb_id_function(const struct pdb_types *ids, const struct pdb_types *types, uint32_t id,
                     struct arena *copies, struct pdb_id_name *out)
{
    struct pdb_type record, scope;
    out->scope = "";
    if (!pdb_type(ids, id, copies, &record) || record.data.bytes < 8)
        return false;
    const uint32_t scope_index = view_u32(record.data, 0);
    out->function_type = view_u32(record.data, 4);
    out->name = string_at(&record, 8);
    if (record.kind == LF_FUNC_ID) {
        if (scope_index != 0 && pdb_type(ids, scope_index, copies, &scope) &&
            scope.kind == LF_STRING_ID)
            out->scope = string_at(&scope, 4);
        return true;
    }
    if (record.kind != LF_MFUNC_ID)
        return false;
    out->scope = pdb_type_name(types, scope_index, copies);
    /* Without its class, the name would be that of another function. */
    return out->scope[0] != '\0';
}
