/* See failures.h. */
#include "study/failures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"
#include "study/failures_words.h"

/* ---- one case after the other ------------------------------------------------------------- */

void failures_begin(struct failure_count *count, struct arena *keep, struct failures *out)
{
    *out = (struct failures){.rows = NULL};
    *count = (struct failure_count){.out = out, .keep = keep};
    text_pool_init(&count->texts, keep);
}

static const char *pooled(struct failure_count *count, const char *text)
{
    return text != NULL ? text_pool_add(&count->texts, text, strlen(text)) : NULL;
}

static const char *copy_text(void *context, const char *text)
{
    return pooled(context, text);
}

static const struct diff_case *copy_of(struct failure_count *count, const struct diff_case *c)
{
    struct diff_case *copy = ARENA_NEW(count->keep, struct diff_case);
    struct finding *f = c->finding != NULL ? ARENA_NEW(count->keep, struct finding) : NULL;
    if (copy == NULL || (c->finding != NULL && f == NULL))
        return NULL;
    *copy = *c;
    copy->scenario = pooled(count, c->scenario);
    copy->variant = pooled(count, c->variant);
    copy->reason = pooled(count, c->reason);
    copy->signature = pooled(count, c->signature);
    copy->folder = pooled(count, c->folder);
    copy->finding = f;
    if (f != NULL)
        *f = finding_copy(c->finding, copy_text, count);
    return copy;
}

static bool is_smaller(const struct diff_case *a, const struct diff_case *b)
{
    const int name = strcmp(a->scenario, b->scenario);
    if (a->frames != b->frames)
        return a->frames < b->frames;
    return name != 0 ? name < 0 : strcmp(a->variant, b->variant) < 0;
}

static void count_blame(struct failure *group, const char *blame, uint32_t cases)
{
    uint32_t at = 0;
    while (at < group->blame_count && strcmp(group->blames[at].text, blame) != 0)
        at++;
    if (at == FAILURE_BLAMES)
        return;
    if (at == group->blame_count)
        group->blames[group->blame_count++] = (struct failure_blame){blame, 0};
    group->blames[at].cases += cases;
    for (; at > 0 && group->blames[at].cases > group->blames[at - 1].cases; at--) {
        const struct failure_blame more = group->blames[at];
        group->blames[at] = group->blames[at - 1];
        group->blames[at - 1] = more;
    }
}

static void add_blame(struct failure_count *count, struct failure *group, const struct finding *f)
{
    char text[BLAME_TEXT_BYTES];
    const char *blame = pooled(count, f != NULL ? finding_fault_text(f, text) : "");
    if (text_or_empty(blame)[0] == '\0')
        group->unblamed++;
    else
        count_blame(group, blame, 1);
}

/* How one of C's findings shows, and what it is a case of. */
struct showing {
    const struct diff_case *c; /* with that finding */
    const char *sentence, *mechanism, *place;
    const char *module; /* PLACE with the name of its build */
    bool second;
};

/* S in place of the example in *EXAMPLE, if it is a better one. False: no memory. */
static bool take_example(struct failure_count *count, const struct showing *s,
                         const struct diff_case **example, bool *second)
{
    if (*example != NULL && (*second == s->second ? !is_smaller(s->c, *example) : s->second))
        return true;
    *example = copy_of(count, s->c);
    *second = s->second;
    return *example != NULL;
}

static uint32_t new_group(struct failure_count *count, const char *key, const struct showing *s)
{
    struct failures *out = count->out;
    if (!ARENA_ROOM(count->keep, out->rows, count->room, (uint64_t)out->count + 1))
        return UINT32_MAX;
    struct failure *group = &out->rows[out->count];
    *group = (struct failure){.verdict = s->c->verdict};
    memcpy(group->key, key, sizeof group->key);
    return out->count++;
}

static bool new_form(struct failure_count *count, struct failure *group, const struct showing *s,
                     struct arena *scratch)
{
    const struct finding *f = s->c->finding;
    group->forms[group->form_count++] = (struct failure_form){
        .sentence = pooled(count, s->sentence),
        .cause = f != NULL ? cause_name(f->cause) : verdict_name(s->c->verdict),
        .place = pooled(count, s->place),
        .module = pooled(count, s->module),
        .named = pooled(count, failure_sentence(s->c, s->module, scratch))};
    const struct failure_form *made = &group->forms[group->form_count - 1];
    return made->sentence != NULL && made->named != NULL;
}

static bool add_form(struct failure_count *count, struct failure *group, const struct showing *s,
                     struct arena *scratch)
{
    uint32_t at = 0;
    while (at < group->form_count && strcmp(group->forms[at].sentence, s->sentence) != 0)
        at++;
    if (at == FAILURE_FORMS)
        return true;
    if (at == group->form_count && !new_form(count, group, s, scratch))
        return false;
    struct failure_form *form = &group->forms[at];
    form->cases++;
    form->several = form->several || !text_equal(form->module, s->module);
    return take_example(count, s, &form->example, &form->second);
}

static uint32_t add_showing(struct failure_count *count, const struct showing *s,
                            struct arena *scratch)
{
    struct failures *out = count->out;
    char key[FAILURE_KEY_BYTES];
    uint32_t at = 0;
    const uint64_t hash =
        hash_text(hash_text(HASH_START, verdict_name(s->c->verdict)), s->mechanism);
    (void)snprintf(key, sizeof key, "%016" PRIx64, hash);
    while (at < out->count && memcmp(out->rows[at].key, key, sizeof key) != 0)
        at++;
    if (at == out->count && new_group(count, key, s) == UINT32_MAX)
        return UINT32_MAX;
    struct failure *group = &out->rows[at];
    group->cases++;
    add_blame(count, group, s->c->finding);
    return take_example(count, s, &group->example, &group->second) &&
                   add_form(count, group, s, scratch)
               ? at
               : UINT32_MAX;
}

/* C as its second finding alone would make it. */
static struct diff_case second_of(const struct diff_case *c)
{
    struct diff_case out = *c;
    out.finding = c->second;
    out.reason = c->second->evidence;
    return out;
}

/* Two groups, by number, and the cases that are in both. */
struct failure_pair {
    uint32_t numbers[FAILURES_OF_CASE], cases;
};

static bool add_pair(struct failure_count *count, const uint32_t numbers[FAILURES_OF_CASE])
{
    uint32_t at = 0;
    while (at < count->pair_count &&
           (count->pairs[at].numbers[0] != numbers[0] || count->pairs[at].numbers[1] != numbers[1]))
        at++;
    if (!ARENA_ROOM(count->keep, count->pairs, count->pair_room, (uint64_t)at + 1))
        return false;
    if (at == count->pair_count)
        count->pairs[count->pair_count++] = (struct failure_pair){{numbers[0], numbers[1]}, 0};
    count->pairs[at].cases++;
    return true;
}

bool failures_add(struct failure_count *count, const struct diff_case *c,
                  uint32_t numbers[FAILURES_OF_CASE])
{
    const struct diff_case second = c->second != NULL ? second_of(c) : *c;
    const struct diff_case *const as[FAILURES_OF_CASE] = {c, &second};
    bool added = true;
    for (uint32_t i = 0; i < FAILURES_OF_CASE; i++) {
        struct arena scratch;
        numbers[i] = UINT32_MAX;
        if (i > 0 && c->second == NULL)
            break;
        arena_init(&scratch, 0);
        const struct finding *f = as[i]->finding;
        struct showing s = {.c = as[i], .second = i > 0};
        const char *module = f != NULL ? failure_module(f) : NULL;
        s.place = failure_place(module, c->variant, &scratch);
        s.module = failure_place(module, "", &scratch);
        s.sentence = failure_sentence(as[i], s.place, &scratch);
        s.mechanism = s.sentence;
        if (s.sentence != NULL && failure_is_by_finding(as[i]))
            s.mechanism = failure_mechanism(f, s.sentence, s.place, &scratch);
        if (s.sentence != NULL && s.mechanism != NULL)
            numbers[i] = add_showing(count, &s, &scratch);
        added = added && numbers[i] != UINT32_MAX;
        arena_free(&scratch);
    }
    count->out->cases++;
    return added && (numbers[1] == UINT32_MAX || add_pair(count, numbers));
}

/* ---- all cases ---------------------------------------------------------------------------- */

static const struct failure_form *main_form(const struct failure *group)
{
    const struct failure_form *most = &group->forms[0];
    for (uint32_t i = 1; i < group->form_count; i++)
        if (group->forms[i].cases > most->cases ||
            (group->forms[i].cases == most->cases &&
             strcmp(group->forms[i].sentence, most->sentence) < 0))
            most = &group->forms[i];
    return most;
}

static void name_group(struct failure_count *count, struct failure *group)
{
    const struct failure_form *most = main_form(group);
    const uint32_t rest = group->cases > most->cases ? group->cases - most->cases : 0;
    group->cause = most->cause;
    group->place = most->several ? most->place : most->module;
    group->example = most->example;
    group->second = most->second;
    group->sentence = most->several ? most->sentence : most->named;
    if (group->example->finding != NULL)
        group->file = failure_file(group->example->finding, count->keep);
    if (rest > 0)
        group->sentence = arena_printf(count->keep,
                                       "%s; %" PRIu32 " of %" PRIu32 " cases show this, %" PRIu32
                                       " %s of the same fault",
                                       group->sentence, most->cases, group->cases, rest,
                                       rest == 1 ? "another effect" : "other effects");
}

/* A few cases without a sure blame are put down to a fault of the same engine that so many times as
 * many show. */
enum { FOLLOWS_RATIO = 10 };

/* What one fault does to a walk differs from case to case: by itself, no such cause is a fault. */
static bool is_consequence(enum cause cause)
{
    return cause == CAUSE_NONE || cause == CAUSE_UNEXPLAINED || cause == CAUSE_TRUNCATED ||
           cause == CAUSE_GENERATED_CODE || cause == CAUSE_NO_TOKEN ||
           cause == CAUSE_MODULE_UNLOADED || cause == CAUSE_FRAME_POINTER;
}

static bool is_wrong_step(const struct failure *group)
{
    return group->example->finding != NULL && group->example->finding->cause == CAUSE_WRONG_STEP &&
           !failure_is_of_input(group->example->finding);
}

/* The walk of GROUP's example parts from the others by the code of the wrong step OTHER, too. */
static bool leaves_by_code_of(const struct failure *group, const struct failure *other)
{
    const char *own = group->example->finding->facts.left_by;
    const char *code =
        other->example->finding != NULL ? other->example->finding->facts.left_by : NULL;
    if (own == NULL || code == NULL)
        return false;
    const size_t bytes = strcspn(code, ",");
    for (const char *at = own; *at != '\0';) {
        const size_t size = strcspn(at, ",");
        if (size == bytes && strncmp(at, code, bytes) == 0)
            return true;
        at += size + strspn(at + size, ", ");
    }
    return false;
}

/* No side is known to be wrong. */
static bool is_unblamed(const struct failure *group)
{
    const char *blame = group->blame_count > 0 ? group->blames[0].text : "none";
    return strncmp(blame, "none", strlen("none")) == 0 || strcmp(blame, "truth suspect") == 0;
}

/* The side of OTHER is a part of the engine whose stack GROUP is about, or of both. */
static bool is_side_of(const struct failure *other, const struct failure *group)
{
    const char *engine = group->example->finding->engine, *blame = other->blames[0].text;
    if (strncmp(blame, "symbols of both ways", strlen("symbols of both ways")) == 0)
        return engine_kind_of(engine) == ENGINE_KIND_DUMP ||
               engine_kind_of(engine) == ENGINE_KIND_OFFSET;
    if (engine_kind_of(engine) == ENGINE_KIND_DUMP)
        return strcmp(blame, "walk of dump") == 0 || strcmp(blame, "dump reader") == 0;
    return engine_kind_of(engine) == ENGINE_KIND_OFFSET && strcmp(blame, "record") == 0;
}

static bool shows_as(const struct failure *other, const char *sentence)
{
    for (uint32_t i = 0; i < other->form_count; i++)
        if (strcmp(other->forms[i].sentence, sentence) == 0)
            return true;
    return false;
}

/* GROUP, whose cause is none that a fault has, is what OTHER does to some more cases: a walk goes
 * wrong in what it is given, too. */
static bool follows_from(const struct failure *group, const struct failure *other)
{
    const bool of_walk =
        !is_unblamed(group) && strncmp(group->blames[0].text, "walk of ", strlen("walk of ")) == 0;
    if ((is_unblamed(group) || of_walk) && other->cases >= FOLLOWS_RATIO * group->cases &&
        is_side_of(other, group))
        return true;
    return is_unblamed(group)
               ? shows_as(other, group->forms[0].sentence)
               : is_wrong_step(other) && strcmp(other->blames[0].text, group->blames[0].text) == 0;
}

/* The lines of one module are wrong as those of another one, which so many more cases show: it is
 * the reader of lines, not the module. */
static bool are_more_lines(const struct failure *group, const struct failure *other)
{
    return other->example->finding != NULL && failure_is_of_lines(other->example->finding) &&
           other->cases >= FOLLOWS_RATIO * group->cases;
}

/* What GROUP only follows from: a larger wrong step by a code that its walk undoes, too; or what
 * follows_from(). NULL: it is a problem of its own. */
static struct failure *source_of(const struct failures *all, const struct failure *group)
{
    const struct finding *f = group->example->finding;
    struct failure *found = NULL;
    if (f == NULL || !failure_is_by_finding(group->example))
        return NULL;
    const bool absent = f->frame_a < 0 && f->frame_b < 0;
    const bool consequence =
        !absent && !is_wrong_step(group) && (is_unblamed(group) || is_consequence(f->cause));
    const bool of_lines = failure_is_of_lines(f);
    for (uint32_t i = 0; i < all->count; i++) {
        struct failure *other = &all->rows[i];
        if (other == group || other->verdict != group->verdict || is_unblamed(other) ||
            other->cases < group->cases)
            continue;
        const bool same =
            (is_wrong_step(other) && leaves_by_code_of(group, other)) ||
            (of_lines ? are_more_lines(group, other) : consequence && follows_from(group, other));
        if (same && (found == NULL || other->cases > found->cases))
            found = other;
    }
    return found;
}

static void merge(struct failure *into, const struct failure *group)
{
    for (uint32_t i = 0; i < group->blame_count; i++)
        count_blame(into, group->blames[i].text, group->blames[i].cases);
    into->unblamed += group->unblamed;
    into->cases += group->cases;
}

static int by_cases(const void *x, const void *y)
{
    const struct failure *a = x, *b = y;
    if (a->cases != b->cases)
        return a->cases > b->cases ? -1 : 1;
    return is_smaller(a->example, b->example) ? -1 : is_smaller(b->example, a->example);
}

/* (*INTO)[number]: the key of the group that the group has become part of. */
static void merge_consequences(struct failures *out, char (*into)[FAILURE_KEY_BYTES])
{
    for (uint32_t i = 0; i < out->count; i++)
        memcpy(into[i], out->rows[i].key, sizeof *into);
    for (uint32_t i = 0; i < out->count; i++) {
        struct failure *source = source_of(out, &out->rows[i]);
        if (source == NULL)
            continue;
        merge(source, &out->rows[i]);
        memcpy(into[i], source->key, sizeof *into);
        out->rows[i].cases = 0;
    }
}

/* FOUND: where each group is in `rows`. */
static void count_shared(struct failure_count *count, const uint32_t *found)
{
    struct failures *out = count->out;
    for (uint32_t i = 0; i < count->pair_count; i++) {
        const struct failure_pair *pair = &count->pairs[i];
        const uint32_t a = found[pair->numbers[0]], b = found[pair->numbers[1]];
        if (a == b)
            continue;
        out->rows[a].shared += pair->cases;
        out->rows[b].shared += pair->cases;
        out->shared += pair->cases;
    }
}

enum status failures_end(struct failure_count *count, uint32_t **places, struct fault *fault)
{
    struct failures *out = count->out;
    const uint32_t numbers = out->count;
    const size_t room = (size_t)numbers + 1;
    char(*keys)[FAILURE_KEY_BYTES] = arena_array(count->keep, room, sizeof *keys);
    uint32_t *found = ARENA_ARRAY(count->keep, room, uint32_t);
    if (keys == NULL || found == NULL)
        return fault_no_memory(fault, "groups of cases");
    merge_consequences(out, keys);
    array_sort(out->rows, out->count, sizeof *out->rows, by_cases);
    while (out->count > 0 && out->rows[out->count - 1].cases == 0)
        out->count--;
    for (uint32_t i = 0; i < out->count; i++) {
        name_group(count, &out->rows[i]);
        if (out->rows[i].sentence == NULL)
            return fault_no_memory(fault, "groups of cases");
    }
    for (uint32_t i = 0; i < numbers; i++)
        for (uint32_t k = 0; k < out->count; k++)
            if (memcmp(keys[i], out->rows[k].key, sizeof *keys) == 0)
                found[i] = k;
    count_shared(count, found);
    if (places != NULL)
        *places = found;
    return ERR_NONE;
}

struct diff_case failures_case(const struct run_case *c)
{
    const struct finding *findings[FINDINGS_DECIDING];
    findings_deciding(c->result.findings, c->result.finding_count, c->result.reason, findings);
    struct diff_case out = {
        .scenario = c->scenario,
        .variant = c->variant,
        .reason = c->result.reason,
        .signature = c->result.signature,
        .folder = c->folder,
        .finding = findings[0],
        .second = findings[1],
        .kind = c->kind,
        .verdict = c->result.verdict,
        .repeat = c->repeat,
    };
    for (uint32_t i = 0; i < c->result.score_count; i++)
        if (c->result.scores[i].subject && c->result.scores[i].frames > out.frames)
            out.frames = c->result.scores[i].frames;
    return out;
}

/* Row AT of the blames; after those that are listed comes what is left of the cases. False: there
 * is no such row. */
static bool blame_row(const struct failure *failure, uint32_t at, struct failure_blame *out)
{
    uint32_t left = failure->cases;
    if (at < failure->blame_count) {
        *out = failure->blames[at];
        return true;
    }
    for (uint32_t i = 0; i < failure->blame_count; i++)
        left -= failure->blames[i].cases;
    *out = (struct failure_blame){left == failure->unblamed ? "not known" : "others or not known",
                                  left};
    return at > 0 && at == failure->blame_count && left > 0;
}

const char *failure_blames_text(const struct failure *failure, struct arena *keep)
{
    const char *text = "";
    struct failure_blame row;
    for (uint32_t i = 0; text != NULL && blame_row(failure, i, &row); i++)
        text = arena_printf(keep, "%s%s%s (%" PRIu32 ")", text, i > 0 ? ", " : "", row.text,
                            row.cases);
    return text;
}

const char *failures_shared_text(uint32_t count, uint32_t shared, struct arena *keep)
{
    if (shared == 0)
        return "";
    return arena_printf(keep, ", %" PRIu32 " of the cases in %s", shared,
                        count == 2 ? "both" : "two of them");
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void write_place(struct json *j, const char *key, uint64_t run, const char *commit)
{
    json_key(j, key);
    if (run == 0) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_uint(j, "run", run);
    json_key_string(j, "commit", commit);
    json_object_end(j);
}

void failure_write_since(struct json *j, const struct failure *f)
{
    write_place(j, "since", f->since.failing_run, f->since.failing_commit);
    write_place(j, "before", f->since.good_run, f->since.good_commit);
}

void failure_write_members(struct json *j, const struct failure *f)
{
    json_key_uint(j, "cases", f->cases);
    json_key_uint(j, "shared", f->shared);
    json_key_string(j, "cause", f->cause);
    json_key_string(j, "module", f->place);
    json_key_string(j, "key", f->key);
    json_key_string(j, "sentence", f->sentence);
    json_key_string(j, "file", f->file);
    json_key_string(j, "verdict", verdict_name(f->verdict));
    json_key_array(j, "blames");
    struct failure_blame row;
    for (uint32_t i = 0; blame_row(f, i, &row); i++) {
        json_object(j);
        json_key_string(j, "blame", row.text);
        json_key_uint(j, "cases", row.cases);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_object(j, "example");
    json_key_string(j, "scenario", f->example->scenario);
    json_key_string(j, "variant", f->example->variant);
    json_key_uint(j, "repeat", f->example->repeat);
    json_key_string(j, "folder", f->example->folder);
    json_object_end(j);
    json_key_string(j, "reason", f->example->reason);
    failure_write_since(j, f);
}

void failures_write_json(struct json *j, const struct failures *failures, uint32_t most)
{
    json_array(j);
    for (uint32_t i = 0; i < failures->count && (most == 0 || i < most); i++) {
        json_object(j);
        failure_write_members(j, &failures->rows[i]);
        json_key_uint(j, "new", failures->rows[i].fresh);
        json_object_end(j);
    }
    json_array_end(j);
}
