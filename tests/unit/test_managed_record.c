/* The code map of managed code in records: frames in methods become module!0xTOKEN+0xIL. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/record/record.h"
#include "test.h"

enum { MODULE_AT = RECORD_HEADER_BYTES, WORDS = 256 };

struct draft {
    uint32_t words[WORDS];
    size_t count;
};

static void put(struct draft *d, uint32_t value)
{
    d->words[d->count++] = value;
}

static void put_zeros(struct draft *d, int count)
{
    for (int i = 0; i < count; i++)
        put(d, 0);
}

static size_t section(struct draft *d, uint32_t type, uint32_t count)
{
    const size_t at = d->count;
    put(d, type);
    put(d, 0);
    put(d, count);
    put(d, 0);
    return at;
}

static void end(struct draft *d, size_t at)
{
    d->words[at + 1] = (uint32_t)((d->count - at) * sizeof d->words[0]);
}

static const char types[] = "System.__Canon;System.Int32"; /* of 0x06000002 */

static void method(struct draft *d, uint32_t token, uint32_t start, uint32_t assembly)
{
    const bool has_map = token != 0x06000005, has_types = token == 0x06000002;
    /* Prologue up to 0x10, IL 0 up to 0x20, IL 8 up to 0x28, no mapping up to 0x30, then the
     * epilogue. The rows are not in that order. */
    static const uint32_t map[] = {0x20, 8, 0, 0xFFFFFFFE, 0x30, 0xFFFFFFFD, 0x10, 0, 0x28, ~0U};
    put(d, (uint32_t)(RECORD_METHOD_BYTES + (has_map ? sizeof map : 0) +
                      (has_types ? (sizeof types + 7) / 8 * 8 : 0)));
    put(d, token);
    put(d, start);
    put(d, 0);
    put(d, 0x40);
    put(d, 0);
    put(d, assembly);
    put(d, has_map ? (uint32_t)(sizeof map / RECORD_MAP_BYTES) : 0);
    for (size_t i = 0; has_map && i < COUNT_OF(map); i++)
        put(d, map[i]);
    if (has_types) {
        memcpy(&d->words[d->count], types, sizeof types);
        d->count += (sizeof types + 7) / 8 * 2;
    }
}

static void frame(struct draft *d, uint32_t flags, uint32_t va)
{
    put(d, RECORD_NO_MODULE);
    put(d, flags);
    put(d, va);
    put(d, 0);
}

/* One module, one assembly, two methods, and a stack of FRAMES. */
static void make(struct draft *d, uint32_t version, const uint32_t (*frames)[2], uint32_t count)
{
    static const char path[] = "C:\\managed.dll";
    memset(d, 0, sizeof *d);
    memcpy(d->words, RECORD_MAGIC, 8);
    d->count = RECORD_HEADER_BYTES / sizeof d->words[0];
    d->words[RECORD_H_VERSION / 4] = version;
    d->words[RECORD_H_HEADER_BYTES / 4] = RECORD_HEADER_BYTES;
    size_t at = section(d, RECORD_SECTION_MODULES, 1);
    put(d, RECORD_MODULE_BYTES + 16);
    put_zeros(d, 14);
    put(d, sizeof path - 1);
    memcpy(&d->words[d->count], path, sizeof path - 1);
    d->count += 4;
    end(d, at);
    at = section(d, RECORD_SECTION_THREADS, 1);
    put(d, RECORD_THREAD_BYTES);
    put_zeros(d, 3);
    end(d, at);
    at = section(d, RECORD_SECTION_STACK, count);
    put(d, RECORD_WALKER_RTL);
    put_zeros(d, (RECORD_STACK_BYTES - RECORD_SECTION_HEADER_BYTES) / 4 - 1);
    for (uint32_t i = 0; i < count; i++)
        frame(d, frames[i][0], frames[i][1]);
    end(d, at);
    at = section(d, RECORD_SECTION_ASSEMBLIES, 1);
    put(d, 0);
    put(d, 0);
    for (uint32_t i = 0; i < 4; i++)
        put(d, 0x03020100 + i * 0x04040404);
    end(d, at);
    at = section(d, RECORD_SECTION_METHODS, 6);
    method(d, 0x06000002, 0x9000, 0);
    method(d, 0x06000001, 0x8000, 0);
    method(d, 0x06000003, 0xA000, RECORD_NO_MODULE);
    method(d, 0x0A000004, 0xB000, 0);
    method(d, 0, 0xC000, 0);
    method(d, 0x06000005, 0xD000, 0);
    end(d, at);
    d->words[RECORD_H_COMMITTED / 4] = (uint32_t)(d->count * sizeof d->words[0]);
}

static enum status read_draft(const struct draft *d, struct arena *keep, struct record *out,
                              struct fault *fault)
{
    arena_init(keep, 0);
    return record_read(bytes_over((const uint8_t *)d->words, d->count * sizeof d->words[0], fault),
                       keep, out);
}

static const struct {
    const char *name;
    uint32_t flags, va;
    uint32_t token; /* 0: no managed frame */
    uint64_t offset;
} rows[] = {
    {"interrupted in the prologue is the first instruction", 0, 0x8004, 0x06000001, 0},
    {"the first byte of a mapping", 0, 0x8020, 0x06000001, 8},
    {"a return address is stepped back natively, then mapped", RECORD_FRAME_RETURN, 0x8020,
     0x06000001, 0},
    {"one byte later", RECORD_FRAME_RETURN, 0x8021, 0x06000001, 8},
    {"code without a mapping belongs to what is before it", 0, 0x802C, 0x06000001, 8},
    {"the epilogue as well", 0, 0x8033, 0x06000001, 8},
    {"a call as the last instruction", RECORD_FRAME_RETURN, 0x8040, 0x06000001, 8},
    {"past the end", 0, 0x8040, 0, 0x8040},
    {"the first byte of the next method is no return into it", RECORD_FRAME_RETURN, 0x9000, 0,
     0x9000},
    {"the next method", 0, 0x9010, 0x06000002, 0},
    {"a method of no assembly stays generated code", 0, 0xA010, 0, 0xA010},
    {"a token that is no method's", 0, 0xB010, 0, 0xB010},
    {"a dynamic method has none", 0, 0xC010, 0, 0xC010},
    {"without a map, the start, which is marked", 0, 0xD030, 0x06000005, 0},
};

TEST(frames_in_methods)
{
    for (uint32_t version = 1; version <= RECORD_VERSION; version++)
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            const uint32_t frames[][2] = {{rows[i].flags, rows[i].va}};
            struct fault fault = FAULT_INIT;
            struct arena keep;
            struct record r;
            struct draft d;
            test_row(rows[i].name);
            make(&d, version, frames, 1);
            REQUIRE(read_draft(&d, &keep, &r, &fault) == ERR_NONE);
            const struct frame *f = &r.stacks[0].frames[0];
            CHECK_EQ(f->method_token, rows[i].token);
            CHECK_EQ(f->offset, rows[i].offset);
            CHECK_EQ(f->note, rows[i].token == 0x06000005 ? NOTE_NO_IL_MAP : NOTE_NONE);
            CHECK_EQ(f->type_arguments != NULL, rows[i].token == 0x06000002);
            if (f->type_arguments != NULL)
                CHECK_STR(f->type_arguments, types);
            if (rows[i].token != 0) {
                CHECK_STR(f->module_name, "managed.dll");
                CHECK_EQ(f->pc_va, rows[i].va);
            }
            arena_free(&keep);
        }
}

TEST(identities_and_json)
{
    static const uint32_t frames[][2] = {{0, 0x8020}};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct record r;
    struct draft d;
    struct json j;
    make(&d, RECORD_VERSION, frames, 1);
    REQUIRE(read_draft(&d, &keep, &r, &fault) == ERR_NONE);
    json_to_text(&j, false);
    record_write_json(&j, &r);
    char *text = json_take(&j, NULL);
    REQUIRE(text != NULL);
    CHECK_HAS(text, "\"mvid\":\"03020100-0504-0706-0809-0A0B0C0D0E0F\"");
    CHECK_STR(r.stacks[0].frames[0].module->mvid, "03020100-0504-0706-0809-0A0B0C0D0E0F");
    CHECK_HAS(text, "{\"module\":0,\"offset\":\"0x8\",\"method\":\"0x6000001\",");
    free(text);
    arena_free(&keep);
}

TEST(type_arguments_are_in_json)
{
    static const uint32_t frames[][2] = {{0, 0x8020}, {RECORD_FRAME_RETURN, 0x9011}};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct record r;
    struct draft d;
    struct json j;
    make(&d, RECORD_VERSION, frames, 2);
    REQUIRE(read_draft(&d, &keep, &r, &fault) == ERR_NONE);
    json_to_text(&j, false);
    record_write_json(&j, &r);
    char *text = json_take(&j, NULL);
    REQUIRE(text != NULL);
    CHECK_HAS(text, "\"method\":\"0x6000001\",\"kind\":");
    CHECK_HAS(text, "\"method\":\"0x6000002\",\"type_arguments\":\"System.__Canon;System.Int32\",");
    free(text);
    arena_free(&keep);
}

static void try_damaged(const uint8_t *data, size_t bytes, void *context)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct record r;
    (void)context;
    arena_init(&keep, 1 << 20);
    const enum status got = record_read(bytes_over(data, bytes, &fault), &keep, &r);
    CHECK(got != ERR_MEMORY);
    CHECK_EQ(r.partial, got != ERR_NONE);
    arena_free(&keep);
}

TEST(damage)
{
    static const uint32_t frames[][2] = {{0, 0x8020}, {RECORD_FRAME_RETURN, 0x9011}};
    struct draft d;
    make(&d, RECORD_VERSION, frames, 2);
    const uint8_t *data = (const uint8_t *)d.words;
    test_truncations(data, d.count * sizeof d.words[0], try_damaged, NULL);
    test_flips(data, d.count * sizeof d.words[0], try_damaged, NULL);
}
