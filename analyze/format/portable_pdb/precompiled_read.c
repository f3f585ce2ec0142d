/* Numbers, tables, signatures and debug information of compiled code; see precompiled.h.
 *
 * Numbers have 1 to 5 bytes: the lowest bits of the first one say how many. A table that is indexed
 * by numbers has a tree for 16 of them, of which each level halves them. Debug information is
 * written in nibbles of three bits and one that says whether more follow. */
#include "format/portable_pdb/precompiled_read.h"
#include "base/bytes.h"
#include "base/limits.h"

enum {
    BLOCK = 16, /* numbers of one tree */
    BOUNDS_MAX = 1 << 20,
    IL_FIRST = 3, /* before it: no IL, prologue, epilogue */
};

enum signature_flag {
    SIGNATURE_INSTANCE = 0x04,   /* types of the method's own parameters follow */
    SIGNATURE_SLOT = 0x08,       /* a number of a virtual method */
    SIGNATURE_MEMBER_REF = 0x10, /* the row is one of another table */
    SIGNATURE_CONSTRAINED = 0x20,
    SIGNATURE_OWNER = 0x40,        /* a type comes first */
    SIGNATURE_OTHER_MODULE = 0x80, /* whose rows these are */
};

/* A number of N bytes at *AT, which moves on; 0: it is not within the section. */
static uint32_t take(const struct precompiled_array *in, uint32_t *at, uint32_t *out)
{
    if (*at >= in->bytes)
        return 0;
    const uint8_t *p = in->section + *at;
    uint32_t bytes = 1;
    while (bytes < 5 && (p[0] >> (bytes - 1) & 1) != 0)
        bytes++;
    if (in->bytes - *at < bytes || (bytes == 5 && (p[0] & 0x10) != 0))
        return 0;
    *out = bytes < 5 ? (uint32_t)p[0] >> bytes : load_u32(p + 1);
    for (uint32_t i = 1; i < bytes && bytes < 5; i++)
        *out |= (uint32_t)p[i] << (8 * i - bytes);
    *at += bytes;
    return bytes;
}

bool precompiled_number(const struct precompiled_array *in, uint32_t *at, uint32_t *out)
{
    return take(in, at, out) != 0;
}

bool precompiled_signed(const struct precompiled_array *in, uint32_t *at, int32_t *out)
{
    uint32_t value;
    const uint32_t bytes = take(in, at, &value);
    if (bytes == 0)
        return false;
    if (bytes < 5 && (value >> (7 * bytes - 1) & 1) != 0)
        value |= ~0u << (7 * bytes);
    *out = (int32_t)value;
    return true;
}

bool precompiled_index(const struct precompiled_array *in, uint32_t start, uint32_t number,
                       uint32_t *out)
{
    const uint64_t at = start + (uint64_t)number * in->index_bytes;
    if (at + in->index_bytes > in->bytes)
        return false;
    const uint8_t *p = in->section + at;
    if (in->index_bytes == 4)
        *out = load_u32(p);
    else
        *out = in->index_bytes == 2 ? load_u16(p) : p[0];
    return true;
}

bool precompiled_array_at(const struct precompiled_array *in, uint32_t number, uint32_t *out)
{
    uint32_t at = 0, value;
    if (in->section == NULL || number >= in->count ||
        !precompiled_index(in, in->base, number / BLOCK, &at) || at > in->bytes - in->base)
        return false;
    at += in->base;
    for (uint32_t bit = BLOCK / 2; bit > 0; bit >>= 1) {
        uint32_t next = at;
        if (!precompiled_number(in, &next, &value))
            return false;
        if ((number & bit) != 0 && (value & 2) != 0) {
            if (value >> 2 > in->bytes - at)
                return false;
            at += value >> 2;
        } else if ((number & bit) == 0 && (value & 1) != 0) {
            at = next;
        } else if ((value & 3) == 0 && value >> 2 == (number & (BLOCK - 1))) {
            at = next; /* the only entry below here */
            break;
        } else {
            return false;
        }
    }
    *out = at;
    return true;
}

struct types {
    struct metadata_bytes *blob;
    uint32_t steps;
};

static bool skip_type(struct types *types, uint32_t depth);

static bool skip_types(struct types *types, uint32_t count, uint32_t depth)
{
    for (uint32_t i = 0; i < count; i++)
        if (!skip_type(types, depth))
            return false;
    return true;
}

static bool skip_counted(struct types *types, uint32_t depth)
{
    uint32_t count;
    return metadata_take_uint(types->blob, &count) && count <= LIMIT_TYPE_STEPS &&
           skip_types(types, count, depth);
}

static bool skip_array(struct types *types, uint32_t depth)
{
    uint32_t rank, count, unused;
    if (!skip_type(types, depth) || !metadata_take_uint(types->blob, &rank))
        return false;
    for (int list = 0; list < 2; list++) { /* sizes, lower bounds */
        if (!metadata_take_uint(types->blob, &count) || count > rank || count > LIMIT_TYPE_DEPTH)
            return false;
        for (uint32_t i = 0; i < count; i++)
            if (!metadata_take_uint(types->blob, &unused))
                return false;
    }
    return true;
}

static bool skip_function(struct types *types, uint32_t depth)
{
    enum { GENERIC = 0x10 };
    uint32_t convention, count, unused;
    return metadata_take_uint(types->blob, &convention) &&
           ((convention & GENERIC) == 0 || metadata_take_uint(types->blob, &unused)) &&
           metadata_take_uint(types->blob, &count) && count < LIMIT_TYPE_STEPS &&
           skip_types(types, count + 1, depth);
}

static bool skip_type(struct types *types, uint32_t depth)
{
    uint32_t kind, unused;
    if (depth > LIMIT_TYPE_DEPTH || types->steps++ > LIMIT_TYPE_STEPS || types->blob->bytes == 0 ||
        !metadata_take_uint(types->blob, &kind))
        return false;
    switch (kind) {
    case ELEMENT_POINTER:
    case ELEMENT_BY_REFERENCE:
    case ELEMENT_VECTOR:
    case ELEMENT_NATIVE_VALUE:
        return skip_type(types, depth + 1);
    case ELEMENT_VALUE_TYPE:
    case ELEMENT_CLASS:
    case ELEMENT_VAR:
    case ELEMENT_METHOD_VAR:
        return metadata_take_uint(types->blob, &unused);
    case ELEMENT_ARRAY:
        return skip_array(types, depth + 1);
    case ELEMENT_GENERIC:
        return skip_type(types, depth + 1) && skip_counted(types, depth + 1);
    case ELEMENT_FUNCTION:
        return skip_function(types, depth + 1);
    case ELEMENT_MODIFIER_REQUIRED:
    case ELEMENT_MODIFIER_OPTIONAL:
    case ELEMENT_OF_MODULE:
        return metadata_take_uint(types->blob, &unused) && skip_type(types, depth + 1);
    case ELEMENT_TYPED_REFERENCE:
    case ELEMENT_INT:
    case ELEMENT_UINT:
    case ELEMENT_OBJECT:
    case ELEMENT_ANY_CLASS:
        return true;
    default:
        return kind > 0 && kind <= ELEMENT_STRING;
    }
}

bool precompiled_method_signature(struct metadata_bytes *blob, uint32_t *token)
{
    struct types types = {.blob = blob};
    uint32_t flags, row, unused;
    if (!metadata_take_uint(blob, &flags) ||
        ((flags & SIGNATURE_OTHER_MODULE) != 0 && !metadata_take_uint(blob, &unused)) ||
        ((flags & SIGNATURE_OWNER) != 0 && !skip_type(&types, 0)) ||
        !metadata_take_uint(blob, &row) ||
        ((flags & SIGNATURE_INSTANCE) != 0 && !skip_counted(&types, 0)) ||
        ((flags & SIGNATURE_CONSTRAINED) != 0 && !skip_type(&types, 0)))
        return false;
    const uint32_t others = SIGNATURE_OTHER_MODULE | SIGNATURE_SLOT | SIGNATURE_MEMBER_REF;
    *token = (flags & others) == 0 && row < PRECOMPILED_TOKEN ? PRECOMPILED_TOKEN | row : 0;
    return true;
}

struct nibbles {
    const uint8_t *at;
    uint32_t bytes, nibble;
};

static bool take_nibbles(struct nibbles *in, uint32_t *out)
{
    *out = 0;
    for (;;) {
        if (in->nibble / 2 >= in->bytes)
            return false;
        const uint32_t nibble = (uint32_t)(in->at[in->nibble / 2] >> (in->nibble % 2 * 4)) & 15;
        in->nibble++;
        *out = *out << 3 | (nibble & 7);
        if ((nibble & 8) == 0)
            return true;
    }
}

/* The rows of a method's debug information: where native code begins, and its offset in IL. */
struct bounds {
    struct nibbles in;
    bool packed; /* in bits, all rows with as many */
    uint32_t count, native_bits, il_bits;
    uint64_t bit;
};

static bool open_bounds(struct bounds *bounds, const struct precompiled *code, uint32_t at)
{
    uint32_t back, bytes, variables, entry = at;
    if (!precompiled_number(&code->debug, &entry, &back) || back > at)
        return false;
    entry = back != 0 ? at - back : entry;
    struct nibbles in = {code->debug.section + entry, code->debug.bytes - entry, 0};
    if (!take_nibbles(&in, &bytes) || bytes == 0 || !take_nibbles(&in, &variables))
        return false;
    const uint32_t head = (in.nibble + 1) / 2;
    if (in.bytes - head < bytes)
        return false;
    *bounds = (struct bounds){.in = {in.at + head, bytes, 0}, .packed = code->packed_debug};
    if (!take_nibbles(&bounds->in, &bounds->count) || bounds->count > BOUNDS_MAX)
        return false;
    if (!bounds->packed)
        return true;
    if (!take_nibbles(&bounds->in, &bounds->native_bits) ||
        !take_nibbles(&bounds->in, &bounds->il_bits) || bounds->native_bits > 31 ||
        bounds->il_bits > 31)
        return false;
    bounds->native_bits++;
    bounds->il_bits++;
    bounds->bit = (uint64_t)(bounds->in.nibble + 1) / 2 * 8;
    return true;
}

static bool take_bits(struct bounds *bounds, uint32_t count, uint32_t *out)
{
    *out = 0;
    for (uint32_t i = 0; i < count; i++, bounds->bit++) {
        if (bounds->bit / 8 >= bounds->in.bytes)
            return false;
        *out |= (uint32_t)(bounds->in.at[bounds->bit / 8] >> (bounds->bit % 8) & 1) << i;
    }
    return true;
}

static bool take_bound(struct bounds *bounds, uint32_t *native, uint32_t *il)
{
    uint32_t kind, step, shifted;
    if (bounds->packed
            ? !take_bits(bounds, 2, &kind) || !take_bits(bounds, bounds->native_bits, &step) ||
                  !take_bits(bounds, bounds->il_bits, &shifted)
            : !take_nibbles(&bounds->in, &step) || !take_nibbles(&bounds->in, &shifted) ||
                  !take_nibbles(&bounds->in, &kind))
        return false;
    *native += step;
    *il = shifted - IL_FIRST;
    return true;
}

uint32_t precompiled_il(const struct precompiled *code, uint32_t at, uint32_t offset)
{
    struct bounds bounds;
    uint32_t native = 0, il, found = UINT32_MAX;
    if (!open_bounds(&bounds, code, at))
        return UINT32_MAX;
    for (uint32_t i = 0; i < bounds.count && take_bound(&bounds, &native, &il); i++) {
        if (native > offset)
            break;
        found = il;
    }
    return found;
}
