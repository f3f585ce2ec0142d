/* A verb: `twinstack NAME ...`.  Each lives in a file of its own, verb_NAME.c, and states its
 * options as a table, from which parsing, --help and the reference in the README come. */
#ifndef VERBS_VERB_H
#define VERBS_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

/* Stable exit codes; the meaning of each is in README.md here. */
enum exit_code {
    EXIT_GOOD = 0,
    EXIT_DIFFERENT = 1, /* FAIL, XPASS, UNEXPLAINED, regression, stale acceptance */
    EXIT_USAGE = 2,
    EXIT_INPUT = 3, /* harness or input error, never an expected failure */
    EXIT_DATABASE = 4,
    EXIT_NOTHING = 5, /* nothing selected */
    EXIT_TIME_LIMIT = 124,
    EXIT_NOT_JUDGED = 125, /* `git bisect run` skips the commit */
    EXIT_INTERRUPTED = 130,
};

enum option_kind {
    OPTION_FLAG,         /* bool *                                   */
    OPTION_STRING,       /* const char **                            */
    OPTION_UINT,         /* uint64_t *                               */
    OPTION_DURATION_MS,  /* uint64_t *: "20s", "500ms", "2m"    */
    OPTION_PROGRESS,     /* NULL: it is set for the whole program, see base/log.h */
    OPTION_OUTPUT,       /* NULL: the same, see output.h */
    OPTION_LIST,         /* struct option_list *: may be given often */
    OPTION_COMMAS,       /* the same, of words between commas */
    OPTION_FLAG_OR_FILE, /* const char **: "-"; in its old form, --name FILE, the file */
    OPTION_OLD,          /* struct option_old * */
};

struct option_list {
    const char **items;
    uint32_t count;
};

/* What more than one verb has is a row of common.h. */
struct option_row {
    const char *name; /* "--symbols", "-k" */
    enum option_kind kind;
    void *value;          /* see enum option_kind; keeps its value when not given */
    const char *argument; /* "DIR|FILE"; NULL for flags */
    const char *help;     /* one line */
};

/* A form that was documented once: it is accepted, with a note, and no help shows it. */
struct option_old {
    enum option_kind kind;
    void *value;
    const char *instead; /* "--format csv" */
};

struct verb;

#define VERB_SUITE "corpus/reference" /* where it is, if nothing else is said */
enum { VERB_JOBS_MAX = 64 };          /* for -j, where a verb works in threads */

/* What a verb or a subcommand does once its options are parsed. OPTIONS: what the option rows
 * filled; WORDS: what follows the name. Returns the exit code. */
typedef int verb_body(const struct verb *self, void *options, const struct option_list *words,
                      struct arena *keep);

/* A word after the verb's name that says what to do: `db import FILE`.  Parsing and --help read
 * these from one table. */
struct subcommand {
    const char *name;
    const char *usage;    /* what follows its name: "FILE"; NULL: nothing */
    const char *summary;  /* one line */
    uint32_t least, most; /* how many words follow its name */
    verb_body *run;
};

#define SUBCOMMAND_WORDS_MAX UINT32_MAX

struct verb {
    const char *name;
    const char *summary;                  /* one line, for the list of verbs */
    const char *usage;                    /* "[FILE...|-]"; NULL where there are subcommands */
    const struct subcommand *subcommands; /* ended by a row without name; NULL: none */
    const char *details;                  /* paragraphs and examples, shown by --help */
    const char *exits;                    /* "0 ...\n3 ..." */
    int (*run)(const struct verb *self, int argc, char **argv); /* argv after the verb's name */
};

/* Parses options and collects the other words into REST (borrowed from argv).  A lone "-" is a
 * word; "--" ends options; "--name=value" and "--name value" are the same, and so are "-j4" and "-j
 * 4".  Every verb has
 * --help and -o FILE.  Returns false when the verb must end at once with *exit_code: after --help
 * (0) or a usage error, which it has reported (2). */
bool options_parse(const struct verb *self, const struct option_row *rows, size_t row_count,
                   int argc, char **argv, struct arena *keep, struct option_list *rest,
                   int *exit_code);

/* Runs the subcommand that REST begins with, or OTHERWISE (a name; NULL: none) when REST is empty.
 * Reports a usage error when there is none of that name or the number of words is wrong. */
int subcommand_run(const struct verb *self, const char *otherwise, void *options,
                   const struct option_list *rest, struct arena *keep);

/* Parses the options into what OPTIONS points to and, unless that ends the verb, calls BODY with an
 * arena that it frees afterwards. */
int verb_main(const struct verb *self, const struct option_row *rows, size_t row_count,
              verb_body *body, void *options, int argc, char **argv);

/* The same for a verb with subcommands, see subcommand_run(). */
int subcommand_main(const struct verb *self, const char *otherwise, const struct option_row *rows,
                    size_t row_count, void *options, int argc, char **argv);

/* False, after a usage error, when there are words though the verb takes none. */
bool verb_takes_no_words(const struct verb *self, const struct option_list *words);

/* Reports a usage error on stderr, names the verb's --help, returns EXIT_USAGE. */
int verb_usage_error(const struct verb *self, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Reports a fault on stderr and returns the exit code that belongs to it. */
int verb_fault(const struct fault *fault);

extern const struct verb *const verbs[]; /* the table, in verbs.c */
extern const size_t verb_count;

const struct verb *verb_find(const char *name);

#endif
