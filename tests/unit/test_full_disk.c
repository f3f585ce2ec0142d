/* A disk that is full while something is written: one error that says so, nothing that was there is
 * lost or half new, and when there is room again the same is written as if nothing had happened.
 * The disk is a limit on the size of files, which any user may set. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/files.h"
#include "store_fixture.h"
#include "stream/durable.h"
#include "stream/queue.h"
#include "stream/totals.h"
#include "test.h"

enum { LARGE = 300000 };

/* No file may become larger than BYTES; RLIM_INFINITY: there is room again. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static const char *path_of(const char *name)
{
    static char path[700];
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), name);
    return path;
}

/* Names of the files in a folder that are not committed. */
static uint32_t temporaries(const char *folder)
{
    struct fault fault = FAULT_INIT;
    const char **names;
    struct arena keep;
    size_t count = 0;
    uint32_t found = 0;
    arena_init(&keep, 0);
    CHECK_EQ(folder_list(folder, &keep, &names, &count, &fault), ERR_NONE);
    for (size_t i = 0; i < count; i++)
        found += durable_is_temporary(names[i]);
    arena_free(&keep);
    return found;
}

static const char *text_of(const char *path, size_t *bytes)
{
    return (const char *)test_read(path, bytes);
}

/* A few bytes are written when the file is closed, many before that. */
TEST(a_file_is_written_whole_or_stays_as_it_was)
{
    static char data[LARGE];
    static const struct {
        const char *name;
        size_t bytes;
        rlim_t limit;
        enum status want;
    } rows[] = {
        {"as many bytes as may be", 1000, 1000, ERR_NONE},
        {"one more", 1001, 1000, ERR_IO},
        {"none, where there is no room", 0, 0, ERR_NONE},
        {"one, where there is no room", 1, 0, ERR_IO},
        {"many", LARGE, LARGE, ERR_NONE},
        {"more than many", LARGE, LARGE - 1, ERR_IO},
        {"many, where there is no room", LARGE, 0, ERR_IO},
    };
    memset(data, 'x', sizeof data);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        size_t bytes = 0;
        test_row(rows[i].name);
        test_write(path_of("file"), "before", 6);
        limit_files(rows[i].limit);
        const enum status got = durable_write(path_of("file"), data, rows[i].bytes, &fault);
        limit_files(RLIM_INFINITY);
        CHECK_EQ(got, rows[i].want);
        CHECK_EQ(fault.code, rows[i].want);
        CHECK_EQ(fault.reason, rows[i].want == ERR_NONE ? FAULT_NO_REASON : FAULT_FULL);
        CHECK_STR(fault.hint, rows[i].want == ERR_NONE ? NULL : "the file would become too large");
        CHECK_STR(fault.path, rows[i].want == ERR_NONE ? "" : path_of("file"));
        const char *text = text_of(path_of("file"), &bytes);
        if (rows[i].want == ERR_NONE) {
            CHECK_EQ(bytes, rows[i].bytes);
            CHECK_MEM(text, data, bytes);
        } else if (CHECK_EQ(bytes, 6)) {
            CHECK_MEM(text, "before", 6);
        }
        CHECK_EQ(temporaries(test_scratch()), 0);
    }
}

TEST(a_file_whose_name_is_a_folder_leaves_nothing)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(folder_make(path_of("file/inside"), &fault) == ERR_NONE);
    CHECK_EQ(durable_write(path_of("file"), "x", 1, &fault), ERR_IO);
    CHECK_STR(fault.path, path_of("file"));
    CHECK_EQ(fault.reason, FAULT_NO_REASON);
    CHECK_EQ(temporaries(test_scratch()), 0);
    CHECK(path_is_folder(path_of("file/inside")));
}

/* A queue in a folder: messages, and items, of which the one that is there stays. */
TEST(a_queue_refuses_what_it_has_no_room_for)
{
    static char data[LARGE];
    static const struct {
        const char *name;
        size_t bytes;
        rlim_t limit;
        bool fits;
    } rows[] = {
        {"as large as may be", 5000, 5000, true},
        {"a byte larger", 5001, 5000, false},
        {"no room", 5, 0, false},
        {"many bytes", LARGE, 5000, false},
    };
    memset(data, 'x', sizeof data);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue_message *messages = NULL;
        struct queue_item item = {NULL, 0};
        struct queue *queue = NULL;
        struct fault of_put = FAULT_INIT, of_item = FAULT_INIT, fault = FAULT_INIT;
        struct arena keep;
        char folder[700], ready[800];
        uint32_t count = 0;
        uint64_t pending = 99;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(folder, sizeof folder, "%s", path_of(rows[i].name));
        REQUIRE(queue_open_spool(folder, &queue, &fault) == ERR_NONE);
        const struct transport *t = queue->transport;
        REQUIRE(t->item_set(queue, QUEUE_NOTES, "n", "before", 6, &fault) == ERR_NONE);
        limit_files(rows[i].limit);
        (void)t->put(queue, QUEUE_REPORTS, "a", data, rows[i].bytes, &of_put);
        (void)t->item_set(queue, QUEUE_NOTES, "n", data, rows[i].bytes, &of_item);
        limit_files(RLIM_INFINITY);
        CHECK_EQ(of_put.code, rows[i].fits ? ERR_NONE : ERR_IO);
        CHECK_EQ(of_put.reason, rows[i].fits ? FAULT_NO_REASON : FAULT_FULL);
        CHECK_EQ(of_item.code, rows[i].fits ? ERR_NONE : ERR_IO);
        REQUIRE(t->item_get(queue, QUEUE_NOTES, "n", &keep, &item, &fault) == ERR_NONE);
        CHECK_EQ(item.bytes, rows[i].fits ? rows[i].bytes : 6);
        CHECK_MEM(item.data, rows[i].fits ? data : "before", item.bytes);
        CHECK(queue->pending(queue, QUEUE_REPORTS, &pending) && pending == rows[i].fits);
        (void)snprintf(ready, sizeof ready, "%s/reports/ready", folder);
        CHECK_EQ(temporaries(ready), 0);
        CHECK_EQ(t->put(queue, QUEUE_REPORTS, "a", data, rows[i].bytes, &fault), ERR_NONE);
        CHECK_EQ(t->take(queue, QUEUE_REPORTS, 8, 0, &keep, &messages, &count, &fault), ERR_NONE);
        REQUIRE(count == 1);
        CHECK_EQ(messages[0].bytes, rows[i].bytes);
        CHECK_MEM(messages[0].data, data, rows[i].bytes);
        queue_close(queue);
        arena_free(&keep);
    }
}

/* Delivered counts from 1 (queue.h), also when the count cannot be stored. */
TEST(a_message_is_delivered_where_there_is_no_room_to_count_it)
{
    struct queue_message *messages = NULL;
    struct queue *queue = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 0;
    arena_init(&keep, 0);
    REQUIRE(queue_open_spool(test_scratch(), &queue, &fault) == ERR_NONE);
    REQUIRE(queue->transport->put(queue, QUEUE_REPORTS, "a", "text", 4, &fault) == ERR_NONE);
    limit_files(0);
    const enum status got =
        queue->transport->take(queue, QUEUE_REPORTS, 8, 0, &keep, &messages, &count, &fault);
    limit_files(RLIM_INFINITY);
    CHECK_EQ(got, ERR_NONE);
    REQUIRE(count == 1);
    CHECK_MEM(messages[0].data, "text", 4);
    CHECK_EQ(messages[0].delivered, 1);
    queue_close(queue);
    arena_free(&keep);
}

static enum status add(struct totals *totals, const struct partial *partial, bool *is_new,
                       struct fault *fault)
{
    if (totals_begin(totals, fault) == ERR_NONE) {
        (void)totals_add(totals, partial, is_new, fault);
        (void)totals_end(totals, fault);
    }
    return fault->code;
}

/* The sums of a report are stored with its id or not at all. */
TEST(totals_have_a_report_whole_or_not)
{
    enum { MANY = 3000 };
    static struct signature_count many[MANY];
    static const struct signature_count one = {.text = "poke", .count = 5};
    static const struct partial first = {"a-1", "2026-11-22T08", "1.0", 5, 0, 1, &one, 1};
    static const struct partial large = {"a-2", "2026-11-22T08", "1.0", MANY, 0, 0, many, MANY};
    const struct totals_query query = {.top = 10};
    struct totals_list list;
    struct totals *totals = NULL;
    struct fault full = FAULT_INIT, fault = FAULT_INIT;
    struct arena keep;
    bool is_new = false;
    arena_init(&keep, 0);
    for (int i = 0; i < MANY; i++)
        many[i] = (struct signature_count){
            .text = arena_printf(&keep, "function_%d | main_of_a_long_name_so_that_it_is_large", i),
            .count = 1};
    REQUIRE(totals_open(path_of("totals"), true, &totals, &fault) == ERR_NONE);
    REQUIRE(add(totals, &first, &is_new, &fault) == ERR_NONE && is_new);
    limit_files(200000);
    (void)add(totals, &large, &is_new, &full);
    limit_files(RLIM_INFINITY);
    CHECK_EQ(full.code, ERR_IO);
    CHECK_EQ(full.reason, FAULT_FULL);
    CHECK_STR(full.hint, "the disk is full");
    REQUIRE(totals_read(totals, &query, &keep, &list, &fault) == ERR_NONE);
    CHECK_EQ(list.stacks, 5);
    CHECK_EQ(list.reports, 1);
    CHECK_EQ(list.signatures, 1);
    test_row("again, by the same process");
    is_new = false;
    CHECK_EQ(add(totals, &large, &is_new, &fault), ERR_NONE);
    CHECK(is_new);
    totals_close(totals);
    test_row("it is there for the next one");
    REQUIRE(totals_open(path_of("totals"), false, &totals, &fault) == ERR_NONE);
    REQUIRE(totals_read(totals, &query, &keep, &list, &fault) == ERR_NONE);
    CHECK_EQ(list.stacks, 5 + MANY);
    CHECK_EQ(list.reports, 2);
    CHECK_EQ(list.signatures, 1 + MANY);
    totals_close(totals);
    arena_free(&keep);
}

static enum status put_case(struct store *store, uint64_t run, const char *scenario,
                            const char *reason, struct fault *fault)
{
    struct run_case c = {.scenario = scenario,
                         .variant = "ob2",
                         .kind = CASE_KIND_CRASH,
                         .result = {.verdict = VERDICT_FAIL, .reason = reason, .right = ""}};
    return store_put_case(store, run, &c, fault);
}

/* A case is in the database whole or not; those before it stay, and it can be put again. */
TEST(a_database_of_runs_keeps_what_it_has)
{
    static char reason[LARGE];
    struct store *store = NULL;
    struct fault full = FAULT_INIT, fault = FAULT_INIT;
    struct run_info run = {.label = "run", .command = "c"};
    uint64_t *ids = NULL;
    struct run_case one, two;
    struct arena keep;
    uint32_t count = 0;
    memset(reason, 'x', sizeof reason - 1);
    arena_init(&keep, 0);
    REQUIRE(store_open(path_of("runs.db"), STORE_WRITE, &store, &fault) == ERR_NONE);
    REQUIRE(store_begin_run(store, &run, &keep, &fault) == ERR_NONE);
    REQUIRE(put_case(store, run.id, "one", "because", &fault) == ERR_NONE);
    limit_files(400000);
    (void)put_case(store, run.id, "two", reason, &full);
    limit_files(RLIM_INFINITY);
    CHECK_EQ(full.code, ERR_IO);
    CHECK_EQ(full.reason, FAULT_FULL);
    CHECK_STR(full.hint, "the disk is full");
    CHECK_EQ(put_case(store, run.id, "two", "shorter", &fault), ERR_NONE);
    CHECK_EQ(store_finish_run(store, run.id, RUN_COMPLETE, 1, &fault), ERR_NONE);
    store_close(store);
    REQUIRE(store_open(path_of("runs.db"), STORE_READ, &store, &fault) == ERR_NONE);
    REQUIRE(store_list_case_ids(store, run.id, &keep, &ids, &count, &fault) == ERR_NONE);
    REQUIRE(count == 2);
    REQUIRE(store_read_parts(store, ids[0], 0, &keep, &one, &fault) == ERR_NONE);
    REQUIRE(store_read_parts(store, ids[1], 0, &keep, &two, &fault) == ERR_NONE);
    CHECK_STR(one.scenario, "one");
    CHECK_STR(one.result.reason, "because");
    CHECK_STR(two.scenario, "two");
    CHECK_STR(two.result.reason, "shorter");
    store_close(store);
    arena_free(&keep);
}
