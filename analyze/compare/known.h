/* Known mismatches: a text file that lives in git and says what is accepted.
 *
 *     [recursion-record]                  any id, unique in the file
 *     scope: recursion.ob2                which cases: "scenario.variant", with * and ?;
 *                                         several words, in one line or more: each of them
 *     cause: offset:rtl=truncated         what may be wrong: engine=cause, with * and ?;
 *                                         several words: each one may occur, nothing else
 *     reason: the record keeps 1,024 frames
 *     pins: offset:rtl=2/5 dump=0/1       how much may be wrong, functions/lines, or `none`
 *     frame: offset:rtl function dive     one per frame that may differ: engine, level and
 *                                         function, with * and ?; or `none`
 *     issue: https://...                  optional
 *     broad: yes                          needed for a wildcard in the scenario's name, and for
 * more than KNOWN_DAYS_MAX days expires: 2027-03-31                 the last day on which it holds
 *
 * '#' starts a comment.  scope, cause, reason and expires must be there.
 *
 * A FAIL or FLAKY case in the scope becomes XFAIL if all of its failing causes are named.  An
 * ERROR never does, and a case in which an engine has more functions or lines wrong than the pins
 * say, or that differs in another frame, stays FAIL, "beyond what was accepted".  `accept` writes
 * the pins and frames of the case.  An acceptance without pins or without frames is unpinned: it
 * works until KNOWN_UNPINNED_UNTIL, then it is a problem.  A case named
 * without wildcards that passes becomes XPASS.  An acceptance that covers cases of the run and is
 * needed by none, or covers none of a whole run, or has expired, or is broad without saying so, is
 * a problem that fails the run.
 */
#ifndef COMPARE_KNOWN_H
#define COMPARE_KNOWN_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/known.h"

/* The first day on which an acceptance must be pinned. */
#define KNOWN_UNPINNED_UNTIL "2027-03-01"
#define KNOWN_NO_FRAME "none"
#define KNOWN_NO_PIN "none"

enum { KNOWN_DAYS_MAX = 180 };

/* True when a word of SCOPE has a wildcard in the name of the scenario. */
bool known_is_wide(const char *scope);

/* The days from DAY to LAST, both "YYYY-MM-DD"; negative: LAST is earlier. */
int64_t known_days(const char *day, const char *last);

/* Reads the file's text.  Fails: ERR_MALFORMED with the offset of the line; ERR_MEMORY. */
enum status known_parse(const char *text, size_t bytes, struct arena *keep, struct known_list *out,
                        struct fault *fault);

/* The first acceptance that covers the case on TODAY ("2027-01-31"); NULL: none. */
const struct known *known_match(const struct known_list *list, const struct run_case *c,
                                const char *today);

/* Sets verdicts, reasons and known_id of CASES; counts in_scope and hits.  *changed[i], when
 * given, says which cases are new.  Applied again it changes nothing and counts the same, so that a
 * run can apply it to each case and in the end to all.  Fails: ERR_MEMORY. */
enum status known_apply(struct known_list *list, struct run_case *cases, uint32_t count,
                        const char *today, struct arena *keep, bool *changed, struct fault *fault);

/* The numbers that an engine's pins limit. */
uint32_t known_wrong_functions(const struct engine_score *score);
uint32_t known_wrong_lines(const struct engine_score *score);

/* How an acceptance names the frame of a finding that fails: "dump line middle".  NULL: out of
 * memory. */
const char *known_frame(const struct finding *finding, struct arena *keep);

/* True when it says how much may be wrong, and in which frames. */
bool known_is_pinned(const struct known *known);

/* Why an acceptance fails the run after known_apply; NULL: it does not.  WHOLE: the run took every
 * scenario, so that a scope without a case is a mistake. */
const char *known_problem(const struct known *known, bool whole, struct arena *keep);

/* Which acceptances a stored run used: begin, add each of its cases, end. The result is what is
 * wrong with them, as known_problem() states it, on the day the run ended. An incomplete run has
 * nothing: which acceptances are not needed is known when all cases are there. RUN is borrowed
 * until the end. */
struct known_uses {
    const struct run_info *run;
    struct known_list list;
};
enum status known_uses_begin(struct known_uses *uses, const struct run_info *run,
                             struct arena *keep, struct fault *fault);
void known_uses_add(struct known_uses *uses, const struct run_case *c);
enum status known_uses_end(struct known_uses *uses, struct arena *keep, const char ***out,
                           uint32_t *out_count, struct fault *fault);

/* TEXT (NULL: a new file) followed by an acceptance of C, under an id that LIST does not have; the
 * new block alone begins at *block.  Fails: ERR_USAGE C does not fail (an ERROR cannot be
 * accepted), a word is missing or not one line, no day or one that is past, a scope that C is not
 * in, or LIST accepts the same already; ERR_MEMORY. */
enum status known_add(const char *text, const struct known_list *list, const struct run_case *c,
                      const struct known_words *words, struct arena *keep, const char **out,
                      const char **block, struct fault *fault);

/* As known_add(), for COUNT cases (at least one) that are accepted together: the block names each
 * of them, and lists what is wrong in any. NAME begins its id. words->scope is not used. */
enum status known_add_cases(const char *text, const struct known_list *list, const char *name,
                            const struct run_case *const *cases, uint32_t count,
                            const struct known_words *words, struct arena *keep, const char **out,
                            const char **block, struct fault *fault);

/* TEXT without the items that DROP marks; every other byte is unchanged. NULL: out of memory. */
char *known_drop(const char *text, size_t bytes, const struct known_list *list, const bool *drop,
                 struct arena *keep, size_t *out_bytes);

/* TEXT in which the items that END marks expire on DAY at the latest; every other line is
 * unchanged. NULL: out of memory. */
char *known_end(const char *text, size_t bytes, const struct known_list *list, const bool *end,
                const char *day, struct arena *keep, size_t *out_bytes);

/* TEXT in which the items that PIN marks are pinned to what is wrong in those of CASES that they
 * cover and that fail; CHANGED items are counted.  An item that covers no such case is not changed.
 * NULL: out of memory. */
char *known_pin(const char *text, size_t bytes, const struct known_list *list, const bool *pin,
                const struct run_case *cases, uint32_t case_count, struct arena *keep,
                size_t *out_bytes, uint32_t *changed);

/* True when K covers C's scope and names all that is wrong in it. */
bool known_accepts(const struct known *k, const struct run_case *c);

/* True when C is in K's scope, whatever its verdict. */
bool known_covers(const struct known *k, const struct run_case *c);

/* Today in UTC, "YYYY-MM-DD". */
void known_today(char out[16]);

#endif
