/* See analysis.h. */
#include "study/analysis.h"

#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "compare/compare.h"
#include "engine/engines.h"
#include "engine/judges.h"
#include "format/minidump/minidump.h"
#include "format/record/record.h"
#include "symbol/store.h"

/* True when PATH is that of an image in a folder of its identity, NAME/CODE ID/NAME, and has
 * MODULE's name; *SAME: its identity, too. */
static bool is_image_of(const char *path, const struct module *module, bool *same)
{
    char stated[CODE_ID_BYTES] = "";
    const char *name = path_base(path), *id = name;
    const size_t name_bytes = strlen(name);
    if (name == path || !text_equal_nocase(name, module->name))
        return false;
    for (id--; id > path && id[-1] != '/';)
        id--;
    const size_t id_bytes = (size_t)(name - 1 - id), left = (size_t)(id - path);
    if (id_bytes >= sizeof stated || left < name_bytes + 1 ||
        strncmp(id - 1 - name_bytes, name, name_bytes) != 0)
        return false;
    memcpy(stated, id, id_bytes);
    *same = *same || text_equal_nocase(stated, module->code_id);
    return true;
}

/* True when the case has images of the name of one of RECORD's modules, but none of its identity.
 */
static bool names_other_image(const struct crash_case *crash, const struct record *record)
{
    for (uint32_t m = 0; m < record->module_count; m++) {
        bool known = false, same = false;
        for (uint32_t f = 0; f < crash->file_count && record->modules[m].name != NULL; f++)
            if (crash->files[f].role == ROLE_IMAGE && record->modules[m].code_id[0] != '\0')
                known = is_image_of(crash->files[f].path, &record->modules[m], &same) || known;
        if (known && !same)
            return true;
    }
    return false;
}

/* True when the stack begins at VA; or VA is a frame further out, in managed code: a .NET runtime
 * raises a fault of such code a second time, with the address of the first. */
static bool is_on_stack(const struct record *record, const struct record_stack *stack, uint64_t va)
{
    const uint32_t count = record_method_at(record, va) != NULL ? stack->frame_count : 1;
    for (uint32_t i = 0; i < count; i++)
        if (stack->frames[i].pc_va == va)
            return true;
    return false;
}

/* How RECORD contradicts itself; NULL: it does not.  Its timings are in order of time. */
static const char *fault_of(const struct record *record, const struct record_timing *write,
                            const struct record_timing *dump)
{
    const struct record_stack *first = record->stack_count > 0 ? &record->stacks[0] : NULL;
    if (write != NULL && dump != NULL && write > dump)
        return "the record was written only after the dump, so a dump that fails loses both";
    if (record->stop_dump_ns != 0 && record->stop_rtl_ns >= record->stop_dump_ns)
        return "the record says that the threads were stopped as long for the walk as for the "
               "walk and the dump";
    if (record->kind == RECORD_KIND_CRASH && record->exception_code != 0 && record->suspect_id == 0)
        return "the record does not say which thread crashed";
    /* A reporter that leaves a stack as text states no exception. */
    if (record->kind == RECORD_KIND_CRASH && record->exception_code != 0 && first != NULL &&
        first->walker == RECORD_WALKER_RTL && first->state == RECORD_STATE_OK &&
        first->frame_count > 0 && !is_on_stack(record, first, record->exception_va))
        return "the record's exception address is not where its stack begins";
    return NULL;
}

/* The module of DUMP's list that shares an address with MODULE; NULL: none. */
static const struct module *listed_at(const struct minidump *dump, const struct module *module)
{
    for (uint32_t i = 0; i < dump->module_count; i++) {
        const struct module *listed = &dump->modules[i].module;
        if (module->base_va < listed->base_va + listed->image_bytes &&
            listed->base_va < module->base_va + module->image_bytes)
            return listed;
    }
    return NULL;
}

/* True when frame INDEX shows that its module was loaded: its code raised the exception, or the
 * walk read its unwind data, which is part of the image. A jump to where no code is raises an
 * exception, too: then the address is the one that could not be executed. */
static bool shows_loaded(const struct record *record, const struct record_stack *stack,
                         uint32_t index)
{
    enum { EXECUTED = 8 };
    const struct frame *frame = &stack->frames[index];
    const bool jumped = record->exception_code == 0xc0000005 && /* access violation */
                        record->exception_info[0] == EXECUTED &&
                        record->exception_info[1] == record->exception_va;
    if (index + 1 < stack->frame_count && stack->frames[index + 1].found_by == FOUND_UNWIND)
        return true;
    return record->exception_code != 0 && !jumped && frame->kind == PC_INTERRUPTED &&
           frame->pc_va == record->exception_va;
}

/* True when STACK has a frame in a module that is still loaded, as RECORD says, while DUMP, which
 * lists the modules of that moment, has none at its addresses, but has others of the record at
 * their bases: a record that was made from text has bases of its own. Assemblies do not count: the
 * runtime maps them itself, so the system does not list them. Nor does a module that was loaded
 * by what the walk met there: then the dump, or our reader of it, lost it. */
static bool has_lost_module(const struct record *record, const struct record_stack *stack,
                            const struct minidump *dump)
{
    bool missing = false, same = false;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct module *module = stack->frames[i].module;
        missing =
            missing || (module != NULL && stack->frames[i].method_token == 0 &&
                        module->image_bytes != 0 && module->unloaded_at_ns == MODULE_STILL_LOADED &&
                        listed_at(dump, module) == NULL && !shows_loaded(record, stack, i));
    }
    for (uint32_t i = 0; i < record->module_count && missing && !same; i++) {
        const struct module *listed = listed_at(dump, &record->modules[i]);
        same = listed != NULL && listed->base_va == record->modules[i].base_va;
    }
    return same;
}

/* True when RECORD does not know that a module of its first stack was unloaded, which the dump at
 * PATH shows. */
static bool misses_unload(const struct record *record, const char *path)
{
    const struct record_stack *first = record->stack_count > 0 ? &record->stacks[0] : NULL;
    struct fault ignored = FAULT_INIT; /* the dump's engine reports what is wrong with it */
    struct minidump dump;
    struct file_map map;
    struct arena scratch;

    if (path == NULL || record->kind != RECORD_KIND_CRASH || first == NULL ||
        first->walker != RECORD_WALKER_RTL || file_map(path, &map, &ignored) != ERR_NONE)
        return false;
    arena_init(&scratch, 0);
    const bool missed = minidump_read(map.data, map.bytes, &scratch, &dump, &ignored) == ERR_NONE &&
                        !dump.partial && has_lost_module(record, first, &dump);
    arena_free(&scratch);
    file_unmap(&map);
    return missed;
}

void analysis_timing(const struct crash_case *crash, struct case_timing *out)
{
    struct arena scratch;
    struct record record;
    struct fault ignored = FAULT_INIT; /* the engines report what is wrong with it */
    const struct case_file *record_file = case_file(crash, ROLE_RECORD);
    const struct case_file *dump_file = case_file(crash, ROLE_DUMP);

    memset(out, 0, sizeof *out);
    out->record_bytes = record_file != NULL ? record_file->bytes : 0;
    out->dump_bytes = dump_file != NULL ? dump_file->bytes : 0;
    arena_init(&scratch, 0);
    const char *path = case_path(crash, ROLE_RECORD, &scratch);
    if (path != NULL) {
        (void)record_read_file(path, &scratch, &record, &ignored);
        const struct record_timing *walk =
            record_timing_find(&record, RECORD_STAGE_WALK, RECORD_WALKER_RTL);
        const struct record_timing *write =
            record_timing_find(&record, RECORD_STAGE_RECORD_WRITE, 0);
        const struct record_timing *dump = record_timing_find(&record, RECORD_STAGE_DUMP_WRITE, 0);
        out->walk_ns = walk != NULL ? walk->ns : 0;
        out->record_write_ns = write != NULL ? write->ns : 0;
        out->dump_write_ns = dump != NULL ? dump->ns : 0;
        out->record_fault = fault_of(&record, write, dump);
        if (out->record_fault == NULL && names_other_image(crash, &record))
            out->record_fault = "the record states another timestamp or size of an image than the "
                                "file that ran has";
        if (out->record_fault == NULL &&
            misses_unload(&record, case_path(crash, ROLE_DUMP, &scratch)))
            out->record_fault = "the record says that a module of the stack was still loaded, but "
                                "the dump's list of modules does not have it";
        const struct record_timing *tuned = record_timing_find(&record, RECORD_STAGE_DUMP_TUNED, 0);
        const struct record_timing *late = record_timing_find(&record, RECORD_STAGE_HANG_FOUND, 0);
        out->hang_late_ns = late != NULL ? late->ns : 0;
        out->capture_now_ns =
            record.captures_asked != 0 ? record.captures_cost_ns / record.captures_asked : 0;
        out->dump_tuned_ns = tuned != NULL ? tuned->ns : 0;
        out->dump_tuned_bytes = tuned != NULL ? tuned->bytes : 0;
        out->stop_copy_ns = record.stop_copy_ns;
        out->stop_walk_ns = record.stop_rtl_ns;
        out->stop_dump_ns = record.stop_dump_ns;
    }
    arena_free(&scratch);
}

/* A port states which subjects its capture feeds; if it states none, it feeds all. */
static bool is_declared(const struct crash_case *crash, const char *engine)
{
    for (uint32_t i = 0; crash != NULL && i < crash->expect.subject_count; i++)
        if (strcmp(crash->expect.subjects[i], engine) == 0)
            return true;
    return crash == NULL || crash->expect.subject_count == 0;
}

/* Times a subject that starts cold, with symbols of its own: modules loaded by another engine must
 * not count for it. It runs first with the session's symbols, so that the files are in memory,
 * indexes of system modules exist, and the next measurement is warm for every engine. */
static uint64_t run_cold(const struct engine *engine, const struct engine_input *in)
{
    struct engine_input fresh = *in;
    struct engine_result result = {0};
    struct symbol_store *symbols = NULL;
    struct arena scratch;
    struct fault ignored = FAULT_INIT;
    uint64_t cold_ns = 0;

    arena_init(&scratch, 0);
    (void)engine->run(engine, in, &scratch, &result, &ignored);
    arena_reset(&scratch);
    fault_clear(&ignored);
    memset(&result, 0, sizeof result);
    const uint64_t start = clock_ns();
    if (symbol_store_open_again(in->symbols, &symbols, &ignored) == ERR_NONE) {
        fresh.symbols = symbols;
        if (engine->run(engine, &fresh, &scratch, &result, &ignored) == ERR_NONE)
            cold_ns = clock_ns() - start;
        symbol_store_close(symbols);
    }
    arena_free(&scratch);
    return cold_ns;
}

static enum status ask_engine(const struct engine *engine, const struct engine_input *in, bool once,
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
    out->subject = engine->subject && is_declared(in->crash, engine->name);
    if (!engine->available(in, &why)) {
        out->skipped = true;
        out->why = why;
        return ERR_NONE;
    }
    const uint64_t cold_ns =
        engine->subject && in->symbols != NULL && !once ? run_cold(engine, in) : 0;
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
    out->cost.cold_ns = cold_ns;
    if (engine->kind == ENGINE_KIND_JUDGE && !result.warm)
        out->cost.cold_ns = result.cost.total_ns; /* a process that starts cold */
    out->version = result.version;
    return ERR_NONE;
}

static enum status ask_engines(const struct analysis *analysis, const struct engine_input *in,
                               struct arena *keep, struct run_case *out, struct fault *fault)
{
    out->claims = ARENA_ARRAY(keep, CLAIMS_MAX, struct engine_claim);
    if (out->claims == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "claims");
    for (uint32_t i = 0; i < engine_count && out->claim_count < CLAIMS_MAX; i++) {
        /* After an interrupt, sealed cases are still judged: that takes little time. */
        if ((analysis->subjects_only || process_interrupted()) && !engines[i]->subject &&
            !(analysis->adapter && engines[i] == &engine_judge_adapter))
            continue;
        if (ask_engine(engines[i], in, analysis->once, keep, &out->claims[out->claim_count],
                       fault) != ERR_NONE)
            return fault->code;
        out->claim_count++;
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

enum { OUTPUT_BYTES_MAX = 1 << 20 };

/* Everything that the program printed, read only if the case states what that must be; NULL:
 * unknown. */
static const char *read_output(const struct crash_case *crash, struct arena *keep)
{
    char *text = NULL;
    size_t bytes = 0;
    struct fault ignored = FAULT_INIT;
    const char *path =
        crash != NULL && crash->expect.output != NULL ? case_path(crash, ROLE_STDOUT, keep) : NULL;
    return path != NULL &&
                   file_read(path, OUTPUT_BYTES_MAX, keep, &text, &bytes, &ignored) == ERR_NONE
               ? text
               : NULL;
}

enum status analysis_judge(const struct analysis *analysis, const struct crash_case *crash,
                           const struct truth *truth, struct arena *keep, struct run_case *out,
                           struct fault *fault)
{
    const struct compare_symbols ask = {analysis->symbols, frames_at, is_alias, lines_at};
    struct compare_input in;

    memset(&in, 0, sizeof in);
    in.crash = crash;
    in.truth = truth;
    in.claims = out->claims;
    in.claim_count = out->claim_count;
    in.symbols = analysis->symbols != NULL ? &ask : NULL;
    in.levels_ignored = analysis->levels_ignored;
    in.output = read_output(crash, keep);
    in.record_fault = out->timing.record_fault;
    out->truth = truth;
    return compare_case(&in, keep, &out->result, fault);
}

static void describe(const struct crash_case *crash, struct arena *keep, struct run_case *out)
{
    char *seal = NULL;
    size_t bytes = 0;
    struct fault ignored = FAULT_INIT;

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
    if (crash->folder != NULL && file_read(path_join(keep, crash->folder, "seal"), 256, keep, &seal,
                                           &bytes, &ignored) == ERR_NONE)
        out->case_sha256 = arena_text(keep, seal, strcspn(seal, "\r\n"));
}

enum status analysis_case(const struct analysis *analysis, const struct crash_case *crash,
                          struct arena *keep, struct run_case *out, struct fault *fault)
{
    const struct engine_input in = {crash, analysis->symbols, analysis->launcher,
                                    analysis->judge_folder, analysis->judges};
    struct truth *truth = ARENA_NEW(keep, struct truth);

    if (truth == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "truth");
    describe(crash, keep, out);
    analysis_timing(crash, &out->timing);
    const struct truth *stated = analysis->truth;
    if (stated == NULL && case_file(crash, ROLE_TRUTH) != NULL) {
        if (truth_read(crash, keep, truth, fault) != ERR_NONE)
            return fault->code;
        stated = truth;
    }
    if (ask_engines(analysis, &in, keep, out, fault) != ERR_NONE)
        return fault->code;
    if (analysis_judge(analysis, crash, stated, keep, out, fault) != ERR_NONE)
        return fault->code;
    return analysis->once ? ERR_NONE : analysis_keep_files(analysis, crash, keep, out, fault);
}

static void add_root(const char *root, const char **roots, uint32_t *count)
{
    if (root == NULL || !path_is_folder(root))
        return;
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(roots[i], root) == 0)
            return;
    roots[(*count)++] = root;
}

/* FOLDER without its last two parts, and "symbols": the same text for cases of one run. */
static const char *shared_store(const char *folder, struct arena *keep)
{
    size_t length = strlen(folder);

    for (int part = 0; part < 2; part++) {
        while (length > 0 && folder[length - 1] == '/')
            length--;
        while (length > 0 && folder[length - 1] != '/')
            length--;
    }
    if (length == 0) /* too short to shorten: "CASE" or "cases/CASE" */
        return arena_printf(keep, "%s/../../symbols", folder);
    return arena_printf(keep, "%.*ssymbols", (int)length, folder);
}

void analysis_add_roots(const struct crash_case *crash, struct arena *keep, const char **roots,
                        uint32_t *count)
{
    bool shared = false, inside = false;

    for (uint32_t i = 0; i < crash->file_count; i++) {
        const struct case_file *file = &crash->files[i];
        if (file->role != ROLE_IMAGE && file->role != ROLE_PDB)
            continue;
        if (strncmp(file->path, "../", 3) == 0)
            shared = true;
        else
            inside = true;
    }
    if (shared)
        add_root(shared_store(crash->folder, keep), roots, count);
    if (inside)
        add_root(crash->folder, roots, count);
}
