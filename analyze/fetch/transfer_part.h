/* What the answer to a request does to the file that it goes to, whichever library carries it. */
#ifndef FETCH_TRANSFER_PART_H
#define FETCH_TRANSFER_PART_H

#include <stdio.h>

#include "fetch/transfer.h"

/* The name that symsrv uses: some symbol servers answer no other client. */
#define TRANSFER_USER_AGENT "Microsoft-Symbol-Server/10.0 twinstack"

enum {
    TRANSFER_REDIRECTS_MAX = 5,
    TRANSFER_CONNECT_MS = 15 * 1000,
};

/* The headers of an answer that matter. */
#define TRANSFER_HEADERS(ROW)                                                                      \
    ROW(ETAG, "ETag")                                                                              \
    ROW(MODIFIED, "Last-Modified")                                                                 \
    ROW(ENCODING, "Content-Encoding")                                                              \
    ROW(RETRY, "Retry-After")                                                                      \
    ROW(RANGE, "Content-Range")

#define TRANSFER_HEADER_ID(ID, NAME) TRANSFER_HEADER_##ID,
enum transfer_header { TRANSFER_HEADERS(TRANSFER_HEADER_ID) TRANSFER_HEADER_COUNT };
extern const char *const transfer_header_names[TRANSFER_HEADER_COUNT];

struct transfer_part {
    const struct transfer_request *request;
    struct transfer_answer *answer;
    FILE *file;
    bool opened, over_limit, failed_write;
    bool encoded; /* sent compressed: byte counts of the file and of the server differ */
    uint64_t range_start;
    char etag[TRANSFER_VALIDATOR_BYTES], modified[TRANSFER_VALIDATOR_BYTES];
};

/* Forgets the request before. PART keeps both pointers until transfer_part_end(). */
void transfer_part_begin(struct transfer_part *part, const struct transfer_request *request,
                         struct transfer_answer *answer);
/* Another answer begins: that to the request before was a redirection. */
void transfer_part_next_answer(struct transfer_part *part);
void transfer_part_header(struct transfer_part *part, enum transfer_header header,
                          const char *value);
/* BYTES of the body of an answer with STATUS; the file is opened at the first ones. False: the
 * transfer has to end, and the members of PART state why. The page of an error is ignored. */
bool transfer_part_write(struct transfer_part *part, long status, const void *data, size_t bytes);
/* Reports how far it is. TOTAL_BYTES: of this answer; 0: not stated. */
void transfer_part_progress(const struct transfer_part *part, uint64_t total_bytes);
/* Closes the file. IS_WHOLE: all of an answer with STATUS has come, of which the file may be empty.
 */
void transfer_part_end(struct transfer_part *part, long status, bool is_whole);
/* Sets the outcome of a whole answer with STATUS. */
void transfer_part_answer(struct transfer_part *part, long status);
/* Sets the outcome of one that broke off: OUTCOME, for the reason WHY, unless PART has a reason of
 * its own. */
void transfer_part_broke(struct transfer_part *part, enum transfer_outcome outcome,
                         const char *why);

#endif
