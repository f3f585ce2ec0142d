/* The question of the cases, asked of reports from the field: do the offsets and the dump of one
 * crash agree, and does another resolver agree with ours? There is no truth. */
#ifndef CONDUCT_SHADOW_JUDGE_H
#define CONDUCT_SHADOW_JUDGE_H

#include "stream/work.h"

struct symbol_store;

struct shadow_judging {
    const char *dumps;            /* the folder of dumps, DUMPS/ID.dmp */
    struct symbol_store *symbols; /* borrowed */
    const struct signature_rules *rules;
    bool also; /* ask the outside program of shadow_also() as well */
};

/* Names the second resolver, in the adapter's protocol (engine/README.md): "NAME=COMMAND WORD...".
 * Fails: ERR_USAGE. */
enum status shadow_also(const char *spec, struct fault *fault);

/* For work_options.judge; CONTEXT is a struct shadow_judging. */
enum status shadow_judge(void *context, const struct report *report, struct arena *keep,
                         struct shadow *out, struct fault *fault);

#endif
