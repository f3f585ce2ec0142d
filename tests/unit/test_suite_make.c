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

/* Only 32-bit x86 code needs records of its frames beside the image. */
TEST(a_moment_of_x86_needs_frame_data)
{
    static const struct {
        const char *name, *draft, *needs;
    } rows[] = {
        {"x86", DRAFT("x86", "\"eip\":\"0x60101f\",\"esp\":\"0x7f88\"", "13106000"),
         "\"needs\":[\"frame-data\"]"},
        {"x64", DRAFT("x64", "\"rip\":\"0x60101f\",\"rsp\":\"0x7f88\"", "1310600000000000"),
         "\"needs\":[]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct suite_made made = {"steps", 7, "push", "prologue"};
        struct suite_made_counts counts;
        struct suite_maker *maker = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        size_t bytes;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        const char *out = path_join(&keep, test_scratch(), rows[i].name);
        const char *image = path_join(&keep, test_scratch(), "a.dll");
        const struct suite_make_request request = {.out = out, .edition = "1", .licence = "MIT"};
        test_write(image, "MZ", 2);
        REQUIRE(suite_make_open(&request, &keep, &maker, &fault) == ERR_NONE);
        REQUIRE(suite_make_image(maker, image, &fault) == ERR_NONE);
        REQUIRE(suite_make_moment(maker, rows[i].draft, &made, &fault) == ERR_NONE);
        REQUIRE(suite_make_finish(maker, &counts, &fault) == ERR_NONE);
        suite_make_close(maker);
        CHECK_EQ(counts.must, 1);
        CHECK_EQ(counts.base_cases, 0);
        const char *list = path_join(&keep, out, "moments/steps.ndjson");
        const char *text = (const char *)test_read(list, &bytes);
        const char *copy = arena_text(&keep, text, bytes);
        REQUIRE(copy != NULL);
        CHECK_HAS(copy, rows[i].needs);
        CHECK_HAS(copy, "\"images/a.dll\"");
        arena_free(&keep);
    }
}
