/* libtwinstack's batches of stacks: what they answer, and what they refuse. The rest of the library
 * is tested as installed, in tests/e2e/test_install.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "format/minidump/minidump.h"
#include "library/dump_text.h"
#include "library/twinstack.h"
#include "minidump_maker.h"
#include "test.h"

#define TABLE "\"401000\",16,\"SymTagFunction\",\"f\",\"a.c\",7\n"

static void write_file(char out[600], const char *name, const char *text)
{
    (void)snprintf(out, 600, "%s/%s", test_scratch(), name);
    FILE *file = file_open(out, "wb");
    REQUIRE(file != NULL);
    REQUIRE(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Symbols that know f of app.exe. */
static struct twinstack_symbols *open_table(void)
{
    struct twinstack_symbols *symbols = NULL;
    struct twinstack_error error;
    char path[600];

    write_file(path, "table.csv", TABLE);
    REQUIRE(twinstack_open(NULL, &symbols, &error) == TWINSTACK_OK);
    REQUIRE(twinstack_bind_csv(symbols, "app.exe", path, TWINSTACK_CSV_BASE, &error) ==
            TWINSTACK_OK);
    return symbols;
}

static const char *text_of(const struct twinstack_batch *batch, uint32_t first, uint32_t count)
{
    static char text[4096];
    size_t bytes;
    const char *at = twinstack_batch_text(batch, first, count, &bytes);

    (void)snprintf(text, sizeof text, "%.*s", (int)bytes, at);
    return text;
}

TEST(a_stream_is_read_resolved_and_written)
{
    struct twinstack_symbols *symbols = open_table();
    struct twinstack_batch *batch = twinstack_batch_new();
    struct twinstack_input *input = NULL;
    struct twinstack_summary summary = {.size = sizeof summary};
    struct twinstack_error error;
    char path[600];

    write_file(path, "stacks.txt",
               "> first\napp.exe!0x1004\napp.exe!0x9\n\nno stack\n\n> last\napp.exe!0x1000\n");
    REQUIRE(twinstack_input_open(path, 0, &input, &error) == TWINSTACK_OK);
    CHECK_EQ(twinstack_batch_read(batch, input, symbols), TWINSTACK_READ_END);
    CHECK_EQ(twinstack_input_form(input), TWINSTACK_INPUT_TEXT);
    REQUIRE(twinstack_batch_count(batch) == 3);
    CHECK_EQ(twinstack_frame_count(twinstack_batch_stack(batch, 0)), 0);
    CHECK_EQ(twinstack_batch_write(batch, TWINSTACK_FORM_FOLDED, 0), TWINSTACK_USAGE);
    twinstack_batch_resolve(batch, symbols);
    /* a bad line comes before the stack that it is in */
    const struct twinstack_stack *first = twinstack_batch_stack(batch, 1);
    CHECK_STR(twinstack_label(first), "first");
    REQUIRE(twinstack_frame_count(first) == 2);
    CHECK_STR(twinstack_function(first, 0), "f");
    CHECK(twinstack_function(first, 1) == NULL);
    CHECK(twinstack_function(first, 2) == NULL);
    CHECK_EQ(twinstack_batch_error(batch, 1, &error), TWINSTACK_OK);
    CHECK(twinstack_batch_error(batch, 0, &error) != TWINSTACK_OK);
    CHECK_EQ(twinstack_frame_count(twinstack_batch_stack(batch, 0)), 0);
    CHECK_EQ(twinstack_batch_error(batch, 3, &error), TWINSTACK_USAGE);
    CHECK_EQ(twinstack_frame_count(twinstack_batch_stack(batch, 3)), 0);
    twinstack_batch_summary(batch, &summary);
    CHECK_EQ(summary.errors, 1);
    CHECK(summary.unresolved && !summary.unchecked && summary.lack == NULL);
    CHECK_EQ(twinstack_batch_write(batch, TWINSTACK_FORM_FOLDED, 0), TWINSTACK_OK);
    CHECK_STR(text_of(batch, 0, 3), "app.exe!0x9;app.exe!f 1\napp.exe!f 1\n");
    CHECK_STR(text_of(batch, 2, 99), "app.exe!f 1\n");
    CHECK_STR(text_of(batch, 3, 1), "");
    CHECK_EQ(twinstack_batch_write(batch, TWINSTACK_FORM_NDJSON, 0), TWINSTACK_OK);
    CHECK(strstr(text_of(batch, 0, 1), "\"error\":") != NULL);
    CHECK(strstr(text_of(batch, 1, 1), "\"label\":\"first\"") != NULL);
    CHECK_EQ(twinstack_batch_read(batch, input, symbols), TWINSTACK_READ_END);
    CHECK_EQ(twinstack_batch_count(batch), 0);
    CHECK_STR(text_of(batch, 0, 1), "");
    twinstack_batch_free(batch);
    twinstack_input_close(input);
    twinstack_close(symbols);
}

/* Both forms as `resolve` prints them. */
TEST(frames_that_had_no_name_are_resolved_again)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"NDJSON",
         "{\"schema_version\":1,\"label\":\"a\",\"frames\":[{\"index\":0,\"inline_depth\":0,"
         "\"module\":\"app.exe\",\"offset\":\"0x1004\",\"function\":null,\"file\":null,"
         "\"line\":0,\"inlined\":false,\"symbols\":\"none\",\"note\":\"no symbol file\"}]}\n"},
        {"text", "> a\n 0  app.exe!0x1004  none       (no symbol file)\n\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct twinstack_symbols *symbols = open_table();
        struct twinstack_batch *batch = twinstack_batch_new();
        struct twinstack_input *input = NULL;
        struct twinstack_error error;
        char path[600];
        test_row(rows[i].name);
        write_file(path, "resolved", rows[i].text);
        REQUIRE(twinstack_input_open(path, 0, &input, &error) == TWINSTACK_OK);
        CHECK_EQ(twinstack_batch_read(batch, input, symbols), TWINSTACK_READ_END);
        twinstack_batch_resolve(batch, symbols);
        REQUIRE(twinstack_batch_count(batch) == 1);
        const struct twinstack_stack *stack = twinstack_batch_stack(batch, 0);
        CHECK_STR(twinstack_label(stack), "a");
        CHECK_STR(twinstack_function(stack, 0), "f");
        twinstack_batch_free(batch);
        twinstack_input_close(input);
        twinstack_close(symbols);
    }
}

/* The START of the word that is in column AT of line LINE; "": the line has no word there. */
static const char *word_at(const char *text, int line, size_t at)
{
    static char word[64];
    for (int i = 0; i < line && text != NULL; i++)
        text = strchr(text, '\n') != NULL ? strchr(text, '\n') + 1 : NULL;
    word[0] = '\0';
    if (text != NULL && strcspn(text, "\n") > at && (at == 0 || text[at - 1] == ' '))
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(text + at, " \n"), text + at);
    return word;
}

/* Text for people has columns: the longest place has 25 characters, and the name of the source of
 * symbols 11 with the blanks after it. */
TEST(text_for_people_is_in_columns)
{
    enum { PLACE = 4, SOURCE = PLACE + 25 + 2, FUNCTION = SOURCE + 11, FILE_AT = FUNCTION + 1 + 2 };
    struct twinstack_symbols *symbols = open_table();
    struct twinstack_batch *batch = twinstack_batch_new();
    struct twinstack_input *input = NULL;
    struct twinstack_error error;
    char path[600];
    write_file(path, "stacks.txt",
               "> first\napp.exe!0x1004\nlonger_app.exe!0x12345678\napp.exe!0x1001\n");
    REQUIRE(twinstack_input_open(path, 0, &input, &error) == TWINSTACK_OK);
    CHECK_EQ(twinstack_batch_read(batch, input, symbols), TWINSTACK_READ_END);
    twinstack_batch_resolve(batch, symbols);
    REQUIRE(twinstack_batch_write(batch, TWINSTACK_FORM_TEXT, 0) == TWINSTACK_OK);
    const char *text = text_of(batch, 0, 1);
    CHECK_STR(word_at(text, 0, 0), ">");
    CHECK_STR(word_at(text, 1, PLACE), "app.exe!0x1004");
    CHECK_STR(word_at(text, 2, PLACE), "longer_app.exe!0x12345678");
    CHECK_STR(word_at(text, 3, PLACE), "app.exe!0x1001");
    CHECK_STR(word_at(text, 1, SOURCE), "csv");
    CHECK_STR(word_at(text, 2, SOURCE), "none");
    CHECK_STR(word_at(text, 3, SOURCE), "csv");
    CHECK_STR(word_at(text, 1, FUNCTION), "f");
    CHECK_STR(word_at(text, 3, FUNCTION), "f");
    CHECK_STR(word_at(text, 1, FILE_AT), "a.c");
    CHECK_STR(word_at(text, 3, FILE_AT), "a.c");
    twinstack_batch_free(batch);
    twinstack_input_close(input);
    twinstack_close(symbols);
}

/* minidumpapiset.h: MINIDUMP_EXCEPTION_STREAM, without parameters, of which there is room for 15.
 */
static void put_exception(struct maker *m, uint32_t thread_id, uint32_t context)
{
    maker_stream_begin(m, STREAM_EXCEPTION);
    MAKER_PUT(m, 4, thread_id, 0, 0xc0000005, 0);
    MAKER_PUT(m, 8, 0, 0x1234, 0);
    for (int i = 0; i < 15; i++)
        MAKER_PUT(m, 8, 0);
    MAKER_PUT(m, 4, MAKER_CONTEXT_BYTES, context);
    maker_stream_end(m);
}

/* Breakpad's handler writes the dump in a thread of its own, and says which it is; rust-minidump
 * does not walk it. */
TEST(the_thread_that_wrote_the_dump_has_no_frames_in_stackwalk_json)
{
    static const struct {
        const char *name;
        uint32_t validity, writer, second, frames[2];
    } rows[] = {{"the second thread", 3, 8, 8, {1, 0}},
                {"the first one", 3, 7, 8, {0, 1}},
                {"it is not valid", 2, 8, 8, {1, 1}},
                {"no such thread", 3, 9, 8, {1, 1}},
                {"two of the id that crashed", 2, 8, 7, {1, 0}}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct maker m;
        struct twinstack_dump *dump = NULL;
        struct twinstack_error error;
        char path[600];
        const char *text = NULL;
        size_t bytes = 0;
        test_row(rows[i].name);
        maker_start(&m);
        maker_system_info(&m, 9);
        const uint32_t context = maker_context(&m, 0x1234, 0x8000);
        const uint32_t stack = m.at;
        MAKER_PUT(&m, 8, 0, 0);
        maker_stream_begin(&m, STREAM_THREAD_LIST);
        maker_put(&m, 2, 4);
        for (int t = 0; t < 2; t++) {
            MAKER_PUT(&m, 4, t == 0 ? 7 : rows[i].second, 0, 0, 0);
            MAKER_PUT(&m, 8, 0, 0x8000);
            MAKER_PUT(&m, 4, 16, stack, MAKER_CONTEXT_BYTES, context);
        }
        maker_stream_end(&m);
        if (rows[i].second == 7)
            put_exception(&m, 7, context);
        maker_stream_begin(&m, STREAM_BREAKPAD_INFO);
        MAKER_PUT(&m, 4, rows[i].validity, rows[i].writer, 7);
        maker_stream_end(&m);
        maker_finish(&m);
        (void)snprintf(path, sizeof path, "%s/a.dmp", test_scratch());
        test_write(path, m.data, m.at);
        REQUIRE(twinstack_dump_open(NULL, path, &dump, &error) == TWINSTACK_OK);
        const struct twinstack_dump_request request = {.size = sizeof request,
                                                       .part = TWINSTACK_DUMP_STACKWALK};
        REQUIRE(twinstack_dump_write(dump, &request, &text, &bytes, &error) == TWINSTACK_OK);
        char *copy = malloc(bytes + 1);
        REQUIRE(copy != NULL);
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        if (rows[i].second == 7)
            CHECK_HAS(copy, "\"threads_index\": 0");
        const char *at = strstr(copy, "\"threads\":");
        for (int t = 0; t < 2; t++) {
            at = at != NULL ? strstr(at + 1, "\"frame_count\":") : NULL;
            REQUIRE(at != NULL);
            CHECK_EQ(strtoul(at + strlen("\"frame_count\":"), NULL, 10) > 0, rows[i].frames[t]);
        }
        free(copy);
        twinstack_dump_close(dump);
    }
}

TEST(addresses_make_stacks_until_a_batch_is_full)
{
    struct twinstack_symbols *symbols = open_table();
    struct twinstack_batch *batch = twinstack_batch_new();
    struct twinstack_error error;
    struct twinstack_address addresses[] = {
        {.size = sizeof addresses[0], .module = "app.exe", .offset = 0x1004},
        {.module = "app.exe", .offset = 0x1010, .kind = TWINSTACK_RETURN},
    };
    const struct twinstack_address nameless = {.size = sizeof nameless};

    CHECK_EQ(twinstack_batch_add(batch, "x", &nameless, 1, &error), TWINSTACK_USAGE);
    CHECK_EQ(twinstack_batch_count(batch), 0);
    for (int i = 0; i < TWINSTACK_BATCH_STACKS; i++)
        CHECK_EQ(twinstack_batch_add(batch, i == 0 ? "x" : NULL, addresses, 2, &error),
                 TWINSTACK_OK);
    CHECK_EQ(twinstack_batch_add(batch, NULL, addresses, 2, &error), TWINSTACK_LIMIT);
    twinstack_batch_resolve(batch, symbols);
    const struct twinstack_stack *last = twinstack_batch_stack(batch, TWINSTACK_BATCH_STACKS - 1);
    REQUIRE(twinstack_frame_count(last) == 2);
    CHECK_STR(twinstack_function(last, 1), "f"); /* one byte before the return address */
    CHECK_STR(twinstack_label(twinstack_batch_stack(batch, 0)), "x");
    for (enum twinstack_form form = TWINSTACK_FORM_TEXT; form <= TWINSTACK_FORM_FOLDED; form++)
        CHECK_EQ(twinstack_batch_write(batch, form, 0), TWINSTACK_OK);
    twinstack_batch_clear(batch);
    CHECK_EQ(twinstack_batch_count(batch), 0);
    twinstack_batch_free(batch);
    twinstack_close(symbols);
}

TEST(a_summary_of_an_older_size_is_filled_as_far_as_it_goes)
{
    struct twinstack_symbols *symbols = open_table();
    struct twinstack_batch *batch = twinstack_batch_new();
    struct twinstack_summary summary = {.size = offsetof(struct twinstack_summary, unresolved),
                                        .unresolved = 77};
    const struct twinstack_address address = {
        .size = sizeof address, .module = "app.exe", .offset = 1};

    CHECK_EQ(twinstack_batch_add(batch, NULL, &address, 1, NULL), TWINSTACK_OK);
    twinstack_batch_resolve(batch, symbols);
    twinstack_batch_summary(batch, &summary);
    CHECK_EQ(summary.errors, 0);
    CHECK_EQ(summary.unresolved, 77);
    summary.size = sizeof summary;
    twinstack_batch_summary(batch, &summary);
    CHECK_EQ(summary.unresolved, 1);
    twinstack_batch_free(batch);
    twinstack_close(symbols);
}

/* What metadata of corpus/managed/shapes.dll has. */
#define SHAPES_MVID "07FE8BD5-A86F-45F5-98D2-E6726C218944"
#define OTHER_MVID "00000000-0000-0000-0000-000000000007"

TEST(managed_code_is_asked_by_token_and_mvid)
{
    static const struct {
        const char *name, *mvid;
        uint64_t offset;
        uint32_t method;
        enum twinstack_kind kind;
        enum twinstack_status status;
        uint32_t line; /* 0: no function */
    } rows[] = {
        {"a name alone", NULL, 0x14, 0x06000009, TWINSTACK_INTERRUPTED, TWINSTACK_OK, 44},
        {"a caller is not stepped back", NULL, 0x14, 0x06000009, TWINSTACK_RETURN, TWINSTACK_OK,
         44},
        {"of this build", SHAPES_MVID, 0x14, 0x06000009, TWINSTACK_INTERRUPTED, TWINSTACK_OK, 44},
        {"an empty MVID is none", "", 0x14, 0x06000009, TWINSTACK_INTERRUPTED, TWINSTACK_OK, 44},
        {"of another build", OTHER_MVID, 0x14, 0x06000009, TWINSTACK_INTERRUPTED, TWINSTACK_OK, 0},
        {"no GUID", "7", 0x14, 0x06000009, TWINSTACK_INTERRUPTED, TWINSTACK_USAGE, 0},
        {"no method", NULL, 0x14, 0x0A000001, TWINSTACK_INTERRUPTED, TWINSTACK_USAGE, 0},
        {"no IL offset", NULL, UINT64_C(1) << 32, 0x06000009, TWINSTACK_INTERRUPTED,
         TWINSTACK_USAGE, 0},
    };
    const char *paths[] = {test_source("corpus/managed")};
    struct twinstack_options options = {.size = sizeof options, .paths = paths, .path_count = 1};
    struct twinstack_symbols *symbols = NULL;
    struct twinstack_error error;
    REQUIRE(twinstack_open(&options, &symbols, &error) == TWINSTACK_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct twinstack_address address = {.size = sizeof address,
                                                  .module = "shapes.dll",
                                                  .offset = rows[i].offset,
                                                  .kind = rows[i].kind,
                                                  .mvid = rows[i].mvid,
                                                  .method = rows[i].method};
        struct twinstack_stack *stack = NULL;
        test_row(rows[i].name);
        CHECK_EQ(twinstack_resolve(symbols, &address, 1, &stack, &error), rows[i].status);
        if (stack == NULL)
            continue;
        REQUIRE(twinstack_frame_count(stack) == 1);
        CHECK_EQ(twinstack_line(stack, 0), rows[i].line);
        CHECK_EQ(twinstack_function(stack, 0) != NULL, rows[i].line != 0);
        CHECK_HEX(twinstack_method(stack, 0), 0x06000009);
        CHECK_HEX(twinstack_offset(stack, 0), 0x14);
        CHECK_EQ(twinstack_identity_checked(stack, 0),
                 rows[i].mvid != NULL && rows[i].mvid[0] != '\0' && rows[i].line != 0);
        if (rows[i].mvid == NULL || rows[i].mvid[0] == '\0')
            CHECK(twinstack_mvid(stack, 0) == NULL);
        else
            CHECK_STR(twinstack_mvid(stack, 0), rows[i].mvid);
        twinstack_stack_free(stack);
    }
    twinstack_close(symbols);
}

/* struct twinstack_address before it had an MVID. */
struct old_address {
    size_t size;
    const char *module, *debug_id, *code_id;
    uint64_t offset;
    enum twinstack_kind kind;
};

TEST(addresses_of_programs_that_know_no_mvid)
{
    struct twinstack_symbols *symbols = open_table();
    struct twinstack_stack *stack = NULL;
    struct old_address old[2];
    struct twinstack_error error;

    memset(old, 0xFF, sizeof old); /* the padding as well */
    for (int i = 0; i < 2; i++) {
        old[i].size = sizeof old[i];
        old[i].module = "app.exe";
        old[i].debug_id = old[i].code_id = NULL;
        old[i].offset = 0x1010;
        old[i].kind = i == 0 ? TWINSTACK_INTERRUPTED : TWINSTACK_RETURN;
    }
    REQUIRE(twinstack_resolve(symbols, (const struct twinstack_address *)(const void *)old, 2,
                              &stack, &error) == TWINSTACK_OK);
    REQUIRE(twinstack_frame_count(stack) == 2);
    CHECK(twinstack_function(stack, 0) == NULL);
    CHECK_STR(twinstack_function(stack, 1), "f");
    for (uint32_t i = 0; i < 3; i++) { /* there is no third */
        CHECK_EQ(twinstack_method(stack, i), 0);
        CHECK(twinstack_mvid(stack, i) == NULL);
    }
    twinstack_stack_free(stack);
    twinstack_close(symbols);
}

TEST(symbols_may_come_from_memory)
{
    static const char sym[] =
        "MODULE windows x86_64 0123456789ABCDEF0123456789ABCDEF1 app.pdb\nFILE 0 a.c\n"
        "FUNC 1000 10 0 f\n1000 10 7 0\n";
    static const struct {
        const char *name;
        struct twinstack_memory file;
        enum twinstack_status want;
    } rows[] = {
        {"a file", {"app.sym", sym, sizeof sym - 1}, TWINSTACK_OK},
        {"no name", {NULL, sym, sizeof sym - 1}, TWINSTACK_USAGE},
        {"a name that leads elsewhere", {"../app.sym", sym, sizeof sym - 1}, TWINSTACK_USAGE},
        {"no bytes", {"app.sym", NULL, 0}, TWINSTACK_USAGE},
    };
    const struct twinstack_address address = {.size = sizeof address,
                                              .module = "app.exe",
                                              .debug_id = "0123456789ABCDEF0123456789ABCDEF1",
                                              .offset = 0x1004};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct twinstack_options options = {
            .size = sizeof options, .memory = &rows[i].file, .memory_count = 1};
        struct twinstack_symbols *symbols = NULL;
        struct twinstack_stack *stack = NULL;
        struct twinstack_error error;
        test_row(rows[i].name);
        CHECK_EQ(twinstack_open(&options, &symbols, &error), rows[i].want);
        if (symbols == NULL)
            continue;
        REQUIRE(twinstack_resolve(symbols, &address, 1, &stack, &error) == TWINSTACK_OK);
        CHECK_STR(twinstack_function(stack, 0), "f");
        CHECK_EQ(twinstack_line(stack, 0), 7);
        twinstack_stack_free(stack);
        twinstack_close(symbols);
    }
}

TEST(an_id_is_hexadecimal_or_refused)
{
    static const struct {
        const char *name, *debug_id, *code_id;
        enum twinstack_status want;
    } rows[] = {
        {"none", NULL, NULL, TWINSTACK_OK},
        {"empty", "", "", TWINSTACK_OK},
        {"of a PDB", "0123456789ABCDEF0123456789ABCDEF1", "5F5E1000a000", TWINSTACK_OK},
        {"of a PDB 2.0", "3B7D84D41", NULL, TWINSTACK_OK},
        {"a UUID", "01234567-89ab-cdef-0123-456789abcdef", NULL, TWINSTACK_OK},
        {"a word", "nonsense", NULL, TWINSTACK_USAGE},
        {"too short", "abc", NULL, TWINSTACK_USAGE},
        {"a digit too many", "0123456789ABCDEF0123456789ABCDEFg", NULL, TWINSTACK_USAGE},
        {"a code id that is a word", NULL, "nonsense", TWINSTACK_USAGE},
    };
    struct twinstack_symbols *symbols = open_table();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct twinstack_address address = {.size = sizeof address,
                                                  .module = "app.exe",
                                                  .debug_id = rows[i].debug_id,
                                                  .code_id = rows[i].code_id};
        struct twinstack_stack *stack = NULL;
        struct twinstack_error error = {.text = "of an earlier call"};
        test_row(rows[i].name);
        CHECK_EQ(twinstack_resolve(symbols, &address, 1, &stack, &error), rows[i].want);
        CHECK_EQ(error.text[0] == '\0', rows[i].want == TWINSTACK_OK);
        twinstack_stack_free(stack);
    }
    twinstack_close(symbols);
}

TEST(wrong_arguments_are_errors)
{
    struct twinstack_options options = {.size = sizeof options, .arch = "vax"};
    struct twinstack_symbols *symbols = open_table(), *none = NULL;
    struct twinstack_input *input = NULL;
    struct twinstack_error error;

    CHECK_EQ(twinstack_open(&options, &none, &error), TWINSTACK_USAGE);
    CHECK(none == NULL);
    options.size = offsetof(struct twinstack_options, arch); /* of a program that knows no arch */
    CHECK_EQ(twinstack_open(&options, &none, &error), TWINSTACK_OK);
    twinstack_close(none);
    CHECK(twinstack_is_arch("arm64") && !twinstack_is_arch("vax") && !twinstack_is_arch(NULL));
    CHECK_EQ(twinstack_input_open("no/such/file", 0, &input, &error), TWINSTACK_ABSENT);
    CHECK(input == NULL);
    CHECK_EQ(twinstack_bind_pdb(symbols, NULL, "no/such/file.pdb", &error), TWINSTACK_ABSENT);
    CHECK_EQ(twinstack_path_fault(symbols, &error), TWINSTACK_OK);
    CHECK_EQ(twinstack_indexes_built(symbols, NULL), 0);
    CHECK(twinstack_unused(symbols) == NULL);
    twinstack_close(symbols);
    twinstack_close(NULL);
    twinstack_batch_free(NULL);
    twinstack_input_close(NULL);
}

/* base/limits.h: of a process 4096 modules are kept at most. */
TEST(a_summary_says_of_how_many_unloaded_modules_it_has_the_first)
{
    enum { HEAD = 32 + 12, LIST = 12, ROW = 24, MOST = 4096 };
    static const struct {
        uint32_t listed;
        const char *says;
    } rows[] = {{0, " 0 unloaded, "},
                {2, " 2 unloaded, "},
                {MOST, " 4096 unloaded, "},
                {MOST + 1, " 4096 unloaded (the first of 4097 entries), "}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct maker m;
        static uint8_t data[HEAD + LIST + (MOST + 1) * ROW];
        const struct twinstack_dump_request request = {.size = sizeof request,
                                                       .part = TWINSTACK_DUMP_SUMMARY};
        const uint32_t bytes = LIST + rows[i].listed * ROW;
        struct twinstack_dump *dump = NULL;
        struct twinstack_error error;
        char path[600];
        const char *text = NULL;
        size_t text_bytes = 0;
        test_row(rows[i].says);
        memset(&m, 0, sizeof m);
        MAKER_PUT(&m, 4, 0x504d444d, 0xa793, 1, 32, 0, 0, 0, 0, STREAM_UNLOADED_MODULE_LIST, bytes,
                  HEAD, LIST, ROW, rows[i].listed);
        memcpy(data, m.data, m.at);
        (void)snprintf(path, sizeof path, "%s/a.dmp", test_scratch());
        test_write(path, data, HEAD + bytes);
        REQUIRE(twinstack_dump_open(NULL, path, &dump, &error) == TWINSTACK_OK);
        REQUIRE(twinstack_dump_write(dump, &request, &text, &text_bytes, &error) == TWINSTACK_OK);
        CHECK_HAS(text, rows[i].says);
        twinstack_dump_close(dump);
    }
}

#define AT(OFFSET) "  at 0x" #OFFSET ": why\n"
#define TEN AT(0) AT(1) AT(2) AT(3) AT(4) AT(5) AT(6) AT(7) AT(8) AT(9)
#define ENDS ": a Windows debugger: it ends\n"

/* A, B: a fault by the rule "size" in stream A or B; N: in no stream; T: by the rule "text" in A.
 */
TEST(faults_of_a_rule_and_stream_are_listed_together_and_ten_at_most)
{
    static const struct {
        const char *faults;
        uint64_t left_out;
        const char *count, *lines;
    } rows[] = {
        {"", 0, "0", ""},
        {"A", 0, "1", "size in A" ENDS AT(0)},
        {"AA", 0, "2", "size in A" ENDS AT(0) AT(1)},
        {"AB", 0, "2", "size in A" ENDS AT(0) "size in B" ENDS AT(1)},
        {"AT", 0, "2", "size in A" ENDS AT(0) "text in A" ENDS AT(1)},
        {"AN", 0, "2", "size in A" ENDS AT(0) "size" ENDS AT(1)},
        {"AAAAAAAAAA", 0, "10", "size in A" ENDS TEN},
        {"AAAAAAAAAAA", 0, "11", "size in A" ENDS TEN "  and 1 more\n"},
        {"AAAAAAAAAAAAB", 0, "13", "size in A" ENDS TEN "  and 2 more\nsize in B" ENDS AT(c)},
        {"AAAAAAAAAAAT", 0, "12", "size in A" ENDS TEN "  and 1 more\ntext in A" ENDS AT(b)},
        {"A", 7, "8", "size in A" ENDS AT(0) "and 7 more faults\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct minidump_complaint list[16];
        struct minidump_complaints complaints = {.rows = list, .left_out = rows[i].left_out};
        struct text_out out = {0};
        char want[1024];
        test_row(rows[i].faults);
        memset(list, 0, sizeof list);
        for (; rows[i].faults[complaints.count] != 0; complaints.count++) {
            const char kind = rows[i].faults[complaints.count];
            list[complaints.count] =
                (struct minidump_complaint){.rule = kind == 'T' ? "text" : "size",
                                            .stream = kind == 'B'   ? "B"
                                                      : kind == 'N' ? NULL
                                                                    : "A",
                                            .foff = complaints.count,
                                            .text = "why",
                                            .effect = "it ends"};
        }
        dump_print_lint(&out, "x.dmp", &complaints);
        (void)snprintf(want, sizeof want, "x.dmp: %s faults by the format\n%s", rows[i].count,
                       rows[i].lines);
        CHECK_EQ(out.bytes, strlen(want));
        CHECK_MEM(out.text, want, out.bytes);
        text_free(&out);
    }
}
