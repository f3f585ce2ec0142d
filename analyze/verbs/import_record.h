/* A stack from elsewhere as a record, so that the offset engines can claim it. */
#ifndef VERBS_IMPORT_RECORD_H
#define VERBS_IMPORT_RECORD_H

#include "engine/dump.h"

/* Writes the record that a capture would have left: the modules that STACK names and, as the walk
 * of `rtl`, its frames.  Modules that the dump knows get their identity and base from there;
 * DUMP may be NULL.  Fails: ERR_IO, ERR_MEMORY, ERR_LIMIT. */
enum status import_record_write(const char *path, const struct stack *stack,
                                const struct dump_session *dump, struct arena *keep,
                                struct fault *fault);

#endif
