/* Whether what a capture wrote into the record can be true. */
#ifndef CONDUCT_RECORD_CHECK_H
#define CONDUCT_RECORD_CHECK_H

struct opened_case; /* engine/opened.h */

/* How the record of C contradicts itself, or an image or the dump that is sealed with it, in one
 * sentence; NULL: it does not, or what is sealed cannot be read. */
const char *record_contradiction(const struct opened_case *c);

#endif
