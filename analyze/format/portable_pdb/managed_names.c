/* The names of methods, from tables TypeDef, NestedClass, MethodDef and GenericParam; see
 * managed_image.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "format/portable_pdb/managed_image.h"

enum {
    NAME_BYTES = 4096,
    NESTING_MAX = 32, /* of types in each other, and of types in a signature */
    PARAMETERS_MAX = 256,
    SIGNATURE_GENERIC = 0x10,
    TAG_METHOD = 1, /* of TypeOrMethodDef */
};

/* Type arguments of code; NULL: none are known. */
struct arguments {
    struct metadata_bytes type, method; /* with commas between them */
};

struct name {
    const struct metadata *md;
    const struct arguments *arguments;
    char text[NAME_BYTES];
    size_t bytes;
    uint32_t type, method; /* rows, for the names of generic parameters */
    uint32_t steps;        /* types spelt so far */
};

/* What does not fit is left out. */
static void add(struct name *name, const char *text)
{
    const size_t bytes = strlen(text), room = sizeof name->text - 1 - name->bytes;
    const size_t taken = bytes < room ? bytes : room;
    memcpy(name->text + name->bytes, text, taken);
    name->bytes += taken;
    name->text[name->bytes] = '\0';
}

static void add_bytes(struct name *name, struct metadata_bytes text)
{
    char copy[NAME_BYTES];
    const size_t bytes = text.bytes < sizeof copy - 1 ? text.bytes : sizeof copy - 1;
    memcpy(copy, text.data, bytes);
    copy[bytes] = '\0';
    add(name, copy);
}

static uint32_t enclosing(const struct metadata *md, uint32_t type)
{
    const uint32_t row = metadata_find(md, TABLE_NESTED_CLASS, 0, type);
    return metadata_cell(md, TABLE_NESTED_CLASS, row, 1);
}

static void add_spaced(struct name *name, const char *space, const char *type)
{
    if (space[0] != '\0') {
        add(name, space);
        add(name, ".");
    }
    add(name, type);
}

static void add_type(struct name *name, uint32_t type)
{
    uint32_t chain[NESTING_MAX], depth = 0;
    for (; type != 0 && depth < NESTING_MAX; type = enclosing(name->md, type))
        chain[depth++] = type;
    while (depth-- > 0) {
        const uint32_t row = chain[depth];
        add_spaced(name, metadata_string(name->md, metadata_cell(name->md, TABLE_TYPE_DEF, row, 2)),
                   metadata_string(name->md, metadata_cell(name->md, TABLE_TYPE_DEF, row, 1)));
        if (depth > 0)
            add(name, "/");
    }
}

/* Of a type of another assembly, or nested in one: ResolutionScope has tag 3 then. */
static void add_type_ref(struct name *name, uint32_t row, int depth)
{
    const uint32_t scope = metadata_cell(name->md, TABLE_TYPE_REF, row, 0);
    if ((scope & 3) == 3 && scope >> 2 != 0 && depth < NESTING_MAX) {
        add_type_ref(name, scope >> 2, depth + 1);
        add(name, "/");
    }
    add_spaced(name, metadata_string(name->md, metadata_cell(name->md, TABLE_TYPE_REF, row, 2)),
               metadata_string(name->md, metadata_cell(name->md, TABLE_TYPE_REF, row, 1)));
}

/* Generic parameter NUMBER of OWNER (a TypeOrMethodDef); NULL: there is none. */
static const char *generic_name(const struct metadata *md, uint32_t owner, uint32_t number)
{
    const uint32_t first = metadata_find(md, TABLE_GENERIC_PARAM, 2, owner);
    for (uint32_t row = first; row != 0 && row < first + PARAMETERS_MAX; row++)
        if (metadata_cell(md, TABLE_GENERIC_PARAM, row, 2) == owner &&
            metadata_cell(md, TABLE_GENERIC_PARAM, row, 0) == number &&
            row <= md->tables[TABLE_GENERIC_PARAM].count)
            return metadata_string(md, metadata_cell(md, TABLE_GENERIC_PARAM, row, 3));
    return NULL;
}

static void add_generics(struct name *name, uint32_t owner)
{
    const char *parameter;
    for (uint32_t i = 0; i < PARAMETERS_MAX; i++) {
        if ((parameter = generic_name(name->md, owner, i)) == NULL) {
            add(name, i > 0 ? ">" : "");
            return;
        }
        add(name, i > 0 ? "," : "<");
        add(name, parameter);
    }
}

/* The words of C#, by element type. */
static const struct {
    const char *word, *type;
} simple[] = {
    {NULL, NULL},        {"void", "Void"},     {"bool", "Boolean"},  {"char", "Char"},
    {"sbyte", "SByte"},  {"byte", "Byte"},     {"short", "Int16"},   {"ushort", "UInt16"},
    {"int", "Int32"},    {"uint", "UInt32"},   {"long", "Int64"},    {"ulong", "UInt64"},
    {"float", "Single"}, {"double", "Double"}, {"string", "String"},
};

static bool is_word(struct metadata_bytes text, size_t at)
{
    return at < text.bytes && strchr(",<>[]", text.data[at]) == NULL;
}

/* Places FROM to FROM + COUNT of what commas part in TEXT. */
static struct metadata_bytes slice_of(struct metadata_bytes text, uint32_t from, uint32_t count)
{
    uint32_t start = 0, depth = 0, at = 0, number = 0;
    for (; at < text.bytes; at++) {
        depth += strchr("<[", text.data[at]) != NULL ? 1 : 0;
        depth -= strchr(">]", text.data[at]) != NULL ? 1 : 0;
        if (depth != 0 || text.data[at] != ',')
            continue;
        if (++number == from)
            start = at + 1;
        if (number == from + count)
            break;
    }
    return (struct metadata_bytes){text.data + start, at - start};
}

static uint32_t count_of(struct metadata_bytes text)
{
    uint32_t depth = 0, count = text.bytes > 0 ? 1 : 0;
    for (uint32_t i = 0; i < text.bytes; i++) {
        depth += strchr("<[", text.data[i]) != NULL ? 1 : 0;
        depth -= strchr(">]", text.data[i]) != NULL ? 1 : 0;
        count += depth == 0 && text.data[i] == ',' ? 1 : 0;
    }
    return count;
}

/* Types as records have them: "System.Int32" is int. */
static void add_spelt(struct name *name, struct metadata_bytes text)
{
    for (uint32_t i = 0; i < text.bytes;) {
        uint32_t end = i + 1;
        while (is_word(text, i) && is_word(text, end))
            end++;
        const struct metadata_bytes word = {text.data + i, end - i};
        size_t known =
            word.bytes > 7 && memcmp(word.data, "System.", 7) == 0 ? COUNT_OF(simple) : 0;
        while (known > 0 &&
               (simple[--known].type == NULL || strlen(simple[known].type) != word.bytes - 7 ||
                memcmp(simple[known].type, word.data + 7, word.bytes - 7) != 0)) {
        }
        if (known > 0)
            add(name, simple[known].word);
        else
            add_bytes(name, word);
        i = end;
    }
}

static void add_arguments(struct name *name, struct metadata_bytes first,
                          struct metadata_bytes second)
{
    if (first.bytes + second.bytes == 0)
        return;
    add(name, "<");
    add_spelt(name, first);
    add(name, first.bytes > 0 && second.bytes > 0 ? "," : "");
    add_spelt(name, second);
    add(name, ">");
}

static bool add_element(struct name *name, struct metadata_bytes *blob, int depth);

static bool add_coded(struct name *name, struct metadata_bytes *blob, int depth)
{
    uint32_t coded;
    if (!metadata_take_uint(blob, &coded))
        return false;
    if ((coded & 3) == 0) {
        add_type(name, coded >> 2);
    } else if ((coded & 3) == 1) {
        add_type_ref(name, coded >> 2, 0);
    } else {
        struct metadata_bytes spec =
            metadata_blob(name->md, metadata_cell(name->md, TABLE_TYPE_SPEC, coded >> 2, 0));
        return add_element(name, &spec, depth + 1);
    }
    return true;
}

static bool add_variable(struct name *name, struct metadata_bytes *blob, bool of_method)
{
    uint32_t number;
    char text[16];
    if (!metadata_take_uint(blob, &number))
        return false;
    if (name->arguments != NULL) {
        const struct metadata_bytes all =
            of_method ? name->arguments->method : name->arguments->type;
        if (number < count_of(all)) {
            add_spelt(name, slice_of(all, number, 1));
            return true;
        }
    }
    const char *known = generic_name(
        name->md, of_method ? name->method << 1 | TAG_METHOD : name->type << 1, number);
    (void)snprintf(text, sizeof text, "%s%" PRIu32, of_method ? "!!" : "!", number);
    add(name, known != NULL ? known : text);
    return true;
}

static bool add_instance(struct name *name, struct metadata_bytes *blob, int depth)
{
    uint32_t kind, count;
    if (!metadata_take_uint(blob, &kind) || !add_coded(name, blob, depth) ||
        !metadata_take_uint(blob, &count) || count > PARAMETERS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        add(name, i > 0 ? "," : "<");
        if (!add_element(name, blob, depth + 1))
            return false;
    }
    add(name, ">");
    return true;
}

static bool add_array(struct name *name, struct metadata_bytes *blob, int depth)
{
    uint32_t rank, count, unused;
    int32_t bound;
    if (!add_element(name, blob, depth + 1) || !metadata_take_uint(blob, &rank) || rank > 32)
        return false;
    add(name, "[");
    for (uint32_t i = 1; i < rank; i++)
        add(name, ",");
    add(name, "]");
    if (!metadata_take_uint(blob, &count) || count > rank)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!metadata_take_uint(blob, &unused))
            return false;
    if (!metadata_take_uint(blob, &count) || count > rank)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!metadata_take_int(blob, &bound))
            return false;
    return true;
}

static bool add_suffixed(struct name *name, struct metadata_bytes *blob, const char *suffix,
                         int depth)
{
    if (!add_element(name, blob, depth + 1))
        return false;
    add(name, suffix);
    return true;
}

static bool add_word(struct name *name, const char *word)
{
    add(name, word);
    return true;
}

/* One type of a signature; false: damaged, or of a form that is not spelt out. */
static bool add_element(struct name *name, struct metadata_bytes *blob, int depth)
{
    uint32_t kind, unused;

    if (depth > NESTING_MAX || name->steps++ > LIMIT_TYPE_STEPS || !metadata_take_uint(blob, &kind))
        return false;
    if (kind > 0 && kind <= ELEMENT_STRING)
        return add_word(name, simple[kind].word);
    switch (kind) {
    case ELEMENT_POINTER:
        return add_suffixed(name, blob, "*", depth);
    case ELEMENT_BY_REFERENCE:
        return add_suffixed(name, blob, "&", depth);
    case ELEMENT_VECTOR:
        return add_suffixed(name, blob, "[]", depth);
    case ELEMENT_VALUE_TYPE:
    case ELEMENT_CLASS:
        return add_coded(name, blob, depth);
    case ELEMENT_VAR:
    case ELEMENT_METHOD_VAR:
        return add_variable(name, blob, kind == ELEMENT_METHOD_VAR);
    case ELEMENT_ARRAY:
        return add_array(name, blob, depth);
    case ELEMENT_GENERIC:
        return add_instance(name, blob, depth);
    case ELEMENT_MODIFIER_REQUIRED:
    case ELEMENT_MODIFIER_OPTIONAL:
        return metadata_take_uint(blob, &unused) && add_element(name, blob, depth + 1);
    case ELEMENT_SENTINEL:
    case ELEMENT_PINNED:
        return add_element(name, blob, depth + 1);
    case ELEMENT_TYPED_REFERENCE:
        return add_word(name, "typedref");
    case ELEMENT_OBJECT:
        return add_word(name, "object");
    case ELEMENT_INT:
        return add_word(name, "nint");
    case ELEMENT_UINT:
        return add_word(name, "nuint");
    default:
        return false;
    }
}

/* "(int,string)"; "(...)" from the first type on that cannot be spelt. */
static void add_parameters(struct name *name)
{
    struct metadata_bytes blob =
        metadata_blob(name->md, metadata_cell(name->md, TABLE_METHOD_DEF, name->method, 4));
    struct name result = {.md = name->md, .type = name->type, .method = name->method};
    uint32_t convention, count = 0, unused;

    bool good = metadata_take_uint(&blob, &convention) &&
                ((convention & SIGNATURE_GENERIC) == 0 || metadata_take_uint(&blob, &unused)) &&
                metadata_take_uint(&blob, &count) && add_element(&result, &blob, 0);
    add(name, "(");
    for (uint32_t i = 0; good && i < count && i < PARAMETERS_MAX; i++) {
        add(name, i > 0 ? "," : "");
        good = add_element(name, &blob, 0);
    }
    add(name, good ? ")" : "...)");
}

/* The type whose list of methods METHOD is in: lists are in the order of the types. */
static uint32_t owner_of(const struct metadata *md, uint32_t method)
{
    uint32_t low = 0, high = md->tables[TABLE_TYPE_DEF].count;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (metadata_cell(md, TABLE_TYPE_DEF, middle, 5) <= method)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* What a method that the compiler made was written as. */
struct written {
    uint32_t type;                /* the type that is named */
    struct metadata_bytes method; /* "Method", or a name that is none of these */
    struct metadata_bytes part;   /* "Local" of a local function, "0" of a lambda; else empty */
    bool is_lambda, is_machine;
};

/* The text after "<Method>", and Method in *METHOD; empty: NAME does not begin so. Names of
 * methods may hold brackets themselves. */
static struct metadata_bytes after_brackets(struct metadata_bytes name,
                                            struct metadata_bytes *method)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < name.bytes && name.data[0] == '<'; i++) {
        depth += name.data[i] == '<' ? 1 : 0;
        if (name.data[i] != '>' || --depth != 0)
            continue;
        *method = (struct metadata_bytes){name.data + 1, i - 1};
        return (struct metadata_bytes){name.data + i + 1, name.bytes - i - 1};
    }
    return (struct metadata_bytes){name.data, 0};
}

static struct metadata_bytes bytes_of(const char *text)
{
    return (struct metadata_bytes){(const uint8_t *)text, (uint32_t)strlen(text)};
}

static const char *type_name(const struct metadata *md, uint32_t type)
{
    return metadata_string(md, metadata_cell(md, TABLE_TYPE_DEF, type, 1));
}

/* "<Method>d__1" and "<Method>d", with MoveNext: the code of an async method or an iterator. */
static void read_machine(const struct metadata *md, struct written *out)
{
    struct metadata_bytes method;
    const uint32_t outer = enclosing(md, out->type);
    if (outer == 0 || out->method.bytes != 8 || memcmp(out->method.data, "MoveNext", 8) != 0)
        return;
    const struct metadata_bytes kind = after_brackets(bytes_of(type_name(md, out->type)), &method);
    if (kind.bytes == 0 || kind.data[0] != 'd' || method.bytes == 0)
        return;
    out->type = outer;
    out->method = method;
    out->is_machine = true;
}

/* "<Method>g__Local|0_1" and "<Method>b__0_1", in the method's type or in one that the compiler
 * put there for what they capture: "<>c", "<>c__DisplayClass0_0". */
static void read_part(const struct metadata *md, struct written *out)
{
    struct metadata_bytes method;
    struct metadata_bytes kind = after_brackets(out->method, &method);
    if (kind.bytes < 4 || method.bytes == 0 || (kind.data[0] != 'g' && kind.data[0] != 'b') ||
        kind.data[1] != '_' || kind.data[2] != '_')
        return;
    out->is_lambda = kind.data[0] == 'b';
    out->method = method;
    out->part = (struct metadata_bytes){kind.data + 3, kind.bytes - 3};
    for (uint32_t i = 0; i < out->part.bytes; i++) {
        if (out->is_lambda && out->part.data[i] == '_')
            out->part = (struct metadata_bytes){out->part.data + i + 1, out->part.bytes - i - 1};
        else if (!out->is_lambda && out->part.data[i] == '|')
            out->part.bytes = i;
    }
    const uint32_t outer = enclosing(md, out->type);
    if (outer != 0 && strncmp(type_name(md, out->type), "<>c", 3) == 0)
        out->type = outer;
}

/* How many generic parameters OWNER (a TypeOrMethodDef) has. */
static uint32_t generic_count(const struct metadata *md, uint32_t owner)
{
    uint32_t count = 0;
    while (count < PARAMETERS_MAX && generic_name(md, owner, count) != NULL)
        count++;
    return count;
}

/* False: it is not as records have it. */
static bool read_arguments(const char *text, struct arguments *out)
{
    const uint8_t *at = (const uint8_t *)text;
    const size_t bytes = strlen(text);
    uint32_t depth = 0, split = UINT32_MAX;
    if (bytes == 0 || bytes >= NAME_BYTES)
        return false;
    for (uint32_t i = 0; i < bytes; i++) {
        depth += at[i] == '<' || at[i] == '[' ? 1 : 0;
        if (at[i] < ' ' || ((at[i] == '>' || at[i] == ']') && depth-- == 0))
            return false;
        if (at[i] != ';')
            continue;
        if (split != UINT32_MAX || depth != 0)
            return false;
        split = i;
    }
    if (depth != 0 || split == UINT32_MAX)
        return false;
    out->type = (struct metadata_bytes){at, split};
    out->method = (struct metadata_bytes){at + split + 1, (uint32_t)bytes - split - 1};
    return true;
}

/* What of the arguments belongs to the type that is named, and what to its method. */
struct shares {
    struct metadata_bytes type, outer_method, method;
};

/* False: the method has other numbers of them. Those of its type may be missing: .NET Core 3.1 does
 * not know them of code that several types share. */
static bool share_out(const struct name *name, const struct written *written,
                      const struct arguments *arguments, struct shares *out)
{
    const uint32_t given = count_of(arguments->type);
    const uint32_t of_type = given > 0 ? generic_count(name->md, written->type << 1) : 0;
    const uint32_t of_method = generic_count(name->md, name->method << 1 | TAG_METHOD);
    if (given < of_type)
        return false;
    *out = (struct shares){.method = arguments->method};
    if (of_type > 0)
        out->type = slice_of(arguments->type, 0, of_type);
    if (given == of_type)
        return count_of(arguments->method) == of_method;
    out->outer_method = slice_of(arguments->type, of_type, given - of_type);
    if (written->part.bytes != 0 || written->is_machine)
        return count_of(arguments->method) == of_method;
    return arguments->method.bytes == 0 && given - of_type == of_method;
}

static void add_part(struct name *name, const struct written *written)
{
    if (written->part.bytes == 0)
        return;
    add(name, written->is_lambda ? "::<lambda_" : "::");
    add_bytes(name, written->part);
    add(name, written->is_lambda ? ">" : "");
}

static struct written read_written(const struct name *name, enum managed_names names)
{
    const struct metadata *md = name->md;
    struct written written = {
        .type = name->type,
        .method =
            bytes_of(metadata_string(md, metadata_cell(md, TABLE_METHOD_DEF, name->method, 3))),
    };
    if (names != MANAGED_RAW) {
        read_machine(md, &written);
        read_part(md, &written);
    }
    return written;
}

static void add_instance_name(struct name *name, const struct written *written,
                              const struct shares *shares, enum managed_names names)
{
    static const struct metadata_bytes none;
    add_type(name, written->type);
    add_arguments(name, shares->type, none);
    if (shares->type.bytes == 0 && names == MANAGED_FULL)
        add_generics(name, written->type << 1);
    add(name, "::");
    add_bytes(name, written->method);
    add_arguments(name, shares->outer_method, written->part.bytes == 0 ? shares->method : none);
    add_part(name, written);
    if (written->part.bytes != 0)
        add_arguments(name, shares->method, none);
}

static void add_plain_name(struct name *name, const struct written *written,
                           enum managed_names names)
{
    add_type(name, written->type);
    if (names == MANAGED_FULL)
        add_generics(name, written->type << 1);
    add(name, "::");
    add_bytes(name, written->method);
    if (names == MANAGED_FULL && written->part.bytes == 0 && !written->is_machine)
        add_generics(name, name->method << 1 | TAG_METHOD);
    add_part(name, written);
}

const char *managed_instance_name(const struct metadata *md, uint32_t token,
                                  enum managed_names names, const char *arguments,
                                  struct arena *keep)
{
    struct name name = {.md = md, .method = token & 0xFFFFFF};
    struct arguments given;
    struct shares shares;

    if (token >> 24 != TABLE_METHOD_DEF || name.method == 0 ||
        name.method > md->tables[TABLE_METHOD_DEF].count || md->tables[TABLE_METHOD_DEF].at == NULL)
        return NULL;
    name.type = owner_of(md, name.method);
    const struct written written = read_written(&name, names);
    if (arguments != NULL && names != MANAGED_RAW && read_arguments(arguments, &given) &&
        share_out(&name, &written, &given, &shares)) {
        name.arguments = &given;
        add_instance_name(&name, &written, &shares, names);
    } else {
        add_plain_name(&name, &written, names);
    }
    if (names == MANAGED_FULL && !written.is_machine)
        add_parameters(&name);
    return arena_text(keep, name.text, name.bytes);
}

const char *managed_method_name(const struct metadata *md, uint32_t token, enum managed_names names,
                                struct arena *keep)
{
    return managed_instance_name(md, token, names, NULL, keep);
}
