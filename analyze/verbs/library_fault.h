/* What verbs that are users of libtwinstack do when it refuses. */
#ifndef VERBS_LIBRARY_FAULT_H
#define VERBS_LIBRARY_FAULT_H

#include "library/twinstack.h"

/* Reports on stderr why the library refuses, and returns the exit code for STATUS. */
int library_fault(enum twinstack_status status, const struct twinstack_error *error);

#endif
