/* What a million crashes cost, as `report --cost` prints it, from amounts that are worked out by
 * hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "study/cost.h"
#include "test.h"

static struct arena keep;

/* Case after case ONE takes so much; a million of them a million times that: 2 ms are 2,000 s. */
static struct cost_amount amount(size_t cases, size_t scenarios, double low, double one,
                                 double high)
{
    return (struct cost_amount){cases, scenarios, {low, one, high}};
}

static void make_costs(struct costs *out)
{
    static const char *const names[COST_LANES] = {"plain dump", "tuned dump", "full dump",
                                                  "offsets"};
    memset(out, 0, sizeof *out);
    out->count = 2;
    for (size_t k = 0; k < out->count; k++) {
        struct cost *cost = &out->of[k];
        cost->arch = k == 0 ? CPU_X64 : CPU_X86;
        cost->where = k == 0 ? "here" : "there";
        for (int lane = 0; lane < COST_LANES; lane++) {
            cost->lanes[lane].name = names[lane];
            for (int row = 0; row < COST_ROWS; row++)
                cost->lanes[lane].amounts[row] = amount(0, 0, NAN, NAN, NAN);
            for (int step = 0; step < COST_STEPS; step++)
                cost->lanes[lane].steps_ns[step] = (double)NAN;
        }
    }
    struct cost_lane *plain = &out->of[0].lanes[COST_PLAIN];
    plain->amounts[COST_WARM] = amount(20, 14, 1.5e6, 2e6, 4e6);
    plain->amounts[COST_INDEX] = amount(20, 14, 2.5e6, 3e6, 3.5e6);
    plain->amounts[COST_STOPPED] = amount(11, 11, NAN, NAN, NAN);
    plain->amounts[COST_RAW] = amount(20, 14, 40e3, 50e3, 60e3);
    plain->amounts[COST_GZIP] = amount(20, 14, 9e3, 10e3, 12e3);
    plain->amounts[COST_ZSTD] = amount(20, 14, 6e3, 7.3e3, 9e3);
    for (int step = 0; step < COST_STEPS; step++)
        plain->steps_ns[step] = 1e3 * (step + 1);
    plain->steps_ns[COST_STEP_LOAD] = (double)NAN;
    plain->is_judged = true;
    plain->unusable = 2;
    plain->judged = 16;
    out->of[0].lanes[COST_OFFSET].amounts[COST_WARM] = amount(20, 3, NAN, NAN, NAN);
    out->of[1].lanes[COST_PLAIN].amounts[COST_WARM] = amount(12, 12, 1e6, 1e6, 1e6);
}

static const char *cost_text(const struct costs *costs, const struct cost_terms *terms,
                             uint32_t columns)
{
    char name[600];
    struct fault fault = FAULT_INIT;
    size_t bytes;
    (void)snprintf(name, sizeof name, "%s/cost", test_scratch());
    FILE *out = fopen(name, "wb");
    REQUIRE(out != NULL);
    CHECK_EQ(
        report_cost(costs, terms, &(struct report_style){.columns = columns}, &keep, out, &fault),
        ERR_NONE);
    REQUIRE(fclose(out) == 0);
    const char *text = (const char *)test_read(name, &bytes);
    return arena_text(&keep, text, bytes);
}

/* Uplink of 8 Mbit/s: 10 kB of gzip take 10 ms, of a million crashes 10,000 s. Price: 7.3 GB for
 * 73 of 730 hours at 2 are 1.46; 2,000 core-seconds at 1.8 an hour are 1. */
TEST(the_cost_of_a_million_is_a_table_of_each_processor)
{
    struct cost_terms terms = {
        {[COST_MBIT_S] = 8, [COST_HOURS_KEPT] = 73, [COST_GB_MONTH] = 2, [COST_CORE_HOUR] = 1.8}};
    static struct costs costs;
    arena_init(&keep, 0);
    make_costs(&costs);
    CHECK_STR(
        cost_text(&costs, &terms, 120),
        "\n"
        "COST OF A MILLION CRASHES\n"
        "x64, here\n"
        "                             plain dump   tuned dump    full dump           offsets\n"
        "warm, core-s  2.00k [1.50k, 4.00k] (20) not measured not measured few scenarios (3)\n"
        "index, core-s 3.00k [2.50k, 3.50k] (20) not measured not measured      not measured\n"
        "stopped, s                 too few (11) not measured not measured      not measured\n"
        "kept raw, GB     50.0 [40.0, 60.0] (20) not measured not measured      not measured\n"
        "gzip, GB         10.0 [9.00, 12.0] (20) not measured not measured      not measured\n"
        "zstd, GB         7.30 [6.00, 9.00] (20) not measured not measured      not measured\n"
        "upload, s                         10.0k not measured not measured      not measured\n"
        "price                              2.46 not measured not measured      not measured\n"
        "unusable                        2 of 16   not judged   not judged        not judged\n"
        "\n"
        "ONE CRASH, one step after the other\n"
        "                    plain dump   tuned dump    full dump      offsets\n"
        "stack walk             1.00 µs            –            –            –\n"
        "file written           2.00 µs            –            –            –\n"
        "upload                 10.0 ms            –            –            –\n"
        "back end: opening      4.00 µs            –            –            –\n"
        "walking                5.00 µs            –            –            –\n"
        "loading symbols              –            –            –            –\n"
        "naming                 7.00 µs            –            –            –\n"
        "left over              8.00 µs            –            –            –\n"
        "all of it              10.0 ms            –            –            –\n"
        "\n"
        "COST OF A MILLION CRASHES\n"
        "x86, there · no stacks by offsets: x86 has no tables for rtl\n"
        "                             plain dump   tuned dump    full dump      offsets\n"
        "warm, core-s  1.00k [1.00k, 1.00k] (12) not measured not measured not measured\n"
        "index, core-s              not measured not measured not measured not measured\n"
        "stopped, s                 not measured not measured not measured not measured\n"
        "kept raw, GB               not measured not measured not measured not measured\n"
        "gzip, GB                   not measured not measured not measured not measured\n"
        "zstd, GB                   not measured not measured not measured not measured\n"
        "upload, s                  not measured not measured not measured not measured\n"
        "price                      not measured not measured not measured not measured\n"
        "unusable                     not judged   not judged   not judged   not judged\n"
        "A million times the case in the middle [95 %] (cases). The process is stopped until reco"
        "rd or dump is written; one that\n"
        "hangs, until its stack is walked or its dump is written. Each file is compressed by itse"
        "lf, gzip at level 6, zstd at 3;\n"
        "gzip is what is sent, zstd what is kept. Unusable: victims that left no stack, or one wh"
        "ose innermost own frame is\n"
        "wrong. A full dump has all memory: --full-dumps RUN names a run that wrote such dumps.\n"
        "--term mbit_s=8 (Mbit/s of a user's uplink), hours_kept=73 (hours for which a report is "
        "kept), gb_month=2 (price of a\n"
        "GB for a month), core_hour=1.8 (price of a core for an hour)\n");
    costs.of[1].lanes[COST_OFFSET].amounts[COST_WARM] = amount(3, 3, NAN, NAN, NAN);
    CHECK(strstr(cost_text(&costs, &terms, 120), "no stacks by offsets") == NULL);
    arena_free(&keep);
}

TEST(amounts_have_three_digits_and_a_unit)
{
    static const struct {
        double one; /* of one crash: a thousandth of what is shown */
        const char *text;
    } rows[] = {{4.3e3, " 4.30 "},   {95e3, " 95.0 "}, {999.4e3, " 999 "}, {999.5e3, " 1.00k "},
                {999.4e6, " 999k "}, {1e9, " 1.00M "}, {1e12, " 1.00G "},  {1e16, " 10000G "}};
    static struct costs costs;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char cell[64];
        test_row(rows[i].text);
        arena_init(&keep, 0);
        make_costs(&costs);
        costs.count = 1;
        costs.of[0].lanes[COST_PLAIN].amounts[COST_INDEX] =
            amount(12, 12, rows[i].one, rows[i].one, rows[i].one);
        const char *word = rows[i].text + 1;
        const int bytes = (int)strlen(word) - 1;
        (void)snprintf(cell, sizeof cell, " %.*s [%.*s, %.*s] (12)", bytes, word, bytes, word,
                       bytes, word);
        CHECK_HAS(cost_text(&costs, &cost_terms_default, 120), cell);
        arena_free(&keep);
    }
}
