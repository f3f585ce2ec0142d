/* The JSON of streams that are reported as values and of those that are reported as bytes. Then
 * every dump is cut short, every stream is cut short, and every number of every stream is made
 * huge. */
#include <stdlib.h>
#include <string.h>

#include "format/minidump/minidump.h"
#include "minidump_rows.h"
#include "test.h"

/* Reads SIZE bytes with all details.  Returns the JSON, to be freed; NULL: not a dump. */
static char *details_json(const uint8_t *data, size_t size, bool *partial, struct fault *last)
{
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    struct json j;
    char *text = NULL;
    arena_init(&arena, (size_t)8 << 20);
    if (minidump_read(data, size, &arena, &dump, &fault) == ERR_NONE) {
        CHECK_EQ(minidump_read_details(&dump, &arena, &fault), ERR_NONE);
        json_to_text(&j, false);
        minidump_write_json(&j, &dump);
        text = json_take(&j, NULL);
        CHECK(text != NULL);
        *partial = dump.partial;
        if (last != NULL)
            *last = dump.streams[dump.stream_count - 1].fault;
    }
    arena_free(&arena);
    return text;
}

TEST(each_stream_is_told)
{
    for (size_t i = 0; i < minidump_row_count; i++) {
        struct maker m;
        bool partial = false;
        test_row(minidump_rows[i].name);
        minidump_row_make(&m, &minidump_rows[i]);
        char *json = details_json(m.data, m.at, &partial, NULL);
        REQUIRE(json != NULL);
        CHECK(!partial);
        const char *content = strstr(json, "\"reported_in\":");
        for (uint32_t k = 1; content != NULL && k < m.streams; k++)
            content = strstr(content + 1, "\"reported_in\":");
        REQUIRE(content != NULL);
        content += strlen("\"reported_in\":");
        CHECK(strncmp(content, minidump_rows[i].json_member,
                      strlen(minidump_rows[i].json_member)) == 0);
        CHECK_HAS(content, minidump_rows[i].content);
        free(json);
    }
}

TEST(memory_that_runs_out_is_a_fault)
{
    for (size_t i = 0; i < minidump_row_count; i++) {
        struct maker m;
        bool whole = false;
        test_row(minidump_rows[i].name);
        minidump_row_make(&m, &minidump_rows[i]);
        for (uint64_t n = 1; !whole && n < 1000; n++) {
            struct fault fault = FAULT_INIT;
            struct minidump dump;
            struct arena keep;
            arena_init(&keep, 0);
            keep.fail_after = n;
            enum status got = minidump_read(m.data, m.at, &keep, &dump, &fault);
            const bool lost = got == ERR_NONE && keep.fail_after == 0;
            if (got == ERR_NONE)
                got = minidump_read_details(&dump, &keep, &fault);
            whole = got == ERR_NONE && keep.fail_after != 0;
            if (lost || (got != ERR_NONE && got != ERR_MEMORY)) /* a text may be shown as bytes */
                FAIL("at request %u: %d", (unsigned)n, (int)got);
            arena_free(&keep);
        }
        CHECK(whole);
    }
}

TEST(every_dump_cut_short)
{
    for (size_t i = 0; i < minidump_row_count; i++) {
        struct maker m;
        test_row(minidump_rows[i].name);
        minidump_row_make(&m, &minidump_rows[i]);
        for (uint32_t size = 0; size < m.at; size++) {
            bool partial = false;
            uint8_t *copy = test_copy(m.data, size);
            char *json = details_json(copy, size, &partial, NULL);
            CHECK(json == NULL || partial); /* the stream ends the file */
            free(json);
            free(copy);
        }
    }
}

TEST(every_stream_cut_short)
{
    for (size_t i = 0; i < minidump_row_count; i++) {
        struct maker m;
        test_row(minidump_rows[i].name);
        minidump_row_make(&m, &minidump_rows[i]);
        uint8_t *row = m.data + 32 + (m.streams - 1) * (size_t)12;
        uint32_t bytes = load_u32(row + 4);
        for (uint32_t left = 0; left < bytes; left++) {
            bool partial = false;
            memcpy(row + 4, &left, sizeof(left));
            char *json = details_json(m.data, m.at, &partial, NULL);
            REQUIRE(json != NULL);
            free(json);
        }
    }
}

TEST(numbers_made_huge_cost_little)
{
    static const uint32_t values[] = {0, 1, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < minidump_row_count; i++) {
        struct maker m;
        test_row(minidump_rows[i].name);
        minidump_row_make(&m, &minidump_rows[i]);
        for (uint32_t at = 32 + 16 * 12; at + 4 <= m.at; at += 2)
            for (size_t v = 0; v < COUNT_OF(values); v++) {
                bool partial;
                uint8_t old[4];
                memcpy(old, m.data + at, 4);
                memcpy(m.data + at, &values[v], 4);
                char *json = details_json(m.data, m.at, &partial, NULL);
                REQUIRE(json != NULL);
                CHECK(strlen(json) < (size_t)1 << 20);
                free(json);
                memcpy(m.data + at, old, 4);
            }
    }
}

static const struct {
    const char *name;
    const char *row;
    uint32_t from_stream; /* offset of the changed number in the stream */
    uint32_t value;
    enum status code;
    const char *what;
    const char *stays; /* content that the JSON still has */
} damages[] = {
    {"vector cut in a pair", "auxiliary vector, 64 bit", UINT32_MAX, 4, ERR_TRUNCATED, "structure",
     "{\"type\":99,\"name\":null,\"value\":\"0x5\"}]}"},
    {"more images than the file has", "loader, 64 bit aligned", 8, 0x10000000, ERR_TRUNCATED,
     "counted records", "\"link_map\":[],\"dynamic_section\":[{\"tag\":\"0x5\""},
    {"images past the end", "loader, 64 bit aligned", 4, 0x7fffffff, ERR_TRUNCATED,
     "range inside the file", "\"link_map\":[],\"dynamic_section\":[{\"tag\":\"0x5\""},
    {"too many macOS records", "macOS crash information", 4, 21, ERR_MALFORMED,
     "number of macOS crash records", "{\"version\":1}]"},
    {"macOS record past the end", "macOS crash information", 16, 0x7fffffff, ERR_TRUNCATED,
     "macOS crash record", "\"content\":[{\"version\":4"},
    {"macOS record too short", "macOS crash information", 12, 8, ERR_TRUNCATED,
     "macOS crash record", "\"message2\":\"two\"}"},
    {"macOS texts past the end", "macOS crash information", 8, 0x1000, ERR_TRUNCATED,
     "macOS crash record", "\"abort_cause\":\"0x9\"}"},
    {"boot arguments past the end", "macOS boot arguments", 4, 0x7fffffff, ERR_TRUNCATED,
     "boot arguments", "{\"boot_args\":null}"},
    {"another version of Sentry's stacks", "stacks by Sentry", 0, 2, ERR_UNSUPPORTED,
     "version of Sentry's stacks", "\"architecture\":9"},
    {"frames that are not there", "stacks by Sentry", 16 + 8, 3, ERR_TRUNCATED,
     "range inside the file", "[{\"thread\":123,\"frames\":[]}]"},
    {"a name past the names", "stacks by Sentry", 16 + 40 + 12, 11, ERR_TRUNCATED,
     "range inside the file", "[{\"thread\":123,\"frames\":[{\"address\":\"0x1337\"}]}]"},
    {"handle operations too short", "handle operations", 4, 31, ERR_MALFORMED,
     "handle operation header", "\"architecture\":9"},
    {"more operations than there are", "handle operations", 8, 3, ERR_TRUNCATED, "counted records",
     "\"content\":[]"},
    {"stack deeper than its room", "handle operations", 16 + 24, 3, ERR_MALFORMED,
     "depth of a handle's stack", "\"handle\":\"0x42\""},
};

TEST(damage_is_said_and_the_rest_goes_on)
{
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        struct maker m;
        struct fault fault = FAULT_INIT;
        bool partial = false;
        test_row(damages[i].name);
        maker_start(&m);
        maker_system_info(&m, 9);
        minidump_row_find(damages[i].row)->fill(&m);
        if (damages[i].from_stream == UINT32_MAX)
            m.at -= damages[i].value;
        else
            memcpy(m.data + m.rows[1][2] + damages[i].from_stream, &damages[i].value, 4);
        maker_stream_end(&m);
        maker_finish(&m);
        char *json = details_json(m.data, m.at, &partial, &fault);
        REQUIRE(json != NULL);
        CHECK(partial);
        CHECK_EQ(fault.code, damages[i].code);
        CHECK(fault.offset != FAULT_NO_OFFSET);
        CHECK_STR(fault.what, damages[i].what);
        CHECK_HAS(json, damages[i].stays);
        free(json);
    }
}

TEST(a_chain_of_objects_that_bites_its_tail_ends)
{
    struct maker m;
    struct fault fault = FAULT_INIT;
    bool partial = false;
    maker_start(&m);
    uint32_t loop = m.at;
    MAKER_PUT(&m, 4, loop, 1, 0);
    maker_stream_begin(&m, STREAM_HANDLE_DATA);
    MAKER_PUT(&m, 4, 16, 40, 1, 0);
    maker_put(&m, 0x48, 8);
    MAKER_PUT(&m, 4, 0, 0, 0, 0, 0, 0, loop, 0);
    maker_stream_end(&m);
    maker_finish(&m);
    char *json = details_json(m.data, m.at, &partial, &fault);
    CHECK_EQ(fault.code, ERR_LIMIT);
    CHECK_STR(fault.what, "information of a handle's object");
    CHECK_HAS(json, "\"handle\":\"0x48\"");
    free(json);
}

/* Handles that all use the same chain of objects: 8,900 values in a file of 5 KB. */
TEST(lists_over_one_place_end)
{
    struct maker m;
    struct fault fault = FAULT_INIT;
    bool partial = false;
    maker_start(&m);
    uint32_t chain = m.at;
    for (uint32_t i = 1; i <= 16; i++)
        MAKER_PUT(&m, 4, i < 16 ? chain + 12 * i : 0, 1, 0);
    maker_stream_begin(&m, STREAM_HANDLE_DATA);
    MAKER_PUT(&m, 4, 16, 40, 100, 0);
    for (uint32_t i = 0; i < 100; i++) {
        maker_put(&m, 4 * i, 8);
        MAKER_PUT(&m, 4, 0, 0, 0, 0, 0, 0, chain, 0);
    }
    maker_stream_end(&m);
    maker_finish(&m);
    char *json = details_json(m.data, m.at, &partial, &fault);
    REQUIRE(json != NULL);
    CHECK_EQ(fault.code, ERR_LIMIT);
    CHECK_STR(fault.what, "values of minidump streams");
    CHECK(strlen(json) < (size_t)1 << 20);
    free(json);
}

/* Threads that have the same frames, which all have the same name: 9.6 MB of names in 16 KB. */
TEST(names_over_one_place_end)
{
    enum { FRAMES = 400, NAME_BYTES = 8000 };
    static struct maker m;
    struct fault fault = FAULT_INIT;
    bool partial = false;
    maker_start(&m);
    maker_stream_begin(&m, STREAM_SENTRY_STACKS);
    MAKER_PUT(&m, 4, 1, 3, FRAMES, NAME_BYTES);
    MAKER_PUT(&m, 4, 7, 0, FRAMES, 8, 0, FRAMES, 9, 0, FRAMES, 0);
    for (uint32_t i = 0; i < FRAMES; i++) {
        maker_put(&m, 0x1000 + i, 8);
        MAKER_PUT(&m, 4, 0, NAME_BYTES);
    }
    memset(m.data + m.at, 'n', NAME_BYTES);
    m.at += NAME_BYTES;
    maker_stream_end(&m);
    maker_finish(&m);
    char *json = details_json(m.data, m.at, &partial, &fault);
    REQUIRE(json != NULL);
    CHECK_EQ(fault.code, ERR_LIMIT);
    CHECK_STR(fault.what, "minidump text length");
    CHECK_HAS(json, "\"address\":\"0x1000\",\"name\":\"nnn");
    CHECK(strlen(json) < (size_t)5 << 20);
    free(json);
}

/* Many streams over the same bytes must not multiply them. */
TEST(bytes_are_shown_about_once)
{
    struct maker m;
    bool partial = false;
    maker_start(&m);
    m.at = 16000;
    for (m.streams = 0; m.streams < 16; m.streams++) {
        m.rows[m.streams][0] = 0x20000 + m.streams;
        m.rows[m.streams][1] = 15000;
        m.rows[m.streams][2] = 500;
    }
    maker_finish(&m);
    char *json = details_json(m.data, m.at, &partial, NULL);
    REQUIRE(json != NULL);
    CHECK(strlen(json) < (size_t)2 * 16000 + 8000);
    CHECK_HAS(json, "\"bytes_shown\":15000");
    CHECK_HAS(json, "\"bytes_shown\":1000");
    CHECK_HAS(json, "\"bytes_shown\":0");
    free(json);
}

TEST(of_two_streams_of_a_type_the_second_is_bytes)
{
    struct maker m;
    bool partial = false;
    maker_start(&m);
    maker_system_info(&m, 9);
    minidump_row_find("auxiliary vector, 64 bit")->fill(&m);
    maker_stream_end(&m);
    minidump_row_find("auxiliary vector, 64 bit")->fill(&m);
    maker_stream_end(&m);
    maker_system_info(&m, 0);
    maker_finish(&m);
    char *json = details_json(m.data, m.at, &partial, NULL);
    REQUIRE(json != NULL);
    CHECK_HAS(json, "\"content\":[{\"type\":33,");
    CHECK_HAS(json, "\"hex\":\"2100000000000000");
    CHECK_HAS(json, "\"bytes_shown\":56}");
    free(json);
}
