/* Answers that are kept: which change of a program or of the suite asks again, and which answers
 * never are kept. A contestant here notes each question that it gets. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/process.h"
#include "suite/score.h"
#include "suite_made.h"
#include "test.h"

#define ECHO_TRUTH(I) "echo '{\"id\":\"moments/x64/" I "\",\"frames\":" FRAMES "}'\n"
/* Its version is that in a file, which its command does not name. */
#define CONTESTANT(FIRST)                                                                          \
    "cd \"$(dirname \"$0\")\"\nread hello\nread v <version\n"                                      \
    "echo "                                                                                        \
    "\"{\\\"name\\\":\\\"t\\\",\\\"version\\\":\\\"$v\\\",\\\"can\\\":[\\\"moments.x64\\\"]}\"\n"  \
    "while read q; do\necho x >>asked\ncase $q in\n*a/0*) " FIRST                                  \
    ";;\n*b/1*) " ECHO_TRUTH("b/1") ";;\nesac\ndone\n"

static char folder[500];

static const char *in_folder(const char *name)
{
    static char path[4][600];
    static unsigned next;
    char *at = path[next++ % 4];
    (void)snprintf(at, 600, "%s/%s", folder, name);
    return at;
}

static void put(const char *name, const char *text)
{
    test_write(in_folder(name), text, strlen(text));
}

/* What changes before the second score. */
enum change {
    NOTHING,
    PROGRAM,
    COMMAND,
    VERSION,
    EDITION,
    QUESTION,
    TRUTH,
    LIBRARY,
    VERSIONED_LIBRARY,
    TEXT_BESIDE,
    NAMED_FILE,
    NO_CACHE,
    NO_HEAD,
    BAD_LINE,
    CUT
};

static const char *index_of(enum change change)
{
    return change == EDITION ? "{\"suite\":1,\"edition\":\"2026.2\",\"lists\":[\"list.ndjson\"]}"
                             : "{\"suite\":1,\"edition\":\"2026.1\",\"lists\":[\"list.ndjson\"]}";
}

static const char *lines_of(enum change change)
{
    if (change == QUESTION)
        return CASE("moments/x64/a/0",
                    "{\"level\":\"unknown\"}") "\n" //
                                               "{\"id\":\"moments/x64/b/"
                                               "1\",\"kind\":\"moment\",\"processor\":\"x64\","
                                               "\"shape\":\"push\","
                                               "\"position\":\"body\",\"rule\":{\"kind\":\"page\","
                                               "\"name\":\"p\",\"address\":null},"
                                               "\"needs\":[\"unwind-v2\"],\"capability\":\"moments."
                                               "x64\",\"given\":{\"registers\":{}},"
                                               "\"truth\":{\"level\":\"unknown\"}}\n";
    if (change == TRUTH)
        return CASE("moments/x64/a/0",
                    "{\"level\":\"must\",\"frames\":[{\"ip\":\"0x99\",\"sp\":\"0x1\"}]}") "\n" //
            CASE("moments/x64/b/1", "{\"level\":\"unknown\"}") "\n";
    return LIST;
}

static void damage(const char *answers, enum change change)
{
    size_t bytes = 0;
    char text[4000];
    const char *whole = (const char *)test_read(answers, &bytes);
    REQUIRE(bytes < sizeof text);
    memcpy(text, whole, bytes);
    if (change == NO_HEAD)
        text[0] = '-';
    for (size_t i = 20; i < bytes && change == BAD_LINE; i++)
        text[i] = text[i] == '{' ? '<' : text[i]; /* no answer is JSON */
    test_write(answers, text, change == CUT ? bytes - 1 : bytes);
}

/* The one file of answers. */
static const char *answers_in(const char *cache, struct arena *keep)
{
    const char *index = path_join(keep, cache, "index");
    struct fault fault = FAULT_INIT;
    const char **names = NULL;
    size_t count = 0;
    REQUIRE(index != NULL && folder_list(index, keep, &names, &count, &fault) == ERR_NONE);
    REQUIRE(count == 1);
    CHECK(strncmp(names[0], "answers-", 8) == 0);
    return path_join(keep, index, names[0]);
}

static void make_change(enum change change, const char *program, const char *cache,
                        struct arena *keep)
{
    static const struct {
        enum change change;
        const char *name, *text;
    } files[] = {{VERSION, "version", "2\n"},
                 {LIBRARY, "walk.so", "new"},
                 {VERSIONED_LIBRARY, "walk.so.3", "new"},
                 {TEXT_BESIDE, "notes.txt", "new"},
                 {NAMED_FILE, "tables", "new"}};
    for (size_t i = 0; i < COUNT_OF(files); i++)
        if (files[i].change == change)
            put(files[i].name, files[i].text);
    if (change == PROGRAM) {
        char longer[2000];
        (void)snprintf(longer, sizeof longer, "%s# a comment\n", program);
        put("mine.sh", longer);
    }
    if (change >= NO_HEAD)
        damage(answers_in(cache, keep), change);
}

static void score(enum change change, bool with_cache, const char *cache, struct arena *keep,
                  struct score *out)
{
    struct fault fault = FAULT_INIT;
    struct suite suite;
    char command[1400];
    REQUIRE(suite_open(make_suite(lines_of(change), index_of(change), NULL), NULL, keep, &suite,
                       &fault) == ERR_NONE);
    (void)snprintf(command, sizeof command, "sh %s --tables=%s%s", in_folder("mine.sh"),
                   in_folder("tables"), change == COMMAND ? " -v" : "");
    const struct score_request request = {
        .contestant = {.command = command, .suite = &suite, .limit_ms = 60000},
        .jobs = 2,
        .cache = {.folder = with_cache ? cache : NULL, .limit_bytes = 1 << 30}};
    CHECK_EQ(score_all(&request, keep, out, &fault), ERR_NONE);
}

static size_t asked(void)
{
    size_t bytes = 0;
    if (path_is_file(in_folder("asked")))
        (void)test_read(in_folder("asked"), &bytes);
    return bytes / 2;
}

static void start(const char *program, const char *cache, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    if (process_find("sh", keep) == NULL)
        SKIP("sh");
    (void)snprintf(folder, sizeof folder, "%s/mine", test_scratch());
    REQUIRE(path_remove(folder, &fault) == ERR_NONE);
    REQUIRE(path_remove(cache, &fault) == ERR_NONE);
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    put("mine.sh", program);
    put("version", "1\n");
    put("tables", "old");
    put("walk.so", "old");
    put("walk.so.3", "old");
    put("notes.txt", "old");
}

TEST(what_has_changed_is_asked_again)
{
    static const struct {
        const char *name;
        enum change change;
        uint32_t cached; /* of two answers */
    } rows[] = {
        {"nothing", NOTHING, 2},
        {"the program", PROGRAM, 0},
        {"its command", COMMAND, 0},
        {"the version that it gives", VERSION, 0},
        {"the edition of the suite", EDITION, 0},
        {"one question", QUESTION, 1},
        {"the truth, which no contestant gets", TRUTH, 2},
        {"a library beside it", LIBRARY, 0},
        {"a library with its version in its name", VERSIONED_LIBRARY, 0},
        {"a text beside it", TEXT_BESIDE, 2},
        {"a file that the command names", NAMED_FILE, 0},
        {"the cache is turned off", NO_CACHE, 0},
        {"the answers are of another version", NO_HEAD, 0},
        {"the answers are no JSON", BAD_LINE, 0},
        {"the last line is cut", CUT, 1},
    };
    static const char program[] = CONTESTANT(ECHO_TRUTH("a/0"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct score first, second;
        struct arena keep;
        char cache[600];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(cache, sizeof cache, "%s/cache", test_scratch());
        start(program, cache, &keep);
        score(NOTHING, true, cache, &keep, &first);
        CHECK_EQ(first.cached, 0);
        CHECK_EQ(asked(), 2);
        make_change(rows[i].change, program, cache, &keep);
        score(rows[i].change, rows[i].change != NO_CACHE, cache, &keep, &second);
        CHECK_EQ(second.cached, rows[i].cached);
        CHECK_EQ(asked(), 2 + 2 - rows[i].cached);
        CHECK_EQ(second.answers[0].outcome, rows[i].change == TRUTH ? SUITE_WRONG : SUITE_RIGHT);
        CHECK_EQ(second.answers[1].outcome, SUITE_RIGHT);
        if (CHECK_EQ(second.answers[0].walk.count, 2))
            CHECK_HEX(second.answers[0].walk.frames[1].ip, 0x20);
        /* Whatever was asked again is known then. */
        score(rows[i].change, true, cache, &keep, &second);
        CHECK_EQ(second.cached, 2);
        arena_free(&keep);
    }
}

TEST(an_answer_that_may_be_an_accident_is_not_kept)
{
    static const struct {
        const char *name, *first;
        enum suite_outcome want;
        uint32_t cached;
    } rows[] = {
        {"the truth", ECHO_TRUTH("a/0"), SUITE_RIGHT, 2},
        {"unsupported", "echo '{\"id\":\"moments/x64/a/0\",\"unsupported\":true}'",
         SUITE_UNSUPPORTED, 2},
        {"early", "echo '{\"id\":\"moments/x64/a/0\",\"frames\":[{\"ip\":\"0x10\"}]}'", SUITE_EARLY,
         2},
        {"wrong", "echo '{\"id\":\"moments/x64/a/0\",\"frames\":[{\"ip\":\"0x11\"}]}'", SUITE_WRONG,
         2},
        {"its tool failed", "echo '{\"id\":\"moments/x64/a/0\",\"error\":\"no idea\"}'",
         SUITE_CRASHED, 1},
        {"a crash", "kill -SEGV $$", SUITE_CRASHED, 1},
        {"garbage", "echo nonsense", SUITE_GARBAGE, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct score again;
        struct arena keep;
        char cache[600], program[2000];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(cache, sizeof cache, "%s/cache", test_scratch());
        (void)snprintf(program, sizeof program, CONTESTANT("%s"), rows[i].first);
        start(program, cache, &keep);
        for (int turn = 0; turn < 2; turn++) {
            score(NOTHING, true, cache, &keep, &again);
            CHECK_EQ(again.answers[0].outcome, rows[i].want);
            CHECK_EQ(again.answers[1].outcome, SUITE_RIGHT);
            CHECK_EQ(again.cached, turn == 0 ? 0 : rows[i].cached);
        }
        arena_free(&keep);
    }
}
