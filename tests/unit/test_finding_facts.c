/* The facts of a finding: stored by themselves, and of what older versions stored, in its evidence.
 */
#include <sqlite3.h>

#include "store/store.h"
#include "store_fixture.h"
#include "test.h"

static const char *or_none(const char *text)
{
    return text != NULL ? text : "-";
}

/* "module|file|sought|flaw|left_by|kinds|more" */
static const char *in_words(const struct finding_facts *f, struct arena *keep)
{
    return arena_printf(keep, "%s|%s|%s|%s|%s|%d|%u", or_none(f->module), or_none(f->file),
                        or_none(f->sought), or_none(f->flaw), or_none(f->left_by), (int)f->kinds,
                        (unsigned)f->more);
}

#define IDENTITY "1D5CD58CB2F3BA5E4C4C44205044422E1"

TEST(facts_are_read_from_the_evidence_of_older_versions)
{
    static const struct {
        const char *name;
        enum cause cause;
        const char *evidence, *want;
    } rows[] = {
        {"none", CAUSE_TRUNCATED, NULL, "-|-|-|-|-|0|0"},
        {"a damaged file", CAUSE_SYMBOLS_MISSING,
         "a-ob2.exe has no symbols: a-ob2.pdb " IDENTITY
         ": the PDB cannot be read: it is damaged or truncated; looked for in day/symbols; and 1 "
         "more frame",
         "a-ob2.exe|a-ob2.pdb|day/symbols|the PDB cannot be read: it is damaged or "
         "truncated|-|0|1"},
        {"two places", CAUSE_SYMBOLS_MISSING,
         "a.exe has no symbols: my a.pdb: no such file was found; looked for in x; y",
         "a.exe|my a.pdb|x; y|no such file was found|-|0|0"},
        {"an unknown identity", CAUSE_SYMBOLS_MISSING,
         "a.exe has no symbols: its PDB (unknown identity): no such file was found",
         "a.exe|its PDB|-|no such file was found|-|0|0"},
        {"no reason", CAUSE_SYMBOLS_MISSING, "a.exe has no symbols: a.pdb 01",
         "a.exe|a.pdb 01|-|-|-|0|0"},
        {"another PDB", CAUSE_SYMBOLS_MISMATCH,
         "dump at a.exe!0x10: the image found, of the same code id, names another PDB",
         "a.exe|-|-|-|-|0|0"},
        {"the same words for another cause", CAUSE_TRUNCATED, "dump at a.exe!0x10: no",
         "-|-|-|-|-|0|0"},
        {"a step", CAUSE_WRONG_STEP,
         "the walks part at main (a.exe!0x10), which dump leaves by UWOP_SET_FPREG, "
         "UWOP_PUSH_NONVOL: why; and 2 more frames",
         "-|-|-|-|UWOP_SET_FPREG, UWOP_PUSH_NONVOL|0|2"},
        {"a step at the end", CAUSE_TRUNCATED,
         "dump stopped; the walks part at main (a.exe!0x10), which dump leaves by UWOP_EPILOG; and "
         "12 more frames",
         "-|-|-|-|UWOP_EPILOG|0|12"},
        {"a return address of its engine", CAUSE_LOOKUP_ADDRESS,
         "dump reports a.exe!0x10 (return), offset:rtl reports a.exe!0x10 (interrupted)",
         "-|-|-|-|-|1|0"},
        {"of the other", CAUSE_LOOKUP_ADDRESS,
         "dump reports a.exe!0x10 (interrupted), offset:rtl reports a.exe!0x10 (return)",
         "-|-|-|-|-|2|0"},
        {"of both", CAUSE_LOOKUP_ADDRESS,
         "dump reports a.exe!0x10 (return), offset:rtl reports a.exe!0x11 (return)",
         "-|-|-|-|-|0|0"},
        {"more frames than there can be", CAUSE_TRUNCATED, "x; and 4294967295 more frames",
         "-|-|-|-|-|0|0"},
        {"no number", CAUSE_TRUNCATED, "x; and more frames; and 2 more facts", "-|-|-|-|-|0|0"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct finding f = {.cause = rows[i].cause, .evidence = rows[i].evidence};
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        finding_read_evidence(&f, &keep);
        CHECK_STR(in_words(&f.facts, &keep), rows[i].want);
        arena_free(&keep);
    }
}

/* Changes the database at PATH as an older version would have written it. */
static void make_older(const char *path)
{
    sqlite3 *db;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db,
                         "UPDATE finding SET facts = NULL, fact_module = NULL, fact_file = NULL,"
                         " fact_sought = NULL, fact_flaw = NULL, fact_left_by = NULL,"
                         " fact_kinds = NULL, fact_more = NULL",
                         NULL, NULL, NULL) == SQLITE_OK);
    REQUIRE(sqlite3_close(db) == SQLITE_OK);
}

static void check_stored(struct store_fixture *f, uint64_t run, const char *want)
{
    const struct case_query query = {.run_id = run, .limit = 1};
    struct run_case *deciding = NULL, whole;
    struct case_page page;
    uint32_t count = 0;
    REQUIRE(store_read_outcomes(f->store, run, &f->keep, &deciding, &count, &f->fault) == ERR_NONE);
    REQUIRE(count == 1 && deciding->result.finding_count == 1);
    CHECK_STR(in_words(&deciding->result.findings->facts, &f->keep), want);
    REQUIRE(store_list_cases(f->store, &query, &f->keep, &page, &f->fault) == ERR_NONE);
    REQUIRE(page.count == 1);
    REQUIRE(store_read_parts(f->store, page.cases[0].id, CASE_FINDINGS, &f->keep, &whole,
                             &f->fault) == ERR_NONE);
    REQUIRE(whole.result.finding_count == 1);
    CHECK_STR(in_words(&whole.result.findings->facts, &f->keep), want);
}

TEST(facts_are_read_as_stored)
{
    struct finding finding = {.engine = "dump",
                              .against = FINDING_TRUTH,
                              .cause = CAUSE_SYMBOLS_MISSING,
                              .evidence = "b.exe has no symbols: b.pdb: why; and 2 more frames",
                              .fails = true,
                              .facts = {.module = "own.exe",
                                        .file = "own.pdb",
                                        .sought = "a folder",
                                        .flaw = "damaged",
                                        .left_by = "UWOP_EPILOG",
                                        .kinds = KINDS_INTERRUPTED,
                                        .more = 5}};
    struct run_info run = {.uuid = "01234567-0000", .started_ns = 1};
    struct run_case c = {.scenario = "s",
                         .variant = "v",
                         .result = {.verdict = VERDICT_FAIL,
                                    .reason = "its reason",
                                    .right = "none",
                                    .signature = "dump=x",
                                    .findings = &finding,
                                    .finding_count = 1}};
    struct store_fixture f = {.fault = FAULT_INIT};
    arena_init(&f.keep, 0);
    const char *path = arena_printf(&f.keep, "%s/facts.db", test_scratch());
    REQUIRE(store_open(path, STORE_WRITE, &f.store, &f.fault) == ERR_NONE);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 2, &f.fault) == ERR_NONE);
    check_stored(&f, run.id, "own.exe|own.pdb|a folder|damaged|UWOP_EPILOG|2|5");
    make_older(path);
    check_stored(&f, run.id, "b.exe|b.pdb|-|why|-|0|2");
    store_tear_down(&f);
}
