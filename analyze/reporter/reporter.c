/* See reporter.h. */
#include "reporter/reporter.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "reporter/pair_judge.h"
#include "symbol/symbol_store.h"

const char *reporter_verdict_name(enum reporter_verdict verdict)
{
    static const char *const names[REPORTER_VERDICT_COUNT] = {
        "sound", "wrong", "not_judged", "capture_failed", "no_dump", "unreadable_dump"};
    return names[verdict];
}

uint32_t reporter_judged(const struct reporter_result *result)
{
    return result->verdicts[REPORTER_SOUND] + result->verdicts[REPORTER_WRONG];
}

const struct pair *reporter_pair(const struct reporter_result *result, uint32_t row)
{
    return &result->pairs->at[row];
}

const char *reporter_group_words(enum reporter_mechanism mechanism, const char *variant,
                                 struct arena *keep)
{
    const struct mechanism_row *what = mechanism_row(mechanism);
    return arena_printf(keep, "%s%s%s (%s)", what->words, variant != NULL ? ": " : "",
                        text_or_empty(variant), what->who);
}

/* ---- the stack of another crash ----------------------------------------------------------- */

static bool same_places(struct places given, struct places truth)
{
    if (given.count != truth.count || given.count == 0)
        return false;
    for (uint32_t i = 0; i < given.count; i++)
        if (given.at[i].offset != truth.at[i].offset ||
            !module_names_equal(given.at[i].module, truth.at[i].module))
            return false;
    return true;
}

/* A dump by the offset of its first frame. */
struct first_frame {
    uint64_t offset;
    uint32_t row;
};

ARRAY_ORDER_2(by_offset, struct first_frame, offset, row)

/* The row of another dump that has this stack; UINT32_MAX: none. */
static uint32_t find_crash(const struct first_frame *firsts, uint32_t count,
                           const struct judged *judged, uint32_t self)
{
    const struct places given = judged[self].given;
    uint32_t at = ARRAY_UPPER(firsts, count, offset, given.at[0].offset - 1);
    if (given.at[0].offset == 0)
        at = 0;
    for (; at < count && firsts[at].offset == given.at[0].offset; at++)
        if (firsts[at].row != self && same_places(given, judged[firsts[at].row].truth))
            return firsts[at].row;
    return UINT32_MAX;
}

/* Stacks that have frames of their own are looked for among all dumps: a whole stack proves more
 * than a few frames that nothing returns to. */
static bool name_other_crashes(struct reporter_result *out, const struct judged *judged,
                               struct arena *keep)
{
    struct first_frame *firsts = ARENA_ARRAY(keep, (size_t)out->row_count + 1, struct first_frame);
    uint32_t count = 0;
    if (firsts == NULL)
        return false;
    for (uint32_t i = 0; i < out->row_count; i++)
        if (judged[i].truth.count > 0)
            firsts[count++] = (struct first_frame){judged[i].truth.at[0].offset, i};
    array_sort(firsts, count, sizeof *firsts, by_offset);
    for (uint32_t i = 0; i < out->row_count; i++) {
        struct reporter_row *row = &out->rows[i];
        if (judged[i].given.count == 0)
            continue;
        const uint32_t other = find_crash(firsts, count, judged, i);
        if (other == UINT32_MAX)
            continue;
        row->mechanism = MECHANISM_OTHER_CRASH;
        row->variant = NULL;
        row->words = arena_printf(keep, "it is the stack of %s", out->rows[other].name);
        row->sides = NULL;
    }
    return true;
}

/* ---- sums --------------------------------------------------------------------------------- */

static bool count_missing(struct reporter_result *out, const struct judged *judged,
                          struct arena *keep)
{
    const struct module *module = judged->lacking;
    if (module == NULL)
        return true;
    const char *file =
        judged->lacks_pdb && module->pdb_name != NULL ? module->pdb_name : module->name;
    const char *identity = judged->lacks_pdb ? module->debug_id : module->code_id;
    for (uint32_t i = 0; i < out->missing_count; i++)
        if (strcmp(out->missing[i].file, file) == 0 &&
            strcmp(out->missing[i].identity, identity) == 0) {
            out->missing[i].pairs++;
            return true;
        }
    if (!ARENA_ROOM(keep, out->missing, out->missing_room, (uint64_t)out->missing_count + 1))
        return false;
    out->missing[out->missing_count++] = (struct reporter_missing){.file = file,
                                                                   .identity = identity,
                                                                   .pdb = judged->lacks_pdb,
                                                                   .system = judged->lacks_system,
                                                                   .pairs = 1};
    return true;
}

static bool count_group(struct reporter_result *out, uint32_t row, struct arena *keep)
{
    const struct reporter_row *r = &out->rows[row];
    for (uint32_t i = 0; i < out->group_count; i++)
        if (out->groups[i].mechanism == r->mechanism &&
            text_equal(out->groups[i].variant, r->variant)) {
            out->groups[i].count++;
            return true;
        }
    if (!ARENA_ROOM(keep, out->groups, out->group_room, (uint64_t)out->group_count + 1))
        return false;
    out->groups[out->group_count++] = (struct reporter_group){r->mechanism, r->variant, 1, row};
    return true;
}

static int most_missing(const void *a, const void *b)
{
    const struct reporter_missing *x = a, *y = b;
    return x->system != y->system ? x->system - y->system
                                  : (x->pairs < y->pairs) - (x->pairs > y->pairs);
}

static int most_rows(const void *a, const void *b)
{
    const struct reporter_group *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static enum status add_up(struct reporter_result *out, const struct judged *judged,
                          struct arena *keep, struct fault *fault)
{
    bool memory = name_other_crashes(out, judged, keep);
    for (uint32_t i = 0; memory && i < out->row_count; i++) {
        const struct reporter_row *row = &out->rows[i];
        out->verdicts[row->verdict]++;
        out->by_scan += row->verdict == REPORTER_SOUND && row->certain < row->given;
        memory = count_missing(out, &judged[i], keep) &&
                 (row->verdict != REPORTER_WRONG || count_group(out, i, keep));
    }
    array_sort(out->missing, out->missing_count, sizeof *out->missing, most_missing);
    array_sort(out->groups, out->group_count, sizeof *out->groups, most_rows);
    return memory ? ERR_NONE : fault_no_memory(fault, "rows");
}

/* ---- all pairs ---------------------------------------------------------------------------- */

/* Lists the named files that are of no module; USED has a place for each. */
static bool list_unused(const struct reporter_request *request, const bool *used, uint32_t count,
                        struct arena *keep, struct reporter_result *out)
{
    out->unused = ARENA_ARRAY(keep, (size_t)count + 1, const char *);
    for (uint32_t i = 0; out->unused != NULL && i < count; i++)
        if (!used[i])
            out->unused[out->unused_count++] = symbol_store_named_file(request->symbols, i);
    return out->unused != NULL;
}

static enum status judge_all(const struct reporter_request *request, const struct pairs *pairs,
                             struct judged *judged, bool *used, struct arena *keep,
                             struct reporter_result *out, struct fault *fault)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    for (uint32_t i = 0; i < pairs->count && fault->code == ERR_NONE && !process_interrupted();
         i++) {
        log_progress_of(i + 1, pairs->count, "judging %u/%u  %s", i + 1, pairs->count,
                        pairs->at[i].name);
        (void)judge_pair(&pairs->at[i], request->symbols, keep, &scratch, used, &out->rows[i],
                         &judged[i], fault);
        if (!process_interrupted()) /* a pair whose files were not read to their end */
            out->row_count = i + 1;
        arena_reset(&scratch);
    }
    log_progress_end();
    arena_free(&scratch);
    return fault->code;
}

/* The folder of the stacks, or their file without its ending. */
static const char *name_of(const struct reporter_request *request, struct arena *keep)
{
    if (request->name != NULL)
        return request->name;
    const char *absolute = path_absolute(request->stacks, keep);
    const char *base = path_base(absolute != NULL ? absolute : request->stacks);
    const char *dot = path_is_folder(request->stacks) ? NULL : strrchr(base, '.');
    return dot != NULL && dot != base ? arena_text(keep, base, (size_t)(dot - base)) : base;
}

enum status reporter_judge(const struct reporter_request *request, struct arena *keep,
                           struct reporter_result *out, struct fault *fault)
{
    struct pairs *pairs = ARENA_NEW(keep, struct pairs);
    uint32_t named = 0;
    *out = (struct reporter_result){.name = name_of(request, keep),
                                    .places = symbol_store_places(request->symbols, keep),
                                    .pairs = pairs};
    if (pairs == NULL)
        return fault_no_memory(fault, "pairs");
    if (pairs_find(request->dumps, request->stacks, request->pairs, keep, pairs, fault) != ERR_NONE)
        return fault->code;
    out->rows = ARENA_ARRAY(keep, (size_t)pairs->count + 1, struct reporter_row);
    struct judged *judged = ARENA_ARRAY(keep, (size_t)pairs->count + 1, struct judged);
    while (symbol_store_named_file(request->symbols, named) != NULL)
        named++;
    bool *used = ARENA_ARRAY(keep, (size_t)named + 1, bool);
    if (out->rows == NULL || judged == NULL || used == NULL)
        return fault_no_memory(fault, "pairs");
    if (judge_all(request, pairs, judged, used, keep, out, fault) != ERR_NONE)
        return fault->code;
    if (!list_unused(request, used, named, keep, out))
        return fault_no_memory(fault, "symbol files");
    return add_up(out, judged, keep, fault);
}
