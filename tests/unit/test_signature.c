/* Which names of a stack become its signature: the rules that signature.h states. */
#include <string.h>

#include "base/array.h"
#include "compare/signature.h"
#include "test.h"

enum { FRAMES_MAX = 8 };

struct row {
    const char *name, *rules;
    struct frame frames[FRAMES_MAX];
    const char *want;
    uint32_t asked; /* frames after which it is complete; 0: never */
};

#define F(name) {.function = (name), .module_name = "app.exe", .frame_class = CLASS_OWN}
#define IN(module, name) {.function = (name), .module_name = (module), .frame_class = CLASS_OWN}

static const struct row rows[] = {
    {"three frames without a rule", "", {F("a"), F("b"), F("c"), F("d")}, "a | b | c", 3},
    {"as deep as asked: one", "depth 1\n", {F("a"), F("b")}, "a", 1},
    {"as deep as asked: two", "depth 2\n", {F("a"), F("b"), F("c")}, "a | b", 2},
    {"fewer frames than asked", "depth 4\n", {F("a"), F("b")}, "a | b", 0},
    {"the last of several depths", "depth 4\ndepth 2\n", {F("a"), F("b"), F("c")}, "a | b", 2},
    {"a skipped function does not count",
     "skip function m*\ndepth 2\n",
     {F("memcpy"), F("a"), F("memset"), F("b"), F("c")},
     "a | b",
     4},
    {"a joined one does not count",
     "join function assert*\ndepth 1\n",
     {F("assert_fail"), F("a"), F("b")},
     "assert_fail | a",
     2},
    {"a recursion counts once", "depth 2\n", {F("a"), F("a"), F("a"), F("b"), F("c")}, "a | b", 4},
    {"the first rule decides: keep",
     "keep function memcpy\nskip function mem*\ndepth 1\n",
     {F("memset"), F("memcpy"), F("a")},
     "memcpy",
     2},
    {"the first rule decides: skip",
     "skip function mem*\nkeep function memcpy\ndepth 1\n",
     {F("memset"), F("memcpy"), F("a")},
     "a",
     3},
    {"by module", "skip module ucrt*\ndepth 1\n", {IN("ucrtbase.dll", "abort"), F("a")}, "a", 2},
    {"a module's rule before a function's",
     "keep module app.exe\nskip function a\ndepth 1\n",
     {F("a"), F("b")},
     "a",
     1},
    {"a kept module without names",
     "keep module ntdll.dll\ndepth 1\n",
     {IN("ntdll.dll", NULL), F("a")},
     "ntdll.dll",
     1},
    {"no name and no rule", "depth 1\n", {IN("ntdll.dll", NULL), F("a")}, "a", 2},
    {"a comment", "# skip function a\ndepth 1\n", {F("a")}, "a", 1},
};

static uint32_t count_of(const struct row *row)
{
    uint32_t count = 0;
    while (count < FRAMES_MAX && row->frames[count].module_name != NULL)
        count++;
    return count;
}

TEST(a_signature_is_what_the_rules_keep)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct frame frames[FRAMES_MAX];
        struct signature_rules *rules;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        bool failed = true;
        uint32_t asked = 0;
        test_row(row->name);
        memcpy(frames, row->frames, sizeof frames);
        const struct stack stack = {.frames = frames, .frame_count = count_of(row)};
        arena_init(&keep, 0);
        REQUIRE(signature_read_rules(row->rules, strlen(row->rules), &keep, &rules, &fault) ==
                ERR_NONE);
        CHECK_STR(signature_of(rules, &stack, &keep), row->want);
        struct signature_builder *builder = signature_builder_new(rules);
        for (uint32_t turn = 0; turn < 2; turn++) { /* the second knows the functions already */
            signature_builder_start(builder);
            for (uint32_t k = 0, more = 1; k < stack.frame_count && more; k++) {
                more = signature_builder_add(builder, &frames[k], true);
                asked = more ? 0 : k + 1;
            }
            CHECK_EQ(asked, row->asked);
            if (asked != 0)
                CHECK(!signature_builder_add(builder, &(struct frame)F("one more"), true));
            CHECK_STR(signature_builder_text(builder, &failed), row->want);
            CHECK(!failed);
        }
        signature_builder_free(builder);
        arena_free(&keep);
    }
}

/* gcc names these without their scope where the class of a lambda has part in it. */
TEST(what_calls_a_function_object_is_in_no_signature)
{
    static const char *const between[] = {
        "_M_invoke", "std::_Function_handler<void (int), x>::_M_invoke",
        "_FUN",      "f()::'lambda'()::_FUN",
        "__invoke<", "std::function<void ()>::operator()",
    };
    struct signature_rules *rules;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(signature_read_rules(signature_default_rules, strlen(signature_default_rules), &keep,
                                 &rules, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(between); i++) {
        struct frame frames[] = {F("operator()"), F("x"), F("run")};
        test_row(between[i]);
        frames[1].function = between[i];
        CHECK_STR(signature_of(rules, &(struct stack){.frames = frames, .frame_count = 3}, &keep),
                  "operator() | run");
    }
    arena_free(&keep);
}

/* Signatures of stacks whose frames have no name: the first place that is neither of the system nor
 * of the capture; if all are, the first. */
TEST(a_stack_without_a_kept_name_has_its_first_place)
{
#define AT(module, rva, of) {.module_name = (module), .offset = (rva), .frame_class = (of)}
    static const struct {
        const char *name;
        struct frame frames[3];
        uint32_t count;
        const char *want;
    } places[] = {
        {"the first",
         {AT("a.dll", 0x1234, CLASS_NONE), AT("b.dll", 1, CLASS_NONE)},
         2,
         "a.dll!0x1234"},
        {"no frame", {AT("a.dll", 0x1234, CLASS_NONE)}, 0, "(no frames)"},
        {"in no module", {AT(NULL, 0x1234, CLASS_NONE)}, 1, "?!0x1234"},
        {"after the system",
         {AT("ntdll.dll", 1, CLASS_SYSTEM), AT("a.exe", 0x20, CLASS_OWN)},
         2,
         "a.exe!0x20"},
        {"after the capture and the system",
         {AT("c.dll", 1, CLASS_CAPTURE), AT("ntdll.dll", 2, CLASS_SYSTEM),
          AT("a.exe", 0x20, CLASS_OWN)},
         3,
         "a.exe!0x20"},
        {"before the system",
         {AT("a.exe", 0x20, CLASS_OWN), AT("ntdll.dll", 1, CLASS_SYSTEM)},
         2,
         "a.exe!0x20"},
        {"all of the system",
         {AT("ntdll.dll", 7, CLASS_SYSTEM), AT("k.dll", 8, CLASS_SYSTEM)},
         2,
         "ntdll.dll!0x7"},
    };
#undef AT
    struct signature_rules *rules;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(signature_read_rules("", 0, &keep, &rules, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct frame frames[3];
        test_row(places[i].name);
        memcpy(frames, places[i].frames, sizeof frames);
        const struct stack stack = {.frames = frames, .frame_count = places[i].count};
        CHECK_STR(signature_of(rules, &stack, &keep), places[i].want);
    }
    arena_free(&keep);
}

TEST(a_line_that_is_no_rule_is_named_by_its_place)
{
    static const struct {
        const char *name, *text;
        uint64_t offset;
    } bad[] = {
        {"no such action", "skip function a\ndrop function b\n", 16},
        {"no such subject", "skip file a\n", 0},
        {"no pattern", "skip function\n", 0},
        {"depth 0", "depth 0\n", 0},
        {"a depth that is no number", "depth many\n", 0},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct signature_rules *rules;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(bad[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(signature_read_rules(bad[i].text, strlen(bad[i].text), &keep, &rules, &fault),
                 ERR_MALFORMED);
        CHECK_EQ(fault.offset, bad[i].offset);
        arena_free(&keep);
    }
}
