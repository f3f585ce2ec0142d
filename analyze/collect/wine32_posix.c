/* The 32-bit half of Wine that `./run` unpacks beside the prefix: see runner.h.
 *
 * Wine looks for the loader of the other size in the folder of its own program, so the unpacked
 * folder has a copy of the 64-bit loader beside the 32-bit one, and programs of both sizes start
 * through that copy. Variables alone (WINELOADER, WINEDLLPATH) look right and are not: Wine then
 * runs 32-bit programs in its "experimental wow64 mode", in which a dump cannot be written. */
#define _XOPEN_SOURCE 700
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/process.h"
#include "collect/runner.h"

/* In the prefix: a link to the folder, so that a copy of the prefix finds it too. */
#define LINK_NAME "wine32"
#define LOADER_PATH "/usr/lib/wine/wine64"

enum { EMULATOR_MAX_BYTES = 256 };

/* The loader in FOLDER; NULL: FOLDER holds no half of the Wine that LAUNCHER is. */
static const char *loader_in(const char *folder, const char *launcher, struct arena *keep)
{
    const char *loader = folder != NULL ? arena_printf(keep, "%s" LOADER_PATH, folder) : NULL;
    const char *half_of = folder != NULL ? path_join(keep, folder, "half-of") : NULL;
    const char *found = process_find(launcher, keep);

    if (loader == NULL || half_of == NULL || found == NULL || !path_is_file(loader))
        return NULL;
    const char *whole = path_absolute(half_of, keep), *started = path_absolute(found, keep);
    return whole != NULL && started != NULL && strcmp(whole, started) == 0 ? loader : NULL;
}

const char *wine32_loader(const char *prefix, const char *launcher, struct arena *keep)
{
    const char *folders[] = {path_join(keep, prefix, LINK_NAME),
                             arena_printf(keep, "%s32", prefix)};

    for (int i = 0; i < 2; i++) {
        const char *whole = folders[i] != NULL ? path_absolute(folders[i], keep) : NULL;
        const char *loader = whole != NULL ? loader_in(whole, launcher, keep) : NULL;
        if (loader != NULL)
            return loader;
    }
    return NULL;
}

const char *wine32_emulator(const char *prefix, const char *launcher, struct arena *keep)
{
    const char *loader = wine32_loader(prefix, launcher, keep);
    const char *path = loader != NULL
                           ? arena_printf(keep, "%.*s/emulated",
                                          (int)(strlen(loader) - strlen(LOADER_PATH)), loader)
                           : NULL;
    struct fault ignored = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;

    if (path == NULL || !path_is_file(path) ||
        file_read(path, EMULATOR_MAX_BYTES, keep, &text, &bytes, &ignored) != ERR_NONE)
        return NULL;
    return arena_text(keep, text, strcspn(text, "\r\n"));
}

void wine32_link(const char *prefix, struct arena *keep)
{
    const char *link = path_join(keep, prefix, LINK_NAME);
    const char *beside = arena_printf(keep, "%s32", prefix);
    const char *whole = beside != NULL ? path_absolute(beside, keep) : NULL;

    if (link == NULL || whole == NULL || path_absolute(link, keep) != NULL)
        return;
    (void)unlink(link); /* it leads nowhere */
    if (symlink(whole, link) != 0)
        return; /* the folder is still found by its name */
}
