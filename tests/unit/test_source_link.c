/* SourceLink: from the path of a source to its URL. */
#include <string.h>

#include "base/arena.h"
#include "symbol/source_link.h"
#include "test.h"

static const char json[] = "{\"documents\":{"
                           "\"C:\\\\src\\\\*\":\"https://host/one/*\","
                           "\"C:\\\\src\\\\deep\\\\*\":\"https://host/two/*?raw\","
                           "\"/home/a.c\":\"http://host/a.c\","
                           "\"/home/*/b\":\"https://host/star-inside\","
                           "\"/evil/*\":\"javascript:alert(1)//*\","
                           "\"/number/*\":7,"
                           "\"D:\\\\\\\\twice\\\\\\\\*\":\"https://host/twice/*\","
                           "\"/relative/*\":\"//host/*\","
                           "\"/file/*\":\"file:///etc/*\","
                           "\"/loud/*\":\"JAVASCRIPT:alert(1)//*\","
                           "\"/bare/*\":\"host/*\","
                           "\"/hostless/*\":\"https:///*\","
                           "\"/lines/*\":\"https://host/a\\nb/*\","
                           "\"/quote/*\":\"https://host/\\\"x/*\","
                           "\"/plain/*\":\"https://host/same\"}}";

static const struct {
    const char *file, *url;
} rows[] = {
    {"C:\\src\\a.cs", "https://host/one/a.cs"},
    {"c:/SRC/x\\y.cs", "https://host/one/x/y.cs"},
    {"C:\\src\\deep\\z.cs", "https://host/two/z.cs?raw"},
    {"C:\\src\\", "https://host/one/"},
    {"C:\\sr", NULL},
    {"/home/a.c", "http://host/a.c"},
    {"/home/a.cc", NULL},
    {"/home/x/b", NULL},
    {"/evil/a", NULL},
    {"/number/a", NULL},
    {"D:\\twice\\a", "https://host/twice/a"},
    {"/plain/a", "https://host/same"},
    {"C:\\src\\My App\\a#1?%2e.cs", "https://host/one/My%20App/a%231%3F%252e.cs"},
    {"C:\\src\\\xC3\xA4-_.~\"<x>.cs", "https://host/one/%C3%A4-_.~%22%3Cx%3E.cs"},
    {"/relative/a", NULL},
    {"/file/a", NULL},
    {"/loud/a", NULL},
    {"/bare/a", NULL},
    {"/hostless/a", NULL},
    {"/lines/a", NULL},
    {"/quote/a", NULL},
    {"", NULL},
    {NULL, NULL},
};

TEST(the_longest_key_that_fits_gives_the_address)
{
    struct arena keep;
    arena_init(&keep, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *url = symbol_source_link(json, sizeof json - 1, rows[i].file, &keep);
        test_row(rows[i].file);
        CHECK_EQ(url == NULL, rows[i].url == NULL);
        if (url != NULL && rows[i].url != NULL)
            CHECK_STR(url, rows[i].url);
    }
    arena_free(&keep);
}

TEST(a_document_that_is_cut_gives_none)
{
    struct arena keep;
    arena_init(&keep, 0);
    for (size_t bytes = 0; bytes + 1 < sizeof json; bytes++)
        CHECK(symbol_source_link(json, bytes, "/home/a.c", &keep) == NULL);
    CHECK(symbol_source_link("[1]", 3, "a", &keep) == NULL);
    CHECK(symbol_source_link("{\"documents\":[\"https://x\"]}", 27, "a", &keep) == NULL);
    arena_free(&keep);
}
