/* Judges: engines whose code is not ours. They are reference engines: scored and shown, but they
 * decide no verdict. A judge's answer is used as it is.
 *
 * Every judge works in a staging folder of its own that holds the case's dump and, next to it
 * without subfolders, the case's images and PDBs, because such tools look there first. Only a
 * second image of one name, and its PDB, are in a subfolder, which is named by the image's code id.
 */
#ifndef ENGINE_JUDGE_H
#define ENGINE_JUDGE_H

#include "base/process.h"
#include "engine/engine.h"

/* A staging folder.  `dump` is the dump's name inside it, or NULL when the case has none. `lasts`:
 * it belongs to a pool and serves other cases as well. */
struct judge_stage {
    const char *folder, *dump;
    bool lasts;
};

/* Links one more file into it, under its own name. */
enum status judge_stage_add(const struct judge_stage *stage, const char *path, struct arena *keep,
                            struct fault *fault);

/* Links file INDEX of the case to its place in the stage. */
enum status judge_stage_put(const struct judge_stage *stage, const struct crash_case *crash,
                            uint32_t index, struct arena *keep, struct fault *fault);

/* Where the stage has the image, relative to its folder; NULL: it does not have it. CODE_ID NULL or
 * "": the first of that name. */
const char *judge_staged_image(const struct judge_stage *stage, const char *name,
                               const char *code_id, struct arena *keep);

void judge_stage_close(const struct judge_stage *stage);

/* Runs a program in the folder under JUDGE_LIMIT_MS, and notes its time and its peak memory in OUT.
 * Fails: ERR_IO for any exit code but 0, ERR_TIMEOUT, both with out->why; else like process_run().
 */
enum status judge_run(const struct judge_stage *stage, const char *const *argv, const void *input,
                      size_t input_bytes, struct arena *keep, struct process_result *answer,
                      struct engine_result *out, struct fault *fault);

/* The last line that a program printed on standard error, capped; "": none. */
const char *judge_last_words(const struct process_result *answer, struct arena *keep);

/* Asks one judge in a stage, which is closed afterwards, and sets the class of each
 * frame of its answer. Fails like `ask` or judge_stage_open(). */
typedef enum status judge_ask_fn(const struct engine *self, const struct engine_input *in,
                                 const struct judge_stage *stage, struct arena *keep,
                                 struct engine_result *out, struct fault *fault);
enum status judge_run_staged(const struct engine *self, const struct engine_input *in,
                             judge_ask_fn *ask, struct arena *keep, struct engine_result *out,
                             struct fault *fault);

enum { JUDGE_LIMIT_MS = 60000, JUDGE_WORDS_MAX = 32 };

/* argv of a Windows program: the launcher's words, then PROGRAM and ARGUMENTS (NULL-ended).
 * NULL: too many words. */
const char *const *judge_windows_argv(const struct engine_input *in, const char *program,
                                      const char *const *arguments, struct arena *keep);

/* Reads what a judge printed: {"error"}, which is ERR_IO, or {schema_version, version, times,
 * threads: [{id, crashed, left_out, frames}]} as in capture/judge/README.md, or a form that
 * format/stack/foreign.h reads. */
enum status judge_read_answer(const char *text, size_t bytes, const char *engine,
                              struct arena *keep, struct engine_result *out, struct fault *fault);

/* True when the case has a dump; else *why gives the reason. */
bool judge_has_dump(const struct engine_input *in, const char **why);

/* Slow judges run only when TWINSTACK_JUDGES ("all", or a comma-separated list) names them; else
 * *why gives the reason. */
bool judge_is_wanted(const char *name, const char **why);

/* First line of `PROGRAM --version`, asked once per pool; NULL: unknown. */
const char *judge_version(const struct engine_input *in, const char *program, struct arena *keep);

#endif
