/* One judged pair as a case of a run, so that database, report, dashboard, compare and gate have a
 * stranger's product as they have the victims: the reporter's stack is the engine under test, under
 * the reporter's own name, beside the stack of the dump. */
#ifndef REPORTER_PAIR_CASE_H
#define REPORTER_PAIR_CASE_H

#include "model/run.h"
#include "reporter/facts.h"
#include "reporter/reporter.h"

#define PAIR_CASE_VARIANT "imported" /* as in the folder of an imported case */

struct pair_case {
    struct run_case run; /* borrows FACTS */
    struct crash_facts facts;
    bool is_open;       /* FACTS */
    struct stack given; /* physical frames as the reporter wrote them; none: there is no stack */
};

/* Reads dump and stack of row ROW of RESULT once more, and fills OUT; verdict, reason and finding
 * are those of the row. Everything else is in KEEP. Release with pair_case_close(), after a failure
 * too. Fails: ERR_MEMORY; ERR_LIMIT as analysis_judge(). */
enum status pair_case_open(const struct reporter_request *request,
                           const struct reporter_result *result, uint32_t row, struct arena *keep,
                           struct pair_case *out, struct fault *fault);
void pair_case_close(struct pair_case *c);

#endif
