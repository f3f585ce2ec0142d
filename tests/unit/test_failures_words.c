/* What is wrong with a failing case, in words: study/failures_words.h. Findings are written as
 * older versions stored them: their facts are read from the evidence. */
#include <string.h>

#include "study/failures_words.h"
#include "test.h"

#define AT .engine = "dump", .against = FINDING_TRUTH, .against_truth = true
#define SILENT(side) .engine = "dump", .against = "offset:rtl", .wrong = (side)
#define KINDS "dump reports a.exe!0x10 (interrupted), offset:rtl reports a.exe!0x10 (return)"
#define OTHER_PDB "dump at a-ob2.exe!0x10: the image found, of the same code id, names another PDB"
#define THAT_IMAGE "that image itself, which is the one that ran (same code id)"
#define LEAVES "the walks part at main (a.exe!0x10), which dump leaves by "

/* Mechanisms group cases: a row with the wrong one hides a problem in another. */
TEST(a_mechanism_is_what_is_broken)
{
    static const struct {
        const char *name, *place, *want;
        struct finding f;
    } rows[] = {
        {"a record that contradicts itself",
         "a.exe",
         "sentence",
         {AT, .cause = CAUSE_RECORD_WRONG, .blame = BLAME_RECORD}},
        {"no stack",
         "a.exe",
         "sentence",
         {AT, .frame_a = -1, .frame_b = -1, .cause = CAUSE_LOOKUP_ADDRESS, .blame = BLAME_RECORD}},
        {"a frame that is lacking, by the record",
         "a.exe",
         "record",
         {AT, .frame_a = -1, .blame = BLAME_RECORD}},
        {"a frame too many, by the record",
         "a.exe",
         "record",
         {AT, .frame_b = -1, .blame = BLAME_RECORD}},
        {"another frame, by the reader of dumps",
         "a.exe",
         "dump reader",
         {AT, .blame = BLAME_DUMP_READER}},
        {"an address off by one, whatever is to blame",
         "a.exe",
         " (lookup address)",
         {AT, .cause = CAUSE_LOOKUP_ADDRESS, .blame = BLAME_RECORD}},
        {"symbols that are missing",
         "a.exe",
         " (symbols missing)",
         {AT, .cause = CAUSE_SYMBOLS_MISSING, .level = LEVEL_LINE, .blame = BLAME_SYMBOLS}},
        {"symbols of another build",
         "a.exe",
         " (symbols mismatch)",
         {AT, .cause = CAUSE_SYMBOLS_MISMATCH, .level = LEVEL_LINE, .blame = BLAME_SYMBOLS}},
        {"lines by the symbols of one engine",
         "a.exe",
         "lines, in a.exe",
         {AT, .level = LEVEL_LINE, .blame = BLAME_SYMBOLS}},
        {"lines by shared symbols",
         "b.dll",
         "lines, in b.dll",
         {AT, .level = LEVEL_LINE, .blame = BLAME_SYMBOLS_SHARED}},
        {"lines in no known place",
         NULL,
         "lines, in ",
         {AT, .level = LEVEL_LINE, .blame = BLAME_SYMBOLS_SHARED}},
        {"lines by a walk", "a.exe", "sentence", {AT, .level = LEVEL_LINE, .blame = BLAME_WALK}},
        {"names by the symbols of one engine",
         "a.exe",
         "names (export only), in a.exe",
         {AT, .level = LEVEL_FUNCTION, .cause = CAUSE_EXPORT_ONLY, .blame = BLAME_SYMBOLS}},
        {"names by shared symbols",
         "a.exe",
         "names, in a.exe",
         {AT, .level = LEVEL_FUNCTION, .cause = CAUSE_UNEXPLAINED, .blame = BLAME_SYMBOLS_SHARED}},
        {"a wrong step",
         "a.exe",
         " (wrong step by UWOP_SET_FPREG)",
         {AT, .cause = CAUSE_WRONG_STEP, .evidence = LEAVES "UWOP_SET_FPREG, why",
          .blame = BLAME_WALK}},
        {"a wrong step by no known code",
         "a.exe",
         " (wrong step)",
         {AT, .cause = CAUSE_WRONG_STEP, .evidence = "why", .blame = BLAME_WALK}},
        {"a walk that ends early",
         "a.exe",
         "sentence",
         {AT, .frame_a = -1, .cause = CAUSE_TRUNCATED, .blame = BLAME_WALK}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        struct finding f = rows[i].f;
        finding_read_evidence(&f, &keep);
        CHECK_STR(failure_mechanism(&f, "sentence", rows[i].place, &keep), rows[i].want);
        arena_free(&keep);
    }
}

/* Whose fault it is and how it does that, where the finding knows; the same side as the blame. */
TEST(a_sentence_takes_the_side_of_the_blame)
{
    static const struct {
        const char *name, *want;
        struct finding f;
    } rows[] = {
        {"a kind that the record has wrong",
         "the record has a return address, not the interrupted one that dump has, where the truth "
         "is silent, in a.exe (lookup address)",
         {SILENT("offset:rtl"), .cause = CAUSE_LOOKUP_ADDRESS, .blame = BLAME_RECORD,
          .facts = {.kinds = KINDS_INTERRUPTED}}},
        {"one that the reader of dumps has wrong",
         "the dump reader has an interrupted address, not the return address that offset:rtl has, "
         "where the truth is silent, in a.exe (lookup address)",
         {SILENT("dump"), .cause = CAUSE_LOOKUP_ADDRESS, .blame = BLAME_DUMP_READER,
          .facts = {.kinds = KINDS_INTERRUPTED}}},
        {"modules that are read too high",
         "the dump reader has modules 0x1000 bytes too high, so walks end early and names are "
         "wrong",
         {AT, .frame_a = -1, .cause = CAUSE_TRUNCATED, .blame = BLAME_DUMP_READER,
          .facts = {.input = INPUT_PLACES, .shift = 0x1000}}},
        {"too low, in the record",
         "the record has modules 0x20 bytes too low, so walks end early and names are wrong",
         {AT, .frame_b = -1, .cause = CAUSE_HANDLER_CONTEXT, .blame = BLAME_RECORD,
          .facts = {.input = INPUT_PLACES, .shift = -0x20}}},
        {"other modules",
         "the record has modules at other addresses than the process had, so walks end early and "
         "names are wrong",
         {AT, .blame = BLAME_RECORD, .facts = {.input = INPUT_PLACES}}},
        {"a walk that went wrong in right modules",
         "dump lacks a frame that ran, in a.exe",
         {AT, .frame_a = -1, .blame = BLAME_WALK, .facts = {.input = INPUT_PLACES, .shift = 4}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct diff_case c = {.finding = &rows[i].f, .verdict = VERDICT_FAIL};
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_STR(failure_sentence(&c, "a.exe", &keep), rows[i].want);
        arena_free(&keep);
    }
}

TEST(a_sentence_says_which_engine_does_what)
{
    static const struct {
        const char *name, *place, *want;
        struct finding f;
    } rows[] = {
        {"a frame is lacking",
         "a.exe",
         "dump lacks a frame that ran, in a.exe",
         {AT, .frame_a = -1}},
        {"a frame too many",
         "a.exe",
         "dump has a frame that did not run, in a.exe",
         {AT, .frame_b = -1}},
        {"another address",
         "a.exe",
         "dump has another address than ran, in a.exe",
         {AT, .level = LEVEL_PHYSICAL}},
        {"another function",
         NULL,
         "dump names another function than ran",
         {AT, .level = LEVEL_FUNCTION}},
        {"another line, by a walk",
         "a.exe",
         "dump gives another line than ran, in a.exe (tail call)",
         {AT, .level = LEVEL_LINE, .cause = CAUSE_TAIL_CALL, .blame = BLAME_WALK}},
        {"another line, by symbols",
         NULL,
         "symbols give another line than ran",
         {AT, .level = LEVEL_LINE, .blame = BLAME_SYMBOLS_SHARED}},
        {"no stack",
         NULL,
         "dump has no stack (truncated)",
         {AT, .frame_a = -1, .frame_b = -1, .cause = CAUSE_TRUNCATED}},
        {"the record",
         "a.exe",
         "the record contradicts itself",
         {AT, .frame_a = -1, .frame_b = -1, .cause = CAUSE_RECORD_WRONG}},
        {"lacking, where the truth is silent",
         "a.exe",
         "dump lacks a frame that offset:rtl has, where the truth is silent, in a.exe",
         {SILENT("dump"), .frame_a = -1}},
        {"too many there",
         "a.exe",
         "dump has a frame that offset:rtl has not, where the truth is silent, in a.exe",
         {SILENT("dump"), .frame_b = -1}},
        {"lacking in the other one",
         NULL,
         "offset:rtl lacks a frame that dump has, where the truth is silent",
         {SILENT("offset:rtl"), .frame_b = -1}},
        {"too many in the other one",
         NULL,
         "offset:rtl has a frame that dump has not, where the truth is silent",
         {SILENT("offset:rtl"), .frame_a = -1}},
        {"another address there",
         NULL,
         "dump has another address than offset:rtl, where the truth is silent",
         {SILENT("dump"), .level = LEVEL_PHYSICAL}},
        {"another function in the other one",
         NULL,
         "offset:rtl names another function than dump, where the truth is silent",
         {SILENT("offset:rtl"), .level = LEVEL_FUNCTION}},
        {"another line there, by symbols",
         NULL,
         "dump gives another line than offset:rtl, where the truth is silent",
         {SILENT("dump"), .level = LEVEL_LINE, .blame = BLAME_SYMBOLS}},
        {"a frame of only one",
         NULL,
         "dump and offset:rtl disagree where the truth is silent: only one has a frame",
         {SILENT(NULL), .frame_a = -1}},
        {"a frame of only the other",
         "b.dll",
         "dump and offset:rtl disagree where the truth is silent: only one has a frame, in b.dll",
         {SILENT(NULL), .frame_b = -1}},
        {"two addresses",
         NULL,
         "dump and offset:rtl disagree where the truth is silent: their addresses differ",
         {SILENT(NULL), .level = LEVEL_PHYSICAL}},
        {"two functions",
         NULL,
         "dump and offset:rtl disagree where the truth is silent: their functions differ (folded)",
         {SILENT(NULL), .level = LEVEL_FUNCTION, .cause = CAUSE_FOLDED}},
        {"two lines",
         NULL,
         "dump and offset:rtl disagree where the truth is silent: their lines differ",
         {SILENT(NULL), .level = LEVEL_LINE}},
        {"a return address in the wrong one",
         "a.exe",
         "offset:rtl has a return address, not the interrupted one that dump has, where the truth "
         "is silent, in a.exe (lookup address)",
         {SILENT("offset:rtl"), .cause = CAUSE_LOOKUP_ADDRESS, .evidence = KINDS}},
        {"an interrupted one in the wrong one",
         NULL,
         "dump has an interrupted address, not the return address that offset:rtl has, where the "
         "truth is silent (lookup address)",
         {SILENT("dump"), .cause = CAUSE_LOOKUP_ADDRESS, .evidence = KINDS}},
        {"a return address in one of both",
         NULL,
         "dump and offset:rtl disagree where the truth is silent: only one has a return address "
         "(lookup address)",
         {SILENT(NULL), .cause = CAUSE_LOOKUP_ADDRESS, .evidence = KINDS}},
        {"two return addresses",
         NULL,
         "dump has another address than offset:rtl, where the truth is silent (lookup address)",
         {SILENT("dump"), .cause = CAUSE_LOOKUP_ADDRESS,
          .evidence = "dump reports a.exe!0x10 (return), offset:rtl reports a.exe!0x11 (return)"}},
        {"an identity that the record has wrong",
         "a.exe",
         "the record is wrong: it states another PDB (GUID, age) for a.exe than " THAT_IMAGE,
         {AT, .frame_a = -1, .cause = CAUSE_SYMBOLS_MISMATCH, .blame = BLAME_RECORD,
          .evidence = OTHER_PDB}},
        {"one that the reader of dumps has wrong",
         "a.exe",
         "the dump reader is wrong: it states another PDB (GUID, age) for a.exe than " THAT_IMAGE,
         {AT, .frame_a = -1, .cause = CAUSE_SYMBOLS_MISMATCH, .blame = BLAME_DUMP_READER,
          .evidence = OTHER_PDB}},
        {"of a module that is not known",
         NULL,
         "the record is wrong: it states another PDB (GUID, age) for a module than " THAT_IMAGE,
         {AT, .frame_a = -1, .cause = CAUSE_SYMBOLS_MISMATCH, .blame = BLAME_RECORD,
          .evidence = OTHER_PDB}},
        {"a module without symbols",
         "a.exe",
         "a.exe has no symbols: no such file was found (symbols missing)",
         {AT, .cause = CAUSE_SYMBOLS_MISSING,
          .evidence =
              "a-ob2.exe has no symbols: a.pdb 01: no such file was found; looked for in /x; /y"}},
        {"one of which no reason is known",
         "a.exe",
         "a.exe has no symbols (symbols missing)",
         {AT, .cause = CAUSE_SYMBOLS_MISSING, .evidence = "a-ob2.exe has no symbols: a.pdb 01"}},
        {"one in no known place",
         NULL,
         "dump names another function than ran (symbols missing)",
         {AT, .level = LEVEL_FUNCTION, .cause = CAUSE_SYMBOLS_MISSING,
          .evidence = "a-ob2.exe has no symbols: a.pdb 01: no such file was found"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct finding f = rows[i].f;
        const struct diff_case c = {.finding = &f, .reason = "reason", .verdict = VERDICT_FAIL};
        struct arena keep;
        arena_init(&keep, 0);
        finding_read_evidence(&f, &keep);
        test_row(rows[i].name);
        CHECK_STR(failure_sentence(&c, rows[i].place, &keep), rows[i].want);
        arena_free(&keep);
    }
}

/* Which of a case's two texts its group is made of: that of its finding, or its reason. */
TEST(a_reason_is_shown_where_the_finding_does_not_say_it)
{
    static const struct {
        const char *name, *engine, *reason, *want; /* ENGINE NULL: there is no finding */
        enum verdict verdict;
        bool by_finding;
    } rows[] = {
        {"a finding", "dump", "reason", "dump has no stack", VERDICT_FAIL, true},
        {"no finding", NULL, "reason", "reason", VERDICT_FAIL, false},
        {"neither", NULL, NULL, "no reason was stored", VERDICT_FAIL, false},
        {"it was not judged", "dump", "reason", "reason", VERDICT_ERROR, false},
        {"right, and accepted", "dump", "reason", "right, although accepted as wrong",
         VERDICT_XPASS, false},
        {"of another program", "mine", "reason", "reason", VERDICT_FAIL, false},
        {"of another program without a reason", "mine", NULL, "mine has no stack", VERDICT_FAIL,
         true},
        {"of a judge", "judge:lldb", "reason", "judge:lldb has no stack", VERDICT_FAIL, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct finding f = {
            .engine = rows[i].engine, .against_truth = true, .frame_a = -1, .frame_b = -1};
        const struct diff_case c = {.finding = rows[i].engine != NULL ? &f : NULL,
                                    .reason = rows[i].reason,
                                    .verdict = rows[i].verdict};
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_EQ(failure_is_by_finding(&c), rows[i].by_finding);
        CHECK_STR(failure_sentence(&c, NULL, &keep), rows[i].want);
        arena_free(&keep);
    }
}

TEST(a_place_is_a_module_of_any_build)
{
    static const struct {
        const char *name, *module, *variant, *want;
    } rows[] = {
        {"none", NULL, "ob2", NULL},
        {"small letters", "@AZ[`az{-9.DLL", "ob2", "@az[`az{-9.dll"},
        {"after a hyphen", "Victims-ob2.exe", "ob2", "victims-*.exe"},
        {"after an underscore, at the end", "tool_ob2", "ob2", "tool_*"},
        {"in capitals", "TOOL-OB2.EXE", "ob2", "tool-*.exe"},
        {"of another build", "victims-ob0.exe", "ob2", "victims-ob0.exe"},
        {"longer than the build", "victims-ob22.exe", "ob2", "victims-ob22.exe"},
        {"in its middle", "victims-ob2-x.exe", "ob2", "victims-ob2-x.exe"},
        {"twice", "a-ob2.b-ob2.exe", "ob2", "a-*.b-ob2.exe"},
        {"without a hyphen", "victimsob2.exe", "ob2", "victimsob2.exe"},
        {"a name that is the build", "ob2.exe", "ob2", "ob2.exe"},
        {"no build", "a-.exe", "", "a-.exe"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_STR(failure_place(rows[i].module, rows[i].variant, &keep), rows[i].want);
        arena_free(&keep);
    }
}

TEST(a_module_is_the_one_without_symbols)
{
    static const struct {
        const char *name, *want;
        struct finding f;
    } rows[] = {
        {"missing",
         "a.exe",
         {AT, .module = "b.dll", .cause = CAUSE_SYMBOLS_MISSING,
          .evidence = "a.exe has no symbols: x"}},
        {"of another build",
         "a.exe",
         {AT, .module = "b.dll", .cause = CAUSE_SYMBOLS_MISMATCH,
          .evidence = "a.exe has no symbols: x"}},
        {"whose identity the record has wrong",
         "a-ob2.exe",
         {AT, .module = "b.dll", .cause = CAUSE_SYMBOLS_MISMATCH, .blame = BLAME_RECORD,
          .evidence = OTHER_PDB}},
        {"for another cause",
         "b.dll",
         {AT, .module = "b.dll", .cause = CAUSE_EXPORT_ONLY,
          .evidence = "a.exe has no symbols: x"}},
        {"no such words",
         "b.dll",
         {AT, .module = "b.dll", .cause = CAUSE_SYMBOLS_MISSING, .evidence = "a.exe"}},
        {"no evidence", "b.dll", {AT, .module = "b.dll", .cause = CAUSE_SYMBOLS_MISSING}},
        {"no module", NULL, {AT, .cause = CAUSE_SYMBOLS_MISSING}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        struct finding f = rows[i].f;
        finding_read_evidence(&f, &keep);
        CHECK_STR(failure_module(&f), rows[i].want);
        arena_free(&keep);
    }
}

#define IDENTITY "1D5CD58CB2F3BA5E4C4C44205044422E1"

TEST(a_file_of_symbols_is_named_with_where_it_was_looked_for)
{
    static const struct {
        const char *name, *evidence, *want;
    } rows[] = {
        {"cut",
         "a-ob2.exe has no symbols: a-ob2.pdb " IDENTITY
         ": the PDB cannot be read: it is damaged or "
         "truncated; looked for in day/symbols; and 1 more frame",
         "a-ob2.pdb, looked for in day/symbols"},
        {"sought in two places",
         "a.exe has no symbols: my a.pdb " IDENTITY ": no such file was found; looked for in x; y",
         "my a.pdb, looked for in x; y"},
        {"sought nowhere", "a.exe has no symbols: a.pdb " IDENTITY ": no such file was found",
         "a.pdb"},
        {"of no identity",
         "a.exe has no symbols: a.pdb (unknown identity): no such file was found; looked for in x",
         "a.pdb, looked for in x"},
        {"of no name", "a.exe has no symbols: its PDB (unknown identity): no such file was found",
         "its PDB"},
        {"without one", "a.exe has no symbols: a.pdb: no such file was found", "a.pdb"},
        {"a name that is a short number", "a.exe has no symbols: a 12: no such file was found",
         "a 12"},
        {"no reason", "a.exe has no symbols: a.pdb", NULL},
        {"another cause", "dump at a.exe+0x1: wrong; looked for in x", NULL},
        {"no evidence", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct finding f = {AT, .cause = CAUSE_SYMBOLS_MISSING, .evidence = rows[i].evidence};
        struct arena keep;
        arena_init(&keep, 0);
        finding_read_evidence(&f, &keep);
        test_row(rows[i].name);
        CHECK_STR(failure_file(&f, &keep), rows[i].want);
        arena_free(&keep);
    }
}
