/* A draft becomes a case of a suite. */
#ifndef SUITE_SUITE_ADD_H
#define SUITE_SUITE_ADD_H

#include "suite/suite.h"

enum { SUITE_ADDED_FILE_BYTES_MAX = 2 << 20 }; /* what the schema's page allows of one file */

/* A dump for a suite: what its cases do not need is zero. */
struct suite_dump_file {
    const char *from;
    const char *place; /* as a symbol server lays it out: "a.dll/5F00...1000/a.dll" */
};
struct suite_dump {
    const void *data; /* in KEEP */
    size_t bytes;
    const struct suite_dump_file *files; /* images of the frames, and symbols that a walk needs */
    uint32_t file_count;
    uint32_t kept_stacks; /* of threads: up to the last frame, since what a right walk reads is not
                             known */
};
struct suite_dump_thread {
    uint32_t id;
    const struct suite_walk *walks; /* of its truth */
    uint32_t walk_count;
    bool whole; /* as in struct suite_case */
};

/* Makes *OUT of the file DUMP, and of the images in the folder SYMBOLS (NULL: they are in its
 * memory). This room reads no dumps. */
typedef enum status suite_scrub_fn(const char *dump, const char *symbols,
                                   const struct suite_dump_thread *threads, uint32_t count,
                                   struct arena *keep, struct suite_dump *out, struct fault *fault);

struct suite_add_request {
    const char *folder, *draft;
    const char *edition; /* of the suite from now on; NULL: as it is */
    suite_scrub_fn *scrub;
};

struct suite_addition {
    const char *id, *list;      /* LIST: the file that has the case now, below the folder */
    uint32_t cases;             /* one, or one for each thread of a dump: ID, a slash, its number */
    uint32_t copied;            /* files that the suite did not have */
    uint32_t kept_stacks;       /* see struct suite_dump */
    const char *const *missing; /* what the draft lacks, a sentence each */
    uint32_t missing_count;     /* not 0: nothing was written */
};

/* Adds the cases in the file DRAFT to the suite in FOLDER: an address, a moment, or threads of a
 * dump, with the members of $defs/case in corpus/reference/schema.json, and "licence" of its files.
 * They are named relative to the draft's folder, and copied to programs/, images/ or dumps/; of a
 * dump, only what SCRUB leaves of it. Several "threads" of a dump have "thread" and "truth" each,
 * and may have "position" and "known_by". Each file is written whole or not at all, in an order in
 * which the suite can always be read. A draft that lacks facts is no fault: see MISSING. Texts live
 * in KEEP. Fails: ERR_ABSENT, ERR_IO, ERR_MALFORMED with the place, ERR_LIMIT a file is too large,
 * ERR_USAGE the id or the name of a file is in use, ERR_MEMORY; as SCRUB. */
enum status suite_add(const struct suite_add_request *request, struct arena *keep,
                      struct suite_addition *out, struct fault *fault);

#endif
