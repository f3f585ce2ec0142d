/* See pair_case.h. */
#include "reporter/pair_case.h"

#include "conduct/analysis.h"
#include "engine/dump.h"
#include "reporter/pair_judge.h"
#include "symbol/symbol_store.h"

/* ---- stacks ------------------------------------------------------------------------------- */

/* The module that a given frame means: as the reporter states it, else the dump's of that name. */
static const struct module *meant(const struct pair_case *c, const struct place *place)
{
    if (place->no_offset || place->image != NULL || place->module == NULL)
        return place->no_offset ? NULL : place->image;
    for (uint32_t i = 0; i < c->facts.world.module_count; i++)
        if (module_names_equal(place->module, c->facts.world.modules[i]->name))
            return c->facts.world.modules[i];
    return NULL;
}

static enum status read_given(struct pair_case *c, struct places given, struct arena *keep,
                              struct fault *fault)
{
    struct frame *frames = ARENA_ARRAY(keep, (size_t)given.count + 1, struct frame);
    if (frames == NULL)
        return fault_no_memory(fault, "given stack");
    for (uint32_t i = 0; i < given.count; i++) {
        const struct place *place = &given.at[i];
        frames[i] = (struct frame){.index = i,
                                   .kind = place->interrupted ? PC_INTERRUPTED : PC_RETURN,
                                   .found_by = FOUND_GIVEN,
                                   .module = meant(c, place),
                                   .module_name = place->module,
                                   .offset = place->offset,
                                   .function = place->function,
                                   .note = place->no_offset ? NOTE_NAMED_BY_INPUT : NOTE_NONE};
    }
    c->given = (struct stack){.role = THREAD_ROLE_SUSPECT,
                              .thread_id = c->facts.thread_id,
                              .stop = STOP_END,
                              .frames = frames,
                              .frame_count = given.count};
    return ERR_NONE;
}

static struct engine_claim *add_claim(struct pair_case *c, const char *engine,
                                      enum engine_kind kind, const char *why)
{
    struct engine_claim *claim = &c->run.claims[c->run.claim_count++];
    *claim = (struct engine_claim){.engine = engine, .kind = kind, .subject = true, .why = why};
    return claim;
}

static enum status claim_stack(struct engine_claim *claim, const struct stack *stack,
                               struct arena *keep, struct fault *fault)
{
    claim->stacks = ARENA_NEW(keep, struct stack);
    if (claim->stacks == NULL)
        return fault_no_memory(fault, "stack of a case");
    *claim->stacks = *stack;
    claim->stacks->engine = claim->engine;
    claim->stacks->role = THREAD_ROLE_SUSPECT;
    claim->stack_count = 1;
    return ERR_NONE;
}

/* ---- the verdict -------------------------------------------------------------------------- */

static enum verdict verdict_of(enum reporter_verdict verdict)
{
    static const enum verdict verdicts[REPORTER_VERDICT_COUNT] = {
        [REPORTER_SOUND] = VERDICT_PASS,
        [REPORTER_WRONG] = VERDICT_FAIL,
        [REPORTER_NOT_JUDGED] = VERDICT_UNSUPPORTED,
        [REPORTER_CAPTURE_FAILED] = VERDICT_FAIL,
        [REPORTER_ALONE] = VERDICT_UNSUPPORTED,
        [REPORTER_UNREADABLE] = VERDICT_ERROR};
    return verdicts[verdict];
}

/* Equal for all pairs of one group, which are then one group of failures everywhere. */
static const char *reason_of(const struct reporter_row *row, struct arena *keep)
{
    switch (row->verdict) {
    case REPORTER_SOUND:
        return NULL;
    case REPORTER_WRONG:
        return reporter_group_words(row->mechanism, row->variant, keep);
    case REPORTER_CAPTURE_FAILED:
        return arena_printf(keep, "capture failed: %s", row->words);
    case REPORTER_ALONE:
        return "there is no dump to compare with";
    default:
        return row->words;
    }
}

/* What is said of this pair alone. */
static enum status add_finding(const struct reporter_row *row, const char *name, uint32_t thread_id,
                               struct arena *keep, struct case_result *out, struct fault *fault)
{
    const struct mechanism_row *what = mechanism_row(row->mechanism);
    out->findings = NULL;
    out->finding_count = 0;
    if (row->verdict != REPORTER_WRONG && row->verdict != REPORTER_CAPTURE_FAILED)
        return ERR_NONE;
    out->findings = ARENA_NEW(keep, struct finding);
    if (out->findings == NULL)
        return fault_no_memory(fault, "finding");
    out->finding_count = 1;
    *out->findings = (struct finding){
        .level = LEVEL_PHYSICAL,
        .cause = what->cause,
        .engine = name,
        .against = ENGINE_NAME_DUMP,
        .wrong = name,
        .frame_a = row->first < row->given ? (int32_t)row->first : -1,
        .frame_b = row->first < row->frames ? (int32_t)row->first : -1,
        .thread_id = thread_id,
        .fails = true,
        .evidence = row->words != NULL ? arena_printf(keep, "%s; %s", row->words, what->advice)
                                       : what->advice};
    return ERR_NONE;
}

/* ---- the case ----------------------------------------------------------------------------- */

static void describe(struct pair_case *c, const struct reporter_row *row)
{
    c->run.scenario = row->name;
    c->run.variant = PAIR_CASE_VARIANT;
    c->run.kind = CASE_KIND_STACKS;
    if (!c->is_open)
        return;
    const struct minidump *dump = dump_minidump(c->facts.session);
    c->run.arch = dump->cpu;
    c->run.kind = dump->exception.present ? CASE_KIND_CRASH : CASE_KIND_HANG;
    c->run.expected_code = c->run.got_code = dump->exception.code;
}

/* The dump comes first, so that the other stack is compared with it. */
static enum status claim_dump(struct pair_case *c, const struct reporter_row *row,
                              struct symbol_store *symbols, struct arena *keep, struct fault *fault)
{
    struct stack stack;
    struct engine_claim *claim;
    if (row->dump == NULL)
        return ERR_NONE;
    claim = add_claim(c, ENGINE_NAME_DUMP, ENGINE_KIND_DUMP, c->is_open ? NULL : row->words);
    if (c->is_open &&
        symbol_resolve_stack(symbols, &c->facts.stack, keep, &stack, fault) == ERR_NONE)
        (void)claim_stack(claim, &stack, keep, fault);
    return fault->code;
}

static enum status claim_given(struct pair_case *c, const struct pair *pair, const char *name,
                               struct symbol_store *symbols, struct arena *keep,
                               struct fault *fault)
{
    struct reporter_row why = {.words = NULL};
    struct places given;
    struct stack stack;
    const bool has = judge_given(pair, keep, &given, &why, fault);
    struct engine_claim *claim = add_claim(c, name, ENGINE_KIND_OTHER, has ? NULL : why.words);
    if (fault->code == ERR_NONE && has && read_given(c, given, keep, fault) == ERR_NONE &&
        symbol_resolve_stack(symbols, &c->given, keep, &stack, fault) == ERR_NONE)
        (void)claim_stack(claim, &stack, keep, fault);
    return fault->code;
}

/* The whole stack differs for one reason: where is in the alignment, and it is the cause of each
 * difference there. */
static void place_finding(struct case_result *result, uint32_t column, uint32_t first)
{
    struct finding *finding = result->findings;
    struct thread_result *thread = result->threads;
    if (result->finding_count == 0 || result->thread_count == 0 || column >= thread->column_count ||
        thread->stacks[column - 1] == NULL)
        return;
    const struct frame *frames = thread->stacks[column - 1]->frames;
    for (uint32_t row = thread->row_count; row-- > 0;) {
        struct align_cell *cell = &thread->cells[(size_t)row * thread->column_count + column];
        if (cell->frame >= 0 && frames[cell->frame].index >= first)
            finding->row = row;
        if (cell->cause != CAUSE_NONE)
            cell->cause = finding->cause;
    }
}

enum status pair_case_open(const struct reporter_request *request,
                           const struct reporter_result *result, uint32_t row, struct arena *keep,
                           struct pair_case *out, struct fault *fault)
{
    const struct reporter_row *r = &result->rows[row];
    const struct analysis analysis = {.symbols = request->symbols};
    struct fault unreadable = FAULT_INIT;
    *out = (struct pair_case){.is_open = false};
    out->is_open =
        r->dump != NULL && facts_open(r->dump, request->symbols, reporter_pair(result, row)->thread,
                                      keep, &out->facts, &unreadable) == ERR_NONE;
    describe(out, r);
    out->run.claims = ARENA_ARRAY(keep, 2, struct engine_claim);
    if (out->run.claims == NULL)
        return fault_no_memory(fault, "claims of a case");
    if (claim_dump(out, r, request->symbols, keep, fault) != ERR_NONE ||
        claim_given(out, reporter_pair(result, row), result->name, request->symbols, keep, fault) !=
            ERR_NONE ||
        analysis_judge(&analysis, NULL, NULL, keep, &out->run, fault) != ERR_NONE)
        return fault->code;
    out->run.result.verdict = verdict_of(r->verdict);
    out->run.result.reason = reason_of(r, keep);
    out->run.result.right = NULL;
    if (r->verdict == REPORTER_SOUND)
        out->run.result.right = "all";
    else if (r->verdict == REPORTER_WRONG)
        out->run.result.right = ENGINE_NAME_DUMP;
    out->run.result.signature = NULL;
    if (add_finding(r, result->name, out->facts.thread_id, keep, &out->run.result, fault) ==
        ERR_NONE)
        place_finding(&out->run.result, out->run.claim_count, r->first);
    return fault->code;
}

void pair_case_close(struct pair_case *c)
{
    if (c->is_open)
        facts_close(&c->facts);
    c->is_open = false;
}
