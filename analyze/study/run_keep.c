/* See run_keep.h. */
#include "study/run_keep.h"

#include "base/files.h"
#include "store/store.h"

enum status run_keep(struct store *store, struct run_info *info, struct run_case *cases,
                     uint32_t count, struct arena *keep, struct fault *fault)
{
    if (store_begin_run(store, info, keep, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++)
        (void)store_put_case(store, info->id, &cases[i], fault);
    if (fault->code == ERR_NONE)
        (void)store_finish_run(store, info->id, RUN_COMPLETE, clock_wall_ns(), fault);
    return fault->code;
}
