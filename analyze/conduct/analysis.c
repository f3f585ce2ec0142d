/* See analysis.h. */
#include "conduct/analysis.h"

#include <string.h>

#include "base/process.h"
#include "code/evidence.h"
#include "compare/compare.h"
#include "conduct/dump_faults.h"
#include "conduct/measure.h"
#include "conduct/record_check.h"
#include "engine/engines.h"
#include "engine/judges.h"
#include "engine/return_slots.h"
#include "format/record/record.h"
#include "symbol/symbol_store.h"

static uint64_t time_of(const struct record *record, uint32_t stage, uint32_t walker)
{
    const struct record_timing *timing = record_timing_find(record, stage, walker);
    return timing != NULL ? timing->ns : 0;
}

static void take_times(const struct record *record, struct case_timing *out)
{
    const struct record_timing *tuned = record_timing_find(record, RECORD_STAGE_DUMP_TUNED, 0);
    out->walk_ns = time_of(record, RECORD_STAGE_WALK, RECORD_WALKER_RTL);
    out->record_write_ns = time_of(record, RECORD_STAGE_RECORD_WRITE, 0);
    out->dump_write_ns = time_of(record, RECORD_STAGE_DUMP_WRITE, 0);
    out->hang_late_ns = time_of(record, RECORD_STAGE_HANG_FOUND, 0);
    out->capture_now_ns =
        record->captures_asked != 0 ? record->captures_cost_ns / record->captures_asked : 0;
    out->dump_tuned_ns = tuned != NULL ? tuned->ns : 0;
    out->dump_tuned_bytes = tuned != NULL ? tuned->bytes : 0;
    out->stop_tuned_ns = time_of(record, RECORD_STAGE_STOP_TUNED, 0);
    out->stop_copy_ns = record->stop_copy_ns;
    out->stop_walk_ns = record->stop_rtl_ns;
    out->stop_dump_ns = record->stop_dump_ns;
}

/* The times and sizes; the engines report what is wrong with the record. */
static void read_times(const struct opened_case *c, struct case_timing *out)
{
    const struct case_file *record_file = case_file(c->crash, ROLE_RECORD);
    const struct case_file *dump_file = case_file(c->crash, ROLE_DUMP);

    memset(out, 0, sizeof *out);
    out->record_bytes = record_file != NULL ? record_file->bytes : 0;
    out->dump_bytes = dump_file != NULL ? dump_file->bytes : 0;
    if (c->record != NULL)
        take_times(c->record, out);
}

void analysis_timing(const struct crash_case *crash, struct case_timing *out)
{
    struct arena scratch;
    struct record record;
    struct fault ignored = FAULT_INIT;
    struct opened_case c = {.crash = crash};

    arena_init(&scratch, 0);
    const char *path = case_path(crash, ROLE_RECORD, &scratch);
    if (path != NULL) {
        (void)record_read_file(path, &scratch, &record, &ignored);
        c.record = &record;
    }
    read_times(&c, out);
    arena_free(&scratch);
}

static enum status ask_engine(const struct engine *engine, const struct engine_input *in,
                              struct arena *keep, struct engine_claim *out, struct fault *fault)
{
    struct engine_result result;
    struct fault own = FAULT_INIT;
    const char *why = NULL;

    memset(out, 0, sizeof *out);
    memset(&result, 0, sizeof result);
    out->engine = engine->name;
    out->kind = engine->kind;
    out->shares = engine->shares;
    out->parts = engine->parts;
    out->subject = engine->subject &&
                   (in->opened->crash == NULL || case_declares(in->opened->crash, engine->name));
    if (!engine->available(engine, in, &why)) {
        out->skipped = true;
        out->why = why;
        return ERR_NONE;
    }
    if (engine->run(engine, in, keep, &result, &own) != ERR_NONE) {
        char text[FAULT_PATH_BYTES + 512];
        if (own.code == ERR_MEMORY) {
            *fault = own;
            return fault->code;
        }
        out->skipped = own.code == ERR_INTERRUPTED;
        fault_describe(&own, text, sizeof text);
        out->why = result.why != NULL ? result.why : arena_string(keep, text);
        return ERR_NONE;
    }
    out->stacks = result.stacks;
    out->stack_count = result.stack_count;
    out->cost = result.cost;
    if (engine->kind == ENGINE_KIND_JUDGE && !result.warm)
        out->cost.cold_ns = result.cost.total_ns; /* a process that starts cold */
    out->version = result.version;
    return ERR_NONE;
}

/* Runs each subject once, so that its claim is timed with everything opened. */
static void warm_up(const struct engine_input *in)
{
    for (uint32_t i = 0; in->symbols != NULL && i < engine_count; i++) {
        struct engine_claim ignored_claim;
        struct fault ignored = FAULT_INIT;
        struct arena scratch;
        arena_init(&scratch, 0);
        if (engines[i]->subject)
            (void)ask_engine(engines[i], in, &scratch, &ignored_claim, &ignored);
        arena_free(&scratch);
    }
}

enum status analysis_ask(const struct engine_input *in, const struct engine *const *asked,
                         uint32_t count, struct arena *keep, struct run_case *out,
                         struct fault *fault)
{
    out->claim_count = 0;
    out->claims = ARENA_ARRAY(keep, (size_t)count + 1, struct engine_claim);
    if (out->claims == NULL)
        return fault_no_memory(fault, "claims");
    for (uint32_t i = 0; i < count; i++) {
        struct engine_claim *claim = &out->claims[out->claim_count];
        /* After an interrupt, sealed cases are still judged: that takes little time. */
        if (process_interrupted() && !asked[i]->subject)
            continue;
        if (ask_engine(asked[i], in, keep, claim, fault) != ERR_NONE)
            return fault->code;
        for (uint32_t k = 0; k < claim->stack_count && in->opened->crash != NULL; k++)
            if (evidence_cut_code(in->opened->crash->arch, &claim->stacks[k], keep, fault) !=
                ERR_NONE)
                return fault->code;
        out->claim_count += !claim->skipped || claim->why != NULL;
    }
    return ERR_NONE;
}

/* The cold time of a subject is that of the same stack by every way: see measure.h. */
static enum status measure(const struct engine_input *in, struct arena *keep, struct run_case *out,
                           struct fault *fault)
{
    if (process_interrupted() ||
        measure_case(in, out->claims, out->claim_count, keep, &out->ways, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < out->claim_count; i++) {
        struct engine_claim *claim = &out->claims[i];
        const struct way_cost *ways = out->ways;
        if (strcmp(claim->engine, engine_subject(ENGINE_KIND_DUMP)->name) == 0)
            claim->cost.cold_ns = ways[WAY_DUMP].cold.whole_ns;
        else if (strcmp(claim->engine, engine_subject(ENGINE_KIND_OFFSET)->name) == 0)
            claim->cost.cold_ns = ways[WAY_OFFSET].cold.whole_ns;
    }
    return ERR_NONE;
}

static uint32_t frames_at(void *context, const struct frame *frame, uint64_t offset,
                          struct frame *out, uint32_t max)
{
    struct symbol_frame found[SYMBOL_FRAMES_MAX];
    struct symbol_store *symbols = context;

    if (frame->module == NULL)
        return 0;
    uint32_t count = symbol_lookup(symbol_store_module(symbols, frame->module), offset, found);
    if (count > max)
        count = max;
    memset(out, 0, count * sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        out[i].function = found[i].function;
        out[i].file = found[i].file;
        out[i].line = found[i].line;
        out[i].inline_depth = (uint16_t)(count - 1 - i);
        out[i].compiland = found[i].compiland;
        out[i].symbols = found[i].from;
    }
    return count;
}

struct wanted_name {
    const char *name;
};

static bool is_wanted(void *context, const char *name)
{
    return compare_names(((const struct wanted_name *)context)->name, name);
}

static bool is_alias(void *context, const struct frame *frame, const char *name)
{
    struct wanted_name wanted = {name};
    struct symbol_store *symbols = context;

    return frame->module != NULL &&
           symbol_each_name(symbol_store_module(symbols, frame->module), frame_lookup_offset(frame),
                            is_wanted, &wanted);
}

static uint32_t lines_at(void *context, const struct frame *frame, uint32_t *out, uint32_t max)
{
    if (frame->module == NULL)
        return 0;
    return symbol_lines(symbol_store_module(context, frame->module), frame_lookup_offset(frame),
                        out, max);
}

/* Modules without a debug id have no file of symbols to look for. */
static const char *places_of(void *context, const struct frame *frame, struct arena *keep)
{
    struct symbol_store *symbols = context;
    const struct module *module = frame->module;
    if (module == NULL || module->debug_id[0] == '\0' ||
        symbol_has_names(symbol_store_module(symbols, module)))
        return NULL;
    return symbol_store_places(symbols, keep);
}

enum { OUTPUT_BYTES_MAX = 1 << 20 };

/* Everything that the program printed, read only if the verdict needs it; NULL: unknown. */
static const char *read_output(const struct crash_case *crash, struct arena *keep)
{
    const bool is_needed = crash != NULL && (crash->expect.output != NULL ||
                                             crash->got.exit_code == CASE_EXIT_LACKS_FILE);
    size_t bytes = 0;
    struct fault ignored = FAULT_INIT;
    return is_needed && case_file(crash, ROLE_STDOUT) != NULL
               ? case_text(crash, ROLE_STDOUT, OUTPUT_BYTES_MAX, keep, &bytes, &ignored)
               : NULL;
}

enum status analysis_judge(const struct analysis *analysis, const struct crash_case *crash,
                           const struct truth *truth, struct arena *keep, struct run_case *out,
                           struct fault *fault)
{
    const struct compare_symbols ask = {analysis->symbols, frames_at, is_alias, lines_at,
                                        places_of};
    struct compare_input in;

    memset(&in, 0, sizeof in);
    in.crash = crash;
    in.truth = truth;
    in.claims = out->claims;
    in.claim_count = out->claim_count;
    in.symbols = analysis->symbols != NULL ? &ask : NULL;
    in.levels_ignored = analysis->levels_ignored;
    in.output = read_output(crash, keep);
    in.record_fault = out->record_contradiction;
    out->truth = truth;
    return compare_case(&in, keep, &out->result, fault);
}

static void describe(const struct crash_case *crash, struct run_case *out)
{
    memset(out, 0, sizeof *out);
    out->scenario = crash->scenario;
    out->variant = crash->variant;
    out->arch = crash->arch;
    out->kind = crash->kind;
    out->folder = crash->folder;
    out->expected_hooks = crash->expect.hooks;
    out->got_hooks = crash->got.hooks;
    out->expected_code = crash->expect.code;
    out->got_code = crash->got.code;
    out->expected_exit_code = crash->expect.exit_code;
    out->got_exit_code = crash->got.exit_code;
    out->wall_ms = crash->got.wall_ms;
    out->case_sha256 = crash->seal;
}

static const struct stack *dump_stack_of(const struct run_case *c, uint32_t thread_id)
{
    const char *name = engine_subject(ENGINE_KIND_DUMP)->name;
    for (uint32_t i = 0; i < c->claim_count; i++)
        for (uint32_t k = 0; k < c->claims[i].stack_count; k++)
            if (strcmp(c->claims[i].engine, name) == 0 &&
                c->claims[i].stacks[k].thread_id == thread_id)
                return &c->claims[i].stacks[k];
    return NULL;
}

/* Where offset stacks part from the dump's: the return slots of both. */
static enum status add_return_slots(const struct opened_case *c, struct arena *keep,
                                    struct run_case *out, struct fault *fault)
{
    for (uint32_t i = 0; c->dump != NULL && i < out->claim_count; i++) {
        struct engine_claim *claim = &out->claims[i];
        for (uint32_t k = 0; claim->kind == ENGINE_KIND_OFFSET && k < claim->stack_count; k++) {
            const struct stack *beside = dump_stack_of(out, claim->stacks[k].thread_id);
            if (beside != NULL &&
                return_slots_add(c->dump, beside, keep, &claim->stacks[k], fault) != ERR_NONE)
                return fault->code;
        }
    }
    return ERR_NONE;
}

/* Asks all engines, and compares what they say with STATED. */
static enum status judge_opened(const struct analysis *analysis, const struct opened_case *c,
                                const struct truth *stated, struct arena *keep,
                                struct run_case *out, struct fault *fault)
{
    const struct engine_input in = {.opened = c,
                                    .symbols = analysis->symbols,
                                    .launcher = analysis->launcher,
                                    .judge_folder = analysis->judge_folder,
                                    .judges = analysis->judges};
    read_times(c, &out->timing);
    if (c->record != NULL)
        out->record_contradiction = record_contradiction(c);
    warm_up(&in);
    if (analysis_ask(&in, engines, engine_count, keep, out, fault) != ERR_NONE ||
        add_return_slots(c, keep, out, fault) != ERR_NONE ||
        (in.symbols != NULL && measure(&in, keep, out, fault) != ERR_NONE) ||
        analysis_judge(analysis, c->crash, stated, keep, out, fault) != ERR_NONE ||
        (analysis->dump_faults != NULL &&
         dump_faults_add(c, keep, analysis->dump_faults, fault) != ERR_NONE))
        return fault->code;
    return analysis_keep_files(analysis, c->crash, keep, out, fault);
}

enum status analysis_case(const struct analysis *analysis, const struct crash_case *crash,
                          struct arena *keep, struct run_case *out, struct fault *fault)
{
    struct truth *truth = ARENA_NEW(keep, struct truth);
    const struct truth *stated = analysis->truth;
    struct opened_case c;

    if (truth == NULL)
        return fault_no_memory(fault, "truth");
    describe(crash, out);
    if (opened_case_open(crash, analysis->symbols, keep, &c, fault) != ERR_NONE)
        return fault->code;
    if (stated == NULL && case_file(crash, ROLE_TRUTH) != NULL &&
        truth_read(crash, keep, truth, fault) == ERR_NONE)
        stated = truth;
    if (fault->code == ERR_NONE)
        (void)judge_opened(analysis, &c, stated, keep, out, fault);
    opened_case_close(&c);
    return fault->code;
}
