/* Counting stacks as bytes must give the results of the reader that reads every frame. And what an
 * id costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/signature_tally.h"
#include "memory_queue.h"
#include "random.h"
#include "stacks/notation.h"
#include "stacks/stack_raw.h"
#include "stream/count.h"
#include "stream/ledger.h"
#include "stream/partial.h"
#include "stream/queued_report.h"
#include "stream/slice.h"
#include "symbol/symbol_store.h"
#include "test.h"

static struct stack_input *open_text(const char *text, size_t bytes)
{
    static char path[600];
    struct fault fault = FAULT_INIT;
    struct stack_input *input = NULL;
    (void)snprintf(path, sizeof path, "%s/input", test_scratch());
    test_write(path, text, bytes);
    REQUIRE(stack_input_open_path(path, &input, &fault) == ERR_NONE);
    return input;
}

/* "label|frames" of each raw stack; line ends become '/'. */
static const char *raw_of(const char *text)
{
    static char out[1024];
    size_t at = 0;
    struct stack_raw raw;
    struct stack_input *input = open_text(text, strlen(text));
    CHECK(stack_input_find_notation(input) == &notation_text);
    while (stack_raw_next(input, &raw) && at + raw.bytes + 8 < sizeof out)
        at += (size_t)snprintf(out + at, sizeof out - at, "[%.*s|%.*s%s]", (int)raw.label_bytes,
                               raw.label != NULL ? raw.label : "", (int)raw.frame_bytes, raw.frames,
                               raw.states ? "*" : "");
    out[at] = '\0';
    for (char *c = out; *c != '\0'; c++)
        *c = (char)(*c == '\n' ? '/' : *c == '\r' ? '~' : *c);
    stack_input_close(input);
    return out;
}

TEST(stacks_are_cut_at_their_labels)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"nothing", "", ""},
        {"one without a label", "a!0x1\nb!0x2\n", "[|a!0x1/b!0x2/]"},
        {"the last line has no end", "> x\na!0x1", "[x|a!0x1]"},
        {"labels", "> x\na!0x1\n> y z \nb!0x2\n", "[x|a!0x1/][y z|b!0x2/]"},
        {"a label with blanks before it", "a!0x1\n  > x\nb!0x2\n", "[|a!0x1/][x|b!0x2/]"},
        {"no frames", ">\n> x\n>", "[|][x|][|]"},
        {"Windows line ends", "> x\r\na!0x1\r\n> y\r\n", "[x|a!0x1~/][y|]"},
        {"a statement about a module", "# module a - -\n> x\na!0x1\n# module b - -\n> y\n",
         "[|# module a - -/*][x|a!0x1/# module b - -/*][y|]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_STR(raw_of(rows[i].text), rows[i].want);
    }
}

/* One stack may have 16 MiB of text; what comes after a longer one is read. */
TEST(a_stack_that_is_too_long_is_left_out)
{
    static const char before[] = "> x\na!0x1\n", after[] = "> y\nb!0x2\n";
    const size_t begin = sizeof before - 1, room = RAW_BYTES_MAX + (1 << 20);
    char *text = malloc(room + sizeof after);
    struct stack_raw raw;
    REQUIRE(text != NULL);
    memcpy(text, before, begin);
    memcpy(text + begin, ">\n", 2);
    for (size_t at = begin + 2; at < room; at++)
        text[at] = "a!0x1\n"[at % 6];
    text[room - 1] = '\n';
    memcpy(text + room, after, sizeof after);
    struct stack_input *input = open_text(text, room + sizeof after - 1);
    CHECK(stack_input_find_notation(input) == &notation_text);
    REQUIRE(stack_raw_next(input, &raw) && !raw.too_long && raw.offset == 0);
    REQUIRE(stack_raw_next(input, &raw));
    CHECK(raw.too_long);
    CHECK_EQ(raw.offset, begin);
    REQUIRE(stack_raw_next(input, &raw) && !raw.too_long);
    CHECK_EQ(raw.offset, room);
    CHECK_EQ(raw.label_bytes, 1);
    CHECK(raw.label != NULL && raw.label[0] == 'y');
    CHECK(!stack_raw_next(input, &raw));
    stack_input_close(input);
    free(text);
}

/* ---- compared with the reader of frames ------------------------------------------------- */

static const char rules_text[] = "keep module *\ndepth 3\n";

struct world {
    struct symbol_store *store;
    struct signature_rules *rules;
    struct arena keep;
};

static void open_world(struct world *w)
{
    struct fault fault = FAULT_INIT;
    const struct symbol_store_options none = {.cache = "none"};
    arena_init(&w->keep, 0);
    REQUIRE(symbol_store_open(&none, &w->store, &fault) == ERR_NONE);
    REQUIRE(signature_read_rules(rules_text, strlen(rules_text), &w->keep, &w->rules, &fault) ==
            ERR_NONE);
}

static void close_world(struct world *w)
{
    symbol_store_close(w->store);
    arena_free(&w->keep);
}

static char *written(struct signature_tally *tally, uint64_t bad)
{
    struct fault fault = FAULT_INIT;
    struct partial p = {.stacks = tally->stacks, .bad = bad};
    struct signature_count *rows = NULL;
    struct text_buffer text = {NULL, 0, 0, false};
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(signature_tally_rank(tally, UINT32_MAX, &keep, &rows, &p.count, &p.floor, &fault) ==
            ERR_NONE);
    p.rows = rows;
    for (uint32_t i = 0; i < p.count; i++)
        rows[i].example = NULL; /* not compared: only the counter keeps examples */
    partial_write_columns(&text, &p);
    arena_free(&keep);
    signature_tally_free(tally);
    return text.text;
}

static char *count_plainly(struct world *w, const char *text, size_t bytes)
{
    struct signature_tally tally = {.count = 0};
    struct fault fault = FAULT_INIT;
    struct stack_item item;
    uint64_t bad = 0;
    struct stack_input *input = open_text(text, bytes);
    struct arena work;
    arena_init(&work, 0);
    while (stack_input_next(input, &work, &item)) {
        struct stack out;
        if (item.fault.code != ERR_NONE) {
            bad++;
            continue;
        }
        REQUIRE(symbol_resolve_stack(w->store, &item.stack, &work, &out, &fault) == ERR_NONE);
        REQUIRE(signature_tally_add(&tally, signature_of(w->rules, &out, &work), 1, NULL, &fault) ==
                ERR_NONE);
    }
    stack_input_close(input);
    arena_free(&work);
    return written(&tally, bad);
}

static char *count_quickly(struct world *w, const char *text, size_t bytes, uint32_t workers,
                           uint32_t distinct_max)
{
    struct signature_tally tally = {.count = 0};
    struct fault fault = FAULT_INIT;
    struct count_result result = {0};
    const struct count_options options = {
        .store = w->store, .rules = w->rules, .workers = workers, .distinct_max = distinct_max};
    struct stack_input *input = open_text(text, bytes);
    CHECK_EQ(count_stacks(&options, input, &tally, &result, &fault), ERR_NONE);
    CHECK_EQ(result.stacks, tally.stacks);
    stack_input_close(input);
    return written(&tally, result.bad);
}

/* A stream of stacks, among them bad lines, empty stacks and statements about modules. */
static char *make_stream(uint64_t *random, size_t *bytes)
{
    enum { STACKS = 400, ROOM = STACKS * 400 };
    char *text = malloc(ROOM);
    size_t at = 0;
    REQUIRE(text != NULL);
    for (uint32_t i = 0; i < STACKS; i++) {
        if (i > 0 || next_random(random) % 2 == 0)
            at += (size_t)snprintf(text + at, ROOM - at, "> report %u\n", i);
        const uint32_t frames = (uint32_t)(next_random(random) % 5);
        for (uint32_t k = 0; k < frames; k++) {
            const uint32_t what = (uint32_t)(next_random(random) % 40);
            const uint32_t name = (uint32_t)(next_random(random) % 3);
            if (what == 0)
                at += (size_t)snprintf(text + at, ROOM - at, "no frame\n");
            else if (what == 1)
                at += (size_t)snprintf(text + at, ROOM - at, "# module m%u.dll - %032X1\n", name,
                                       (unsigned)(next_random(random) % 2));
            else if (what == 2)
                at += (size_t)snprintf(text + at, ROOM - at, "\n# a comment\n");
            else if (what == 3)
                at += (size_t)snprintf(text + at, ROOM - at, "jit!made+0x%u\n", name);
            else
                at += (size_t)snprintf(text + at, ROOM - at, "m%u.dll!0x%u\n", name, name + 1);
        }
    }
    *bytes = at;
    return text;
}

TEST(counting_bytes_and_reading_frames_agree)
{
    static const struct {
        const char *name;
        uint32_t workers, distinct_max;
    } rows[] = {
        {"one worker", 1, 0},
        {"one worker, many generations", 1, 7},
        {"three workers", 3, 0},
        {"three workers, many generations", 3, 5},
        {"a generation of one stack", 2, 1},
    };
    struct world w;
    uint64_t random = 2026;
    open_world(&w);
    for (int round = 0; round < 10; round++) {
        size_t bytes = 0;
        char *text = make_stream(&random, &bytes);
        char *want = count_plainly(&w, text, bytes);
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            test_row(rows[i].name);
            char *got = count_quickly(&w, text, bytes, rows[i].workers, rows[i].distinct_max);
            CHECK_STR(got, want);
            free(got);
        }
        free(want);
        free(text);
    }
    close_world(&w);
}

TEST(other_forms_are_counted_too)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"one object per line",
         "{\"frames\":[{\"module\":\"a.exe\",\"offset\":\"0x1\"}]}\n"
         "{\"frames\":[{\"module\":\"a.exe\",\"offset\":\"0x2\"}]}\n{broken}\n"},
        {"stackwalk", "Module|a.exe||a.pdb|123456789012345678901234567890121|0x1|0x2|1\n"
                      "0|0|a.exe||||0x10\n0|1|b.dll||||0x20\n1|0|a.exe||||0x10\n"},
        {"several threads of lldb",
         "thread #1\n  frame #0: 0x1 a.exe`f + 1\nthread #2\n  frame #0: 0x1 b.exe`g + 1\n"},
    };
    struct world w;
    open_world(&w);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const size_t bytes = strlen(rows[i].text);
        char *want = count_plainly(&w, rows[i].text, bytes);
        char *got = count_quickly(&w, rows[i].text, bytes, 2, 0);
        CHECK_STR(got, want);
        free(got);
        free(want);
    }
    close_world(&w);
}

TEST(every_truncation_of_a_stream_is_counted_as_it_is_read)
{
    static const char text[] = "# module m1.dll - 0000000000000000000000000000000A1\n> x\n"
                               "m1.dll!0x10\nm2.dll!0x20\n> y\nModule|m2.dll||m2.pdb|A\n?!0x77\n"
                               ">\tm1.dll!f()\n> z\nModule m3.so with build-id "
                               "9d95f2a8c3b1e4d5f60718293a4b5c6d7e8f9012\n> z\nm3.so!0x10\n";
    struct world w;
    open_world(&w);
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        char *want = count_plainly(&w, text, bytes), *got = count_quickly(&w, text, bytes, 1, 0);
        CHECK_STR(got, want);
        free(got);
        free(want);
    }
    close_world(&w);
}

TEST(ids_cost_sixteen_bytes_each)
{
    struct memory_queue *q = malloc(sizeof *q);
    struct ledger *ledger = NULL;
    struct ledger_id ids[LEDGER_PAGE_IDS];
    struct fault fault = FAULT_INIT;
    uint64_t bytes = 0;
    bool again = false;
    REQUIRE(q != NULL);
    open_memory(q);
    struct mutex *lock = mutex_new();
    REQUIRE(lock != NULL && ledger_open(&q->queue, "alice", lock, &ledger, &fault) == ERR_NONE);
    for (uint32_t page = 0; page < 20; page++) {
        char id[40];
        for (uint32_t i = 0; i < COUNT_OF(ids); i++) {
            (void)snprintf(id, sizeof id, "alice-%u-%u", (unsigned)page, (unsigned)i);
            ids[i] = ledger_id_of(id, id, strlen(id));
        }
        CHECK_EQ(ledger_add(ledger, ids, COUNT_OF(ids), id, "a message", 9, &again, &fault),
                 ERR_NONE);
        CHECK(!again);
    }
    for (uint32_t i = 0; i < q->item_count; i++)
        bytes += q->items[i].bytes;
    CHECK(bytes < UINT64_C(20) * LEDGER_PAGE_IDS * 16 + 20 * 64);
    ledger_free(ledger);
    ledger = NULL;
    REQUIRE(ledger_open(&q->queue, "alice", lock, &ledger, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < 20; i++) {
        char id[40];
        (void)snprintf(id, sizeof id, "alice-%u-%u", (unsigned)i, (unsigned)i);
        struct ledger_id one = ledger_id_of(id, id, strlen(id));
        CHECK_EQ(ledger_find(ledger, &one), LEDGER_KNOWN);
        one.body++;
        CHECK_EQ(ledger_find(ledger, &one), LEDGER_OTHER);
        one.id++;
        CHECK_EQ(ledger_find(ledger, &one), LEDGER_NEW);
    }
    ledger_free(ledger);
    mutex_free(lock);
    close_memory(q);
    free(q);
}

#define FIRST "11111111AAAAAAAA" /* an id and its body, 8 bytes each */

/* A page says what it is, its version and its ids; what is damaged is lost, and no other page. */
TEST(a_page_of_ids_is_read_or_left)
{
    static const struct {
        const char *name, *page;
        size_t bytes; /* 0: up to its end */
        enum status want;
        bool known, next; /* the id of this page, and that of the page after it */
        const char *stored;
    } rows[] = {
        {"one id", "#ids 1 1 \n" FIRST, 0, ERR_NONE, true, true, NULL},
        {"and a message", "#ids 1 1 alice-1\n" FIRST "a report", 0, ERR_NONE, true, true,
         "a report"},
        {"an empty message", "#ids 1 1 alice-1\n" FIRST, 0, ERR_NONE, true, true, ""},
        {"another id of a message", "#ids 1 1 ../x\n" FIRST "a report", 0, ERR_NONE, false, true,
         NULL},
        {"no id", "#ids 1 0 alice-1\na report", 0, ERR_NONE, false, true, "a report"},
        {"one byte less", "#ids 1 1 \n" FIRST, sizeof "#ids 1 1 \n" FIRST - 2, ERR_NONE, false,
         true, NULL},
        {"two ids of which one is there", "#ids 1 2 \n" FIRST, 0, ERR_NONE, false, true, NULL},
        {"more ids than a page has", "#ids 1 1025 \n" FIRST, 0, ERR_NONE, false, true, NULL},
        {"no number", "#ids 1 x \n" FIRST, 0, ERR_NONE, false, true, NULL},
        {"no version", "#ids  1 \n" FIRST, 0, ERR_NONE, false, true, NULL},
        {"another mark", "#idx 1 1 \n" FIRST, 0, ERR_NONE, false, true, NULL},
        {"no line", "#ids 1 1 ", 0, ERR_NONE, false, true, NULL},
        {"a line that is cut", "#id\n", 0, ERR_NONE, false, true, NULL},
        {"nothing", "", 0, ERR_NONE, false, true, NULL},
        {"a newer version", "#ids 2 1 \n" FIRST, 0, ERR_UNSUPPORTED, false, false, NULL},
    };
    static const char after[] = "#ids 1 1 \n22222222BBBBBBBB";
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct memory_queue *q = malloc(sizeof *q);
        struct ledger *ledger = NULL;
        struct fault fault = FAULT_INIT;
        struct ledger_id first, next;
        struct mutex *lock = mutex_new();
        REQUIRE(q != NULL && lock != NULL);
        test_row(rows[i].name);
        open_memory(q);
        const size_t bytes = rows[i].bytes > 0 ? rows[i].bytes : strlen(rows[i].page);
        REQUIRE(item_set(&q->queue, QUEUE_NOTES, "-page-alice-0", rows[i].page, bytes, &fault) ==
                    ERR_NONE &&
                item_set(&q->queue, QUEUE_NOTES, "-page-alice-1", after, sizeof after - 1,
                         &fault) == ERR_NONE);
        memcpy(&first, FIRST, sizeof first);
        memcpy(&next, after + sizeof after - 1 - sizeof next, sizeof next);
        CHECK_EQ(ledger_open(&q->queue, "alice", lock, &ledger, &fault), rows[i].want);
        if (ledger != NULL) {
            CHECK_EQ(ledger_find(ledger, &first), rows[i].known ? LEDGER_KNOWN : LEDGER_NEW);
            CHECK_EQ(ledger_find(ledger, &next), rows[i].next ? LEDGER_KNOWN : LEDGER_NEW);
        }
        CHECK_EQ(q->count[QUEUE_REPORTS], rows[i].stored != NULL);
        if (rows[i].stored != NULL && q->count[QUEUE_REPORTS] == 1) {
            CHECK_STR(q->messages[QUEUE_REPORTS][0].id, "alice-1");
            CHECK_STR(q->messages[QUEUE_REPORTS][0].data, rows[i].stored);
            CHECK_EQ(strncmp(q->items[0].data, "#ids 1 ", 7), 0); /* the ids stay on the page */
            CHECK_EQ(q->items[0].bytes, bytes - strlen(rows[i].stored) - strlen("alice-1"));
        }
        ledger_free(ledger);
        mutex_free(lock);
        close_memory(q);
        free(q);
    }
}

/* Where the next start begins to read: a page, and all later ones; those before it up to a gap. */
TEST(pages_are_read_from_the_one_that_is_noted)
{
    static const struct {
        const char *name, *hint; /* NULL: there is none */
        const char *pages;       /* the digits of those that are there */
        enum status want;
        const char *known;
    } rows[] = {
        {"none is noted", NULL, "012", ERR_NONE, "012"},
        {"a gap", NULL, "02", ERR_NONE, "0"},
        {"the second is noted", "1", "0123", ERR_NONE, "0123"},
        {"old ones are forgotten", "4", "1345", ERR_NONE, "345"},
        {"what is noted is not there", "4", "3", ERR_NONE, "3"},
        {"no page at all", "4", "", ERR_NONE, ""},
        {"no number", "x", "0", ERR_MALFORMED, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct memory_queue *q = malloc(sizeof *q);
        struct ledger *ledger = NULL;
        struct fault fault = FAULT_INIT;
        struct mutex *lock = mutex_new();
        REQUIRE(q != NULL && lock != NULL);
        test_row(rows[i].name);
        open_memory(q);
        if (rows[i].hint != NULL)
            REQUIRE(item_set(&q->queue, QUEUE_NOTES, "-pages-alice", rows[i].hint,
                             strlen(rows[i].hint), &fault) == ERR_NONE);
        for (const char *at = rows[i].pages; *at != '\0'; at++) {
            char name[40], page[40];
            (void)snprintf(name, sizeof name, "-page-alice-%c", *at);
            (void)snprintf(page, sizeof page, "#ids 1 1 \n1111111%cAAAAAAAA", *at);
            REQUIRE(item_set(&q->queue, QUEUE_NOTES, name, page, strlen(page), &fault) == ERR_NONE);
        }
        CHECK_EQ(ledger_open(&q->queue, "alice", lock, &ledger, &fault), rows[i].want);
        for (char digit = '0'; ledger != NULL && digit < '6'; digit++) {
            char id[20];
            struct ledger_id one;
            (void)snprintf(id, sizeof id, "1111111%cAAAAAAAA", digit);
            memcpy(&one, id, sizeof one);
            CHECK_EQ(ledger_find(ledger, &one),
                     strchr(rows[i].known, digit) != NULL ? LEDGER_KNOWN : LEDGER_NEW);
        }
        ledger_free(ledger);
        mutex_free(lock);
        close_memory(q);
        free(q);
    }
}

/* 70 times the same digit. */
#define SEVEN(D) D D D D D D D
#define LONG_ID(D)                                                                                 \
    "alice-" SEVEN(D) SEVEN(D) SEVEN(D) SEVEN(D) SEVEN(D) SEVEN(D) SEVEN(D) SEVEN(D) SEVEN(D)      \
        SEVEN(D)

/* A sender may repeat to a collector of one version what one of another version has stored: it must
 * go under the same ids, cut at the same bytes. These figures are never changed. */
TEST(what_a_report_is_stored_under_is_the_same_in_every_version)
{
    const size_t bytes = 2 * (size_t)REPORT_PART_BYTES;
    const struct report small[] = {
        {.id = "alice-1", .sender = "alice", .received = "2026-11-22T08:15:00Z"},
        {.id = "alice-2",
         .sender = "alice",
         .received = "2026-11-22T08:15:00Z",
         .stacks = "> a",
         .bytes = 3}};
    const struct report *const both[] = {&small[0], &small[1]};
    struct memory_queue *q = malloc(sizeof *q);
    char *record = malloc(bytes), id[QUEUE_ID_BYTES];
    struct fault fault = FAULT_INIT;
    struct arena keep;
    size_t group_bytes = 0;
    REQUIRE(q != NULL && record != NULL);
    arena_init(&keep, 0);
    open_memory(q);
    memset(record, 'x', bytes);
    memcpy(record, "TWINREC1", 8);
    const struct report large = {.id = "alice-3",
                                 .sender = "alice",
                                 .received = "2026-11-22T08:15:00Z",
                                 .stacks = record,
                                 .bytes = bytes};
    REQUIRE(report_put(&q->queue, &large, &fault) == ERR_NONE);
    REQUIRE(q->item_count == 2);
    CHECK_STR(q->items[1].id,
              "1-part-1-b023ee31557550db55bace724c1ee0b386476c3d4be9baa9a38c49cf6e781333");
    CHECK_EQ(q->items[1].bytes, 898976);
    CHECK_EQ(SLICE_BYTES, 898976);
    CHECK_EQ(REPORT_SMALL_BYTES, 65536);
    REQUIRE(report_write_group(both, 2, &keep, id, &group_bytes) != NULL);
    CHECK_STR(id, "-g2-b6d657961e0ffa4ba4878491b594a382");
    const struct report longest[] = {
        {.id = LONG_ID("1"), .sender = "alice", .received = "2026-11-22T08:15:00Z"},
        {.id = LONG_ID("2"),
         .sender = "alice",
         .received = "2026-11-22T08:15:00Z",
         .stacks = "> a",
         .bytes = 3}};
    const struct report *const two[] = {&longest[0], &longest[1]};
    REQUIRE(report_write_group(two, 2, &keep, id, &group_bytes) != NULL);
    CHECK_STR(id, "-g2-fe27f446cce1ba5c6f13d93670531744"); /* computed in Python, too */
    const struct ledger_id known = ledger_id_of("alice-1", "> a", 3);
    CHECK(known.id == UINT64_C(0xa42ac5108869b599));
    CHECK(known.body == UINT64_C(0xf44dd297dc5eadaa));
    close_memory(q);
    arena_free(&keep);
    free(record);
    free(q);
}
