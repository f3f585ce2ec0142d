/* The class of a frame's code, by image and compiland. */
#include "base/array.h"
#include "engine/frame_class.h"
#include "test.h"

static const struct {
    const char *compiland;
    enum frame_class want;
} compilands[] = {
    {"CMakeFiles\\victims-ob2.dir\\crash\\null_write.c.obj", CLASS_OWN},
    {"/b/victims/CMakeFiles/victims-ob0.dir/crash/null_write.c.obj", CLASS_OWN},
    {"CMakeFiles\\plugin-call-ob2.dir\\plugins\\plugin_call.c.obj", CLASS_OWN},
    {"victims-ob2.dir\\Release\\null_write.obj", CLASS_OWN},
    {"capture\\CMakeFiles\\capture.dir\\install.c.obj", CLASS_CAPTURE},
    {"CMakeFiles\\twinstack-capture-static.dir\\install.c.obj", CLASS_CAPTURE},
    {"CMakeFiles\\victims-ob2.dir\\capture.dir\\install.c.obj", CLASS_CAPTURE},
    {"victims-ob2.dir\\asma\\a.obj", CLASS_OWN},
    {"CMakeFiles\\victims-ob2.dir\\asm\\chkstk.S.obj", CLASS_RUNTIME},
    {"/usr/x86_64-w64-mingw32/lib/crt2.o", CLASS_RUNTIME},
    {"libntdlls01648.o", CLASS_RUNTIME},
    {"C:\\victims\\crash\\foreign.obj", CLASS_RUNTIME},
    {"CMakeFiles\\twinstack-launch.dir\\launch.c.obj", CLASS_RUNTIME},
    {".dir", CLASS_RUNTIME},
    {"", CLASS_RUNTIME},
    {NULL, CLASS_RUNTIME},
};

TEST(the_targets_folder_says_whose_an_object_is)
{
    for (size_t i = 0; i < COUNT_OF(compilands); i++) {
        test_row(compilands[i].compiland);
        CHECK_EQ(frame_class_of_compiland(compilands[i].compiland), compilands[i].want);
    }
}

TEST(images_of_others_are_system_whatever_their_objects_are_called)
{
    static const char *images[] = {"victims-ob2.exe"};
    static const char own[] = "CMakeFiles\\victims-ob2.dir\\crash\\null_write.c.obj";
    static const struct {
        const char *name;
        struct frame frame;
        enum frame_class want;
    } rows[] = {
        {"own image", {.module_name = "VICTIMS-ob2.EXE", .compiland = own}, CLASS_OWN},
        {"own image, no PDB", {.module_name = "victims-ob2.exe"}, CLASS_RUNTIME},
        {"another image", {.module_name = "other.exe", .compiland = own}, CLASS_SYSTEM},
        {"no module", {.module_name = NULL}, CLASS_NONE},
        {"generated", {.module_name = "jit", .symbols = SYMBOLS_JIT}, CLASS_GENERATED},
        {"registered, but nameless", {.frame_class = CLASS_GENERATED}, CLASS_GENERATED},
        {"of the capture, as the record says",
         {.module_name = "victims-ob2.exe", .compiland = own, .frame_class = CLASS_CAPTURE},
         CLASS_CAPTURE},
        {"a method with a line",
         {.module_name = "victims-ob2.exe", .method_token = 1, .line = 7, .symbols = SYMBOLS_PPDB},
         CLASS_OWN},
        {"a method that the compiler made",
         {.module_name = "victims-ob2.exe", .method_token = 1, .symbols = SYMBOLS_PPDB},
         CLASS_RUNTIME},
        {"a method without a portable PDB",
         {.module_name = "victims-ob2.exe", .method_token = 1},
         CLASS_OWN},
    };
    struct crash_case crash = {.own = {.images = images, .image_count = 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct frame frame = rows[i].frame;
        struct stack stack = {.frames = &frame, .frame_count = 1};
        test_row(rows[i].name);
        frame_class_assign(&crash, &stack);
        CHECK_EQ(frame.frame_class, rows[i].want);
    }
}

TEST(an_imported_dump_has_no_own_images_to_go_by)
{
    struct crash_case crash = {.own = {.images = NULL, .image_count = 0}};
    struct frame frames[] = {
        {.module_name = "app.exe", .symbols = SYMBOLS_PDB},
        {.module_name = "ntdll.dll", .symbols = SYMBOLS_EXPORT},
        {.module_name = "app.dll", .method_token = 1, .line = 7, .symbols = SYMBOLS_PPDB},
        {.module_name = "System.Private.CoreLib.dll", .method_token = 1, .symbols = SYMBOLS_PPDB},
    };
    struct stack stack = {.frames = frames, .frame_count = COUNT_OF(frames)};
    frame_class_assign(&crash, &stack);
    CHECK_EQ(frames[0].frame_class, CLASS_OWN);
    CHECK_EQ(frames[1].frame_class, CLASS_SYSTEM);
    CHECK_EQ(frames[2].frame_class, CLASS_OWN);
    CHECK_EQ(frames[3].frame_class, CLASS_SYSTEM);
}

/* symbol/symbol_store.h: ntdll.dll and kernel32.dll come with the system. */
TEST(modules_that_come_with_the_system_are_left_out)
{
    static const struct module app = {.name = "app.exe"}, nameless = {.name = NULL},
                               ntdll = {.name = "ntdll.dll"}, kernel = {.name = "KERNEL32.dll"};
    static const struct module *const modules[] = {&ntdll, &app, NULL, &kernel, &nameless, &ntdll};
    static const uint32_t kept[] = {1, 2, 4};
    struct frame frames[COUNT_OF(modules)];
    struct stack stack = {.frames = frames, .frame_count = COUNT_OF(frames)};
    for (uint32_t i = 0; i < COUNT_OF(modules); i++)
        frames[i] = (struct frame){.index = i, .module = modules[i]};
    frame_class_drop_system(&stack);
    REQUIRE(stack.frame_count == COUNT_OF(kept));
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        CHECK_EQ(frames[i].index, kept[i]);
}
