/* The 32-bit half of Wine beside a prefix: collect/runner.h. */
#define _XOPEN_SOURCE 700
#include "made_wine.h"

#define LOADER "/usr/lib/wine/wine64"

TEST(the_half_of_a_wine_belongs_to_that_wine)
{
    static const struct {
        const char *name, *half_of, *loader; /* NULL: not there */
        bool found;
    } rows[] = {
        {"of this Wine", "bin/wine", LOADER, true},
        {"of another Wine", "bin/other", LOADER, false},
        {"of a Wine that is gone", "bin/none", LOADER, false},
        {"of none", NULL, LOADER, false},
        {"without a loader", "bin/wine", NULL, false},
    };
    const char *launcher = put_program("bin/wine", "#!/bin/sh\n");
    (void)put_program("bin/other", "#!/bin/sh\n");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int by_link = 0; by_link < 2; by_link++) {
            const char *prefix = arena_printf(kept(), "p%zu%d", i, by_link);
            const char *folder =
                arena_printf(kept(), "%s%s", prefix, by_link != 0 ? "-elsewhere" : "32");
            test_row(arena_printf(kept(), "%s, %s", rows[i].name,
                                  by_link != 0 ? "by a link in the prefix" : "beside the prefix"));
            (void)put(arena_printf(kept(), "%s/x", prefix), "");
            (void)put(arena_printf(kept(), "%s/x", folder), "");
            if (by_link != 0)
                link_to(below(folder), arena_printf(kept(), "%s/wine32", prefix));
            if (rows[i].half_of != NULL)
                link_to(below(rows[i].half_of), arena_printf(kept(), "%s/half-of", folder));
            const char *loader = arena_printf(kept(), "%s" LOADER, folder);
            if (rows[i].loader != NULL)
                (void)put(loader, "");
            CHECK_STR(wine32_loader(below(prefix), launcher, kept()),
                      rows[i].found ? below(loader) : NULL);
        }
    }
    test_row("a launcher that is not there");
    CHECK(wine32_loader(below("p00"), below("bin/none"), kept()) == NULL);
}

TEST(an_emulator_is_named_by_the_first_line_of_its_file)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"a line", "qemu-i386 10.0.13\n", "qemu-i386 10.0.13"},
        {"a line that ends as on Windows", "qemu-i386 10\r\nmore\n", "qemu-i386 10"},
        {"no end", "qemu", "qemu"},
        {"nothing", "", ""},
        {"no file", NULL, NULL},
    };
    const char *launcher = put_program("bin/wine", "#!/bin/sh\n");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *half = arena_printf(kept(), "p%zu32", i);
        test_row(rows[i].name);
        (void)put(arena_printf(kept(), "%s" LOADER, half), "");
        link_to(launcher, arena_printf(kept(), "%s/half-of", half));
        if (rows[i].text != NULL)
            (void)put(arena_printf(kept(), "%s/emulated", half), rows[i].text);
        CHECK_STR(wine32_emulator(below(arena_printf(kept(), "p%zu", i)), launcher, kept()),
                  rows[i].want);
    }
    test_row("no half");
    CHECK(wine32_emulator(below("none"), launcher, kept()) == NULL);
}

TEST(a_prefix_gets_a_link_to_its_half)
{
    static const struct {
        const char *name, *before; /* where the link leads; NULL: there is none */
        const char *want;          /* the same, after */
        bool has_half;
    } rows[] = {
        {"there is none yet", NULL, "half", true},
        {"it leads nowhere", "none", "half", true},
        {"it leads to another folder", "other", "other", true},
        {"there is no half", NULL, NULL, false},
        {"there is no half, and it leads nowhere", "none", "none", false},
    };
    (void)put("other/x", "");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *prefix = arena_printf(kept(), "p%zu", i);
        const char *link = arena_printf(kept(), "%s/wine32", prefix);
        const char *half = arena_printf(kept(), "%s32", prefix);
        char leads[4200] = "";
        test_row(rows[i].name);
        (void)put(arena_printf(kept(), "%s/x", prefix), "");
        if (rows[i].has_half)
            (void)put(arena_printf(kept(), "%s/x", half), "");
        if (rows[i].before != NULL)
            link_to(below(rows[i].before), link);
        wine32_link(below(prefix), kept());
        const ssize_t bytes = readlink(below(link), leads, sizeof leads - 1);
        CHECK_EQ(bytes > 0, rows[i].want != NULL);
        if (rows[i].want != NULL)
            CHECK_STR(leads, below(strcmp(rows[i].want, "half") == 0 ? half : rows[i].want));
    }
}
