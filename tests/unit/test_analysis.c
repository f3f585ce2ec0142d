/* Whether a record contradicts the dump that was written with it: a module of its stack that the
 * dump's list lacks was unloaded without the record's notice, unless something else explains it. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "conduct/analysis.h"
#include "conduct/dump_faults.h"
#include "conduct/judging.h"
#include "conduct/record_check.h"
#include "engine/opened.h"
#include "format/minidump/lint.h"
#include "format/minidump/minidump.h"
#include "format/record/record.h"
#include "minidump_maker.h"
#include "record_draft.h"
#include "symbol/symbol_store.h"
#include "test.h"

enum { IMAGE_BYTES = 0x10000, METHOD_RVA = 0x4000 };
#define APP_VA ((uint64_t)0x140000000)
#define OTHER_VA ((uint64_t)0x180000000)
#define METHOD_VA ((uint64_t)0x20000000)

struct row {
    const char *name;
    bool is_hang;
    bool no_size;    /* the record does not state how large the module is */
    bool unloaded;   /* by the record */
    bool elsewhere;  /* the record has bases of its own */
    bool is_managed; /* the second frame is in a method of the module's, not in its image */
    bool runs;       /* the first frame is in the module */
    uint32_t access; /* of the violation: 0 read, 1 write, 8 execute */
    int beside;      /* images of the dump's module that the module follows; 0: it is elsewhere */
    bool far;        /* the access was not where the exception is */
    bool listed;     /* by the dump */
    bool unwound;    /* the walk read unwind data in the second frame */
    bool no_names;   /* the dump's list is damaged */
    bool contradicts;
};

static uint64_t other_va(const struct row *row)
{
    return row->beside != 0 ? APP_VA + (uint64_t)(row->beside * IMAGE_BYTES) : OTHER_VA;
}

static void put_module(struct draft *d, const char *path, uint64_t base_va, uint32_t image_bytes,
                       bool unloaded)
{
    const size_t bytes = strlen(path), padded = (bytes + 7) / 8 * 8;
    put(d, RECORD_MODULE_BYTES + padded, 1);
    put(d, 0x12345678, 1);
    put(d, base_va, 2);
    put(d, image_bytes, 2);
    put(d, 1, 2);
    put(d, unloaded ? 5 : MODULE_STILL_LOADED, 2);
    put(d, 0, 4);
    put(d, 0, 1);
    put(d, bytes, 1);
    memcpy(&d->words[d->count], path, bytes);
    d->count += padded / 4;
}

static void put_frame(struct draft *d, uint32_t module, uint32_t flags, uint64_t offset)
{
    put(d, module, 1);
    put(d, flags, 1);
    put(d, offset, 2);
}

/* A method at METHOD_VA in the second module. */
static void put_method(struct draft *d)
{
    static const uint32_t map[] = {0, 0};
    size_t at = section(d, RECORD_SECTION_ASSEMBLIES, 1);
    put(d, 1, 2);
    put(d, 0, 4);
    end(d, at);
    at = section(d, RECORD_SECTION_METHODS, 1);
    put(d, RECORD_METHOD_BYTES + sizeof map, 1);
    put(d, 0x06000001, 1);
    put(d, METHOD_VA, 2);
    put(d, 0x1000, 2);
    put(d, 0, 1);
    put(d, 1, 1);
    for (size_t i = 0; i < COUNT_OF(map); i++)
        put(d, map[i], 1);
    end(d, at);
}

static void begin_record(struct draft *d)
{
    draft_begin(d, 7);
    d->words[RECORD_H_CODE / 4] = 0xc0000005;
}

static void end_record(struct draft *d, const char *path)
{
    const size_t bytes = draft_end(d);
    test_write(path, d->words, bytes);
}

/* A crash in app.exe, called from other.dll; or the reverse. */
static void write_record(const struct row *row, const char *path)
{
    static struct draft d;
    const uint64_t shift = row->elsewhere ? 0x10000000 : 0;
    const uint64_t first = row->runs ? other_va(row) + 0x1000 : APP_VA + 0x1000;
    begin_record(&d);
    d.words[RECORD_H_KIND / 4] = row->is_hang ? RECORD_KIND_HANG : RECORD_KIND_CRASH;
    d.count = RECORD_H_ADDRESS / 4;
    put(&d, first + shift, 2);
    put(&d, row->access, 2);
    put(&d, row->access == 8 ? first + shift + row->far : 0, 2);
    d.count = RECORD_HEADER_BYTES / 4;
    size_t at = section(&d, RECORD_SECTION_MODULES, 2);
    put_module(&d, "C:\\app.exe", APP_VA + shift, IMAGE_BYTES, false);
    put_module(&d, "C:\\other.dll", other_va(row) + shift, row->no_size ? 0 : IMAGE_BYTES,
               row->unloaded);
    end(&d, at);
    at = section(&d, RECORD_SECTION_STACK, 3);
    put(&d, RECORD_WALKER_RTL, 1);
    put(&d, 0, (RECORD_STACK_BYTES - RECORD_SECTION_HEADER_BYTES) / 4 - 1);
    put_frame(&d, row->runs ? 1 : 0, 0, 0x1000);
    if (row->is_managed)
        put_frame(&d, RECORD_NO_MODULE, RECORD_FRAME_RETURN, METHOD_VA + 0x10);
    else
        put_frame(&d, row->runs ? 0 : 1, RECORD_FRAME_RETURN, 0x2000);
    const uint32_t found = row->unwound ? RECORD_FOUND_UNWIND : RECORD_FOUND_LEAF;
    put_frame(&d, 0, RECORD_FRAME_RETURN | found << RECORD_FRAME_SHIFT_FOUND, 0x3000);
    end(&d, at);
    if (row->is_managed)
        put_method(&d);
    end_record(&d, path);
}

static void write_dump(const struct row *row, const char *path)
{
    static struct maker m;
    maker_start(&m);
    maker_system_info(&m, 9);
    const uint32_t app = maker_text(&m, "C:\\app.exe"), other = maker_text(&m, "C:\\other.dll");
    maker_stream_begin(&m, STREAM_MODULE_LIST);
    maker_put(&m, row->listed ? 2 : 1, 4);
    maker_module_row(&m, APP_VA, row->no_names ? UINT32_MAX : app);
    if (row->listed)
        maker_module_row(&m, OTHER_VA, row->no_names ? UINT32_MAX : other);
    maker_stream_end(&m);
    maker_finish(&m);
    test_write(path, m.data, m.at);
}

static const struct row rows[] = {
    {.name = "the dump lists it", .listed = true},
    {.name = "the dump does not list it", .contradicts = true},
    {.name = "it was unloaded, as the record says", .unloaded = true},
    {.name = "the record has bases of its own", .elsewhere = true},
    {.name = "the runtime maps assemblies, and the system does not list them", .is_managed = true},
    {.name = "the dump's list is damaged", .no_names = true},
    {.name = "its own code wrote through null, so it was loaded", .runs = true, .access = 1},
    {.name = "the walk read its unwind data, so it was loaded", .unwound = true},
    {.name = "its own code was not there", .runs = true, .access = 8, .contradicts = true},
    {.name = "it is loaded, and jumped elsewhere", .runs = true, .access = 8, .far = true},
    {.name = "it begins where another ends", .beside = 1, .contradicts = true},
    {.name = "it ends where another begins", .beside = -1, .contradicts = true},
    {.name = "a hang, in whose threads modules come and go", .is_hang = true},
    {.name = "a module without a size", .no_size = true},
};

TEST(a_module_that_the_dump_does_not_list_contradicts_the_record)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct case_file files[] = {{.role = ROLE_RECORD, .path = "a.rec"},
                                    {.role = ROLE_DUMP, .path = "a.dmp"}};
        const struct crash_case crash = {
            .folder = test_scratch(), .files = files, .file_count = COUNT_OF(files)};
        char path[600];
        struct arena keep;
        struct opened_case opened;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "%s/a.rec", test_scratch());
        write_record(&rows[i], path);
        arena_init(&keep, 0);
        (void)snprintf(path, sizeof path, "%s/a.dmp", test_scratch());
        write_dump(&rows[i], path);
        REQUIRE(opened_case_open(&crash, NULL, &keep, &opened, &fault) == ERR_NONE);
        CHECK_EQ(opened.files[OPENED_RECORD].fault.code, ERR_NONE);
        const char *text = record_contradiction(&opened);
        if (rows[i].contradicts)
            CHECK_HAS(text, "the dump's list of modules does not have it");
        else
            CHECK_STR(text, NULL);
        opened_case_close(&opened);
        arena_free(&keep);
    }
}

/* ---- the times of a record ---------------------------------------------------------------- */

static void put_timing(struct draft *d, uint32_t stage, uint32_t walker, uint64_t ns,
                       uint64_t bytes)
{
    put(d, stage, 1);
    put(d, walker, 1);
    put(d, ns, 2);
    put(d, bytes, 2);
}

/* Each time of capture/record.h has a number of its own. */
TEST(each_time_of_a_record_is_taken)
{
    static struct draft d;
    struct case_file files[] = {{.role = ROLE_RECORD, .path = "a.rec", .bytes = 1000},
                                {.role = ROLE_DUMP, .path = "a.dmp", .bytes = 2000}};
    const struct crash_case crash = {
        .folder = test_scratch(), .files = files, .file_count = COUNT_OF(files)};
    struct case_timing times;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/a.rec", test_scratch());
    begin_record(&d);
    d.words[RECORD_H_STOP_RTL / 4] = 11;
    d.words[RECORD_H_STOP_DUMP / 4] = 12;
    d.words[RECORD_H_STOP_COPY / 4] = 13;
    size_t at = section(&d, RECORD_SECTION_TIMING, 8);
    put_timing(&d, RECORD_STAGE_WALK, RECORD_WALKER_DBGHELP, 1, 0);
    put_timing(&d, RECORD_STAGE_WALK, RECORD_WALKER_RTL, 21, 0);
    put_timing(&d, RECORD_STAGE_RECORD_WRITE, 0, 22, 0);
    put_timing(&d, RECORD_STAGE_DUMP_WRITE, 0, 23, 2);
    put_timing(&d, RECORD_STAGE_HANG_FOUND, 0, 24, 0);
    put_timing(&d, RECORD_STAGE_DUMP_TUNED, 0, 25, 26);
    put_timing(&d, RECORD_STAGE_STOP_TUNED, 0, 27, 0);
    put_timing(&d, RECORD_STAGE_SUSPEND, 0, 3, 0);
    end(&d, at);
    at = section(&d, RECORD_SECTION_CAPTURES, 0);
    put(&d, 4, 2);
    put(&d, 402, 2);
    put(&d, 399, 2);
    end(&d, at);
    end_record(&d, path);
    analysis_timing(&crash, &times);
    CHECK_EQ(times.stop_walk_ns, 11);
    CHECK_EQ(times.stop_dump_ns, 12);
    CHECK_EQ(times.stop_copy_ns, 13);
    CHECK_EQ(times.walk_ns, 21);
    CHECK_EQ(times.record_write_ns, 22);
    CHECK_EQ(times.dump_write_ns, 23);
    CHECK_EQ(times.hang_late_ns, 24);
    CHECK_EQ(times.dump_tuned_ns, 25);
    CHECK_EQ(times.dump_tuned_bytes, 26);
    CHECK_EQ(times.stop_tuned_ns, 27);
    CHECK_EQ(times.capture_now_ns, 100); /* 402 of 4 */
    CHECK_EQ(times.record_bytes, 1000);
    CHECK_EQ(times.dump_bytes, 2000);
}

TEST(what_a_record_does_not_state_is_no_time)
{
    static struct draft d;
    struct case_file files[] = {{.role = ROLE_DUMP, .path = "a.dmp", .bytes = 2000},
                                {.role = ROLE_RECORD, .path = "a.rec", .bytes = 1000}};
    const struct case_timing none = {.dump_bytes = 2000},
                             sizes = {.dump_bytes = 2000, .record_bytes = 1000};
    struct crash_case crash = {.folder = test_scratch(), .files = files, .file_count = 1};
    struct case_timing times;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/a.rec", test_scratch());
    analysis_timing(&crash, &times);
    CHECK_MEM(&times, &none, sizeof times);
    begin_record(&d);
    end_record(&d, path);
    crash.file_count = 2;
    analysis_timing(&crash, &times);
    CHECK_MEM(&times, &sizes, sizeof times);
}

/* ---- faults of dumps ---------------------------------------------------------------------- */

enum { PLAIN = 1, TUNED = 2 };

/* The faults by the format of a made dump, whose module may lack its name. */
static struct minidump_complaints faults_of(bool no_names, struct arena *keep)
{
    const struct row row = {.no_names = no_names, .listed = no_names};
    struct minidump_complaints found;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    char path[600];
    size_t bytes;
    (void)snprintf(path, sizeof path, "%s/linted.dmp", test_scratch());
    write_dump(&row, path);
    const uint8_t *data = test_read(path, &bytes);
    REQUIRE(minidump_read(data, bytes, keep, &dump, &fault) == ERR_NONE);
    REQUIRE(minidump_lint(&dump, keep, &found, &fault) == ERR_NONE);
    return found;
}

static bool has_fault(const struct minidump_complaints *in, const char *rule, const char *stream)
{
    for (uint32_t i = 0; i < in->count; i++)
        if (strcmp(in->rows[i].rule, rule) == 0 &&
            strcmp(in->rows[i].stream != NULL ? in->rows[i].stream : "",
                   stream != NULL ? stream : "") == 0)
            return true;
    return false;
}

/* The tuned dump has two modules without a name, the plain one none. Of each rule and stream the
 * first place is kept, and the dumps are counted. */
TEST(faults_of_dumps_are_counted_once_for_each_dump)
{
    static const struct {
        const char *name;
        int dumps[3]; /* of the cases, in their order; 0: no more */
        uint32_t examined;
    } of_cases[] = {
        {"a plain dump", {PLAIN}, 1},
        {"a tuned one", {TUNED}, 1},
        {"both of a case", {PLAIN | TUNED}, 2},
        {"three cases", {PLAIN, TUNED, PLAIN | TUNED}, 4},
        {"the tuned one is first", {TUNED, PLAIN}, 2},
    };
    struct arena keep;
    arena_init(&keep, 0);
    const struct minidump_complaints plain = faults_of(false, &keep),
                                     tuned = faults_of(true, &keep);
    REQUIRE(plain.count > 0 && tuned.count > plain.count);
    const struct row named = {.listed = false}, nameless = {.no_names = true, .listed = true};
    char path[600];
    (void)snprintf(path, sizeof path, "%s/a.dmp", test_scratch());
    write_dump(&named, path);
    (void)snprintf(path, sizeof path, "%s/dump-tuned.dmp", test_scratch());
    write_dump(&nameless, path);
    for (size_t i = 0; i < COUNT_OF(of_cases); i++) {
        static struct dump_faults faults;
        uint32_t with_plain = 0, with_tuned = 0;
        bool found_more = false;
        test_row(of_cases[i].name);
        memset(&faults, 0, sizeof faults);
        for (int k = 0; k < 3 && of_cases[i].dumps[k] != 0; k++) {
            const int dumps = of_cases[i].dumps[k];
            struct case_file files[2] = {{.role = ROLE_DUMP, .path = "a.dmp"}};
            struct crash_case crash = {.folder = test_scratch(), .files = files};
            struct opened_case opened;
            struct fault fault = FAULT_INIT;
            crash.file_count = (dumps & PLAIN) != 0;
            if ((dumps & TUNED) != 0)
                files[crash.file_count++] =
                    (struct case_file){.role = ROLE_OTHER, .path = "dump-tuned.dmp"};
            with_plain += (dumps & PLAIN) != 0;
            with_tuned += (dumps & TUNED) != 0;
            REQUIRE(opened_case_open(&crash, NULL, &keep, &opened, &fault) == ERR_NONE);
            CHECK_EQ(dump_faults_add(&opened, &keep, &faults, &fault), ERR_NONE);
            opened_case_close(&opened);
        }
        CHECK_EQ(faults.dump_count, of_cases[i].examined);
        for (uint32_t k = 0; k < faults.count; k++) {
            const struct dump_fault_row *row = &faults.rows[k];
            const bool in_plain = has_fault(&plain, row->rule, row->stream),
                       in_tuned = has_fault(&tuned, row->rule, row->stream);
            CHECK(in_plain || in_tuned);
            CHECK_EQ(row->dump_count, (in_plain ? with_plain : 0) + (in_tuned ? with_tuned : 0));
            CHECK_HAS(row->path,
                      in_plain && of_cases[i].dumps[0] != TUNED ? "a.dmp" : "dump-tuned.dmp");
            CHECK(row->effect != NULL && row->text != NULL);
            for (uint32_t n = 0; n < k; n++)
                CHECK(strcmp(faults.rows[n].rule, row->rule) != 0 ||
                      !text_equal(faults.rows[n].stream, row->stream));
            found_more = found_more || !in_plain;
        }
        CHECK_EQ(found_more, with_tuned > 0);
    }
    arena_free(&keep);
}

/* Numbers that differ, so that none is taken for another. */
TEST(what_is_judged_has_the_facts_of_its_case)
{
    const struct crash_case crash = {.folder = test_scratch(),
                                     .scenario = "s",
                                     .variant = "v",
                                     .arch = CPU_X86,
                                     .kind = CASE_KIND_HANG,
                                     .expect = {.code = 1, .exit_code = 2, .hooks = 4},
                                     .got = {.code = 5, .exit_code = 6, .hooks = 8, .wall_ms = 9},
                                     .seal = "5ea1"};
    const struct analysis analysis = {.symbols = NULL};
    struct run_case out;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    CHECK_EQ(analysis_case(&analysis, &crash, &keep, &out, &fault), ERR_NONE);
    CHECK_STR(out.scenario, "s");
    CHECK_STR(out.variant, "v");
    CHECK_STR(out.folder, test_scratch());
    CHECK_STR(out.case_sha256, "5ea1");
    CHECK_EQ(out.arch, CPU_X86);
    CHECK_EQ(out.kind, CASE_KIND_HANG);
    CHECK_EQ(out.expected_code, 1);
    CHECK_EQ(out.expected_exit_code, 2);
    CHECK_EQ(out.expected_hooks, 4);
    CHECK_EQ(out.got_code, 5);
    CHECK_EQ(out.got_exit_code, 6);
    CHECK_EQ(out.got_hooks, 8);
    CHECK_EQ(out.wall_ms, 9);
    arena_free(&keep);
}

/* ---- the symbols of a case ---------------------------------------------------------------- */

#define INNER {.path = "a.pdb", .role = ROLE_PDB}
#define IMAGE {.path = "a.exe", .role = ROLE_IMAGE}
#define SHARED {.path = "../../symbols/a.pdb", .role = ROLE_PDB}
#define SHARED_IMAGE {.path = "../../symbols/a.exe", .role = ROLE_IMAGE}
#define DUMP {.path = "crash.dmp", .role = ROLE_DUMP}
#define RECORD {.path = "../../symbols/x", .role = ROLE_RECORD}

/* As the format of a case says: a path that leaves its folder is in the store of its run. */
TEST(symbols_are_where_the_files_of_a_case_are)
{
    static const struct {
        const char *name;
        struct case_file files[4];
        uint32_t count, cases; /* of the same run */
        const char *more;      /* named by the user */
        const char *places;    /* R: the run, C: the case */
    } rows_of_symbols[] = {
        {"of the run", {SHARED, DUMP}, 2, 1, NULL, "R/symbols"},
        {"of the run, an image", {DUMP, SHARED_IMAGE}, 2, 1, NULL, "R/symbols"},
        {"within the case", {INNER, DUMP}, 2, 1, NULL, "R/cases/C"},
        {"within the case, an image", {DUMP, IMAGE}, 2, 1, NULL, "R/cases/C"},
        {"both", {IMAGE, DUMP, SHARED}, 3, 1, NULL, "R/symbols, R/cases/C"},
        {"a case without symbols", {DUMP, RECORD}, 2, 1, NULL, ""},
        {"no file", {DUMP}, 0, 1, NULL, ""},
        {"two cases of a run", {SHARED}, 1, 2, NULL, "R/symbols"},
        {"what the user names is first", {SHARED}, 1, 1, "R", "R, R/symbols"},
    };
    const char *run = test_scratch();
    for (size_t i = 0; i < COUNT_OF(rows_of_symbols); i++) {
        struct fault fault = FAULT_INIT;
        struct judging judging;
        struct arena keep;
        struct crash_case cases[2];
        test_row(rows_of_symbols[i].name);
        arena_init(&keep, 0);
        char *folder = arena_printf(&keep, "%s/cases/one", run);
        REQUIRE(folder_make(folder, &fault) == ERR_NONE);
        REQUIRE(folder_make(arena_printf(&keep, "%s/symbols", run), &fault) == ERR_NONE);
        struct case_file files[COUNT_OF(rows_of_symbols[i].files)];
        memcpy(files, rows_of_symbols[i].files, sizeof files);
        cases[0] = (struct crash_case){
            .folder = folder, .files = files, .file_count = rows_of_symbols[i].count};
        cases[1] = cases[0];
        const char *more = run;
        const struct judging_needs needs = {.cases = cases,
                                            .case_count = rows_of_symbols[i].cases,
                                            .symbols = &more,
                                            .symbol_count = rows_of_symbols[i].more != NULL};
        REQUIRE(judging_open(&needs, &keep, &judging, &fault) == ERR_NONE);
        const char *want = "";
        for (const char *at = rows_of_symbols[i].places; *at != 0; at++)
            want = *at == 'R'   ? arena_printf(&keep, "%s%s", want, run)
                   : *at == 'C' ? arena_printf(&keep, "%sone", want)
                                : arena_printf(&keep, "%s%c", want, *at);
        CHECK_STR(symbol_store_places(judging.analysis.symbols, &keep),
                  *want != 0 ? want : "(nowhere: no folder was given)");
        judging_close(&judging);
        arena_free(&keep);
    }
}
