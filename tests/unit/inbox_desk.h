/* The collector of reports and the list of head problems, asked over a socket of this process. */
#ifndef TESTS_INBOX_DESK_H
#define TESTS_INBOX_DESK_H

#include <stddef.h>

#include "http/state.h"

enum { ANSWER_BYTES = 16384 };

struct desk {
    struct dashboard dashboard;
    int port;
    char spool[600], senders[640];
    int status;              /* of the last answer */
    char body[ANSWER_BYTES]; /* and what it said */
};

/* SENDERS: the text of the file of senders; NULL: nothing is collected. Ending a server takes
 * civetweb two seconds, the end of the test's process takes none. */
void open_desk(struct desk *d, const char *senders, struct dashboard_options options);
void close_desk(struct desk *d);

/* Sends a request to /report or /problems; a body goes with POST. TOKEN may be NULL. */
void ask(struct desk *d, const char *target, const char *token, const char *body, size_t bytes);

/* The same with LINES of its own after the first of the request, each with its end. After "100
 * Continue" the connection is closed. */
void ask_with(struct desk *d, const char *target, const char *lines, const char *body,
              size_t bytes);

#endif
