/* Judges that stay between the cases of a run.
 *
 * Most of a question's time would be the start of the program and the loading of modules that the
 * last case had as well.  A pool keeps, for the cases of one run, the judges' programs and the
 * folders with images and PDBs that they look into: one folder per different set of files.  A judge
 * that dies is started again, and the question is asked a second time; one that gives no answer in
 * time is ended.  A pool belongs to one thread. */
#ifndef ENGINE_JUDGE_POOL_H
#define ENGINE_JUDGE_POOL_H

#include "engine/judge.h"

struct judge_pool;

/* FOLDER, an absolute path, is emptied first and removed at the end.  Fails: ERR_IO; ERR_MEMORY;
 * ERR_UNSUPPORTED programs cannot stay on this system. */
enum status judge_pool_open(const char *folder, struct judge_pool **out, struct fault *fault);

/* Ends the programs and removes the folder.  NULL is fine. */
void judge_pool_close(struct judge_pool *pool);

/* The folder in which every judge of the pool works. */
const char *judge_pool_folder(const struct judge_pool *pool);

/* As judge_stage_open(), in the pool's folder for the case's images and PDBs.
 * judge_stage_close() removes only the dump from it. */
enum status judge_pool_stage(struct judge_pool *pool, const struct crash_case *crash,
                             struct arena *keep, struct judge_stage *out, struct fault *fault);

/* Asks the judge that ARGV starts, in the pool's folder: QUESTION in, LINES lines out; notes the
 * time, and whether the program had answered before, in OUT.  Fails like process_open() and
 * process_ask(); ERR_TIMEOUT and ERR_IO with out->why. */
enum status judge_pool_ask(struct judge_pool *pool, const char *const *argv, const char *question,
                           uint32_t lines, struct arena *keep, char **answer,
                           struct engine_result *out, struct fault *fault);

/* True for the first few cases: the judge whose time is the foreign one is asked about them with a
 * program of its own, so that a run also knows how long it takes from nothing. */
bool judge_pool_takes_sample(struct judge_pool *pool);

/* The version of a program, as it was set; NULL: it was not. */
const char *judge_pool_version(const struct judge_pool *pool, const char *program);
void judge_pool_set_version(struct judge_pool *pool, const char *program, const char *version);

#endif
