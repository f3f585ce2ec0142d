/* toolchain.json beside the victims, written when they are built:
 *
 *     {"compiler": "...", "variants": {"ob0": "FLAGS"}, "plugins": {"ob0": ["a.dll"]}} */
#ifndef COLLECT_TOOLCHAIN_H
#define COLLECT_TOOLCHAIN_H

#include "model/run.h"

struct toolchain {
    const char *compiler;         /* NULL: not stated */
    struct named_version *builds; /* that belong there: variant and flags */
    uint32_t build_count;
    /* The DLLs that victims load when they run, of the builds that have a program: paths in the
     * folder, ending with NULL. No image imports them, so only this file names them. */
    const char **plugins;
};

/* Reads the file of VICTIMS_FOLDER into KEEP; without one, OUT is empty. Fails: ERR_IO,
 * ERR_MALFORMED, ERR_LIMIT, ERR_MEMORY; OUT has what could be read. */
enum status toolchain_read(const char *victims_folder, struct arena *keep, struct toolchain *out,
                           struct fault *fault);

#endif
