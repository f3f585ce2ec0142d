/* twinstack steps: the walk at every instruction, walker by walker, and our own unwinder over the
 * same states. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process.h"
#include "engine/steps_score.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/harness.h"
#include "verbs/verbs.h"

enum { ASSEMBLER_LIMIT_MS = 10000, ROOTS_PER_IMAGE = 2, FRAMES_SHOWN = 8 };
#define NO_MOMENT UINT64_MAX

struct steps_options {
    struct harness harness;
    struct option_list variants, symbols;
    const char *out, *walkers, *pack;
    uint64_t moment; /* NO_MOMENT: none */
    struct fetch_words fetch;
    bool as_json, details;
};

/* One file of steps, judged. */
struct judged {
    const char *name; /* the variant, else the file's name */
    struct steps_verdict verdict;
    struct symbol_store *symbols; /* NULL: none */
    struct steps_session *session;
};

struct steps_run {
    const struct steps_options *o;
    struct arena *keep;
    struct json json;
    uint32_t files, imperfect; /* files in which our unwinder was not right at every instruction */
    uint64_t instructions, right, wrong; /* of our unwinder in all files; the rest was early */
    struct fault fault;
};

/* ---- the first wrong instruction ------------------------------------------------------ */

/* The instruction as LLVM's disassembler prints it; NULL: that program is missing. */
static const char *disassemble(const struct steps_miss *miss, enum cpu cpu, struct arena *keep)
{
    const char *program = process_find("llvm-mc-19", keep);
    const char *const argv[] = {
        program != NULL ? program : process_find("llvm-mc", keep), "--disassemble",
        cpu == CPU_X86 ? "--triple=i686-pc-windows-msvc" : "--triple=x86_64-pc-windows-msvc", NULL};
    char text[STEPS_CODE_BYTES * 5 + 1];
    struct process_request request = {.argv = argv, .limit_ms = ASSEMBLER_LIMIT_MS};
    struct process_result answer;
    struct fault ignored = FAULT_INIT;

    for (uint32_t i = 0; i < miss->code_bytes; i++)
        (void)snprintf(text + (size_t)i * 5, 6, "0x%02x ", miss->code[i]);
    request.input = text;
    request.input_bytes = (size_t)miss->code_bytes * 5;
    if (argv[0] == NULL || miss->code_bytes == 0 ||
        process_run(&request, keep, &answer, &ignored) != ERR_NONE)
        return NULL;
    for (char *line = answer.output; line != NULL && *line != '\0';) {
        char *end = line + strcspn(line, "\r\n");
        const bool is_code = *line == '\t' && line[1] != '.';
        if (is_code) {
            *end = '\0';
            for (char *p = line; *p != '\0'; p++)
                *p = *p == '\t' ? ' ' : *p;
            return line + 1;
        }
        line = *end != '\0' ? end + 1 : end;
    }
    return NULL;
}

static const char *hex_of(const struct steps_miss *miss, struct arena *keep)
{
    char *text = arena_alloc(keep, STEPS_CODE_BYTES * 3 + 1);
    for (uint32_t i = 0; text != NULL && i < miss->code_bytes; i++)
        (void)snprintf(text + (size_t)i * 3, 4, "%s%02x", i > 0 ? " " : "", miss->code[i]);
    return text;
}

/* Its place: "function+0x12"; NULL: no symbols. */
static const char *function_at(const struct judged *judged, const struct steps_miss *miss,
                               struct arena *keep)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    if (judged->symbols == NULL || miss->module == NULL)
        return NULL;
    const uint32_t count = symbol_lookup(symbol_store_module(judged->symbols, miss->module),
                                         miss->pc_va - miss->module->base_va, frames);
    const struct symbol_frame *at = count > 0 ? &frames[count - 1] : NULL;
    if (at == NULL || at->function == NULL)
        return NULL;
    return arena_printf(keep, "%s+0x%" PRIx64, at->function, at->distance);
}

static void print_frames(const char *who, const uint64_t *pcs, uint32_t count)
{
    (void)printf("      %-6s", who);
    for (uint32_t i = 0; i < count && i < FRAMES_SHOWN; i++)
        (void)printf(" %" PRIx64, pcs[i]);
    const char *end = count == 0 ? " nothing" : "";
    (void)printf("%s\n", count > FRAMES_SHOWN ? " ..." : end);
}

static void print_miss(const struct judged *judged, const struct steps_tally *tally,
                       struct arena *keep)
{
    const struct steps_miss *miss = &tally->first;
    const char *function = function_at(judged, miss, keep),
               *code = disassemble(miss, judged->verdict.cpu, keep);
    (void)printf("    %s, first %s: step %" PRIu32 ", ", tally->walker,
                 tally->first_is_wrong ? "wrong" : "early", miss->step);
    if (miss->module != NULL)
        (void)printf("%s!0x%" PRIx64 " ", miss->module->name, miss->pc_va - miss->module->base_va);
    (void)printf("%s: %s\n", function != NULL ? function : "", code != NULL ? code : "");
    if (code == NULL)
        (void)printf("      bytes  %s\n", hex_of(miss, keep));
    print_frames("truth", miss->truth, miss->truth_count);
    print_frames("walker", miss->claim, miss->claim_count);
}

enum { WALKER_WIDTH = 14 };

static void print_text(const struct judged *judged, bool details, struct arena *keep)
{
    const struct steps_verdict *v = &judged->verdict;
    int width = WALKER_WIDTH;
    for (uint32_t i = 0; i < v->tally_count; i++)
        if ((int)strlen(v->tallies[i].walker) > width)
            width = (int)strlen(v->tallies[i].walker);
    (void)printf("%s: a walk at each of %" PRIu32 " instructions\n", judged->name, v->steps);
    (void)printf("  %-*s %8s %8s %8s %9s\n", width, "walker", "right", "early", "wrong", "right");
    for (uint32_t i = 0; i < v->tally_count; i++) {
        const struct steps_tally *t = &v->tallies[i];
        const uint32_t all = t->right + t->early + t->wrong;
        /* Rounded down, so that 100 % means never wrong. */
        const uint64_t share = all > 0 ? (uint64_t)t->right * 10000 / all : 0;
        (void)printf("  %-*s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %5" PRIu64 ".%02" PRIu64
                     " %%\n",
                     width, t->walker, t->right, t->early, t->wrong, share / 100, share % 100);
    }
    for (uint32_t i = 0; details && i < v->tally_count; i++)
        if (v->tallies[i].missed)
            print_miss(judged, &v->tallies[i], keep);
}

static void write_pcs(struct json *j, const char *key, const uint64_t *pcs, uint32_t count)
{
    json_key_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        json_hex(j, pcs[i]);
    json_array_end(j);
}

static void write_miss(struct json *j, const struct judged *judged, const struct steps_tally *tally,
                       struct arena *keep)
{
    const struct steps_miss *miss = &tally->first;
    if (!tally->missed) {
        json_key_null(j, "first");
        return;
    }
    json_key_object(j, "first");
    json_key_string(j, "answer", tally->first_is_wrong ? "wrong" : "early");
    json_key_uint(j, "step", miss->step);
    json_key_hex(j, "address", miss->pc_va);
    json_key_string(j, "module", miss->module != NULL ? miss->module->name : NULL);
    if (miss->module != NULL)
        json_key_hex(j, "offset", miss->pc_va - miss->module->base_va);
    else
        json_key_null(j, "offset");
    json_key_string(j, "function", function_at(judged, miss, keep));
    json_key_string(j, "code", hex_of(miss, keep));
    json_key_string(j, "instruction", disassemble(miss, judged->verdict.cpu, keep));
    write_pcs(j, "truth", miss->truth, miss->truth_count);
    write_pcs(j, "claim", miss->claim, miss->claim_count);
    json_object_end(j);
}

static void write_json(struct json *j, const struct judged *judged, struct arena *keep)
{
    const struct steps_verdict *v = &judged->verdict;
    json_object(j);
    json_key_string(j, "name", judged->name);
    json_key_null(j, "unsupported");
    json_key_uint(j, "instructions", v->steps);
    json_key_array(j, "walkers");
    for (uint32_t i = 0; i < v->tally_count; i++) {
        const struct steps_tally *t = &v->tallies[i];
        json_object(j);
        json_key_string(j, "walker", t->walker);
        json_key_uint(j, "right", t->right);
        json_key_uint(j, "early", t->early);
        json_key_uint(j, "wrong", t->wrong);
        write_miss(j, judged, t, keep);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

/* ---- one file ------------------------------------------------------------------------- */

/* Adds its images, the PDB beside each, and what --symbols names. */
static struct symbol_store *open_symbols(struct steps_run *run, const char *const *images,
                                         uint32_t image_count)
{
    const struct option_list *named = &run->o->symbols;
    const size_t most = (size_t)image_count * ROOTS_PER_IMAGE + named->count;
    const char **roots = ARENA_ARRAY(run->keep, most + 1, const char *);
    struct symbol_store_options options = {
        .roots = roots, .names = NAMES_SHORT, .fetch = fetch_options_make(&run->o->fetch)};
    struct symbol_store *store = NULL;

    if (roots == NULL || most == 0)
        return NULL;
    for (uint32_t i = 0; i < image_count; i++) {
        const char *dot = strrchr(images[i], '.');
        const int stem = (int)(dot != NULL ? (size_t)(dot - images[i]) : strlen(images[i]));
        const char *pdb = arena_printf(run->keep, "%.*s.pdb", stem, images[i]);
        roots[options.root_count++] = images[i];
        if (pdb != NULL && path_is_file(pdb))
            roots[options.root_count++] = pdb;
    }
    for (uint32_t i = 0; i < named->count; i++)
        roots[options.root_count++] = named->items[i];
    return symbol_store_open(&options, &store, &run->fault) == ERR_NONE ? store : NULL;
}

static void tell(struct steps_run *run, const struct judged *judged)
{
    const struct steps_tally *ours = &judged->verdict.tallies[0];
    if (run->o->as_json)
        write_json(&run->json, judged, run->keep);
    else
        print_text(judged, run->o->details, run->keep);
    run->files++;
    run->imperfect += judged->verdict.tally_count == 0 || ours->right != judged->verdict.steps;
    run->instructions += judged->verdict.steps;
    run->right += ours->right;
    run->wrong += ours->wrong;
}

/* With --writer microsoft, the walkers that call dbghelp call Microsoft's, where there is one for
 * the processor. */
static void name_writer(const struct steps_run *run, struct steps_verdict *verdict)
{
    const struct harness *h = &run->o->harness;
    const char *const *dlls = verdict->cpu == CPU_X86 ? h->dlls_x86 : h->dlls;
    if (dlls[0] == NULL || dlls[1] == NULL)
        return;
    for (uint32_t i = 0; i < verdict->tally_count; i++) {
        struct steps_tally *t = &verdict->tallies[i];
        const char *name = strncmp(t->walker, "dbghelp", 7) == 0
                               ? arena_printf(run->keep, "%s (Microsoft)", t->walker)
                               : NULL;
        t->walker = name != NULL ? name : t->walker;
    }
}

static enum status judge_file(struct steps_run *run, const char *name, const char *path,
                              const char *const *images, uint32_t image_count)
{
    struct judged judged = {.name = name};
    judged.symbols = open_symbols(run, images, image_count);
    if (run->fault.code == ERR_NONE &&
        steps_session_open(path, judged.symbols, run->keep, &judged.session, &run->fault) ==
            ERR_NONE &&
        steps_session_judge(judged.session, &judged.verdict, &run->fault) == ERR_NONE) {
        name_writer(run, &judged.verdict);
        tell(run, &judged);
        if (run->o->pack != NULL)
            (void)steps_session_pack(judged.session, run->o->pack, &run->fault);
    }
    fault_set_path(&run->fault, path);
    steps_session_close(judged.session);
    symbol_store_close(judged.symbols);
    return run->fault.code;
}

static void show_stepping(const char *variant)
{
    log_progress("walking at every instruction: %s", variant);
}

static enum status make_and_judge(struct steps_run *run, struct collect_options *options)
{
    const struct steps_options *o = run->o;
    struct collected_steps *made = NULL;
    uint32_t count = 0;

    options->out_folder = o->out;
    options->stepping = show_stepping;
    (void)collect_steps(options, o->variants.items, o->variants.count, o->walkers, run->keep, &made,
                        &count, &run->fault);
    log_progress_end();
    if (run->fault.code != ERR_NONE)
        return run->fault.code;
    for (uint32_t i = 0; i < count && run->fault.code == ERR_NONE; i++)
        (void)judge_file(run, made[i].variant, made[i].file, made[i].images, made[i].image_count);
    return run->fault.code;
}

/* ---- the verb ------------------------------------------------------------------------- */

/* "STEPS  2 builds, 13105 instructions: our walk was right at each". */
static void print_total(const struct steps_run *run)
{
    const uint64_t early = run->instructions - run->right - run->wrong;
    (void)printf("STEPS  %" PRIu32 " build%s, %" PRIu64 " instructions: our walk was right at ",
                 run->files, run->files == 1 ? "" : "s", run->instructions);
    if (run->right == run->instructions)
        (void)printf("each\n");
    else
        (void)printf("%" PRIu64 ", wrong at %" PRIu64 ", and ended early at %" PRIu64
                     "; --details shows where first\n",
                     run->right, run->wrong, early);
}

static int finish(const struct steps_run *run)
{
    if (run->fault.code != ERR_NONE)
        return verb_fault(&run->fault);
    if (run->files == 0) {
        log_warn("no steps-*.exe of those variants there");
        return EXIT_NOTHING;
    }
    if (!run->o->as_json)
        print_total(run);
    return run->imperfect > 0 ? EXIT_DIFFERENT : EXIT_GOOD;
}

/* The one FILE, from which one moment becomes the draft of a case. */
static int draft(struct steps_run *run, const char *path)
{
    struct steps_session *session = NULL;
    struct json j;
    struct symbol_store *symbols = open_symbols(run, NULL, 0);
    json_to_stream(&j, stdout, true);
    if (run->fault.code == ERR_NONE &&
        steps_session_open(path, symbols, run->keep, &session, &run->fault) == ERR_NONE)
        (void)steps_session_draft(session, (uint32_t)run->o->moment, &j, &run->fault);
    steps_session_close(session);
    symbol_store_close(symbols);
    if (run->fault.code == ERR_NONE)
        return EXIT_GOOD;
    fault_set_path(&run->fault, path);
    return verb_fault(&run->fault);
}

static int judge_all(const struct verb *self, void *given, const struct option_list *files,
                     struct arena *keep)
{
    struct steps_options *o = given;
    process_catch_interrupts();
    struct steps_run run = {.o = o, .keep = keep, .fault = FAULT_INIT};
    struct collect_options options = {0};

    if (!harness_options(&o->harness, &options))
        return verb_usage_error(self, "--launcher has too many words");
    if (o->pack != NULL && (files->count > 0 ? files->count : o->variants.count) != 1)
        return verb_usage_error(self, "--pack takes one FILE, or one --variant");
    if (o->harness.writer != NULL && files->count > 0)
        return verb_usage_error(self,
                                "--writer is for builds that run now, FILE was walked before");
    if (o->moment != NO_MOMENT)
        return files->count == 1 && o->moment <= UINT32_MAX
                   ? draft(&run, files->items[0])
                   : verb_usage_error(self, "--moment takes one FILE and the number of a step");
    if (harness_debugger(&o->harness, &run.fault) != ERR_NONE ||
        harness_writer(&o->harness, keep, &options, &run.fault) != ERR_NONE)
        return verb_fault(&run.fault);
    if (o->as_json) {
        json_to_stream(&run.json, stdout, true);
        json_object(&run.json);
        json_key_uint(&run.json, "schema_version", 1);
        json_key_array(&run.json, "runs");
    }
    for (uint32_t i = 0; i < files->count && run.fault.code == ERR_NONE; i++)
        (void)judge_file(&run, path_base(files->items[i]), files->items[i], NULL, 0);
    if (files->count == 0)
        (void)make_and_judge(&run, &options);
    if (o->as_json) {
        json_array_end(&run.json);
        json_object_end(&run.json);
        json_newline(&run.json);
    }
    return finish(&run);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct steps_options o = {.out = "build/steps", .moment = NO_MOMENT};
    const struct option_row rows[] = {
        OPTION_AS(VARIANT, &o.variants, "default: every one that is built"),
        {"--walkers", OPTION_STRING, &o.walkers, "LIST", "rtl,dbghelp,... (default all)"},
        OPTION_AS(OUT, &o.out, "the states; default build/steps"),
        OPTION_AS(SYMBOLS, &o.symbols, "with FILE"),
        FETCH_OPTION_ROWS(o.fetch),
        {"--pack", OPTION_STRING, &o.pack, "OUT",
         "write the states to OUT with the image bytes that a replay needs"},
        {"--moment", OPTION_UINT, &o.moment, "STEP",
         "print that moment of FILE as a draft for `suite add`"},
        OPTION(JSON, &o.as_json),
        OPTION_AS(DETAILS, &o.details,
                  "the first wrong step of each walker: instruction, truth, and its stack"),
        OPTION(PROGRESS, NULL),
        HARNESS_ROWS(o.harness),
        HARNESS_DEBUGGER_ROW(o.harness),
        HARNESS_WRITER_ROW(o.harness),
    };

    harness_init(&o.harness);
    return verb_main(self, rows, COUNT_OF(rows), judge_all, &o, argc, argv);
}

const struct verb verb_steps = {
    .name = "steps",
    .summary = "check every walker at every instruction",
    .usage = "[--variant NAME]... [--walkers LIST] [--json] [FILE...]",
    .details =
        "Steps through functions of every unwind shape, runs every walker before each\n"
        "instruction, and replays the same states through our own unwinder (`ours`; on x86\n"
        "also `ours-no-pdb`, without the frame data of PDBs; `rtl` needs tables, which x86 lacks). "
        "The\n"
        "truth is a shadow stack of the calls and returns that were seen. `early`: the walk ended\n"
        "before the thread's start, without a wrong frame. The last line sums up all builds.\n"
        "FILE: replays states that were saved earlier, and runs nothing.\n\n"
        "examples:\n"
        "  twinstack steps --variant ob2\n"
        "  twinstack steps corpus/steps/ob2.rec",
    .exits = "  0  ours was right at every instruction\n"
             "  1  ours was wrong somewhere\n"
             "  2  usage\n"
             "  3  a file is missing or damaged; the programs do not run here\n"
             "  5  no such variant",
    .run = run,
};
