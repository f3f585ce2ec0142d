/* Writes a foreign stack as a record, so that the offset engines can read it. */
#ifndef STUDY_IMPORT_RECORD_H
#define STUDY_IMPORT_RECORD_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/stack.h"

struct dump_session;

/* Writes the record that a capture would have left: the modules that STACK names and, as the walk
 * of `rtl`, its frames.  Modules that the dump knows get their identity and base from there;
 * DUMP may be NULL.  Fails: ERR_IO, ERR_MEMORY, ERR_LIMIT. */
enum status import_record_write(const char *path, const struct stack *stack,
                                const struct dump_session *dump, struct arena *keep,
                                struct fault *fault);

#endif
