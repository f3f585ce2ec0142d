/* What a list of acceptances is, and how it names a place. */
#include "compare/known.h"
#include "compare/known_words.h"
#include "test.h"

TEST(a_list_with_a_zero_byte_is_no_text)
{
    static const char text[] = "# a\n# \0\n";
    struct arena keep;
    struct known_list list;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    CHECK_EQ(known_parse(text, sizeof text - 1, &keep, &list, &fault), ERR_MALFORMED);
    CHECK_EQ(fault.offset, 4);
    arena_free(&keep);
}

/* A place is a function, else a module, else all of it. */
TEST(a_frame_of_an_acceptance_is_the_innermost_that_is_known)
{
    static const struct {
        const char *name, *function, *module, *want;
    } rows[] = {
        {"a function", "f", "a.exe", "dump line f"},
        {"a module", NULL, "a.exe", "dump line a.exe"},
        {"neither", NULL, NULL, "dump line the whole stack"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct finding finding = {.engine = "dump",
                                        .level = LEVEL_LINE,
                                        .function = rows[i].function,
                                        .module = rows[i].module};
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_STR(known_frame(&finding, &keep), rows[i].want);
        arena_free(&keep);
    }
}

/* Scopes are scenario.build: the build is what comes after the last dot of a word. */
TEST(a_scope_is_for_builds_and_may_be_wide)
{
#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
    static const struct {
        const char *name, *scope, *build;
        bool is_for, is_wide;
    } rows[] = {
        {"that build", "one.ob2", "ob2", true, false},
        {"another one", "one.ob0", "ob2", false, false},
        {"a longer one", "one.ob2-fp", "ob2", false, false},
        {"a shorter one", "one.ob", "ob2", false, false},
        {"no build is any", "one", "ob2", true, false},
        {"a pattern of builds", "one.x86-*", "x86-ob2", true, false},
        {"that does not match", "one.x86-?", "x86-ob2", false, false},
        {"the last dot counts", "one.two.ob2", "ob2", true, false},
        {"an earlier one does not", "one.ob2.ob0", "ob2", false, false},
        {"a word that begins with its dot", ".ob2", "ob2", true, false},
        {"and is for another one", ".ob0", "ob2", false, false},
        {"a word that ends with its dot", "one.", "ob2", false, false},
        {"the second word", "one.ob0 two.ob2", "ob2", true, false},
        {"the first of two", "one.ob2 two.ob0", "ob2", true, false},
        {"a second word without a build", "one.ob0 two", "ob2", true, false},
        {"blanks around words", "  one.ob0   two.ob2  ", "ob2", true, false},
        {"nothing", "", "ob2", false, false},
        {"blanks alone", "  ", "ob2", false, false},
        {"any scenario", "*", "ob2", true, true},
        {"any scenario of a build", "*.ob2", "ob2", true, true},
        {"a letter of a scenario", "on?.ob2", "ob2", true, true},
        {"a pattern before an earlier dot", "o*.two.ob2", "ob2", true, true},
        {"a pattern between two dots", "one.*.ob2", "ob2", true, true},
        {"a wide word after others", "one.ob0 *", "ob2", true, true},
        {"a pattern of 255 letters", "one." HUNDRED HUNDRED TEN TEN TEN TEN TEN "abcd*",
         HUNDRED HUNDRED TEN TEN TEN TEN TEN "abcde", true, false},
        {"one more is too long", "one." HUNDRED HUNDRED TEN TEN TEN TEN TEN "abcde*",
         HUNDRED HUNDRED TEN TEN TEN TEN TEN "abcde", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(known_words_build(rows[i].scope, rows[i].build), rows[i].is_for);
        CHECK_EQ(known_is_wide(rows[i].scope), rows[i].is_wide);
    }
}
