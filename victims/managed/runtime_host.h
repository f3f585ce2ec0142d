/* Starts a .NET runtime inside of a victim, with our profiler, and calls its static methods. */
#ifndef VICTIMS_MANAGED_RUNTIME_HOST_H
#define VICTIMS_MANAGED_RUNTIME_HOST_H

#include "victims/victim.h"

/* Why managed scenarios cannot run here; NULL: they can. */
const char *managed_missing(void);

/* Starts the runtime and makes every method ready to be called; ends the program if it fails.
 * Before the capture is installed: the runtime sets an unhandled-exception filter of its own. */
void managed_start(void);

/* The static method NAME of class Scenarios: int NAME(int).  Ends the program if there is none. */
typedef int (*managed_method)(int value);
managed_method managed_find(const char *name);

/* As struct profiler_counts says, of the runtime that runs. */
struct profiler_counts;
void managed_counts(struct profiler_counts *out);

#endif
