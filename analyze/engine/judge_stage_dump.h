/* A dump that names the modules of the staging folder. */
#ifndef ENGINE_JUDGE_STAGE_DUMP_H
#define ENGINE_JUDGE_STAGE_DUMP_H

#include "engine/judge.h"

/* Writes another copy of the stage's dump as NAME, in which the paths of staged modules point to
 * the staging folder (Z: is the root folder). Fails like minidump_read(); ERR_IO. */
enum status judge_stage_dump(const struct judge_stage *stage, const char *name, struct arena *keep,
                             struct fault *fault);

#endif
