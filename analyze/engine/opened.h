/* A case whose files are opened once, for all engines that are asked about it. */
#ifndef ENGINE_OPENED_H
#define ENGINE_OPENED_H

#include "engine/dump.h"
#include "format/record/record.h"
#include "model/case.h"

struct symbol_store; /* symbol/symbol_store.h */

enum opened_role { OPENED_RECORD, OPENED_DUMP, OPENED_TUNED, OPENED_ROLES };

struct opened_file {
    const struct case_file *file; /* NULL: the case has none */
    const char *path;
    struct fault fault;      /* of opening and of reading */
    uint64_t ns, peak_bytes; /* what both cost; 0 for OPENED_TUNED, which no engine reads */
};

/* Where a file of the case could be read in part, its whole sections are there beside the fault. */
struct opened_case {
    const struct crash_case *crash;
    struct opened_file files[OPENED_ROLES];
    struct record *record;     /* NULL: the case has none, or it could not be opened */
    struct dump_session *dump; /* NULL: the case has none, or it cannot be read */
};

/* Opens the files of CRASH; those that cannot be opened or read say so in OUT. SYMBOLS: as
 * dump_open(). KEEP and CRASH must outlive OUT, and so must SYMBOLS. Fails: ERR_MEMORY. */
enum status opened_case_open(const struct crash_case *crash, struct symbol_store *symbols,
                             struct arena *keep, struct opened_case *out, struct fault *fault);
/* Closes the case as well. */
void opened_case_close(struct opened_case *c);

/* Only names the files, for what opens them itself: see conduct/measure.h. There is nothing to
 * close.
 */
void opened_case_name(const struct crash_case *crash, struct arena *keep, struct opened_case *out);

#endif
