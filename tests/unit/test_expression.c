/* Selections by words: `not` binds more tightly than `and`, and that more tightly than `or`. */
#include <stdio.h>
#include <string.h>

#include "base/expression.h"
#include "test.h"

/* CONTEXT: the letters that are true; a word is true when it begins with one of them. */
static bool begins_with_one(const void *context, const char *word)
{
    return strchr(context, word[0]) != NULL;
}

TEST(words_are_joined_by_not_and_or)
{
    static const struct {
        const char *text, *true_letters;
        bool value;
    } rows[] = {
        {"a", "a", true},
        {"a", "b", false},
        {"  a\t", "a", true},
        {"not a", "a", false},
        {"not a", "b", true},
        {"not not a", "a", true},
        {"a and b", "ab", true},
        {"a and b", "a", false},
        {"a and b", "b", false},
        {"a or b", "a", true},
        {"a or b", "b", true},
        {"a or b", "c", false},
        {"a and b and c", "abc", true},
        {"a and b and c", "ac", false},
        {"a or b or c", "c", true},
        {"a or b and c", "a", true},
        {"a or b and c", "b", false},
        {"a and b or c", "c", true},
        {"(a or b) and c", "a", false},
        {"(a or b) and c", "bc", true},
        {"a and (b or c)", "b", false},
        {"not a and b", "b", true},
        {"not a and b", "c", false},
        {"not (a and b)", "a", true},
        {"not (a and b)", "ab", false},
        {"not a or b", "ab", true},
        {"a and not b", "a", true},
        {"a and not b", "ab", false},
        {"((a))", "a", true},
        {"(a)and(b)", "ab", true},
        {"android", "a", true},
        {"nothing", "n", true},
        {"order or b", "o", true},
        {"Not", "N", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        bool value = !rows[i].value;
        test_row(rows[i].text);
        CHECK_EQ(expression_of(rows[i].text, begins_with_one, rows[i].true_letters, &value, &fault),
                 ERR_NONE);
        CHECK_EQ(value, rows[i].value);
    }
    struct fault fault = FAULT_INIT;
    bool value = false;
    CHECK_EQ(expression_of(NULL, begins_with_one, "", &value, &fault), ERR_NONE);
    CHECK(value); /* no selection is all */
}

TEST(what_is_no_selection)
{
    static const struct {
        const char *text;
        uint64_t offset;
        const char *hint;
    } rows[] = {
        {"", 0, "a word is missing"},           {"  ", 2, "a word is missing"},
        {"and", 0, "a word is missing"},        {"or a", 0, "a word is missing"},
        {"a and", 5, "a word is missing"},      {"a or ", 5, "a word is missing"},
        {"not", 3, "a word is missing"},        {"()", 1, "a word is missing"},
        {"a and or b", 6, "a word is missing"}, {"(a", 2, "a ')' is missing"},
        {"((a)", 4, "a ')' is missing"},        {"a)", 1, "words are joined by"},
        {"a b", 2, "words are joined by"},      {"a AND b", 2, "words are joined by"},
        {"a not b", 2, "words are joined by"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        bool value = true;
        test_row(rows[i].text);
        CHECK_EQ(expression_of(rows[i].text, begins_with_one, "ab", &value, &fault), ERR_USAGE);
        CHECK(!value);
        CHECK_EQ(fault.offset, rows[i].offset);
        CHECK_HAS(fault.hint, rows[i].hint);
    }
}

/* 64 levels, and words of 255 bytes. */
TEST(limits_of_selections)
{
    static const struct {
        const char *name;
        uint32_t levels, letters;
        const char *hint; /* NULL: it is one */
    } rows[] = {
        {"64 levels", 63, 1, NULL},
        {"65 levels", 64, 1, "nested too deeply"},
        {"a word of 255 letters", 0, 255, NULL},
        {"a word of 256 letters", 0, 256, "a word is too long"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        char text[700] = "";
        bool value = false;
        size_t at = 0;
        test_row(rows[i].name);
        for (uint32_t k = 0; k < rows[i].levels; k++)
            text[at++] = '(';
        for (uint32_t k = 0; k < rows[i].letters; k++)
            text[at++] = 'a';
        for (uint32_t k = 0; k < rows[i].levels; k++)
            text[at++] = ')';
        CHECK_EQ(expression_of(text, begins_with_one, "a", &value, &fault),
                 rows[i].hint == NULL ? ERR_NONE : ERR_USAGE);
        CHECK_EQ(value, rows[i].hint == NULL);
        if (rows[i].hint != NULL)
            CHECK_HAS(fault.hint, rows[i].hint);
    }
}
