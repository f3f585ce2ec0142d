/* Lines of folded stacks, which flame graphs read. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "model/folded.h"
#include "test.h"

static void append(void *to, const char *text, size_t bytes)
{
    char *out = to;
    (void)snprintf(out + strlen(out), 200 - strlen(out), "%.*s", (int)bytes, text);
}

TEST(names_of_folded_frames_cannot_break_the_line)
{
    static const struct {
        const char *name;
        struct frame frame;
        const char *plain, *with_module;
    } rows[] = {
        {"a function", {.module_name = "a.exe", .function = "poke"}, "poke;f", "a.exe!poke;a!f"},
        {"a separator", {.module_name = "a;b", .function = "x;y"}, "x:y;f", "a:b!x:y;a!f"},
        {"control characters",
         {.module_name = "a", .function = "x\n\x1b\x7f\xc2\x9by"},
         "x????y;f",
         "a!x????y;a!f"},
        {"no function", {.module_name = "a", .offset = 0x1005}, "a!0x1005;f", "a!0x1005;a!f"},
        {"managed code",
         {.offset = 5, .method_token = 0x06000001},
         "?!0x06000001+0x5;f",
         "?!0x06000001+0x5;a!f"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char plain[200] = "", with_module[200] = "";
        struct frame frames[] = {{.module_name = "a", .function = "f"}, rows[i].frame};
        const struct stack stack = {.frames = frames, .frame_count = 2};
        test_row(rows[i].name);
        folded_stack_write(&stack, false, append, plain);
        folded_stack_write(&stack, true, append, with_module);
        CHECK_STR(plain, rows[i].plain);
        CHECK_STR(with_module, rows[i].with_module);
    }
}
