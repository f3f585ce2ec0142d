/* See accuracy.h. */
#include "study/accuracy.h"

#include <math.h>
#include <string.h>

#include "compare/statistics.h"

/* Sums of the recall of each case. */
struct accuracy_scenario {
    const char *name; /* in the pool: equal names are one address */
    uint32_t cases;
    double recall[ACCURACY_WAYS];
};

/* "offset", "dump". */
static const char *way_name(enum accuracy_way_index way)
{
    static const char *const names[ACCURACY_WAYS] = {"offset", "dump"};
    return names[way];
}

static void split_add(struct accuracy_split *split, bool offset, bool dump)
{
    split->both += offset && dump;
    split->only_offset += offset && !dump;
    split->only_dump += !offset && dump;
    split->neither += !offset && !dump;
}

void accuracy_begin(struct accuracy_count *count, struct arena *keep, struct accuracy *out)
{
    static const char *const engines[ACCURACY_WAYS] = {ENGINE_NAME_OFFSET, ENGINE_NAME_DUMP};
    *count = (struct accuracy_count){.out = out, .keep = keep};
    *out = (struct accuracy){.scenarios = 0};
    text_pool_init(&count->texts, keep);
    for (int w = 0; w < ACCURACY_WAYS; w++)
        out->ways[w] = (struct accuracy_way){.engine = engines[w],
                                             .exact.name = "exact",
                                             .top1.name = "top1",
                                             .top3.name = "top3",
                                             .recall_micro.name = "recall_micro"};
}

/* Cases come in the order of their scenarios, so the search goes on where the last one ended. */
static struct accuracy_scenario *scenario_of(struct accuracy_count *count, const char *name,
                                             struct fault *fault)
{
    const uint32_t before = count->texts.count;
    const char *own = text_pool_add(&count->texts, name, strlen(name));
    const bool is_new = count->texts.count > before; /* and is not worth a search */
    for (uint32_t i = 0; own != NULL && !is_new && i < count->count; i++) {
        const uint32_t at = (count->at + i) % count->count;
        if (count->scenarios[at].name == own) {
            count->at = at;
            return &count->scenarios[at];
        }
    }
    struct accuracy_scenario *rows =
        own != NULL ? arena_reserve(count->keep, count->scenarios, &count->room,
                                    (uint64_t)count->count + 1, sizeof *rows)
                    : NULL;
    if (rows == NULL) {
        (void)fault_no_memory(fault, "accuracy of a run");
        return NULL;
    }
    count->scenarios = rows;
    count->at = count->count++;
    rows[count->at] = (struct accuracy_scenario){.name = own};
    return &rows[count->at];
}

static void measure_add(struct measure *m, uint64_t right, uint64_t total)
{
    m->right += right;
    m->total += total;
}

static enum status add_pair(struct accuracy_count *count, const struct run_case *c,
                            const struct engine_score *const scores[ACCURACY_WAYS],
                            struct fault *fault)
{
    const bool demanded =
        scores[ACCURACY_OFFSET]->truth_frames > 0 && scores[ACCURACY_DUMP]->truth_frames > 0;
    struct accuracy_scenario *scenario = demanded ? scenario_of(count, c->scenario, fault) : NULL;
    if (demanded && scenario == NULL)
        return fault->code;
    split_add(&count->out->exact, scores[ACCURACY_OFFSET]->exact, scores[ACCURACY_DUMP]->exact);
    for (int w = 0; w < ACCURACY_WAYS; w++) {
        struct accuracy_way *way = &count->out->ways[w];
        const struct engine_score *s = scores[w];
        measure_add(&way->exact, s->exact, 1);
        measure_add(&way->top1, s->top1, 1);
        measure_add(&way->top3, s->top3, 1);
        measure_add(&way->recall_micro, s->right_frames, s->truth_frames);
        if (scenario != NULL)
            scenario->recall[w] += (double)s->right_frames / s->truth_frames;
    }
    if (scenario != NULL)
        scenario->cases++;
    return ERR_NONE;
}

enum status accuracy_add(struct accuracy_count *count, const struct run_case *c,
                         struct fault *fault)
{
    const struct engine_score *scores[ACCURACY_WAYS];
    bool judged[ACCURACY_WAYS];
    for (int w = 0; w < ACCURACY_WAYS; w++) {
        scores[w] = case_score(c, count->out->ways[w].engine);
        judged[w] = scores[w] != NULL && scores[w]->judged;
    }
    const bool offset = judged[ACCURACY_OFFSET], dump = judged[ACCURACY_DUMP];
    if (offset || dump || run_case_is_to_capture(c)) {
        struct accuracy_usable *own = &count->out->by_cpu[c->arch];
        split_add(&count->out->judged, offset, dump);
        own->judged++;
        for (int w = 0; w < ACCURACY_WAYS; w++) {
            const bool unusable = !judged[w] || !scores[w]->top1;
            count->out->unusable[w] += unusable;
            own->unusable[w] += unusable;
        }
    }
    return offset && dump ? add_pair(count, c, scores, fault) : ERR_NONE;
}

void accuracy_end(struct accuracy_count *count)
{
    struct accuracy *out = count->out;
    out->scenarios = count->count;
    for (int w = 0; w < ACCURACY_WAYS; w++) {
        struct accuracy_way *way = &out->ways[w];
        struct measure *const measures[] = {&way->exact, &way->top1, &way->top3,
                                            &way->recall_micro};
        double sum = 0;
        for (uint32_t i = 0; i < count->count; i++)
            sum += count->scenarios[i].recall[w] / count->scenarios[i].cases;
        way->recall_macro = count->count > 0 ? sum / count->count : (double)NAN;
        for (size_t m = 0; m < sizeof measures / sizeof *measures; m++)
            measures[m]->share = statistics_wilson(measures[m]->right, measures[m]->total);
    }
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_split(struct json *j, const char *key, const struct accuracy_split *split)
{
    json_key_object(j, key);
    json_key_uint(j, "both", split->both);
    json_key_uint(j, "only_offset", split->only_offset);
    json_key_uint(j, "only_dump", split->only_dump);
    json_key_uint(j, "neither", split->neither);
    json_object_end(j);
}

void accuracy_write_json(struct json *j, const struct run_figures *figures)
{
    const struct accuracy *a = figures->accuracy;
    json_object(j);
    json_key_uint(j, "cases", a->judged.both);
    json_key_uint(j, "scenarios", a->scenarios);
    write_split(j, "judged", &a->judged);
    write_split(j, "exact", &a->exact);
    json_key_array(j, "ways");
    for (int w = 0; w < ACCURACY_WAYS; w++) {
        const struct accuracy_way *way = &a->ways[w];
        json_object(j);
        json_key_string(j, "way", way_name((enum accuracy_way_index)w));
        json_key_string(j, "engine", way->engine);
        measure_write_json(j, &way->exact);
        measure_write_json(j, &way->top1);
        measure_write_json(j, &way->top3);
        json_key_number(j, "recall_macro", way->recall_macro);
        measure_write_json(j, &way->recall_micro);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
