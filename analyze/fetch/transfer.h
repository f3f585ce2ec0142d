/* One HTTP GET into a file. The only user of libcurl, or on Windows of WinHTTP, which is loaded
 * when the first server is named: its start takes several times as long as resolving a stack. */
#ifndef FETCH_TRANSFER_H
#define FETCH_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

enum { TRANSFER_VALIDATOR_BYTES = 256 };

enum transfer_outcome {
    TRANSFER_DONE,
    TRANSFER_ABSENT,      /* 404, 410 */
    TRANSFER_REFUSED,     /* the server will never send it */
    TRANSFER_AGAIN,       /* cut, stalled, busy: worth another attempt */
    TRANSFER_LIMIT,       /* more bytes than allowed */
    TRANSFER_IO,          /* the file cannot be written */
    TRANSFER_INTERRUPTED, /* the user asked to stop */
};

struct transfer_request {
    const char *url;
    const char *part; /* the file that bytes go to */
    /* Bytes that PART has, and what the server called their version; a server that cannot resume
     * there sends everything again. */
    uint64_t have_bytes;
    const char *validator;
    uint64_t limit_bytes; /* of PART */
    uint32_t limit_ms, stall_ms;
    /* Called with what PART has and will have (0: unknown). */
    void (*progress)(void *context, uint64_t bytes, uint64_t total_bytes);
    /* Called before the first byte of a new download is written; VALIDATOR "": cannot be resumed */
    void (*begins)(void *context, const char *validator);
    void *context;
};

struct transfer_answer {
    enum transfer_outcome outcome;
    uint64_t part_bytes;                      /* what PART has now */
    char validator[TRANSFER_VALIDATOR_BYTES]; /* "": the download cannot be resumed */
    uint32_t wait_ms;                         /* how long the server asked to wait */
    char text[TRANSFER_VALIDATOR_BYTES + 64]; /* why not */
};

struct transfer; /* one connection, used by one thread at a time */

/* Loads that library, once per process. Fails: ERR_UNSUPPORTED. */
enum status transfer_library(struct fault *fault);

/* NULL when out of memory. */
struct transfer *transfer_open(void);
void transfer_close(struct transfer *transfer);
void transfer_get(struct transfer *transfer, const struct transfer_request *request,
                  struct transfer_answer *answer);

#endif
