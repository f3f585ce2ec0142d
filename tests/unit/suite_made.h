/* A suite of two moments, and cases for rows of tables. */
#ifndef TESTS_SUITE_MADE_H
#define TESTS_SUITE_MADE_H

#define CASE(ID, TRUTH) CASE_OF(ID, TRUTH, "null")
#define CASE_OF(ID, TRUTH, ADDRESS)                                                                \
    "{\"id\":\"" ID "\",\"kind\":\"moment\",\"processor\":\"x64\",\"shape\":\"push\","             \
    "\"position\":\"body\",\"rule\":{\"kind\":\"page\",\"name\":\"a page\",\"address\":" ADDRESS   \
    "},"                                                                                           \
    "\"needs\":[],\"capability\":\"moments.x64\",\"given\":{\"registers\":{}},\"truth\":" TRUTH    \
    "}"
#define FRAMES "[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x20\",\"sp\":\"0x108\"}]"

#define LIST                                                                                       \
    CASE_OF("moments/x64/a/0", "{\"level\":\"must\",\"frames\":" FRAMES ",\"whole\":true}",        \
            "\"https://example.org/page\"")                                                        \
    "\n" CASE("moments/x64/b/1", "{\"level\":\"unknown\"}") "\n"

extern const char good_index[];

/* A suite of LINES and one image in the scratch folder, whose path it returns; HASH: of the image;
 * NULL: its own. */
const char *make_suite(const char *lines, const char *index, const char *hash);

#endif
