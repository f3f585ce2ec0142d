/* See resolve_understood.h. */
#include "verbs/resolve_understood.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "reporter/given.h"

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static int tell(const char *path, struct arena *keep)
{
    struct given_file file;
    struct fault fault = FAULT_INIT;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (given_read(path, keep, &file, &fault) != ERR_NONE)
        return verb_fault(&fault);
    const uint32_t lines = file.frames + file.ignored;
    if (file.count > 0 || file.ignored > 0) {
        (void)printf("%s: %u frame%s of %u stack%s from %u line%s", name, file.frames,
                     plural(file.frames), file.count, plural(file.count), lines, plural(lines));
        if (file.ignored > 0)
            (void)printf(", %u ignored: \"%s\"", file.ignored, file.first_ignored);
        (void)putchar('\n');
    }
    if (file.unreadable == NULL)
        return EXIT_GOOD;
    if (file.frames > 0) { /* the rest are headings, registers, memory */
        log_warn("%s: %s", name, file.unreadable);
        return EXIT_GOOD;
    }
    log_error("%s: %s", name, file.unreadable);
    return EXIT_INPUT;
}

int resolve_understood(const struct option_list *files, struct arena *keep)
{
    int code = EXIT_GOOD;
    if (files->count == 0)
        return tell("-", keep);
    for (uint32_t i = 0; i < files->count; i++)
        if (tell(files->items[i], keep) != EXIT_GOOD)
            code = EXIT_INPUT;
    return code;
}
