/* A contestant: a program that is asked cases, one line of JSON in and one out. The protocol is in
 * corpus/reference/README.md. It may crash, hang or print anything: that costs the case which it
 * was asked, and it is started again for the next one. */
#ifndef SUITE_CONTESTANT_H
#define SUITE_CONTESTANT_H

#include "suite/answer.h"

struct contestant_request {
    const char *command; /* words; the first is a path or searched in PATH */
    const struct suite *suite;
    uint32_t limit_ms;         /* for one answer */
    uint64_t memory_max_bytes; /* 0: any */
};

/* What it says of itself. */
struct contestant_name {
    const char *name, *version, *bugs; /* BUGS: where its faults are reported; NULL */
    const char *const *can;            /* capabilities, ended by NULL */
};

struct contestant;

/* Starts it and shakes hands; OUT is the caller's, the name lives in KEEP. Fails: ERR_ABSENT there
 * is no such program; ERR_USAGE the command; ERR_MALFORMED its welcome; ERR_TIMEOUT; ERR_IO it
 * ended; ERR_INTERRUPTED; ERR_MEMORY. */
enum status contestant_open(const struct contestant_request *request, struct arena *keep,
                            struct contestant **out, struct contestant_name *name,
                            struct fault *fault);

/* Asks the case. *LINE: what it printed, in KEEP; NULL: nothing. What the contestant does is never
 * a fault. Fails: ERR_INTERRUPTED, ERR_MEMORY, and as contestant_open() where it had to be started
 * again. */
enum status contestant_ask(struct contestant *contestant, const struct suite_case *c,
                           struct arena *keep, struct suite_answer *out, const char **line,
                           struct fault *fault);

/* Returns the most memory that one of its processes had; 0: unknown. NULL is fine. */
uint64_t contestant_close(struct contestant *contestant);

bool contestant_can(const struct contestant_name *name, const char *capability);

#endif
