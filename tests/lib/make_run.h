/* A run with cases of many kinds, judged by the real code, for tests of store and reports. */
#ifndef TESTS_MAKE_RUN_H
#define TESTS_MAKE_RUN_H

#include "base/arena.h"
#include "model/run.h"

enum { MADE_CASES = 6 };

/* Two PASS, a FAIL with a hostile name in it, UNSUPPORTED, ERROR, and a deep recursion. */
void make_run(struct arena *keep, struct run_info *run, struct run_case cases[MADE_CASES]);

/* The JSON of a case, and then that of each stack of its claims. */
void made_case_write(struct json *j, const struct run_case *c);

#endif
