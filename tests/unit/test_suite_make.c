/* Suites that are made: what a moment needs, by $defs/case of corpus/reference/schema.json. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "suite/suite_make.h"
#include "test.h"

#define DRAFT(PROCESSOR, REGISTERS, BYTES)                                                         \
    "{\"kind\":\"moment\",\"processor\":\"" PROCESSOR "\",\"conflicts_with\":[],"                  \
    "\"issues\":[],\"os\":null,\"capability\":\"moments." PROCESSOR "\",\"given\":{\"registers\":" \
    "{" REGISTERS "},\"stack\":[{\"at\":\"0x7f88\",\"bytes\":\"" BYTES "\"}],\"modules\":[{"       \
    "\"path\":\"a.dll\",\"base\":\"0x600000\",\"size\":\"0x3000\"}]},\"truth\":{\"level\":"        \
    "\"must\",\"frames\":[{\"ip\":\"0x60101f\",\"sp\":\"0x7f88\"},{\"ip\":\"0x601013\",\"sp\":"    \
    "\"0x7f90\"}],\"whole\":true},\"known_by\":[\"executed\",\"a page\"]}"

#define X64_DRAFT DRAFT("x64", "\"rip\":\"0x60101f\",\"rsp\":\"0x7f88\"", "1310600000000000")

struct world {
    struct suite_make_request request;
    struct suite_maker *maker;
    struct suite_made_counts counts;
    struct fault fault;
    struct arena keep;
};

/* A maker of the folder NAME, below the scratch folder as all else is; BASE: another such folder,
 * or NULL. */
static void begin(struct world *w, const char *name, const char *base)
{
    *w = (struct world){.fault = FAULT_INIT};
    arena_init(&w->keep, 0);
    w->request = (struct suite_make_request){
        .out = path_join(&w->keep, test_scratch(), name),
        .edition = name,
        .base = base != NULL ? path_join(&w->keep, test_scratch(), base) : NULL,
        .licence = "MIT",
    };
    (void)suite_make_open(&w->request, &w->keep, &w->maker, &w->fault);
}

static void end(struct world *w)
{
    suite_make_close(w->maker);
    arena_free(&w->keep);
}

/* Adds a file with this TEXT; its path is that of FOLDER, which is made, and NAME. */
static void image(struct world *w, const char *folder, const char *name, const char *text)
{
    struct fault fault = FAULT_INIT;
    const char *place = path_join(&w->keep, test_scratch(), folder);
    const char *path = path_join(&w->keep, place, name);
    REQUIRE(folder_make(place, &fault) == ERR_NONE);
    test_write(path, text, strlen(text));
    (void)suite_make_image(w->maker, path, &w->fault);
}

static void moment(struct world *w, const char *draft, const char *group, const char *shape)
{
    const struct suite_made made = {group, 7, shape, "prologue"};
    (void)suite_make_moment(w->maker, draft, &made, &w->fault);
}

/* The text of a file of the new suite; NULL: there is none. */
static const char *text_of(struct world *w, const char *name)
{
    const char *path = path_join(&w->keep, w->request.out, name);
    size_t bytes;
    if (!path_is_file(path))
        return NULL;
    const uint8_t *data = test_read(path, &bytes);
    return arena_text(&w->keep, (const char *)data, bytes);
}

/* Only 32-bit x86 code needs records of its frames beside the image. */
TEST(a_moment_of_x86_needs_frame_data)
{
    static const struct {
        const char *name, *draft, *needs;
    } rows[] = {
        {"x86", DRAFT("x86", "\"eip\":\"0x60101f\",\"esp\":\"0x7f88\"", "13106000"),
         "\"needs\":[\"frame-data\"]"},
        {"x64", X64_DRAFT, "\"needs\":[]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        begin(&w, rows[i].name, NULL);
        image(&w, "from", "a.dll", "MZ");
        moment(&w, rows[i].draft, "steps", "push");
        REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
        CHECK_EQ(w.counts.must, 1);
        CHECK_EQ(w.counts.may, 0);
        CHECK_EQ(w.counts.files, 1);
        CHECK_EQ(w.counts.base_cases, 0);
        const char *list = text_of(&w, "moments/steps.ndjson");
        REQUIRE(list != NULL);
        CHECK_HAS(list, rows[i].needs);
        CHECK_HAS(list, "\"images/a.dll\"");
        end(&w);
    }
}

/* The parts of an id are of lower-case letters, digits and hyphens: $defs/id of the schema. */
TEST(a_group_and_a_shape_become_parts_of_an_id)
{
    static const char long_name[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const struct {
        const char *name, *group, *shape, *list, *part;
        int part_bytes; /* of PART; 0: all */
    } rows[] = {
        {"as they are", "steps-ob2", "push", "steps-ob2", "push", 0},
        {"none", NULL, NULL, "steps", "code", 0},
        {"nothing that is plain", "\xc3\xa4", "_", "steps", "code", 0},
        {"capitals", "AMZ", "Push", "amz", "push", 0},
        {"the first and the last", "az09", "AZ", "az09", "az", 0},
        {"their neighbours", "a`b{c/d:e", "A@B[C", "a-b-c-d-e", "a-b-c", 0},
        {"several others are one hyphen", "a__b", "a -- b", "a-b", "a-b", 0},
        {"none at either end", "__a__", "- a -", "a", "a", 0},
        {"at most 120 letters", "long", long_name, "long", long_name, 120},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        begin(&w, rows[i].name, NULL);
        image(&w, "from", "a.dll", "MZ");
        moment(&w, X64_DRAFT, rows[i].group, rows[i].shape);
        REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
        const int bytes = rows[i].part_bytes != 0 ? rows[i].part_bytes : (int)strlen(rows[i].part);
        const char *list = text_of(&w, arena_printf(&w.keep, "moments/%s.ndjson", rows[i].list));
        REQUIRE(list != NULL);
        CHECK_HAS(list, arena_printf(&w.keep, "\"id\":\"moments/x64/%.*s/%s/00007\"", bytes,
                                     rows[i].part, rows[i].list));
        CHECK_HAS(list, arena_printf(&w.keep, "\"shape\":\"%.*s\"", bytes, rows[i].part));
        end(&w);
    }
}

/* One line, with all that the schema asks for; by hand. */
TEST(a_suite_is_written_whole)
{
    struct world w;
    begin(&w, "2026.1", NULL);
    image(&w, "from", "a.dll", "MZ");
    moment(&w, X64_DRAFT, "steps", "push");
    REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
    CHECK_STR(text_of(&w, "images/a.dll"), "MZ");
    CHECK_STR(
        text_of(&w, "moments/steps.ndjson"),
        "{\"id\":\"moments/x64/push/steps/00007\",\"kind\":\"moment\",\"processor\":\"x64\","
        "\"shape\":\"push\",\"position\":\"prologue\",\"rule\":{\"kind\":\"executed\",\"name\":"
        "\"the calls and returns of its run\",\"address\":null},\"needs\":[],\"conflicts_with\":[],"
        "\"issues\":[],\"os\":null,\"capability\":\"moments.x64\",\"given\":{\"registers\":{"
        "\"rip\":\"0x60101f\",\"rsp\":\"0x7f88\"},\"stack\":[{\"at\":\"0x7f88\",\"bytes\":"
        "\"1310600000000000\"}],\"modules\":[{\"path\":\"images/a.dll\",\"base\":\"0x600000\","
        "\"size\":\"0x3000\"}]},\"truth\":{\"level\":\"must\",\"frames\":[{\"ip\":\"0x60101f\","
        "\"sp\":\"0x7f88\"},{\"ip\":\"0x601013\",\"sp\":\"0x7f90\"}],\"whole\":true},\"known_by\":"
        "[\"executed\",\"a page\"]}\n");
    /* printf MZ | sha256sum */
    CHECK_STR(text_of(&w, "suite.json"),
              "{\n \"suite\": 1,\n \"edition\": \"2026.1\",\n \"lists\": [\n  "
              "\"moments/steps.ndjson\"\n ],\n \"retired\": [],\n \"files\": [\n  {\n   \"path\": "
              "\"images/a.dll\",\n   \"sha256\": "
              "\"9b8db510ef42b8ed54a3712636fda55a4f8cfcd5493e20b74ab00cd4f3979f2d\",\n   "
              "\"licence\": \"MIT\"\n  }\n ]\n}\n");
    end(&w);
}

TEST(an_image_is_copied_once)
{
    static const struct {
        const char *name, *folder, *file, *text;
        enum status want;
        uint32_t files;
    } rows[] = {
        {"the same path", "from", "a.dll", "MZ", ERR_NONE, 1},
        {"the same file elsewhere", "other", "a.dll", "MZ", ERR_NONE, 1},
        {"another file of that name", "other", "a.dll", "MY", ERR_USAGE, 1},
        {"another name", "from", "b.dll", "MZ", ERR_NONE, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        begin(&w, rows[i].name, NULL);
        image(&w, "from", "a.dll", "MZ");
        image(&w, rows[i].folder, rows[i].file, rows[i].text);
        CHECK_EQ(w.fault.code, rows[i].want);
        CHECK_STR(w.fault.what, rows[i].want == ERR_NONE ? NULL : "image of a case");
        CHECK_HAS(w.fault.path, rows[i].want == ERR_NONE ? "" : "/other/a.dll");
        w.fault = (struct fault)FAULT_INIT;
        REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
        CHECK_EQ(w.counts.files, rows[i].files);
        CHECK_STR(text_of(&w, "images/a.dll"), "MZ");
        end(&w);
    }
}

TEST(what_is_no_image_is_refused)
{
    struct world w;
    begin(&w, "out", NULL);
    CHECK_EQ(suite_make_image(w.maker, path_join(&w.keep, test_scratch(), "no.dll"), &w.fault),
             ERR_ABSENT);
    end(&w);
}

TEST(moments_are_counted_by_their_level)
{
    static const char lacking[] = "{\"kind\":\"moment\",\"processor\":\"x64\"}";
    const char *const may =
        "{\"kind\":\"moment\",\"processor\":\"x64\",\"capability\":\"moments.x64\","
        "\"given\":{\"registers\":{\"rip\":\"0x60101f\",\"rsp\":\"0x7f88\"},"
        "\"stack\":[{\"at\":\"0x7f88\",\"bytes\":\"13\"}],\"modules\":[{\"path\":"
        "\"a.dll\",\"base\":\"0x600000\",\"size\":\"0x3000\"}]},\"truth\":{"
        "\"level\":\"may\",\"accepted\":[[{\"ip\":\"0x60101f\",\"sp\":\"0x7f88\"}]]},"
        "\"known_by\":[\"executed\"]}";
    const struct {
        const char *name, *draft, *hint;
        enum status want;
        uint32_t must, may;
    } rows[] = {
        {"a must", X64_DRAFT, NULL, ERR_NONE, 1, 0},
        {"a may", may, NULL, ERR_NONE, 0, 1},
        {"no JSON", "{kind", NULL, ERR_MALFORMED, 0, 0},
        {"nothing of what is given", lacking, "\"given\": ", ERR_MALFORMED, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        begin(&w, rows[i].name, NULL);
        image(&w, "from", "a.dll", "MZ");
        moment(&w, rows[i].draft, "steps", "push");
        CHECK_EQ(w.fault.code, rows[i].want);
        if (rows[i].hint != NULL)
            CHECK_HAS(w.fault.hint, rows[i].hint);
        w.fault = (struct fault)FAULT_INIT;
        REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
        CHECK_EQ(w.counts.must, rows[i].must);
        CHECK_EQ(w.counts.may, rows[i].may);
        end(&w);
    }
}

TEST(a_suite_has_at_most_256_lists)
{
    struct world w;
    begin(&w, "out", NULL);
    image(&w, "from", "a.dll", "MZ");
    for (int i = 0; i < 256; i++)
        moment(&w, X64_DRAFT, arena_printf(&w.keep, "list-%d", i), "push");
    moment(&w, X64_DRAFT, "list-0", "pop"); /* one that is there */
    CHECK_EQ(w.fault.code, ERR_NONE);
    moment(&w, X64_DRAFT, "one-more", "push");
    CHECK_EQ(w.fault.code, ERR_LIMIT);
    CHECK_STR(w.fault.what, "number of lists");
    w.fault = (struct fault)FAULT_INIT;
    REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
    CHECK_EQ(w.counts.must, 257);
    CHECK_HAS(text_of(&w, "suite.json"), "moments/list-255.ndjson");
    CHECK_HAS(text_of(&w, "moments/list-0.ndjson"), "/pop/list-0/");
    end(&w);
}

TEST(there_is_no_second_suite_in_a_folder)
{
    struct world w;
    begin(&w, "out", NULL);
    REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
    end(&w);
    begin(&w, "out", NULL);
    CHECK_EQ(w.fault.code, ERR_USAGE);
    CHECK_STR(w.fault.what, "suite");
    CHECK_HAS(w.fault.hint, "new folder");
    CHECK_HAS(w.fault.path, "/out/suite.json");
    end(&w);
}

/* All cases and files of another suite, the new ones after them; no list is written over. */
TEST(a_suite_starts_from_another)
{
    static const struct {
        const char *name, *group;
        enum status want;
    } rows[] = {
        {"a list of its own", "more", ERR_NONE},
        {"a list that the other one has", "steps", ERR_USAGE},
    };
    struct world w;
    begin(&w, "base", NULL);
    image(&w, "from", "a.dll", "MZ");
    moment(&w, X64_DRAFT, "steps", "push");
    moment(&w, X64_DRAFT, "steps", "pop");
    REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
    end(&w);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        begin(&w, rows[i].name, "base");
        REQUIRE(w.fault.code == ERR_NONE);
        image(&w, "from", "a.dll", "MZ");
        moment(&w, X64_DRAFT, rows[i].group, "push");
        CHECK_EQ(suite_make_finish(w.maker, &w.counts, &w.fault), rows[i].want);
        if (rows[i].want != ERR_NONE) {
            CHECK_STR(w.fault.what, "list of a suite");
            CHECK_HAS(w.fault.path, "moments/steps.ndjson");
            CHECK(text_of(&w, "suite.json") == NULL);
            end(&w);
            continue;
        }
        CHECK_EQ(w.counts.base_cases, 2);
        CHECK_EQ(w.counts.files, 0);
        CHECK_EQ(w.counts.must, 1);
        CHECK_STR(text_of(&w, "images/a.dll"), "MZ");
        CHECK_HAS(text_of(&w, "moments/steps.ndjson"), "/pop/steps/");
        CHECK_HAS(text_of(&w, "moments/more.ndjson"), "/push/more/");
        CHECK_HAS(text_of(&w, "suite.json"),
                  "\"edition\": \"a list of its own\",\n \"lists\": [\n  "
                  "\"moments/steps.ndjson\",\n  \"moments/more.ndjson\"\n ],\n \"retired\": []");
        end(&w);
    }
}

TEST(a_base_that_is_damaged_is_refused)
{
    static const struct {
        const char *name, *file, *text;
        enum status want;
    } rows[] = {
        {"no suite", NULL, NULL, ERR_ABSENT},
        {"another image than it was", "images/a.dll", "MY", ERR_MALFORMED},
        {"no JSON", "suite.json", "{", ERR_MALFORMED},
    };
    static const char *const bases[COUNT_OF(rows)] = {"base-0", "base-1", "base-2"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        begin(&w, bases[i], NULL);
        image(&w, "from", "a.dll", "MZ");
        if (rows[i].file != NULL)
            REQUIRE(suite_make_finish(w.maker, &w.counts, &w.fault) == ERR_NONE);
        if (rows[i].file != NULL)
            test_write(path_join(&w.keep, w.request.out, rows[i].file), rows[i].text,
                       strlen(rows[i].text));
        end(&w);
        begin(&w, rows[i].name, bases[i]);
        CHECK_EQ(w.fault.code, rows[i].want);
        end(&w);
    }
}
