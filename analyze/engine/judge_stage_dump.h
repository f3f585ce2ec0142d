/* A dump that names the modules of the staging folder. */
#ifndef ENGINE_JUDGE_STAGE_DUMP_H
#define ENGINE_JUDGE_STAGE_DUMP_H

#include "engine/judge.h"

/* Writes the stage's dump once more as NAME, with the paths of those modules that are staged
 * leading there (Z: is the root folder).  Fails as minidump_read(); ERR_IO. */
enum status judge_stage_dump(const struct judge_stage *stage, const char *name, struct arena *keep,
                             struct fault *fault);

#endif
