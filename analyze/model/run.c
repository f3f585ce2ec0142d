/* A run's words, its sums, and the documented JSON of runs and cases: see run.h. */
#include "model/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/managed_samples.h"
#include "model/names.h"

static const char *const state_names[RUN_STATE_COUNT] = {"running", "complete", "interrupted"};

static const char *const artifact_names[ARTIFACT_ROLE_COUNT] = {
    [ARTIFACT_CASE] = "case",
    [ARTIFACT_TRUTH] = "truth",
    [ARTIFACT_RECORD] = "record",
    [ARTIFACT_SOURCE] = "source",
    [ARTIFACT_SOURCE_LINK] = "source_link",
};

const char *artifact_role_name(enum artifact_role role)
{
    return artifact_names[role];
}

enum artifact_role artifact_role_parse(const char *text)
{
    const int found = name_index(artifact_names, ARTIFACT_ROLE_COUNT, text);
    return found < 0 ? ARTIFACT_NONE : (enum artifact_role)found;
}

bool run_has_run_label(const struct run_info *run)
{
    return run->label != NULL && strcmp(run->label, RUN_LABEL_RUN) == 0;
}

bool run_is_of_reporter(const struct run_info *run)
{
    return run->label != NULL &&
           strncmp(run->label, RUN_LABEL_REPORTER, sizeof RUN_LABEL_REPORTER - 1) == 0;
}

const char *run_state_name(enum run_state state)
{
    return state_names[state];
}

bool run_state_parse(const char *name, enum run_state *out)
{
    const int found = name_index(state_names, RUN_STATE_COUNT, name);
    if (found >= 0)
        *out = (enum run_state)found;
    return found >= 0;
}

bool run_verdict_fails(enum verdict verdict)
{
#define VERDICT_FAILS(NAME, WORD, FAILS, CAPTURES) FAILS,
    static const bool fails[VERDICT_COUNT] = {VERDICTS(VERDICT_FAILS)};
    return fails[verdict];
}

bool run_case_is_to_capture(const struct run_case *c)
{
#define VERDICT_CAPTURES(NAME, WORD, FAILS, CAPTURES) CAPTURES,
    static const bool captures[VERDICT_COUNT] = {VERDICTS(VERDICT_CAPTURES)};
    return captures[c->result.verdict] && c->kind != CASE_KIND_CALM;
}

bool run_case_is_captured(const struct run_case *c)
{
    return c->timing.record_bytes > 0 || c->timing.dump_bytes > 0;
}

/* A copy that outlives the case; NULL in, NULL out. */
static const char *copy_of(struct text_pool *texts, const char *text)
{
    return text != NULL ? text_pool_add(texts, text, strlen(text)) : NULL;
}

/* NEAR: where it mostly is, since cases mostly have the same engines in the same order. */
static struct engine_total *total_of(struct engine_totals *totals, const struct engine_score *score,
                                     uint32_t near)
{
    if (near < totals->count && strcmp(totals->rows[near].engine, score->engine) == 0)
        return &totals->rows[near];
    for (uint32_t i = 0; i < totals->count; i++)
        if (strcmp(totals->rows[i].engine, score->engine) == 0)
            return &totals->rows[i];
    if (totals->count == CLAIMS_MAX)
        return NULL;
    struct engine_total *t = &totals->rows[totals->count];
    t->engine = copy_of(&totals->texts, score->engine);
    t->kind = score->kind;
    t->subject = score->subject;
    totals->count += t->engine != NULL;
    return t->engine != NULL ? t : NULL;
}

/* NOLINTBEGIN(bugprone-macro-parentheses) names of members */
#define ADD_NONE(NAME)
#define ADD_COUNT(NAME) t->NAME += s->NAME;
#define ADD_FRAMES(NAME) t->NAME += s->NAME;
#define ADD_JUDGED(NAME) t->NAME += s->judged && s->NAME;
#define ADD_FIELD(KIND, NAME, SUM) ADD_##SUM(NAME)
/* NOLINTEND(bugprone-macro-parentheses) */

static void total_add(struct engine_total *t, const struct engine_score *s, struct text_pool *texts)
{
    t->cases++;
    t->stacks += s->state == STACK_OK && s->frames > 0;
    t->skipped += s->state == STACK_SKIPPED;
    ENGINE_SCORE_FIELDS(ADD_FIELD)
    if (t->skip_reason == NULL && s->state != STACK_OK)
        t->skip_reason = copy_of(texts, s->reason);
}

/* What the cases of a run stated as the version of one engine. */
struct engine_versions {
    const char *first, *second; /* in order; NULL */
    bool more, unnamed;         /* UNNAMED: a dump with frames stated none */
};

/* True when it changes anything. */
static bool add_version(struct engine_versions *v, const char *version, struct text_pool *texts)
{
    if (version == NULL || v->more || text_equal(v->first, version) ||
        text_equal(v->second, version))
        return false;
    const char *copy = copy_of(texts, version);
    if (v->first == NULL) {
        v->first = copy;
    } else if (v->second != NULL) {
        v->more = true;
    } else {
        const bool is_after = copy != NULL && strcmp(copy, v->first) > 0;
        v->second = is_after ? copy : v->first;
        v->first = is_after ? v->first : copy;
    }
    return true;
}

/* As SUM_ENGINES of the store writes it; in ALL. */
static const char *versions_text(const struct engine_versions *v, char *all, size_t room)
{
    const char *other = v->second;
    if (other == NULL && v->unnamed)
        other = ENGINE_VERSIONS_UNNAMED;
    if (v->first == NULL || other == NULL)
        return v->first;
    const int bytes = snprintf(all, room, "%s%s%s", v->first, ENGINE_VERSIONS_AND, other);
    return v->more || bytes < 0 || (size_t)bytes >= room ? ENGINE_VERSIONS_SEVERAL : all;
}

static void take_claim(struct engine_totals *totals, struct engine_total *t,
                       const struct engine_score *score, const struct engine_claim *claim)
{
    enum { VERSIONS_BYTES = 1024 };
    struct engine_versions *v = &totals->versions[t - totals->rows];
    const bool unnamed =
        claim->version == NULL && score->frames > 0 && strcmp(claim->engine, ENGINE_NAME_DUMP) == 0;
    char all[VERSIONS_BYTES];
    if (t->shares == NULL)
        t->shares = copy_of(&totals->texts, claim->shares);
    if (add_version(v, claim->version, &totals->texts) || (unnamed && !v->unnamed)) {
        v->unnamed = v->unnamed || unnamed;
        t->version = copy_of(&totals->texts, versions_text(v, all, sizeof all));
    }
}

/* NULL: it has none. */
static const struct engine_claim *claim_of(const struct run_case *c, const char *engine,
                                           uint32_t near)
{
    if (near < c->claim_count && strcmp(c->claims[near].engine, engine) == 0)
        return &c->claims[near];
    for (uint32_t k = 0; k < c->claim_count; k++)
        if (strcmp(c->claims[k].engine, engine) == 0)
            return &c->claims[k];
    return NULL;
}

enum status run_totals_add(struct engine_totals *totals, const struct run_case *c,
                           struct fault *fault)
{
    for (uint32_t s = 0; s < c->result.score_count; s++) {
        const struct engine_score *score = &c->result.scores[s];
        struct engine_total *t = total_of(totals, score, s);
        if (t == NULL)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "engines in one run");
        total_add(t, score, &totals->texts);
        const struct engine_claim *claim = claim_of(c, t->engine, s);
        if (claim != NULL)
            take_claim(totals, t, score, claim);
    }
    return ERR_NONE;
}

enum status run_totals_begin(struct engine_totals *totals, struct arena *keep, struct fault *fault)
{
    text_pool_init(&totals->texts, keep);
    totals->count = 0;
    totals->rows = ARENA_ARRAY(keep, CLAIMS_MAX, struct engine_total);
    totals->versions = ARENA_ARRAY(keep, CLAIMS_MAX, struct engine_versions);
    return totals->rows != NULL && totals->versions != NULL
               ? ERR_NONE
               : fault_no_memory(fault, "totals of a run");
}

enum status run_total_engines(const struct run_case *cases, uint32_t count, struct arena *keep,
                              struct engine_total **out, uint32_t *out_count, struct fault *fault)
{
    struct engine_totals totals;
    (void)run_totals_begin(&totals, keep, fault);
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++)
        (void)run_totals_add(&totals, &cases[i], fault);
    *out = totals.rows;
    *out_count = totals.count;
    return fault->code;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_versions(struct json *j, const char *key, const struct named_version *rows,
                           uint32_t count)
{
    json_key_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        json_object(j);
        json_key_string(j, "name", rows[i].name);
        json_key_string(j, "version", rows[i].version);
        json_object_end(j);
    }
    json_array_end(j);
}

static int by_repeat_and_name(const void *a, const void *b)
{
    const struct run_case *x = a, *y = b;
    if (x->repeat != y->repeat)
        return x->repeat < y->repeat ? -1 : 1;
    const int order = strcmp(x->scenario, y->scenario);
    return order != 0 ? order : strcmp(x->variant, y->variant);
}

void run_cases_sort(struct run_case *cases, uint32_t count)
{
    qsort(cases, count, sizeof *cases, by_repeat_and_name);
}

/* -1: not known yet. The same for run_left_ms(). */
static double run_cases_per_minute(const struct run_pace *pace, uint32_t judged)
{
    if (judged <= pace->had || pace->at_ns <= pace->since_ns)
        return -1;
    return (judged - pace->had) * 60e9 / (double)(pace->at_ns - pace->since_ns);
}

static int64_t run_left_ms(const struct run_pace *pace, uint32_t judged)
{
    const double rate = run_cases_per_minute(pace, judged);
    if (rate < 0 || judged > pace->total)
        return -1;
    return (int64_t)((pace->total - judged) * 60e3 / rate);
}

static uint32_t failing_count(const struct run_info *run)
{
    uint32_t count = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        count += run_verdict_fails((enum verdict)v) ? run->verdicts[v] : 0;
    return count;
}

/* null for a complete run, and for one whose total is not known. */
static void write_progress(struct json *j, const struct run_info *run)
{
    const double rate = run_cases_per_minute(&run->pace, run->case_count);
    const int64_t left_ms = run_left_ms(&run->pace, run->case_count);

    json_key(j, "progress");
    if (run->state == RUN_COMPLETE || run->pace.total == 0) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_uint(j, "total", run->pace.total);
    json_key_uint(j, "captured", run->pace.captured);
    json_key_uint(j, "judged", run->case_count);
    json_key_uint(j, "failing", failing_count(run));
    json_key_uint(j, "since_ns", run->pace.since_ns);
    json_key_uint(j, "at_ns", run->pace.at_ns);
    json_key(j, "cases_per_minute");
    rate < 0 ? json_null(j) : json_number(j, rate);
    json_key(j, "left_ms");
    left_ms < 0 || run->state != RUN_RUNNING ? json_null(j) : json_int(j, left_ms);
    json_object_end(j);
}

void run_info_write_json(struct json *j, const struct run_info *run)
{
    json_object(j);
    json_key_uint(j, "id", run->id);
    json_key_string(j, "uuid", run->uuid);
    json_key_string(j, "state", run_state_name(run->state));
    json_key_string(j, "label", run->label);
    json_key_uint(j, "started_ns", run->started_ns);
    json_key_uint_known(j, "finished_ns", run->finished_ns);
    json_key_string(j, "commit", run->commit);
    json_key_string(j, "branch", run->branch);
    json_key_string(j, "platform", run->platform);
    json_key_string(j, "compiler", run->compiler);
    json_key_string(j, "flags", run->flags);
    json_key_string(j, "cpu", run->cpu);
    json_key_string(j, "command", run->command);
    write_versions(j, "tools", run->tools, run->tool_count);
    write_versions(j, "environment", run->environment, run->environment_count);
    json_key(j, "managed_stacks");
    managed_phases_write_json(j, run);
    json_key_uint(j, "case_count", run->case_count);
    json_key_object(j, "verdicts");
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_key_uint(j, verdict_name((enum verdict)v), run->verdicts[v]);
    json_object_end(j);
    write_progress(j, run);
    json_object_end(j);
}

void finding_write_json(struct json *j, const struct finding *f)
{
    char blame[BLAME_TEXT_BYTES];
    json_object(j);
    json_key_string(j, "level", finding_level_name(f->level));
    json_key_string(j, "cause", cause_name(f->cause));
    json_key_string(j, "engine", f->engine);
    json_key_string(j, "against", f->against);
    json_key_string(j, "wrong", f->wrong);
    json_key_uint(j, "thread_id", f->thread_id);
    json_key_uint(j, "row", f->row);
    json_key_uint_if(j, "frame_a", (uint64_t)f->frame_a, f->frame_a >= 0);
    json_key_uint_if(j, "frame_b", (uint64_t)f->frame_b, f->frame_b >= 0);
    json_key_bool(j, "fails", f->fails);
    json_key_string(j, "evidence", f->evidence);
    json_key_string(j, "module", f->module);
    json_key_string(j, "function", f->function);
    json_key_string(j, "blame", f->blame != BLAME_UNKNOWN ? finding_blame_text(f, blame) : NULL);
    json_key_array(j, "witnesses");
    for (const char *at = f->witnesses; at != NULL && *at != '\0';) {
        const char *end = strstr(at, ", ");
        char name[BLAME_TEXT_BYTES];
        (void)snprintf(name, sizeof name, "%.*s", end != NULL ? (int)(end - at) : (int)strlen(at),
                       at);
        json_string(j, name);
        at = end != NULL ? end + 2 : NULL;
    }
    json_array_end(j);
    json_object_end(j);
}

/* NOLINTBEGIN(bugprone-macro-parentheses) names of members */
#define JSON_BOOL(NAME) json_key_bool(j, #NAME, s->NAME);
#define JSON_U32(NAME) json_key_uint(j, #NAME, s->NAME);
#define JSON_U64(NAME) json_key_uint(j, #NAME, s->NAME);
#define JSON_ROW(NAME) json_key_uint_if(j, #NAME, (uint64_t)s->NAME, s->NAME >= 0);
#define FIELD_JSON(KIND, NAME, SUM) JSON_##KIND(NAME)
#define JSON_SUM_NONE(NAME)
#define JSON_SUM_COUNT(NAME) json_key_uint(j, #NAME, t->NAME);
#define JSON_SUM_JUDGED(NAME) json_key_uint(j, #NAME, t->NAME);
#define JSON_SUM_FRAMES(NAME) json_key_uint(j, #NAME, t->NAME);
#define FIELD_JSON_SUM(KIND, NAME, SUM) JSON_SUM_##SUM(NAME)
/* NOLINTEND(bugprone-macro-parentheses) */

void engine_total_write_sums(struct json *j, const struct engine_total *t)
{
    ENGINE_SCORE_FIELDS(FIELD_JSON_SUM)
}

void engine_score_write_json(struct json *j, const struct engine_score *s)
{
    json_object(j);
    json_key_string(j, "engine", s->engine);
    json_key_string(j, "kind", engine_kind_name(s->kind));
    json_key_bool(j, "subject", s->subject);
    json_key_string(j, "state", stack_state_name(s->state));
    json_key_string(j, "reason", s->reason);
    ENGINE_SCORE_FIELDS(FIELD_JSON)
    json_object_end(j);
}

static void write_cost(struct json *j, const struct engine_cost *c)
{
    json_object(j);
    json_key_uint(j, "open_ns", c->open_ns);
    json_key_uint(j, "load_ns", c->load_ns);
    json_key_uint(j, "unwind_ns", c->unwind_ns);
    json_key_uint(j, "resolve_ns", c->resolve_ns);
    json_key_uint(j, "total_ns", c->total_ns);
    json_key_uint(j, "cold_ns", c->cold_ns);
    json_key_uint(j, "peak_bytes", c->peak_bytes);
    json_object_end(j);
}

static void write_claims(struct json *j, const struct run_case *c)
{
    json_key_array(j, "engines");
    for (uint32_t i = 0; i < c->claim_count; i++) {
        const struct engine_claim *claim = &c->claims[i];
        json_object(j);
        json_key_string(j, "engine", claim->engine);
        json_key_string(j, "kind", engine_kind_name(claim->kind));
        json_key_string(j, "shares", claim->shares);
        json_key_string(j, "version", claim->version);
        json_key_bool(j, "subject", claim->subject);
        json_key_bool(j, "skipped", claim->skipped);
        json_key_string(j, "why", claim->why);
        json_key(j, "cost");
        write_cost(j, &claim->cost);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_timing(struct json *j, const struct case_timing *s)
{
    json_key_object(j, "timing");
    CASE_TIMING_FIELDS(FIELD_JSON)
    json_object_end(j);
}

void run_case_write_json(struct json *j, const struct run_case *c)
{
    char hooks[HOOKS_TEXT_BYTES];
    json_object(j);
    json_key_uint(j, "id", c->id);
    json_key_string(j, "scenario", c->scenario);
    json_key_string(j, "variant", c->variant);
    json_key_string(j, "arch", cpu_name(c->arch));
    json_key_string(j, "kind", case_kind_name(c->kind));
    json_key_uint(j, "repeat", c->repeat);
    json_key_string(j, "verdict", verdict_name(c->result.verdict));
    json_key_string(j, "reason", c->result.reason);
    json_key_string(j, "right", c->result.right);
    json_key_string(j, "signature", c->result.signature);
    json_key_string(j, "known_id", c->known_id);
    json_key_string(j, "case_sha256", c->case_sha256);
    json_key_string(j, "expected_doors", hooks_text(c->expected_hooks, hooks));
    json_key_string(j, "got_doors", hooks_text(c->got_hooks, hooks));
    json_key_hex(j, "expected_code", c->expected_code);
    json_key_hex(j, "got_code", c->got_code);
    json_key_hex(j, "expected_exit_code", c->expected_exit_code);
    json_key_hex(j, "got_exit_code", c->got_exit_code);
    json_key_uint(j, "wall_ms", c->wall_ms);
    write_timing(j, &c->timing);
    json_key(j, "ways");
    way_costs_write_json(j, c->ways);
    json_key_array(j, "scores");
    for (uint32_t i = 0; i < c->result.score_count; i++)
        engine_score_write_json(j, &c->result.scores[i]);
    json_array_end(j);
    json_key_array(j, "findings");
    for (uint32_t i = 0; i < c->result.finding_count; i++)
        finding_write_json(j, &c->result.findings[i]);
    json_array_end(j);
    write_claims(j, c);
    json_object_end(j);
}
