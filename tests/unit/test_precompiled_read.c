/* Numbers, signatures and debug information of ReadyToRun code, byte by byte, as the runtime's
 * document of that format lays them out; types as ECMA-335, II.23.1.16, numbers them. */
#include <string.h>

#include "base/array.h"
#include "format/portable_pdb/precompiled_read.h"
#include "test.h"

TEST(numbers_of_one_to_five_bytes)
{
    static const struct {
        const char *name;
        uint8_t data[5], bytes; /* 0: no number */
        uint32_t value;
        int32_t signed_value;
    } rows[] = {
        {"0", {0x00}, 1, 0, 0},
        {"1", {0x02}, 1, 1, 1},
        {"63", {0x7e}, 1, 63, 63},
        {"64, -64", {0x80}, 1, 64, -64},
        {"127, -1", {0xfe}, 1, 127, -1},
        {"128", {0x01, 0x02}, 2, 128, 128},
        {"8191", {0xfd, 0x7f}, 2, 8191, 8191},
        {"8192, -8192", {0x01, 0x80}, 2, 8192, -8192},
        {"16383, -1", {0xfd, 0xff}, 2, 16383, -1},
        {"16384", {0x03, 0x00, 0x02}, 3, 16384, 16384},
        {"2^21 - 1, -1", {0xfb, 0xff, 0xff}, 3, 0x1fffff, -1},
        {"2^21", {0x07, 0, 0, 2}, 4, 1 << 21, 1 << 21},
        {"2^28 - 1, -1", {0xf7, 0xff, 0xff, 0xff}, 4, 0xfffffff, -1},
        {"0x12345678", {0x0f, 0x78, 0x56, 0x34, 0x12}, 5, 0x12345678, 0x12345678},
        {"2^32 - 1, -1", {0x0f, 0xff, 0xff, 0xff, 0xff}, 5, UINT32_MAX, -1},
        {"a first byte that none has", {0x1f, 1, 2, 3, 4}, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct precompiled_array in = {.section = rows[i].data, .bytes = sizeof rows[i].data};
        uint32_t at = 0, value = 0;
        int32_t number = 0;
        test_row(rows[i].name);
        CHECK_EQ(precompiled_number(&in, &at, &value), rows[i].bytes != 0);
        CHECK_EQ(at, rows[i].bytes);
        CHECK_HEX(value, rows[i].value);
        at = 0;
        CHECK_EQ(precompiled_signed(&in, &at, &number), rows[i].bytes != 0);
        CHECK_EQ(at, rows[i].bytes);
        CHECK_EQ(number, rows[i].signed_value);
        for (in.bytes = 0; in.bytes < rows[i].bytes; in.bytes++) {
            at = 0;
            CHECK(!precompiled_number(&in, &at, &value));
            CHECK(!precompiled_signed(&in, &at, &number));
            CHECK_EQ(at, 0);
        }
    }
}

TEST(elements_of_a_list)
{
    static const uint8_t data[] = {9, 9, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
    static const struct {
        const char *name;
        uint8_t size;
        uint32_t number, value;
        bool there;
    } rows[] = {
        {"bytes", 1, 0, 0x11, true},
        {"the last byte", 1, 7, 0x88, true},
        {"after it", 1, 8, 0, false},
        {"words", 2, 1, 0x4433, true},
        {"the last word", 2, 3, 0x8877, true},
        {"after it", 2, 4, 0, false},
        {"words of 4 bytes", 4, 1, 0x88776655, true},
        {"after it", 4, 2, 0, false},
        {"far after it", 4, UINT32_MAX, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct precompiled_array in = {
            .section = data, .bytes = sizeof data, .index_bytes = rows[i].size};
        uint32_t value = 0;
        test_row(rows[i].name);
        CHECK_EQ(precompiled_index(&in, 2, rows[i].number, &value), rows[i].there);
        CHECK_HEX(value, rows[i].value);
    }
}

enum { OWNER = 0x40, CONSTRAINED = 0x20, INSTANCE = 0x04, MODULE = 0x80 };

/* Row 5, after what each flag puts before it and before what it puts after it. */
TEST(signatures_of_methods)
{
    static const struct {
        const char *name;
        uint8_t data[16], bytes;
        uint32_t token; /* UINT32_MAX: it is damaged */
    } rows[] = {
        {"a row alone", {0, 5}, 2, 0x06000005},
        {"stubs", {0x03, 5}, 2, 0x06000005},
        /* flags of 0x80 and more are a number of two bytes */
        {"of another module", {0x80, MODULE, 2, 5}, 4, 0},
        {"a slot", {0x08, 5}, 2, 0},
        {"a row of member references", {0x10, 5}, 2, 0},
        {"an owner: string", {OWNER, 0x0e, 5}, 3, 0x06000005},
        {"void, the first", {OWNER, 0x01, 5}, 3, 0x06000005},
        {"a pointer", {OWNER, 0x0f, 0x08, 5}, 4, 0x06000005},
        {"by reference", {OWNER, 0x10, 0x08, 5}, 4, 0x06000005},
        {"a value type", {OWNER, 0x11, 0x81, 9, 5}, 5, 0x06000005},
        {"a class", {OWNER, 0x12, 9, 5}, 4, 0x06000005},
        {"the type's parameter", {OWNER, 0x13, 1, 5}, 4, 0x06000005},
        {"the method's parameter", {OWNER, 0x1e, 1, 5}, 4, 0x06000005},
        {"an array, no sizes", {OWNER, 0x14, 0x08, 2, 0, 0, 5}, 7, 0x06000005},
        {"an array, sizes and bounds", {OWNER, 0x14, 0x08, 2, 2, 7, 8, 1, 9, 5}, 10, 0x06000005},
        {"an array, more sizes than its rank",
         {OWNER, 0x14, 0x08, 1, 2, 7, 8, 0, 5},
         9,
         UINT32_MAX},
        {"an instance", {OWNER, 0x15, 0x12, 9, 2, 0x08, 0x0e, 5}, 8, 0x06000005},
        {"an instance of one that is cut", {OWNER, 0x15, 0x12, 9, 2, 0x08}, 6, UINT32_MAX},
        {"typed by reference", {OWNER, 0x16, 5}, 3, 0x06000005},
        {"a native number", {OWNER, 0x18, 5}, 3, 0x06000005},
        {"a native number without sign", {OWNER, 0x19, 5}, 3, 0x06000005},
        {"a function", {OWNER, 0x1b, 0x00, 1, 0x01, 0x08, 5}, 7, 0x06000005},
        {"a generic function", {OWNER, 0x1b, 0x10, 1, 0, 0x01, 5}, 7, 0x06000005},
        {"object", {OWNER, 0x1c, 5}, 3, 0x06000005},
        {"a vector", {OWNER, 0x1d, 0x08, 5}, 4, 0x06000005},
        {"a required modifier", {OWNER, 0x1f, 9, 0x08, 5}, 5, 0x06000005},
        {"an optional modifier", {OWNER, 0x20, 9, 0x08, 5}, 5, 0x06000005},
        {"a native value type", {OWNER, 0x3d, 0x11, 9, 5}, 5, 0x06000005},
        {"any class", {OWNER, 0x3e, 5}, 3, 0x06000005},
        {"a type of another module", {OWNER, 0x3f, 2, 0x12, 9, 5}, 6, 0x06000005},
        {"no type: 0", {OWNER, 0x00, 5}, 3, UINT32_MAX},
        {"no type: 0x17", {OWNER, 0x17, 5}, 3, UINT32_MAX},
        {"no type: 0x21", {OWNER, 0x21, 5}, 3, UINT32_MAX},
        {"its own types", {INSTANCE, 5, 2, 0x08, 0x0e}, 5, 0x06000005},
        {"its own types are cut", {INSTANCE, 5, 2, 0x08}, 4, UINT32_MAX},
        {"a constraint", {CONSTRAINED, 5, 0x0e}, 3, 0x06000005},
        {"a constraint is cut", {CONSTRAINED, 5}, 2, UINT32_MAX},
        {"no row", {0}, 1, UINT32_MAX},
        {"nothing", {0}, 0, UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct metadata_bytes blob = {rows[i].data, rows[i].bytes};
        uint32_t token = 0x77;
        test_row(rows[i].name);
        const bool good = precompiled_method_signature(&blob, &token);
        CHECK_EQ(good, rows[i].token != UINT32_MAX);
        if (good) {
            CHECK_HEX(token, rows[i].token);
            CHECK_EQ(blob.bytes, 0);
        }
    }
}

struct nibbles {
    uint8_t data[64];
    uint32_t count;
};

/* Three bits in each, most significant first; the fourth says that more follow. */
static void put_nibbles(struct nibbles *to, uint32_t value)
{
    uint32_t groups = 1;
    while (groups < 11 && value >> (3 * groups) != 0)
        groups++;
    while (groups-- > 0) {
        const uint32_t nibble = (value >> (3 * groups) & 7) | (groups > 0 ? 8 : 0);
        to->data[to->count / 2] |= (uint8_t)(nibble << (to->count % 2 * 4));
        to->count++;
    }
}

static void put_bits(uint8_t *to, uint32_t *bit, uint32_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, (*bit)++)
        to[*bit / 8] |= (uint8_t)((value >> i & 1) << (*bit % 8));
}

/* Offsets in IL are stored plus 3: before them are no IL, the prologue and the epilogue. */
#define PROLOGUE UINT32_C(0xfffffffe)
#define EPILOGUE UINT32_C(0xfffffffd)

TEST(debug_information_in_both_forms)
{
    enum { AT = 10, BACK = 19, NATIVE_BITS = 9, IL_BITS = 4 };
    static const struct {
        uint32_t native, il;
    } bounds[] = {{0, PROLOGUE}, {4, 0}, {10, 7}, {300, EPILOGUE}};
    static const struct {
        uint32_t offset, il;
    } asked[] = {{0, PROLOGUE}, {3, PROLOGUE}, {4, 0},          {9, 0},
                 {10, 7},       {299, 7},      {300, EPILOGUE}, {9999, EPILOGUE}};
    for (int packed = 0; packed < 2; packed++) {
        struct nibbles rows = {{0}, 0}, head = {{0}, 0};
        uint8_t section[64] = {0};
        uint32_t native = 0, bytes;
        test_row(packed ? "in bits" : "in nibbles");
        put_nibbles(&rows, COUNT_OF(bounds));
        if (packed) {
            put_nibbles(&rows, NATIVE_BITS - 1);
            put_nibbles(&rows, IL_BITS - 1);
        }
        uint32_t bit = (rows.count + 1) / 2 * 8;
        for (size_t i = 0; i < COUNT_OF(bounds); i++) {
            const uint32_t step = bounds[i].native - native, il = bounds[i].il + 3;
            native = bounds[i].native;
            if (packed) {
                put_bits(rows.data, &bit, 1, 2);
                put_bits(rows.data, &bit, step, NATIVE_BITS);
                put_bits(rows.data, &bit, il, IL_BITS);
            } else {
                put_nibbles(&rows, step);
                put_nibbles(&rows, il);
                put_nibbles(&rows, 1);
            }
        }
        bytes = packed ? (bit + 7) / 8 : (rows.count + 1) / 2;
        put_nibbles(&head, bytes);
        put_nibbles(&head, 0); /* variables */
        memcpy(section + AT + 1, head.data, (head.count + 1) / 2);
        memcpy(section + AT + 1 + (head.count + 1) / 2, rows.data, bytes);
        section[AT + 1 + BACK] = BACK << 1; /* another entry, which is the same */
        struct precompiled code = {.debug = {.section = section, .bytes = sizeof section},
                                   .packed_debug = packed != 0};
        for (size_t i = 0; i < COUNT_OF(asked); i++) {
            CHECK_HEX(precompiled_il(&code, AT, asked[i].offset), asked[i].il);
            CHECK_HEX(precompiled_il(&code, AT + 1 + BACK, asked[i].offset), asked[i].il);
        }
        code.debug.bytes = AT + 1 + (head.count + 1) / 2 + bytes;
        CHECK_HEX(precompiled_il(&code, AT, 4), 0);
        code.debug.bytes--; /* a byte less */
        CHECK_HEX(precompiled_il(&code, AT, 4), UINT32_MAX);
        code.debug.bytes = sizeof section;
        section[AT + 1 + BACK] = (AT + 1 + BACK + 1) << 1; /* before the section */
        CHECK_HEX(precompiled_il(&code, AT + 1 + BACK, 4), UINT32_MAX);
        CHECK_HEX(precompiled_il(&code, sizeof section, 4), UINT32_MAX);
    }
}
