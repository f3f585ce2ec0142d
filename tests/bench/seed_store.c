/* Fills a database with made-up runs for tests, measurements and screenshots of the dashboard. They
 * pass through the same compare and store as real runs.
 *
 *     seed_store FILE RUNS CASES BIG [wide | newest | red]
 *
 * The database gets one run of BIG cases (unless BIG is 0), then RUNS small runs of CASES cases.
 * The big run is older than all others; with "newest", it is newer than those that are there; with
 * "red", also, and two faults break the dump's walk in all of its cases.
 * Cases repeat the same few names, but with "wide", every six cases of the big run have a scenario
 * of their own. The same arguments give the same runs. Some names are hostile on purpose: pages
 * must show them as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "compare/compare.h"
#include "store/statements.h"
#include "store/store.h"

enum { FRAMES = 9, ENGINES = 5, OWN = 6 };
enum { NEWEST = 10000 };   /* more than the small runs ever are */
enum { SLOWER_FROM = 25 }; /* runs whose dumps take a third longer to write: a step in a trend */

static const char *const engine_names[ENGINES] = {"offset:rtl", "dump", "offset:dbghelp",
                                                  "offset:backtrace", "judge:llvm-symbolizer"};
static const char *const shares[ENGINES] = {"PDB reader, names", "PDB reader, names, unwinder",
                                            "PDB reader, names", "PDB reader, names", NULL};

static const struct {
    const char *name, *kind, *leaf;
} scenarios[] = {
    {"null_write", "crash", "poke"},
    {"inline_chain", "crash", "quarter"},
    {"inline_twice", "crash", "store_at"},
    {"recursion", "crash", "descend"},
    {"callback_through_system", "crash", "compare_rows"},
    {"crash_in_dll", "crash", "plugin_work"},
    {"noreturn_tail", "crash", "never_returns"},
    {"stack_overflow", "crash", "dig"},
    {"abort_call", "crash", "give_up"},
    {"deadlock", "hang", "take_second"},
    {"spin", "hang", "turn"},
    {"<script>document.title='owned'</script>", "crash", "<img src=x onerror=document.title=1>"},
};

enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static uint32_t seed_state = 1;
static bool red;

static uint32_t roll(uint32_t below)
{
    seed_state ^= seed_state << 13;
    seed_state ^= seed_state >> 17;
    seed_state ^= seed_state << 5;
    return seed_state % below;
}

static const struct module modules[] = {
    {.index = 0,
     .name = "victims-ob2.exe",
     .pdb_name = "victims-ob2.pdb",
     .code_id = "5F3A1C0086000",
     .debug_id = "0B9A4D7E3C2F4E11A1B2C3D4E5F601231",
     .base_va = UINT64_C(0x140000000),
     .image_bytes = 0x86000,
     .unloaded_at_ns = MODULE_STILL_LOADED},
    {.index = 1,
     .name = "kernel32.dll",
     .code_id = "6111AA0040000",
     .base_va = UINT64_C(0x7b600000),
     .image_bytes = 0x40000,
     .unloaded_at_ns = MODULE_STILL_LOADED},
    {.index = 2,
     .name = "ntdll.dll",
     .code_id = "6111AB0090000",
     .base_va = UINT64_C(0x170000000),
     .image_bytes = 0x90000,
     .unloaded_at_ns = MODULE_STILL_LOADED},
    {.index = 0, /* replaces the first in the variant without inlining */
     .name = "victims-ob0.exe",
     .pdb_name = "victims-ob0.pdb",
     .code_id = "5F3A1C0186000",
     .debug_id = "1B9A4D7E3C2F4E11A1B2C3D4E5F601231",
     .base_va = UINT64_C(0x140000000),
     .image_bytes = 0x86000,
     .unloaded_at_ns = MODULE_STILL_LOADED},
};

static const char *const callers[OWN] = {NULL,           "middle", "outer", "scenario_body",
                                         "run_scenario", "main"};

/* Fills the frames, innermost first: own frames (two are inlined in ob2), then system frames. */
static void fill_frames(struct frame *frames, uint32_t scenario, bool inlined)
{
    static const uint32_t lines[OWN] = {17, 24, 31, 46, 112, 160};
    uint32_t index = 0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct frame *f = &frames[i];
        bool own = i < OWN, in = own && inlined && (i == 0 || i == 1);
        const struct module *module = own ? &modules[inlined ? 0 : 3] : &modules[i == OWN ? 1 : 2];
        *f = (struct frame){
            .index = index,
            .inline_depth = (uint16_t)(in ? 2 - i : 0),
            .kind = index == 0 ? PC_INTERRUPTED : PC_RETURN,
            .found_by = in           ? FOUND_INLINED
                        : index == 0 ? FOUND_CONTEXT
                                     : FOUND_UNWIND,
            .symbols = own ? SYMBOLS_PDB : SYMBOLS_EXPORT,
            .frame_class = own ? CLASS_OWN : CLASS_SYSTEM,
            .module = module,
            .module_name = module->name,
            .offset = 0x1000 + index * 0x40 + (own ? scenario * 0x200 : 0x9000),
            .function = i == 0     ? scenarios[scenario].leaf
                        : own      ? callers[i]
                        : i == OWN ? "BaseThreadInitThunk"
                                   : "RtlUserThreadStart",
            .file = own ? "victims/crash/scenario.c" : NULL,
            .line = own ? lines[i] : 0,
            .compiland = own ? "scenario.c.obj" : NULL,
        };
        f->pc_va = module->base_va + f->offset;
        index += in ? 0 : 1;
    }
}

static struct truth *make_truth(struct arena *keep, const struct frame *frames)
{
    struct truth *truth = ARENA_NEW(keep, struct truth);
    truth->threads = ARENA_NEW(keep, struct truth_thread);
    truth->thread_count = 1;
    truth->threads->id = 36;
    truth->threads->role = THREAD_ROLE_SUSPECT;
    truth->threads->frames = ARENA_ARRAY(keep, OWN, struct truth_frame);
    truth->threads->frame_count = OWN;
    for (uint32_t i = 0; i < OWN; i++)
        truth->threads->frames[i] = (struct truth_frame){
            .function = frames[i].function, .file = frames[i].file, .line = frames[i].line};
    return truth;
}

static bool is_skipping(const char *scenario)
{
    return strstr("null_write noreturn_tail recursion", scenario) != NULL;
}

/* Adds the typical errors of each engine: dbghelp loses inline frames, backtrace sometimes stops
 * early, the dump engine rarely has a wrong line, and so on. */
static void spoil(struct stack *stack, uint32_t engine, const char *scenario)
{
    if (red) {
        /* Fault one: the two outermost frames are lost, of which no truth knows. Fault two: a frame
         * of the program is skipped, in one of four scenarios. */
        const bool two = is_skipping(scenario);
        if (engine == 1 && two) {
            memmove(&stack->frames[4], &stack->frames[5], 4 * sizeof *stack->frames);
            stack->frame_count--;
        } else if (engine == 1) {
            stack->frame_count -= 2;
        }
        return;
    }
    if (engine == 2) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < stack->frame_count; i++)
            if (stack->frames[i].inline_depth == 0)
                stack->frames[kept++] = stack->frames[i];
        stack->frame_count = kept;
    } else if (engine == 3 && roll(4) == 0) {
        stack->frame_count = 5;
        stack_set_stop_text(stack, "no more frames");
    } else if (engine == 1 && roll(9) == 0) {
        stack->frames[3].line++;
    } else if (engine == 0 && roll(23) == 0) {
        stack->frames[4].function = "std::vector<row, allocator<row>>::push_back";
    }
}

/* Adds the evidence that the dump engine keeps for each physical frame. SKIPS: of fault two. */
static void explain(struct arena *keep, struct stack *stack, bool skips)
{
    struct frame_evidence *rows = ARENA_ARRAY(keep, FRAMES, struct frame_evidence);
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *f = &stack->frames[i];
        if (f->inline_depth != 0)
            continue;
        rows[stack->evidence_count++] = (struct frame_evidence){
            .index = f->index,
            .sp_va = 0x21fe40 + f->index * 0x40,
            .where = "body",
            .function_begin_rva = (uint32_t)f->offset & ~0x3fu,
            .function_end_rva = ((uint32_t)f->offset & ~0x3fu) + 0x90,
            .unwind_data_va = f->module->base_va + 0x4000 + f->index * 0x10,
            .return_slot_va = 0x21fe78 + f->index * 0x40,
            .caller_sp_va = 0x21fe80 + f->index * 0x40,
            .steps = "+0x05 UWOP_ALLOC_SMALL 40 bytes\n+0x01 UWOP_PUSH_NONVOL rbx\n"
                     "-0x09 UWOP_SAVE_XMM128 xmm6 at +0x20",
            .code_before = "4883ec28488b8900000000e8f2ffffff",
            .code_after = "c70001000000904883c4285bc3cccccc",
            .code_aligned = true};
    }
    for (uint32_t i = 0; skips && i < stack->evidence_count; i++)
        rows[i].steps = "+0x08 UWOP_SET_FPREG rbp\n+0x01 UWOP_PUSH_NONVOL rbp";
    stack->evidence = rows;
}

/* Adds the return slot that is found for an offset stack where the dump's walk, of fault two, skips
 * the frame after the fourth. */
static void explain_parting(struct arena *keep, struct stack *stack)
{
    struct frame_evidence *row = ARENA_NEW(keep, struct frame_evidence);
    *row = (struct frame_evidence){.index = stack->frames[3].index,
                                   .return_slot_va = 0x21fe68 + stack->frames[3].index * 0x40};
    stack->evidence = row;
    stack->evidence_count = 1;
}

/* Returns the 180 lines of source that all frames name; some lines look like markup. */
static const char *source_text(struct arena *keep)
{
    static const char *const lines[] = {"/* </script><img src=x onerror=document.title=1> */",
                                        "static int poke(volatile int *p)", "{",
                                        "    return HERE(*p = 1) + 1;", "}"};
    char *text = arena_alloc(keep, 180 * 64);
    size_t at = 0;
    for (int i = 0; text != NULL && i < 180; i++)
        at += (size_t)sprintf(text + at, "%s\n", lines[i % 5]);
    return text;
}

static void fill_claim(struct arena *keep, struct engine_claim *claim, uint32_t engine,
                       const char *scenario, const struct frame *frames)
{
    static const uint32_t base_us[ENGINES] = {38, 610, 45, 41, 190000};
    struct stack *stack = ARENA_NEW(keep, struct stack);
    stack->engine = engine_names[engine];
    stack->thread_id = 36;
    stack->role = THREAD_ROLE_SUSPECT;
    stack->stop = STOP_END;
    stack->frames = ARENA_ARRAY(keep, FRAMES, struct frame);
    stack->frame_count = FRAMES;
    memcpy(stack->frames, frames, FRAMES * sizeof *frames);
    spoil(stack, engine, scenario);
    const uint64_t total = (uint64_t)base_us[engine] * (700 + roll(700));
    struct engine_cost cost = {.open_ns = total / 5,
                               .load_ns = total / 4,
                               .unwind_ns = engine == 1 ? total / 3 : 0,
                               .resolve_ns = total / 6,
                               .total_ns = total,
                               .peak_bytes = 9u << 20};
    stack->cost = cost;
    if (engine == 1)
        explain(keep, stack, red && is_skipping(scenario));
    if (engine == 0 && red && is_skipping(scenario))
        explain_parting(keep, stack);
    *claim = (struct engine_claim){.engine = engine_names[engine],
                                   .shares = shares[engine],
                                   .version = engine == 4 ? "19.1.7" : NULL,
                                   .subject = engine < 2,
                                   .stacks = stack,
                                   .stack_count = 1,
                                   .cost = cost};
}

static const char source_url[] = "https://example.invalid/raw/victims/crash/scenario.c";

/* Sets the repeat of case N, or if WIDE, its scenario and one of its six variants. */
static void name_case(struct run_case *c, uint32_t n, bool wide, struct arena *keep)
{
    static const char *const variants[] = {"o0", "ob0", "ob2", "ob2-fp", "x86-ob0", "x86-ob2"};
    enum { VARIANTS = sizeof variants / sizeof variants[0] };
    if (!wide) {
        c->repeat = n / (2 * SCENARIOS);
        return;
    }
    c->scenario =
        arena_printf(keep, "%s_%04u", scenarios[n / VARIANTS % (SCENARIOS - 1)].name, n / VARIANTS);
    c->variant = variants[n % VARIANTS];
}

static bool put_case(struct store *store, uint64_t run_id, uint32_t n, bool wide,
                     struct fault *fault)
{
    struct arena keep;
    struct frame frames[FRAMES];
    const uint32_t scenario = (n / 2) % SCENARIOS;
    const bool inlined = n % 2 != 0;

    arena_init(&keep, 0);
    fill_frames(frames, scenario, inlined);
    const struct truth *truth = make_truth(&keep, frames);
    struct engine_claim *claims = ARENA_ARRAY(&keep, ENGINES, struct engine_claim);
    for (uint32_t e = 0; e < ENGINES; e++)
        fill_claim(&keep, &claims[e], e, scenarios[scenario].name, frames);
    const uint32_t hooks = HOOK_BIT(CASE_HOOK_VECTORED) | HOOK_BIT(CASE_HOOK_UNHANDLED);
    static struct case_file files[] = {{.role = ROLE_RECORD, .path = "record.bin", .bytes = 4096},
                                       {.role = ROLE_DUMP, .path = "dump.dmp", .bytes = 96000}};
    const struct crash_case crash = {
        .scenario = scenarios[scenario].name,
        .variant = inlined ? "ob2" : "ob0",
        .kind = case_kind_parse(scenarios[scenario].kind),
        .expect = {.code = 0xC0000005, .exit_code = 0xC0000005, .hooks = hooks},
        .got = {.code = 0xC0000005,
                .exit_code = 0xC0000005,
                .hooks = hooks,
                .wall_ms = 300,
                .ended_by = CASE_ENDING_EXIT},
        .own = {.source_root = "."},
        .files = files,
        .file_count = 2};
    const struct compare_input input = {
        .crash = &crash, .truth = truth, .claims = claims, .claim_count = ENGINES};
    struct run_case c = {
        .scenario = crash.scenario,
        .variant = crash.variant,
        .folder = getenv("SEED_FOLDER"), /* a folder with a dump.dmp, for every case */
        .arch = CPU_X64,
        .kind = crash.kind,
        .expected_hooks = hooks,
        .got_hooks = roll(12) == 0 ? HOOK_BIT(CASE_HOOK_WATCHER) : hooks,
        .expected_code = 0xC0000005,
        .got_code = 0xC0000005,
        .expected_exit_code = 0xC0000005,
        .got_exit_code = 0xC0000005,
        .wall_ms = 300 + roll(100),
        .timing = {.walk_ns = 21000 + roll(9000),
                   .record_write_ns = 90000 + roll(50000),
                   .dump_write_ns = (4100000 + roll(1500000)) * (run_id >= SLOWER_FROM ? 4 : 3) / 3,
                   .stop_walk_ns = 310000 + roll(90000),
                   .stop_dump_ns = 5100000 + roll(900000),
                   .record_bytes = 4096 + roll(2000),
                   .dump_bytes = 96000 + roll(30000)},
        .claims = claims,
        .claim_count = ENGINES,
        .truth = truth};
    name_case(&c, n, wide, &keep);
    const char *text = source_text(&keep);
    struct case_artifact files_kept[] = {
        {.role = ARTIFACT_SOURCE, .name = "victims/crash/scenario.c", .data = text},
        {.role = ARTIFACT_RECORD, .name = "record.rec", .data = "\0\1\2", .bytes = 3},
        {.role = ARTIFACT_SOURCE_LINK,
         .name = "victims/crash/scenario.c",
         .data = source_url,
         .bytes = sizeof source_url - 1}};
    if (text != NULL) {
        files_kept[0].bytes = strlen(text);
        c.artifacts = files_kept;
        c.artifact_count = sizeof files_kept / sizeof files_kept[0];
        for (uint32_t i = 0; i < c.artifact_count; i++)
            text_sha256(files_kept[i].data, files_kept[i].bytes, files_kept[i].sha256);
    }
    enum status status = compare_case(&input, &keep, &c.result, fault);
    if (status == ERR_NONE)
        status = store_put_case(store, run_id, &c, fault);
    arena_free(&keep);
    return status == ERR_NONE;
}

static bool put_run(struct store *store, uint32_t n, uint32_t cases, bool wide, struct fault *fault)
{
    struct arena keep;
    struct named_version managed[] = {
        {"managed stacks: throws", "plain 934/1000 (66r), seeded 979/1000 (20r 1h), copy 1000/1000,"
                                   " in-place 200/200, measured 2026-11-22"},
        {"managed stacks: compiles", "plain 683/1000 (317r), copy 998/1000 (1e 1w)"}};
    struct named_version tools[] = {{"twinstack", "0.1.0"}, {"clang", "19.1.7"}};
    char commit[48];

    arena_init(&keep, 0);
    (void)snprintf(commit, sizeof commit, "%08x%08x%08x%08x%08x", n * 2654435761u, n, n * 97u,
                   n * 31u, n * 7u);
    struct run_info run = {.label = "run",
                           .started_ns = UINT64_C(1760000000000000000) +
                                         (uint64_t)n * UINT64_C(3600000000000),
                           .commit = commit,
                           .branch = "main",
                           .platform = "linux x86-64, wine 8.0",
                           .compiler = n % 40 < 20 ? "clang 19.1.4" : "clang 19.1.7",
                           .flags = "/O2 /Ob2",
                           .cpu = "made up",
                           .command = "twinstack run",
                           .environment = managed,
                           .environment_count = COUNT_OF(managed),
                           .tools = tools,
                           .tool_count = 2};
    bool good = store_begin_run(store, &run, &keep, fault) == ERR_NONE;
    for (uint32_t i = 0; good && i < cases;) { /* a transaction for many: 10,000 take */
        good = database_begin(&store->database, fault) == ERR_NONE;
        for (uint32_t end = i + 500; good && i < cases && i < end; i++)
            good = put_case(store, run.id, i, wide, fault);
        good = database_end(&store->database, fault->code, fault) == ERR_NONE && good;
    }
    if (good)
        good = store_finish_run(store, run.id, RUN_COMPLETE, run.started_ns + UINT64_C(41000000000),
                                fault) == ERR_NONE;
    if (good && n == 1)
        good = store_set_baseline(store, run.id, NULL, NULL, fault) == ERR_NONE;
    arena_free(&keep);
    return good;
}

int main(int argc, char **argv)
{
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;

    const bool wide = argc == 6 && strcmp(argv[5], "wide") == 0;
    const bool broken = argc == 6 && strcmp(argv[5], "red") == 0;
    const bool newest = broken || (argc == 6 && strcmp(argv[5], "newest") == 0);
    if (argc != 5 && !wide && !newest) {
        (void)fputs("usage: seed_store FILE RUNS CASES BIG [wide | newest | red]\n", stderr);
        return 2;
    }
    const uint32_t runs = (uint32_t)strtoul(argv[2], NULL, 10);
    const uint32_t cases = (uint32_t)strtoul(argv[3], NULL, 10);
    const uint32_t big = (uint32_t)strtoul(argv[4], NULL, 10);
    bool good = store_open(argv[1], STORE_WRITE, &store, &fault) == ERR_NONE;
    if (good && big > 0)
        good = broken || put_run(store, newest ? NEWEST : 0, big, wide, &fault);
    for (uint32_t n = 1; good && n <= runs; n++)
        good = put_run(store, n, cases, false, &fault);
    red = broken;
    if (good && broken)
        good = put_run(store, NEWEST, big, false, &fault);
    if (store != NULL)
        store_close(store);
    if (!good) {
        char text[512];
        fault_describe(&fault, text, sizeof text);
        (void)fprintf(stderr, "seed_store: %s\n", text);
        return 1;
    }
    return 0;
}
