/* What pages show of the newest run and of each other one, kept in their database: of 100,000 cases
 * it takes seconds to make, and a visitor would wait for them. Made when a run ends or a baseline
 * moves; where it is not there (an older database, another program, a run in progress, more cases
 * in older runs than SHOWN_CASES after the baseline moved) each answer is made when it is asked
 * for. */
#ifndef PAGES_SHOWN_H
#define PAGES_SHOWN_H

#include "store/archive.h"

/* Which program this is: a sum over its sources. Texts of another one do not count. */
extern const char shown_program[];

/* Writes the texts unless they are there as of now, and if anything has changed those of older runs
 * that no longer count: of the last SHOWN_RUNS, the newest first, up to SHOWN_CASES cases in all.
 * STORE: NULL or one that is only read: nothing. What fails is left out, since it can be made
 * later. */
enum { SHOWN_RUNS = 50, SHOWN_CASES = 200000 };
void shown_write(struct store *store);

/* The same, and of all runs, however many cases they have. */
void shown_write_all(struct store *store);

/* The text that ADDRESS ("/metrics", "/api/v1/runs/3/grid") is answered with, in KEEP, with a NUL
 * at its end. NULL: it has to be made. */
char *shown_read(struct store *store, const char *address, struct arena *keep, size_t *bytes);

#endif
