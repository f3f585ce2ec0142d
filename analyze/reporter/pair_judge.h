/* One pair of a dump and a stack. */
#ifndef REPORTER_PAIR_JUDGE_H
#define REPORTER_PAIR_JUDGE_H

#include "reporter/facts.h"
#include "reporter/pairs.h"
#include "reporter/reporter.h"

/* What later pairs may be compared with: a copy of a true stack, and of a given one
 * that differs from it. */
struct judged {
    struct places truth;          /* in KEEP */
    struct places given;          /* only of a row that another dump may explain better */
    const struct module *lacking; /* in KEEP; NULL: every file was there */
    bool lacks_pdb, lacks_system;
};

/* The stack of PAIR, in KEEP; false, and ROW says why: there is none. Fails: ERR_MEMORY. */
bool judge_given(const struct pair *pair, struct arena *keep, struct places *out,
                 struct reporter_row *row, struct fault *fault);

/* Fills ROW and OUT, and sets USED[I] where the I-th named symbol file is of a module of the dump;
 * texts are in KEEP, and SCRATCH is used for the dump. Fails: ERR_MEMORY. */
enum status judge_pair(const struct pair *pair, struct symbol_store *symbols, struct arena *keep,
                       struct arena *scratch, bool *used, struct reporter_row *row,
                       struct judged *out, struct fault *fault);

#endif
