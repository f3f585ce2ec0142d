/* See score.h. */
#include "suite/score.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "suite/score_conflicts.h"
#include "suite/suite_logical.h"

struct scoring {
    const struct score_request *request;
    struct score *out;
    struct mutex *mutex; /* of what follows, and of the answers */
    struct arena *keep;
    struct score_cache *cache; /* NULL: none */
    uint32_t next, done;
    struct fault fault;
};

/* One process of the contestant, in a thread. */
struct worker {
    struct scoring *all;
    struct contestant *contestant; /* of the first: already open */
    struct thread *thread;
    uint64_t peak_bytes;
    uint32_t cached; /* answers that it found in the cache */
};

/* Takes the next case that the contestant can; false: there is none, or another worker failed. */
static bool take_case(struct scoring *all, uint32_t *index)
{
    const struct suite *suite = all->request->contestant.suite;
    bool found = false;
    mutex_lock(all->mutex);
    while (!found && all->fault.code == ERR_NONE && all->next < suite->count) {
        *index = all->next++;
        found = contestant_can(&all->out->name, suite->cases[*index].capability);
        if (!found) {
            all->out->answers[*index] = (struct suite_answer){
                .outcome = SUITE_UNSUPPORTED, .words = "it does not name this capability"};
            all->done++;
        }
    }
    mutex_unlock(all->mutex);
    return found;
}

/* What a program that is asked again would answer again. */
static bool is_lasting(enum suite_outcome outcome)
{
    return outcome == SUITE_RIGHT || outcome == SUITE_EARLY || outcome == SUITE_WRONG ||
           outcome == SUITE_UNSUPPORTED;
}

/* ANSWER is the worker's, until its next one. LINE: what was printed now; NULL: nothing, or the
 * answer was known. */
static void put_answer(struct scoring *all, uint32_t index, const struct suite_answer *answer,
                       const char *line, const struct fault *fault)
{
    const struct score_request *r = all->request;
    mutex_lock(all->mutex);
    const size_t bytes = answer->walk.count * sizeof *answer->walk.frames;
    struct suite_frame *frames = bytes > 0 ? arena_alloc(all->keep, bytes) : NULL;
    struct suite_answer *out = &all->out->answers[index];
    *out = *answer;
    bool kept = true;
    if (frames != NULL)
        memcpy(frames, answer->walk.frames, bytes);
    for (uint32_t i = 0; frames != NULL && i < answer->walk.count; i++)
        kept = suite_logical_keep(&frames[i], all->keep) && kept;
    out->walk.frames = frames;
    out->words = arena_string(all->keep, answer->words);
    if (fault->code != ERR_NONE && all->fault.code == ERR_NONE)
        all->fault = *fault;
    if (fault->code == ERR_NONE && line != NULL && is_lasting(answer->outcome))
        (void)score_cache_put(all->cache, r->contestant.suite->cases[index].question, line,
                              &all->fault);
    if (!kept || (bytes > 0 && frames == NULL) || (answer->words != NULL && out->words == NULL))
        (void)fault_no_memory(&all->fault, "score");
    all->done++;
    if (r->progress != NULL)
        r->progress(r->context, all->done, r->contestant.suite->count);
    mutex_unlock(all->mutex);
}

/* True where the answer is known from before. It is judged again: the truth may have changed. */
static bool find_answer(struct scoring *all, const struct suite_case *c, struct arena *scratch,
                        struct suite_answer *answer, struct fault *fault)
{
    const char *line = score_cache_find(all->cache, c->question);
    return line != NULL && suite_answer_judge(c, line, scratch, answer, fault) == ERR_NONE &&
           is_lasting(answer->outcome);
}

static void ask_case(struct worker *w, uint32_t index, struct arena *scratch, struct fault *fault)
{
    struct scoring *all = w->all;
    const struct contestant_request *request = &all->request->contestant;
    const struct suite_case *c = &request->suite->cases[index];
    struct suite_answer answer = {.outcome = SUITE_CRASHED};
    const char *line = NULL;
    struct contestant_name again;
    if (find_answer(all, c, scratch, &answer, fault)) {
        w->cached++;
    } else if (fault->code == ERR_NONE) {
        if (w->contestant == NULL)
            (void)contestant_open(request, scratch, &w->contestant, &again, fault);
        if (fault->code == ERR_NONE)
            (void)contestant_ask(w->contestant, c, scratch, &answer, &line, fault);
    }
    put_answer(all, index, &answer, line, fault);
}

static void work(void *context)
{
    struct worker *w = context;
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    uint32_t index = 0;

    arena_init(&scratch, 0);
    while (fault.code == ERR_NONE && take_case(w->all, &index)) {
        ask_case(w, index, &scratch, &fault);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    w->peak_bytes = contestant_close(w->contestant);
    w->contestant = NULL;
}

static enum status run_workers(struct scoring *all, struct contestant *first)
{
    const uint32_t jobs = all->request->jobs;
    struct worker *workers = ARENA_ARRAY(all->keep, jobs, struct worker);
    if (workers == NULL) {
        (void)contestant_close(first);
        return fault_no_memory(&all->fault, "score");
    }
    for (uint32_t i = 0; i < jobs; i++) {
        workers[i] = (struct worker){.all = all, .contestant = i == 0 ? first : NULL};
        workers[i].thread = i > 0 ? thread_start(work, &workers[i]) : NULL;
    }
    work(&workers[0]);
    for (uint32_t i = 0; i < jobs; i++) {
        thread_join(workers[i].thread);
        all->out->cached += workers[i].cached;
        if (workers[i].peak_bytes > all->out->peak_bytes)
            all->out->peak_bytes = workers[i].peak_bytes;
    }
    return all->fault.code;
}

enum status score_all(const struct score_request *request, struct arena *keep, struct score *out,
                      struct fault *fault)
{
    struct scoring all = {.request = request, .out = out, .keep = keep, .fault = FAULT_INIT};
    struct contestant *first = NULL;
    const uint64_t start_ns = clock_ns();

    memset(out, 0, sizeof *out);
    out->answers =
        ARENA_ARRAY(keep, (size_t)request->contestant.suite->count + 1, struct suite_answer);
    all.mutex = mutex_new();
    if (out->answers == NULL || all.mutex == NULL)
        (void)fault_no_memory(&all.fault, "score");
    else if (contestant_open(&request->contestant, keep, &first, &out->name, &all.fault) ==
                 ERR_NONE &&
             score_cache_open(&request->cache, &request->contestant, &out->name, keep, &all.cache,
                              &all.fault) == ERR_NONE)
        (void)(run_workers(&all, first) == ERR_NONE &&
               score_settle_conflicts(request->contestant.suite, out->answers, keep, &all.fault));
    else
        (void)contestant_close(first);
    score_cache_close(all.cache);
    mutex_free(all.mutex);
    out->wall_ns = clock_ns() - start_ns;
    *fault = all.fault;
    return fault->code;
}
