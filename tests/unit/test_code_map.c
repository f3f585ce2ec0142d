/* The capture's code map: what it refuses, and that a map without room is written whole as far as
 * it goes, says so, and is what the reader reads. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/record/record.h"
#include "test.h"
#include "use_code_map.h"

enum { CODE_AT = 0x100000 };

static uint8_t mvid[16] = {1};

static bool add(uint64_t start, uint64_t bytes, uint32_t assembly, uint32_t map_count)
{
    static struct capture_il map[CAP_IL_MAPS + 1];
    for (uint32_t i = 0; i < map_count && i < COUNT_OF(map); i++)
        map[i] = (struct capture_il){i, i};
    const struct capture_method method = {.size = sizeof method,
                                          .token = 0x06000001,
                                          .assembly = assembly,
                                          .map_count = map_count,
                                          .map = map,
                                          .start = (const void *)(uintptr_t)start,
                                          .bytes = bytes};
    return capture_register_method(&method);
}

/* Reads what the capture writes, in both forms; the stream's is in OUT. */
static void read_back(struct arena *keep, struct record *out)
{
    struct fault fault = FAULT_INIT;
    struct record file;
    uint32_t bytes = 0;
    const uint8_t *at = code_map_record(&bytes);
    arena_init(keep, 0);
    CHECK_EQ(record_read(bytes_over(at, bytes, &fault), keep, &file), ERR_NONE);
    CHECK(!file.partial);
    at = code_map_stream(&bytes);
    CHECK(bytes <= CAP_BUFFER_BYTES);
    CHECK_EQ(record_read_stream(bytes_over(at, bytes, &fault), keep, out), ERR_NONE);
    CHECK(!out->partial);
    CHECK_EQ(file.method_count, out->method_count);
    CHECK_EQ(file.assembly_count, out->assembly_count);
    CHECK_EQ(file.code_count, out->code_count);
}

TEST(regions_that_are_none_are_refused)
{
    static const struct {
        const char *name;
        uint64_t start, bytes;
        bool want;
    } rows[] = {
        {"one byte", CODE_AT, 1, true},
        {"the last byte there is", UINT64_MAX, 1, true},
        {"no byte", CODE_AT, 0, false},
        {"no place", 0, 16, false},
        {"beyond the last byte", UINT64_MAX, 2, false},
        {"all bytes", CODE_AT, UINT64_MAX, false},
        {"more than any method has", CODE_AT, UINT64_C(1) << 31, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct record r;
        test_row(rows[i].name);
        code_map_reset();
        CHECK_EQ(add(rows[i].start, rows[i].bytes, 0, 0), rows[i].want);
        CHECK_EQ(capture_register_code("f", (const void *)(uintptr_t)rows[i].start, rows[i].bytes),
                 rows[i].want);
        CHECK_EQ(cap_crash_method_at(rows[i].start) != NULL, rows[i].want);
        CHECK(cap_crash_method_at(0x10) == NULL);
        CHECK(cap_crash_method_at(rows[i].start + rows[i].bytes) == NULL);
        read_back(&keep, &r);
        CHECK_EQ(r.method_count + r.code_count, rows[i].want ? 2 : 0);
        CHECK_EQ(r.code_left_out, 0);
        arena_free(&keep);
    }
}

TEST(methods_of_an_assembly_that_is_none)
{
    static const uint32_t numbers[] = {1, 2, CAP_ASSEMBLIES, CAP_ASSEMBLIES + 1, UINT32_MAX};
    for (uint32_t registered = 0; registered < CAP_ASSEMBLIES + 3; registered += 13)
        for (size_t i = 0; i < COUNT_OF(numbers); i++) {
            const bool is_known = numbers[i] <= registered && numbers[i] <= CAP_ASSEMBLIES;
            struct arena keep;
            struct record r;
            code_map_reset();
            for (uint32_t k = 0; k < registered; k++)
                CHECK_EQ(capture_register_assembly(L"a.dll", NULL, mvid),
                         k < CAP_ASSEMBLIES ? k + 1 : 0);
            CHECK(add(CODE_AT, 16, numbers[i], 3));
            read_back(&keep, &r);
            REQUIRE(r.method_count == 1 && r.methods[0].map_count == 3);
            CHECK_EQ(r.methods[0].assembly != NULL, is_known);
            CHECK_EQ(r.code_left_out,
                     registered > CAP_ASSEMBLIES ? registered - CAP_ASSEMBLIES : 0);
            arena_free(&keep);
        }
}

TEST(an_incomplete_method_is_refused)
{
    struct capture_method method = {
        .size = sizeof method, .start = (const void *)CODE_AT, .bytes = 1, .map_count = 1};
    code_map_reset();
    CHECK(!capture_register_method(&method)); /* it has no map */
    method.map_count = 0;
    method.size = offsetof(struct capture_method, type_arguments) - 1;
    CHECK(!capture_register_method(&method));
    CHECK_EQ(cap_managed.left_out, 0);
}

static const struct {
    const char *name, *types, *want;
    uint32_t size;
} arguments[] = {
    {"of no generic code", NULL, NULL, sizeof(struct capture_method)},
    {"no text", "", NULL, sizeof(struct capture_method)},
    {"eight bytes", "A;B.C.DE", "A;B.C.DE", sizeof(struct capture_method)},
    {"nine bytes", "A;B.C.DEF", "A;B.C.DEF", sizeof(struct capture_method)},
    {"a program that knows no such member", "A;", NULL,
     offsetof(struct capture_method, type_arguments)},
};

TEST(type_arguments_are_kept)
{
    static const struct capture_il map[] = {{0, 0}, {4, 1}};
    code_map_reset();
    for (uint32_t i = 0; i < COUNT_OF(arguments); i++) {
        const struct capture_method method = {.size = arguments[i].size,
                                              .token = 0x06000001,
                                              .map = map,
                                              .map_count = COUNT_OF(map),
                                              .start = (const void *)(uintptr_t)(CODE_AT + i * 16),
                                              .bytes = 16,
                                              .type_arguments = arguments[i].types};
        CHECK(capture_register_method(&method));
    }
    struct arena keep;
    struct record r;
    read_back(&keep, &r);
    REQUIRE(r.method_count == COUNT_OF(arguments));
    for (uint32_t i = 0; i < COUNT_OF(arguments); i++) {
        test_row(arguments[i].name);
        CHECK_EQ(r.methods[i].map_count, COUNT_OF(map));
        CHECK_STR(r.methods[i].type_arguments != NULL ? r.methods[i].type_arguments : "none",
                  arguments[i].want != NULL ? arguments[i].want : "none");
    }
    CHECK_EQ(r.code_left_out, 0);
    arena_free(&keep);
}

TEST(a_method_whose_type_arguments_have_no_room_is_kept)
{
    static char most[CAP_TYPE_BYTES + 1];
    struct capture_method method = {.size = sizeof method,
                                    .token = 0x06000001,
                                    .start = (const void *)CODE_AT,
                                    .bytes = 16,
                                    .type_arguments = most};
    struct arena keep;
    struct record r;
    memset(most, 'A', CAP_TYPE_BYTES);
    code_map_reset();
    CHECK(capture_register_method(&method));
    method.start = (const void *)(CODE_AT + 16);
    method.type_arguments = "B;";
    CHECK(capture_register_method(&method));
    read_back(&keep, &r);
    REQUIRE(r.method_count == 2);
    CHECK_EQ(strlen(r.methods[0].type_arguments), CAP_TYPE_BYTES);
    CHECK(r.methods[1].type_arguments == NULL);
    CHECK_EQ(r.code_left_out, 1);
    arena_free(&keep);
}

/* As many rows as fit. Sizes of entries are multiples of 8, and the last ones have 24 bytes: names
 * of three lengths leave each of the three possible rests. */
TEST(a_full_map_is_written_and_what_had_no_room_is_counted)
{
    enum { BEYOND = 100, ROWS = CAP_IL_MAPS / CAP_METHODS, METHOD_BYTES = 0x80 };
    static const char *const names[] = {"12345678", "123456789abcdefg", "123456789abcdefg12345678"};
    for (size_t n = 0; n < COUNT_OF(names); n++) {
        struct arena keep;
        struct record r;
        test_row(names[n]);
        code_map_reset();
        for (uint32_t i = 0; i < CAP_METHODS + BEYOND; i++)
            CHECK_EQ(add(CODE_AT + (uint64_t)i * METHOD_BYTES, METHOD_BYTES, 0, ROWS),
                     i < CAP_METHODS);
        for (uint32_t i = 0; i < CAP_CODE_MAPS + BEYOND; i++)
            CHECK_EQ(capture_register_code(names[i == 0 ? n : 0],
                                           (const void *)(CODE_AT + (uintptr_t)i), 1),
                     i < CAP_CODE_MAPS);
        read_back(&keep, &r);
        CHECK_EQ(r.method_count, CAP_METHODS);
        CHECK_EQ(r.function_count, CAP_MANAGED_FUNCTIONS + CAP_CODE_MAPS);
        CHECK(r.memory_count >= r.function_count);
        /* code without room, on top of the methods and codes that were refused */
        CHECK_EQ(r.code_left_out, 2 * BEYOND + (CAP_MANAGED_FUNCTIONS + CAP_METHODS +
                                                2 * CAP_CODE_MAPS - r.memory_count));
        arena_free(&keep);
    }
}

TEST(a_map_that_is_too_long_takes_no_method)
{
    code_map_reset();
    CHECK(!add(CODE_AT, 16, 0, CAP_IL_MAPS + 1));
    CHECK(add(CODE_AT, 16, 0, CAP_IL_MAPS));
    CHECK(!add(CODE_AT + 16, 16, 0, 1));
    CHECK(add(CODE_AT + 32, 16, 0, 0));
    CHECK_EQ(cap_managed.method_count, 2);
    CHECK_EQ(cap_managed.left_out, 2);
}

TEST(names_are_cut)
{
    struct arena keep;
    struct record r;
    char *name = malloc(65537);
    REQUIRE(name != NULL);
    memset(name, 'n', 65536);
    name[65536] = '\0';
    code_map_reset();
    CHECK(capture_register_code(name, (const void *)CODE_AT, 16));
    CHECK(capture_register_code("", (const void *)(CODE_AT + 16), 16));
    free(name);
    read_back(&keep, &r);
    REQUIRE(r.code_count == 2);
    CHECK_EQ(strlen(r.codes[0].name), CAP_NAME_BYTES - 1);
    CHECK(r.codes[1].name == NULL);
    arena_free(&keep);
}

/* Code that the runtime frees and puts other code in the place of. */
TEST(of_two_at_one_place_the_later_one_counts)
{
    struct arena keep;
    struct record r;
    code_map_reset();
    CHECK(capture_register_code("before", (const void *)CODE_AT, 64));
    CHECK(capture_register_code("now", (const void *)CODE_AT, 16));
    CHECK(add(CODE_AT + 0x1000, 64, 0, 0) && add(CODE_AT + 0x1000, 16, 0, 1));
    read_back(&keep, &r);
    REQUIRE(record_code_at(&r, CODE_AT) != NULL);
    CHECK_STR(record_code_at(&r, CODE_AT)->name, "now");
    REQUIRE(record_method_at(&r, CODE_AT + 0x1000) != NULL);
    CHECK_EQ(record_method_at(&r, CODE_AT + 0x1000)->map_count, 1);
    CHECK(cap_crash_method_at(CODE_AT + 0x1000) == &cap_managed.methods[1]);
    REQUIRE(record_function_at(&r, CODE_AT) != NULL);
    arena_free(&keep);
}
