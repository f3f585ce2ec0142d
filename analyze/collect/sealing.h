/* What makes cases of what victims leave; private to this room. */
#ifndef COLLECT_SEALING_H
#define COLLECT_SEALING_H

#include "collect/runner.h"
#include "collect/toolchain.h"

/* What cases share, and the lock for work that only one worker may do at a time. */
struct evidence {
    const struct collect_options *options; /* with absolute folders */
    struct collect_host host;
    struct toolchain toolchain;
    struct mutex *symbols_lock; /* over the shared symbols folder */
};

/* Reads toolchain.json of the victims' folder, if there is one. */
enum status evidence_open(const struct collect_options *options, struct arena *keep,
                          struct evidence *out, struct fault *fault);
void evidence_close(struct evidence *evidence);

/* Makes a case of the files in FOLDER (a folder in OUT/cases) after a victim ran, and seals it.
 * Fails: ERR_ABSENT the launcher left no outcome; ERR_MISMATCH an image of ours is of another build
 * than the one that ran; ERR_IO. */
enum status evidence_seal(const struct evidence *evidence, const struct runner *runner,
                          const struct scenario *scenario, const char *folder, struct fault *fault);

#endif
