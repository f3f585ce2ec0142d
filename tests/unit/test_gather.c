/* Where reports come in, and groups of small ones: each counts once, whichever collector, worker or
 * reducer dies at whichever call of the queue, and only the report that kills is buried. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "capture/record.h"
#include "compare/signature.h"
#include "memory_queue.h"
#include "random.h"
#include "stream/gather.h"
#include "stream/ledger.h"
#include "stream/totals.h"
#include "stream/work.h"
#include "symbol/symbol_store.h"
#include "test.h"

struct world {
    struct symbol_store *store;
    struct signature_rules *rules;
    struct arena keep;
    struct memory_queue *q;
    struct totals *totals;
    struct work_figures figures;
};

static void open_world(struct world *w)
{
    static const char rules[] = "keep module *\ndepth 2\n";
    const struct symbol_store_options none = {.cache = "none"};
    struct fault fault = FAULT_INIT;
    memset(w, 0, sizeof *w);
    arena_init(&w->keep, 0);
    REQUIRE(symbol_store_open(&none, &w->store, &fault) == ERR_NONE);
    REQUIRE(signature_read_rules(rules, strlen(rules), &w->keep, &w->rules, &fault) == ERR_NONE);
    REQUIRE(totals_open(":memory:", true, &w->totals, &fault) == ERR_NONE);
    w->q = malloc(sizeof *w->q);
    REQUIRE(w->q != NULL);
    open_memory(w->q);
}

static void close_world(struct world *w)
{
    totals_close(w->totals);
    close_memory(w->q);
    free(w->q);
    symbol_store_close(w->store);
    arena_free(&w->keep);
}

static void work(struct world *w)
{
    struct fault fault = FAULT_INIT;
    const struct work_options options = {.queue = &w->q->queue,
                                         .store = w->store,
                                         .rules = w->rules,
                                         .workers = 1,
                                         .idle_ms = 1,
                                         .stopping = is_over};
    /* On a busy machine a worker may end before it has looked again at what it put back. What it
     * took, it ends. */
    do {
        (void)work_run(&options, &w->figures, &fault);
        fault_clear(&fault);
    } while (!w->q->dead && has_ready(w->q, QUEUE_REPORTS));
    for (uint32_t i = 0; !w->q->dead && i < w->q->count[QUEUE_REPORTS]; i++)
        CHECK_EQ(w->q->messages[QUEUE_REPORTS][i].state, DONE);
}

static void reduce(struct world *w)
{
    struct fault fault = FAULT_INIT;
    struct work_figures figures = {0};
    const struct work_options options = {.queue = &w->q->queue, .idle_ms = 1, .stopping = is_over};
    revive(w->q, 0, false);
    CHECK_EQ(reduce_run(&options, w->totals, &figures, &fault), ERR_NONE);
    CHECK_EQ(figures.buried, 0);
}

/* "SIGNATURE COUNT, ..." of all totals, with the numbers of stacks, bad lines and reports. */
static const char *counted(struct world *w)
{
    static char out[4000];
    const struct totals_query query = {.top = 100};
    struct totals_list list;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(totals_read(w->totals, &query, &keep, &list, &fault) == ERR_NONE);
    size_t at =
        (size_t)snprintf(out, sizeof out, "%u stacks, %u bad, %u reports:", (unsigned)list.stacks,
                         (unsigned)list.bad, (unsigned)list.reports);
    for (uint32_t i = 0; i < list.count && at < sizeof out; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, " %s %u,", list.rows[i].signature,
                               (unsigned)list.rows[i].count);
    arena_free(&keep);
    return out;
}

static struct report report_of(const char *id, const char *text)
{
    return (struct report){.id = id,
                           .sender = "alice",
                           .version = "1",
                           .received = "2026-11-22T08:15:00Z",
                           .stacks = text,
                           .bytes = strlen(text)};
}

static void put_group(struct world *w, const struct report *reports, uint32_t count)
{
    const struct report *list[REPORT_MEMBERS_MAX];
    char id[QUEUE_ID_BYTES];
    struct fault fault = FAULT_INIT;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        list[i] = &reports[i];
    char *text = report_write_group(list, count, &w->keep, id, &bytes);
    REQUIRE(text != NULL);
    REQUIRE(w->q->queue.transport->put(&w->q->queue, QUEUE_REPORTS, id, text, bytes, &fault) ==
            ERR_NONE);
}

/* ---- what a group is --------------------------------------------------------------------- */

TEST(a_group_counts_as_its_reports_do_whatever_they_are)
{
    static const char *const texts[] = {
        "> a\nx.exe!0x1\n",
        "> b\nx.exe!0x2\ny.dll!0x3",
        "x.exe!0x4\n",
        "",
        "> c\nx.exe!0x1\n> d\nx.exe!0x1\n",
        "# module x.exe - 0123456789ABCDEF0123456789ABCDEF1\n> e\nx.exe!0x5\n",
        "> f\nx.exe!0x5\n# module x.exe - 0123456789ABCDEF0123456789ABCDEF2\n> g\nx.exe!0x6\n",
        "{\"frames\":[{\"module\":\"x.exe\",\"offset\":\"0x7\"}]}\n",
        "{broken\n",
        "> h\nno frame\n",
        "\xFF\xFEx",
        RECORD_MAGIC "no record",
        "> lldb\nthread #1\n  frame #0: 0x1 x.exe`f + 1\n",
    };
    uint64_t random = 50;
    for (int round = 0; round < 60; round++) {
        char alone_text[4000], row[32];
        struct report reports[6];
        char ids[6][32];
        struct world one, all;
        (void)snprintf(row, sizeof row, "round %d", round);
        test_row(row);
        open_world(&one);
        open_world(&all);
        for (uint32_t i = 0; i < COUNT_OF(reports); i++) {
            struct fault fault = FAULT_INIT;
            (void)snprintf(ids[i], sizeof ids[i], "alice-%u", (unsigned)i);
            reports[i] = report_of(ids[i], texts[next_random(&random) % COUNT_OF(texts)]);
            REQUIRE(report_put(&one.q->queue, &reports[i], &fault) == ERR_NONE);
        }
        put_group(&all, reports, COUNT_OF(reports));
        CHECK_EQ(all.q->count[QUEUE_REPORTS], 1);
        work(&one);
        work(&all);
        reduce(&one);
        reduce(&all);
        (void)snprintf(alone_text, sizeof alone_text, "%s", counted(&one));
        CHECK_STR(counted(&all), alone_text);
        close_world(&one);
        close_world(&all);
    }
}

TEST(a_group_is_read_or_refused)
{
#define HEAD                                                                                       \
    "{\"schema_version\":3,\"id\":\"-g2-a\",\"received\":\"2026-11-22T08:15:00Z\",\"members\":"
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"good", HEAD "[\"a\",1,\"b\",2]}\nabc", ERR_NONE},
        {"no members", HEAD "[]}\nabc", ERR_MALFORMED},
        {"no list", HEAD "7}\nabc", ERR_MALFORMED},
        {"an odd number", HEAD "[\"a\"]}\nabc", ERR_MALFORMED},
        {"a path", HEAD "[\"../a\",3]}\nabc", ERR_MALFORMED},
        {"a negative length", HEAD "[\"a\",-1,\"b\",4]}\nabc", ERR_MALFORMED},
        {"a length that is none", HEAD "[\"a\",\"b\"]}\nabc", ERR_MALFORMED},
        {"a large length", HEAD "[\"a\",99999999,\"b\",4]}\nabc", ERR_MALFORMED},
        {"too few bytes", HEAD "[\"a\",1,\"b\",2]}\nab", ERR_TRUNCATED},
        {"too many bytes", HEAD "[\"a\",1,\"b\",2]}\nabcd", ERR_TRUNCATED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct report report;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_EQ(report_read(rows[i].text, strlen(rows[i].text), &keep, &report, &fault),
                 rows[i].want);
        arena_free(&keep);
    }
}

TEST(an_id_says_what_it_stands_for)
{
    static const struct {
        const char *id, *group;
        uint64_t count;
    } rows[] = {
        {"alice-1", NULL, 1},          {"-g12-ab", NULL, 12}, {"-m3-g12-ab", NULL, 1},
        {"-m3--g12-ab", "-g12-ab", 1}, {"-g-ab", NULL, 1},    {"-g99999999-ab", NULL, 1},
        {"-1-alice-1", NULL, 1},       {"-m-", NULL, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].id);
        CHECK_EQ(report_count_of(rows[i].id), rows[i].count);
        const char *group = report_group_of(rows[i].id);
        CHECK((group == NULL) == (rows[i].group == NULL));
        if (group != NULL && rows[i].group != NULL)
            CHECK_STR(group, rows[i].group);
    }
}

/* ---- workers ------------------------------------------------------------------------------ */

enum { MEMBERS = 4 };
static const char *const member_texts[MEMBERS] = {"> a\nx.exe!0x1\n", "> a\ny.exe!0x2\n",
                                                  "> a\nbad.exe!0x3\n", "> a\nx.exe!0x1\n"};
static const char *const member_ids[MEMBERS] = {"alice-0", "alice-1", "alice-2", "alice-3"};

static void put_members(struct world *w)
{
    struct report reports[MEMBERS];
    for (uint32_t i = 0; i < MEMBERS; i++)
        reports[i] = report_of(member_ids[i], member_texts[i]);
    put_group(w, reports, MEMBERS);
}

TEST(only_the_member_that_kills_its_workers_is_buried)
{
    struct world w;
    uint32_t deaths = 0;
    open_world(&w);
    put_members(&w);
    for (; deaths < 20; deaths++) {
        revive(w.q, 0, false);
        w.q->poison = "bad.exe";
        work(&w);
        if (!w.q->dead)
            break;
    }
    CHECK_EQ(w.figures.buried, 1);
    REQUIRE(w.q->count[QUEUE_DEAD] == 1);
    CHECK_HAS(w.q->messages[QUEUE_DEAD][0].data, "bad.exe!0x3");
    CHECK(strstr(w.q->messages[QUEUE_DEAD][0].data, "x.exe!0x1") == NULL);
    reduce(&w);
    CHECK_STR(counted(&w), "3 stacks, 0 bad, 3 reports: x.exe 2, y.exe 1,");
    close_world(&w);
}

/* A worker dies at call AT, the reducer runs or not, the next one does the rest. */
static bool die_and_go_on(uint32_t at, uint32_t then, bool after, bool reduces_early)
{
    struct world w;
    char name[80];
    (void)snprintf(name, sizeof name, "%u-%u-%d-%d", (unsigned)at, (unsigned)then, (int)after,
                   (int)reduces_early);
    test_row(name);
    open_world(&w);
    put_members(&w);
    revive(w.q, at, after);
    work(&w);
    const bool has_died = w.q->dead;
    if (reduces_early)
        reduce(&w);
    revive(w.q, then, after);
    work(&w);
    if (reduces_early)
        reduce(&w);
    revive(w.q, 0, false);
    work(&w);
    reduce(&w);
    CHECK_STR(counted(&w), "4 stacks, 0 bad, 4 reports: x.exe 2, bad.exe 1, y.exe 1,");
    CHECK_EQ(w.q->count[QUEUE_DEAD], 0);
    close_world(&w);
    return has_died;
}

TEST(a_group_counts_once_wherever_its_workers_die)
{
    test_limit(120);
    for (uint32_t at = 1; at < 40; at++) {
        bool has_died = false;
        for (uint32_t then = 0; then < 8; then++)
            for (int way = 0; way < (then == 0 ? 4 : 2); way++)
                has_died = die_and_go_on(at, then, way % 2 == 0, way / 2 == 0) || has_died;
        if (!has_died)
            return;
    }
    FAIL("it has no end");
}

/* The group comes to another worker, which dies while it splits it; the first one is alive, and
 * stores its result last. A group of which only some reports were there would lose the others. */
static bool split_and_die(uint32_t at, bool after, const struct held *result)
{
    struct world w;
    struct fault fault = FAULT_INIT;
    char name[40];
    (void)snprintf(name, sizeof name, "call %u, done %d", (unsigned)at, (int)after);
    test_row(name);
    open_world(&w);
    put_members(&w);
    w.q->messages[QUEUE_REPORTS][0].delivered = 1;
    revive(w.q, at, after);
    work(&w);
    const bool has_died = w.q->dead;
    revive(w.q, 0, false);
    w.q->messages[QUEUE_REPORTS][0].state = DONE; /* the first one has it */
    work(&w);
    reduce(&w);
    CHECK_EQ(put(&w.q->queue, QUEUE_PARTIALS, "late", result->data, result->bytes, &fault),
             ERR_NONE);
    reduce(&w);
    CHECK_STR(counted(&w), "4 stacks, 0 bad, 4 reports: x.exe 2, bad.exe 1, y.exe 1,");
    close_world(&w);
    return has_died;
}

TEST(a_group_that_is_split_beside_a_worker_that_has_it_counts_once)
{
    struct world first;
    struct held result;
    bool before = true, after = true;
    open_world(&first);
    put_members(&first);
    work(&first);
    REQUIRE(first.q->count[QUEUE_PARTIALS] == 1);
    result = first.q->messages[QUEUE_PARTIALS][0];
    for (uint32_t at = 1; before || after; at++) {
        REQUIRE(at < 50);
        before = split_and_die(at, false, &result);
        after = split_and_die(at, true, &result);
    }
    close_world(&first);
}

/* The result of the group and those of its reports, in any order: the first decides. */
TEST(a_group_and_its_reports_do_not_both_count)
{
    static const struct {
        const char *name, *order; /* g: the group, digits: its reports */
        uint64_t stacks, reports;
    } rows[] = {
        {"the group first", "g0123g", 4, 4},
        {"a report first", "0g123g", 4, 4},
        {"the group in the middle", "01g23", 4, 4},
        {"the group last", "0123g", 4, 4},
        {"twice", "00gg112233", 4, 4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        open_world(&w);
        for (const char *c = rows[i].order; *c != '\0'; c++) {
            const struct signature_count row = {.text = "main", .count = *c == 'g' ? 4 : 1};
            char id[QUEUE_ID_BYTES] = "-g4-0123";
            struct fault fault = FAULT_INIT;
            bool is_new = false;
            if (*c != 'g')
                report_member_id("-g4-0123", (uint32_t)(*c - '0'), id);
            const struct partial p = {
                .of = id, .hour = "2026-11-22T08", .stacks = row.count, .rows = &row, .count = 1};
            REQUIRE(totals_begin(w.totals, &fault) == ERR_NONE);
            REQUIRE(totals_add(w.totals, &p, &is_new, &fault) == ERR_NONE);
            REQUIRE(totals_end(w.totals, &fault) == ERR_NONE);
        }
        CHECK_STR(counted(&w), "4 stacks, 0 bad, 4 reports: main 4,");
        close_world(&w);
    }
}

/* ---- collectors --------------------------------------------------------------------------- */

static enum status send(struct gather *g, const char *id, const char *text)
{
    struct fault fault = FAULT_INIT;
    const struct report report = report_of(id, text);
    return gather_put(g, &report, &fault);
}

/* A collector dies at call AT while it stores a group of three; all of it is sent again, to another
 * one, one by one. */
static bool store_and_die(uint32_t at, bool after)
{
    struct world w;
    struct ledger_id ids[3];
    struct report reports[3];
    const struct report *list[3];
    struct ledger *ledger = NULL;
    struct fault fault = FAULT_INIT;
    char name[40], id[QUEUE_ID_BYTES];
    size_t bytes = 0;
    bool again = false;
    (void)snprintf(name, sizeof name, "call %u, done %d", (unsigned)at, (int)after);
    test_row(name);
    open_world(&w);
    struct mutex *lock = mutex_new();
    for (uint32_t i = 0; i < COUNT_OF(ids); i++) {
        reports[i] = report_of(member_ids[i], member_texts[i]);
        list[i] = &reports[i];
        ids[i] = ledger_id_of(reports[i].id, reports[i].stacks, reports[i].bytes);
    }
    char *text = report_write_group(list, COUNT_OF(list), &w.keep, id, &bytes);
    REQUIRE(text != NULL && lock != NULL);
    revive(w.q, at, after);
    if (ledger_open(&w.q->queue, "alice", lock, &ledger, &fault) == ERR_NONE)
        (void)ledger_add(ledger, ids, COUNT_OF(ids), id, text, bytes, &again, &fault);
    ledger_free(ledger);
    mutex_free(lock);
    const bool has_died = w.q->dead;
    revive(w.q, 0, false);
    for (int turn = 0; turn < 2; turn++) {
        struct gather *g = gather_new(&w.q->queue);
        for (uint32_t i = 0; i < COUNT_OF(ids); i++)
            CHECK_EQ(send(g, member_ids[i], member_texts[i]), ERR_NONE);
        CHECK_EQ(send(g, member_ids[0], member_texts[1]), ERR_MISMATCH);
        gather_free(g);
    }
    work(&w);
    reduce(&w);
    CHECK_STR(counted(&w), "3 stacks, 0 bad, 3 reports: bad.exe 1, x.exe 1, y.exe 1,");
    close_world(&w);
    return has_died;
}

TEST(what_is_sent_again_counts_once_wherever_a_collector_dies)
{
    bool before = true, after = true;
    for (uint32_t at = 1; before || after; at++) {
        REQUIRE(at < 50);
        before = store_and_die(at, false);
        after = store_and_die(at, true);
    }
}

TEST(two_collectors_agree_on_what_has_come)
{
    struct world w;
    open_world(&w);
    struct gather *a = gather_new(&w.q->queue), *b = gather_new(&w.q->queue);
    CHECK_EQ(send(a, "alice-1", "> a\na.exe!0x1\n"), ERR_NONE);
    CHECK_EQ(send(b, "alice-2", "> a\nb.exe!0x2\n"), ERR_NONE); /* both have read the pages */
    CHECK_EQ(send(a, "alice-5", "> a\ne.exe!0x5\n"), ERR_NONE);
    CHECK_EQ(send(b, "alice-5", "> a\nf.exe!0x6\n"), ERR_MISMATCH); /* has not read the last one */
    for (int turn = 0; turn < 3; turn++) {
        CHECK_EQ(send(a, "alice-3", "> a\nc.exe!0x3\n"), ERR_NONE);
        CHECK_EQ(send(b, "alice-3", "> a\nc.exe!0x3\n"), ERR_NONE);
        CHECK_EQ(send(b, "alice-3", "> a\nd.exe!0x4\n"), ERR_MISMATCH);
        CHECK_EQ(send(b, "alice-4", "> a\nd.exe!0x4\n"), ERR_NONE);
        CHECK_EQ(send(a, "alice-4", "> a\nd.exe!0x4\n"), ERR_NONE);
        CHECK_EQ(send(a, "alice-1", "> a\nb.exe!0x2\n"), ERR_MISMATCH);
    }
    gather_free(a);
    gather_free(b);
    work(&w);
    reduce(&w);
    CHECK_STR(counted(&w),
              "5 stacks, 0 bad, 5 reports: a.exe 1, b.exe 1, c.exe 1, d.exe 1, e.exe 1,");
    close_world(&w);
}

struct sending {
    struct gather *gather;
    uint32_t first;
    uint32_t refused;
};

enum { THREADS = 24, REPORTS = 20 };

/* The same reports as another thread, some of them at the same time. */
static void send_some(void *context)
{
    struct sending *s = context;
    for (uint32_t i = 0; i < REPORTS; i++) {
        char id[40], text[64];
        const uint32_t number = s->first / 2 * REPORTS + i;
        (void)snprintf(id, sizeof id, "alice-%u", (unsigned)number);
        (void)snprintf(text, sizeof text, "> %u\nx%u.exe!0x1\n", (unsigned)number,
                       (unsigned)(number % 3 + 1));
        s->refused += send(s->gather, id, text) != ERR_NONE;
    }
}

/* What the waits of one sender take here and now, in the steps in which gather.c looks: *CONTEXT
 * becomes nanoseconds. */
static void wait_as_often(void *context)
{
    const uint64_t start_ns = clock_ns();
    for (uint32_t ms = 0; ms < REPORTS * GATHER_MS; ms += 5)
        thread_sleep_ms(5);
    *(uint64_t *)context = clock_ns() - start_ns;
}

TEST(reports_that_come_at_once_go_together_and_count_once)
{
    struct world w;
    struct thread *threads[THREADS];
    uint64_t waits_ns = 0;
    struct sending sending[THREADS];
    open_world(&w);
    struct gather *g = gather_new(&w.q->queue);
    struct thread *waiter = thread_start(wait_as_often, &waits_ns);
    REQUIRE(waiter != NULL);
    const uint64_t start_ns = clock_ns();
    for (uint32_t i = 0; i < THREADS; i++) {
        sending[i] = (struct sending){.gather = g, .first = i};
        threads[i] = thread_start(send_some, &sending[i]);
        REQUIRE(threads[i] != NULL);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        thread_join(threads[i]);
        CHECK_EQ(sending[i].refused, 0);
    }
    gather_free(g);
    const uint64_t took_ns = clock_ns() - start_ns;
    thread_join(waiter);
    /* each of a thread's reports waits for others, and is stored: ten times what waiting alone
     * takes on this machine, however busy it is */
    CHECK(took_ns < 10 * waits_ns);
    CHECK(w.q->count[QUEUE_REPORTS] < THREADS / 2 * REPORTS);
    work(&w);
    reduce(&w);
    CHECK_STR(counted(&w), "240 stacks, 0 bad, 240 reports: x1.exe 80, x2.exe 80, x3.exe 80,");
    close_world(&w);
}

/* A queue that is full: nothing is acknowledged, and what was refused is stored later, once. */
TEST(nothing_is_acknowledged_that_is_not_stored)
{
    struct world w;
    open_world(&w);
    struct gather *g = gather_new(&w.q->queue);
    for (uint32_t at = 1; at < 12; at++) {
        char id[40];
        revive(w.q, at, false);
        (void)snprintf(id, sizeof id, "alice-%u", (unsigned)at);
        const enum status first = send(g, id, "> a\nx.exe!0x1\n");
        const bool was_dead = w.q->dead;
        CHECK_EQ(first == ERR_NONE, !was_dead || w.q->count[QUEUE_REPORTS] == at);
        revive(w.q, 0, false);
        CHECK_EQ(send(g, id, "> a\nx.exe!0x1\n"), ERR_NONE);
        CHECK_EQ(w.q->count[QUEUE_REPORTS], at);
    }
    gather_free(g);
    work(&w);
    reduce(&w);
    CHECK_STR(counted(&w), "11 stacks, 0 bad, 11 reports: x.exe 11,");
    close_world(&w);
}

/* A page of a newer version says which ids have come, but not to this collector. */
TEST(nothing_is_acknowledged_beside_a_collector_of_a_newer_version)
{
    static const struct {
        const char *name, *page;
        uint32_t sent_before; /* and each of these has a page */
        enum status want;
    } rows[] = {
        {"newer, when it starts", "#ids 2 other columns\n", 0, ERR_UNSUPPORTED},
        {"newer, while it works", "#ids 2 1 \n0123456789abcdef", 2, ERR_UNSUPPORTED},
        {"of today", "#ids 1 1 \n0123456789abcdef", 1, ERR_NONE},
        {"damaged: what it knew is lost, and nothing waits for it", "#ids 1 7 \nshort", 1,
         ERR_NONE},
        {"no page at all", "something else", 1, ERR_NONE},
        {"no version", "#ids \n", 0, ERR_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        struct fault fault = FAULT_INIT;
        char name[QUEUE_ID_BYTES];
        test_row(rows[i].name);
        open_world(&w);
        struct gather *g = gather_new(&w.q->queue);
        for (uint32_t n = 0; n < rows[i].sent_before; n++)
            CHECK_EQ(send(g, member_ids[n], member_texts[n]), ERR_NONE);
        (void)snprintf(name, sizeof name, "-page-alice-%u", (unsigned)rows[i].sent_before);
        REQUIRE(w.q->queue.transport->item_set(&w.q->queue, QUEUE_NOTES, name, rows[i].page,
                                               strlen(rows[i].page), &fault) == ERR_NONE);
        for (int turn = 0; turn < 2; turn++)
            CHECK_EQ(send(g, "alice-new", "> a\nx.exe!0x1\n"), rows[i].want);
        CHECK_EQ(w.q->count[QUEUE_REPORTS], rows[i].sent_before + (rows[i].want == ERR_NONE));
        gather_free(g);
        close_world(&w);
    }
}
