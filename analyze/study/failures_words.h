/* What is wrong with a failing case, in words: see failures.h. All texts are in KEEP or constants;
 * NULL: no memory. */
#ifndef STUDY_FAILURES_WORDS_H
#define STUDY_FAILURES_WORDS_H

#include "base/arena.h"
#include "model/difference.h"

/* What a walk was given is wrong, not the walk. */
bool failure_is_of_input(const struct finding *f);

/* Symbols give a wrong line. */
bool failure_is_of_lines(const struct finding *f);

/* C's group is made of its finding, not of the reason of its verdict. */
bool failure_is_by_finding(const struct diff_case *c);

/* The own module that has no symbols or another identity, where that is the cause; else the first
 * that differs, or NULL. */
const char *failure_module(const struct finding *f);

/* "app.pdb, looked for in symbols": the file of symbols that is missing or cannot be read, and
 * where it was looked for; NULL: no file is. */
const char *failure_file(const struct finding *f, struct arena *keep);

/* MODULE in lower case, with "*" where "ob2" is the build: one fault in one program is in one
 * place, however many builds there are. NULL: MODULE is NULL. */
const char *failure_place(const char *module, const char *variant, struct arena *keep);

/* What is wrong, without a full stop. */
const char *failure_sentence(const struct diff_case *c, const char *place, struct arena *keep);

/* What is broken, as far as F shows: cases with the same mechanism are one problem, wherever and
 * however it shows. SENTENCE where that is not known. */
const char *failure_mechanism(const struct finding *f, const char *sentence, const char *place,
                              struct arena *keep);

/* "run 5 (c0ffee123456), run 4 was good", in KEEP; NULL: unknown, or no memory. */
const char *failure_since_text(const struct case_history *since, struct arena *keep);

#endif
