/* `resolve --format understood`: what the reader makes of an input, before symbols are asked. */
#ifndef VERBS_RESOLVE_UNDERSTOOD_H
#define VERBS_RESOLVE_UNDERSTOOD_H

#include "base/arena.h"
#include "verbs/verb.h"

/* A line for each of FILES (none: standard input): frames, stacks, and lines that are neither, with
 * the first of these. Returns the exit code: EXIT_INPUT where a file cannot be read, or none of
 * its lines is a frame. */
int resolve_understood(const struct option_list *files, struct arena *keep);

#endif
