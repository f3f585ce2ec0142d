/* The table of verbs, in the order in which a user needs them. */
#include "verbs/verbs.h"
#include "base/array.h"

#include <string.h>

const struct verb *const verbs[] = {
    &verb_list,    &verb_run,     &verb_resolve,    &verb_symbols,  &verb_dump,   &verb_check,
    &verb_case,    &verb_doctor,  &verb_serve,      &verb_report,   &verb_accept, &verb_known,
    &verb_review,  &verb_compare, &verb_gate,       &verb_baseline, &verb_db,     &verb_cache,
    &verb_regrade, &verb_bench,   &verb_signatures, &verb_worker,   &verb_reduce, &verb_queue,
    &verb_steps,   &verb_score,   &verb_suite,      &verb_version,  &verb_help,   &verb_completion,
};

const size_t verb_count = COUNT_OF(verbs);

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}
