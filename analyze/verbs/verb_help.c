/* twinstack help: the text of --help, or a manual page.
 * twinstack completion: the completion script of a shell. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "verbs/help_forms.h"
#include "verbs/verbs.h"

static const struct verb *find_verb(const char *name)
{
    const struct help_table table = help_verbs();

    for (size_t i = 0; i < table.count; i++)
        if (strcmp(table.rows[i]->name, name) == 0)
            return table.rows[i];
    return NULL;
}

static int run_help(const struct verb *self, int argc, char **argv)
{
    bool as_man = false;
    const struct option_row rows[] = {
        {"--man", OPTION_FLAG, &as_man, NULL, "as a manual page, in roff"},
    };
    struct arena keep;
    struct option_list rest;
    int code = EXIT_GOOD;

    arena_init(&keep, 0);
    if (options_parse(self, rows, COUNT_OF(rows), argc, argv, &keep, &rest, &code)) {
        const struct verb *verb = rest.count == 1 ? find_verb(rest.items[0]) : NULL;
        if (rest.count == 0 && as_man)
            help_man_of_all();
        else if (rest.count == 0)
            help_list(stdout);
        else if (verb != NULL)
            help_of(verb, as_man ? help_man : NULL);
        else
            code = verb_usage_error(self, "there is no verb '%s'", rest.items[0]);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_help = {
    .name = "help",
    .summary = "what a verb does, as text or as a manual page",
    .usage = "[VERB] [--man]",
    .details = "examples:\n"
               "  twinstack help resolve\n"
               "  twinstack help --man dump | man -l -",
    .exits = "  0  printed\n"
             "  2  usage",
    .run = run_help,
};

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", help_bash}, {"zsh", help_zsh}, {"fish", help_fish}};

static int run_completion(const struct verb *self, int argc, char **argv)
{
    struct arena keep;
    struct option_list rest;
    int code = EXIT_GOOD;

    arena_init(&keep, 0);
    if (options_parse(self, NULL, 0, argc, argv, &keep, &rest, &code)) {
        code = EXIT_USAGE;
        for (size_t i = 0; rest.count == 1 && i < COUNT_OF(shells); i++)
            if (strcmp(shells[i].name, rest.items[0]) == 0) {
                shells[i].print();
                code = EXIT_GOOD;
            }
        if (code == EXIT_USAGE)
            (void)verb_usage_error(self, "expected bash, zsh or fish");
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_completion = {
    .name = "completion",
    .summary = "a script with which a shell completes the command line",
    .usage = "bash|zsh|fish",
    .details =
        "The installed package brings these scripts.  Without it:\n"
        "  bash  source <(twinstack completion bash)            in ~/.bashrc\n"
        "  zsh   source <(twinstack completion zsh)             in ~/.zshrc, after compinit\n"
        "  fish  twinstack completion fish | source             in config.fish",
    .exits = "  0  printed\n"
             "  2  usage",
    .run = run_completion,
};
