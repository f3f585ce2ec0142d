/* Workers and the reducer over a queue in memory that dies at any of its calls: every acknowledged
 * stack counts once, whatever symbols the next worker has, and only a guilty report is buried.
 *
 * Only this dies at every call: the end-to-end tests kill at moments that chance chooses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "compare/signature.h"
#include "memory_queue.h"
#include "random.h"
#include "stream/queued_report.h"
#include "stream/shadow_result.h"
#include "stream/slice.h"
#include "stream/totals.h"
#include "stream/work.h"
#include "symbol/symbol_store.h"
#include "test.h"

/* ---- symbols ---------------------------------------------------------------------------- */

enum { STACKS = 2000, STATES = 3 };
static const char *const state_names[STATES] = {"no symbols", "few long names", "a name for each"};

/* wide.exe has a function every 16 bytes, or one every 4096 bytes. Long names make a result that is
 * larger than a message. */
enum names { FEW, MANY };

static void write_symbols(const char *folder, enum names what)
{
    char path[700];
    struct fault fault = FAULT_INIT;
    const uint32_t step = what == FEW ? 4096 : 16;
    (void)snprintf(path, sizeof path, "%s/wide.pdb/0123456789ABCDEF0123456789ABCDEF1", folder);
    REQUIRE(folder_make(path, &fault) == ERR_NONE);
    (void)snprintf(path + strlen(path), sizeof path - strlen(path), "/wide.sym");
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    (void)fputs("MODULE windows x86_64 0123456789ABCDEF0123456789ABCDEF1 wide.pdb\n", file);
    for (uint32_t at = 0; at < (STACKS + 256) * 16; at += step)
        (void)fprintf(file, "FUNC %x %x 0 %s_%0900u\n", (unsigned)(0x1000 + at), (unsigned)step,
                      what == FEW ? "few" : "many", (unsigned)at);
    REQUIRE(fclose(file) == 0);
}

struct world {
    struct symbol_store *stores[STATES];
    struct signature_rules *rules;
    struct arena keep;
};

static void open_world(struct world *w)
{
    static const char rules[] = "keep module *\ndepth 1\n";
    struct fault fault = FAULT_INIT;
    arena_init(&w->keep, 0);
    for (int i = 0; i < STATES; i++) {
        const char *root = arena_printf(&w->keep, "%s/symbols%d", test_scratch(), i);
        if (i > 0)
            write_symbols(root, i == 1 ? FEW : MANY);
        const struct symbol_store_options options = {
            .roots = &root, .root_count = i > 0 ? 1 : 0, .cache = "none"};
        REQUIRE(symbol_store_open(&options, &w->stores[i], &fault) == ERR_NONE);
    }
    REQUIRE(signature_read_rules(rules, strlen(rules), &w->keep, &w->rules, &fault) == ERR_NONE);
}

static void close_world(struct world *w)
{
    for (int i = 0; i < STATES; i++)
        symbol_store_close(w->stores[i]);
    arena_free(&w->keep);
}

static void send_report(struct memory_queue *q, const char *id, const char *text, size_t bytes)
{
    const struct report report = {.id = id,
                                  .sender = "alice",
                                  .received = "2026-11-22T08:15:00Z",
                                  .stacks = text,
                                  .bytes = bytes};
    struct fault fault = FAULT_INIT;
    REQUIRE(report_put(&q->queue, &report, &fault) == ERR_NONE);
}

static void work(struct memory_queue *q, struct world *w, int state, struct work_figures *figures)
{
    struct fault fault = FAULT_INIT;
    const struct work_options options = {.queue = &q->queue,
                                         .store = w->stores[state],
                                         .rules = w->rules,
                                         .workers = 1,
                                         .renew_ms = q->waits ? 1 : 0,
                                         .idle_ms = 1,
                                         .stopping = is_over};
    (void)work_run(&options, figures, &fault);
}

static struct totals *open_totals(const char *name)
{
    char path[700];
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    (void)snprintf(path, sizeof path, "%s/%s.db", test_scratch(), name);
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    return totals;
}

/* Adds up what is there; the reducer lives. */
static void reduce(struct memory_queue *q, struct totals *totals)
{
    struct fault fault = FAULT_INIT;
    struct work_figures figures = {0};
    const struct work_options options = {.queue = &q->queue, .idle_ms = 1, .stopping = is_over};
    revive(q, 0, false);
    CHECK_EQ(reduce_run(&options, totals, &figures, &fault), ERR_NONE);
    CHECK_EQ(figures.buried, 0);
}

static void check_totals(struct totals *totals, uint64_t stacks, uint64_t reports)
{
    const struct totals_query query = {.top = 10};
    struct totals_list list;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(totals_read(totals, &query, &keep, &list, &fault) == ERR_NONE);
    CHECK_EQ(list.stacks, stacks);
    CHECK_EQ(list.reports, reports);
    arena_free(&keep);
}

static char *wide_report(size_t *bytes)
{
    enum { ROOM = STACKS * 128 };
    char *text = malloc(ROOM);
    size_t at = 0;
    REQUIRE(text != NULL);
    for (uint32_t i = 0; i < STACKS; i++)
        at += (size_t)snprintf(text + at, ROOM - at,
                               "> %u\nwide.exe!0x%x {0123456789ABCDEF0123456789ABCDEF1}\n",
                               (unsigned)i, (unsigned)(0x1000 + i * 16));
    *bytes = at;
    return text;
}

/* A worker of state A dies at call DIES_AT, the reducer runs, one of state B does the rest. Returns
 * false when A did not die: there are no more calls. */
static bool die_and_go_on(struct world *w, const char *text, size_t bytes, int a, int b,
                          uint32_t dies_at, bool dies_after)
{
    struct memory_queue *q = malloc(sizeof *q);
    struct work_figures figures = {0};
    char name[80];
    REQUIRE(q != NULL);
    (void)snprintf(name, sizeof name, "%d-%d-%u-%d", a, b, (unsigned)dies_at, (int)dies_after);
    struct totals *totals = open_totals(name);
    open_memory(q);
    send_report(q, "alice-wide", text, bytes);
    revive(q, dies_at, dies_after);
    work(q, w, a, &figures);
    const bool has_died = q->dead;
    reduce(q, totals);
    revive(q, 0, false);
    work(q, w, b, &figures);
    reduce(q, totals);
    check_totals(totals, STACKS, 1);
    CHECK_EQ(q->count[QUEUE_DEAD], 0);
    totals_close(totals);
    close_memory(q);
    free(q);
    return has_died;
}

TEST(workers_of_other_symbols_lose_and_repeat_no_stack_wherever_one_dies)
{
    struct world w;
    size_t bytes = 0;
    char *text = wide_report(&bytes);
    test_limit(240);
    open_world(&w);
    for (int a = 0; a < STATES; a++)
        for (int b = 0; b < STATES; b++)
            for (uint32_t at = 1; a != b; at++) {
                char row[160];
                (void)snprintf(row, sizeof row, "%s dies at call %u, then %s", state_names[a],
                               (unsigned)at, state_names[b]);
                test_row(row);
                const bool before = die_and_go_on(&w, text, bytes, a, b, at, false);
                const bool after = die_and_go_on(&w, text, bytes, a, b, at, true);
                if (!before && !after)
                    break;
                REQUIRE(at < 100);
            }
    close_world(&w);
    free(text);
}

TEST(a_worker_that_takes_long_renews_what_it_holds)
{
    struct world w;
    struct memory_queue *q = malloc(sizeof *q);
    struct work_figures figures = {0};
    REQUIRE(q != NULL);
    open_world(&w);
    open_memory(q);
    q->waits = true;
    send_report(q, "alice-slow", "> a\nx.exe!0x1\n", 14);
    work(q, &w, 0, &figures);
    CHECK(q->renewals > 0);
    CHECK_EQ(figures.reports, 1);
    close_memory(q);
    free(q);
    close_world(&w);
}

/* ---- reports that kill ------------------------------------------------------------------- */

static void send_many(struct memory_queue *q, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char id[32], text[64];
        (void)snprintf(id, sizeof id, "alice-%03u", (unsigned)i);
        const int bytes = snprintf(text, sizeof text, "> a\nx.exe!0x%x\n", (unsigned)(i + 1));
        send_report(q, id, text, (size_t)bytes);
    }
}

TEST(only_the_report_that_kills_its_workers_is_buried)
{
    static const struct {
        const char *name, *poison;
        uint32_t reports;
    } rows[] = {
        {"the first of a batch", "alice-000", 16},
        {"in the middle", "alice-007", 16},
        {"among more than a batch", "alice-020", 40},
        {"alone", "alice-000", 1},
    };
    struct world w;
    open_world(&w);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct memory_queue *q = malloc(sizeof *q);
        struct work_figures figures = {0};
        uint32_t deaths = 0;
        REQUIRE(q != NULL);
        test_row(rows[i].name);
        struct totals *totals = open_totals(rows[i].poison + i);
        open_memory(q);
        send_many(q, rows[i].reports);
        for (; deaths < 20; deaths++) {
            revive(q, 0, false);
            q->poison = rows[i].poison;
            work(q, &w, 0, &figures);
            if (!q->dead)
                break;
        }
        CHECK_EQ(deaths, QUEUE_DEATHS_MAX);
        CHECK_EQ(figures.buried, 1);
        REQUIRE(q->count[QUEUE_DEAD] == 1);
        CHECK_HAS(q->messages[QUEUE_DEAD][0].data, rows[i].poison);
        q->poison = NULL;
        reduce(q, totals);
        check_totals(totals, rows[i].reports - 1, rows[i].reports - 1);
        totals_close(totals);
        close_memory(q);
        free(q);
    }
    close_world(&w);
}

/* Kills at any moment, far more than reports: nothing is buried, and each is counted once. */
TEST(deaths_of_any_kind_bury_nothing)
{
    enum { REPORTS = 50, KILLS = 500 };
    struct memory_queue *q = malloc(sizeof *q);
    struct world w;
    struct work_figures figures = {0};
    uint64_t random = 50;
    REQUIRE(q != NULL);
    open_world(&w);
    open_memory(q);
    struct totals *totals = open_totals("kills");
    send_many(q, REPORTS);
    for (uint32_t i = 0; i < KILLS; i++) {
        revive(q, 1 + (uint32_t)(next_random(&random) % 24), next_random(&random) % 2 == 0);
        work(q, &w, 0, &figures);
    }
    revive(q, 0, false);
    work(q, &w, 0, &figures);
    reduce(q, totals);
    CHECK_EQ(figures.buried, 0);
    check_totals(totals, REPORTS, REPORTS);
    totals_close(totals);
    close_memory(q);
    free(q);
    close_world(&w);
}

/* A queue that is full for long is no fault of the reports that wait. */
TEST(a_full_queue_buries_nothing)
{
    struct memory_queue *q = malloc(sizeof *q);
    struct world w;
    struct work_figures figures = {0};
    REQUIRE(q != NULL);
    open_world(&w);
    open_memory(q);
    send_many(q, 3);
    for (int i = 0; i < 12; i++) {
        revive(q, 0, false);
        q->refusals = 20;
        work(q, &w, 0, &figures);
    }
    revive(q, 0, false);
    q->refusals = 0;
    work(q, &w, 0, &figures);
    struct totals *totals = open_totals("full");
    reduce(q, totals);
    CHECK_EQ(figures.buried, 0);
    check_totals(totals, 3, 3);
    totals_close(totals);
    close_memory(q);
    free(q);
    close_world(&w);
}

/* ---- large reports ------------------------------------------------------------------------ */

TEST(a_large_text_goes_in_pieces_with_ids_that_no_sender_can_choose)
{
    static const char stated[] = "# module wide.exe - 0123456789ABCDEF0123456789ABCDEF1\n";
    static const char *const ids[] = {"alice-abc", "-1-alice-abc", "alice-abc.1", "alice-1-abc"};
    const size_t room = (size_t)REPORT_PART_BYTES + 4000;
    char *text = malloc(room);
    struct memory_queue *q = malloc(sizeof *q);
    REQUIRE(text != NULL && q != NULL);
    open_memory(q);
    size_t at = (size_t)snprintf(text, room, "%s", stated);
    while (at + 64 < room)
        at += (size_t)snprintf(text + at, room - at, "> a\nwide.exe!0x%x\n", (unsigned)at);
    send_report(q, "alice-abc", text, at);
    send_report(q, "alice-abc.1", "> b\nx.exe!0x1\n", 14);
    send_report(q, "alice-1-abc", "> c\nx.exe!0x2\n", 14);
    REQUIRE(q->count[QUEUE_REPORTS] == COUNT_OF(ids));
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        const struct held *m = &q->messages[QUEUE_REPORTS][i];
        test_row(ids[i]);
        CHECK_STR(m->id, ids[i]);
        if (i < 2)
            CHECK(strncmp(strchr(m->data, '\n') + 1, stated, sizeof stated - 1) == 0);
    }
    close_memory(q);
    free(q);
    free(text);
}

/* ---- records in parts -------------------------------------------------------------------- */

TEST(a_large_record_is_assembled_and_its_parts_go_when_it_is_counted)
{
    const size_t bytes = 3 * REPORT_PART_BYTES + 17;
    char *record = malloc(bytes);
    struct memory_queue *q = malloc(sizeof *q);
    struct queue_message *m = NULL;
    struct fault fault = FAULT_INIT;
    struct report report;
    struct arena keep;
    uint32_t count = 0;
    REQUIRE(record != NULL && q != NULL);
    arena_init(&keep, 0);
    open_memory(q);
    for (size_t i = 0; i < bytes; i++)
        record[i] = "TWINREC1\n> a\n"[i % 13];
    send_report(q, "alice-large", record, bytes);
    CHECK_EQ(q->count[QUEUE_REPORTS], 1);
    REQUIRE(take(&q->queue, QUEUE_REPORTS, 1, 0, &keep, &m, &count, &fault) == ERR_NONE);
    REQUIRE(count == 1 && report_read(m[0].data, m[0].bytes, &keep, &report, &fault) == ERR_NONE);
    CHECK_EQ(report.parts, 4);
    REQUIRE(report_assemble(&q->queue, &report, &keep, &fault) == ERR_NONE);
    REQUIRE(report.bytes == bytes);
    CHECK(memcmp(report.stacks, record, bytes) == 0);
    report_drop_parts(&q->queue, &report);
    CHECK_EQ(report_assemble(&q->queue, &report, &keep, &fault), ERR_ABSENT);
    fault_clear(&fault);
    for (uint32_t i = 0; i < q->item_count; i++) { /* lost, and not because it was counted */
        free(q->items[i].data);
        q->items[i].data = NULL;
    }
    CHECK_EQ(report_assemble(&q->queue, &report, &keep, &fault), ERR_MALFORMED);
    close_memory(q);
    arena_free(&keep);
    free(q);
    free(record);
}

static enum status judge_any(void *context, const struct report *report, struct arena *keep,
                             struct shadow *out, struct fault *fault)
{
    static struct shadow_engine same = {
        .engine = "dump", .result = SHADOW_SAME, .against = "offset:rtl"};
    uint32_t *judged = context;
    (void)keep;
    CHECK(report->stacks != NULL);
    (*judged)++;
    out->verdict = "PASS";
    out->engines = &same;
    out->count = 1;
    return fault->code;
}

/* Its lease was over while its worker was stopped, or the queue was killed before it had written
 * that the message is done: the parts are gone, and it is not damaged. */
TEST(a_large_record_that_comes_again_when_it_is_counted_is_no_dead_letter)
{
    const size_t bytes = 2 * REPORT_PART_BYTES;
    char *record = malloc(bytes);
    struct memory_queue *q = malloc(sizeof *q);
    struct world w;
    struct fault fault = FAULT_INIT;
    struct work_figures figures = {0};
    uint32_t judged = 0;
    REQUIRE(record != NULL && q != NULL);
    memset(record, 'x', bytes);
    memcpy(record, "TWINREC1", 8);
    open_world(&w);
    open_memory(q);
    send_report(q, "alice-large", record, bytes);
    const struct work_options options = {.queue = &q->queue,
                                         .store = w.stores[0],
                                         .rules = w.rules,
                                         .workers = 1,
                                         .idle_ms = 1,
                                         .sample = 1,
                                         .judge = judge_any,
                                         .judge_context = &judged,
                                         .stopping = is_over};
    for (int turn = 0; turn < 3; turn++) {
        for (int c = 0; c < QUEUE_CHANNELS; c++)
            for (uint32_t i = 0; i < q->count[c] && c != QUEUE_PARTIALS; i++)
                q->messages[c][i].state = READY;
        do /* a busy machine may end it before it has looked at what it forwarded */
            CHECK_EQ(work_run(&options, &figures, &fault), ERR_NONE);
        while (has_ready(q, QUEUE_REPORTS) || has_ready(q, QUEUE_SHADOW));
        CHECK_EQ(figures.buried, 0);
        CHECK_EQ(judged, 1);
    }
    struct totals *totals = open_totals("again");
    reduce(q, totals);
    CHECK_EQ(q->count[QUEUE_DEAD], 0);
    for (uint32_t i = 0; i < q->item_count; i++)
        CHECK(q->items[i].data == NULL || q->items[i].bytes < 16);
    totals_close(totals);
    close_memory(q);
    free(q);
    free(record);
    close_world(&w);
}

/* A worker dies at call AT, and whatever was done until then, the message comes again. */
static bool die_with_record(struct world *w, const char *record, size_t bytes, uint32_t at,
                            bool after)
{
    struct memory_queue *q = malloc(sizeof *q);
    struct work_figures figures = {0};
    char name[40];
    REQUIRE(q != NULL);
    (void)snprintf(name, sizeof name, "record-%u-%d", (unsigned)at, (int)after);
    test_row(name);
    struct totals *totals = open_totals(name);
    open_memory(q);
    send_report(q, "alice-large", record, bytes);
    revive(q, at, after);
    work(q, w, 0, &figures);
    const bool has_died = q->dead;
    for (int turn = 0; turn < 2; turn++) {
        q->messages[QUEUE_REPORTS][0].state = READY;
        revive(q, 0, false);
        work(q, w, 0, &figures);
    }
    reduce(q, totals);
    CHECK_EQ(figures.buried, 0);
    check_totals(totals, 0, 1); /* it is damaged: a bad line, and no stack */
    totals_close(totals);
    close_memory(q);
    free(q);
    return has_died;
}

TEST(a_large_record_counts_once_wherever_its_worker_dies)
{
    const size_t bytes = 2 * (size_t)REPORT_PART_BYTES + 1;
    char *record = malloc(bytes);
    struct world w;
    bool before = true, after = true;
    REQUIRE(record != NULL);
    memset(record, 'x', bytes);
    memcpy(record, "TWINREC1", 8);
    open_world(&w);
    for (uint32_t at = 1; before || after; at++) {
        REQUIRE(at < 50);
        before = die_with_record(&w, record, bytes, at, false);
        after = die_with_record(&w, record, bytes, at, true);
    }
    close_world(&w);
    free(record);
}

/* ---- slices ------------------------------------------------------------------------------ */

TEST(a_slice_is_read_or_refused)
{
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"good", "#slice\t1\ta\t0\t2\t" DIGEST "\nx", ERR_NONE},
        {"newer", "#slice\t2\ta\t0\t2\t" DIGEST "\nx", ERR_UNSUPPORTED},
        {"no bytes", "#slice\t1\ta\t0\t2\t" DIGEST "\n", ERR_MALFORMED},
        {"no end", "#slice\t1\ta\t0\t2\t" DIGEST, ERR_TRUNCATED},
        {"number above count", "#slice\t1\ta\t2\t2\t" DIGEST "\nx", ERR_MALFORMED},
        {"none", "#slice\t1\ta\t0\t0\t" DIGEST "\nx", ERR_MALFORMED},
        {"too many", "#slice\t1\ta\t0\t99999\t" DIGEST "\nx", ERR_MALFORMED},
        {"a path", "#slice\t1\t../a\t0\t2\t" DIGEST "\nx", ERR_MALFORMED},
        {"no digest", "#slice\t1\ta\t0\t2\tabc\nx", ERR_MALFORMED},
        {"columns are missing", "#slice\t1\ta\t0\nx", ERR_MALFORMED},
        {"another text", "#signatures\t1\n", ERR_TRUNCATED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct slice slice;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_EQ(slice_read(rows[i].text, strlen(rows[i].text), &keep, &slice, &fault),
                 rows[i].want);
        arena_free(&keep);
    }
}

/* Two workers with other symbols made other results of one report, and each stored some slices. */
TEST(slices_of_two_results_do_not_count_together)
{
    static const char *const results[] = {"what one of them", "what the other"};
    static const struct {
        const char *name, *order; /* result and slice, in turn */
        int whole;                /* the result that the last slice makes whole; -1: none */
    } rows[] = {
        {"one slice", "a0", -1},
        {"all of one", "a0a1", 0},
        {"in the other order", "b1b0", 1},
        {"one of each", "a0b1", -1},
        {"one of each, and the rest of the first", "a0b1a1", 0},
        {"one of each, and the rest of the second", "a0b1b0", 1},
        {"one twice", "a0a0", -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct totals *totals = open_totals("slices");
        const char *whole = NULL;
        size_t bytes = 0;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
        for (const char *c = rows[i].order; *c != '\0'; c += 2) {
            const char *text = results[*c - 'a'];
            const size_t half = strlen(text) / 2;
            char digest[65];
            const uint32_t number = (uint32_t)(c[1] - '0');
            CHECK(whole == NULL);
            text_sha256(text, strlen(text), digest);
            const struct slice slice = {"alice-1",
                                        digest,
                                        number,
                                        2,
                                        text + number * half,
                                        number == 0 ? half : strlen(text) - half};
            CHECK_EQ(totals_add_slice(totals, &slice, &keep, &whole, &bytes, &fault), ERR_NONE);
        }
        CHECK((whole == NULL) == (rows[i].whole < 0));
        if (whole != NULL && rows[i].whole >= 0)
            CHECK(bytes == strlen(results[rows[i].whole]) &&
                  memcmp(whole, results[rows[i].whole], bytes) == 0);
        (void)fault_set(&fault, ERR_ABSENT, FAULT_NO_OFFSET, "nothing is kept for the next row");
        (void)totals_end(totals, &fault);
        totals_close(totals);
        arena_free(&keep);
    }
}
