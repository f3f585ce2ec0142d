/* See library_fault.h. */
#include "verbs/library_fault.h"

#include "base/log.h"
#include "verbs/verb.h"

int library_fault(enum twinstack_status status, const struct twinstack_error *error)
{
    log_error("%s", error->text);
    if (status == TWINSTACK_USAGE)
        return EXIT_USAGE;
    return status == TWINSTACK_TIMEOUT ? EXIT_TIME_LIMIT : EXIT_INPUT;
}
