/* Walks at every instruction, of programs that are not there: collect_steps(). */
#define _XOPEN_SOURCE 700
#include "format/record/record.h"
#include "made_wine.h"

/* A record whose stack has a frame in each of three images: a victim, a file that is nowhere, and
 * a DLL of the prefix. */
static const char *put_steps_record(void)
{
    static const struct module modules[] = {
        {.name = "steps-ob2.exe", .path = "V:\\steps-ob2.exe", .base_va = 0x140000000},
        {.name = "none.dll", .path = "C:\\windows\\none.dll", .base_va = 0x180000000},
        {.name = "ntdll.dll", .path = "C:\\windows\\ntdll.dll", .base_va = 0x190000000},
    };
    struct frame frames[COUNT_OF(modules)];
    const struct stack stack = {.frames = frames, .frame_count = COUNT_OF(frames)};
    const struct record facts = {.machine = 0x8664};
    struct fault fault = FAULT_INIT;
    memset(frames, 0, sizeof frames);
    for (size_t i = 0; i < COUNT_OF(frames); i++)
        frames[i] = (struct frame){.module = &modules[i],
                                   .module_name = modules[i].name,
                                   .offset = 0x1000,
                                   .kind = PC_INTERRUPTED};
    REQUIRE(record_write(below("walk"), &facts, &stack, RECORD_STOP_WALKER, kept(), &fault) ==
            ERR_NONE);
    return below("walk");
}

TEST(each_build_is_walked_at_every_instruction)
{
    static const char *const first[] = {"ob0"}, *const both[] = {"ob2", "ob0"},
                             *const other[] = {"fp"};
    static const struct {
        const char *name;
        const char *const *variants;
        uint32_t variant_count;
        const char *fails;  /* the launcher ends with a failure for a program with this name */
        const char *silent; /* and leaves nothing for this one */
        enum status want;
        const char *walked; /* the builds, each with a blank after it */
        const char *path, *hint;
    } rows[] = {
        {"all", NULL, 0, "-", "-", ERR_NONE, "ob0 ob2 ", "", NULL},
        {"one", first, 1, "-", "-", ERR_NONE, "ob0 ", "", NULL},
        {"two are named, in any order", both, 2, "-", "-", ERR_NONE, "ob0 ob2 ", "", NULL},
        {"one that is not there", other, 1, "-", "-", ERR_NONE, "", "", NULL},
        {"the first fails", NULL, 0, "steps-ob0.exe", "-", ERR_IO, "", "victims/steps-ob0.exe",
         "it failed or was cut short"},
        {"the second fails", NULL, 0, "steps-ob2.exe", "-", ERR_IO, "ob0 ", "victims/steps-ob2.exe",
         "it failed or was cut short"},
        {"the second leaves nothing", NULL, 0, "-", "steps-ob2.exe", ERR_ABSENT, "ob0 ",
         "out/steps-ob2.rec", NULL},
    };
    static const char *const victims[] = {"steps-ob2.exe", "steps-ob0.exe", "steps-.exe",
                                          "victims-ob2.exe", "steps-ob2.pdb"};
    struct collect_options options = options_of(put_wine());
    (void)put("prefix/system.reg", "");
    (void)put("prefix/drive_c/windows/ntdll.dll", "");
    (void)put("prefix/dosdevices/x", "");
    for (size_t i = 0; i < COUNT_OF(victims); i++)
        (void)put(arena_printf(kept(), "victims/%s", victims[i]), "");
    const char *record = put_steps_record();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct collected_steps *steps = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char walked[64] = "";
        uint32_t count = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(path_remove(below("out"), &fault) == ERR_NONE);
        (void)put_program(
            "bin/wine",
            arena_printf(
                &keep,
                "#!/bin/sh\necho \"$*\" >>%s\ncase \"$1\" in cmd) exit 0;; V:*%s) exit 3;; "
                "V:*%s) exit 0;; esac\n"
                "cp %s \"%s/${2#O:?}\"\n",
                below("walks"), rows[i].fails, rows[i].silent, record, below("out")));
        CHECK_EQ(collect_steps(&options, rows[i].variants, rows[i].variant_count, "rtl,dump", &keep,
                               &steps, &count, &fault),
                 rows[i].want);
        for (uint32_t k = 0; k < count; k++) {
            const struct collected_steps *s = &steps[k];
            (void)snprintf(walked + strlen(walked), sizeof walked - strlen(walked), "%s ",
                           s->variant);
            CHECK_STR(s->program, below(arena_printf(&keep, "victims/steps-%s.exe", s->variant)));
            CHECK_STR(s->file, below(arena_printf(&keep, "out/steps-%s.rec", s->variant)));
            CHECK(s->wall_ns > 0);
            if (!CHECK_EQ(s->image_count, 2)) /* of three: one is nowhere */
                continue;
            CHECK_STR(s->images[0], below("victims/steps-ob2.exe"));
            CHECK_STR(s->images[1], below("prefix/drive_c/windows/ntdll.dll"));
        }
        CHECK_STR(walked, rows[i].walked);
        CHECK_STR(fault.path, rows[i].path[0] != '\0' ? below(rows[i].path) : "");
        if (rows[i].hint != NULL)
            CHECK_STR(fault.hint, rows[i].hint);
        arena_free(&keep);
    }
    CHECK_HAS(text_of("walks"), "V:\\steps-ob0.exe O:\\steps-ob0.rec rtl,dump\n");
    test_row("no folder of victims");
    struct collected_steps *steps = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t count = 7;
    options.victims_folder = below("nowhere");
    CHECK_EQ(collect_steps(&options, NULL, 0, NULL, kept(), &steps, &count, &fault), ERR_ABSENT);
    CHECK_STR(fault.path, below("nowhere"));
    CHECK_EQ(count, 0);
}
