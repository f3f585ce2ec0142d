/* See answer.h. */
#include "suite/answer.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "suite/suite_case.h"
#include "suite/suite_logical.h"

static const char *const names[SUITE_OUTCOMES] = {"right",   "early",   "wrong",      "crashed",
                                                  "timeout", "garbage", "unsupported"};

const char *suite_outcome_name(enum suite_outcome outcome)
{
    return names[outcome];
}

bool suite_outcome_parse(const char *name, enum suite_outcome *out)
{
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum suite_outcome)i;
            return true;
        }
    return false;
}

int suite_outcome_rank(enum suite_outcome outcome)
{
    static const int ranks[SUITE_OUTCOMES] = {0, 1, 2, 3, 3, 3, 1};
    return ranks[outcome];
}

/* One answer and one walk that is accepted. */
struct pair {
    enum suite_kind kind;
    const struct suite_frame *truth, *answer;
};

static enum walk_match match(const void *self, uint32_t index)
{
    const struct pair *pair = self;
    const struct suite_frame *truth = &pair->truth[index], *answer = &pair->answer[index];
    if (pair->kind == SUITE_ADDRESS)
        return suite_logical_match(truth, answer);
    return truth->ip == answer->ip && (answer->sp == SUITE_NO_SP || truth->sp == answer->sp)
               ? WALK_SAME
               : WALK_OTHER;
}

static_assert((int)SUITE_RIGHT == WALK_RIGHT && (int)SUITE_EARLY == WALK_EARLY &&
                  (int)SUITE_WRONG == WALK_WRONG,
              "numbers of outcomes");

/* A walk may go on after a truth that is no whole walk. */
static enum suite_outcome compare(const struct suite_case *c, const struct suite_walk *truth,
                                  const struct suite_walk *answer, uint32_t *first)
{
    const struct pair pair = {c->kind, truth->frames, answer->frames};
    const struct walk_pair walks = {truth->count, answer->count,
                                    c->kind != SUITE_ADDRESS && !c->whole, match, &pair};
    return (enum suite_outcome)walk_compare(&walks, first);
}

static void judge_walk(const struct suite_case *c, struct suite_answer *out)
{
    out->outcome = c->level == SUITE_UNKNOWN ? SUITE_RIGHT : SUITE_WRONG;
    for (uint32_t i = 0; i < c->walk_count; i++) {
        uint32_t first = 0;
        const enum suite_outcome outcome = compare(c, &c->walks[i], &out->walk, &first);
        if (i == 0 || suite_outcome_rank(outcome) < suite_outcome_rank(out->outcome)) {
            out->outcome = outcome;
            out->first = first;
        }
    }
}

/* A last frame with address 0 is how some tools print the end. */
static void drop_end(struct suite_walk *walk)
{
    while (walk->count > 0 && walk->frames[walk->count - 1].ip == 0)
        walk->count--;
}

static void judge_tree(const struct suite_case *c, const cJSON *tree, struct arena *keep,
                       struct suite_answer *out, struct fault *fault)
{
    const char *id = json_get_string(tree, "id", keep, fault);
    const cJSON *frames = cJSON_GetObjectItemCaseSensitive(tree, "frames");
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(tree, "error");

    out->outcome = SUITE_GARBAGE;
    if (fault->code != ERR_NONE)
        return;
    if (id == NULL || strcmp(id, c->id) != 0) {
        out->words = "its id is not that of the question";
    } else if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(tree, "unsupported"))) {
        out->outcome = SUITE_UNSUPPORTED;
        out->words = json_get_string(tree, "reason", keep, fault);
    } else if (error != NULL) {
        out->outcome = SUITE_CRASHED;
        out->words = json_get_string(tree, "error", keep, fault);
    } else if (frames == NULL) {
        out->words = "it has no frames, is not unsupported and no error";
    } else if (suite_walk_read(frames, c->kind, keep, &out->walk, fault) == ERR_NONE) {
        if (c->kind != SUITE_ADDRESS)
            drop_end(&out->walk);
        judge_walk(c, out);
    }
}

enum status suite_answer_judge(const struct suite_case *c, const char *line, struct arena *keep,
                               struct suite_answer *out, struct fault *fault)
{
    struct fault bad = FAULT_INIT;
    cJSON *tree = NULL;
    char words[256];

    *out = (struct suite_answer){.outcome = SUITE_GARBAGE};
    if (json_parse(line, strlen(line), &tree, &bad) == ERR_NONE)
        judge_tree(c, tree, keep, out, &bad);
    cJSON_Delete(tree);
    if (bad.code == ERR_MEMORY)
        return fault_no_memory(fault, "answer");
    if (bad.code != ERR_NONE) {
        fault_describe(&bad, words, sizeof words);
        *out = (struct suite_answer){.outcome = SUITE_GARBAGE, .words = arena_string(keep, words)};
    }
    return ERR_NONE;
}
