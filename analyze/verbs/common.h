/* Options that several verbs have. A verb states only which ones it takes, where their values go,
 * and what is its own about them (a note); name, kind, argument and help are here, so that one name
 * means one thing everywhere. tests/e2e/test_options.py holds this for all verbs.
 *
 * Where output goes, in every verb:
 *   standard output   what was asked for: text, or one JSON document with --json
 *   -o FILE           the same, into a file (every verb has it without a row: see options.c)
 *   --junit FILE ...  one more file, in that format; `-` is standard output
 *   --out DIR         a folder for the many files that the verb makes */
#ifndef VERBS_COMMON_H
#define VERBS_COMMON_H

#include "verbs/verb.h"

/* ID, name, kind, argument (NULL: a flag, or each verb has words of its own), help, and the note of
 * verbs that have none of their own (NULL: none). The help of a list goes on with "may be
 * repeated". */
#define COMMON_OPTIONS(ROW)                                                                        \
    ROW(CACHE, "--cache", OPTION_STRING, "DIR", "where indexes and downloads are kept",            \
        "see `twinstack cache`")                                                                   \
    ROW(ALL, "--all", OPTION_FLAG, NULL, "everything", NULL)                                       \
    ROW(CSV_BASE, "--csv-base", OPTION_UINT, "ADDRESS", "load base of the addresses in CSV",       \
        "default 0x400000")                                                                        \
    ROW(DB, "--db", OPTION_STRING, "FILE", "the database of runs", "default build/twinstack.db")   \
    ROW(DEBUGGER, "--debugger", OPTION_STRING, "DIR",                                              \
        "Microsoft's dbghelp.dll and dbgeng.dll, as judges", "default $TWINSTACK_DEBUGGER")        \
    ROW(DETAILS, "--details", OPTION_FLAG, NULL, "print more than fits a screen", NULL)            \
    ROW(DRY, "--dry", OPTION_FLAG, NULL, "store nothing in the database", NULL)                    \
    ROW(DUMP, "--dump", OPTION_STRING, "FILE", "a minidump", NULL)                                 \
    ROW(DUMPS, "--dumps", OPTION_STRING, "DIR", "a folder of minidumps", NULL)                     \
    ROW(ENGINE, "--engine", OPTION_STRING, "NAME", "the engine whose stacks are meant",            \
        "default: the engines under test")                                                         \
    ROW(EXIT_ZERO, "--exit-zero", OPTION_FLAG, NULL, "exit with 0 whatever the result", NULL)      \
    ROW(EXPLAIN, "--explain", OPTION_STRING, "FRAME",                                              \
        "how the walk found that frame and its caller", NULL)                                      \
    ROW(FETCH_AGAIN, "--fetch-again", OPTION_DURATION_MS, "TIME",                                  \
        "how long to remember that a server lacks a file", "default 1h")                           \
    ROW(FETCH_LIMIT, "--fetch-limit", OPTION_DURATION_MS, "TIME",                                  \
        "time limit of one download, retries included", "default 10m")                             \
    ROW(FORMAT, "--format", OPTION_STRING, NULL, "how the output is written", NULL)                \
    ROW(HTML, "--html", OPTION_STRING, "FILE|-", "write a page as one file that needs no server",  \
        NULL)                                                                                      \
    ROW(IDLE, "--idle", OPTION_DURATION_MS, "TIME",                                                \
        "exit after nothing has arrived for this long", NULL)                                      \
    ROW(INDEX, "--index", OPTION_STRING, "auto|never|always",                                      \
        "use symbol indexes; auto builds them where that saves time", NULL)                        \
    ROW(JOBS, "-j", OPTION_UINT, "N", "how many to work on at once", "default 1")                  \
    ROW(JSON, "--json", OPTION_FLAG, NULL, "print one JSON document", NULL)                        \
    ROW(JUNIT, "--junit", OPTION_STRING, "FILE|-", "write JUnit XML", NULL)                        \
    ROW(KNOWN, "--known", OPTION_STRING, "FILE", "the known mismatches", "default known.txt")      \
    ROW(LAUNCHER, "--launcher", OPTION_STRING, "PROGRAM", "runs Windows programs",                 \
        "default wine; nothing on Windows")                                                        \
    ROW(MERGE, "--merge", OPTION_FLAG, NULL, "add up the FILEs", NULL)                             \
    ROW(METRICS, "--metrics", OPTION_STRING, "FILE",                                               \
        "write rates and lag for Prometheus here every second", NULL)                              \
    ROW(NAME, "--name", OPTION_STRING, "NAME", "what to call it", NULL)                            \
    ROW(NAMES, "--names", OPTION_STRING, "short|full|decorated",                                   \
        "how much of a function's name is printed", "default short")                               \
    ROW(NDJSON, "--ndjson", OPTION_FLAG, NULL, "print one JSON object per line", NULL)             \
    ROW(OFFLINE, "--offline", OPTION_FLAG, NULL, "ask no symbol server", NULL)                     \
    ROW(ONLY, "-k", OPTION_STRING, "EXPR", "only what matches", "see `run --help`")                \
    ROW(OUT, "--out", OPTION_STRING, "DIR", "the folder for what is made", NULL)                   \
    ROW(OUTPUT, "-o", OPTION_OUTPUT, "FILE",                                                       \
        "write what would be printed to FILE, all of it or nothing", NULL)                         \
    ROW(PREFIX, "--prefix", OPTION_STRING, "DIR", "Wine prefix, made when missing",                \
        "default $WINEPREFIX or build/wine")                                                       \
    ROW(PROGRESS, "--progress", OPTION_PROGRESS, "none|plain|bar",                                 \
        "progress on stderr; plain: a line every 30 s or 5 %; bar: one line (needs a terminal)",   \
        NULL)                                                                                      \
    ROW(QUEUE, "--queue", OPTION_STRING, "nats://...|DIR", "the queue of reports", NULL)           \
    ROW(RULES, "--rules", OPTION_STRING, "FILE", "signature rules in place of the built-in ones",  \
        NULL)                                                                                      \
    ROW(RUN, "--run", OPTION_STRING, "RUN", "the run that is meant", "default latest")             \
    ROW(STACK, "--stack", OPTION_STRING, "FILE",                                                   \
        "a stack: a record, module!0xoffset text, JSON, rust-minidump's or Breakpad's -m output",  \
        NULL)                                                                                      \
    ROW(STACKS, "--stacks", OPTION_FLAG, NULL, "work with stacks", NULL)                           \
    ROW(STRICT, "--strict", OPTION_FLAG, NULL, "fail where otherwise a note would do", NULL)       \
    ROW(SUITE, "--suite", OPTION_STRING, "DIR", "the reference suite", NULL)                       \
    ROW(SYMBOLS, "--symbols", OPTION_LIST, "DIR|FILE|SRV",                                         \
        "symbol store, folder, file, or server: srv*CACHE*URL", NULL)                              \
    ROW(TIMEOUT, "--timeout", OPTION_DURATION_MS, "TIME", "time limit of each, e.g. 20s", NULL)    \
    ROW(TOTALS, "--totals", OPTION_STRING, "FILE", "the totals of `twinstack reduce`",             \
        "default build/totals.db")                                                                 \
    ROW(TRUTH, "--truth", OPTION_STRING, "FILE", "a truth.json: the true stack", NULL)             \
    ROW(VARIANT, "--variant", OPTION_COMMAS, "LIST", "only these variants: ob0,ob2", NULL)         \
    ROW(VICTIMS, "--victims", OPTION_STRING, "DIR", "the built victims",                           \
        "default $TWINSTACK_VICTIMS or build/victims/bin")                                         \
    ROW(WRITER, "--writer", OPTION_STRING, "wine|microsoft",                                       \
        "who writes dumps and walks in the victims: Wine's DLLs, or those of --debugger",          \
        "default microsoft where its files are, else wine")

enum common_id {
#define COMMON_ID(ID, NAME, KIND, ARGUMENT, HELP, NOTE) COMMON_##ID,
    COMMON_OPTIONS(COMMON_ID)
#undef COMMON_ID
        COMMON_COUNT
};

/* Rows for a verb's table. VALUE: as the option's kind wants it, see enum option_kind. */
#define OPTION(ID, value) common_row(COMMON_##ID, (value), NULL)
/* The same with what this verb adds to the help, in place of the usual note. */
#define OPTION_AS(ID, value, note) common_row(COMMON_##ID, (value), (note))
/* For an option whose words are the verb's own: "text|json". */
#define OPTION_WORDS(ID, words, value, note) common_row_words(COMMON_##ID, (words), (value), (note))
/* For an option that may be repeated in this verb: the value is a struct option_list. */
#define OPTION_EACH(ID, value, note) common_row_list(COMMON_##ID, (value), (note))

struct option_row common_row(enum common_id id, void *value, const char *note);
struct option_row common_row_words(enum common_id id, const char *words, void *value,
                                   const char *note);
struct option_row common_row_list(enum common_id id, struct option_list *value, const char *note);

/* What is known of a row's option beyond the row. */
struct common_facts {
    bool common;      /* several verbs may have it */
    const char *help; /* of a common option: the same in each verb */
    const char *note; /* of this verb; NULL: none */
};
struct common_facts common_facts_of(const struct option_row *row);

/* The whole help of ROW on one line, in TEXT of BYTES. */
enum { COMMON_HELP_BYTES = 512 };
void common_help(const struct option_row *row, char *text, size_t bytes);

#endif
