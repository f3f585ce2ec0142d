/* twinstack: finds the verb and hands over.  All else is in verbs/. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "engine/judges.h"
#include "engine/microsoft.h"
#include "verbs/help.h"
#include "verbs/nearest.h"
#include "verbs/output.h"
#include "verbs/verb.h"

/* A full disk must not look like an answer; a reader that closes the pipe early (`| head`)
 * is no error. */
static int end(int code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return code;
    errno = 0;
    if (fputc('\n', stdout) == EOF || fflush(stdout) != 0)
        if (errno == EPIPE)
            return code;
    (void)fputs("twinstack: error: standard output could not be written whole\n", stderr);
    return code == EXIT_GOOD ? EXIT_INPUT : code;
}

int main(int argc, char **argv)
{
    process_prepare();
    judge_adapter_configure();
    microsoft_configure();
    help_about((struct help_table){verbs, verb_count});
    if (argc < 2) {
        help_tasks(stderr);
        return EXIT_USAGE;
    }
    const bool asks_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    const char *name = argv[1];
    if (asks_help)
        name = "help";
    else if (strcmp(argv[1], "--version") == 0)
        name = "version";
    const struct verb *verb = verb_find(name);
    if (verb == NULL) {
        struct nearest nearest;
        nearest_begin(&nearest, name, strlen(name));
        for (size_t i = 0; i < verb_count; i++)
            nearest_look(&nearest, verbs[i]->name);
        (void)fprintf(stderr,
                      "twinstack: there is no verb '%s'%s%s%s; `twinstack --help` lists them\n",
                      name, nearest.name != NULL ? ", did you mean " : "",
                      nearest.name != NULL ? nearest.name : "", nearest.name != NULL ? "?" : "");
        return EXIT_USAGE;
    }
    return output_end(end(verb->run(verb, argc - 2, argv + 2)));
}
