/* Medians, parts and the sentence of the headline: see headline.h. */
#include "study/headline.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "study/ratio.h"
#include "study/speed.h"

const char *headline_group_name(enum headline_group group)
{
    static const char *const names[HEADLINE_GROUPS] = {"in the dying process", "back end, cold",
                                                       "back end, warm"};
    return names[group];
}

const char *headline_state_name(enum headline_state state)
{
    static const char *const names[HEADLINE_STATES] = {"not measured", "not done", "measured"};
    return names[state];
}

/* The rows, in the order of the table. Both parts of the back end have the same rows. */
enum row {
    ROW_WALK,
    ROW_STOPPED,
    ROW_WRITE,
    ROW_BYTES,
    ROW_COLD,
    ROW_COLD_OWN,
    ROW_COLD_OPEN,
    ROW_COLD_UNWIND,
    ROW_COLD_LOAD,
    ROW_COLD_RESOLVE,
    ROW_COLD_LEFT_OVER,
    ROW_WARM,
    ROW_WARM_OWN,
    ROW_WARM_OPEN,
    ROW_WARM_UNWIND,
    ROW_WARM_LOAD,
    ROW_WARM_RESOLVE,
    ROW_WARM_LEFT_OVER,
    ROWS
};

static_assert((int)ROWS == (int)HEADLINE_ROWS, "headline.h has all rows");

/* A whole time, and the rows of its parts: those from FIRST to LEFT_OVER, which is what the others
 * do not add up to. */
struct parted {
    enum row whole, first, left_over;
};

static const struct parted cold_parts = {ROW_COLD, ROW_COLD_OPEN, ROW_COLD_LEFT_OVER},
                           warm_parts = {ROW_WARM, ROW_WARM_OPEN, ROW_WARM_LEFT_OVER};

/* Where a row has its number of one way from. */
struct row_number {
    enum { NUMBER_COMPUTED, NUMBER_OF_SAMPLE, NUMBER_NEVER /* this way has no such step */ } from;
    int offset; /* in a sample */
};

struct row_source {
    const char *key, *name;
    enum headline_group group;
    bool bytes, own, part;
    struct row_number numbers[WAY_COUNT];
};

/* NOLINTBEGIN(bugprone-macro-parentheses) fields and initializers */
#define NEVER {.from = NUMBER_NEVER}
#define AT(OFFSET) {.from = NUMBER_OF_SAMPLE, .offset = (OFFSET)}
#define TIMING(NAME) AT(SAMPLE_TIMING(NAME))
#define WAY(WAY, NAME)                                                                             \
    ((int)(offsetof(struct figure_sample, ways) + (WAY) * sizeof(struct way_cost) +                \
           offsetof(struct way_cost, NAME)))
#define EVERY_WAY(NAME)                                                                            \
    {[WAY_FOREIGN] = AT(WAY(WAY_FOREIGN, NAME)),                                                   \
     [WAY_DUMP] = AT(WAY(WAY_DUMP, NAME)),                                                         \
     [WAY_TUNED] = AT(WAY(WAY_TUNED, NAME)),                                                       \
     [WAY_OFFSET] = AT(WAY(WAY_OFFSET, NAME))}
#define DYING(KEY) .key = (KEY), .name = (KEY), .group = HEADLINE_DYING
#define BACK_END(ROW, KEY, PREFIX, GROUP, FIELD)                                                   \
    [ROW] = {.key = (KEY), .name = "all", .group = (GROUP), .numbers = EVERY_WAY(FIELD.whole_ns)}, \
    [ROW##_OWN] = {.key = KEY "_own",                                                              \
                   .name = "without system modules",                                               \
                   .group = (GROUP),                                                               \
                   .own = true,                                                                    \
                   .numbers = EVERY_WAY(FIELD.own_ns)},                                            \
    [ROW##_OPEN] = PART(PREFIX "open", "opening", GROUP, FIELD.open_ns),                           \
    [ROW##_UNWIND] = PART(PREFIX "unwind", "walking", GROUP, FIELD.unwind_ns),                     \
    [ROW##_LOAD] = PART(PREFIX "load", "loading symbols", GROUP, FIELD.load_ns),                   \
    [ROW##_RESOLVE] = PART(PREFIX "resolve", "naming", GROUP, FIELD.resolve_ns),                   \
    [ROW##_LEFT_OVER] = {                                                                          \
        .key = PREFIX "left_over", .name = "left over", .group = (GROUP), .part = true}
#define PART(KEY, NAME, GROUP, FIELD)                                                              \
    {.key = (KEY), .name = (NAME), .group = (GROUP), .part = true, .numbers = EVERY_WAY(FIELD)}

/* The foreign library and our engine read the same dump, so both columns have its cost. */
static const struct row_source sources[ROWS] = {
    [ROW_WALK] = {DYING("walk"), .numbers = {[WAY_FOREIGN] = NEVER,
                                             [WAY_DUMP] = NEVER,
                                             [WAY_TUNED] = NEVER,
                                             [WAY_OFFSET] = TIMING(walk_ns)}},
    [ROW_STOPPED] = {DYING("stopped"), .numbers = {[WAY_FOREIGN] = TIMING(stop_dump_ns),
                                                   [WAY_DUMP] = TIMING(stop_dump_ns),
                                                   [WAY_TUNED] = TIMING(stop_tuned_ns),
                                                   [WAY_OFFSET] = TIMING(stop_walk_ns)}},
    [ROW_WRITE] = {DYING("write"), .numbers = {[WAY_FOREIGN] = TIMING(dump_write_ns),
                                               [WAY_DUMP] = TIMING(dump_write_ns),
                                               [WAY_TUNED] = TIMING(dump_tuned_ns),
                                               [WAY_OFFSET] = TIMING(record_write_ns)}},
    [ROW_BYTES] = {DYING("bytes"), .bytes = true,
                   .numbers = {[WAY_FOREIGN] = TIMING(dump_bytes),
                               [WAY_DUMP] = TIMING(dump_bytes),
                               [WAY_TUNED] = TIMING(dump_tuned_bytes),
                               [WAY_OFFSET] = TIMING(record_bytes)}},
    BACK_END(ROW_COLD, "cold", "cold_", HEADLINE_COLD, cold),
    BACK_END(ROW_WARM, "warm", "", HEADLINE_WARM, warm),
};

/* NOLINTEND(bugprone-macro-parentheses) */

/* The samples of a run, and room for one number of each. */
struct columns {
    struct sample_set *set;
    uint64_t *strata;
    enum cpu arch; /* of the samples that count: processors are not mixed */
    uint64_t *raw;
    double *numbers;
    struct place {
        uint64_t whole_ns;
        uint32_t at;
    } *places; /* of the samples that have a whole time */
    struct fault fault;
};

/* Reads a number of every sample; 0 where the sample does not count. */
static enum status read_column(struct columns *c, int offset)
{
    if (sample_set_column(c->set, offset, c->raw, &c->fault) == ERR_NONE)
        for (uint32_t i = 0; i < c->set->count; i++)
            if (sample_arch(c->strata[i]) != c->arch)
                c->raw[i] = 0;
    return c->fault.code;
}

static void fill_whole(struct columns *c, int offset, struct headline_cell *out)
{
    size_t count = 0;
    if (read_column(c, offset) != ERR_NONE)
        return;
    for (uint32_t i = 0; i < c->set->count; i++)
        if (c->raw[i] != 0)
            c->numbers[count++] = (double)c->raw[i];
    if (count == 0)
        return;
    out->state = HEADLINE_MEASURED;
    out->measured = measurement_of_cases(c->numbers, count);
}

ARRAY_ORDER(by_whole, struct place, whole_ns)

/* The samples with a whole time in row WHOLE, in the order of these times. */
static uint32_t sort_places(struct columns *c, enum row whole, enum case_way way)
{
    uint32_t count = 0;
    if (read_column(c, sources[whole].numbers[way].offset) != ERR_NONE)
        return 0;
    for (uint32_t i = 0; i < c->set->count; i++)
        if (c->raw[i] != 0)
            c->places[count++] = (struct place){c->raw[i], i};
    array_sort(c->places, count, sizeof *c->places, by_whole);
    return count;
}

static double number_at(struct columns *c, uint32_t place, enum row row, enum case_way way)
{
    uint64_t value = 0;
    (void)sample_set_number(c->set, c->places[place].at, sources[row].numbers[way].offset, &value,
                            &c->fault);
    return (double)value;
}

/* Medians of parts do not add up to the median of the whole, but the parts of the median case do;
 * with an even number of cases, the means of the two in the middle. */
static void fill_parts(struct columns *c, const struct parted *of, enum case_way way,
                       struct headline *out)
{
    const uint32_t count = sort_places(c, of->whole, way);
    if (count == 0)
        return;
    double left = out->rows[of->whole].cells[way].measured.value;
    bool known = false;
    for (enum row row = of->first; row < of->left_over; row++) {
        struct headline_cell *cell = &out->rows[row].cells[way];
        cell->measured.value =
            (number_at(c, (count - 1) / 2, row, way) + number_at(c, count / 2, row, way)) / 2;
        left -= cell->measured.value;
        known = known || cell->measured.value > 0;
    }
    out->rows[of->left_over].cells[way].measured.value = left;
    for (enum row row = of->first; row <= of->left_over; row++) {
        struct headline_cell *cell = &out->rows[row].cells[way];
        const bool done = cell->measured.value != 0 || row == of->left_over;
        cell->state = done ? HEADLINE_MEASURED : HEADLINE_NOT_DONE;
        if (!known)
            cell->state = HEADLINE_NOT_MEASURED;
        cell->measured.n = cell->state == HEADLINE_MEASURED ? count : 0;
        if (cell->state != HEADLINE_MEASURED)
            cell->measured.value = (double)NAN;
    }
}

/* "dbghelp (wine 8.0)": the version of the judge's program, else the platform of the run.  A
 * version that names the program, "dbghelp of Microsoft 10.0", is enough. */
static const char *foreign_name(const struct run_figures *figures, struct arena *keep)
{
    const char *engine = figures_foreign_engine(figures), *version = NULL;
    for (uint32_t i = 0; engine != NULL && i < figures->engine_count; i++)
        if (strcmp(figures->engines[i].engine, engine) == 0)
            version = figures->engines[i].version;
    if (engine == NULL)
        return NULL;
    const char *name = strchr(engine, ':') + 1;
    if (version != NULL && strncmp(version, name, strcspn(name, "-")) == 0)
        return version;
    version = version != NULL ? version : figures->run->platform;
    return arena_printf(keep, "%s (%s)", name, version != NULL ? version : "version not known");
}

/* NaN: not measured. */
static double median_of(const struct headline *h, enum row row, enum case_way way)
{
    return h->rows[row].cells[way].measured.value;
}

/* NaN also where tables say "too few". */
static double enough_of(const struct headline *h, enum row row, enum case_way way)
{
    const struct measurement *m = &h->rows[row].cells[way].measured;
    return measurement_is_few(m) ? (double)NAN : m->value;
}

static const char *dominating(const struct run_figures *figures, const struct headline *h,
                              struct arena *keep)
{
    const char *by = speed_is_by_wine(figures) ? " (by Wine)" : "";
    const double cold = enough_of(h, ROW_COLD, WAY_DUMP);
    const double write = enough_of(h, ROW_WRITE, WAY_DUMP);
    const double back = isnan(cold) ? enough_of(h, ROW_WARM, WAY_DUMP) : cold;
    const double offset = enough_of(h, ROW_WALK, WAY_OFFSET) + enough_of(h, ROW_WRITE, WAY_OFFSET);
    const double whole = write + back;
    if (isnan(whole))
        return NULL;
    const double share = floor(1000 * fmax(write, back) / whole) / 10;
    if (write < back)
        return arena_printf(keep, "The back end is %.1f %% of the cost of a dump.", share);
    if (isnan(offset))
        return arena_printf(keep, "Writing the dump%s is %.1f %% of its cost.", by, share);
    return arena_printf(keep,
                        "Writing the dump%s is %.1f %% of its cost: %.0f times walk and record "
                        "of offsets.",
                        by, share, write / offset);
}

bool headline_row_is_known(const struct headline_row *row)
{
    for (int way = 0; way < WAY_COUNT; way++)
        if (row->cells[way].state == HEADLINE_MEASURED)
            return true;
    return false;
}

size_t headline_row_cases(const struct headline_row *row)
{
    size_t count = 0;
    for (int way = 0; way < WAY_COUNT; way++)
        if (row->cells[way].measured.n > count)
            count = row->cells[way].measured.n;
    return count;
}

static size_t count_of(const struct headline *h, enum row row, enum case_way way)
{
    return h->rows[row].cells[way].measured.n;
}

enum { NAME_WIDTH = 8 };

/* "dump, dbghelp": the judge that reads the dump in place of our engine. */
static const char *foreign_column(const struct run_figures *figures, struct arena *keep)
{
    const char *engine = figures_foreign_engine(figures);
    const char *judge = engine != NULL ? strchr(engine, ':') + 1 : "";
    const int length = (int)strcspn(judge, "-"); /* the line below has the whole name */
    const char *name =
        engine != NULL
            ? arena_printf(keep, "dump, %.*s", length < NAME_WIDTH ? length : NAME_WIDTH, judge)
            : NULL;
    return name != NULL ? name : "dump, foreign";
}

/* The ways that are measured in fewer cases than the others; "": none is measured. */
static const char *counts_of(const struct headline *h, struct arena *keep)
{
    const size_t tuned = count_of(h, ROW_BYTES, WAY_TUNED);
    const char *text = "";
    if (h->foreign != NULL)
        text = arena_printf(keep, "%zu cold, %zu warm", count_of(h, ROW_COLD, WAY_FOREIGN),
                            count_of(h, ROW_WARM, WAY_FOREIGN));
    if (text != NULL && tuned > 0)
        text =
            arena_printf(keep, "%s%stuned (no system data): %zu of %zu", text,
                         h->foreign != NULL ? "; " : "", tuned, count_of(h, ROW_BYTES, WAY_DUMP));
    return text_or_empty(text);
}

/* What is counted; processors are not mixed. */
static void state_scope(enum cpu arch, struct arena *keep, struct headline *out)
{
    const char *text = arena_printf(
        keep,
        "%s%sBack end: the thread under suspicion, in cases where its frames are the same by every "
        "way; ours in rotated order, fastest of six rounds. Without system modules: their frames "
        "are walked, but not named.",
        arch != CPU_UNKNOWN ? cpu_name(arch) : "", arch != CPU_UNKNOWN ? " cases. " : "");
    out->scope = text != NULL ? text : "";
}

static void begin(const struct run_figures *figures, struct arena *keep, struct headline *out)
{
    memset(out, 0, sizeof *out);
    out->columns[WAY_FOREIGN] = foreign_column(figures, keep);
    out->columns[WAY_DUMP] = "dump, ours";
    out->columns[WAY_TUNED] = "dump, tuned";
    out->columns[WAY_OFFSET] = "offsets";
    out->foreign = foreign_name(figures, keep);
    state_scope(CPU_UNKNOWN, keep, out);
    for (int r = 0; r < HEADLINE_ROWS; r++) {
        const struct row_source *row = &sources[r];
        out->rows[r] = (struct headline_row){.key = row->key,
                                             .name = row->name,
                                             .group = row->group,
                                             .bytes = row->bytes,
                                             .own = row->own,
                                             .part = row->part};
        for (int way = 0; way < WAY_COUNT; way++)
            out->rows[r].cells[way] = (struct headline_cell){
                .state = row->numbers[way].from == NUMBER_NEVER ? HEADLINE_NOT_DONE
                                                                : HEADLINE_NOT_MEASURED,
                .measured = measurement_none};
    }
}

/* Cases that count on the back end have a stack of the offset way. */
static uint64_t count_cases(struct columns *c)
{
    uint64_t count = 0;
    if (read_column(c, WAY(WAY_OFFSET, frames)) == ERR_NONE)
        for (uint32_t i = 0; i < c->set->count; i++)
            count += c->raw[i] != 0;
    return count;
}

void headline_of_samples(const struct run_figures *figures, struct sample_set *samples,
                         struct arena *keep, struct headline *out)
{
    const size_t room = (size_t)samples->count + 1;
    struct arena work;
    arena_init(&work, 0);
    struct columns c = {.set = samples,
                        .arch = figures->processors.of[0],
                        .strata = arena_array(&work, room, sizeof *c.strata),
                        .raw = arena_array(&work, room, sizeof *c.raw),
                        .numbers = arena_array(&work, room, sizeof *c.numbers),
                        .places = arena_array(&work, room, sizeof *c.places),
                        .fault = FAULT_INIT};
    begin(figures, keep, out);
    if (c.strata != NULL && c.raw != NULL && c.numbers != NULL && c.places != NULL &&
        sample_set_column(samples, SAMPLE_STRATUM, c.strata, &c.fault) == ERR_NONE) {
        state_scope(c.arch, keep, out);
        out->cases = count_cases(&c);
        for (int r = 0; r < HEADLINE_ROWS; r++)
            for (int way = 0; way < WAY_COUNT; way++)
                if (sources[r].numbers[way].from == NUMBER_OF_SAMPLE && !sources[r].part)
                    fill_whole(&c, sources[r].numbers[way].offset, &out->rows[r].cells[way]);
        for (int way = 0; way < WAY_COUNT; way++) {
            fill_parts(&c, &cold_parts, (enum case_way)way, out);
            fill_parts(&c, &warm_parts, (enum case_way)way, out);
        }
    }
    if (c.fault.code != ERR_NONE)
        begin(figures, keep, out);
    out->dominates = dominating(figures, out, keep);
    out->counts = counts_of(out, keep);
    arena_free(&work);
}

/* Each engine starts cold, as a foreign tool does: modules loaded by an earlier engine must not
 * count for a later one, and a judge that keeps running is cold in few cases. Older runs have only
 * the time with everything loaded. */
static double back_end_ms(const struct headline *h, enum case_way way)
{
    const double cold = median_of(h, ROW_COLD, way);
    return (isnan(cold) ? median_of(h, ROW_WARM, way) : cold) / 1e6;
}

double figures_metric(const struct run_figures *figures, enum metric metric)
{
    uint64_t judged = 0, exact = 0, truth = 0, own = 0, right = 0;
    if (metric == METRIC_CAPTURE_RATE)
        return figures->captures_expected == 0
                   ? (double)NAN
                   : (double)figures->captured / figures->captures_expected;
    if (metric == METRIC_SPEED_RATIO)
        return figures->ratio->value.value;
    for (uint32_t i = 0; i < figures->engine_count; i++) {
        const struct engine_total *t = &figures->engines[i];
        if (!t->subject)
            continue;
        judged += t->judged;
        exact += t->exact;
        truth += t->truth_frames;
        own += t->own_frames;
        right += t->right_frames;
    }
    if (metric == METRIC_EXACT && judged > 0)
        return (double)exact / (double)judged;
    if (metric == METRIC_F1 && truth + own > 0)
        return 2 * (double)right / (double)(truth + own);
    return (double)NAN;
}

uint64_t figures_metric_count(const struct run_figures *figures, enum metric metric)
{
    uint64_t count = 0;
    if (metric == METRIC_CAPTURE_RATE)
        return figures->captures_expected;
    for (uint32_t i = 0; i < figures->engine_count; i++)
        if (figures->engines[i].subject)
            count +=
                metric == METRIC_F1 ? figures->engines[i].truth_frames : figures->engines[i].judged;
    return count;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_cell(struct json *j, const char *key, const struct headline_cell *cell)
{
    json_key_object(j, key);
    json_key_string(j, "state",
                    cell->state == HEADLINE_MEASURED && measurement_is_few(&cell->measured)
                        ? "too few"
                        : headline_state_name(cell->state));
    measurement_write_json(j, &cell->measured);
    json_object_end(j);
}

static void write_row(struct json *j, const struct headline_row *row)
{
    json_object(j);
    json_key_string(j, "key", row->key);
    json_key_string(j, "name", row->name);
    json_key_string(j, "group", headline_group_name(row->group));
    json_key_string(j, "unit", row->bytes ? "bytes" : "ns");
    json_key_bool(j, "part", row->part);
    json_key_number(j, "ratio",
                    row->cells[WAY_DUMP].measured.value / row->cells[WAY_OFFSET].measured.value);
    json_key_object(j, "cells");
    for (int way = 0; way < WAY_COUNT; way++)
        write_cell(j, case_way_name((enum case_way)way), &row->cells[way]);
    json_object_end(j);
    json_object_end(j);
}

static void write_headline(struct json *j, const struct run_figures *figures)
{
    const struct headline *h = figures->headline;
    json_object(j);
    json_key_uint(j, "cases", h->cases);
    json_key_string(j, "foreign_engine", figures_foreign_engine(figures));
    json_key_number(j, "foreign_ms", back_end_ms(h, WAY_FOREIGN));
    json_key_number(j, "dump_ms", back_end_ms(h, WAY_DUMP));
    json_key_number(j, "offset_ms", back_end_ms(h, WAY_OFFSET));
    json_key_string(j, "foreign", h->foreign);
    json_key_string(j, "dominates", h->dominates);
    json_key_string(j, "scope", h->scope);
    json_key_string(j, "counts", h->counts);
    json_key_array(j, "columns");
    for (int way = 0; way < WAY_COUNT; way++) {
        json_object(j);
        json_key_string(j, "key", case_way_name((enum case_way)way));
        json_key_string(j, "name", h->columns[way]);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_array(j, "rows");
    for (int r = 0; r < HEADLINE_ROWS; r++)
        write_row(j, &h->rows[r]);
    json_array_end(j);
    json_object_end(j);
}

void headline_write_members(struct json *j, const struct run_figures *figures)
{
    json_key(j, "headline");
    write_headline(j, figures);
    json_key(j, "speed");
    speed_write_json(j, figures->speed);
    json_key(j, "speed_ratio");
    ratio_write_json(j, figures->ratio);
}
