/* The failing cases of a run by what is broken: one fault is one group, however many cases it hits
 * and however it shows in them, and two faults are two. The finding that decides a case
 * (findings_deciding) says which mechanism that is: an unwind code, missing symbols, the record,
 * the reader of dumps, the lines of symbols in a module; where no mechanism is known, whose stack,
 * what is wrong with it and in which module. A case with a second finding, of an
 * independent part, is also in a second group. Cases without a finding are grouped by the reason of
 * their verdict. */
#ifndef STUDY_FAILURES_H
#define STUDY_FAILURES_H

#include "base/json.h"
#include "base/text_pool.h"
#include "model/difference.h"

enum {
    FAILURE_BLAMES = 4,
    FAILURE_FORMS = 8,
    FAILURE_KEY_BYTES = 17,
    FAILURES_OF_CASE = FINDINGS_DECIDING
};

struct failure_blame {
    const char *text; /* finding_blame_text() */
    uint32_t cases;
};

/* One way in which a fault shows. */
struct failure_form {
    const char *sentence;            /* what is wrong, without a full stop */
    const char *cause;               /* cause_name(), or the verdict's name */
    const char *place;               /* failure_place(); NULL: unknown */
    const char *module;              /* the same of the first case, with the name of its build */
    const char *named;               /* the sentence with that module */
    bool several;                    /* modules */
    const struct diff_case *example; /* as that of a group */
    bool second;
    uint32_t cases;
};

struct failure {
    char key[FAILURE_KEY_BYTES];              /* its name in addresses: the same in every run */
    const char *sentence, *cause, *place;     /* of most of its cases: see failure_form */
    const char *file;                         /* of symbols: failure_file() of the example */
    struct failure_form forms[FAILURE_FORMS]; /* the others are not counted */
    uint32_t form_count;
    enum verdict verdict;
    bool second; /* the example is here by its second finding */
    /* Of those that show what the sentence says, the one with the shortest stacks; its finding is
     * copied. */
    const struct diff_case *example;
    struct failure_blame blames[FAILURE_BLAMES]; /* most cases first; for others there is no room */
    uint32_t blame_count, cases, unblamed;       /* unblamed: cases without any */
    uint32_t shared;                             /* cases that are also in another problem */
    uint32_t fresh;                              /* set by who knows the baseline */
    struct case_history since;                   /* likewise */
};

struct failures {
    struct failure *rows; /* most cases first */
    uint32_t count;
    uint32_t cases;  /* that fail; the sum of those in groups is larger by `shared` */
    uint32_t shared; /* cases that are in two groups */
};

/* Begin, add each failing case, end. Texts are copied to KEEP. */
struct failure_count {
    struct failures *out;
    struct arena *keep;
    struct text_pool texts;
    struct failure_pair *pairs; /* of groups that have cases in common */
    uint32_t room, pair_count, pair_room;
};
void failures_begin(struct failure_count *count, struct arena *keep, struct failures *out);
/* NUMBERS: of C's groups, in the order in which groups appear; UINT32_MAX: there is no second one.
 * False: no memory. */
bool failures_add(struct failure_count *count, const struct diff_case *c,
                  uint32_t numbers[FAILURES_OF_CASE]);
/* Groups that only follow from another one become part of it; sorts. (*PLACES)[number] is where the
 * group is in `rows` then. NULL: PLACES is not needed. Fails: ERR_MEMORY. */
enum status failures_end(struct failure_count *count, uint32_t **places, struct fault *fault);

/* C as failures_add() takes it; borrows C. */
struct diff_case failures_case(const struct run_case *c);

/* "walk of dump (380), none: the votes are even (2), not known (3)": all cases of FAILURE. "" when
 * no case has a blame. In KEEP; NULL: no memory. */
const char *failure_blames_text(const struct failure *failure, struct arena *keep);

/* ", 123 of the cases in both": of COUNT problems, of which SHARED cases are in two; "": none. */
const char *failures_shared_text(uint32_t count, uint32_t shared, struct arena *keep);

/* [{key, sentence, cause, module, verdict, cases, shared, new, blames: [{blame, cases}], example:
 * {scenario, variant, repeat}, since, before}], at most MOST (0: all). `blames` are as in
 * failure_blames_text(). */
void failures_write_json(struct json *j, const struct failures *failures, uint32_t most);
void failure_write_members(struct json *j, const struct failure *failure);
/* Only since and before. */
void failure_write_since(struct json *j, const struct failure *failure);

#endif
