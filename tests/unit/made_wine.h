/* A Wine of shell scripts, which note how they were called, and files in the scratch folder. */
#ifndef MADE_WINE_H
#define MADE_WINE_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "collect/runner.h"
#include "test.h"

/* What tests make of texts, until they end. */
static inline struct arena *kept(void)
{
    static struct arena arena;
    if (arena.limit_bytes == 0)
        arena_init(&arena, 0);
    return &arena;
}

static inline const char *below(const char *name)
{
    const char *path = arena_printf(kept(), "%s/%s", test_scratch(), name);
    REQUIRE(path != NULL);
    return path;
}

/* Writes a file below the scratch folder, with the folders that it needs. */
static inline const char *put(const char *name, const char *text)
{
    struct fault fault = FAULT_INIT;
    const char *path = below(name);
    const char *folder = arena_printf(kept(), "%.*s", (int)(path_base(path) - path - 1), path);
    REQUIRE(folder != NULL && folder_make(folder, &fault) == ERR_NONE);
    test_write(path, text, strlen(text));
    return path;
}

static inline const char *put_program(const char *name, const char *script)
{
    const char *path = put(name, script);
    REQUIRE(chmod(path, 0755) == 0);
    return path;
}

/* The text of a file below the scratch folder; NULL: there is none. */
static inline const char *text_of(const char *name)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    return file_read(below(name), 1 << 16, kept(), &text, &bytes, &fault) == ERR_NONE ? text : NULL;
}

static inline void link_to(const char *target, const char *name)
{
    REQUIRE(symlink(target, below(name)) == 0);
}

/* A Wine of scripts that note their words in `calls`, the only one on the path. `wineboot` fails
 * where there is a file `fails`, and `wine` where there is one `cold`. */
static inline const char *const *put_wine(void)
{
    static const char *launcher[2];
    const char *log = below("calls");
    launcher[0] = put_program(
        "bin/wine", arena_printf(kept(), "#!/bin/sh\necho \"wine $*\" >>%s\n[ ! -e %s ]\n", log,
                                 below("cold")));
    (void)put_program("bin/wineserver",
                      arena_printf(kept(),
                                   "#!/bin/sh\necho \"server $1 ${WINEPREFIX##*/}\" >>%s\n"
                                   "[ $1 != -p ] || setsid sleep 600 >/dev/null 2>&1 &\n",
                                   log));
    (void)put_program(
        "bin/wineboot",
        arena_printf(kept(),
                     "#!/bin/sh\necho \"boot $*\" >>%s\n: >system.reg\n"
                     "[ ! -e .update-timestamp ] && mkdir -p dosdevices && [ ! -e %s ]\n",
                     log, below("fails")));
    test_environment("PATH", arena_printf(kept(), "%s:/usr/bin:/bin", below("bin")));
    test_environment("WINEPREFIX", "/nowhere");
    return launcher;
}

static inline struct collect_options options_of(const char *const *launcher)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(folder_make(below("victims"), &fault) == ERR_NONE);
    REQUIRE(folder_make(below("out"), &fault) == ERR_NONE);
    return (struct collect_options){.launcher = launcher,
                                    .prefix_folder = below("prefix"),
                                    .victims_folder = below("victims"),
                                    .out_folder = below("out")};
}

/* What was called since the last time, and forgets it. */
static inline const char *calls(void)
{
    const char *text = text_of("calls");
    (void)remove(below("calls"));
    return text != NULL ? text : "";
}

#endif
