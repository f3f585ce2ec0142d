/* The failing cases of a run by mechanism and place: one fault is one group, however many cases it
 * hits, and two faults are two. The finding that decides a case (finding_deciding) says both: which
 * engine's stack, what is wrong with it and against what, its cause, and the module. Cases without
 * such a finding are grouped by the reason of their verdict. */
#ifndef STUDY_FAILURES_H
#define STUDY_FAILURES_H

#include "base/json.h"
#include "base/text_pool.h"
#include "model/difference.h"

enum { FAILURE_BLAMES = 4, FAILURE_KEY_BYTES = 17, FAILURE_NONE = -1 };

struct failure_blame {
    const char *text; /* finding_blame_text() */
    uint32_t cases;
};

struct failure {
    char key[FAILURE_KEY_BYTES]; /* its name in addresses: the same in every run */
    const char *sentence;        /* what is wrong, without a full stop */
    const char *cause;           /* cause_name(), or the verdict's name */
    const char *place;           /* module, without the name of a build; NULL: unknown */
    enum verdict verdict;
    const struct diff_case *example; /* the one with the shortest stacks; its finding is copied */
    struct failure_blame blames[FAILURE_BLAMES]; /* most cases first; the others are not counted */
    uint32_t blame_count, cases, fresh;          /* fresh: set by who knows the baseline */
    struct case_history since;                   /* likewise */
};

struct failures {
    struct failure *rows; /* most cases first */
    uint32_t count, cases;
};

/* Begin, add each failing case, end. Texts are copied to KEEP. */
struct failure_count {
    struct failures *out;
    struct arena *keep;
    struct text_pool texts;
    uint32_t room;
};
void failures_begin(struct failure_count *count, struct arena *keep, struct failures *out);
/* Returns the number of C's group, in the order in which groups appear; UINT32_MAX: no memory. */
uint32_t failures_add(struct failure_count *count, const struct diff_case *c);
/* Sorts; (*PLACES)[number] is where the group is in `rows` then. NULL: PLACES is not needed. Fails:
 * ERR_MEMORY. */
enum status failures_end(struct failure_count *count, uint32_t **places, struct fault *fault);

/* C as failures_add() takes it; borrows C. */
struct diff_case failures_case(const struct run_case *c);

/* "walk of dump (380 cases), none: the votes are even (2)"; "" when no engine is to blame. In KEEP;
 * NULL: no memory. */
const char *failure_blames_text(const struct failure *failure, struct arena *keep);

/* [{key, sentence, cause, module, verdict, cases, new, blames: [{blame, cases}], example:
 * {scenario, variant, repeat}, since, before}], at most MOST (0: all). */
void failures_write_json(struct json *j, const struct failures *failures, uint32_t most);
void failure_write_members(struct json *j, const struct failure *failure);

#endif
