/* base/bytes, base/fault, base/arena, base/array and base/hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/text_pool.h"
#include "test.h"

#ifdef TEST_SANITIZED
#include <sanitizer/asan_interface.h>
#define IS_FORBIDDEN(at) (__asan_address_is_poisoned(at) != 0)
#else
#define IS_FORBIDDEN(at) ((at) != NULL)
#endif

/* In sanitized programs the BYTES at AT may be read, and those after them may not. */
static void check_fence(const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < 16; i++)
        CHECK(IS_FORBIDDEN(at + bytes + i));
}

TEST(bytes_read_little_endian_and_move)
{
    static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 'h', 'i', 0};
    struct fault fault = FAULT_INIT;
    struct bytes r = bytes_over(data, sizeof data, &fault);

    CHECK_HEX(bytes_u8(&r), 0x01);
    CHECK_HEX(bytes_u16(&r), 0x0302);
    CHECK_HEX(bytes_u32(&r), 0x07060504);
    CHECK_HEX(bytes_u64(&r), 0x0F0E0D0C0B0A0908);
    CHECK_EQ(r.offset, 15);
    CHECK_STR(bytes_cstring(&r), "hi");
    CHECK_EQ(r.left, 0);
    CHECK(!bytes_failed(&r));
}

TEST(bytes_first_failure_poisons_and_moves_nothing)
{
    static const uint8_t data[] = {1, 2, 3};
    struct fault fault = FAULT_INIT;
    struct bytes r = bytes_over(data, sizeof data, &fault);
    struct bytes other = bytes_over(data, sizeof data, &fault);

    CHECK_EQ(bytes_u32(&r), 0);
    CHECK_EQ(fault.code, ERR_TRUNCATED);
    CHECK_EQ(fault.offset, 0);
    CHECK_EQ(bytes_u8(&r), 0);
    CHECK_EQ(r.left, 3);
    CHECK_EQ(bytes_u8(&other), 0); /* shares the fault, so it is poisoned too */
    CHECK_EQ(fault_set(&fault, ERR_LIMIT, 7, "later"), ERR_TRUNCATED);
}

static const struct {
    const char *name;
    uint64_t start, size;
    enum status want;
    size_t left;
} windows[] = {
    {"whole", 0, 8, ERR_NONE, 8},
    {"empty at the end", 8, 0, ERR_NONE, 0},
    {"middle", 2, 3, ERR_NONE, 3},
    {"one past the end", 0, 9, ERR_TRUNCATED, 0},
    {"start past the end", 9, 0, ERR_TRUNCATED, 0},
    {"sum wraps around", 4, UINT64_MAX - 1, ERR_TRUNCATED, 0},
    {"start wraps around", UINT64_MAX, 2, ERR_TRUNCATED, 0},
};

TEST(bytes_window_refuses_what_does_not_fit)
{
    static const uint8_t data[8] = {0};
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        struct fault fault = FAULT_INIT;
        const struct bytes whole = bytes_over(data, sizeof data, &fault);
        test_row(windows[i].name);
        const struct bytes part = bytes_window(&whole, windows[i].start, windows[i].size);
        CHECK_EQ(fault.code, windows[i].want);
        CHECK_EQ(part.left, windows[i].left);
        if (windows[i].want == ERR_NONE)
            CHECK_EQ(part.offset, windows[i].start);
    }
}

static const struct {
    const char *name;
    uint32_t count;
    size_t size;
    uint32_t want;
} counts[] = {
    {"exactly", 4, 4, 4},
    {"one too many", 5, 4, 0},
    {"none", 0, 4, 0},
    {"product would wrap", UINT32_MAX, SIZE_MAX, 0},
};

TEST(bytes_count_is_checked_before_it_is_believed)
{
    static const uint8_t data[16] = {0};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct fault fault = FAULT_INIT;
        struct bytes r = bytes_over(data, sizeof data, &fault);
        test_row(counts[i].name);
        CHECK_EQ(bytes_count(&r, counts[i].count, counts[i].size), counts[i].want);
        CHECK_EQ(fault.code, counts[i].want == counts[i].count ? ERR_NONE : ERR_TRUNCATED);
    }
}

TEST(bytes_cstring_needs_its_terminator)
{
    static const uint8_t data[] = {'a', 'b'};
    struct fault fault = FAULT_INIT;
    struct bytes r = bytes_over(data, sizeof data, &fault);

    CHECK_STR(bytes_cstring(&r), "");
    CHECK_EQ(fault.code, ERR_TRUNCATED);
}

TEST(fault_says_where_what_and_what_to_do)
{
    struct fault fault = FAULT_INIT;
    char text[256];

    fault_set_hint(&fault, ERR_MISMATCH, 0x1C, "PDB age", "use the PDB of the same build");
    fault_set_path(&fault, "a.pdb");
    fault_set_path(&fault, "second.pdb");
    fault_describe(&fault, text, sizeof text);
    CHECK_STR(text, "a.pdb: PDB age at offset 0x1c: mismatch (use the PDB of the same build)");
    fault_clear(&fault);
    CHECK_EQ(fault.code, ERR_NONE);
}

TEST(arena_gives_zeroed_aligned_memory_up_to_its_limit)
{
    struct arena arena;
    arena_init(&arena, 1000);
    uint8_t *a = arena_alloc(&arena, 100);
    REQUIRE(a != NULL);
    CHECK_EQ((uintptr_t)a % 16, 0);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(a[i], 0);
    memset(a, 0xFF, 100);
    check_fence(a, 100);
    CHECK(arena_alloc(&arena, 900) == NULL);
    CHECK(arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(arena_array(&arena, SIZE_MAX / 2, 4) == NULL);
    arena_reset(&arena);
    check_fence(a, 0);
    a = arena_alloc(&arena, 100);
    REQUIRE(a != NULL);
    CHECK_EQ(a[99], 0); /* reused memory is zeroed again */
    arena_free(&arena);
}

TEST(arena_keeps_what_it_gave_while_it_grows)
{
    struct arena arena;
    char *texts[500];
    arena_init(&arena, 0);
    for (int i = 0; i < 500; i++) {
        texts[i] = arena_printf(&arena, "%0*d", 50 + i, i);
        REQUIRE(texts[i] != NULL);
    }
    for (int i = 0; i < 500; i++) {
        int value = -1;
        CHECK_EQ(strlen(texts[i]), 50 + i);
        CHECK_EQ(sscanf(texts[i], "%d", &value), 1);
        CHECK_EQ(value, i);
    }
    arena_free(&arena);
}

TEST(text_pool_keeps_one_copy_of_each_text)
{
    enum { TEXTS = 1000 };
    struct arena keep;
    struct text_pool pool;
    const char *first[TEXTS];
    char text[16];
    arena_init(&keep, 0);
    text_pool_init(&pool, &keep);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < TEXTS; i++) {
            const int size = snprintf(text, sizeof text, "%d", i);
            const char *kept = text_pool_add(&pool, text, (size_t)size);
            REQUIRE(kept != NULL);
            CHECK_STR(kept, text);
            if (round == 0)
                first[i] = kept;
            CHECK(kept == first[i]);
        }
    CHECK_EQ(pool.count, TEXTS);
    CHECK_STR(text_pool_add(&pool, "123456", 3), "123"); /* the size decides, not a NUL */
    CHECK_STR(text_pool_add(&pool, "", 0), "");
    arena_free(&keep);
}

TEST(arena_fails_at_the_nth_request_when_told)
{
    struct arena arena;
    arena_init(&arena, 0);
    arena.fail_after = 3;
    CHECK(arena_alloc(&arena, 1) != NULL);
    CHECK(arena_alloc(&arena, 1) != NULL);
    CHECK(arena_alloc(&arena, 1) == NULL);
    CHECK(arena_alloc(&arena, 1) != NULL);
    arena_free(&arena);
}

static const struct {
    const char *name;
    size_t room, wanted, size, want;
} rooms[] = {
    {"the first element", 0, 1, 4, 16},
    {"doubles", 16, 17, 4, 32},
    {"more than double at once", 16, 100, 4, 100},
    {"more bytes than a size_t counts", SIZE_MAX / 8, SIZE_MAX / 8 + 1, 8, 0},
    {"past half, no doubling", SIZE_MAX / 8 - 8, SIZE_MAX / 8 - 7, 8, SIZE_MAX / 8},
    {"the product would overflow", 0, SIZE_MAX, 2, 0},
};

TEST(array_room_doubles_and_never_overflows)
{
    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        test_row(rooms[i].name);
        CHECK_EQ(array_next_room(rooms[i].room, rooms[i].wanted, rooms[i].size), rooms[i].want);
    }
}

TEST(the_newest_array_of_an_arena_grows_in_place)
{
    enum { ODD_BYTES = 5 }; /* so that the end of an array is not aligned */
    struct arena arena, same;
    uint32_t room = 0, other_room = 0;
    arena_init(&arena, 1 << 16);
    uint8_t *first = arena_reserve(&arena, NULL, &room, 3, ODD_BYTES);
    REQUIRE(first != NULL);
    const uint32_t had = room;
    memset(first, 0xee, (size_t)room * ODD_BYTES);

    test_row("in place, and what is new is zero");
    CHECK(arena_reserve(&arena, first, &room, had + 1, ODD_BYTES) == first);
    CHECK(room > had);
    check_fence(first, (size_t)room * ODD_BYTES);
    for (size_t i = (size_t)had * ODD_BYTES; i < (size_t)room * ODD_BYTES; i++)
        CHECK_EQ(first[i], 0);
    memset(first, 0xee, (size_t)room * ODD_BYTES);

    test_row("trimmed: the rest is handed out again, as zero");
    const size_t used = arena.used_bytes;
    arena_trim(&arena, first, &room, 3, ODD_BYTES);
    CHECK_EQ(room, 3);
    arena_init(&same, 0);
    CHECK(arena_alloc(&same, (size_t)3 * ODD_BYTES) != NULL);
    CHECK_EQ(arena.used_bytes, same.used_bytes);
    arena_free(&same);
    check_fence(first, (size_t)3 * ODD_BYTES);
    CHECK(arena.used_bytes < used);
    CHECK(arena_reserve(&arena, first, &room, 4, ODD_BYTES) == first);
    CHECK_EQ(first[14], 0xee);
    for (size_t i = 15; i < (size_t)room * ODD_BYTES; i++)
        CHECK_EQ(first[i], 0);

    test_row("not the newest: moved, and not trimmed");
    uint8_t *other = arena_reserve(&arena, NULL, &other_room, 1, ODD_BYTES);
    REQUIRE(other != NULL);
    const uint32_t kept = room;
    arena_trim(&arena, first, &room, 1, ODD_BYTES);
    CHECK_EQ(room, kept);
    uint8_t *moved = arena_reserve(&arena, first, &room, kept + 1, ODD_BYTES);
    REQUIRE(moved != NULL);
    CHECK(moved != first);
    CHECK_EQ(moved[14], 0xee);
    arena_free(&arena);
}

TEST(arrays_grow_and_keep_their_elements)
{
    struct arena arena;
    uint32_t room = 0, arena_room = 0;
    uint32_t *heap = NULL, *kept = NULL;
    arena_init(&arena, 1 << 16);
    for (uint32_t i = 0; i < 1000; i++) {
        heap = array_reserve(heap, &room, i + 1, sizeof *heap);
        kept = arena_reserve(&arena, kept, &arena_room, i + 1, sizeof *kept);
        REQUIRE(heap != NULL && kept != NULL);
        heap[i] = kept[i] = i * 3;
    }
    CHECK_EQ(heap[0] + heap[999], 2997);
    CHECK_EQ(kept[17] + kept[998], 51 + 2994);
    CHECK_EQ(room, 1024);
    CHECK_EQ(arena_room, 1024);

    test_row("beyond what 32 bits count");
    CHECK(array_reserve(heap, &room, (uint64_t)UINT32_MAX + 1, sizeof *heap) == NULL);
    CHECK(arena_reserve(&arena, kept, &arena_room, (uint64_t)UINT32_MAX + 1, 1) == NULL);
    const uint64_t beyond = (uint64_t)UINT32_MAX + 1;
    CHECK(!ARRAY_ROOM(heap, room, beyond) && heap != NULL);
    test_row("beyond the arena's limit");
    CHECK(arena_reserve(&arena, kept, &arena_room, 1 << 20, sizeof *kept) == NULL);
    CHECK_EQ(room, 1024);
    CHECK_EQ(arena_room, 1024);
    CHECK_EQ(heap[999], 2997);
    test_row("more room than there is");
    CHECK(ARRAY_ROOM(heap, room, 1025) && room >= 1025 && heap[999] == 2997);
    free(heap);
    arena_free(&arena);
}

TEST(hashes_are_fnv_1a)
{
    CHECK_HEX(hash_text(HASH_START, ""), 0xcbf29ce484222325);
    CHECK_HEX(hash_text(HASH_START, "a"), 0xaf63dc4c8601ec8c);
    CHECK_HEX(hash_text(HASH_START, "foobar"), 0x85944171f73967e8);
    CHECK_HEX(hash_bytes(HASH_START, "foobar", 6), 0x85944171f73967e8);
    CHECK_HEX(hash_text_nocase(HASH_START, "FooBAR"), 0x85944171f73967e8);
    CHECK_HEX(hash_fold(0x123456789abcdef0), 0x88888888);
}

TEST(names_compare_without_case_beyond_ascii)
{
    static const struct {
        const char *name, *a, *b;
        bool same;
    } rows[] = {
        {"ASCII", "App.EXE", "aPP.exe", true},
        {"a letter more", "app.exe", "app.exes", false},
        {"umlauts", "B\u00DCCHER.EXE", "b\u00FCcher.exe", true},
        {"only the umlaut differs", "b\u00DCcher", "b\u00FCcher", true},
        {"another umlaut", "b\u00FCcher", "b\u00F6cher", false},
        {"sharp s is no capital", "stra\u00DFe", "strasse", false},
        {"the sign of division", "a\u00F7", "a\u00D7", false},
        {"Polish", "\u0141\u00D3D\u0179", "\u0142\u00F3d\u017A", true},
        {"Turkish, whose dotted I has another small letter", "\u0130", "i", false},
        {"Y with dots", "\u0178", "\u00FF", false},
        {"the last before Polish L", "\u0136\u013D", "\u0137\u013E", true},
        {"a capital of an even number", "\u0100\u0176\u0460", "\u0101\u0177\u0461", true},
        {"kra is small, and no pair of its own", "\u0138", "\u0139", false},
        {"Greek", "\u0391\u03A9", "\u03B1\u03C9", true},
        {"Cyrillic", "\u041F\u0420\u0418\u0401", "\u043F\u0440\u0438\u0451", true},
        {"three bytes", "\u4E2D\u6587.exe", "\u4E2D\u6587.EXE", true},
        {"other three bytes", "\u4E2D\u6587", "\u4E2D\u6588", false},
        {"no UTF-8", "\x80\x81", "\x80\x82", false},
        {"no UTF-8, at the start", "\x80", "\x81", false},
        {"the same, cut", "a\xC3", "A\xC3", true},
        {"empty", "", "", true},
        {"nothing, and an umlaut", "", "\u00FC", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(text_equal_nocase(rows[i].a, rows[i].b), rows[i].same);
        CHECK_EQ(text_equal_nocase(rows[i].b, rows[i].a), rows[i].same);
        if (rows[i].same)
            CHECK_EQ(hash_text_nocase(HASH_START, rows[i].a),
                     hash_text_nocase(HASH_START, rows[i].b));
    }
}

TEST(capitals_become_small)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"the first and the last", "AZ", "az"},
        {"beside the first and the last", "@[`{", "@[`{"},
        {"digits and marks stay", "KERNEL32.DLL_09", "kernel32.dll_09"},
        {"letters above ASCII stay", "\u00C4\u0416Q", "\u00C4\u0416q"},
        {"nothing", "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[32];
        test_row(rows[i].name);
        memset(text, 'X', sizeof text); /* what is after the end stays */
        memcpy(text, rows[i].text, strlen(rows[i].text) + 1);
        text_lower(text);
        CHECK_STR(text, rows[i].want);
        CHECK_EQ(text[strlen(rows[i].text) + 1], 'X');
    }
}

struct pair {
    int key, place;
};

static int by_key(const void *a, const void *b)
{
    return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

TEST(array_upper_is_the_first_element_after_the_key)
{
    static const struct {
        const char *name;
        uint32_t count;
        uint64_t key;
        uint32_t want;
    } rows[] = {
        {"empty", 0, 5, 0},
        {"before the first", 5, 1, 0},
        {"the first", 5, 2, 1},
        {"between two", 5, 3, 1},
        {"equal keys", 5, 4, 4},
        {"the last", 5, 9, 5},
        {"after it", 5, UINT64_MAX, 5},
    };
    static const uint32_t narrow[] = {2, 4, 4, 4, 9};
    static const struct {
        char other;
        uint64_t key;
    } wide[] = {{'a', 2}, {'b', 4}, {'c', 4}, {'d', 4}, {'e', 9}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(array_upper(narrow, rows[i].count, sizeof *narrow, sizeof *narrow, rows[i].key),
                 rows[i].want);
        CHECK_EQ(ARRAY_UPPER(wide, rows[i].count, key, rows[i].key), rows[i].want);
    }
}

static int by_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_uint(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* As array_sort() does, which compares. */
TEST(numbers_are_sorted_without_comparing)
{
    enum { MOST = 3000 };
    static const struct {
        const char *name;
        size_t count;
        uint64_t mask;
    } rows[] = {
        {"none", 0, UINT64_MAX},
        {"one", 1, UINT64_MAX},
        {"few", 48, UINT64_MAX},
        {"one more", 49, UINT64_MAX},
        {"many", MOST, UINT64_MAX},
        {"many, often equal", MOST, 0x30},
        {"all equal", MOST, 0},
        {"in a byte of the middle", MOST, 0xff000000},
        {"in two bytes", MOST, 0x4000000000000fff},
    };
    static struct number {
        union {
            uint64_t bits;
            double value;
        } is;
        uint64_t at;
    } numbers[MOST], want[MOST];
    uint64_t state = 1;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int doubles = 0; doubles < 2; doubles++) {
            const size_t count = rows[i].count;
            test_row(rows[i].name);
            for (size_t k = 0; k < count; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                const uint64_t bits = (state ^ state >> 29) & rows[i].mask;
                numbers[k].at = k;
                numbers[k].is.bits = bits;
                if (doubles != 0)
                    numbers[k].is.value = (double)(int64_t)bits / 1e3;
            }
            memcpy(want, numbers, sizeof want);
            array_sort(want, count, sizeof *want, doubles != 0 ? by_double : by_uint);
            if (doubles != 0)
                array_sort_doubles(numbers, count, sizeof *numbers);
            else
                array_sort_numbers(numbers, count, sizeof *numbers);
            CHECK(memcmp(numbers, want, count * sizeof *want) == 0);
        }
}

/* Sorted numbers stay, and an array can be left with room for what it holds alone. */
TEST(array_fit_keeps_what_is_there)
{
    uint32_t room = 0;
    uint64_t *items = NULL;
    REQUIRE(ARRAY_ROOM(items, room, 100000));
    for (uint32_t i = 0; i < 100; i++)
        items[i] = i / 2;
    array_sort_numbers(items, 100, sizeof *items);
    items = ARRAY_FIT(items, 100);
    REQUIRE(items != NULL);
    for (uint32_t i = 0; i < 100; i++)
        CHECK_EQ(items[i], i / 2);
    CHECK(ARRAY_FIT(items, 0) == NULL);
}

TEST(array_sort_keeps_the_order_of_equals)
{
    static const size_t sizes[] = {0, 1, 2, 3, 7, 64, 1000, 1023};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        static struct pair pairs[1024];
        const size_t count = sizes[i];
        for (size_t k = 0; k < count; k++)
            pairs[k] = (struct pair){(int)(k * 7919 % 11), (int)k};
        array_sort(pairs, count, sizeof *pairs, by_key);
        for (size_t k = 1; k < count; k++)
            if (!CHECK(pairs[k - 1].key < pairs[k].key ||
                       (pairs[k - 1].key == pairs[k].key && pairs[k - 1].place < pairs[k].place)))
                break;
    }
}

/* C0, DEL and C1 of ISO 6429; C1 is two bytes in UTF-8, U+0080 to U+009F. */
TEST(control_characters_are_those_of_iso_6429)
{
    static const struct {
        const char *name, *text;
        size_t length;
    } rows[] = {
        {"the end", "", 0},         {"U+0001", "\x01", 1},
        {"U+001F", "\x1f", 1},      {"a blank", " ", 0},
        {"a letter", "a", 0},       {"U+007E", "~", 0},
        {"U+007F", "\x7f", 1},      {"U+0080", "\xc2\x80", 2},
        {"U+0085", "\xc2\x85z", 2}, {"U+009F", "\xc2\x9f", 2},
        {"U+00A0", "\xc2\xa0", 0},  {"U+00C0", "\xc3\x80", 0},
        {"cut", "\xc2", 0},         {"a byte of C1 alone", "\x85", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(text_control_length(rows[i].text), rows[i].length);
    }
}
