/* A report of the field with its dump, judged: sealed cases whose truth is known are the reports.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "compare/signature.h"
#include "conduct/shadow_judge.h"
#include "format/record/record.h"
#include "stream/queued_report.h"
#include "stream/shadow_result.h"
#include "symbol/symbol_store.h"
#include "test.h"

static const char *below(const char *name, struct arena *keep)
{
    return path_join(keep, test_scratch(), name);
}

/* FROM: a file of corpus/cases, "cut": the first bytes of a dump, or NULL: there is none. */
static void put_dump(const char *from, struct arena *keep)
{
    static const char hostile[300] = "MDMP";
    struct fault fault = FAULT_INIT;
    size_t bytes = 0;
    REQUIRE(folder_make(below("dumps", keep), &fault) == ERR_NONE);
    REQUIRE(path_remove(below("dumps/r1.dmp", keep), &fault) == ERR_NONE);
    if (from != NULL && strcmp(from, "cut") == 0)
        test_write(below("dumps/r1.dmp", keep), hostile, sizeof hostile);
    else if (from != NULL) {
        const uint8_t *data =
            test_read(arena_printf(keep, "%s/%s", test_source("corpus/cases"), from), &bytes);
        test_write(below("dumps/r1.dmp", keep), data, bytes);
    }
}

static const char some_cause[] = "?"; /* which one is for the tests of compare */

struct engine_row {
    const char *engine, *against;
    enum shadow_result result;
    const char *cause;
};

#define ANSWER(FUNCTION)                                                                           \
    "{\"schema_version\":1,\"threads\":[{\"id\":1,\"crashed\":true,\"frames\":[{\"index\":0,"      \
    "\"inline_depth\":0,\"module\":\"victims-ob2.exe\",\"offset\":\"0x1000\",\"function\":"        \
    "\"" FUNCTION "\",\"file\":null,\"line\":null}]}]}"

TEST(a_report_and_its_dump_are_judged)
{
    static const struct {
        const char *name;
        const char *record; /* with "!" before it: it is changed, so that it contradicts itself */
        const char *dump;
        const char *also; /* what another resolver answers; NULL: none is asked */
        enum status want;
        const char *verdict, *signature;
        struct engine_row engines[3];
    } rows[] = {
        {"both of one crash",
         "null_write.ob2/record.rec",
         "null_write.ob2/dump.dmp",
         NULL,
         ERR_NONE,
         "PASS",
         "poke | middle | run_null_write",
         {{"offset:rtl", NULL, SHADOW_SAME, NULL}, {"dump", "offset:rtl", SHADOW_SAME, NULL}}},
        {"a hang",
         "spin.ob2/record.rec",
         "spin.ob2/dump.dmp",
         NULL,
         ERR_NONE,
         "PASS",
         "hang: turn | spin_around | run_spin",
         {{"offset:rtl", NULL, SHADOW_SAME, NULL}, {"dump", "offset:rtl", SHADOW_SAME, NULL}}},
        {"the dump of another crash",
         "null_write.ob2/record.rec",
         "recursion.ob2/dump.dmp",
         NULL,
         ERR_NONE,
         "FAIL",
         "poke | middle | run_null_write",
         {{"offset:rtl", NULL, SHADOW_SAME, NULL},
          {"dump", "offset:rtl", SHADOW_DIFFERS, "another crash"}}},
        {"a dump that cannot be read",
         "null_write.ob2/record.rec",
         "cut",
         NULL,
         ERR_NONE,
         "not judged",
         "poke | middle | run_null_write",
         {{"offset:rtl", NULL, SHADOW_SAME, NULL},
          {"dump", "offset:rtl", SHADOW_FAILED,
           "dump.dmp: minidump version at offset 0x4: malformed"}}},
        {"x86, by the walker that the record has",
         "throw_uncaught.x86-ob2/record.rec",
         "throw_uncaught.x86-ob2/dump.dmp",
         NULL,
         ERR_NONE,
         "PASS",
         "victims-x86-ob2.exe!0x3901",
         {{"offset:framepointer", "dump", SHADOW_DIFFERS, "symbols_missing"},
          {"dump", NULL, SHADOW_SAME, NULL}}},
        {"another resolver",
         "null_write.ob2/record.rec",
         "null_write.ob2/dump.dmp",
         ANSWER("somewhere_else"),
         ERR_NONE,
         "PASS",
         "poke | middle | run_null_write",
         {{"offset:rtl", NULL, SHADOW_SAME, NULL},
          {"dump", "offset:rtl", SHADOW_SAME, NULL},
          {"judge:other", "offset:rtl", SHADOW_DIFFERS, some_cause}}},
        {"another resolver that fails",
         "null_write.ob2/record.rec",
         "null_write.ob2/dump.dmp",
         "{\"error\":\"no idea\\nwhy\"}",
         ERR_NONE,
         "PASS",
         "poke | middle | run_null_write",
         {{"offset:rtl", NULL, SHADOW_SAME, NULL},
          {"dump", "offset:rtl", SHADOW_SAME, NULL},
          {"judge:other", "offset:rtl", SHADOW_FAILED, "no idea"}}},
        {"a record that contradicts itself",
         "!null_write.ob2/record.rec",
         "null_write.ob2/dump.dmp",
         NULL,
         ERR_NONE,
         "FAIL",
         "poke | middle | run_null_write",
         {{"offset:rtl", NULL, SHADOW_SAME, NULL}, {"dump", "offset:rtl", SHADOW_SAME, NULL}}},
        {"no dump", "null_write.ob2/record.rec", NULL, NULL, ERR_ABSENT, NULL, NULL, {{0}}},
    };
    static const char *roots[1];
    struct fault fault = FAULT_INIT;
    struct symbol_store *symbols = NULL;
    roots[0] = test_source("corpus/symbols");
    const struct symbol_store_options options = {.roots = roots, .root_count = 1, .cache = "none"};
    struct signature_rules *rules = NULL;
    struct arena all;
    arena_init(&all, 0);
    REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
    REQUIRE(signature_read_rules(signature_default_rules, strlen(signature_default_rules), &all,
                                 &rules, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct shadow shadow = {0};
        struct arena keep;
        size_t bytes = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        fault_clear(&fault);
        put_dump(rows[i].dump, &keep);
        const bool contradicts = rows[i].record[0] == '!';
        char *record = (char *)test_read(
            arena_printf(&keep, "%s/%s", test_source("corpus/cases"), rows[i].record + contradicts),
            &bytes);
        if (contradicts) /* threads were stopped as long for the walk as for both */
            record[RECORD_H_STOP_RTL] = record[RECORD_H_STOP_DUMP] = 7;
        const struct report report = {
            .id = "r1", .version = "1.0", .stacks = record, .bytes = bytes};
        struct shadow_judging judging = {.dumps = below("dumps", &keep),
                                         .symbols = symbols,
                                         .rules = rules,
                                         .also = rows[i].also != NULL};
        if (rows[i].also != NULL) {
            test_write(below("answer", &keep), rows[i].also, strlen(rows[i].also));
            REQUIRE(shadow_also(arena_printf(&keep, "other=%s do show %s", test_actor(),
                                             below("answer", &keep)),
                                &fault) == ERR_NONE);
        }
        CHECK_EQ(shadow_judge(&judging, &report, &keep, &shadow, &fault), rows[i].want);
        CHECK_STR(shadow.verdict, rows[i].verdict);
        CHECK_STR(shadow.signature, rows[i].signature);
        uint32_t count = 0;
        for (; count < 3 && rows[i].engines[count].engine != NULL; count++) {
            const struct engine_row *want = &rows[i].engines[count];
            if (!CHECK(count < shadow.count))
                break;
            const struct shadow_engine *got = &shadow.engines[count];
            CHECK_STR(got->engine, want->engine);
            CHECK_STR(got->against, want->against);
            CHECK_STR(shadow_result_name(got->result), shadow_result_name(want->result));
            if (want->cause == some_cause)
                CHECK(got->cause != NULL && got->cause[0] != '\0');
            else
                CHECK_STR(got->cause, want->cause);
        }
        CHECK_EQ(shadow.count, count);
        arena_free(&keep);
    }
    symbol_store_close(symbols);
    arena_free(&all);
}
