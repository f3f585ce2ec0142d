/* twinstack gate: decides whether a run is good enough, against limits and a baseline. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "conduct/run_facts.h"
#include "study/gate.h"
#include "verbs/common.h"
#include "verbs/figures_text.h"
#include "verbs/nearest.h"
#include "verbs/open_store.h"
#include "verbs/verbs.h"

struct gate_options {
    const char *db, *against, *allow_missing, *min_capture, *min_exact, *min_f1, *max_slowdown,
        *shadow, *min_agreement;
    struct option_list engines, lanes;
    uint64_t max_new, max_accepted;
    bool strict, as_json, exit_zero;
};

/* NULL gives NaN. False: TEXT is not a share. */
static bool take_share(const char *text, double *out)
{
    *out = (double)NAN;
    return text == NULL || parse_share(text, out);
}

/* Of both runs; it closes nothing. */
static void print_ratio(const struct gate *gate, struct arena *keep)
{
    if (gate->ratio == NULL || !ratio_of_either(gate->ratio_before, gate->ratio))
        return;
    (void)printf("%s", text_or_empty(ratio_sentence(gate->ratio, keep)));
    if (gate->ratio_before != NULL)
        (void)printf("; run %" PRIu64 ": %s", gate->run_before,
                     text_or_empty(ratio_sentence(gate->ratio_before, keep)));
    (void)printf("\n");
}

static void print_gate(const struct gate *gate, struct arena *keep)
{
    for (uint32_t i = 0; i < gate->check_count; i++)
        (void)printf("%s %-20s %s\n", gate->checks[i].holds ? "✓" : "✗", gate->checks[i].name,
                     gate->checks[i].text);
    print_ratio(gate, keep);
    const char *word = gate->open ? "open" : "CLOSED";
    if (gate->shadow)
        (void)printf("gate of the sampled reports: %s\n", word);
    else
        (void)printf("gate of run %" PRIu64 ": %s\n", gate->run.info.id, word);
}

static int print_result(const struct gate_options *o, const struct gate *gate, struct arena *keep)
{
    if (o->as_json) {
        struct json j;
        json_to_stream(&j, stdout, true);
        gate_write_json(&j, gate);
        json_newline(&j);
    } else {
        print_gate(gate, keep);
    }
    return gate->open || o->exit_zero ? EXIT_GOOD : EXIT_DIFFERENT;
}

/* --shadow: of sampled reports, not of a run. */
static int decide_shadow(const struct verb *self, const struct gate_options *o, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct gate *gate = ARENA_NEW(keep, struct gate);
    struct gate_request request = {.strict = o->strict};
    if (!take_share(o->min_agreement, &request.min_agreement))
        return verb_usage_error(self, "--min-agreement is a share such as 99%%");
    if (gate == NULL)
        (void)fault_no_memory(&fault, "gate");
    else
        (void)gate_decide_shadow(o->shadow, &request, keep, gate, &fault);
    if (fault.code != ERR_NONE)
        return stored_fault(&fault, fault.code != ERR_ABSENT);
    return print_result(o, gate, keep);
}

/* Returns the first that is none, or NULL. */
static const char *take_lanes(const struct option_list *given, struct gate_request *request,
                              struct arena *keep)
{
    struct lane *lanes = ARENA_ARRAY(keep, given->count + 1, struct lane);
    for (size_t i = 0; i < given->count; i++)
        if (lanes == NULL || !lane_parse(given->items[i], &lanes[i]))
            return given->items[i];
    request->lanes = lanes;
    request->lane_count = (uint32_t)given->count;
    return NULL;
}

/* "; did you mean 'offsets, warm'?", or "" where no lane has a name like WORD. */
static const char *lane_hint(const char *word, struct arena *keep)
{
    struct nearest nearest;
    nearest_begin(&nearest, word, strlen(word));
    for (int way = 0; way < WAY_COUNT; way++) {
        const char *name = lane_way_name((enum case_way)way);
        nearest_look(&nearest, name);
        for (int state = 0; state < WAY_STATES; state++)
            nearest_look(&nearest,
                         text_or_empty(arena_printf(keep, "%s, %s", name,
                                                    lane_state_name((enum way_state)state))));
    }
    return nearest.name == NULL
               ? ""
               : text_or_empty(arena_printf(keep, "; did you mean '%s'?", nearest.name));
}

static int decide(const struct verb *self, const struct gate_options *o, struct store *store,
                  const char *word, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct gate *gate = ARENA_NEW(keep, struct gate);
    struct gate_request request = {.against = o->against,
                                   .engines = o->engines.items,
                                   .engine_count = o->engines.count,
                                   .max_new = o->max_new,
                                   .allow_missing = o->allow_missing,
                                   .max_accepted = o->max_accepted,
                                   .checkout = run_facts_commit(keep),
                                   .now_ns = clock_wall_ns(),
                                   .strict = o->strict};
    if (!take_share(o->min_capture, &request.min_capture) ||
        !take_share(o->min_exact, &request.min_exact) || !take_share(o->min_f1, &request.min_f1))
        return verb_usage_error(self, "limits are shares such as 99%%");
    if (!take_share(o->max_slowdown, &request.max_slowdown))
        return verb_usage_error(self, "--max-slowdown is a share such as 5%%");
    const char *wrong = take_lanes(&o->lanes, &request, keep);
    if (wrong != NULL)
        return verb_usage_error(self,
                                "--lane '%s' is none of offsets, plain dump, tuned dump, foreign; "
                                "after a comma may follow no index, index or warm%s",
                                wrong, lane_hint(wrong, keep));
    if (gate == NULL)
        (void)fault_no_memory(&fault, "gate");
    else
        (void)gate_decide(store, word, &request, keep, gate, &fault);
    if (fault.code != ERR_NONE)
        return stored_fault(&fault, fault.code != ERR_ABSENT);
    return print_result(o, gate, keep);
}

static int gate(const struct verb *self, void *given, const struct option_list *words,
                struct arena *keep)
{
    const struct gate_options *o = given;
    struct store *store = NULL;
    const char *word;
    int code = EXIT_GOOD;
    if (o->shadow != NULL && (words->count > 0 || o->against != NULL))
        return verb_usage_error(self, "--shadow is about reports, not about a run");
    if (o->lanes.count > 0 && (o->shadow != NULL || o->against == NULL || o->max_slowdown == NULL))
        return verb_usage_error(self, "--lane says what --max-slowdown judges --against a run");
    if (o->shadow == NULL && o->min_agreement != NULL)
        return verb_usage_error(self, "--min-agreement needs --shadow");
    if (o->shadow != NULL)
        return decide_shadow(self, o, keep);
    if (stored_open_for(self, words, o->db, STORE_READ, &store, &word, &code)) {
        store_begin_reading(store);
        code = decide(self, o, store, word, keep);
    }
    store_close(store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct gate_options o = {.db = STORED_DATABASE, .max_accepted = GATE_ACCEPTED_OF_BASELINE};
    const struct option_row rows[] = {
        {"--against", OPTION_STRING, &o.against, "RUN",
         "the run to compare with: baseline, an id, or a file"},
        {"--max-new", OPTION_UINT, &o.max_new, "N", "new failures allowed (default 0)"},
        {"--allow-missing", OPTION_STRING, &o.allow_missing, "EXPR",
         "cases that may be gone or judged no more since --against, as in run -k"},
        {"--max-accepted", OPTION_UINT, &o.max_accepted, "N",
         "cases that may pass only by acceptance (default: as many as --against has)"},
        {"--max-slowdown", OPTION_STRING, &o.max_slowdown, "SHARE",
         "largest slowdown of the engines under test"},
        {"--lane", OPTION_LIST, &o.lanes, "LANE[, STATE]",
         "what --max-slowdown judges: \"plain dump, index\", \"offsets\", ..."},
        {"--min-capture", OPTION_STRING, &o.min_capture, "SHARE",
         "smallest share of crashes that were captured"},
        {"--min-exact", OPTION_STRING, &o.min_exact, "SHARE",
         "smallest share of exact stacks of the engines under test"},
        {"--min-f1", OPTION_STRING, &o.min_f1, "SHARE",
         "smallest F1 of the frames of the engines under test"},
        OPTION_EACH(ENGINE, &o.engines, "also require exact stacks of this reference engine"),
        {"--shadow", OPTION_STRING, &o.shadow, "FILE",
         "judge the reports that workers sampled, from these totals"},
        {"--min-agreement", OPTION_STRING, &o.min_agreement, "SHARE",
         "smallest share of sampled reports in which an engine agrees (99%)"},
        OPTION_AS(STRICT, &o.strict,
                  "also close on old failures, another environment or commit, times that cannot be "
                  "judged"),
        OPTION(EXIT_ZERO, &o.exit_zero),
        OPTION(JSON, &o.as_json),
        OPTION(DB, &o.db),
    };
    return verb_main(self, rows, COUNT_OF(rows), gate, &o, argc, argv);
}

const struct verb verb_gate = {
    .name = "gate",
    .summary = "decide whether a run is good enough: limits, and no regression from a baseline",
    .usage = "[RUN] [--against baseline] [--min-f1 99%] ...",
    .details =
        "Without --against every failing case closes the gate; with it only new ones do (also a "
        "case\nthat failed before, in another way), unless --strict is given.  A case that is "
        "missing, is\njudged no more, or lost its truth or a stack closes it, too, and so do more "
        "accepted cases\nthan the baseline has.  An empty or interrupted run, or such a baseline, "
        "never opens it.\nEvery check is printed with its figures.\n\n"
        "--max-slowdown is never widened: where the noise of the newest bench is above it, the "
        "times\ncannot be judged, which closes the gate with --strict.  --lane names rows and "
        "columns of the\ntable of speed: offsets, plain dump, tuned dump, foreign; no index, "
        "index, "
        "warm.  Each is judged\nover the cases that both runs have, at least 12, x64 and x86 apart "
        "(\"x64 offsets\": one of them).\nIt cannot be judged where its even and odd rounds "
        "differ, "
        "or may differ by more than the limit.\n\n"
        "example:\n  twinstack gate --against baseline --min-capture 99% --max-slowdown 5%\n"
        "  twinstack gate --against baseline --max-slowdown 5% --lane \"offsets, warm\"\n"
        "  twinstack gate --shadow totals.db --min-agreement 99%",
    .exits = "  0  open\n  1  closed\n  2  usage\n  3  there is no such run, or no such totals\n"
             "  4  database not usable",
    .run = run,
};
