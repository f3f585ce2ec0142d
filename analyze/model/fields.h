/* One list of members per stored struct. The struct itself, the columns of the database, what binds
 * and reads them, JSON and sums come from it, so that a new figure is a row here and a column in
 * store/schema.c:
 *
 *     F(U64, walk_ns, TIME)   struct case_timing has `uint64_t walk_ns`, crash_case a column and
 *                             each case in JSON a member of this name, and trends have its median
 *
 * F(KIND, NAME, SUM): KIND is BOOL, U32, U64, or ROW (an int32_t; negative: none). JSON has them in
 * this order; the order of columns in the database does not matter. */
#ifndef MODEL_FIELDS_H
#define MODEL_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

enum { STORE_SCHEMA_VERSION = 22 }; /* of the database: each change of store/schema.c adds 1 */

/* What happened in the dying process; 0: not measured. Of TIME and SIZE the medians over the cases
 * of a run are kept, which model/metric.h shows as trends; a TIME does not count in a case that ran
 * crowded. */
#define CASE_TIMING_FIELDS(F)                                                                      \
    F(U64, walk_ns, TIME)       /* walker rtl                                     */               \
    F(U64, stop_copy_ns, NONE)  /* target stopped, until its stack was copied     */               \
    F(U64, stop_walk_ns, TIME)  /* ... to the last rtl frame                      */               \
    F(U64, stop_dump_ns, TIME)  /* ... to the end of the dump                     */               \
    F(U64, stop_tuned_ns, NONE) /* stopped a second time, for the tuned dump      */               \
    F(U64, record_write_ns, TIME)                                                                  \
    F(U64, dump_write_ns, TIME)                                                                    \
    F(U64, record_bytes, SIZE)                                                                     \
    F(U64, dump_bytes, SIZE)                                                                       \
    F(U64, dump_tuned_ns, TIME) /* the dump in its cheapest form                  */               \
    F(U64, dump_tuned_bytes, NONE)                                                                 \
    F(U64, record_gzip_bytes, NONE) /* each file by itself, as it would be kept       */           \
    F(U64, record_zstd_bytes, NONE)                                                                \
    F(U64, dump_gzip_bytes, NONE)                                                                  \
    F(U64, dump_zstd_bytes, NONE)                                                                  \
    F(U64, dump_tuned_gzip_bytes, NONE)                                                            \
    F(U64, dump_tuned_zstd_bytes, NONE)                                                            \
    F(U64, capture_now_ns, TIME) /* mean over all captures on demand              */               \
    F(U64, hang_late_ns, TIME)   /* how long after its time limit a hang was found */              \
    F(BOOL, crowded, NONE) /* more ran than there are processors: figures leave the times out */

/* How well one engine did on one case. Of COUNT and FRAMES a run has the sum, of JUDGED the number
 * of cases that were judged and have it. */
#define ENGINE_SCORE_FIELDS(F)                                                                     \
    F(BOOL, judged, COUNT)       /* a truth and a stack to compare with it exist   */              \
    F(BOOL, reference, NONE)     /* the stack that the others were compared with   */              \
    F(BOOL, exact, COUNT)        /* function, file and line of every demanded frame are right, and \
                                    there is no wrong extra frame */                               \
    F(BOOL, top1, JUDGED)        /* of the thread under suspicion: innermost own frame right */    \
    F(BOOL, top3, JUDGED)        /* innermost three own frames right               */              \
    F(BOOL, top5, JUDGED)        /* innermost five                                 */              \
    F(U32, frames, NONE)         /* logical frames in its stacks                   */              \
    F(U32, truth_frames, FRAMES) /* demanded by the truth                         */               \
    F(U32, own_frames, FRAMES)   /* `own` logical frames it claimed               */               \
    F(U32, right_frames, FRAMES) /* function right, in order                      */               \
    F(U32, lines_judged, FRAMES) /* of right_frames: file and line                */               \
    F(U32, lines_right, FRAMES)                                                                    \
    F(U32, inline_demanded, FRAMES)                                                                \
    F(U32, inline_right, FRAMES)                                                                   \
    F(U32, physical_judged, FRAMES) /* against the reference                      */               \
    F(U32, physical_same, FRAMES)                                                                  \
    F(ROW, first_divergence, NONE) /* row of the first difference                 */

/* ---- what is made of them ------------------------------------------------------------- */

#define FIELD_TYPE_BOOL bool
#define FIELD_TYPE_U32 uint32_t
#define FIELD_TYPE_U64 uint64_t
#define FIELD_TYPE_ROW int32_t
#define FIELD_MEMBER(KIND, NAME, SUM) FIELD_TYPE_##KIND NAME;

/* Members of the sum over cases. */
#define FIELD_SUM_NONE(NAME)
#define FIELD_SUM_COUNT(NAME) uint32_t NAME;
#define FIELD_SUM_JUDGED(NAME) uint32_t NAME;
#define FIELD_SUM_FRAMES(NAME) uint64_t NAME;
#define FIELD_SUM_MEMBER(KIND, NAME, SUM) FIELD_SUM_##SUM(NAME)

#endif
