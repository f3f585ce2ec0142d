/* twinstack help: the text of --help, or a manual page.
 * twinstack completion: the completion script of a shell. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "verbs/common.h"
#include "verbs/help_forms.h"
#include "verbs/nearest.h"
#include "verbs/verbs.h"

static const struct verb *find_verb(const char *name)
{
    const struct help_table table = help_verbs();

    for (size_t i = 0; i < table.count; i++)
        if (strcmp(table.rows[i]->name, name) == 0)
            return table.rows[i];
    return NULL;
}

struct help_options {
    bool as_man, as_json;
};

static int no_such(const struct verb *self, const char *kind, const char *word,
                   const struct nearest *nearest)
{
    return verb_usage_error(self, "there is no %s '%s'%s%s%s", kind, word,
                            nearest->name != NULL ? ", did you mean " : "",
                            nearest->name != NULL ? nearest->name : "",
                            nearest->name != NULL ? "?" : "");
}

static int no_such_verb(const struct verb *self, const char *word)
{
    const struct help_table table = help_verbs();
    struct nearest nearest;
    nearest_begin(&nearest, word, strlen(word));
    for (size_t i = 0; i < table.count; i++)
        nearest_look(&nearest, table.rows[i]->name);
    return no_such(self, "verb", word, &nearest);
}

static int help(const struct verb *self, void *given, const struct option_list *words,
                struct arena *keep)
{
    const struct help_options *o = given;
    const bool as_man = o->as_man;
    const struct verb *verb = words->count == 1 ? find_verb(words->items[0]) : NULL;
    (void)keep;
    if (words->count > 1)
        return verb_usage_error(self, "one verb at a time: '%s'", words->items[1]);
    if (words->count == 1 && verb == NULL)
        return no_such_verb(self, words->items[0]);
    if (o->as_json)
        help_json(verb);
    else if (words->count == 0 && as_man)
        help_man_of_all();
    else if (words->count == 0)
        help_list(stdout);
    else
        help_of(verb, as_man ? help_man : NULL);
    return EXIT_GOOD;
}

static int run_help(const struct verb *self, int argc, char **argv)
{
    struct help_options o = {false, false};
    const struct option_row rows[] = {
        {"--man", OPTION_FLAG, &o.as_man, NULL, "as a manual page, in roff"},
        OPTION_AS(JSON, &o.as_json, "the verbs and their options"),
    };
    return verb_main(self, rows, COUNT_OF(rows), help, &o, argc, argv);
}

const struct verb verb_help = {
    .name = "help",
    .summary = "explain a verb, as text or as a manual page",
    .usage = "[VERB] [--man|--json]",
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

static int completion(const struct verb *self, void *given, const struct option_list *words,
                      struct arena *keep)
{
    (void)given;
    (void)keep;
    for (size_t i = 0; words->count == 1 && i < COUNT_OF(shells); i++)
        if (strcmp(shells[i].name, words->items[0]) == 0) {
            shells[i].print();
            return EXIT_GOOD;
        }
    if (words->count != 1)
        return verb_usage_error(self, "expected bash, zsh or fish");
    struct nearest nearest;
    nearest_begin(&nearest, words->items[0], strlen(words->items[0]));
    for (size_t i = 0; i < COUNT_OF(shells); i++)
        nearest_look(&nearest, shells[i].name);
    return no_such(self, "shell", words->items[0], &nearest);
}

static int run_completion(const struct verb *self, int argc, char **argv)
{
    return verb_main(self, NULL, 0, completion, NULL, argc, argv);
}

const struct verb verb_completion = {
    .name = "completion",
    .summary = "print a completion script for a shell",
    .usage = "bash|zsh|fish",
    .details =
        "The package installs these scripts.  Without it:\n"
        "  bash  source <(twinstack completion bash)            in ~/.bashrc\n"
        "  zsh   source <(twinstack completion zsh)             in ~/.zshrc, after compinit\n"
        "  fish  twinstack completion fish | source             in config.fish",
    .exits = "  0  printed\n"
             "  2  usage",
    .run = run_completion,
};
