/* Known mismatches as runs and faces use them: the file, changes to it, and what it does to a
 * run.  compare/known.h says how the file is written. */
#ifndef STUDY_ACCEPTANCE_H
#define STUDY_ACCEPTANCE_H

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "model/known.h"
#include "model/run.h"

#define ACCEPTANCE_FILE "known.txt"

struct store;

struct acceptance {
    const char *path, *text; /* text NULL: there is no file */
    size_t bytes;
    struct known_list list;
    const char **problems; /* expired or not needed; filled by acceptance_apply */
    uint32_t problem_count;
};

/* Reads PATH; NULL: ACCEPTANCE_FILE if it exists.  A file that was named must exist. */
enum status acceptance_read(const char *path, struct arena *keep, struct acceptance *out,
                            struct fault *fault);

/* As acceptance_read, but PATH need not exist: for a file that will be changed. */
enum status acceptance_read_or_new(const char *path, struct arena *keep, struct acceptance *out,
                                   struct fault *fault);

/* As acceptance_read, from a text, such as the copy that a run keeps; NULL: an empty list. */
enum status acceptance_parse(const char *text, struct arena *keep, struct acceptance *out,
                             struct fault *fault);

/* Applies it to C, which was judged a moment ago and is not stored yet, so that a run that goes on,
 * or is interrupted, shows what is accepted.  Fails: ERR_MEMORY. */
enum status acceptance_take(struct acceptance *acceptance, struct run_case *c, struct arena *keep,
                            struct fault *fault);

/* Applies it to all cases of a run that has not ended, and writes the changed verdicts to STORE
 * (NULL: nowhere).  WHOLE: the run took every scenario.  Any problem fails the run. */
enum status acceptance_apply(struct acceptance *acceptance, struct store *store,
                             struct run_case *cases, uint32_t count, bool whole, struct arena *keep,
                             struct fault *fault);

/* ---- changes to the file: text, bytes and list change together ----------------------- */

/* Adds an acceptance of C; *block is the text that was added.
 * Fails: ERR_USAGE C does not fail (an ERROR cannot be accepted), a word is missing or not one
 * line, no day, or a scope that C is not in; ERR_MEMORY. */
enum status acceptance_add(struct acceptance *acceptance, const struct run_case *c,
                           const struct known_words *words, struct arena *keep, const char **block,
                           struct fault *fault);

/* TEXT, which known_add() or its like made, becomes the text and the list. Fails: ERR_MEMORY. */
enum status acceptance_take_text(struct acceptance *acceptance, const char *text,
                                 struct arena *keep, struct fault *fault);

/* Takes out the items that DROP marks; every other byte stays.  Fails: ERR_MEMORY. */
enum status acceptance_drop(struct acceptance *acceptance, const bool *drop, struct arena *keep,
                            struct fault *fault);

/* Lets the items that END marks hold until DAY at most.  Fails: ERR_MEMORY. */
enum status acceptance_end(struct acceptance *acceptance, const bool *end, const char *day,
                           struct arena *keep, struct fault *fault);

/* Pins the items that PIN marks to what is wrong in those of CASES that need them; an item that
 * none of them needs is not changed.  CHANGED: how many were pinned.  Fails: ERR_MEMORY. */
enum status acceptance_pin(struct acceptance *acceptance, const bool *pin,
                           const struct run_case *cases, uint32_t case_count, struct arena *keep,
                           uint32_t *changed, struct fault *fault);

/* Writes the text to its path, whole or not at all. */
enum status acceptance_save(const struct acceptance *acceptance, struct fault *fault);

/* ---- questions ---------------------------------------------------------------------- */

/* Today in UTC, "YYYY-MM-DD". */
void acceptance_today(char out[16]);
bool acceptance_is_expired(const struct known *known, const char *today);

/* True when it says how much may be wrong and in which frames; any other acceptance fails runs from
 * acceptance_pinned_from() on. */
bool acceptance_is_pinned(const struct known *known);
const char *acceptance_pinned_from(void);

/* The first acceptance that holds for the case on TODAY, or NULL. */
const struct known *acceptance_match(const struct acceptance *acceptance, const struct run_case *c,
                                     const char *today);

/* Members of one acceptance, inside an object that the caller begins and ends. */
void acceptance_write_json(struct json *j, const struct known *known, const char *today);

#endif
