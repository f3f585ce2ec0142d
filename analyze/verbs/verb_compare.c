/* twinstack compare A B: what changed around two runs, what is new, what became slower. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "study/run_difference.h"
#include "verbs/common.h"
#include "verbs/compare_text.h"
#include "verbs/figures_text.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

struct compare_options {
    const char *db, *only, *min_effect;
    bool as_json, markdown, exit_zero;
};

/* Reads the words of --only, comma separated; false when one is not known. */
static bool read_only(const char *words, struct compare_only *out)
{
    *out = (struct compare_only){.given = words != NULL};
    for (const char *at = words; at != NULL && *at != '\0';
         at += strcspn(at, ","), at += *at == ',') {
        char word[16];
        bool known = false;
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        for (int g = 0; g < DIFF_GROUPS; g++)
            if (strcmp(word, diff_group_name((enum diff_group)g)) == 0)
                known = out->groups[g] = true;
        for (int c = CHANGE_NONE; c < CHANGE_COUNT; c++)
            if (strcmp(word, change_name((enum change)c)) == 0)
                known = out->changes[c] = true;
        if (!known)
            return false;
    }
    return true;
}

/* The database of --db. Without it, the one that runs without a file of their own are in: the
 * default, or B's file if both runs name files. */
static const char *database_of(const struct compare_options *o, const struct option_list *runs,
                               struct arena *keep)
{
    const char *path_a, *path_b, *run;
    if (o->db != NULL)
        return o->db;
    study_split_word(runs->items[0], keep, &path_a, &run);
    study_split_word(runs->items[1], keep, &path_b, &run);
    return path_a != NULL && path_b != NULL ? path_b : STORED_DATABASE;
}

static int compare(const struct verb *self, void *given, const struct option_list *rest,
                   struct arena *keep)
{
    const struct compare_options *o = given;
    struct store *store = NULL;
    struct run_side a = {0}, b = {0};
    struct difference difference = {.a = NULL};
    struct fault fault = FAULT_INIT;
    struct compare_only only;
    double floor = 0;
    int code = EXIT_GOOD;
    if (rest->count != 2)
        return verb_usage_error(self, "two runs are needed, not %u", rest->count);
    if (!read_only(o->only, &only))
        return verb_usage_error(self,
                                "--only knows new, fixed, changed, still, same, added, gone, "
                                "accepted, not_selected, slower and faster, not '%s'",
                                o->only);
    if (o->min_effect != NULL && !parse_share(o->min_effect, &floor))
        return verb_usage_error(self, "--min-effect is a share such as 3%%, not '%s'",
                                o->min_effect);
    if (!stored_open(database_of(o, rest, keep), STORE_READ, &store, &code))
        return code;
    store_begin_reading(store);
    if (study_read_side(store, rest->items[1], DIFF_TIMES, keep, &b, &fault) != ERR_NONE ||
        study_read_side_before(store, rest->items[0], &b.info, DIFF_TIMES, keep, &a, &fault) !=
            ERR_NONE ||
        difference_make(store, &a.side, &b.side, floor, keep, &difference, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    store_close(store);
    if (code != EXIT_GOOD)
        return code;
    difference.ratio_a = a.ratio;
    difference.ratio_b = b.ratio;
    const struct run_diff *diff = &difference.diff;
    if (o->as_json) {
        struct json j;
        json_to_stream(&j, stdout, true);
        difference_write_json(&j, &difference, &(struct difference_rows){.most = 0});
        json_newline(&j);
    } else {
        const struct page page = terminal_page();
        struct sheet sheet;
        if (o->markdown)
            sheet_as_markdown(&sheet, stdout, 0, keep);
        else
            sheet_on_page(&sheet, &page, keep);
        compare_write(&sheet, &difference, &only);
    }
    const bool worse = diff->counts[DIFF_NEW] > 0 || difference_is_slower(diff);
    return worse && !o->exit_zero ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct compare_options o = {.db = NULL};
    const struct option_row rows[] = {
        {"--only", OPTION_STRING, &o.only, "LIST",
         "only these: new, fixed, changed, still, same, added, gone, accepted, not_selected, "
         "slower, "
         "faster"},
        {"--min-effect", OPTION_STRING, &o.min_effect, "SHARE",
         "smallest change of time to report (3%)"},
        {"--markdown", OPTION_FLAG, &o.markdown, NULL, "Markdown, for a comment on a pull request"},
        OPTION_AS(JSON, &o.as_json, "never filtered"),
        OPTION(EXIT_ZERO, &o.exit_zero),
        OPTION_AS(DB, &o.db, "default build/twinstack.db, or B's if both runs are files"),
    };
    return verb_main(self, rows, COUNT_OF(rows), compare, &o, argc, argv);
}

const struct verb verb_compare = {
    .name = "compare",
    .summary = "compare two runs: what is new, fixed or slower, and what changed around them",
    .usage = "A B",
    .details =
        "A and B are runs: an id, the start of a uuid or commit, a branch (its newest run), "
        "latest,\nlatest~1, baseline, or a database file (FILE, or FILE:RUN).  Times are compared "
        "on the "
        "cases that both have; a\nchange must be significant and larger than 3 %.\n\n"
        "examples:\n  twinstack compare baseline latest\n"
        "  twinstack compare latest~1 latest --only new,slower --markdown",
    .exits = "  0  nothing new fails, and no engine under test became slower\n  1  something new "
             "fails, or one became slower\n  2  usage\n"
             "  3  there is no such run\n  4  database not usable",
    .run = run,
};
