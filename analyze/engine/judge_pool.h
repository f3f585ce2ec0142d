/* Judges that keep running between the cases of a run.
 *
 * Otherwise a question would spend most of its time on starting the program and on loading modules
 * that the last case had as well.  For the cases of one run, a pool keeps the judges' programs
 * running and keeps the folders with images and PDBs that they search: one folder per different set
 * of files.  A judge that dies is started again, and the question is asked a second time; one that
 * does not answer in time is ended.  A pool belongs to one thread. */
#ifndef ENGINE_JUDGE_POOL_H
#define ENGINE_JUDGE_POOL_H

#include "engine/judge.h"

struct judge_pool;

/* FOLDER, an absolute path, is emptied first and removed at the end.  Fails: ERR_IO; ERR_MEMORY;
 * ERR_UNSUPPORTED this system does not support programs that keep running. */
enum status judge_pool_open(const char *folder, struct judge_pool **out, struct fault *fault);

/* Ends the programs and removes the folder.  NULL is fine. */
void judge_pool_close(struct judge_pool *pool);

/* The folder in which every judge of the pool works. */
const char *judge_pool_folder(const struct judge_pool *pool);

/* The names and hashes of the case's images and PDBs. NULL: out of memory. */
const char *judge_pool_key(const struct crash_case *crash, struct arena *keep);

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

/* True for two of the first hundred questions to the judge of that name, a constant: for these it
 * is started anew. A run also knows its time with nothing loaded from the first case, whose
 * question starts the program, and these make it a median of three. */
bool judge_pool_takes_sample(struct judge_pool *pool, const char *judge);

/* The version that was set for a program; NULL: none. */
const char *judge_pool_version(const struct judge_pool *pool, const char *program);
void judge_pool_set_version(struct judge_pool *pool, const char *program, const char *version);

#endif
