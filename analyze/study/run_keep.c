/* See run_keep.h. */
#include "study/run_keep.h"

#include "base/files.h"
#include "store/store.h"

enum status run_keep_begin(struct store *store, struct run_info *info, struct arena *keep,
                           struct fault *fault)
{
    return store_begin_run(store, info, keep, fault);
}

enum status run_keep_case(struct store *store, const struct run_info *info, struct run_case *c,
                          struct fault *fault)
{
    return store_put_case(store, info->id, c, fault);
}

enum status run_keep_end(struct store *store, const struct run_info *info, bool interrupted,
                         struct fault *fault)
{
    return store_finish_run(store, info->id, interrupted ? RUN_INTERRUPTED : RUN_COMPLETE,
                            clock_wall_ns(), fault);
}

enum status run_keep(struct store *store, struct run_info *info, struct run_case *cases,
                     uint32_t count, struct arena *keep, struct fault *fault)
{
    if (run_keep_begin(store, info, keep, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++)
        (void)run_keep_case(store, info, &cases[i], fault);
    if (fault->code == ERR_NONE)
        (void)run_keep_end(store, info, false, fault);
    return fault->code;
}
