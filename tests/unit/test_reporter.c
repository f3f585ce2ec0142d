/* A reporter is judged: the twelve crashes of corpus/reporter, which an emulator ran, so that every
 * return address is known (corpus/make_reporter.py), and stacks that are made of theirs. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "reporter/pair_case.h"
#include "reporter/reporter.h"
#include "symbol/symbol_store.h"
#include "test.h"

struct judged {
    struct arena keep;
    struct symbol_store *symbols;
    struct reporter_request request;
    struct reporter_result result;
};

static void judge_dumps(struct judged *j, const char *dumps, const char *stacks,
                        const char *symbols)
{
    const char *roots[] = {symbols};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1, .cache = "none"};
    struct fault fault = FAULT_INIT;
    memset(j, 0, sizeof *j);
    arena_init(&j->keep, 0);
    REQUIRE(symbol_store_open(&options, &j->symbols, &fault) == ERR_NONE);
    j->request = (struct reporter_request){.dumps = dumps, .stacks = stacks, .symbols = j->symbols};
    REQUIRE(reporter_judge(&j->request, &j->keep, &j->result, &fault) == ERR_NONE);
}

static void judge(struct judged *j, const char *stacks, const char *symbols)
{
    judge_dumps(j, test_source("corpus/reporter/dumps"), stacks, symbols);
}

static void end(struct judged *j)
{
    symbol_store_close(j->symbols);
    arena_free(&j->keep);
}

TEST(twelve_crashes_are_judged_as_they_were_made)
{
    static const struct {
        const char *mechanism; /* "sound": as the emulator called */
        uint32_t first, given, frames;
    } rows[] = {
        {"sound", 0, 10, 10},
        {"handler_frames", 0, 7, 6},
        {"truncated", 32, 32, 56},
        {"sound", 0, 8, 8},
        {"sound", 0, 6, 6},
        {"preferred_base", 0, 6, 6},
        {"sound", 0, 13, 13},
        {"dropped_frames", 11, 12, 13},
        {"preferred_base", 0, 8, 8},
        {"sound", 0, 7, 7},
        {"lookup_address", 1, 11, 11},
        {"sound", 0, 8, 8},
    };
    struct judged j;
    judge(&j, test_source("corpus/reporter/stacks"), test_source("corpus/reporter/symbols"));
    REQUIRE(j.result.row_count == COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        const struct reporter_row *row = &j.result.rows[i];
        const bool sound = strcmp(rows[i].mechanism, "sound") == 0;
        char name[16];
        (void)snprintf(name, sizeof name, "crash-%02u", (unsigned)(i + 1));
        test_row(name);
        CHECK_STR(row->name, name);
        CHECK_EQ(row->verdict, sound ? REPORTER_SOUND : REPORTER_WRONG);
        CHECK_STR(mechanism_row(row->mechanism)->name, rows[i].mechanism);
        CHECK_EQ(row->first, rows[i].first);
        CHECK_EQ(row->given, rows[i].given);
        CHECK_EQ(row->frames, rows[i].frames);
        CHECK_EQ(row->certain, rows[i].frames); /* every image is there */
    }
    test_row("sums");
    CHECK_EQ(j.result.verdicts[REPORTER_SOUND], 6);
    CHECK_EQ(j.result.verdicts[REPORTER_WRONG], 6);
    CHECK_EQ(reporter_judged(&j.result), 12);
    CHECK_EQ(j.result.by_scan, 0);
    CHECK_EQ(j.result.missing_count, 0);
    CHECK_EQ(j.result.unused_count, 0);
    REQUIRE(j.result.group_count == 5); /* one of them twice, and it is first */
    CHECK_STR(mechanism_row(j.result.groups[0].mechanism)->name, "preferred_base");
    CHECK_EQ(j.result.groups[0].count, 2);
    CHECK_EQ(j.result.groups[0].example, 5);
    CHECK_EQ(j.result.groups[4].count, 1);
    end(&j);
}

/* The frames of crash-04, a whole stack of eight. APP_ID: GUID and age of app.exe's CodeView entry,
 * read with a few lines of Python. */
#define APP_ID "17A247FB09101A284C4C44205044422E1"
#define FRAMES_0_TO_3 "app.exe+0x1020\napp.exe+0x10e8\napp.exe+0x1136\napp.exe+0x1176\n"
#define FRAMES_2_TO_7 "app.exe+0x1136\napp.exe+0x1176\n" FRAMES_4_TO_7
#define FRAMES_4_TO_7 "app.exe+0x11b6\napp.exe+0x11f6\napp.exe+0x123c\napp.exe+0x132a\n"

#define CRASH_05                                                                                   \
    "app.exe+0x12c4\napp.exe+0x12c1\napp.exe+0x12c1\napp.exe+0x12c1\napp.exe+0x12c1\n"             \
    "app.exe+0x1354\n"
#define CRASH_06                                                                                   \
    "app.exe+0x1123\napp.exe+0x1176\napp.exe+0x11b6\napp.exe+0x11f6\napp.exe+0x123c\n"             \
    "app.exe+0x132a\n"
#define DEEP "app.exe+0x12c1\napp.exe+0x12c1\napp.exe+0x12c1\napp.exe+0x12c1\n"
#define WITH_ID(FRAME, ID) "app.exe!0x" FRAME " {" ID "}\n"
#define OTHER_ID "00000000000000000000000000000ABC1"
#define OTHERS "one\ntwo\nthree\nfour\n"

static const struct changed {
    const char *name, *stack;
    enum reporter_verdict verdict;
    const char *mechanism;
    uint32_t first;
    const char *says; /* in words or sides; NULL: not looked at */
} changed[] = {
    {"as it is", FRAMES_0_TO_3 FRAMES_4_TO_7, REPORTER_SOUND, "sound", 0, NULL},
    {"one too many after the end", FRAMES_0_TO_3 FRAMES_4_TO_7 "app.exe+0x1009\n", REPORTER_WRONG,
     "invented_frames", 8, NULL},
    {"two too few at the end", FRAMES_0_TO_3 "app.exe+0x11b6\napp.exe+0x11f6\n", REPORTER_WRONG,
     "truncated", 6, "after 6 of 8 frames"},
    {"twice as a whole", FRAMES_0_TO_3 FRAMES_4_TO_7 FRAMES_0_TO_3 FRAMES_4_TO_7, REPORTER_WRONG,
     "duplicated_frames", 8, "the whole stack is there 2 times"},
    {"one and a half times", FRAMES_0_TO_3 FRAMES_4_TO_7 FRAMES_0_TO_3, REPORTER_WRONG,
     "invented_frames", 8, NULL},
    {"in reverse order",
     "app.exe+0x132a\napp.exe+0x123c\napp.exe+0x11f6\napp.exe+0x11b6\n"
     "app.exe+0x1176\napp.exe+0x1136\napp.exe+0x10e8\napp.exe+0x1020\n",
     REPORTER_WRONG, "reversed", 0, NULL},
    {"the build that crashed", WITH_ID("1020", APP_ID) WITH_ID("10e8", APP_ID) FRAMES_2_TO_7,
     REPORTER_SOUND, "sound", 0, NULL},
    {"another build in one frame", WITH_ID("1020", APP_ID) WITH_ID("10e8", OTHER_ID) FRAMES_2_TO_7,
     REPORTER_WRONG, "wrong_build", 1, APP_ID},
    {"that of crash-05", CRASH_05, REPORTER_WRONG, "other_crash", 0, "crash-05"},
    {"that of crash-06, which has none of its own", CRASH_06, REPORTER_WRONG, "other_crash", 0,
     "crash-06"},
    {"that of crash-05, its first frame in another module",
     "other.dll+0x12c4\n" DEEP "app.exe+0x1354\n", REPORTER_WRONG, "unexplained", 0, NULL},
    {"that of crash-05, another frame in another module",
     "app.exe+0x12c4\nother.dll+0x12c1\napp.exe+0x12c1\napp.exe+0x12c1\napp.exe+0x12c1\n"
     "app.exe+0x1354\n",
     REPORTER_WRONG, "unexplained", 0, NULL},
    {"that of crash-05, but for its last frame", "app.exe+0x12c4\n" DEEP "app.exe+0x1358\n",
     REPORTER_WRONG, "unexplained", 0, NULL},
    {"unexplained from frame 2 on",
     "app.exe+0x1020\napp.exe+0x10e8\napp.exe+0x1900\napp.exe+0x1910\n", REPORTER_WRONG,
     "unexplained", 2,
     "  1  app.exe!0x10e8                           app.exe!0x10e8\n"
     "  2  app.exe!0x1900                           app.exe!0x1136\n"
     "  3  app.exe!0x1910                           app.exe!0x1176\n"
     "  4  -                                        app.exe!0x11b6\n"
     "  5  -                                        app.exe!0x11f6\n"
     "  6  -                                        app.exe!0x123c\n"
     "  7  -                                        app.exe!0x132a\n"},
    {"unexplained and longer",
     FRAMES_0_TO_3 "app.exe+0x11b6\napp.exe+0x1900\napp.exe+0x1910\napp.exe!leaf+0x5\n"
                   "?!0x77\n",
     REPORTER_WRONG, "unexplained", 5,
     "  4  app.exe!0x11b6                           app.exe!0x11b6\n"
     "  5  app.exe!0x1900                           app.exe!0x11f6\n"
     "  6  app.exe!0x1910                           app.exe!0x123c\n"
     "  7  app.exe!leaf                             app.exe!0x132a\n"
     "  8  ?!0x77                                   -\n"},
    {"unexplained from the first on", "app.exe+0x1900\napp.exe+0x1910\n", REPORTER_WRONG,
     "unexplained", 0,
     "  0  app.exe!0x1900                           app.exe!0x1020\n"
     "  1  app.exe!0x1910                           app.exe!0x10e8\n"
     "  2  -                                        app.exe!0x1136\n"
     "  3  -                                        app.exe!0x1176\n"
     "  4  -                                        app.exe!0x11b6\n"
     "  5  -                                        app.exe!0x11f6\n"
     "  6  -                                        app.exe!0x123c\n"
     "  7  -                                        app.exe!0x132a\n"},
    {"in a log", "one\n" FRAMES_0_TO_3 FRAMES_4_TO_7 "two\n", REPORTER_SOUND, "sound", 0, NULL},
    {"as many other lines", OTHERS OTHERS FRAMES_0_TO_3 FRAMES_4_TO_7, REPORTER_SOUND, "sound", 0,
     NULL},
    {"one other line more", OTHERS OTHERS "five\n" FRAMES_0_TO_3 FRAMES_4_TO_7,
     REPORTER_CAPTURE_FAILED, "empty", 0, "9 of 17 lines hold no frame, first \"one\""},
    {"no frame", "\x01one \xC3\xA4\r\ntwo\n", REPORTER_CAPTURE_FAILED, "empty", 0,
     "no line holds a frame, first \"?one ??\""},
    {"nothing", "", REPORTER_CAPTURE_FAILED, "empty", 0, "the stack is empty"},
    {"one frame", "app.exe+0x1020\n", REPORTER_WRONG, "truncated", 1, "after 1 of 8 frames"},
};

TEST(a_changed_stack_is_wrong_for_one_reason)
{
    for (size_t i = 0; i < COUNT_OF(changed); i++) {
        const struct changed *c = &changed[i];
        struct judged j;
        struct fault fault = FAULT_INIT;
        char path[700], folder[650], alone[700], other[700];
        (void)snprintf(folder, sizeof folder, "%s/%zu", test_scratch(), i);
        (void)snprintf(path, sizeof path, "%s/crash-04.txt", folder);
        (void)snprintf(alone, sizeof alone, "%s/crash-13.txt", folder);
        (void)snprintf(other, sizeof other, "%s/crash-05.txt", folder);
        REQUIRE(folder_make(folder, &fault) == ERR_NONE);
        test_write(other, CRASH_05, strlen(CRASH_05));
        test_write(path, c->stack, strlen(c->stack));
        test_write(alone, FRAMES_0_TO_3, strlen(FRAMES_0_TO_3));
        judge(&j, folder, test_source("corpus/reporter/symbols"));
        const struct reporter_row *row = &j.result.rows[3];
        test_row(c->name);
        REQUIRE(j.result.row_count == 13);
        CHECK_EQ(row->verdict, c->verdict);
        CHECK_STR(mechanism_row(row->mechanism)->name, c->mechanism);
        CHECK_EQ(row->first, c->first);
        if (c->says != NULL && row->sides != NULL)
            CHECK_STR(row->sides, c->says);
        else if (c->says != NULL)
            CHECK_HAS(row->words, c->says);
        CHECK_EQ(row->sides != NULL, strcmp(c->mechanism, "unexplained") == 0);
        CHECK_EQ(j.result.rows[12].verdict, REPORTER_ALONE);
        const bool failed = c->verdict == REPORTER_CAPTURE_FAILED;
        CHECK_EQ(j.result.verdicts[REPORTER_CAPTURE_FAILED],
                 failed ? 11 : 10); /* dumps without a stack */
        CHECK_EQ(reporter_judged(&j.result), failed ? 1 : 2);
        end(&j);
    }
}

/* A file of many stacks: each row belongs to the dump that its label names. */
TEST(stacks_of_one_file_are_judged_by_their_labels)
{
    static const char text[] = "> crash-04\n" FRAMES_0_TO_3 FRAMES_4_TO_7 "> crash-05\n"
                               "> crash-06\napp.exe+0x1123\n"
                               /* that of crash-01, which stops at the same place */
                               "> crash-07\napp.exe+0x12e7\n" DEEP DEEP "app.exe+0x1354\n"
                               "> crash-10\napp.exe+0x12a1\n" DEEP "app.exe+0x12c1\n"
                               "app.exe+0x1354\n> crash-12\n" CRASH_05;
    static const struct {
        uint32_t row;
        enum reporter_verdict verdict;
        const char *mechanism, *words;
    } rows[] = {
        {3, REPORTER_SOUND, "sound", NULL},
        {4, REPORTER_CAPTURE_FAILED, "empty", "the stack is empty"},
        {5, REPORTER_WRONG, "truncated", "after 1 of 6 frames"},
        {6, REPORTER_WRONG, "dropped_frames", NULL},
        {7, REPORTER_CAPTURE_FAILED, "empty", "there is no stack"},
        {11, REPORTER_WRONG, "other_crash", "it is the stack of crash-05"},
    };
    struct judged j;
    char path[700];
    (void)snprintf(path, sizeof path, "%s/stacks.txt", test_scratch());
    test_write(path, text, strlen(text));
    judge(&j, path, test_source("corpus/reporter/symbols"));
    CHECK_STR(j.result.name, "stacks");
    REQUIRE(j.result.row_count == 12);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct reporter_row *row = &j.result.rows[rows[i].row];
        test_row(row->name);
        CHECK_EQ(row->verdict, rows[i].verdict);
        CHECK_STR(mechanism_row(row->mechanism)->name, rows[i].mechanism);
        if (rows[i].words != NULL)
            CHECK_HAS(row->words, rows[i].words);
    }
    end(&j);
}

TEST(a_dump_that_cannot_be_read_is_one_row)
{
    struct judged j;
    struct fault fault = FAULT_INIT;
    char folder[600], path[700];
    (void)snprintf(folder, sizeof folder, "%s/d", test_scratch());
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    (void)snprintf(path, sizeof path, "%s/bad.dmp", folder);
    test_write(path, "MDMP", 4);
    (void)snprintf(path, sizeof path, "%s/bad.txt", folder);
    test_write(path, FRAMES_0_TO_3, strlen(FRAMES_0_TO_3));
    judge_dumps(&j, folder, folder, test_source("corpus/reporter/symbols"));
    REQUIRE(j.result.row_count == 1);
    CHECK_EQ(j.result.rows[0].verdict, REPORTER_UNREADABLE);
    CHECK_HAS(j.result.rows[0].words, "bad.dmp");
    CHECK_EQ(j.result.verdicts[REPORTER_UNREADABLE], 1);
    CHECK_EQ(reporter_judged(&j.result), 0);
    end(&j);
}

/* Frames that are only names say nothing of a module without symbols. */
TEST(names_are_not_judged_without_the_pdb)
{
    static const struct {
        const char *name, *stack;
        enum reporter_verdict verdict;
    } rows[] = {
        {"names", "app.exe!leaf+0x5\napp.exe!level2+0x5\n", REPORTER_NOT_JUDGED},
        {"offsets", FRAMES_0_TO_3 FRAMES_4_TO_7, REPORTER_SOUND},
        {"a name among offsets", "app.exe!leaf+0x5\napp.exe+0x10e8\n" FRAMES_2_TO_7,
         REPORTER_NOT_JUDGED},
    };
    size_t bytes;
    struct fault fault = FAULT_INIT;
    char symbols[600], path[700];
    (void)snprintf(symbols, sizeof symbols, "%s/symbols", test_scratch());
    REQUIRE(folder_make(symbols, &fault) == ERR_NONE);
    const uint8_t *app = test_read(test_source("corpus/reporter/symbols/app.exe"), &bytes);
    (void)snprintf(path, sizeof path, "%s/app.exe", symbols);
    test_write(path, app, bytes);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct judged j;
        char stacks[600];
        test_row(rows[i].name);
        (void)snprintf(stacks, sizeof stacks, "%s/%zu", test_scratch(), i);
        REQUIRE(folder_make(stacks, &fault) == ERR_NONE);
        (void)snprintf(path, sizeof path, "%s/crash-04.txt", stacks);
        test_write(path, rows[i].stack, strlen(rows[i].stack));
        judge(&j, stacks, symbols);
        CHECK_EQ(j.result.rows[3].verdict, rows[i].verdict);
        CHECK_EQ(j.result.missing_count, rows[i].verdict == REPORTER_NOT_JUDGED);
        if (j.result.missing_count == 1) {
            CHECK_STR(j.result.rows[3].words, "the PDB of app.exe is missing");
            CHECK_STR(j.result.missing[0].file, "app.pdb");
            CHECK_STR(j.result.missing[0].identity, APP_ID);
            CHECK(j.result.missing[0].pdb && !j.result.missing[0].system);
            CHECK_EQ(j.result.missing[0].pairs, 1);
        }
        end(&j);
    }
}

TEST(without_the_images_nothing_is_judged)
{
    struct judged j;
    judge(&j, test_source("corpus/reporter/stacks"), test_source("corpus/reporter/dumps"));
    CHECK_EQ(j.result.verdicts[REPORTER_NOT_JUDGED], 12);
    CHECK_EQ(reporter_judged(&j.result), 0);
    for (uint32_t i = 0; i < j.result.row_count; i++)
        CHECK_HAS(j.result.rows[i].words, "the image of ");
    REQUIRE(j.result.missing_count > 0);
    CHECK_STR(j.result.missing[0].file, "app.exe");
    CHECK(!j.result.missing[0].pdb && !j.result.missing[0].system);
    end(&j);
}

/* Copies FROM of the source tree to TO below the scratch folder. */
static void copy(const char *from, const char *to)
{
    char path[700];
    size_t bytes;
    const uint8_t *data = test_read(test_source(from), &bytes);
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), to);
    test_write(path, data, bytes);
}

/* Files without which pairs are not judged come before those of Windows, without which only the
 * outermost frames are not compared, however many pairs lack them. */
TEST(what_is_missing_is_listed_by_what_it_costs)
{
    static const struct {
        const char *file;
        uint32_t pairs;
        bool system;
    } want[] = {{"victims-ob2.exe", 2, false}, {"app.exe", 1, false}, {"kernel32.dll", 3, true}};
    /* In the order of the pairs: the system's file is met first, the most frequent one last. */
    static const char *const dumps[][2] = {
        {"a1", "corpus/cases/null_write.ob0/dump.dmp"},
        {"a2", "corpus/cases/null_write.ob0/dump.dmp"},
        {"a3", "corpus/cases/null_write.ob0/dump.dmp"},
        {"b1", "corpus/reporter/dumps/crash-04.dmp"},
        {"c1", "corpus/cases/null_write.ob2/dump.dmp"},
        {"c2", "corpus/cases/spin.ob2/dump.dmp"},
    };
    struct judged j;
    struct fault fault = FAULT_INIT;
    char pairs[600], symbols[600];
    (void)snprintf(pairs, sizeof pairs, "%s/pairs", test_scratch());
    (void)snprintf(symbols, sizeof symbols, "%s/symbols", test_scratch());
    REQUIRE(folder_make(pairs, &fault) == ERR_NONE && folder_make(symbols, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(dumps); i++) {
        char name[32], path[700];
        (void)snprintf(name, sizeof name, "pairs/%s.dmp", dumps[i][0]);
        (void)snprintf(path, sizeof path, "%s/%s.txt", pairs, dumps[i][0]);
        copy(dumps[i][1], name);
        test_write(path, "a.exe+0x10\n", 11);
    }
    copy("corpus/symbols/victims-ob0.exe/00E38A4E52c000/victims-ob0.exe",
         "symbols/victims-ob0.exe");
    judge_dumps(&j, pairs, pairs, symbols);
    REQUIRE(j.result.missing_count == COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        test_row(want[i].file);
        CHECK_STR(j.result.missing[i].file, want[i].file);
        CHECK_EQ(j.result.missing[i].pairs, want[i].pairs);
        CHECK_EQ(j.result.missing[i].system, want[i].system);
    }
    end(&j);
}

/* A pair as a case of a run: dump and reporter are its engines, and the finding is at the frame
 * that shows it. */
TEST(a_pair_becomes_a_case)
{
    static const struct {
        uint32_t row;
        enum verdict verdict;
        const char *right;
        int finding; /* row of the alignment; -1: there is none */
    } rows[] = {
        {3, VERDICT_PASS, "all", -1},            /* crash-04 */
        {1, VERDICT_FAIL, ENGINE_NAME_DUMP, 0},  /* the handler is on top */
        {5, VERDICT_FAIL, ENGINE_NAME_DUMP, 6},  /* no frame agrees: those of the dump are first */
        {10, VERDICT_FAIL, ENGINE_NAME_DUMP, 1}, /* callers are one call too low */
    };
    struct judged j;
    judge(&j, test_source("corpus/reporter/stacks"), test_source("corpus/reporter/symbols"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pair_case c;
        struct fault fault = FAULT_INIT;
        test_row(j.result.rows[rows[i].row].name);
        REQUIRE(pair_case_open(&j.request, &j.result, rows[i].row, &j.keep, &c, &fault) ==
                ERR_NONE);
        CHECK_EQ(c.run.result.verdict, rows[i].verdict);
        CHECK_STR(c.run.result.right, rows[i].right);
        REQUIRE(c.run.claim_count == 2);
        CHECK_STR(c.run.claims[0].engine, "dump");
        CHECK_STR(c.run.claims[1].engine, "stacks");
        CHECK_EQ(c.run.result.finding_count, rows[i].finding < 0 ? 0 : 1);
        if (rows[i].finding >= 0 && c.run.result.finding_count == 1)
            CHECK_EQ(c.run.result.findings[0].row, rows[i].finding);
        pair_case_close(&c);
    }
    end(&j);
}

/* ---- what is written ---------------------------------------------------------------------- */

/* A row of each verdict, and with each what JUnit's readers should see of it: a failure, a skip, or
 * neither. */
static const struct {
    struct reporter_row row;
    const char *junit;
} written[] = {
    {{.name = "a", .verdict = REPORTER_SOUND, .words = "w"}, "\"a\"></testcase>"},
    {{.name = "b<", .verdict = REPORTER_WRONG, .words = "w&", .sides = "s", .first = 3},
     "\"b&lt;\"><failure type=\""},
    {{.name = "c", .verdict = REPORTER_NOT_JUDGED, .words = "no PDB"},
     "\"c\"><skipped message=\"not_judged: no PDB\"/></testcase>"},
    {{.name = "d", .verdict = REPORTER_CAPTURE_FAILED, .words = "none"},
     "\"d\"><failure message=\"capture_failed: none\"/></testcase>"},
    {{.name = "e", .verdict = REPORTER_ALONE, .words = "none"},
     "\"e\"><skipped message=\"no_dump: none\"/></testcase>"},
    {{.name = "f", .verdict = REPORTER_UNREADABLE, .words = "cut"},
     "\"f\"><skipped message=\"unreadable_dump: cut\"/></testcase>"},
};

static const char *write_with(void (*write)(const struct reporter_result *result, FILE *out),
                              const struct reporter_result *result, size_t *bytes)
{
    static char path[600];
    (void)snprintf(path, sizeof path, "%s/written", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    write(result, out);
    REQUIRE(fclose(out) == 0);
    static char text[16384];
    const uint8_t *data = test_read(path, bytes);
    REQUIRE(*bytes < sizeof text);
    (void)snprintf(text, sizeof text, "%.*s", (int)*bytes, (const char *)data);
    return text;
}

TEST(every_verdict_is_written_for_both_readers)
{
    struct reporter_row rows[COUNT_OF(written)];
    struct reporter_missing missing[] = {
        {.file = "a.pdb", .identity = "1", .pdb = true, .pairs = 2},
        {.file = "ntdll.dll", .identity = "2", .system = true, .pairs = 1}};
    struct reporter_group group = {.mechanism = 1, .count = 1, .example = 1};
    const char *unused[] = {"other.pdb"};
    struct reporter_result result = {.name = "r&",
                                     .places = "here",
                                     .rows = rows,
                                     .row_count = COUNT_OF(rows),
                                     .missing = missing,
                                     .missing_count = COUNT_OF(missing),
                                     .groups = &group,
                                     .group_count = 1,
                                     .unused = unused,
                                     .unused_count = 1};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    size_t bytes = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        rows[i] = written[i].row;
        result.verdicts[rows[i].verdict]++;
    }
    const char *text = write_with(reporter_write_junit, &result, &bytes);
    CHECK_HAS(text, "<testsuites name=\"twinstack\" tests=\"6\" failures=\"2\" skipped=\"3\">");
    CHECK_HAS(text, "<testsuite name=\"r&amp;\" tests=\"6\" failures=\"2\" skipped=\"3\">");
    CHECK_HAS(text, "\">w&amp;s</failure></testcase>");
    for (size_t i = 0; i < COUNT_OF(written); i++) {
        char line[200];
        (void)snprintf(line, sizeof line, "<testcase classname=\"r&amp;\" name=%s",
                       written[i].junit);
        CHECK_HAS(text, line);
    }
    cJSON *root = NULL;
    arena_init(&keep, 0);
    text = write_with(reporter_write_json, &result, &bytes);
    REQUIRE(json_parse(text, bytes, &root, &fault) == ERR_NONE);
    CHECK_STR(json_get_string(root, "reporter", &keep, &fault), "r&");
    CHECK_EQ(json_get_uint(root, "pairs", 0, &fault), COUNT_OF(rows));
    CHECK_EQ(json_get_uint(root, "judged", 0, &fault), 2);
    CHECK_STR(json_get_string(root, "looked_in", &keep, &fault), "here");
    for (int v = 0; v < REPORTER_VERDICT_COUNT; v++)
        CHECK_EQ(json_get_uint(root, reporter_verdict_name((enum reporter_verdict)v), 0, &fault),
                 1);
    const cJSON *list = cJSON_GetObjectItem(root, "missing");
    REQUIRE(cJSON_GetArraySize(list) == 2);
    CHECK_STR(json_get_string(cJSON_GetArrayItem(list, 0), "kind", &keep, &fault), "pdb");
    CHECK_STR(json_get_string(cJSON_GetArrayItem(list, 1), "kind", &keep, &fault), "image");
    CHECK_EQ(json_get_uint(cJSON_GetArrayItem(list, 0), "pairs", 0, &fault), 2);
    CHECK_STR(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "unused"), 0)->valuestring, "other.pdb");
    list = cJSON_GetObjectItem(root, "groups");
    REQUIRE(cJSON_GetArraySize(list) == 1);
    CHECK_STR(json_get_string(cJSON_GetArrayItem(list, 0), "example", &keep, &fault), "b<");
    list = cJSON_GetObjectItem(root, "rows");
    REQUIRE(cJSON_GetArraySize(list) == (int)COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const cJSON *row = cJSON_GetArrayItem(list, (int)i);
        test_row(rows[i].name);
        CHECK_STR(json_get_string(row, "name", &keep, &fault), rows[i].name);
        CHECK_STR(json_get_string(row, "verdict", &keep, &fault),
                  reporter_verdict_name(rows[i].verdict));
        CHECK_STR(json_get_string(row, "words", &keep, &fault), rows[i].words);
        const bool wrong = rows[i].verdict == REPORTER_WRONG;
        CHECK_EQ(cJSON_IsNull(cJSON_GetObjectItem(row, "mechanism")), !wrong);
        CHECK_EQ(cJSON_IsNull(cJSON_GetObjectItem(row, "first_frame")), !wrong);
        CHECK_EQ(wrong ? json_get_uint(row, "first_frame", 0, &fault) : 3, 3);
    }
    cJSON_Delete(root);
    arena_free(&keep);
}
