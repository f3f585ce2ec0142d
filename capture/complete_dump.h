/* What makes a written dump complete. Private to the dump's writer. */
#ifndef CAPTURE_COMPLETE_DUMP_H
#define CAPTURE_COMPLETE_DUMP_H

#include "capture/cap.h"

#include <dbghelp.h>

/* Forgets what an earlier dump left out. */
void cap_dump_begin(void);

/* Notes a module that the writer's callback leaves out; false: there is no room to note it, so the
 * writer must keep it. */
bool cap_dump_leave_out(const MINIDUMP_MODULE_CALLBACK *module);

/* Adds what was left out to the module list, and corrects what Wine's writer leaves wrong. FILE is
 * readable. */
bool cap_dump_complete(HANDLE file);

#endif
