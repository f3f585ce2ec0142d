/* A Breakpad symbol file that is written is read again: each address has the frames that were
 * stated for it. */
#include <stdio.h>
#include <string.h>

#include "symbol/breakpad_export.h"
#include "test.h"

enum { DEPTH = 3 };

/* The frames that hold from START on, innermost first. */
static const struct segment {
    uint32_t start;
    struct {
        const char *function, *file;
        uint32_t line;
    } frames[DEPTH];
} segments[] = {
    {0x10, {{"main", "a.c", 1}}},
    {0x14, {{"inner", "b.h", 5}, {"main", "a.c", 2}}},
    {0x18, {{"deep", "c.h", 9}, {"inner", "b.h", 6}, {"main", "a.c", 2}}},
    {0x1c, {{"inner", "b.h", 7}, {"main", "a.c", 2}}}, /* the same call goes on */
    {0x20, {{"inner", "b.h", 7}, {"main", "a.c", 3}}}, /* another call of it */
    {0x24, {{"main", "a.c", 3}}},
    {0x28, {{"main", NULL, 0}}}, /* no line is known */
    {0x2c, {{"main", "c.h", 3}}},
};
/* The line and file of the last segment above, which a new function must state again. */
static const struct segment second[] = {{0x40, {{"next", "c.h", 3}}}};
enum { FIRST_END = 0x30, SECOND_END = 0x48, PUBLIC_AT = 0x60 };

static void write_function(struct breakpad_writer *w, const struct segment *rows, size_t count,
                           uint32_t end, const char *name)
{
    breakpad_function_begin(w);
    for (size_t i = 0; i < count; i++) {
        struct symbol_frame frames[DEPTH] = {{0}};
        uint32_t depth = 0;
        for (; depth < DEPTH && rows[i].frames[depth].function != NULL; depth++) {
            frames[depth].function = rows[i].frames[depth].function;
            frames[depth].file = rows[i].frames[depth].file;
            frames[depth].line = rows[i].frames[depth].line;
        }
        breakpad_segment(w, frames, depth, rows[i].start);
    }
    breakpad_function_end(w, rows[0].start, end - rows[0].start, name);
}

static void check_segment(const struct breakpad *file, const struct segment *row, uint32_t end)
{
    for (uint32_t rva = row->start; rva < end; rva++) {
        struct breakpad_frame got[BREAKPAD_FRAMES_MAX];
        const uint32_t count = breakpad_lookup(file, rva, got);
        char name[32];
        (void)snprintf(name, sizeof name, "0x%x", (unsigned)rva);
        test_row(name);
        for (uint32_t i = 0; i < DEPTH && row->frames[i].function != NULL; i++) {
            REQUIRE(i < count);
            CHECK_STR(got[i].name, row->frames[i].function);
            CHECK_EQ(got[i].line, row->frames[i].line);
            CHECK_STR(got[i].file != NULL ? got[i].file : "-",
                      row->frames[i].file != NULL ? row->frames[i].file : "-");
        }
        CHECK(count == DEPTH || row->frames[count].function == NULL);
    }
}

TEST(what_is_written_is_read_again)
{
    const struct breakpad_head head = {.os = "windows",
                                       .arch = "x86_64",
                                       .id = "3249D99D0C4049318610F4E4FB0B6936a",
                                       .name = "my.pdb",
                                       .code_id = "5AB380779000",
                                       .image_name = "my.exe"};
    struct breakpad_writer *w = breakpad_writer_new();
    struct fault fault = FAULT_INIT;
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
    struct breakpad file;
    char path[600];
    size_t bytes;

    REQUIRE(w != NULL);
    write_function(w, segments, COUNT_OF(segments), FIRST_END, "main");
    write_function(w, second, COUNT_OF(second), SECOND_END, "next");
    breakpad_public(w, PUBLIC_AT, "other");
    breakpad_put(w, "STACK CFI INIT %x %x ", 0x10, 0x20);
    breakpad_text(w, ".cfa: $rsp 8 + .ra: .cfa 8 - ^\n");
    CHECK(!breakpad_failed(w));
    (void)snprintf(path, sizeof path, "%s/my.sym", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    breakpad_writer_print(w, &head, out);
    REQUIRE(fclose(out) == 0);
    breakpad_writer_close(w);
    const char *text = (const char *)test_read(path, &bytes);
    CHECK_HAS(text, "MODULE windows x86_64 3249D99D0C4049318610F4E4FB0B6936a my.pdb\n"
                    "INFO CODE_ID 5AB380779000 my.exe\nINFO GENERATOR twinstack\n");
    CHECK_HAS(text, "\nFUNC 10 20 0 main\nINLINE 0 2 ");
    CHECK_HAS(text, "\nPUBLIC 60 0 other\nSTACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n");
    REQUIRE(breakpad_read(text, bytes, &file, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(segments); i++)
        check_segment(&file, &segments[i],
                      i + 1 < COUNT_OF(segments) ? segments[i + 1].start : FIRST_END);
    check_segment(&file, &second[0], SECOND_END);
    CHECK_EQ(breakpad_lookup(&file, FIRST_END, frames), 0);
    REQUIRE(breakpad_lookup(&file, PUBLIC_AT, frames) == 1);
    CHECK_STR(frames[0].name, "other");
    CHECK_EQ(breakpad_inlines_around(&file, 0x10), 3); /* two calls of inner, one of deep */
    breakpad_close(&file);
}

/* More names than the first table of them holds: each keeps its number. */
TEST(many_files_keep_their_numbers)
{
    enum { MANY = 3000 };
    static char names[MANY][16];
    const struct breakpad_head head = {
        .os = "Linux", .arch = "x86", .id = "00", .name = "m", .code_id = NULL};
    struct breakpad_writer *w = breakpad_writer_new();
    struct fault fault = FAULT_INIT;
    struct breakpad file;
    char path[600];
    size_t bytes;

    REQUIRE(w != NULL);
    breakpad_function_begin(w);
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "f%u.c", (unsigned)(i % (MANY / 2)));
        const struct symbol_frame frame = {.function = "f", .file = names[i], .line = i + 1};
        breakpad_segment(w, &frame, 1, 0x1000 + i);
    }
    breakpad_function_end(w, 0x1000, MANY, "f");
    (void)snprintf(path, sizeof path, "%s/m.sym", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    breakpad_writer_print(w, &head, out);
    REQUIRE(fclose(out) == 0);
    breakpad_writer_close(w);
    const char *text = (const char *)test_read(path, &bytes);
    CHECK_HAS(text, "MODULE Linux x86 00 m\nINFO GENERATOR twinstack\n");
    CHECK(strstr(text, "FILE 1500 ") == NULL); /* each once */
    REQUIRE(breakpad_read(text, bytes, &file, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < MANY; i++) {
        struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
        REQUIRE(breakpad_lookup(&file, 0x1000 + i, frames) == 1);
        REQUIRE(frames[0].file != NULL && strcmp(frames[0].file, names[i]) == 0);
        REQUIRE(frames[0].line == i + 1);
    }
    breakpad_close(&file);
}

/* "address size line file" of Breakpad's format: code of which nothing is known is in no line. */
TEST(code_without_frames_has_no_line)
{
    const struct breakpad_head head = {.os = "Linux", .arch = "x86", .id = "00", .name = "m"};
    const struct symbol_frame frame = {.function = "main", .file = "a.c", .line = 7};
    struct breakpad_writer *w = breakpad_writer_new();
    char path[600];
    size_t bytes;

    REQUIRE(w != NULL);
    breakpad_function_begin(w);
    breakpad_segment(w, &frame, 1, 0x10);
    breakpad_segment(w, &frame, 0, 0x14);
    breakpad_segment(w, &frame, 1, 0x18);
    breakpad_function_end(w, 0x10, 0x10, "main");
    (void)snprintf(path, sizeof path, "%s/gap.sym", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    breakpad_writer_print(w, &head, out);
    REQUIRE(fclose(out) == 0);
    breakpad_writer_close(w);
    const char *text = strstr((const char *)test_read(path, &bytes), "FUNC ");
    CHECK_STR(text, "FUNC 10 10 0 main\n10 4 7 0\n18 8 7 0\n");
}
