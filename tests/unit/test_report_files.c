/* Single files of a report: what cannot be written, labels of metrics, and a walk that was given
 * up. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "make_run.h"
#include "report/report.h"
#include "short_memory.h"
#include "study/ratio.h"
#include "test.h"

struct fixture {
    struct arena keep;
    struct run_info run;
    struct run_case cases[MADE_CASES];
    struct run_figures report;
    struct fault fault;
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->fault.offset = FAULT_NO_OFFSET;
    arena_init(&f->keep, 0);
    make_run(&f->keep, &f->run, f->cases);
    REQUIRE(figures_prepare(&f->run, f->cases, MADE_CASES, &f->keep, &f->report, &f->fault) ==
            ERR_NONE);
}

/* What is written, or all of the report where WRITE is NULL. */
static const char *text_of(struct fixture *f, report_fn *write)
{
    const struct report_style style = {.details = true};
    const struct report_job job = {.report = &f->report, .scratch = &f->keep};
    const char *path = arena_printf(&f->keep, "%s/report.txt", test_scratch());
    size_t bytes = 0;
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    CHECK_EQ(write != NULL ? write(&job, out, &f->fault)
                           : report_text(&f->report, &style, &f->keep, out, &f->fault),
             ERR_NONE);
    (void)fclose(out);
    const char *data = (const char *)test_read(path, &bytes);
    return arena_text(&f->keep, data, bytes);
}

struct written {
    report_fn *write;
    const struct run_figures *report;
    FILE *out;
};

static enum status write_short(struct arena *scratch, void *context, struct fault *fault)
{
    const struct written *w = context;
    const struct report_job job = {.report = w->report, .scratch = scratch};
    return w->write(&job, w->out, fault);
}

/* Folded lines and speedscope keep each stack that differs: whatever of it has no room, is said. */
TEST(stacks_that_have_no_room_are_a_failure)
{
    struct fixture f;
    set_up(&f);
    FILE *out = tmpfile();
    REQUIRE(out != NULL);
    static const struct {
        const char *name;
        report_fn *write;
    } rows[] = {{"folded", report_folded}, {"speedscope", report_speedscope}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct written written = {rows[i].write, &f.report, out};
        test_row(rows[i].name);
        short_memory(write_short, &written);
    }
    (void)fclose(out);
    arena_free(&f.keep);
}

/* https://prometheus.io/docs/specs/om/open_metrics_spec: a label escapes quotes, backslashes and
 * line feeds. */
TEST(metrics_have_labels_that_end_and_say_how_sure_the_ratio_is)
{
    static const struct {
        const char *name;
        enum ratio_origin origin;
        double low, noise;
        bool run, bound, noisy;
        const char *text;
    } rows[] = {
        {"not measured", RATIO_NOT_MEASURED, 2, 0.5, false, false, false, "# EOF\n"},
        {"of a bench", RATIO_OF_BENCH, 2, 0.5, true, true, true,
         "twinstack_speed_run{origin=\"bench\"} 7\n"},
        {"of the run", RATIO_OF_RUN, NAN, NAN, true, false, false,
         "twinstack_speed_run{origin=\"run\"} 7\n"},
        {"an interval, no noise", RATIO_OF_RUN, 2, NAN, true, true, false,
         "twinstack_speed_bound_ratio{bound=\"low\"} 2.000000\n"
         "twinstack_speed_bound_ratio{bound=\"high\"} 4.000000\n"},
        {"noise, no interval", RATIO_OF_BENCH, NAN, 0.5, true, false, true,
         "# UNIT twinstack_speed_noise_ratio ratio\n"
         "# HELP twinstack_speed_noise_ratio Of the bench against itself, a share.\n"
         "twinstack_speed_noise_ratio 0.500000\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        test_row(rows[i].name);
        set_up(&f);
        struct dump_ratio ratio = *f.report.ratio;
        ratio.origin = rows[i].origin;
        ratio.run_id = 7;
        ratio.value = (struct interval){rows[i].low, 3, isnan(rows[i].low) ? rows[i].low : 4};
        ratio.noise = rows[i].noise;
        f.report.ratio = &ratio;
        f.run.commit = "a\"b\\c\nd";
        f.run.platform = NULL;
        const char *text = text_of(&f, report_openmetrics);
        CHECK_HAS(text, "\ntwinstack_run{commit=\"a\\\"b\\\\c\\nd\",platform=\"\"} ");
        CHECK_HAS(text, rows[i].text);
        CHECK_EQ(strstr(text, "twinstack_speed_run{") != NULL, rows[i].run);
        CHECK_EQ(strstr(text, "twinstack_speed_bound_ratio{") != NULL, rows[i].bound);
        CHECK_EQ(strstr(text, "\ntwinstack_speed_noise_ratio ") != NULL, rows[i].noisy);
        arena_free(&f.keep);
    }
}

TEST(a_walk_that_waited_for_a_lock_is_stuck)
{
    struct fixture f;
    set_up(&f);
    CHECK(strstr(text_of(&f, NULL), "stuck") == NULL);
    for (uint32_t i = 0; i < MADE_CASES; i++)
        for (uint32_t k = 0; k < f.cases[i].result.score_count; k++)
            f.cases[i].result.scores[k].state = STACK_BLOCKED;
    const char *text = text_of(&f, NULL);
    CHECK_HAS(text, "  stuck  ");
    CHECK_HAS(text, "stuck: the walk waited for a lock that was never released, and was given up");
    arena_free(&f.keep);
}
