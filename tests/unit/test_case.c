/* Cases and truths: sealing, reading back, damage. Also the names and identities of the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/files.h"
#include "base/text.h"
#include "model/case.h"
#include "model/finding.h"
#include "model/folded.h"
#include "model/module.h"
#include "model/stack.h"
#include "test.h"

static struct fault fault;
static struct arena keep;

static void fresh(void)
{
    const struct fault none = FAULT_INIT;
    fault = none;
    arena_free(&keep);
    arena_init(&keep, 0);
}

static const char *in(const char *folder, const char *name)
{
    static char paths[4][4200];
    static unsigned next;
    char *out = paths[next++ % COUNT_OF(paths)];
    (void)snprintf(out, sizeof paths[0], "%s/%s", folder, name);
    return out;
}

static void write_text(const char *folder, const char *name, const char *text)
{
    test_write(in(folder, name), text, strlen(text));
}

static const char truth_json[] =
    "{\"threads\":[{\"id\":36,\"role\":\"main\",\"frames\":["
    "{\"function\":\"poke\",\"file\":\"victims/a.c\",\"line\":7,\"tail\":false,\"gap\":null},"
    "{\"function\":\"hop\",\"file\":\"victims/a.c\",\"line\":9,\"tail\":true,\"gap\":null},"
    "{\"function\":null,\"file\":null,\"line\":null,\"tail\":false,\"gap\":\"elided\","
    "\"gap_count\":12}]}]}";

/* A case with every member set, sealed in a fresh folder RUN/cases/NAME. */
static const char *sealed(struct crash_case *c)
{
    static const char *subjects[] = {"offset:rtl"};
    static const char *images[] = {"victims-ob2.exe", "plug\"in.dll"};
    static struct named_version tools[] = {{"twinstack", "0.1.0"}};
    static struct case_file files[3];
    static char folder[4200];

    fresh();
    (void)snprintf(folder, sizeof folder, "%s/cases/null_write.ob2", test_scratch());
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    REQUIRE(folder_make(in(test_scratch(), "symbols/v.exe/1"), &fault) == ERR_NONE);
    write_text(folder, "record.rec", "record");
    write_text(folder, "truth.json", truth_json);
    write_text(test_scratch(), "symbols/v.exe/1/v.exe", "image");
    memset(files, 0, sizeof files);
    files[0].role = ROLE_RECORD;
    files[0].path = "record.rec";
    files[1].role = ROLE_TRUTH;
    files[1].path = "truth.json";
    files[2].role = ROLE_IMAGE;
    files[2].path = "../../symbols/v.exe/1/v.exe";
    memset(c, 0, sizeof *c);
    c->scenario = "null_write";
    c->variant = "ob2";
    c->arch = CPU_X64;
    c->kind = CASE_KIND_CRASH;
    c->expect.code = c->got.code = 0xC0000005;
    c->expect.exit_code = c->got.exit_code = 0xC0000005;
    c->expect.hooks = HOOK_BIT(CASE_HOOK_VECTORED) | HOOK_BIT(CASE_HOOK_UNHANDLED);
    c->expect.subjects = subjects;
    c->expect.subject_count = 1;
    c->got.hooks = HOOK_BIT(CASE_HOOK_VECTORED);
    c->got.wall_ms = 812;
    c->got.ended_by = CASE_ENDING_EXIT;
    c->own.images = images;
    c->own.image_count = 2;
    c->own.source_root = NULL;
    c->host.os = "linux";
    c->toolchain.compiler = "Clang 19.1.7";
    c->tools = tools;
    c->tool_count = 1;
    c->files = files;
    c->file_count = 3;
    REQUIRE(case_seal(folder, c, &fault) == ERR_NONE);
    return folder;
}

TEST(a_sealed_case_reads_back)
{
    struct crash_case c, r;
    const char *folder = sealed(&c);

    REQUIRE(case_read(folder, &keep, &r, &fault) == ERR_NONE);
    CHECK_STR(r.folder, folder);
    CHECK_STR(r.scenario, "null_write");
    CHECK_STR(r.variant, "ob2");
    CHECK_EQ(r.arch, CPU_X64);
    CHECK_EQ(r.kind, CASE_KIND_CRASH);
    CHECK_HEX(r.expect.code, 0xC0000005);
    CHECK_HEX(r.got.exit_code, 0xC0000005);
    CHECK_EQ(r.expect.hooks, HOOK_BIT(CASE_HOOK_VECTORED) | HOOK_BIT(CASE_HOOK_UNHANDLED));
    CHECK_EQ(r.got.hooks, HOOK_BIT(CASE_HOOK_VECTORED));
    REQUIRE(r.expect.subject_count == 1);
    CHECK_STR(r.expect.subjects[0], "offset:rtl");
    CHECK_EQ(r.got.wall_ms, 812);
    CHECK_EQ(r.got.ended_by, CASE_ENDING_EXIT);
    REQUIRE(r.own.image_count == 2);
    CHECK_STR(r.own.images[1], "plug\"in.dll");
    CHECK(r.own.source_root == NULL);
    CHECK(r.host.wine == NULL);
    CHECK_STR(r.toolchain.compiler, "Clang 19.1.7");
    REQUIRE(r.tool_count == 1);
    CHECK_STR(r.tools[0].version, "0.1.0");
    REQUIRE(r.file_count == 3);
    CHECK_EQ(r.files[0].role, ROLE_RECORD);
    CHECK_EQ(r.files[0].bytes, 6);
    CHECK_STR(r.files[0].sha256,
              "70ce871f8a3d3fb449bc3c3ace6547cef02dfc74ffe48d912532a724bfdbe5b9");
    CHECK_EQ(case_verify(&r, &fault), ERR_NONE);
    case_close(&r);
    CHECK_STR(case_path(&r, ROLE_IMAGE, &keep), in(folder, "../../symbols/v.exe/1/v.exe"));
    CHECK(case_file(&r, ROLE_DUMP) == NULL);
    CHECK(case_path(&r, ROLE_DUMP, &keep) == NULL);
}

TEST(the_members_of_case_json_and_their_order)
{
    static const char want[] =
        "{\n  \"schema_version\": 1,\n  \"scenario\": \"null_write\",\n  \"variant\": \"ob2\",\n"
        "  \"arch\": \"x64\",\n  \"kind\": \"crash\",\n"
        "  \"expect\": {\n    \"code\": \"0xc0000005\",\n    \"exit_code\": \"0xc0000005\",\n"
        "    \"doors\": [\n      \"vectored\",\n      \"unhandled\"\n    ],\n"
        "    \"subjects\": [\n      \"offset:rtl\"\n    ]\n  },\n"
        "  \"got\": {\n    \"code\": \"0xc0000005\",\n    \"exit_code\": \"0xc0000005\",\n"
        "    \"doors\": [\n      \"vectored\"\n    ],\n    \"wall_ms\": 812,\n"
        "    \"ended_by\": \"exit\"\n  },\n"
        "  \"own\": {\n    \"images\": [\n      \"victims-ob2.exe\",\n      \"plug\\\"in.dll\"\n"
        "    ],\n    \"source_root\": null\n  },\n"
        "  \"host\": {\n    \"os\": \"linux\",\n    \"wine\": null,\n    \"cpu\": null\n  },\n"
        "  \"toolchain\": {\n    \"compiler\": \"Clang 19.1.7\",\n    \"flags\": null\n  },\n"
        "  \"tools\": [\n    {\n      \"name\": \"twinstack\",\n      \"version\": \"0.1.0\"\n"
        "    }\n  ],\n  \"files\": [\n    {\n      \"role\": \"record\",\n"
        "      \"path\": \"record.rec\",\n      \"bytes\": 6,\n      \"sha256\": \"";
    struct crash_case c;
    size_t bytes = 0;
    const char *text = (const char *)test_read(in(sealed(&c), "case.json"), &bytes);

    CHECK(strncmp(text, want, sizeof want - 1) == 0);
}

TEST(the_same_case_gives_the_same_bytes)
{
    struct crash_case c, r;
    size_t first_bytes = 0, again_bytes = 0;
    const char *folder = sealed(&c);
    const uint8_t *first = test_read(in(folder, "case.json"), &first_bytes);

    REQUIRE(case_read(folder, &keep, &r, &fault) == ERR_NONE);
    REQUIRE(case_seal(folder, &r, &fault) == ERR_NONE);
    const uint8_t *again = test_read(in(folder, "case.json"), &again_bytes);
    REQUIRE(first_bytes == again_bytes);
    CHECK_MEM(again, first, first_bytes);
}

TEST(a_changed_case_is_refused)
{
    static const struct {
        const char *name, *file, *content;
        enum status read, verify;
    } rows[] = {
        {"record of another size", "record.rec", "recording", ERR_MISMATCH, ERR_NONE},
        {"record of the same size", "record.rec", "recorD", ERR_NONE, ERR_MISMATCH},
        {"case.json", "case.json", "{\"schema_version\": 1}", ERR_MISMATCH, ERR_NONE},
        {"seal", "seal", "0000", ERR_MISMATCH, ERR_NONE},
        {"no seal", "seal", NULL, ERR_ABSENT, ERR_NONE},
        {"no case.json", "case.json", NULL, ERR_ABSENT, ERR_NONE},
        {"no record", "record.rec", NULL, ERR_ABSENT, ERR_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct crash_case c, r;
        char text[1024];
        const char *folder = sealed(&c);
        test_row(rows[i].name);
        if (rows[i].content != NULL)
            write_text(folder, rows[i].file, rows[i].content);
        else
            REQUIRE(path_remove(in(folder, rows[i].file), &fault) == ERR_NONE);
        CHECK_EQ(case_read(folder, &keep, &r, &fault), rows[i].read);
        if (rows[i].read == ERR_NONE)
            CHECK_EQ(case_verify(&r, &fault), rows[i].verify);
        case_close(&r);
        fault_describe(&fault, text, sizeof text);
        CHECK_HAS(text, rows[i].file);
    }
}

TEST(paths_that_leave_the_run_are_refused)
{
    static const struct {
        const char *path;
        bool allowed;
    } rows[] = {
        {"record.rec", true}, {"sub/record.rec", true}, {"../../symbols/v.exe/1/v.exe", true},
        {"", false},          {"/etc/hostname", false}, {"C:/x", false},
        {"..\\x", false},     {"../../../x", false},    {"a/../../../../x", false},
        {"..", false},        {"../..", false},         {"a//b", false},
        {"a/", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct crash_case c;
        const char *folder = sealed(&c);
        test_row(rows[i].path);
        REQUIRE(folder_make(in(folder, "sub"), &fault) == ERR_NONE);
        write_text(folder, "sub/record.rec", "x");
        c.files[0].path = rows[i].path;
        CHECK_EQ(case_seal(folder, &c, &fault), rows[i].allowed ? ERR_NONE : ERR_USAGE);
    }
}

/* Seals any TEXT as case.json, as a hostile sender can, and reads the case. */
static enum status read_resealed(const char *folder, const char *text, struct crash_case *out)
{
    char seal[128];
    text_sha256(text, strlen(text), seal);
    write_text(folder, "case.json", text);
    write_text(folder, "seal", seal);
    fresh();
    return case_read(folder, &keep, out, &fault);
}

TEST(sealed_nonsense_is_malformed)
{
    static const struct {
        const char *name, *json;
        enum status want;
    } rows[] = {
        {"empty", "", ERR_MALFORMED},
        {"no JSON", "case", ERR_MALFORMED},
        {"an array", "[]", ERR_MALFORMED},
        {"no version", "{}", ERR_MALFORMED},
        {"newer version", "{\"schema_version\":2}", ERR_UNSUPPORTED},
        {"nothing else", "{\"schema_version\":1}", ERR_MALFORMED},
        {"doors that are no list",
         "{\"schema_version\":1,\"scenario\":\"a\",\"variant\":\"b\",\"arch\":\"c\",\"kind\":\"d\","
         "\"expect\":{\"doors\":5}}",
         ERR_MALFORMED},
        {"a hook that is no text",
         "{\"schema_version\":1,\"scenario\":\"a\",\"variant\":\"b\",\"arch\":\"c\",\"kind\":\"d\","
         "\"expect\":{\"doors\":[5]}}",
         ERR_MALFORMED},
        {"file outside",
         "{\"schema_version\":1,\"scenario\":\"a\",\"variant\":\"b\",\"arch\":\"c\",\"kind\":\"d\","
         "\"files\":[{\"role\":\"record\",\"path\":\"/etc/"
         "hostname\",\"bytes\":1,\"sha256\":\"\"}]}",
         ERR_MALFORMED},
        {"short hash",
         "{\"schema_version\":1,\"scenario\":\"a\",\"variant\":\"b\",\"arch\":\"c\",\"kind\":\"d\","
         "\"files\":[{\"role\":\"record\",\"path\":\"record.rec\",\"bytes\":6,\"sha256\":\"12\"}]}",
         ERR_MALFORMED},
        {"smallest",
         "{\"schema_version\":1,\"scenario\":\"a\",\"variant\":\"b\",\"arch\":\"c\",\"kind\":"
         "\"d\"}",
         ERR_NONE},
    };
    struct crash_case c, r;
    char folder[4200];
    (void)snprintf(folder, sizeof folder, "%s", sealed(&c));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(read_resealed(folder, rows[i].json, &r), rows[i].want);
    }
}

TEST(a_truth_reads_back)
{
    struct crash_case c, r;
    struct truth truth;

    REQUIRE(case_read(sealed(&c), &keep, &r, &fault) == ERR_NONE);
    REQUIRE(truth_read(&r, &keep, &truth, &fault) == ERR_NONE);
    case_close(&r);
    REQUIRE(truth.thread_count == 1 && truth.threads[0].frame_count == 3);
    const struct truth_frame *frames = truth.threads[0].frames;
    CHECK_EQ(truth.threads[0].id, 36);
    CHECK_EQ(truth.threads[0].role, THREAD_ROLE_MAIN);
    CHECK_STR(frames[0].function, "poke");
    CHECK_STR(frames[0].file, "victims/a.c");
    CHECK_EQ(frames[0].line, 7);
    CHECK(!frames[0].tail && frames[0].gap == TRUTH_GAP_NONE);
    CHECK(frames[1].tail);
    CHECK(frames[2].function == NULL);
    CHECK_EQ(frames[2].gap, TRUTH_GAP_ELIDED);
    CHECK_EQ(frames[2].gap_count, 12);
}

TEST(a_wrong_truth_is_said)
{
    static const struct {
        const char *name, *json;
    } rows[] = {
        {"no threads", "{}"},
        {"threads that are no list", "{\"threads\":{}}"},
        {"frame without anything", "{\"threads\":[{\"id\":1,\"frames\":[{}]}]}"},
        {"line below 0",
         "{\"threads\":[{\"id\":1,\"frames\":[{\"function\":\"f\",\"line\":-1}]}]}"},
        {"line over 32 bits",
         "{\"threads\":[{\"id\":1,\"frames\":[{\"function\":\"f\",\"line\":4294967296}]}]}"},
        {"tail that is no bool",
         "{\"threads\":[{\"id\":1,\"frames\":[{\"function\":\"f\",\"tail\":1}]}]}"},
    };
    struct crash_case c;
    struct truth truth;
    const char *folder = sealed(&c);
    c.folder = folder;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        write_text(folder, "truth.json", rows[i].json);
        fresh();
        CHECK_EQ(truth_read(&c, &keep, &truth, &fault), ERR_MALFORMED);
        case_close(&c);
        CHECK_HAS(fault.path, "truth.json");
    }
    c.file_count = 1; /* only the record, as in an imported dump */
    fresh();
    CHECK_EQ(truth_read(&c, &keep, &truth, &fault), ERR_ABSENT);
}

static void try_truth(const uint8_t *data, size_t bytes, void *context)
{
    struct truth truth;
    const struct crash_case *c = context;
    test_write(in(c->folder, "truth.json"), data, bytes);
    fresh();
    CHECK(truth_read(c, &keep, &truth, &fault) != ERR_NONE || truth.threads != NULL);
    case_close(c);
}

TEST(every_damaged_truth)
{
    struct crash_case c;
    const char *folder = sealed(&c);
    c.folder = folder;
    test_truncations((const uint8_t *)truth_json, sizeof truth_json - 1, try_truth, &c);
    test_flips((const uint8_t *)truth_json, sizeof truth_json - 1, try_truth, &c);
}

TEST(identities_are_spelt_as_symbol_servers_do)
{
    const uint8_t guid[16] = {0x04, 0x03, 0x02, 0x01, 0x06, 0x05, 0x08, 0x07,
                              0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10};
    char code[CODE_ID_BYTES], debug[DEBUG_ID_BYTES];
    module_code_id(0x5268, 0x1C000, code);
    CHECK_STR(code, "000052681c000");
    module_code_id(0xFFFFFFFF, 0xFFFFFFFF, code);
    CHECK_STR(code, "FFFFFFFFffffffff");
    module_debug_id(guid, 31, debug);
    CHECK_STR(debug, "0102030405060708090A0B0C0D0E0F101f");
}

TEST(modules_are_the_same_by_identity_before_name)
{
    static const struct {
        const char *name;
        struct module a, b;
        bool same;
    } rows[] = {
        {"name alone, folded", {.name = "A.dll"}, {.name = "a.DLL"}, true},
        {"another name", {.name = "a.dll"}, {.name = "b.dll"}, false},
        {"no name", {.name = NULL}, {.name = NULL}, false},
        {"code id", {.name = "a", .code_id = "1a"}, {.name = "b", .code_id = "1A"}, true},
        {"other code id", {.name = "a", .code_id = "1"}, {.name = "a", .code_id = "2"}, false},
        {"id on one side: by name", {.name = "a", .code_id = "1"}, {.name = "a"}, true},
        {"other age",
         {.name = "a", .code_id = "1", .debug_id = "F1"},
         {.name = "a", .code_id = "1", .debug_id = "F2"},
         false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(module_same(&rows[i].a, &rows[i].b), rows[i].same);
        CHECK_EQ(module_same(&rows[i].b, &rows[i].a), rows[i].same);
    }
}

TEST(lookup_is_one_byte_before_a_return_address)
{
    struct frame frame = {.kind = PC_INTERRUPTED, .offset = 0x10};
    CHECK_HEX(frame_lookup_offset(&frame), 0x10);
    frame.kind = PC_RETURN;
    CHECK_HEX(frame_lookup_offset(&frame), 0xF);
    frame.offset = 0;
    CHECK_HEX(frame_lookup_offset(&frame), 0);
}

TEST(every_enumerator_has_its_word)
{
    for (int i = 0; i < CAUSE_COUNT; i++)
        CHECK(cause_name((enum cause)i) != NULL);
    for (int i = 0; i < VERDICT_COUNT; i++)
        CHECK(verdict_name((enum verdict)i) != NULL);
    for (int i = 0; i <= FOUND_INLINED; i++)
        CHECK(found_by_name((enum found_by)i) != NULL);
    for (int i = 0; i < SYMBOLS_COUNT; i++)
        CHECK(symbols_from_name((enum symbols_from)i) != NULL);
    for (int i = 0; i <= CLASS_GENERATED; i++)
        CHECK(frame_class_name((enum frame_class)i) != NULL);
    for (int i = 0; i <= ROLE_OTHER; i++)
        CHECK(case_role_name((enum case_role)i) != NULL);
    CHECK_STR(found_by_name(FOUND_FRAME_POINTER), "frame_pointer");
    CHECK_STR(symbols_from_name(SYMBOLS_PDB_PUBLIC), "pdb-public");
    CHECK_STR(pc_kind_name(PC_INTERRUPTED), "interrupted");
}

TEST(resolved_json_form)
{
    struct frame frames[2] = {
        {.index = 0,
         .inline_depth = 1,
         .module_name = "a.exe",
         .offset = 0x1234,
         .function = "poke",
         .file = "a.c",
         .line = 7,
         .found_by = FOUND_INLINED,
         .symbols = SYMBOLS_PDB},
        {.index = 0, .offset = 0x1234, .found_by = FOUND_SCAN, .identity = IDENTITY_UNCHECKED},
    };
    struct stack stack = {.label = "one", .frames = frames, .frame_count = 2};
    struct json j;

    json_to_text(&j, false);
    stack_write_json(&j, &stack);
    char *text = json_take(&j, NULL);
    CHECK_STR(text, "{\"schema_version\":1,\"label\":\"one\",\"frames\":["
                    "{\"index\":0,\"inline_depth\":1,\"module\":\"a.exe\",\"offset\":\"0x1234\","
                    "\"function\":\"poke\",\"file\":\"a.c\",\"line\":7,\"inlined\":true,"
                    "\"found_by\":\"inlined\",\"symbols\":\"pdb\",\"identity\":\"checked\","
                    "\"note\":null},"
                    "{\"index\":0,\"inline_depth\":0,\"module\":null,\"offset\":\"0x1234\","
                    "\"function\":null,\"file\":null,\"line\":null,\"inlined\":false,"
                    "\"found_by\":\"scan\",\"symbols\":\"none\",\"identity\":\"unchecked\","
                    "\"note\":null}]}");
    free(text);
}

TEST(notes_have_words_that_read_back)
{
    struct frame frame = {.module_name = "gone.dll"};
    char buffer[FRAME_NOTE_BYTES];

    frame_set_note_text(&frame, NULL);
    CHECK_EQ(frame.note, NOTE_NONE);
    CHECK(frame_note_text(&frame, buffer) == NULL);
    for (int i = NOTE_NONE + 1; i < (int)NOTE_UNWIND_FAILED + (int)STOP_OTHER; i++) {
        if (i == NOTE_OTHER || i == NOTE_UNWIND_FAILED)
            continue;
        frame.note = (enum frame_note)i;
        const char *text = frame_note_text(&frame, buffer);
        CHECK(text != NULL);
        struct frame read = {.module_name = "gone.dll"};
        frame_set_note_text(&read, text);
        CHECK_EQ(read.note, i);
    }
    frame.note = NOTE_MODULE_UNLOADED;
    CHECK_STR(frame_note_text(&frame, buffer), "in gone.dll, which was unloaded");
    frame_set_note_text(&frame, "words of a later version");
    CHECK_EQ(frame.note, NOTE_OTHER);
    CHECK_STR(frame_note_text(&frame, buffer), "words of a later version");
}

/* Seven notes in the middle of the others: symbols are there, but of another build. */
TEST(notes_of_another_build_are_seven)
{
    static const struct {
        enum frame_note note;
        bool other;
    } rows[] = {{NOTE_NONE, false},
                {NOTE_SPLIT_MISSING, false},
                {NOTE_PDB_OTHER_BUILD, true},
                {NOTE_PDB_OTHER_KEY, true},
                {NOTE_SYM_OTHER_BUILD, true},
                {NOTE_IMAGE_OTHER_BUILD, true},
                {NOTE_IMAGE_OTHER_PDB, true},
                {NOTE_GIVEN_PDB_OTHER_BUILD, true},
                {NOTE_GIVEN_FILE_OTHER_BUILD, true},
                {NOTE_SYM_DAMAGED, false},
                {NOTE_SEVERAL_BUILDS, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!CHECK_EQ(frame_note_is_other_build(rows[i].note), rows[i].other))
            fprintf(stderr, "note %d\n", (int)rows[i].note);
}

static void append(void *to, const char *text, size_t bytes)
{
    char *line = to;
    const size_t used = strlen(line);
    REQUIRE(bytes < 200 - used);
    memcpy(line + used, text, bytes);
    line[used + bytes] = '\0';
}

/* The input of flamegraph.pl: outermost first, between semicolons, which no name may have. */
TEST(a_folded_stack_is_one_line)
{
    static const struct {
        const char *name;
        struct frame frames[2]; /* innermost first */
        const char *bare, *whole;
    } rows[] = {
        {"names",
         {{.function = "poke", .module_name = "app.exe"},
          {.function = "main", .module_name = "app.exe"}},
         "main;poke",
         "app.exe!main;app.exe!poke"},
        {"no function",
         {{.module_name = "app.exe", .offset = 0x1005}, {.function = "main"}},
         "main;app.exe!0x1005",
         "?!main;app.exe!0x1005"},
        {"a managed method",
         {{.module_name = "a.dll", .method_token = 0x6000002, .offset = 0x1f}, {.offset = 0x10}},
         "?!0x10;a.dll!0x06000002+0x1f",
         "?!0x10;a.dll!0x06000002+0x1f"},
        {"what is no part of a name",
         {{.function = "a;b"}, {.function = "c\nd\x7f"}},
         "c?d?;a:b",
         "?!c?d?;?!a:b"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct frame frames[2];
        char bare[200] = "", whole[200] = "";
        memcpy(frames, rows[i].frames, sizeof frames);
        const struct stack stack = {.frames = frames, .frame_count = 2};
        test_row(rows[i].name);
        folded_stack_write(&stack, false, append, bare);
        folded_stack_write(&stack, true, append, whole);
        CHECK_STR(bare, rows[i].bare);
        CHECK_STR(whole, rows[i].whole);
    }
}

/* What the members that frames share depend on, one by one. */
static const struct frame kinds[] = {
    {.module_name = "a.exe"},
    {.module_name = "a.exe"},
    {.module_name = "a.exe", .inline_depth = 1},
    {.module_name = "a.exe", .offset = 1},
    {.module_name = "a.exe", .method_token = 1},
    {.module_name = "a.exe", .method_token = 1, .type_arguments = "int"},
    {.module_name = "b.dll"},
    {.module_name = NULL},
    {.module_name = "a.exe", .found_by = FOUND_SCAN},
    {.module_name = "a.exe", .symbols = SYMBOLS_PDB},
    {.module_name = "a.exe", .identity = IDENTITY_UNCHECKED},
    {.module_name = "a.exe", .note = NOTE_LINK_JUMP},
    {.module_name = "a.exe", .note = NOTE_OTHER, .note_words = "one"},
    {.module_name = "a.exe", .note = NOTE_OTHER, .note_words = "two"},
    {.module_name = "a.exe", .note = NOTE_MODULE_UNLOADED},
    {.module_name = "b.dll", .note = NOTE_MODULE_UNLOADED},
};

/* In a buffer, which moves several times, and in a stream, where nothing can be read again. */
TEST(a_frame_among_others_is_written_as_one_alone)
{
    enum { FRAMES = 1000 };
    struct frame frames[FRAMES];
    const struct stack stack = {.label = "one", .frames = frames, .frame_count = FRAMES};
    struct json alone, among, streamed;
    FILE *stream = tmpfile();
    REQUIRE(stream != NULL);
    for (uint32_t i = 0; i < FRAMES; i++)
        frames[i] = kinds[i * (i / COUNT_OF(kinds)) % COUNT_OF(kinds)];
    json_to_text(&alone, false);
    json_to_text(&among, false);
    json_to_stream(&streamed, stream, false);
    json_array(&alone);
    for (uint32_t i = 0; i < FRAMES; i++)
        frame_write_json(&alone, &frames[i]);
    json_array_end(&alone);
    stack_write_json(&among, &stack);
    stack_write_json(&streamed, &stack);
    char *want = json_take(&alone, NULL), *got = json_take(&among, NULL);
    REQUIRE(want != NULL && got != NULL);
    CHECK_EQ(ftell(stream), strlen(got));
    got[strlen(got) - 1] = '\0'; /* the end of the object */
    CHECK_STR(strstr(got, "\"frames\":") + strlen("\"frames\":"), want);
    free(want);
    free(got);
    (void)fclose(stream);
}
