/* Options and subcommands, by the comments of verbs/verb.h. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "verbs/common.h"
#include "verbs/verb.h"

struct values {
    bool flag, flag_old;
    const char *text, *json;
    uint64_t number, ms;
    struct option_list list, words, rest;
    int code;
    bool goes_on;
    char said[4000]; /* standard output and standard error */
};

static const struct verb verb = {.name = "try", .summary = "tries", .usage = "[FILE]"};

/* Runs what BODY does with V, and keeps what it says. */
static void listen(void (*body)(struct values *v, const void *context), struct values *v,
                   const void *context)
{
    char path[700];
    size_t bytes;
    (void)snprintf(path, sizeof path, "%s/said", test_scratch());
    (void)fflush(stdout);
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    REQUIRE(file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0);
    body(v, context);
    (void)fflush(stdout);
    (void)fflush(stderr);
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(err, STDERR_FILENO);
    (void)close(out);
    (void)close(err);
    (void)close(file);
    const uint8_t *data = test_read(path, &bytes);
    (void)snprintf(v->said, sizeof v->said, "%.*s", (int)bytes, (const char *)data);
}

static struct arena keep;

/* CONTEXT: words between blanks. */
static void parse(struct values *v, const void *context)
{
    static char text[300];
    char *argv[16];
    int argc = 0;
    struct option_old old = {OPTION_FLAG, &v->flag_old, "--flag"};
    struct option_old old_text = {OPTION_STRING, &v->text, "--text"};
    const struct option_row rows[] = {
        {"--flag", OPTION_FLAG, &v->flag, NULL, "a flag"},
        {"--text", OPTION_STRING, &v->text, "TEXT", "a text"},
        {"-j", OPTION_UINT, &v->number, "N", "a number"},
        {"-v", OPTION_FLAG, &v->flag, NULL, "a short flag"},
        {"--time", OPTION_DURATION_MS, &v->ms, "TIME", "a time"},
        {"--list", OPTION_LIST, &v->list, "X", "a list"},
        {"--words", OPTION_COMMAS, &v->words, "A,B", "words"},
        {"--json", OPTION_FLAG_OR_FILE, &v->json, NULL, "json"},
        {"--was", OPTION_OLD, &old, NULL, NULL},
        {"--was-text", OPTION_OLD, &old_text, "TEXT", NULL},
    };
    (void)snprintf(text, sizeof text, "%s", (const char *)context);
    for (char *word = strtok(text, " "); word != NULL && argc < 16; word = strtok(NULL, " "))
        argv[argc++] = word;
    v->number = v->ms = 77;
    v->goes_on = options_parse(&verb, rows, COUNT_OF(rows), argc, argv, &keep, &v->rest, &v->code);
}

static void show_list(const char *name, const struct option_list *list, char *out, size_t size)
{
    for (uint32_t i = 0; i < list->count; i++)
        (void)snprintf(out + strlen(out), size - strlen(out), "%s=%s ", name, list->items[i]);
}

static const struct row {
    const char *words;
    const char *want; /* values that changed, then the rest; NULL: a usage error */
    const char *says; /* NULL: not looked at */
} rows[] = {
    {"", "", NULL},
    {"a b", "rest=a rest=b ", NULL},
    {"a --flag b", "flag rest=a rest=b ", NULL},
    {"-", "rest=- ", NULL},
    {"-- --flag -x", "rest=--flag rest=-x ", NULL},
    {"a -- --", "rest=a rest=-- ", NULL},
    {"--text x y", "text=x rest=y ", NULL},
    {"--text=x y", "text=x rest=y ", NULL},
    {"--text= y", "text= rest=y ", NULL},
    {"--text a=b", "text=a=b ", NULL},
    {"--text=a=b", "text=a=b ", NULL},
    {"--text --flag", "text=--flag ", NULL},
    {"-j 4 a", "j=4 rest=a ", NULL},
    {"-j4 a", "j=4 rest=a ", NULL},
    {"-j0x1F", "j=31 ", NULL},
    {"-j 0", "j=0 ", NULL},
    {"-v", "flag ", NULL},
    {"--time 250", "ms=250 ", NULL},
    {"--time 250ms", "ms=250 ", NULL},
    {"--time 20s", "ms=20000 ", NULL},
    {"--time 2m", "ms=120000 ", NULL},
    {"--time=1h", "ms=3600000 ", NULL},
    {"--time 18446744073709551s", "ms=18446744073709551000 ", NULL}, /* of 2^64 ms */
    {"--list a --list b,c --list d", "list=a list=b,c list=d ", NULL},
    {"--words ob0,ob2 --words x", "word=ob0 word=ob2 word=x ", NULL},
    {"--words a,,b,", "word=a word= word=b word= ", NULL},
    {"--json 12", "json=- rest=12 ", NULL},
    {"--json", "json=- ", NULL},
    {"--json out.json 12", "json=out.json rest=12 ", "old form of --json -o FILE"},
    {"--json /a", "json=/a ", "old form"},
    {"--json ./a", "json=./a ", "old form"},
    {"--json ../a", "json=../a ", "old form"},
    {"--json -", "json=- ", "old form"},
    {"--json=a", "json=a ", "old form"},
    {"--json .json", "json=- rest=.json ", NULL},
    {"--was", "old ", "--was is an old form of --flag"},
    {"--was-text x", "text=x ", "--was-text is an old form of --text"},
    {"--text", NULL, "--text needs a value: TEXT"},
    {"a -j", NULL, "-j needs a value: N"},
    {"-jx", NULL, "-j cannot take 'x' (expected N)"},
    {"-j 0x", NULL, "-j cannot take '0x'"},
    {"--time 5d", NULL, "--time cannot take '5d' (expected TIME)"},
    {"--time s", NULL, "cannot take 's'"},
    {"--time 18446744073709552s", NULL, "cannot take"},
    {"--flag=1", NULL, "--flag takes no value"},
    {"--was=1", NULL, "--was takes no value"},
    {"-v4", NULL, "there is no option '-v4'"},
    {"--flog", NULL, "there is no option '--flog', did you mean --flag?"},
    {"--tex=1", NULL, "there is no option '--tex', did you mean --text?"},
    {"--halp", NULL, "did you mean --help?"},
    {"--quite-another", NULL, "there is no option '--quite-another'; see `twinstack try --help`"},
    {"--fla", NULL, "did you mean --flag?"},
    {"--flags", NULL, "did you mean --flag?"},
};

TEST(options_are_taken_as_their_table_says)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct values v;
        char have[600] = "";
        memset(&v, 0, sizeof v);
        test_row(rows[i].words);
        arena_init(&keep, 0);
        listen(parse, &v, rows[i].words);
        if (v.flag)
            (void)snprintf(have, sizeof have, "flag ");
        if (v.flag_old)
            (void)snprintf(have, sizeof have, "old ");
        if (v.text != NULL)
            (void)snprintf(have, sizeof have, "text=%s ", v.text);
        if (v.number != 77)
            (void)snprintf(have, sizeof have, "j=%" PRIu64 " ", v.number);
        if (v.ms != 77)
            (void)snprintf(have, sizeof have, "ms=%" PRIu64 " ", v.ms);
        if (v.json != NULL)
            (void)snprintf(have, sizeof have, "json=%s ", v.json);
        show_list("list", &v.list, have, sizeof have);
        show_list("word", &v.words, have, sizeof have);
        show_list("rest", &v.rest, have, sizeof have);
        CHECK_EQ(v.goes_on, rows[i].want != NULL);
        CHECK_EQ(v.code, rows[i].want != NULL ? EXIT_GOOD : EXIT_USAGE);
        if (rows[i].want != NULL)
            CHECK_STR(have, rows[i].want);
        if (rows[i].says != NULL)
            CHECK_HAS(v.said, rows[i].says);
        else
            CHECK_STR(v.said, "");
        arena_free(&keep);
    }
}

TEST(help_shows_what_is_not_old)
{
    for (const char *const *words = (const char *const[]){"--help", "-h", "a --help --no", NULL};
         *words != NULL; words++) {
        static struct values v;
        memset(&v, 0, sizeof v);
        test_row(*words);
        arena_init(&keep, 0);
        listen(parse, &v, *words);
        CHECK(!v.goes_on);
        CHECK_EQ(v.code, EXIT_GOOD);
        CHECK_HAS(v.said, "--flag");
        CHECK_HAS(v.said, "--json");
        CHECK_HAS(v.said, "-o ");
        CHECK(strstr(v.said, "--was") == NULL);
        arena_free(&keep);
    }
}

/* ---- subcommands -------------------------------------------------------------------------- */

/* Ten for the subcommand, one for each word. */
static int run_list(const struct verb *self, void *options, const struct option_list *words,
                    struct arena *in)
{
    (void)self;
    (void)options;
    (void)in;
    return 10 + (int)words->count;
}

static int run_import(const struct verb *self, void *options, const struct option_list *words,
                      struct arena *in)
{
    return run_list(self, options, words, in) + 10;
}

static const struct verb db = {
    .name = "db",
    .summary = "tries",
    .subcommands = (const struct subcommand[]){{"list", NULL, "lists", 0, 0, run_list},
                                               {"import", "FILE", "imports", 1, 2, run_import},
                                               {"prune", NULL, "prunes", 0, 0, run_list},
                                               {NULL, NULL, NULL, 0, 0, NULL}}};

struct call {
    const char *otherwise, *words[5];
};

static void choose(struct values *v, const void *context)
{
    const struct call *call = context;
    const char *items[COUNT_OF(call->words)];
    struct option_list words = {items, 0};
    for (; call->words[words.count] != NULL; words.count++)
        items[words.count] = call->words[words.count];
    v->code = subcommand_run(&db, call->otherwise, NULL, &words, &keep);
}

TEST(a_word_chooses_what_is_done)
{
    static const char all[] = "what to do: list, import FILE or prune; see `twinstack db --help`";
    static const struct {
        const char *name;
        struct call call;
        int code;
        const char *says;
    } calls[] = {
        {"one of them", {NULL, {"list"}}, 10, NULL},
        {"with a word", {NULL, {"import", "a"}}, 21, NULL},
        {"with two", {"list", {"import", "a", "b"}}, 22, NULL},
        {"the last", {NULL, {"prune"}}, 10, NULL},
        {"nothing", {NULL, {NULL}}, EXIT_USAGE, all},
        {"nothing, which is list", {"list", {NULL}}, 10, NULL},
        {"nothing, which needs a word", {"import", {NULL}}, EXIT_USAGE, all},
        {"too many", {NULL, {"list", "a"}}, EXIT_USAGE, all},
        {"too few", {NULL, {"import"}}, EXIT_USAGE, all},
        {"three", {NULL, {"import", "a", "b", "c"}}, EXIT_USAGE, all},
        {"mistyped",
         {NULL, {"imprt", "a"}},
         EXIT_USAGE,
         "there is no 'db imprt', did you mean import?"},
        {"another", {NULL, {"somewhere"}}, EXIT_USAGE, all},
    };
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        static struct values v;
        test_row(calls[i].name);
        arena_init(&keep, 0);
        listen(choose, &v, &calls[i].call);
        CHECK_EQ(v.code, calls[i].code);
        if (calls[i].says != NULL)
            CHECK_HAS(v.said, calls[i].says);
        arena_free(&keep);
    }
}

static void fail(struct values *v, const void *context)
{
    v->code = verb_fault(context);
}

/* README.md of verbs: 2 usage, 3 input, 124 a time limit, 130 an interrupt. */
TEST(a_fault_has_an_exit_code)
{
    static const struct {
        enum status status;
        int code;
    } codes[] = {{ERR_NONE, 0},          {ERR_USAGE, 2}, {ERR_TIMEOUT, 124}, {ERR_ABSENT, 3},
                 {ERR_INTERRUPTED, 130}, {ERR_IO, 3},    {ERR_MALFORMED, 3}, {ERR_MEMORY, 3}};
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        static struct values v;
        struct fault fault = FAULT_INIT;
        if (codes[i].status != ERR_NONE)
            (void)fault_set(&fault, codes[i].status, FAULT_NO_OFFSET, "a test");
        listen(fail, &v, &fault);
        CHECK_EQ(v.code, codes[i].code);
    }
}

/* What an option means is said once, and each verb adds what it means there. */
TEST(an_option_of_many_verbs_has_the_note_of_the_verb)
{
    struct option_list list = {.count = 0};
    const char *value = NULL;
    const struct {
        const char *name;
        struct option_row row;
        const char *help, *argument;
    } helps[] = {
        {"the usual note", OPTION(DB, &value), "the database of runs; default build/twinstack.db",
         "FILE"},
        {"a note of the verb in its place", OPTION_AS(DB, &value, "made if it is missing"),
         "the database of runs; made if it is missing", "FILE"},
        {"no usual note", OPTION(ALL, &value), "everything", NULL},
        {"no usual note, and one of the verb", OPTION_AS(ALL, &value, "also old ones"),
         "everything; also old ones", NULL},
        {"words of the verb", OPTION_WORDS(DUMP, "A|B", &value, NULL), "a minidump", "A|B"},
        {"a list", OPTION_EACH(DUMP, &list, "of a crash"),
         "a minidump; of a crash; may be repeated", "FILE"},
    };
    for (size_t i = 0; i < COUNT_OF(helps); i++) {
        char text[200];
        test_row(helps[i].name);
        common_help(&helps[i].row, text, sizeof text);
        CHECK_STR(text, helps[i].help);
        CHECK_STR(helps[i].row.argument, helps[i].argument);
    }
}
