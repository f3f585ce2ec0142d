/* twinstack serve: the dashboard, until Ctrl-C. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/process.h"
#include "base/thread.h"
#include "conduct/stream.h"
#include "fetch/fetch.h"
#include "server/server.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/open_store.h"
#include "verbs/verbs.h"

struct serve_words {
    struct dashboard_options options;
    struct option_list symbols, hosts;
    struct fetch_words fetch_words;
    struct fetch_options fetch;
    bool open, read_only;
};

/* Opens the address in a browser, if there is a desktop; otherwise the printed line must do. */
static void open_browser(const char *url, struct arena *keep)
{
    static const char *const openers[] = {"xdg-open", "open", "explorer"};
    for (size_t i = 0; i < COUNT_OF(openers); i++) {
        struct process_result result;
        struct fault fault = FAULT_INIT;
        const char *const argv[] = {process_find(openers[i], keep), url, NULL};
        if (argv[0] == NULL)
            continue;
        const struct process_request request = {.argv = argv, .limit_ms = 5000};
        (void)process_run(&request, keep, &result, &fault);
        return;
    }
    (void)fputs("twinstack serve: no program here opens a browser; use the address above\n",
                stderr);
}

/* Reports a wrong path or a foreign file before serving. A database of another version is served:
 * the pages say which of the two is older, and what to do. */
static bool check_database(const struct dashboard_options *options, int *exit_code)
{
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    const enum status status = store_open(options->database, STORE_READ, &store, &fault);
    if (status == ERR_NONE)
        store_close(store);
    if (status == ERR_NONE || status == ERR_UNSUPPORTED || (status == ERR_ABSENT && options->wait))
        return true;
    *exit_code = stored_fault(&fault, true);
    return false;
}

static int serve(const struct verb *self, void *given, const struct option_list *rest,
                 struct arena *keep)
{
    struct serve_words *words = given;
    struct dashboard *dashboard = NULL;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;

    words->options.symbol_roots = words->symbols.items;
    words->options.symbol_root_count = words->symbols.count;
    words->fetch = fetch_options_make(&words->fetch_words);
    words->options.fetch = &words->fetch;
    words->options.hosts = words->hosts.items;
    words->options.host_count = words->hosts.count;
    if (!verb_takes_no_words(self, rest))
        return EXIT_USAGE;
    if (words->read_only && words->options.allow_write)
        return verb_usage_error(self, "--read-only and --allow-write contradict each other");
    if (words->options.dump_mib < DUMP_MIB_LEAST || words->options.dump_mib > UINT32_MAX)
        return verb_usage_error(self, "--dump-mib is at least %d: one dump may have 64 MiB",
                                DUMP_MIB_LEAST);
    if (words->options.collect)
        words->options.wait = true; /* collecting needs no run */
    if (!check_database(&words->options, &code))
        return code;
    process_catch_interrupts();
    if (dashboard_start(&words->options, &dashboard, &fault) != ERR_NONE)
        return verb_fault(&fault);
    (void)printf("%s\n", dashboard_url(dashboard));
    (void)fflush(stdout);
    (void)fputs("twinstack serve: Ctrl-C ends it\n", stderr);
    if (words->open)
        open_browser(dashboard_url(dashboard), keep);
    while (!process_interrupted())
        thread_sleep_ms(100);
    dashboard_stop(dashboard);
    return EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct serve_words words = {
        .options = {.listen = "127.0.0.1:0",
                    .database = "build/twinstack.db",
                    .spool = "build/spool",
                    .suite = VERB_SUITE,
                    .totals = STREAM_TOTALS,
                    .dump_age_ms = DUMP_AGE_MS_DEFAULT,
                    .dump_mib = DUMP_MIB_DEFAULT},
    };
    const struct option_row rows[] = {
        {"--listen", OPTION_STRING, &words.options.listen, "ADDRESS:PORT",
         "where to listen; port 0 takes any free one (default 127.0.0.1:0)"},
        OPTION(DB, &words.options.database),
        OPTION_AS(KNOWN, &words.options.known_file, "to show; default: none"),
        OPTION_AS(SYMBOLS, &words.symbols, "for the resolve page"),
        OPTION(CACHE, &words.options.cache),
        FETCH_OPTION_ROWS(words.fetch_words),
        {"--host", OPTION_LIST, &words.hosts, "NAME", "another host name that browsers may use"},
        {"--allow-write", OPTION_FLAG, &words.options.allow_write, NULL,
         "accept differences and set baselines from the pages"},
        {"--allow-remote", OPTION_FLAG, &words.options.allow_remote, NULL,
         "listen on addresses that other machines can reach; all data then needs the token"},
        {"--allow-symbols", OPTION_FLAG, &words.options.allow_symbols, NULL,
         "with --allow-remote: take symbol files to resolve a stack with; nothing is kept"},
        {"--read-only", OPTION_FLAG, &words.read_only, NULL, "refuse --allow-write"},
        {"--wait", OPTION_FLAG, &words.options.wait, NULL,
         "serve before the database exists; the pages show it once a run makes it"},
        {"--collect", OPTION_FLAG, &words.options.collect, NULL,
         "take reports from programs in the field: POST /api/v1/reports; needs no run, so --wait"},
        {"--senders", OPTION_STRING, &words.options.senders, "FILE",
         "who may send reports: lines of NAME TOKEN [REPORTS-PER-MINUTE]"},
        OPTION_AS(QUEUE, &words.options.queue, "where reports go; default: the spool"),
        {"--spool", OPTION_STRING, &words.options.spool, "DIR",
         "folder of reports and dumps (default build/spool)"},
        {"--dump-age", OPTION_DURATION_MS, &words.options.dump_age_ms, "TIME",
         "delete dumps in the spool that are older (default 336h)"},
        {"--dump-mib", OPTION_UINT, &words.options.dump_mib, "N",
         "keep at most N MiB of dumps in the spool, the newest (default 16384)"},
        OPTION_AS(TOTALS, &words.options.totals,
                  "for the Head problems page; default " STREAM_TOTALS ""),
        OPTION_AS(SUITE, &words.options.suite,
                  "whose results are at /suite, without a token; default " VERB_SUITE),
        {"--open", OPTION_FLAG, &words.open, NULL, "open a browser"},
    };
    return verb_main(self, rows, COUNT_OF(rows), serve, &words, argc, argv);
}

const struct verb verb_serve = {
    .name = "serve",
    .summary = "serve the dashboard on loopback",
    .usage = "[--db FILE] [--listen ADDRESS:PORT] [--wait]",
    .details =
        "Prints the address and serves until Ctrl-C.  Only this machine can reach it unless\n"
        "--allow-remote is given; nothing is written unless --allow-write is.\n"
        "\n"
        "examples:\n"
        "  twinstack serve --db build/runs.db --symbols build/symbols\n"
        "  twinstack serve --listen 127.0.0.1:8080 --open",
    .exits = "  0  ended by Ctrl-C\n"
             "  2  usage, or an address that other machines can reach without --allow-remote\n"
             "  3  the address is taken, or a file cannot be read\n"
             "  4  the database is missing (unless --wait), damaged, or another program's file",
    .run = run,
};
