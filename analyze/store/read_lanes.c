/* The times of each lane of the table of speed, for a comparison: one pass over a run's ways. */
#include <math.h>
#include <string.h>

#include "model/lane.h"
#include "store/query.h"

/* A lane's series, and how its odd rounds differ from its even ones: of the logarithms. */
struct sums {
    struct diff_series *series;
    uint32_t count;
    double sum, squares;
};

struct reading {
    struct diff_side *side;
    struct text_pool *texts;
    struct query *q;
    struct sums sums[CPU_COUNT][WAY_COUNT][WAY_STATES];
};

static struct sums *sums_of(struct reading *r, const struct lane *lane)
{
    struct sums *sums = &r->sums[lane->arch][lane->way][lane->state];
    struct arena *keep = r->texts->keep;
    if (sums->series != NULL)
        return sums;
    const char *name = lane_name(lane, keep);
    struct lane *kept = ARENA_NEW(keep, struct lane);
    if (name == NULL || kept == NULL) {
        (void)fault_set(r->q->fault, ERR_MEMORY, FAULT_NO_OFFSET, "lanes of a run");
        return NULL;
    }
    *kept = *lane;
    sums->series = diff_side_series(r->side, name, false, keep, r->q->fault);
    if (sums->series == NULL)
        return NULL;
    sums->series->lane = kept;
    sums->series->of_dump = lane->way != WAY_OFFSET;
    return sums;
}

static void read_state(struct reading *r, const struct lane *lane, uint32_t at)
{
    const uint64_t whole_ns = query_get(r->q);
    const double even = (double)query_get(r->q), odd = (double)query_get(r->q);
    struct sums *sums = whole_ns != 0 ? sums_of(r, lane) : NULL;
    if (sums == NULL)
        return;
    sums->series->total_ns[at] = whole_ns;
    if (even > 0 && odd > 0) {
        const double apart = log(odd / even);
        sums->count++;
        sums->sum += apart;
        sums->squares += apart * apart;
    }
}

/* The end of the 95 % interval that is further from no difference. */
static void set_apart(struct sums *sums)
{
    if (sums->series == NULL || sums->count < 2)
        return;
    const double n = sums->count, mean = sums->sum / n;
    const double variance = fmax(0, sums->squares - n * mean * mean) / (n - 1);
    sums->series->apart = expm1(fabs(mean) + 1.96 * sqrt(variance / n));
}

void store_read_lanes(struct store *store, struct text_pool *texts, const uint64_t *ids,
                      struct diff_side *side, struct fault *fault)
{
    uint32_t at = 0;
    struct query q = query_begin(store, SQL_READ_SIDE_LANES, texts->keep, fault);
    struct reading r = {.side = side, .texts = texts, .q = &q};
    q.texts = texts;
    query_int(&q, side->run->id);
    while (fault->code == ERR_NONE && query_row(&q)) {
        const uint64_t id = query_get(&q);
        struct lane lane = {.arch = cpu_parse(query_get_text(&q))};
        lane.way = case_way_parse(query_get_text(&q));
        while (at < side->count && ids[at] < id)
            at++;
        if (at == side->count || ids[at] != id || lane.way == WAY_COUNT)
            continue;
        for (int state = 0; state < WAY_STATES; state++) {
            lane.state = (enum way_state)state;
            read_state(&r, &lane, at);
        }
    }
    for (int arch = 0; arch < CPU_COUNT; arch++)
        for (int way = 0; way < WAY_COUNT; way++)
            for (int state = 0; state < WAY_STATES; state++)
                set_apart(&r.sums[arch][way][state]);
    (void)query_end(&q);
}
