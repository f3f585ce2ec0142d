/* What pages show of the newest run, kept in its database: of 100,000 cases it takes seconds to
 * make, and a visitor would wait for them. Made when a run ends or a baseline moves; where it is
 * not there (an older database, another program, a run in progress) each answer is made when it is
 * asked for. */
#ifndef PAGES_SHOWN_H
#define PAGES_SHOWN_H

#include "store/archive.h"

/* Which program this is: a sum over its sources. Texts of another one do not count. */
extern const char shown_program[];

/* Writes the texts unless they are there as of now. STORE: NULL or one that is only read: nothing.
 * What fails is left out, since it can be made later. */
void shown_write(struct store *store);

/* The text that ADDRESS ("/metrics", "/api/v1/runs/3/grid") is answered with, in KEEP, with a NUL
 * at its end. NULL: it has to be made. */
char *shown_read(struct store *store, const char *address, struct arena *keep, size_t *bytes);

#endif
