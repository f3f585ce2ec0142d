/* transfer.h without libcurl: it was absent when this program was built, or this is the static
 * program, which loads no libraries (see whole.h). */
#include <string.h>

#include "fetch/transfer.h"

#ifdef TWINSTACK_WHOLE
#define WHY                                                                                        \
    TWINSTACK_WHOLE ", seen from this program, is missing or cannot be started: install it as "    \
                    "well"
#else
#define WHY "this program was built without libcurl"
#endif

enum status transfer_library(struct fault *fault)
{
    return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol servers", WHY);
}

struct transfer *transfer_open(void)
{
    return NULL;
}

void transfer_close(struct transfer *transfer)
{
    (void)transfer;
}

void transfer_get(struct transfer *transfer, const struct transfer_request *request,
                  struct transfer_answer *answer)
{
    (void)transfer;
    (void)request;
    memset(answer, 0, sizeof *answer);
    answer->outcome = TRANSFER_REFUSED;
}
