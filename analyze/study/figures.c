/* Sums, ratios and medians of a run: see figures.h. */
#include "study/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "compare/statistics.h"

double figures_percent(uint64_t right, uint64_t total)
{
    return floor(1000.0 * (double)right / (double)total) / 10;
}

void figures_share_text(double share, char *out, size_t room)
{
    const double percent = floor(share * 1000) / 10;
    if (share <= 0 || share >= 1)
        (void)snprintf(out, room, "%.0f %%", share * 100);
    else
        (void)snprintf(out, room, "%.1f %%", percent > 0.1 ? percent : 0.1);
}

const struct engine_claim *case_claim(const struct run_case *c, const char *engine)
{
    for (uint32_t i = 0; engine != NULL && i < c->claim_count; i++)
        if (strcmp(c->claims[i].engine, engine) == 0)
            return &c->claims[i];
    return NULL;
}

const struct engine_score *case_score(const struct run_case *c, const char *engine)
{
    for (uint32_t i = 0; engine != NULL && i < c->result.score_count; i++)
        if (strcmp(c->result.scores[i].engine, engine) == 0)
            return &c->result.scores[i];
    return NULL;
}

bool case_is_apart(const struct run_case *c, const char *engine)
{
    const struct engine_score *s = case_score(c, engine);
    if (s != NULL && s->apart)
        return true;
    for (uint32_t i = 0; i < c->result.finding_count; i++) {
        const struct finding *f = &c->result.findings[i];
        if (f->fails && !f->against_truth &&
            (f->wrong != NULL ? text_equal(f->wrong, engine)
                              : text_equal(f->engine, engine) || text_equal(f->against, engine)))
            return true;
    }
    return false;
}

struct case_references case_references(const struct run_case *c)
{
    struct case_references out = {0, 0};
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        const struct engine_score *s = &c->result.scores[i];
        const bool counts = !s->subject && s->state == STACK_OK && s->judged;
        out.judged += counts;
        out.exact += counts && s->exact;
    }
    return out;
}

bool case_is_timed(const struct run_case *c, const char *engine)
{
    const struct engine_score *s = case_score(c, engine);
    const struct engine_claim *k = case_claim(c, engine);
    return s != NULL && k != NULL && s->state == STACK_OK && s->frames > 0 &&
           k->cost.total_ns > 0 && !c->timing.crowded;
}

void figures_measures(const struct engine_total *t, struct measure out[MEASURES])
{
    const struct measure rows[MEASURES] = {
        {"exact", t->exact, t->judged, {0, 0, 0}},
        {"top1", t->top1, t->judged, {0, 0, 0}},
        {"top3", t->top3, t->judged, {0, 0, 0}},
        {"top5", t->top5, t->judged, {0, 0, 0}},
        {"precision", t->right_frames, t->own_frames, {0, 0, 0}},
        {"recall", t->right_frames, t->truth_frames, {0, 0, 0}},
        {"inline_recall", t->inline_right, t->inline_demanded, {0, 0, 0}},
        {"lines", t->lines_right, t->lines_judged, {0, 0, 0}},
        {"physical", t->physical_same, t->physical_judged, {0, 0, 0}},
    };
    for (int m = 0; m < MEASURES; m++) {
        out[m] = rows[m];
        out[m].share = statistics_wilson(rows[m].right, rows[m].total);
    }
}

void measure_write_json(struct json *j, const struct measure *m)
{
    json_key_object(j, m->name);
    json_key_uint(j, "right", m->right);
    json_key_uint(j, "total", m->total);
    json_key_number(j, "value", m->share.value);
    json_key_number(j, "low", m->share.low);
    json_key_number(j, "high", m->share.high);
    json_object_end(j);
}

const char *figures_foreign_engine(const struct run_figures *figures)
{
    for (size_t n = 0; engine_dump_readers[n] != NULL; n++)
        for (uint32_t i = 0; i < figures->engine_count; i++)
            if (strcmp(figures->engines[i].engine, engine_dump_readers[n]) == 0 &&
                figures->engines[i].stacks > 0)
                return engine_dump_readers[n];
    return NULL;
}

/* Cases of older runs have only the cost of an engine's whole claim. A judge that starts anew for
 * each case has one time, which is a cold one. */
static struct way_cost claim_cost(const struct run_case *c, const char *engine)
{
    const struct engine_cost *k = &case_claim(c, engine)->cost;
    struct way_cost out = {
        .frames = case_score(c, engine)->frames, .same = 1, .cold.whole_ns = k->cold_ns};
    if (k->total_ns != k->cold_ns)
        out.warm = (struct way_parts){.whole_ns = k->total_ns,
                                      .open_ns = k->open_ns,
                                      .unwind_ns = k->unwind_ns,
                                      .load_ns = k->load_ns,
                                      .resolve_ns = k->resolve_ns};
    return out;
}

/* Sizes count even where times do not. */
static struct case_timing counted(const struct case_timing *t)
{
    const struct case_timing sizes = {.record_bytes = t->record_bytes,
                                      .dump_bytes = t->dump_bytes,
                                      .dump_tuned_bytes = t->dump_tuned_bytes,
                                      .record_gzip_bytes = t->record_gzip_bytes,
                                      .record_zstd_bytes = t->record_zstd_bytes,
                                      .dump_gzip_bytes = t->dump_gzip_bytes,
                                      .dump_zstd_bytes = t->dump_zstd_bytes,
                                      .dump_tuned_gzip_bytes = t->dump_tuned_gzip_bytes,
                                      .dump_tuned_zstd_bytes = t->dump_tuned_zstd_bytes};
    const struct case_timing none = {.crowded = false};
    if (t->record_bytes == 0 || t->dump_bytes == 0)
        return none;
    return t->crowded ? sizes : *t;
}

void figure_sample_take(const struct run_case *c, const char *foreign, struct figure_sample *out)
{
    const char *const names[WAY_COUNT] = {
        [WAY_FOREIGN] = foreign, [WAY_DUMP] = ENGINE_NAME_DUMP, [WAY_OFFSET] = ENGINE_NAME_OFFSET};
    memset(out, 0, sizeof *out);
    sample_name(c->scenario, c->variant, c->arch, c->kind, out);
    out->timing = counted(&c->timing);
    for (int way = 0; way < WAY_COUNT; way++) {
        const char *engine = names[way == WAY_TUNED ? WAY_DUMP : way];
        if (engine == NULL || !case_is_timed(c, engine))
            continue;
        if (c->ways != NULL && c->ways[way].same != 0)
            out->ways[way] = c->ways[way];
        else if (c->ways == NULL && names[way] != NULL)
            out->ways[way] = claim_cost(c, engine);
    }
    /* Pairs count; of x86, which has no tables for `rtl`, the dump alone. */
    if (out->ways[WAY_DUMP].frames == 0 ||
        (out->ways[WAY_OFFSET].frames == 0 && c->arch != CPU_X86))
        memset(out->ways, 0, sizeof out->ways);
}

enum { LEVEL_NONE, LEVEL_FILES, LEVEL_DUMPS, LEVEL_PAIRS }; /* store/sql.c has the same */

void processors_add(struct processors *p, const struct run_case *c,
                    const struct figure_sample *sample)
{
    int level = c->timing.record_bytes + c->timing.dump_bytes > 0 ? LEVEL_FILES : LEVEL_NONE;
    if (sample->ways[WAY_DUMP].frames != 0)
        level = sample->ways[WAY_OFFSET].frames != 0 ? LEVEL_PAIRS : LEVEL_DUMPS;
    if (level > p->levels[c->arch])
        p->levels[c->arch] = level;
}

void processors_end(struct processors *p)
{
    for (int level = LEVEL_PAIRS; level > LEVEL_NONE; level--)
        for (int i = 0; i < CPU_COUNT; i++)
            if (p->levels[cpu_order[i]] == level)
                p->of[p->count++] = cpu_order[i];
}

uint32_t figures_passing(const struct run_figures *figures)
{
    return figures->verdicts[VERDICT_PASS] + figures->verdicts[VERDICT_NOT_CAPTURED_AS_EXPECTED];
}

uint32_t figures_failing(const struct run_figures *figures)
{
    uint32_t count = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        count += run_verdict_fails((enum verdict)v) ? figures->verdicts[v] : 0;
    return count;
}
