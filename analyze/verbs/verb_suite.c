/* twinstack suite: a wrong answer becomes a case of a reference suite. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/log.h"
#include "suite/suite_add.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

struct suite_options {
    const char *suite, *edition;
};

static int add(const struct verb *self, void *options, const struct option_list *words,
               struct arena *keep)
{
    const struct suite_options *o = options;
    struct fault fault = FAULT_INIT;
    struct suite_addition added;

    if (o->suite == NULL)
        return verb_usage_error(self, "--suite is missing: the folder that gets the case");
    if (suite_add(o->suite, words->items[0], o->edition, keep, &added, &fault) != ERR_NONE)
        return verb_fault(&fault);
    for (uint32_t i = 0; i < added.missing_count; i++)
        log_error("%s: it needs %s", words->items[0], added.missing[i]);
    if (added.missing_count > 0)
        return EXIT_INPUT;
    (void)printf("%s is in %s; %" PRIu32 " file%s copied\n", added.id, added.list, added.copied,
                 added.copied == 1 ? "" : "s");
    return EXIT_GOOD;
}

static const struct subcommand subcommands[] = {
    {"add", "DRAFT", "add the case that the JSON file DRAFT describes", 1, 1, add},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct suite_options o = {0};
    const struct option_row rows[] = {
        OPTION(SUITE, &o.suite),
        {"--edition", OPTION_STRING, &o.edition, "NAME",
         "the edition of the suite from now on (default: as it is)"},
    };
    return subcommand_main(self, NULL, rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_suite = {
    .name = "suite",
    .summary = "make a case of a reference suite from a wrong answer",
    .subcommands = subcommands,
    .details =
        "The draft is one object of JSON with the members of a case (corpus/reference/README.md\n"
        "and its schema.json), and \"licence\" of its files. It describes an address: an image, "
        "its\n"
        "symbols, the rva, and the true functions, files and lines; or a moment: registers, "
        "stack,\n"
        "images, and the true frames, as `twinstack steps --moment` prints it. The files, of 2 MiB "
        "at "
        "most,\n"
        "are copied into the suite. Facts that are missing are listed, all at once, and nothing "
        "is\n"
        "written: there is no case without a truth, its witnesses and a rule that decides.\n\n"
        "examples:\n  twinstack suite add --suite corpus/reference draft.json",
    .exits = "  0  the suite has the case\n"
             "  2  usage; the id or the name of a file is in use\n"
             "  3  the suite or the draft cannot be read, or facts are missing",
    .run = run,
};
