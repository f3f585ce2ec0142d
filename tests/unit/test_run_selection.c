/* Which cases a run was asked for. New runs store it; for older runs it is read from their command
 * line. */
#include <string.h>

#include "model/command_line.h"
#include "store_fixture.h"

static void read_back(struct store_fixture *f, struct run_info *run)
{
    struct run_info back;
    REQUIRE(store_begin_run(f->store, run, &f->keep, &f->fault) == ERR_NONE);
    REQUIRE(store_read_run(f->store, run->id, &f->keep, &back, &f->fault) == ERR_NONE);
    *run = back;
}

TEST(a_stored_selection_comes_out_as_it_went_in)
{
    static const struct {
        const char *name;
        struct run_selection selection;
        bool all;
    } rows[] = {
        {"all", {true, NULL, NULL, 0, 0}, true},
        {"the only part", {true, NULL, NULL, 1, 1}, true},
        {"an expression", {true, "hang or 'x'", NULL, 0, 0}, false},
        {"variants", {true, NULL, "ob0,ob2", 0, 0}, false},
        {"a part", {true, NULL, NULL, 2, 3}, false},
        {"all of them", {true, "hang", "ob2", 3, 3}, false},
    };
    struct store_fixture f;
    store_set_up(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_info run = {.label = "run",
                               .started_ns = 1,
                               .command = "twinstack run -k other",
                               .selection = rows[i].selection};
        test_row(rows[i].name);
        read_back(&f, &run);
        CHECK(run_selection_same(&run.selection, &rows[i].selection));
        CHECK_EQ(run_selection_is_all(&run.selection), rows[i].all);
    }
    store_tear_down(&f);
}

TEST(an_older_run_states_its_selection_by_its_command_line)
{
    static const struct {
        const char *label, *command;
        struct run_selection want;
        bool all;
    } rows[] = {
        {"run", "twinstack run", {true, NULL, NULL, 0, 0}, true},
        {"run", "twinstack run -k hang", {true, "hang", NULL, 0, 0}, false},
        {"run", "twinstack run -khang", {true, "hang", NULL, 0, 0}, false},
        {"run", "twinstack run -k 'a or b' -j 2", {true, "a or b", NULL, 0, 0}, false},
        {"run", "twinstack run --variant=ob2", {true, NULL, "ob2", 0, 0}, false},
        {"run",
         "twinstack run --variant ob0 --variant ob1,ob2",
         {true, NULL, "ob0,ob1,ob2", 0, 0},
         false},
        {"run", "twinstack run --shard 2/5", {true, NULL, NULL, 2, 5}, false},
        /* a folder's name is not an option */
        {"run", "twinstack run --out '/tmp/my -k runs'", {true, NULL, NULL, 0, 0}, true},
        {"run", "twinstack run --shard 6/5", {true, NULL, NULL, 0, 0}, true},
        {"run", "twinstack run -k", {true, NULL, NULL, 0, 0}, true},
        {"run", "twinstack run 'open", {false, NULL, NULL, 0, 0}, false},
        {"run", NULL, {false, NULL, NULL, 0, 0}, false},
        {"bench", "twinstack bench", {false, NULL, NULL, 0, 0}, false},
    };
    struct store_fixture f;
    store_set_up(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_info run = {.label = rows[i].label, .started_ns = 1, .command = rows[i].command};
        test_row(rows[i].command != NULL ? rows[i].command : "no command line");
        read_back(&f, &run);
        CHECK_EQ(run.selection.known, rows[i].want.known);
        CHECK(!run.selection.known || run_selection_same(&run.selection, &rows[i].want));
        CHECK_EQ(run_selection_is_all(&run.selection), rows[i].all);
    }
    store_tear_down(&f);
}

TEST(words_survive_the_command_line)
{
    char words[][12] = {"plain", "two words", "it's", "", "a\\b", "$(x)", "--k=v"};
    struct store_fixture f;
    char *argv[COUNT_OF(words)], **back = NULL;
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        argv[i] = words[i];
    store_set_up(&f);
    const char *line = command_line_join((int)COUNT_OF(words), argv, "run", &f.keep);
    REQUIRE(command_line_words(line, &f.keep, &count, &back, &f.fault) == ERR_NONE);
    REQUIRE(count == (int)COUNT_OF(words));
    for (size_t i = 0; i < COUNT_OF(words); i++)
        CHECK_STR(back[i], words[i]);
    store_tear_down(&f);
}
