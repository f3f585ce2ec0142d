/* base/json and base/text: output is valid JSON for any strings, and input is used only if its
 * types are right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "test.h"

static const struct {
    const char *name, *text, *want;
} strings[] = {
    {"plain", "abc", "\"abc\""},
    {"quote and backslash", "a\"b\\c", "\"a\\\"b\\\\c\""},
    {"line ends and tab", "\r\n\t", "\"\\r\\n\\t\""},
    {"control and delete", "\x01\x7f", "\"\\u0001\\u007f\""},
    {"two, three and four bytes", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80",
     "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""},
    {"lone continuation", "a\x80z", "\"a\\ufffdz\""},
    {"overlong slash", "\xC0\xAF", "\"\\ufffd\\ufffd\""},
    {"surrogate", "\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
    {"past the last code point", "\xF4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
    {"cut short at the end", "a\xE2\x82", "\"a\\ufffd\\ufffd\""},
    {"none", NULL, "null"},
};

TEST(json_strings_are_valid_whatever_they_hold)
{
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        struct json j;
        test_row(strings[i].name);
        json_to_text(&j, false);
        json_string(&j, strings[i].text);
        char *text = json_take(&j, NULL);
        CHECK_STR(text, strings[i].want);
        free(text);
    }
}

/* Texts are written in pieces: no length, and no place of a character, may be special. */
TEST(json_strings_of_every_length_are_whole)
{
    static const char pattern[] = "plain text, \"a\\b\" and \xC3\xA9\x01.";
    enum { LONGEST = 1300, WIDEST = 6 };
    static char text[LONGEST + 1], want[LONGEST * WIDEST + 3];
    for (size_t bytes = 0; bytes <= LONGEST; bytes++) {
        size_t n = 0;
        want[n++] = '"';
        for (size_t i = 0; i < bytes; i++) {
            const char c = pattern[(i + bytes) % (sizeof pattern - 1)];
            /* A character that is cut in two is none. */
            const bool is_cut = (c == '\xA9' && i == 0) || (c == '\xC3' && i == bytes - 1);
            text[i] = c;
            if (c == '"' || c == '\\')
                want[n++] = '\\';
            if (is_cut || c == '\x01') {
                memcpy(want + n, is_cut ? "\\ufffd" : "\\u0001", WIDEST);
                n += WIDEST;
            } else {
                want[n++] = c;
            }
        }
        text[bytes] = want[n + 1] = '\0';
        want[n] = '"';
        struct json j;
        json_to_text(&j, false);
        json_string(&j, text);
        char *got = json_take(&j, NULL);
        CHECK_STR(got, want);
        free(got);
    }
}

/* Enough texts that the buffer moves several times. */
TEST(a_text_that_is_written_again_is_the_same)
{
    enum { AGAIN = 300 };
    static const char first[] = "C:\\a \"b\"", second[] = "";
    struct json plain, again, streamed;
    struct json_memo memo = {0}, none = {0};
    FILE *stream = tmpfile();
    REQUIRE(stream != NULL);
    for (int pretty = 0; pretty < 2; pretty++) {
        memo = (struct json_memo){0};
        json_to_text(&plain, pretty != 0);
        json_to_text(&again, pretty != 0);
        json_array(&plain);
        json_array(&again);
        for (int i = 0; i < AGAIN; i++) {
            const char *text = i % 7 == 6 ? NULL : i % 7 == 5 ? second : first;
            json_string(&plain, text);
            json_string_again(&again, text, &memo);
        }
        json_array_end(&plain);
        json_array_end(&again);
        char *want = json_take(&plain, NULL), *got = json_take(&again, NULL);
        CHECK_STR(got, want);
        free(want);
        free(got);
    }
    json_to_stream(&streamed, stream, false);
    for (int i = 0; i < 2; i++)
        json_string_again(&streamed, second, &none);
    CHECK_EQ(ftell(stream), 5); /* "","" */
    (void)fclose(stream);
}

static const struct {
    double value;
    const char *want;
} numbers[] = {
    {0, "0"},
    {1.5, "1.5"},
    {0.1, "0.1"},
    {1e300, "1e+300"},
    {1.0 / 3, "0.3333333333333333"},
    {-2, "-2"},
    {(double)NAN, "null"},
    {(double)INFINITY, "null"},
};

TEST(json_numbers_are_the_shortest_that_read_back)
{
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct json j;
        json_to_text(&j, false);
        json_number(&j, numbers[i].value);
        char *text = json_take(&j, NULL);
        CHECK_STR(text, numbers[i].want);
        free(text);
    }
}

static char *document(bool pretty)
{
    struct json j;
    json_to_text(&j, pretty);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key(&j, "frames");
    json_array(&j);
    json_hex(&j, 0x1F);
    json_hex_wide(&j, 0x1F, 16);
    json_object(&j);
    json_object_end(&j);
    json_array(&j);
    json_array_end(&j);
    json_array_end(&j);
    json_key_null(&j, "label");
    json_key_bool(&j, "ok", true);
    json_object_end(&j);
    return json_take(&j, NULL);
}

TEST(json_layout_is_stable)
{
    char *flat = document(false), *pretty = document(true);
    CHECK_STR(flat, "{\"schema_version\":1,\"frames\":[\"0x1f\",\"0x000000000000001f\",{},[]],"
                    "\"label\":null,\"ok\":true}");
    CHECK_STR(pretty, "{\n  \"schema_version\": 1,\n  \"frames\": [\n    \"0x1f\",\n"
                      "    \"0x000000000000001f\",\n    {},\n    []\n  ],\n  \"label\": null,\n"
                      "  \"ok\": true\n}");
    free(flat);
    free(pretty);
}

TEST(json_unbalanced_documents_are_not_handed_out)
{
    struct json j;
    json_to_text(&j, false);
    json_object(&j);
    CHECK(json_take(&j, NULL) == NULL);
    for (int i = 0; i < JSON_DEPTH_MAX + 5; i++)
        json_array(&j);
    for (int i = 0; i < JSON_DEPTH_MAX + 5; i++)
        json_array_end(&j);
    CHECK(json_take(&j, NULL) == NULL);
    json_free(&j);
}

static const struct {
    const char *name, *text;
    enum status want;
} documents[] = {
    {"object", "{\"a\": 1}", ERR_NONE},
    {"blanks after it", "[1] \r\n\t ", ERR_NONE},
    {"text after it", "[1] x", ERR_MALFORMED},
    {"cut", "{\"a\": ", ERR_MALFORMED},
    {"empty", "", ERR_MALFORMED},
};

TEST(json_parse_takes_one_whole_document)
{
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        struct fault fault = FAULT_INIT;
        cJSON *tree;
        test_row(documents[i].name);
        CHECK_EQ(json_parse(documents[i].text, strlen(documents[i].text), &tree, &fault),
                 documents[i].want);
        CHECK((tree != NULL) == (documents[i].want == ERR_NONE));
        cJSON_Delete(tree);
    }
}

/* A small thread's stack has room for about 500 levels of cJSON's recursion, so deeper input is
 * refused beforehand. */
TEST(json_parse_refuses_deep_nesting)
{
    static const struct {
        const char *name;
        size_t levels;
        enum status want;
    } rows[] = {{"as deep as allowed", LIMIT_JSON_DEPTH, ERR_NONE},
                {"one level more", LIMIT_JSON_DEPTH + 1, ERR_LIMIT},
                {"what one small request holds", 900, ERR_LIMIT},
                {"a megabyte of it", 1 << 19, ERR_LIMIT}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        cJSON *tree = NULL;
        char *text = malloc(2 * rows[i].levels);
        test_row(rows[i].name);
        REQUIRE(text != NULL);
        memset(text, '[', rows[i].levels);
        memset(text + rows[i].levels, ']', rows[i].levels);
        CHECK_EQ(json_parse(text, 2 * rows[i].levels, &tree, &fault), rows[i].want);
        if (rows[i].want == ERR_LIMIT)
            CHECK_EQ(fault.offset, LIMIT_JSON_DEPTH);
        cJSON_Delete(tree);
        free(text);
    }
}

TEST(json_brackets_in_strings_are_no_nesting)
{
    struct fault fault = FAULT_INIT;
    cJSON *tree = NULL;
    char text[1024] = "[\"\\\"";
    memset(text + strlen(text), '[', 900);
    memcpy(text + 904, "\"]", 3);
    CHECK_EQ(json_parse(text, strlen(text), &tree, &fault), ERR_NONE);
    cJSON_Delete(tree);
}

static const struct {
    const char *name, *text;
    uint64_t want;
    enum status status;
} members[] = {
    {"hex string", "{\"v\": \"0xffffffffffffffff\"}", UINT64_MAX, ERR_NONE},
    {"number", "{\"v\": 17}", 17, ERR_NONE},
    {"null is absent", "{\"v\": null}", 42, ERR_NONE},
    {"absent", "{}", 42, ERR_NONE},
    {"negative", "{\"v\": -1}", 42, ERR_MALFORMED},
    {"fraction", "{\"v\": 1.5}", 42, ERR_MALFORMED},
    {"beyond what a double holds", "{\"v\": 1e300}", 42, ERR_MALFORMED},
    {"no hex", "{\"v\": \"zz\"}", 42, ERR_MALFORMED},
    {"65 bits", "{\"v\": \"0x1ffffffffffffffff\"}", 42, ERR_MALFORMED},
    {"an array", "{\"v\": []}", 42, ERR_MALFORMED},
};

TEST(json_members_have_the_type_that_is_asked_for)
{
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        struct fault fault = FAULT_INIT;
        cJSON *tree;
        test_row(members[i].name);
        REQUIRE(json_parse(members[i].text, strlen(members[i].text), &tree, &fault) == ERR_NONE);
        CHECK_HEX(json_get_hex(tree, "v", 42, &fault), members[i].want);
        CHECK_EQ(fault.code, members[i].status);
        cJSON_Delete(tree);
    }
}

TEST(an_object_is_one_or_absent)
{
    static const struct {
        const char *text;
        enum status status;
        bool there;
    } rows[] = {{"{\"v\": {}}", ERR_NONE, true},
                {"{\"w\": {}}", ERR_NONE, false},
                {"{\"v\": []}", ERR_MALFORMED, false},
                {"{\"v\": \"{}\"}", ERR_MALFORMED, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        cJSON *tree;
        test_row(rows[i].text);
        REQUIRE(json_parse(rows[i].text, strlen(rows[i].text), &tree, &fault) == ERR_NONE);
        CHECK_EQ(json_get_object(tree, "v", &fault) != NULL, rows[i].there);
        CHECK_EQ(fault.code, rows[i].status);
        cJSON_Delete(tree);
    }
}

static const struct {
    const char *text;
    bool hex_ok, dec_ok;
    uint64_t hex, dec;
} numerals[] = {
    {"10", true, true, 16, 10},
    {"0x10", true, false, 16, 0},
    {"fF", true, false, 255, 0},
    {"", false, false, 0, 0},
    {"0x", false, false, 0, 0},
    {"-1", false, false, 0, 0},
    {" 1", false, false, 0, 0},
    {"18446744073709551615", false, true, 0, UINT64_MAX},
    {"18446744073709551616", false, false, 0, 0},
    {"ffffffffffffffff", true, false, UINT64_MAX, 0},
};

TEST(text_numerals_are_taken_whole_or_not)
{
    for (size_t i = 0; i < COUNT_OF(numerals); i++) {
        const char *text = numerals[i].text;
        uint64_t value = 0;
        test_row(text);
        CHECK_EQ(text_parse_hex(text, strlen(text), &value), numerals[i].hex_ok);
        if (numerals[i].hex_ok)
            CHECK_HEX(value, numerals[i].hex);
        CHECK_EQ(text_parse_uint(text, strlen(text), &value), numerals[i].dec_ok);
        if (numerals[i].dec_ok)
            CHECK_HEX(value, numerals[i].dec);
    }
}

static const struct {
    const char *pattern, *text;
    bool want;
} globs[] = {
    {"*", "", true},
    {"*.dll", "A.DLL", true},
    {"victims-*.exe", "victims-ob2.exe", true},
    {"a?c", "abc", true},
    {"a?c", "ac", false},
    {"a*b*c", "a1b2b3c", true},
    {"a*b*c", "a1b2b3", false},
    {"", "x", false},
    {"**", "anything", true},
};

TEST(text_list_has_whole_words_only)
{
    static const struct {
        const char *list, *word;
        bool want;
    } rows[] = {
        {"winedbg,lldb", "lldb", true},  {"winedbg,lldb", "winedbg", true},
        {"winedbg,lldb", "wine", false}, {"winedbg,lldb", "dbg", false},
        {"lldb-19", "lldb", false},      {"", "lldb", false},
        {",,lldb,", "lldb", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].list);
        CHECK_EQ(text_list_has(rows[i].list, rows[i].word), rows[i].want);
    }
}

TEST(text_glob_matches_as_users_expect)
{
    for (size_t i = 0; i < COUNT_OF(globs); i++) {
        test_row(globs[i].pattern);
        CHECK_EQ(text_glob(globs[i].pattern, globs[i].text), globs[i].want);
    }
}

TEST(dates_are_those_of_the_calendar)
{
    static const struct {
        const char *date;
        uint64_t seconds; /* from `date -u -d DATE +%s` */
    } rows[] = {
        {"1970-01-01", 0},          {"1970-01-01", 86399},
        {"1972-02-29", 68169600},   {"2000-02-29", 951782400},
        {"2000-03-01", 951868800},  {"2025-12-31", 1767225599},
        {"2026-11-22", 1795305600}, {"2100-02-28", 4107456000},
        {"2100-03-01", 4107542400}, {"9999-12-31", 253402300799},
        {"9999-12-31", UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char date[TEXT_DATE_BYTES];
        test_row(rows[i].date);
        text_utc_date(rows[i].seconds, date);
        CHECK_STR(date, rows[i].date);
    }
}

TEST(text_sha256_matches_the_standards_examples)
{
    char digest[65];
    text_sha256("abc", 3, digest); /* FIPS 180-2, B.1 */
    CHECK_STR(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    text_sha256("", 0, digest);
    CHECK_STR(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
