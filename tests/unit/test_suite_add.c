/* Drafts of cases: what one lacks, by $defs/case of corpus/reference/schema.json and
 * suite/suite_add.h, and what an addition writes. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "suite/suite_add.h"
#include "suite/suite_draft.h"
#include "test.h"

static const char draft_text[] =
    "{\"id\":\"addresses/x64/plain/issue-1\",\"kind\":\"address\",\"processor\":\"x64\","
    "\"shape\":\"plain\",\"position\":\"row\",\"rule\":{\"kind\":\"page\",\"name\":\"a page\","
    "\"address\":\"https://example.org/1\"},\"capability\":\"addresses.pdb\",\"licence\":\"MIT\","
    "\"given\":{\"image\":\"in/a.dll\",\"symbols\":\"in/a.pdb\",\"rva\":\"0x1002\","
    "\"lookup\":\"interrupted\"},\"truth\":{\"level\":\"must\",\"frames\":[{\"function\":\"f\","
    "\"file\":[\"/s.c\"],\"line\":8,\"inlined\":false}],\"whole\":true},"
    "\"known_by\":[\"a 1\",\"b 2\"]}";

/* The draft with VALUE at PLACE, as "given.rva"; VALUE NULL: without it. */
static cJSON *draft_with(const char *place, const char *value)
{
    cJSON *draft = cJSON_Parse(draft_text), *object = draft;
    const char *point = strchr(place, '.'), *key = point != NULL ? point + 1 : place;
    char first[32] = "";
    REQUIRE(draft != NULL);
    if (point != NULL) {
        (void)snprintf(first, sizeof first, "%.*s", (int)(point - place), place);
        object = cJSON_GetObjectItemCaseSensitive(draft, first);
        REQUIRE(object != NULL);
    }
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON *item = value != NULL ? cJSON_Parse(value) : NULL;
    REQUIRE(item != NULL || value == NULL);
    if (item != NULL)
        REQUIRE(cJSON_AddItemToObject(object, key, item));
    return draft;
}

#define FRAME(FUNCTION, FILE, LINE)                                                                \
    "{\"function\":" FUNCTION ",\"file\":" FILE ",\"line\":" LINE ",\"inlined\":null}"
#define MAY(FRAMES) "{\"level\":\"may\",\"accepted\":[" FRAMES "]}"
#define MUST(FRAMES) "{\"level\":\"must\",\"frames\":[" FRAMES "]}"

TEST(a_draft_says_what_it_lacks)
{
    static const struct {
        const char *place, *value, *lacks; /* LACKS: the member; NULL: nothing */
    } rows[] = {
        {"issues", "[\"a/b#1\"]", NULL},
        {"kind", "\"minidump\"", "kind"},
        {"kind", NULL, "kind"},
        {"id", "\"addresses/a\"", NULL},
        {"id", "\"addresses/a-0/z9\"", NULL},
        {"id", "\"addresses/\"", "id"},
        {"id", "\"addresses/a/\"", "id"},
        {"id", "\"addresses/a//b\"", "id"},
        {"id", "\"addresses//b\"", "id"},
        {"id", "\"addresses/a_b\"", "id"},
        {"id", "\"addresses/A\"", "id"},
        {"id", "\"addresses/a b\"", "id"},
        {"id", "\"addressesxa\"", "id"},
        {"id", "\"moments/a\"", "id"},
        {"id", "\"\"", "id"},
        {"id", "1", "id"},
        {"processor", "\"arm64\"", NULL},
        {"processor", "\"x86\"", NULL},
        {"processor", "\"arm\"", NULL},
        {"processor", "\"mips\"", "processor"},
        {"shape", "\"\"", "processor"},
        {"position", NULL, "processor"},
        {"given.image", NULL, NULL},
        {"given.symbols", "null", NULL},
        {"given.lookup", "\"return\"", NULL},
        {"given.lookup", "\"call\"", "given"},
        {"given.rva", "\"0xabcdef0123456789\"", NULL},
        {"given.rva", "\"0x\"", "given"},
        {"given.rva", "\"1x1002\"", "given"},
        {"given.rva", "\"00x1\"", "given"},
        {"given.rva", "\"0x10g\"", "given"},
        {"given.rva", "4098", "given"},
        {"given", "{\"rva\":\"0x1\",\"lookup\":\"return\"}", "given"},
        {"capability", "\"addresses.dwarf\"", NULL},
        {"capability", "\"moments.x64\"", "capability"},
        {"rule.kind", "\"standard\"", NULL},
        {"rule.kind", "\"vendor source\"", NULL},
        {"rule.kind", "\"thread\"", NULL},
        {"rule.kind", "\"executed\"", NULL},
        {"rule.kind", "\"mine\"", "rule"},
        {"rule.name", "\"\"", "rule"},
        {"rule.address", "null", NULL},
        {"rule.address", NULL, "rule"},
        {"rule.address", "\"http://example.org\"", "rule"},
        {"rule.address", "\"https:/x\"", "rule"},
        {"rule.address", "\"https://\"", NULL},
        {"truth", MUST(FRAME("\"f\"", "null", "null")), NULL},
        {"truth", MUST(FRAME("null", "\"/s.c\"", "null")), NULL},
        {"truth", MUST(FRAME("null", "null", "8")), NULL},
        {"truth", MUST(FRAME("null", "null", "null")), "truth"},
        {"truth", MUST(FRAME("\"f\"", "null", "8") "," FRAME("null", "null", "null")), "truth"},
        {"truth", MUST("{\"function\":\"f\",\"file\":null,\"line\":8}"), "truth"},
        {"truth", MUST("{\"function\":\"f\",\"file\":null,\"inlined\":null}"), "truth"},
        {"truth", MUST("{\"function\":\"f\",\"line\":8,\"inlined\":null}"), "truth"},
        {"truth", MUST("{\"file\":null,\"line\":8,\"inlined\":null}"), "truth"},
        {"truth", MUST(""), "truth"},
        {"truth", MAY("[" FRAME("\"f\"", "null", "8") "]"), NULL},
        {"truth", MAY("[],[" FRAME("\"f\"", "null", "8") "]"), NULL},
        {"truth", MAY("[" FRAME("\"f\"", "null", "8") "],[" FRAME("null", "null", "null") "]"),
         "truth"},
        {"truth", MAY("1"), "truth"},
        {"truth", MAY(""), "truth"},
        {"truth", "{\"level\":\"unknown\"}", NULL},
        {"truth", "{\"level\":\"unknown\",\"frames\":[]}", "truth"},
        {"truth", "{\"level\":\"unknown\",\"accepted\":[]}", "truth"},
        {"truth.level", "\"sure\"", "truth"},
        {"truth", NULL, "truth"},
        {"known_by", "[\"a\",\"b\",\"c\"]", NULL},
        {"known_by", "[\"a\"]", "known_by"},
        {"known_by", "[]", "known_by"},
        {"known_by", "{\"a\":\"a\",\"b\":\"b\"}", "known_by"},
        {"known_by", "[\"a\",\"b\",\"a\"]", "known_by"},
        {"known_by", "[\"a\",\"\"]", "known_by"},
        {"known_by", "[\"a\",1]", "known_by"},
        {"known_by", "[\"a\",\"twinstack\"]", "known_by"},
        {"known_by", "[\"a\",\"twinstack 1.2\"]", "known_by"},
        {"known_by", "[\"a\",\"twinstac\"]", NULL},
        {"licence", "\"\"", "licence"},
        {"licence", NULL, "licence"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char name[200], word[40];
        struct arena keep;
        uint32_t count = 99;
        (void)snprintf(name, sizeof name, "%s: %s", rows[i].place,
                       rows[i].value != NULL ? rows[i].value : "absent");
        test_row(name);
        arena_init(&keep, 0);
        cJSON *draft = draft_with(rows[i].place, rows[i].value);
        const char *const *missing = suite_draft_missing(draft, &keep, &count);
        REQUIRE(missing != NULL);
        (void)snprintf(word, sizeof word, "\"%s\"", rows[i].lacks != NULL ? rows[i].lacks : "");
        if (CHECK_EQ(count, rows[i].lacks != NULL) && count == 1)
            CHECK(strncmp(missing[0], word, strlen(word)) == 0);
        cJSON_Delete(draft);
        arena_free(&keep);
    }
}

/* A must has two witnesses, every other truth one. */
TEST(what_is_no_must_needs_one_witness)
{
    static const struct {
        const char *truth, *known_by;
        uint32_t lacks;
    } rows[] = {
        {MAY("[" FRAME("\"f\"", "null", "8") "]"), "[\"a\"]", 0},
        {MAY("[" FRAME("\"f\"", "null", "8") "]"), "[]", 1},
        {"{\"level\":\"unknown\"}", "[\"a\"]", 0},
        {"{\"level\":\"unknown\"}", "[\"a\",\"a\"]", 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        uint32_t count = 99;
        test_row(rows[i].truth);
        arena_init(&keep, 0);
        cJSON *draft = draft_with("truth", rows[i].truth);
        REQUIRE(cJSON_ReplaceItemInObjectCaseSensitive(draft, "known_by",
                                                       cJSON_Parse(rows[i].known_by)));
        (void)suite_draft_missing(draft, &keep, &count);
        CHECK_EQ(count, rows[i].lacks);
        cJSON_Delete(draft);
        arena_free(&keep);
    }
}

/* $defs/case: every required member, names as lists, and no licence, which is the files'. */
TEST(a_line_has_every_member_of_the_schema)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    cJSON *draft = draft_with("issues", "[\"a/b#1\"]");
    CHECK_STR(suite_draft_line(draft, &keep, &fault),
              "{\"id\":\"addresses/x64/plain/issue-1\",\"kind\":\"address\",\"processor\":\"x64\","
              "\"shape\":\"plain\",\"position\":\"row\",\"rule\":{\"kind\":\"page\",\"name\":"
              "\"a page\",\"address\":\"https://example.org/1\"},\"needs\":[],\"conflicts_with\":"
              "[],\"issues\":[\"a/b#1\"],\"os\":null,\"capability\":\"addresses.pdb\",\"given\":"
              "{\"image\":\"in/a.dll\",\"symbols\":\"in/a.pdb\",\"rva\":\"0x1002\",\"lookup\":"
              "\"interrupted\"},\"truth\":{\"level\":\"must\",\"frames\":[{\"function\":[\"f\"],"
              "\"file\":[\"/s.c\"],\"line\":8,\"inlined\":false}],\"whole\":true},\"known_by\":"
              "[\"a 1\",\"b 2\"]}\n");
    cJSON_Delete(draft);
    draft = draft_with("truth", MAY("[" FRAME("\"f\"", "\"/s.c\"", "8") "]"));
    CHECK_HAS(suite_draft_line(draft, &keep, &fault),
              "\"accepted\":[[{\"function\":[\"f\"],\"file\":[\"/s.c\"],\"line\":8");
    cJSON_Delete(draft);
    arena_free(&keep);
}

/* ---- threads of a dump ------------------------------------------------------------------ */

#define DUMP_TRUTH(IP)                                                                             \
    "{\"level\":\"must\",\"frames\":[{\"ip\":\"" IP "\",\"sp\":\"0x100\"}],\"whole\":true}"
#define DUMP_DRAFT(GIVEN, MORE)                                                                    \
    "{\"id\":\"dumps/x64/pieces/issue-1\",\"kind\":\"dump\",\"processor\":\"x64\","                \
    "\"shape\":\"pieces\",\"position\":\"other\",\"rule\":{\"kind\":\"page\",\"name\":\"a page\"," \
    "\"address\":null},\"capability\":\"dumps.x64\",\"licence\":\"MIT\",\"given\":" GIVEN          \
    ",\"known_by\":[\"a 1\",\"b 2\"]," MORE "}"
#define DUMP_GIVEN "{\"dump\":\"in/a.dmp\",\"symbols\":\"in\"}"
#define DUMP_GIVEN_7 "{\"dump\":\"in/a.dmp\",\"symbols\":\"in\",\"thread\":7}"
#define DUMP_THREADS                                                                               \
    "\"threads\":[{\"thread\":7,\"position\":\"crashed\",\"truth\":" DUMP_TRUTH(                   \
        "0x10") "},{\"thread\":4294967295,\"known_by\":[\"c\",\"d\"],\"truth\":" DUMP_TRUTH("0x2"  \
                                                                                            "0") "}]"

TEST(a_draft_of_a_dump_says_what_it_lacks)
{
    static const struct {
        const char *name, *text, *lacks; /* LACKS: the member; NULL: nothing */
    } rows[] = {
        {"one thread", DUMP_DRAFT(DUMP_GIVEN_7, "\"truth\":" DUMP_TRUTH("0x10")), NULL},
        {"images in its memory",
         DUMP_DRAFT("{\"dump\":\"a\",\"symbols\":null,\"thread\":0}",
                    "\"truth\":" DUMP_TRUTH("0x10")),
         NULL},
        {"two threads", DUMP_DRAFT(DUMP_GIVEN, DUMP_THREADS), NULL},
        {"no thread", DUMP_DRAFT(DUMP_GIVEN, "\"truth\":" DUMP_TRUTH("0x10")), "given"},
        {"no list of threads",
         DUMP_DRAFT(DUMP_GIVEN_7, "\"threads\":[],\"truth\":" DUMP_TRUTH("0x10")), "given"},
        {"a thread without its id",
         DUMP_DRAFT(DUMP_GIVEN, "\"threads\":[{\"truth\":" DUMP_TRUTH("0x10") "}]"), "given"},
        {"an id of 33 bits",
         DUMP_DRAFT("{\"dump\":\"a\",\"symbols\":null,\"thread\":4294967296}",
                    "\"truth\":" DUMP_TRUTH("0x10")),
         "given"},
        {"half an id",
         DUMP_DRAFT("{\"dump\":\"a\",\"symbols\":null,\"thread\":1.5}",
                    "\"truth\":" DUMP_TRUTH("0x10")),
         "given"},
        {"no word of images",
         DUMP_DRAFT("{\"dump\":\"a\",\"thread\":1}", "\"truth\":" DUMP_TRUTH("0x10")), "given"},
        {"no dump", DUMP_DRAFT("{\"symbols\":null,\"thread\":1}", "\"truth\":" DUMP_TRUTH("0x10")),
         "given"},
        {"one of two threads without a truth",
         DUMP_DRAFT(DUMP_GIVEN,
                    "\"threads\":[{\"thread\":7,\"truth\":" DUMP_TRUTH("0x10") "},{\"thread\":8}]"),
         "truth"},
        {"a frame in decimal", DUMP_DRAFT(DUMP_GIVEN_7, "\"truth\":" DUMP_TRUTH("10")), "truth"},
        {"no frame", DUMP_DRAFT(DUMP_GIVEN_7, "\"truth\":{\"level\":\"may\",\"accepted\":[[]]}"),
         "truth"},
        {"one of two threads with a single witness",
         DUMP_DRAFT(
             DUMP_GIVEN,
             "\"threads\":[{\"thread\":7,\"truth\":" DUMP_TRUTH(
                 "0x10") "},{\"thread\":8,\"known_by\":[\"a\"],\"truth\":" DUMP_TRUTH("0x10") "}]"),
         "known_by"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        uint32_t count = 99;
        char word[40];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        cJSON *draft = cJSON_Parse(rows[i].text);
        REQUIRE(draft != NULL);
        const char *const *missing = suite_draft_missing(draft, &keep, &count);
        REQUIRE(missing != NULL);
        (void)snprintf(word, sizeof word, "\"%s\"", rows[i].lacks != NULL ? rows[i].lacks : "");
        if (CHECK_EQ(count, rows[i].lacks != NULL) && count == 1)
            CHECK(strncmp(missing[0], word, strlen(word)) == 0);
        cJSON_Delete(draft);
        arena_free(&keep);
    }
}

/* What a reader of dumps was asked for, and what it leaves. */
static struct suite_dump_thread asked[4];
static uint32_t asked_count, kept_stacks;
static char asked_dump[600], asked_symbols[600];
static struct suite_dump_file image = {NULL, "a.dll/1/a.dll"};

static enum status scrub_made(const char *dump, const char *symbols,
                              const struct suite_dump_thread *threads, uint32_t count,
                              struct arena *keep, struct suite_dump *out, struct fault *fault)
{
    (void)keep;
    (void)fault;
    REQUIRE(count <= COUNT_OF(asked));
    memcpy(asked, threads, count * sizeof *asked);
    asked_count = count;
    (void)snprintf(asked_dump, sizeof asked_dump, "%s", dump);
    (void)snprintf(asked_symbols, sizeof asked_symbols, "%s", symbols != NULL ? symbols : "none");
    *out = (struct suite_dump){.data = "abc",
                               .bytes = 3,
                               .files = &image,
                               .file_count = image.from != NULL,
                               .kept_stacks = kept_stacks};
    return ERR_NONE;
}

/* ---- additions -------------------------------------------------------------------------- */

/* FIPS 180-4: of "abc", and of no byte. */
#define HASH_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HASH_NONE "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static char suite_folder[600], draft_path[600];

static const char *below(const char *name)
{
    static char path[4][600];
    static unsigned next;
    char *at = path[next++ % 4];
    (void)snprintf(at, 600, "%s/%s", test_scratch(), name);
    return at;
}

static void make_files(const char *index)
{
    struct fault fault = FAULT_INIT;
    (void)snprintf(suite_folder, sizeof suite_folder, "%s", below("suite"));
    (void)snprintf(draft_path, sizeof draft_path, "%s", below("draft.json"));
    REQUIRE(path_remove(suite_folder, &fault) == ERR_NONE);
    REQUIRE(folder_make(suite_folder, &fault) == ERR_NONE);
    REQUIRE(folder_make(below("in"), &fault) == ERR_NONE);
    test_write(below("in/a.dll"), "abc", 3);
    test_write(below("in/a.pdb"), "", 0);
    test_write(below("suite/suite.json"), index, strlen(index));
}

static enum status add(const char *place, const char *value, const char *edition,
                       struct arena *keep, struct suite_addition *out, struct fault *fault)
{
    cJSON *draft = draft_with(place, value);
    char *text = cJSON_PrintUnformatted(draft);
    REQUIRE(text != NULL);
    test_write(draft_path, text, strlen(text));
    cJSON_free(text);
    cJSON_Delete(draft);
    const struct suite_add_request request = {suite_folder, draft_path, edition, scrub_made};
    return suite_add(&request, keep, out, fault);
}

static void check_text(const char *name, const char *want)
{
    size_t bytes;
    const char *text = (const char *)test_read(below(name), &bytes);
    char have[4000];
    (void)snprintf(have, sizeof have, "%.*s", (int)bytes, text);
    CHECK_STR(have, want);
}

#define INDEX(EDITION, LISTS, FILES)                                                               \
    "{\n \"suite\": 1,\n \"edition\": \"" EDITION "\",\n \"lists\": [" LISTS                       \
    "],\n \"retired\": [\n  {\n   \"id\": \"addresses/old\"\n  }\n ],\n \"files\": [" FILES        \
    "]\n}\n"
#define FILE_ROW(NAME, HASH)                                                                       \
    "\n  {\n   \"path\": \"programs/" NAME "\",\n   \"sha256\": \"" HASH                           \
    "\",\n   \"licence\": \"MIT\"\n  }"

/* The layout of suite.json is that of Python's json.dumps(index, indent=1). */
TEST(an_addition_is_a_line_two_files_and_an_edition)
{
    struct suite_addition out;
    struct fault fault = FAULT_INIT;
    struct suite suite;
    struct arena keep;
    arena_init(&keep, 0);
    make_files(INDEX("1", "", ""));
    REQUIRE(add("issues", "[]", NULL, &keep, &out, &fault) == ERR_NONE);
    CHECK_STR(out.id, "addresses/x64/plain/issue-1");
    CHECK_STR(out.list, "addresses/added.ndjson");
    CHECK_EQ(out.copied, 2);
    CHECK_EQ(out.missing_count, 0);
    check_text("suite/programs/a.dll", "abc");
    check_text("suite/programs/a.pdb", "");
    check_text("suite/suite.json",
               INDEX("1", "\n  \"addresses/added.ndjson\"\n ",
                     FILE_ROW("a.dll", HASH_ABC) "," FILE_ROW("a.pdb", HASH_NONE) "\n "));
    REQUIRE(add("id", "\"addresses/second\"", "2", &keep, &out, &fault) == ERR_NONE);
    CHECK_EQ(out.copied, 0); /* the suite has both files */
    check_text("suite/suite.json",
               INDEX("2", "\n  \"addresses/added.ndjson\"\n ",
                     FILE_ROW("a.dll", HASH_ABC) "," FILE_ROW("a.pdb", HASH_NONE) "\n "));
    REQUIRE(suite_open(suite_folder, NULL, &keep, &suite, &fault) == ERR_NONE);
    REQUIRE(suite.count == 2);
    CHECK_STR(suite.edition, "2");
    CHECK_STR(suite.cases[0].id, "addresses/x64/plain/issue-1");
    CHECK_STR(suite.cases[1].id, "addresses/second");
    CHECK_HAS(suite.cases[0].question, "\"image\":\"programs/a.dll\"");
    CHECK_HAS(suite.cases[0].question, "\"symbols\":\"programs/a.pdb\"");
    arena_free(&keep);
}

/* One file as image and symbols is one file; a list that suite.json does not name, and a file that
 * it does not name, are what an interrupted addition left. */
TEST(what_the_suite_has_is_not_copied_again)
{
    struct suite_addition out;
    struct fault fault = FAULT_INIT;
    struct suite suite;
    struct arena keep;
    arena_init(&keep, 0);
    make_files(INDEX("1", "", ""));
    REQUIRE(folder_make(below("suite/programs"), &fault) == ERR_NONE);
    REQUIRE(folder_make(below("suite/addresses"), &fault) == ERR_NONE);
    test_write(below("suite/programs/a.dll"), "abc", 3);
    test_write(below("suite/addresses/added.ndjson"), "x", 1);
    REQUIRE(add("given.symbols", "\"in/a.dll\"", NULL, &keep, &out, &fault) == ERR_NONE);
    CHECK_EQ(out.copied, 1);
    check_text("suite/suite.json",
               INDEX("1", "\n  \"addresses/added.ndjson\"\n ", FILE_ROW("a.dll", HASH_ABC) "\n "));
    REQUIRE(suite_open(suite_folder, NULL, &keep, &suite, &fault) == ERR_NONE);
    CHECK_EQ(suite.count, 1);
    arena_free(&keep);
}

TEST(what_does_not_fit_the_suite_is_refused_by_its_place)
{
    static const struct {
        const char *name, *place, *value, *file; /* FILE: made in the folder of the draft */
        size_t bytes;
        enum status want;
        const char *path; /* how the path of the fault ends */
    } rows[] = {
        {"a retired id", "id", "\"addresses/old\"", NULL, 0, ERR_USAGE, "addresses/old"},
        {"a member of no case", "isues", "[]", NULL, 0, ERR_MALFORMED, "isues"},
        {"a file that is missing", "given.image", "\"in/none.dll\"", NULL, 0, ERR_ABSENT,
         "in/none.dll"},
        {"a file of 2 MiB", "given.image", "\"in/b.dll\"", "in/b.dll", 2 << 20, ERR_NONE, ""},
        {"one byte more", "given.image", "\"in/b.dll\"", "in/b.dll", (2 << 20) + 1, ERR_LIMIT,
         "in/b.dll"},
        {"a blank in a name", "given.symbols", "\"in/a b\"", "in/a b", 1, ERR_MALFORMED, "in/a b"},
        {"two dots", "given.symbols", "\"in/a..b\"", "in/a..b", 1, ERR_MALFORMED, "in/a..b"},
        {"no name", "given.symbols", "\"in/\"", NULL, 0, ERR_MALFORMED, "in/"},
        {"every sign that is allowed", "given.symbols", "\"in/aZ09._+-\"", "in/aZ09._+-", 1,
         ERR_NONE, ""},
        {"another file of that name", "given.image", "\"other/taken.dll\"", "other/taken.dll", 4,
         ERR_USAGE, "programs/taken.dll"},
        {"image and symbols of one name", "given.symbols", "\"other/a.dll\"", "other/a.dll", 4,
         ERR_USAGE, "programs/a.dll"},
        {"a truth that is none", "truth",
         MUST("{\"function\":\"f\",\"file\":null,\"line\":\"8\",\"inlined\":null}"), NULL, 0,
         ERR_MALFORMED, "draft.json"},
    };
    static char data[(2 << 20) + 1];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct suite_addition out;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_files(INDEX("1", "", ""));
        REQUIRE(folder_make(below("other"), &fault) == ERR_NONE);
        REQUIRE(folder_make(below("suite/programs"), &fault) == ERR_NONE);
        test_write(below("suite/programs/taken.dll"), "abc", 3);
        if (rows[i].file != NULL)
            test_write(below(rows[i].file), data, rows[i].bytes);
        CHECK_EQ(add(rows[i].place, rows[i].value, NULL, &keep, &out, &fault), rows[i].want);
        const size_t have = strlen(fault.path), want = strlen(rows[i].path);
        CHECK_STR(fault.path + (have > want ? have - want : 0), rows[i].path);
        if (rows[i].want != ERR_NONE)
            check_text("suite/suite.json", INDEX("1", "", ""));
        arena_free(&keep);
    }
}

static void make_dump_files(void)
{
    static char from[600];
    make_files(INDEX("1", "", ""));
    test_write(below("in/a.dmp"), "whole", 5);
    (void)snprintf(from, sizeof from, "%s", below("in/a.dll"));
    image.from = from;
}

static enum status add_text(const char *text, struct arena *keep, struct suite_addition *out,
                            struct fault *fault)
{
    const struct suite_add_request request = {suite_folder, draft_path, NULL, scrub_made};
    test_write(draft_path, text, strlen(text));
    return suite_add(&request, keep, out, fault);
}

/* The suite gets what the reader of dumps leaves, and a case for each thread. */
TEST(threads_of_a_dump_are_cases_of_one_file)
{
    struct suite_addition out;
    struct fault fault = FAULT_INIT;
    struct suite suite;
    struct arena keep;
    arena_init(&keep, 0);
    make_dump_files();
    kept_stacks = 1;
    REQUIRE(add_text(DUMP_DRAFT(DUMP_GIVEN, DUMP_THREADS), &keep, &out, &fault) == ERR_NONE);
    CHECK_EQ(out.missing_count, 0);
    CHECK_EQ(out.cases, 2);
    CHECK_EQ(out.copied, 2);
    CHECK_EQ(out.kept_stacks, 1);
    CHECK_STR(out.list, "dumps/added.ndjson");
    CHECK_STR(asked_dump, below("in/a.dmp"));
    CHECK_STR(asked_symbols, below("in"));
    REQUIRE(asked_count == 2);
    CHECK_EQ(asked[0].id, 7);
    CHECK_EQ(asked[1].id, 4294967295);
    CHECK(asked[0].whole);
    CHECK_EQ(asked[1].walks[0].frames[0].ip, 0x20);
    check_text("suite/dumps/a.dmp", "abc");
    check_text("suite/dumps/symbols/a.dll/1/a.dll", "abc");
    REQUIRE(suite_open(suite_folder, NULL, &keep, &suite, &fault) == ERR_NONE);
    REQUIRE(suite.count == 2);
    CHECK_STR(suite.cases[0].id, "dumps/x64/pieces/issue-1/0");
    CHECK_STR(suite.cases[0].position, "crashed");
    CHECK_STR(suite.cases[1].id, "dumps/x64/pieces/issue-1/1");
    CHECK_STR(suite.cases[1].position, "other");
    CHECK_HAS(suite.cases[1].question, "\"dump\":\"dumps/a.dmp\",\"symbols\":\"dumps/symbols\","
                                       "\"thread\":4294967295");
    /* The same dump again is the same file. */
    kept_stacks = 0;
    static const char other[] = DUMP_DRAFT(DUMP_GIVEN_7, "\"truth\":" DUMP_TRUTH("0x10"));
    REQUIRE(add_text(other, &keep, &out, &fault) == ERR_NONE);
    CHECK_STR(out.id, "dumps/x64/pieces/issue-1");
    CHECK_EQ(out.cases, 1);
    CHECK_EQ(out.copied, 0);
    arena_free(&keep);
}

TEST(a_dump_that_does_not_fit_is_refused_by_its_place)
{
    static const struct {
        const char *name, *text;
        enum status want;
        const char *path;
    } rows[] = {
        {"a member of no thread",
         DUMP_DRAFT(DUMP_GIVEN, "\"threads\":[{\"thread\":7,\"thruth\":{}}]"), ERR_MALFORMED,
         "thruth"},
        {"a thread that is no object", DUMP_DRAFT(DUMP_GIVEN, "\"threads\":[[7]]"), ERR_MALFORMED,
         ""},
        {"threads and an id in use", DUMP_DRAFT(DUMP_GIVEN, DUMP_THREADS), ERR_USAGE,
         "dumps/x64/pieces/issue-1/0"},
        {"a dump of more than 2 MiB",
         DUMP_DRAFT("{\"dump\":\"in/large.dmp\",\"symbols\":null,\"thread\":1}",
                    "\"truth\":" DUMP_TRUTH("0x10")),
         ERR_LIMIT, "in/large.dmp"},
        {"a name with a blank",
         DUMP_DRAFT("{\"dump\":\"in/a b.dmp\",\"symbols\":null,\"thread\":1}",
                    "\"truth\":" DUMP_TRUTH("0x10")),
         ERR_MALFORMED, "in/a b.dmp"},
    };
    static char data[(2 << 20) + 1];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct suite_addition out;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_dump_files();
        image.from = NULL;
        test_write(below("in/large.dmp"), data, sizeof data);
        if (rows[i].want == ERR_USAGE)
            REQUIRE(add_text(rows[i].text, &keep, &out, &fault) == ERR_NONE);
        CHECK_EQ(add_text(rows[i].text, &keep, &out, &fault), rows[i].want);
        const size_t have = strlen(fault.path), want = strlen(rows[i].path);
        CHECK_STR(fault.path + (have > want ? have - want : 0), rows[i].path);
        arena_free(&keep);
    }
}

/* Threads are of dumps only. */
TEST(an_address_has_no_threads)
{
    struct suite_addition out;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    make_files(INDEX("1", "", ""));
    CHECK_EQ(add("threads", "[]", NULL, &keep, &out, &fault), ERR_MALFORMED);
    CHECK_STR(fault.path, "threads");
    arena_free(&keep);
}
