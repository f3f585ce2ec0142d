/* See failures.h. */
#include "study/failures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"

/* ---- words -------------------------------------------------------------------------------- */

/* What a stack does wrong at the first place where it is wrong. */
enum shape { SHAPE_LACKS, SHAPE_EXTRA, SHAPE_ADDRESS, SHAPE_FUNCTION, SHAPE_LINE, SHAPES };

/* After the name of an engine; EITHER: which of two is right is not known. */
static const struct {
    const char *truth, *before, *after, *either; /* BEFORE and AFTER: around the name of another */
} words[SHAPES] = {
    [SHAPE_LACKS] = {"lacks a frame that ran", "lacks a frame that ", " has",
                     "only one has a frame"},
    [SHAPE_EXTRA] = {"has a frame that did not run", "has a frame that ", " has not",
                     "only one has a frame"},
    [SHAPE_ADDRESS] = {"has another address than ran", "has another address than ", "",
                       "their addresses differ"},
    [SHAPE_FUNCTION] = {"names another function than ran", "names another function than ", "",
                        "their functions differ"},
    [SHAPE_LINE] = {"gives another line than ran", "gives another line than ", "",
                    "their lines differ"},
};

static enum shape shape_of(const struct finding *f, bool swapped)
{
    static const enum shape levels[] = {SHAPE_ADDRESS, SHAPE_FUNCTION, SHAPE_LINE};
    if (f->frame_a < 0)
        return swapped ? SHAPE_EXTRA : SHAPE_LACKS;
    if (f->frame_b < 0)
        return swapped ? SHAPE_LACKS : SHAPE_EXTRA;
    return levels[f->level];
}

/* " (truncated)": the cause, where one is known; of a wrong step also the unwind code. */
static const char *cause_text(const struct finding *f, struct arena *keep)
{
    if (f->cause == CAUSE_UNEXPLAINED || f->cause == CAUSE_NONE)
        return "";
    const char *code = f->cause == CAUSE_WRONG_STEP && f->evidence != NULL
                           ? strstr(f->evidence, " leaves by ")
                           : NULL;
    if (code != NULL) {
        code += strlen(" leaves by ");
        return arena_printf(keep, " (wrong step by %.*s)", (int)strcspn(code, ":"), code);
    }
    char *text = arena_printf(keep, " (%s)", cause_name(f->cause));
    for (char *c = text; c != NULL && *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    return text;
}

static const char *sentence_of_finding(const struct finding *f, const char *place,
                                       struct arena *keep)
{
    const char *against = f->against_truth ? NULL : text_or_empty(f->against);
    const bool swapped = against != NULL && text_equal(f->wrong, against);
    const char *engine = swapped ? against : text_or_empty(f->engine);
    const char *other = swapped ? f->engine : against;
    const char *cause = cause_text(f, keep), *in = place != NULL ? ", in " : "";
    const enum shape shape = shape_of(f, swapped);
    if (f->cause == CAUSE_RECORD_WRONG)
        return "the record contradicts itself";
    if (f->frame_a < 0 && f->frame_b < 0)
        return arena_printf(keep, "%s has no stack%s", engine, text_or_empty(cause));
    if (against == NULL)
        return arena_printf(keep, "%s %s%s%s%s", engine, words[shape].truth, in,
                            text_or_empty(place), text_or_empty(cause));
    if (f->wrong == NULL)
        return arena_printf(keep, "%s and %s disagree where the truth is silent: %s%s%s%s", engine,
                            text_or_empty(other), words[shape].either, in, text_or_empty(place),
                            text_or_empty(cause));
    return arena_printf(keep, "%s %s%s%s, where the truth is silent%s%s%s", engine,
                        words[shape].before, text_or_empty(other), words[shape].after, in,
                        text_or_empty(place), text_or_empty(cause));
}

/* MODULE in lower case, without "-ob2" where that is the build: one fault in one program is in one
 * place, however many builds there are. */
static const char *place_of(const char *module, const char *variant, struct arena *keep)
{
    char *out = module != NULL ? arena_string(keep, module) : NULL;
    const size_t bytes = strlen(variant);
    for (char *c = out; c != NULL && *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    for (char *at = out; at != NULL && bytes > 0 && *at != '\0'; at++)
        if ((*at == '-' || *at == '_') && strncmp(at + 1, variant, bytes) == 0 &&
            (at[1 + bytes] == '.' || at[1 + bytes] == '\0')) {
            memmove(at, at + 1 + bytes, strlen(at + 1 + bytes) + 1);
            break;
        }
    return out;
}

static const char *sentence_of(const struct diff_case *c, const char *place, struct arena *keep)
{
    if (c->verdict == VERDICT_XPASS)
        return "right, although accepted as wrong";
    /* Of another program's stack the reason says in words what is wrong, and this is its group. */
    const bool other = c->finding != NULL && c->reason != NULL &&
                       engine_kind_of(c->finding->engine) == ENGINE_KIND_OTHER;
    if (c->finding != NULL && !other && c->verdict != VERDICT_ERROR)
        return sentence_of_finding(c->finding, place, keep);
    return c->reason != NULL ? c->reason : "no reason was stored";
}

/* ---- one case after the other ------------------------------------------------------------- */

void failures_begin(struct failure_count *count, struct arena *keep, struct failures *out)
{
    *out = (struct failures){NULL, 0, 0};
    *count = (struct failure_count){.out = out, .keep = keep};
    text_pool_init(&count->texts, keep);
}

static const char *pooled(struct failure_count *count, const char *text)
{
    return text != NULL ? text_pool_add(&count->texts, text, strlen(text)) : NULL;
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
    if (f != NULL) {
        *f = *c->finding;
        f->engine = pooled(count, f->engine);
        f->against = pooled(count, f->against);
        f->wrong = pooled(count, f->wrong);
        f->evidence = pooled(count, f->evidence);
        f->module = pooled(count, f->module);
        f->function = pooled(count, f->function);
        f->blame_engine = pooled(count, f->blame_engine);
        f->witnesses = pooled(count, f->witnesses);
    }
    return copy;
}

static bool is_smaller(const struct diff_case *a, const struct diff_case *b)
{
    const int name = strcmp(a->scenario, b->scenario);
    if (a->frames != b->frames)
        return a->frames < b->frames;
    return name != 0 ? name < 0 : strcmp(a->variant, b->variant) < 0;
}

static void add_blame(struct failure_count *count, struct failure *group, const struct finding *f)
{
    char text[BLAME_TEXT_BYTES];
    const char *blame = f != NULL ? finding_blame_text(f, text) : "";
    uint32_t at = 0;
    if (*blame == '\0')
        return;
    while (at < group->blame_count && strcmp(group->blames[at].text, blame) != 0)
        at++;
    if (at == FAILURE_BLAMES)
        return;
    if (at == group->blame_count)
        group->blames[group->blame_count++] = (struct failure_blame){pooled(count, blame), 0};
    group->blames[at].cases++;
    for (; at > 0 && group->blames[at].cases > group->blames[at - 1].cases; at--) {
        const struct failure_blame more = group->blames[at];
        group->blames[at] = group->blames[at - 1];
        group->blames[at - 1] = more;
    }
}

static uint32_t new_group(struct failure_count *count, const char *key, const char *sentence,
                          const char *place, const struct diff_case *c)
{
    struct failures *out = count->out;
    struct failure *rows =
        arena_reserve(count->keep, out->rows, &count->room, (uint64_t)out->count + 1, sizeof *rows);
    if (rows == NULL)
        return UINT32_MAX;
    out->rows = rows;
    struct failure *group = &rows[out->count];
    *group = (struct failure){.sentence = pooled(count, sentence),
                              .cause = c->finding != NULL ? cause_name(c->finding->cause)
                                                          : verdict_name(c->verdict),
                              .place = pooled(count, place),
                              .verdict = c->verdict,
                              .example = copy_of(count, c)};
    memcpy(group->key, key, sizeof group->key);
    return group->sentence != NULL && group->example != NULL ? out->count++ : UINT32_MAX;
}

uint32_t failures_add(struct failure_count *count, const struct diff_case *c)
{
    struct failures *out = count->out;
    struct arena scratch;
    char key[FAILURE_KEY_BYTES];
    uint32_t at = 0;
    arena_init(&scratch, 0);
    const char *place =
        c->finding != NULL ? place_of(c->finding->module, c->variant, &scratch) : NULL;
    const char *sentence = sentence_of(c, place, &scratch);
    if (sentence == NULL) {
        arena_free(&scratch);
        return UINT32_MAX;
    }
    const uint64_t hash = hash_text(hash_text(HASH_START, verdict_name(c->verdict)), sentence);
    (void)snprintf(key, sizeof key, "%016" PRIx64, hash);
    while (at < out->count && memcmp(out->rows[at].key, key, sizeof key) != 0)
        at++;
    if (at == out->count)
        at = new_group(count, key, sentence, place, c);
    else if (is_smaller(c, out->rows[at].example)) {
        const struct diff_case *smaller = copy_of(count, c);
        out->rows[at].example = smaller != NULL ? smaller : out->rows[at].example;
    }
    arena_free(&scratch);
    if (at == UINT32_MAX)
        return at;
    out->cases++;
    out->rows[at].cases++;
    add_blame(count, &out->rows[at], c->finding);
    return at;
}

static int by_cases(const void *x, const void *y)
{
    const struct failure *a = x, *b = y;
    if (a->cases != b->cases)
        return a->cases > b->cases ? -1 : 1;
    return is_smaller(a->example, b->example) ? -1 : is_smaller(b->example, a->example);
}

enum status failures_end(struct failure_count *count, uint32_t **places, struct fault *fault)
{
    struct failures *out = count->out;
    const size_t room = (size_t)out->count + 1;
    char(*keys)[FAILURE_KEY_BYTES] = arena_array(count->keep, room, sizeof *keys);
    uint32_t *found = ARENA_ARRAY(count->keep, room, uint32_t);
    if (keys == NULL || found == NULL)
        return fault_no_memory(fault, "groups of cases");
    for (uint32_t i = 0; i < out->count; i++)
        memcpy(keys[i], out->rows[i].key, sizeof *keys);
    array_sort(out->rows, out->count, sizeof *out->rows, by_cases);
    for (uint32_t i = 0; i < out->count; i++)
        for (uint32_t k = 0; k < out->count; k++)
            if (memcmp(keys[i], out->rows[k].key, sizeof *keys) == 0)
                found[i] = k;
    if (places != NULL)
        *places = found;
    return ERR_NONE;
}

struct diff_case failures_case(const struct run_case *c)
{
    struct diff_case out = {
        .scenario = c->scenario,
        .variant = c->variant,
        .reason = c->result.reason,
        .signature = c->result.signature,
        .folder = c->folder,
        .finding = finding_deciding(c->result.findings, c->result.finding_count),
        .kind = c->kind,
        .verdict = c->result.verdict,
        .repeat = c->repeat,
    };
    for (uint32_t i = 0; i < c->result.score_count; i++)
        if (c->result.scores[i].subject && c->result.scores[i].frames > out.frames)
            out.frames = c->result.scores[i].frames;
    return out;
}

const char *failure_blames_text(const struct failure *failure, struct arena *keep)
{
    const char *text = "";
    for (uint32_t i = 0; i < failure->blame_count && text != NULL; i++)
        text = arena_printf(keep, "%s%s%s (%" PRIu32 ")", text, i > 0 ? ", " : "",
                            failure->blames[i].text, failure->blames[i].cases);
    return text;
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

void failure_write_members(struct json *j, const struct failure *f)
{
    json_key_uint(j, "cases", f->cases);
    json_key_string(j, "cause", f->cause);
    json_key_string(j, "module", f->place);
    json_key_string(j, "key", f->key);
    json_key_string(j, "sentence", f->sentence);
    json_key_string(j, "verdict", verdict_name(f->verdict));
    json_key(j, "blames");
    json_array(j);
    for (uint32_t i = 0; i < f->blame_count; i++) {
        json_object(j);
        json_key_string(j, "blame", f->blames[i].text);
        json_key_uint(j, "cases", f->blames[i].cases);
        json_object_end(j);
    }
    json_array_end(j);
    json_key(j, "example");
    json_object(j);
    json_key_string(j, "scenario", f->example->scenario);
    json_key_string(j, "variant", f->example->variant);
    json_key_uint(j, "repeat", f->example->repeat);
    json_key_string(j, "folder", f->example->folder);
    json_object_end(j);
    json_key_string(j, "reason", f->example->reason);
    write_place(j, "since", f->since.failing_run, f->since.failing_commit);
    write_place(j, "before", f->since.good_run, f->since.good_commit);
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
