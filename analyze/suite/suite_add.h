/* A draft becomes a case of a suite. */
#ifndef SUITE_SUITE_ADD_H
#define SUITE_SUITE_ADD_H

#include "suite/suite.h"

enum { SUITE_ADDED_FILE_BYTES_MAX = 2 << 20 }; /* what the schema's page allows of one file */

struct suite_addition {
    const char *id, *list;      /* LIST: the file that has the case now, below the folder */
    uint32_t copied;            /* files that the suite did not have */
    const char *const *missing; /* what the draft lacks, a sentence each */
    uint32_t missing_count;     /* not 0: nothing was written */
};

/* Adds the case in the file DRAFT to the suite in FOLDER: an address or a moment, with the members
 * of $defs/case in corpus/reference/schema.json, and "licence" of its files. They are named
 * relative to the draft's folder, and copied to programs/ or images/. Each file is written whole or
 * not at all, in an order in which the suite can always be read. EDITION: of the suite from now on;
 * NULL: as it is. A draft that lacks facts is no fault: see MISSING. Texts live in KEEP. Fails:
 * ERR_ABSENT, ERR_IO, ERR_MALFORMED with the place, ERR_LIMIT a file is too large, ERR_USAGE the id
 * or the name of a file is in use, ERR_MEMORY. */
enum status suite_add(const char *folder, const char *draft, const char *edition,
                      struct arena *keep, struct suite_addition *out, struct fault *fault);

#endif
