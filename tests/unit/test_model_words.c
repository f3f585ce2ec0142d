/* The words of the model, as its headers and the contracts state them: stores and documents keep
 * them, so each must stay, and lead back to the same value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/limits.h"
#include "model/bench.h"
#include "model/case.h"
#include "model/command_line.h"
#include "model/cpu.h"
#include "model/hook.h"
#include "model/lane.h"
#include "model/managed_samples.h"
#include "model/module.h"
#include "model/result.h"
#include "model/run_selection.h"
#include "model/stack.h"
#include "model/way.h"
#include "short_memory.h"
#include "test.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Each function as one of numbers. */
#define NAMES(function, type)                                                                      \
    static const char *function##_number(int number)                                               \
    {                                                                                              \
        return function((enum type)number);                                                        \
    }
#define PARSES(function)                                                                           \
    static int function##_number(const char *text)                                                 \
    {                                                                                              \
        return (int)function(text);                                                                \
    }

NAMES(bench_lane_name, bench_lane)
NAMES(bench_stage_name, bench_stage)
NAMES(case_way_name, case_way)
NAMES(cpu_name, cpu)
NAMES(found_by_name, found_by)
NAMES(found_by_rule, found_by)
NAMES(symbols_from_name, symbols_from)
NAMES(stack_state_name, stack_state)
NAMES(frame_class_name, frame_class)
NAMES(lane_way_name, case_way)
NAMES(lane_state_name, way_state)
PARSES(bench_lane_parse)
PARSES(bench_stage_parse)
PARSES(case_way_parse)
PARSES(cpu_parse)

TEST(words_stay_and_lead_back)
{
    const struct {
        const char *name;
        const char *(*name_of)(int);
        int (*parse)(const char *); /* NULL: nothing reads them */
        int none;                   /* what PARSE gives for any other text */
        int first;                  /* the value of the first word */
        const char *const *words;
    } rows[] = {
        {"lanes of a bench", bench_lane_name_number, bench_lane_parse_number, LANE_OTHER, 0,
         LIST("offset", "dump", "offset-control", "other")},
        {"stages of a bench", bench_stage_name_number, bench_stage_parse_number, STAGE_OTHER, 0,
         LIST("parse", "unwind", "load", "resolve", "total", "other")},
        {"ways", case_way_name_number, case_way_parse_number, WAY_COUNT, 0,
         LIST("foreign", "dump", "tuned", "offset")},
        {"ways of a lane", lane_way_name_number, NULL, 0, 0,
         LIST("foreign", "plain dump", "tuned dump", "offsets")},
        {"states of a lane", lane_state_name_number, NULL, 0, 0, LIST("no index", "index", "warm")},
        {"processors", cpu_name_number, cpu_parse_number, CPU_UNKNOWN, CPU_UNKNOWN,
         LIST("unknown", "x86", "x64", "arm64", "arm")},
        {"found by", found_by_name_number, NULL, 0, 0,
         LIST("context", "unwind", "leaf", "frame_pointer", "frame_size", "scan", "given",
              "inlined", "cfi")},
        {"rules that found a frame", found_by_rule_number, NULL, 0, 0,
         LIST("given: the thread's registers", "the callee's unwind data",
              "the callee was a leaf: the return address was on top of the stack",
              "the chain of frame pointers: no unwind data",
              "the callee's frame size in the PDB: its image is missing",
              "a scan of the stack: may be stale", "given", "given",
              "the unwind data of the callee's Breakpad file: its own is missing")},
        {"symbols", symbols_from_name_number, NULL, 0, 0,
         LIST("none", "pdb", "pdb-public", "dwarf", "coff", "export", "csv", "jit", "mismatch",
              "breakpad", "breakpad-public", "symtab", "nearest", "ppdb")},
        {"states of a stack", stack_state_name_number, NULL, 0, 0,
         LIST("ok", "not_applicable", "blocked", "failed", "skipped")},
        {"classes of frames", frame_class_name_number, NULL, 0, CLASS_NONE, LIST("none")},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        for (int k = 0; rows[i].words[k] != NULL; k++) {
            CHECK_STR(rows[i].name_of(rows[i].first + k), rows[i].words[k]);
            if (rows[i].parse != NULL)
                CHECK_EQ(rows[i].parse(rows[i].words[k]), rows[i].first + k);
        }
        if (rows[i].parse != NULL) {
            CHECK_EQ(rows[i].parse(""), rows[i].none);
            CHECK_EQ(rows[i].parse("no such word"), rows[i].none);
            CHECK_EQ(rows[i].parse(NULL), rows[i].none);
        }
    }
}

TEST(phases_of_managed_stops_have_words)
{
    static const char *const rows[][2] = {
        {"PhaseSpin", "computes"},          {"PhasePInvoke", "is in native code"},
        {"PhaseCopy", "is in the runtime"}, {"PhaseAllocate", "allocates"},
        {"PhaseThrow", "throws"},           {"PhaseJit", "compiles"},
        {"PhaseCollect", "collects"},       {"PhaseCollected", "another one collects"},
        {"PhaseOfLater", "PhaseOfLater"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CHECK_STR(managed_phase_words(rows[i][0]), rows[i][1]);
}

TEST(programs_that_read_the_dump_themselves)
{
    for (size_t i = 0; engine_dump_readers[i] != NULL; i++)
        CHECK(engine_reads_dump(engine_dump_readers[i]));
    CHECK(engine_reads_dump("judge:lldb"));
    CHECK(!engine_reads_dump("judge:rtl"));
    CHECK(!engine_reads_dump(""));
}

TEST(what_is_no_command_line_of_a_run)
{
    static const struct {
        const char *text;
        enum status status;
        int count;
    } rows[] = {{"twinstack run", ERR_NONE, 0},
                {"twinstack run  x", ERR_NONE, 2},
                {"twinstack run 'a b", ERR_MALFORMED, 0},
                {"twinstack", ERR_MALFORMED, 0},
                {"", ERR_MALFORMED, 0},
                {NULL, ERR_MALFORMED, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char **words = NULL;
        int count = 9;
        test_row(rows[i].text);
        arena_init(&keep, 0);
        CHECK_EQ(command_line_words(rows[i].text, &keep, &count, &words, &fault), rows[i].status);
        CHECK_EQ(count, rows[i].count);
        arena_free(&keep);
    }
}

/* Braces and hyphens are spelling; 32 digits are the identity. */
TEST(an_mvid_has_32_digits)
{
    static const struct {
        const char *text, *want; /* NULL: none */
    } rows[] = {
        {"{0123456789abcdef0123456789abcdef}", "01234567-89AB-CDEF-0123-456789ABCDEF"},
        {"01234567-89ab-cdef-0123-456789abcdef", "01234567-89AB-CDEF-0123-456789ABCDEF"},
        {"0123456789abcdef0123456789abcde", NULL},
        {"0123456789abcdef0123456789abcdef0", NULL},
        {"0123456789abcdef0123456789abcdeg", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char mvid[MVID_BYTES];
        test_row(rows[i].text);
        const bool read = module_mvid_parse(rows[i].text, strlen(rows[i].text), mvid);
        if (CHECK_EQ(read, rows[i].want != NULL) && read)
            CHECK_STR(mvid, rows[i].want);
    }
    const struct module a = {.name = "a", .mvid = "1"}, b = {.name = "a", .mvid = "2"},
                        c = {.name = "c", .mvid = "1"};
    CHECK(!module_same(&a, &b));
    CHECK(module_same(&a, &c));
}

/* {"threads":[{"id":ID,"frames":[FRAME,...]},...]} */
static char *made_truth(uint32_t threads, uint32_t frames, const char *id, const char *frame)
{
    const size_t room = (size_t)threads * (64 + (size_t)frames * (strlen(frame) + 2)) + 64;
    char *text = malloc(room);
    REQUIRE(text != NULL);
    size_t at = (size_t)snprintf(text, room, "{\"threads\":[");
    for (uint32_t i = 0; i < threads; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s{\"id\":%s,\"frames\":[", i > 0 ? "," : "",
                               id);
        for (uint32_t k = 0; k < frames; k++)
            at += (size_t)snprintf(text + at, room - at, "%s%s", k > 0 ? "," : "", frame);
        at += (size_t)snprintf(text + at, room - at, "]}");
    }
    (void)snprintf(text + at, room - at, "]}");
    return text;
}

TEST(a_truth_has_limits)
{
    static const char function[] = "{\"function\":\"f\"}";
    static const struct {
        const char *name;
        uint32_t threads, frames;
        const char *id, *frame;
        enum status status;
    } rows[] = {
        {"the largest id", 1, 1, "4294967295", function, ERR_NONE},
        {"an id of 33 bits", 1, 1, "4294967296", function, ERR_MALFORMED},
        {"a gap of 33 bits", 1, 1, "1", "{\"gap\":\"system\",\"gap_count\":4294967296}",
         ERR_MALFORMED},
        {"twice the frames of a stack", 1, 2 * LIMIT_FRAMES, "1", function, ERR_NONE},
        {"a frame more", 1, 2 * LIMIT_FRAMES + 1, "1", function, ERR_LIMIT},
        {"as many threads as a process has", LIMIT_THREADS, 0, "1", function, ERR_NONE},
        {"a thread more", LIMIT_THREADS + 1, 0, "1", function, ERR_LIMIT},
    };
    struct case_file file = {.role = ROLE_TRUTH, .path = "truth.json"};
    const struct crash_case c = {.folder = test_scratch(), .files = &file, .file_count = 1};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct truth truth = {0};
        struct arena keep;
        char path[600];
        test_row(rows[i].name);
        char *text = made_truth(rows[i].threads, rows[i].frames, rows[i].id, rows[i].frame);
        (void)snprintf(path, sizeof path, "%s/truth.json", c.folder);
        test_write(path, text, strlen(text));
        free(text);
        arena_init(&keep, 0);
        CHECK_EQ(truth_read(&c, &keep, &truth, &fault), rows[i].status);
        if (rows[i].status == ERR_NONE && CHECK_EQ(truth.thread_count, rows[i].threads)) {
            CHECK_EQ(truth.threads[0].frame_count, rows[i].frames);
            CHECK_EQ(truth.threads[0].id, strtoul(rows[i].id, NULL, 10));
        }
        case_close(&c);
        arena_free(&keep);
    }
}

static enum status read_truth(struct arena *keep, void *context, struct fault *fault)
{
    struct truth truth = {0};
    const enum status got = truth_read(context, keep, &truth, fault);
    case_close(context);
    return got;
}

TEST(memory_that_runs_out_while_a_truth_is_read)
{
    struct case_file file = {.role = ROLE_TRUTH, .path = "truth.json"};
    struct crash_case c = {.folder = test_scratch(), .files = &file, .file_count = 1};
    char path[600];
    (void)snprintf(path, sizeof path, "%s/truth.json", c.folder);
    char *text = made_truth(2, 2, "1", "{\"function\":\"f\",\"file\":\"a.c\",\"line\":3}");
    test_write(path, text, strlen(text));
    free(text);
    short_memory(read_truth, &c);
}

TEST(a_processor_that_is_none_is_unknown)
{
    CHECK_STR(cpu_name((enum cpu)CPU_COUNT), "unknown");
    CHECK_STR(cpu_name((enum cpu) - 1), "unknown");
}

TEST(a_lane_by_its_name)
{
    static const struct {
        const char *text;
        bool known;
        enum cpu arch;
        enum case_way way;
        enum way_state state;
    } rows[] = {
        {"x64 plain dump, index", true, CPU_X64, WAY_DUMP, WAY_INDEX},
        {"x86 offsets, no index", true, CPU_X86, WAY_OFFSET, WAY_FIRST},
        {"arm64 tuned dump, warm", true, CPU_ARM64, WAY_TUNED, WAY_WARM},
        {"arm foreign,warm", true, CPU_ARM, WAY_FOREIGN, WAY_WARM},
        {"plain dump, index", true, CPU_UNKNOWN, WAY_DUMP, WAY_INDEX},
        {"plain dump", true, CPU_UNKNOWN, WAY_DUMP, WAY_STATES},
        {"x64 offsets", true, CPU_X64, WAY_OFFSET, WAY_STATES},
        {"unknown offsets", false, CPU_UNKNOWN, WAY_COUNT, WAY_STATES},
        {"x64", false, CPU_UNKNOWN, WAY_COUNT, WAY_STATES},
        {"x64 plain", false, CPU_X64, WAY_COUNT, WAY_STATES},
        {"plain dump, ", false, CPU_UNKNOWN, WAY_DUMP, WAY_STATES},
        {"plain dump, cold", false, CPU_UNKNOWN, WAY_DUMP, WAY_STATES},
        {"", false, CPU_UNKNOWN, WAY_COUNT, WAY_STATES},
    };
    struct arena keep;
    arena_init(&keep, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct lane lane;
        test_row(rows[i].text);
        CHECK_EQ(lane_parse(rows[i].text, &lane), rows[i].known);
        if (!rows[i].known)
            continue;
        CHECK_EQ(lane.arch, rows[i].arch);
        CHECK_EQ(lane.way, rows[i].way);
        CHECK_EQ(lane.state, rows[i].state);
    }
    const struct lane one = {CPU_X64, WAY_DUMP, WAY_INDEX};
    CHECK_STR(lane_name(&one, &keep), "x64 plain dump, index");
    arena_free(&keep);
}

/* What is not asked for may be anything. */
TEST(a_lane_is_what_is_asked_for)
{
    static const struct lane lane = {CPU_X64, WAY_DUMP, WAY_INDEX};
    static const struct {
        const char *name;
        struct lane asked;
        bool is;
    } rows[] = {
        {"the same", {CPU_X64, WAY_DUMP, WAY_INDEX}, true},
        {"any processor", {CPU_UNKNOWN, WAY_DUMP, WAY_INDEX}, true},
        {"any state", {CPU_X64, WAY_DUMP, WAY_STATES}, true},
        {"any of both", {CPU_UNKNOWN, WAY_DUMP, WAY_STATES}, true},
        {"another processor", {CPU_X86, WAY_DUMP, WAY_INDEX}, false},
        {"another way", {CPU_UNKNOWN, WAY_OFFSET, WAY_STATES}, false},
        {"another state", {CPU_X64, WAY_DUMP, WAY_WARM}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(lane_is(&rows[i].asked, &lane), rows[i].is);
    }
}

/* A set has its hooks in the order in which a crash passes them. */
TEST(sets_of_hooks_are_lists)
{
    static const struct {
        const char *list;
        uint32_t hooks;
        const char *text; /* of the set; NULL: none */
        enum case_hook first;
    } rows[] = {
        {"vectored", 1 << 0, "vectored", CASE_HOOK_VECTORED},
        {"unhandled", 1 << 1, "unhandled", CASE_HOOK_UNHANDLED},
        {"sigabrt", 1 << 2, "sigabrt", CASE_HOOK_SIGABRT},
        {"invalid_parameter", 1 << 3, "invalid_parameter", CASE_HOOK_INVALID_PARAMETER},
        {"pure_call", 1 << 4, "pure_call", CASE_HOOK_PURE_CALL},
        {"terminate", 1 << 5, "terminate", CASE_HOOK_TERMINATE},
        {"watcher", 1 << 6, "watcher", CASE_HOOK_WATCHER},
        {"heartbeat", 1 << 7, "heartbeat", CASE_HOOK_HEARTBEAT},
        {"import", 1 << 8, "import", CASE_HOOK_IMPORT},
        {"other", 1 << 9, "other", CASE_HOOK_OTHER},
        {"watcher,vectored", 1 << 0 | 1 << 6, "vectored,watcher", CASE_HOOK_VECTORED},
        {"unhandled,unhandled", 1 << 1, "unhandled", CASE_HOOK_UNHANDLED},
        {"a_newer_one", 1 << 9, "other", CASE_HOOK_OTHER},
        {"vector", 1 << 9, "other", CASE_HOOK_OTHER},
        {"terminate,", 1 << 5, "terminate", CASE_HOOK_TERMINATE},
        {"", 0, NULL, CASE_HOOK_OTHER},
        {NULL, 0, NULL, CASE_HOOK_OTHER},
    };
    char text[HOOKS_TEXT_BYTES];
    uint32_t all = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].list != NULL ? rows[i].list : "no list");
        const uint32_t hooks = hooks_parse(rows[i].list);
        CHECK_HEX(hooks, rows[i].hooks);
        CHECK_STR(hooks_text(hooks, text), rows[i].text);
        if (hooks != 0)
            CHECK_EQ(hooks_first(hooks), rows[i].first);
        all |= hooks;
    }
    CHECK_STR(hooks_text(all, text), "vectored,unhandled,sigabrt,invalid_parameter,pure_call,"
                                     "terminate,watcher,heartbeat,import,other");
}

TEST(shards_are_counted_from_one)
{
    static const struct {
        const char *text;
        uint32_t shard, count; /* 0: none */
    } rows[] = {
        {"1/1", 1, 1}, {"1/3", 1, 3}, {"3/3", 3, 3},          {"0/3", 0, 0},
        {"4/3", 0, 0}, {"/3", 0, 0},  {"1/", 0, 0},           {"1", 0, 0},
        {"", 0, 0},    {"a/3", 0, 0}, {"1/4294967296", 0, 0}, {"1/4294967295", 1, UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_selection s = {0};
        test_row(rows[i].text);
        CHECK_EQ(run_selection_parse_shard(rows[i].text, &s), rows[i].count != 0);
        CHECK_EQ(s.shard, rows[i].shard);
        CHECK_EQ(s.shard_count, rows[i].count);
    }
}

TEST(selections_are_the_same_in_all_their_parts)
{
    static const struct run_selection one = {
        .known = true, .expr = "x86", .variants = "ob2", .shard = 1, .shard_count = 2};
    static const struct {
        const char *name;
        struct run_selection other;
        bool same, all;
    } rows[] = {
        {"the same",
         {.known = true, .expr = "x86", .variants = "ob2", .shard = 1, .shard_count = 2},
         true,
         false},
        {"not known",
         {.expr = "x86", .variants = "ob2", .shard = 1, .shard_count = 2},
         false,
         false},
        {"another expression",
         {.known = true, .expr = "x64", .variants = "ob2", .shard = 1, .shard_count = 2},
         false,
         false},
        {"no expression",
         {.known = true, .variants = "ob2", .shard = 1, .shard_count = 2},
         false,
         false},
        {"other variants",
         {.known = true, .expr = "x86", .shard = 1, .shard_count = 2},
         false,
         false},
        {"another shard",
         {.known = true, .expr = "x86", .variants = "ob2", .shard = 2, .shard_count = 2},
         false,
         false},
        {"of more shards",
         {.known = true, .expr = "x86", .variants = "ob2", .shard = 1, .shard_count = 3},
         false,
         false},
        {"all", {.known = true}, false, true},
        {"all, as the only shard", {.known = true, .shard = 1, .shard_count = 1}, false, true},
        {"a shard of two", {.known = true, .shard = 1, .shard_count = 2}, false, false},
        {"variants alone", {.known = true, .variants = "ob2"}, false, false},
        {"an expression alone", {.known = true, .expr = "x86"}, false, false},
        {"nothing known", {.known = false}, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(run_selection_same(&one, &rows[i].other), rows[i].same);
        CHECK_EQ(run_selection_same(&rows[i].other, &one), rows[i].same);
        CHECK_EQ(run_selection_is_all(&rows[i].other), rows[i].all);
    }
}

/* One number for each place, so that each is seen where it belongs. */
TEST(costs_of_ways_as_json)
{
    const struct way_cost ways[WAY_COUNT] = {
        [WAY_DUMP] = {.cold = {1, 2, 3, 4, 5, 6, 7, 8},
                      .warm = {11, 12, 13, 14, 15, 16, 17, 18},
                      .first = {21, 22, 23},
                      .frames = 31,
                      .same = 1},
        [WAY_OFFSET] = {.frames = 2},
    };
    struct json json;
    json_to_text(&json, false);
    way_costs_write_json(&json, ways);
    char *text = json_take(&json, NULL);
#define ZERO_PARTS                                                                                 \
    "{\"whole_ns\":0,\"open_ns\":0,\"unwind_ns\":0,\"load_ns\":0,\"resolve_ns\":0,\"own_ns\":0,"   \
    "\"even_ns\":0,\"odd_ns\":0}"
    CHECK_STR(text,
              "[{\"way\":\"dump\",\"frames\":31,\"same_frames\":true,"
              "\"cold\":{\"whole_ns\":1,\"open_ns\":2,\"unwind_ns\":3,\"load_ns\":4,"
              "\"resolve_ns\":5,\"own_ns\":6,\"even_ns\":7,\"odd_ns\":8},"
              "\"warm\":{\"whole_ns\":11,\"open_ns\":12,\"unwind_ns\":13,\"load_ns\":14,"
              "\"resolve_ns\":15,\"own_ns\":16,\"even_ns\":17,\"odd_ns\":18},"
              "\"first\":{\"whole_ns\":21,\"even_ns\":22,\"odd_ns\":23}},"
              "{\"way\":\"offset\",\"frames\":2,\"same_frames\":false,\"cold\":" ZERO_PARTS
              ",\"warm\":" ZERO_PARTS ",\"first\":{\"whole_ns\":0,\"even_ns\":0,\"odd_ns\":0}}]");
    free(text);
    json_to_text(&json, false);
    way_costs_write_json(&json, NULL);
    text = json_take(&json, NULL);
    CHECK_STR(text, "[]");
    free(text);
}

/* People read another word than databases have. */
TEST(a_blame_leads_back_from_both_of_its_words)
{
    static const struct {
        enum blame blame;
        const char *text, *stored;
    } rows[] = {
        {BLAME_UNKNOWN, "", ""},
        {BLAME_WALK, "walk of dump", "walk of dump"},
        {BLAME_SYMBOLS, "symbols of dump", "symbols of dump"},
        {BLAME_SYMBOLS_SHARED, "symbols of both ways", "symbols (shared)"},
        {BLAME_DUMP_READER, "dump reader", "dump reader"},
        {BLAME_RECORD, "record", "record"},
        {BLAME_TRUTH, "truth suspect", "truth suspect"},
        {BLAME_ALIGNMENT, "alignment", "alignment"},
        {BLAME_EVEN, "none: the votes are even", "none: the votes are even"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bool named = rows[i].blame == BLAME_WALK || rows[i].blame == BLAME_SYMBOLS;
        const struct finding f = {.blame = rows[i].blame, .blame_engine = named ? "dump" : NULL};
        const char *const words[] = {rows[i].text, rows[i].stored};
        char out[BLAME_TEXT_BYTES];
        test_row(rows[i].text);
        CHECK_STR(finding_blame_text(&f, out), rows[i].text);
        CHECK_STR(finding_blame_stored(&f, out), rows[i].stored);
        for (int k = 0; k < 2; k++) {
            struct finding back = {.blame = BLAME_COUNT};
            finding_blame_parse(words[k], &back);
            CHECK_EQ(back.blame, rows[i].blame);
            CHECK_STR(back.blame_engine, f.blame_engine);
        }
    }
}
