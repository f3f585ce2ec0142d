/* transfer.h without libcurl, which was absent when this program was built. */
#include <string.h>

#include "fetch/transfer.h"

enum status transfer_library(struct fault *fault)
{
    return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol servers",
                          "this program was built without libcurl");
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
