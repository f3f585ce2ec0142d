/* twinstack: finds the verb and hands over.  All else is in verbs/. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "verbs/verb.h"

static void print_verbs(FILE *out)
{
    (void)fputs(
        "usage: twinstack VERB [OPTION...] [ARGUMENT...]\n"
        "Takes every Windows crash twice, by dump and by module!offset frames, resolves both\n"
        "with no Windows, and reports which engine is right.\n\nverbs:\n",
        out);
    for (size_t i = 0; i < verb_count; i++)
        (void)fprintf(out, "  %-12s %s\n", verbs[i]->name, verbs[i]->summary);
    (void)fputs("\n`twinstack VERB --help` prints a verb's options, examples and exit codes.\n",
                out);
}

/* A full disk must not look like an answer; a reader that has enough (`| head`) is none of ours. */
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
    if (argc < 2) {
        print_verbs(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_verbs(stdout);
        return end(EXIT_GOOD);
    }
    const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
    const struct verb *verb = verb_find(name);
    if (verb == NULL) {
        (void)fprintf(stderr, "twinstack: there is no verb '%s'; `twinstack --help` lists them\n",
                      name);
        return EXIT_USAGE;
    }
    return end(verb->run(verb, argc - 2, argv + 2));
}
