/* Programs and judges that keep running between questions, and turns on the processors. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "base/thread.h"
#include "base/turns.h"
#include "engine/judge_pool.h"
#include "test.h"

enum { SOON_MS = 300, LONG_MS = 20000 };

TEST(a_program_that_stays_answers_in_lines)
{
    static const struct {
        const char *name, *script, *question;
        uint32_t lines, limit_ms;
        enum status want;
        const char *answer; /* NULL: there is none */
    } rows[] = {
        {"one line", "echo 0", "x y\n", 1, LONG_MS, ERR_NONE, "x y\n"},
        {"two lines", "echo 0", "1\n2\n", 2, LONG_MS, ERR_NONE, "1\n2\n"},
        {"no line at all", "echo 0", "", 0, LONG_MS, ERR_NONE, ""},
        {"noise on its other output", "echo 5000", "x\n", 1, LONG_MS, ERR_NONE, "x\n"},
        {"it ends first", "skip\npart half", "x\n", 1, LONG_MS, ERR_IO, NULL},
        {"it says too little", "line\nsleep 100", "x\n", 2, SOON_MS, ERR_TIMEOUT, NULL},
        {"it reads nothing", "sleep 100", "x\n", 1, SOON_MS, ERR_TIMEOUT, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const argv[] = {test_actor(), rows[i].script, NULL};
        const struct process_request request = {.argv = argv};
        struct process *process = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char *answer = NULL;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(process_open(&request, &process, &fault) == ERR_NONE);
        for (int again = 0; again < 2; again++) {
            CHECK_EQ(process_ask(process, rows[i].question, rows[i].lines, rows[i].limit_ms, &keep,
                                 &answer, &fault),
                     rows[i].want);
            if (rows[i].answer == NULL)
                break;
            CHECK_STR(answer, rows[i].answer);
        }
        process_close(process); /* also ends a program that would not exit */
        arena_free(&keep);
    }
}

TEST(a_long_question)
{
    enum { LINES = 400, LINE_BYTES = 1000 };
    static const struct {
        const char *name, *script;
        uint32_t limit_ms;
        enum status want;
    } rows[] = {
        {"passes while its answer does", "echo 0", LONG_MS, ERR_NONE},
        {"that is never read", "sleep 100", SOON_MS, ERR_TIMEOUT},
    };
    struct arena keep;
    arena_init(&keep, 0);
    char *question = arena_alloc(&keep, LINES * LINE_BYTES + 1);
    REQUIRE(question != NULL);
    for (unsigned i = 0; i < LINES; i++)
        (void)snprintf(question + (size_t)i * LINE_BYTES, LINE_BYTES + 1, "%0*u\n", LINE_BYTES - 1,
                       i);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const argv[] = {test_actor(), rows[i].script, NULL};
        const struct process_request request = {.argv = argv};
        struct process *process = NULL;
        struct fault fault = FAULT_INIT;
        char *answer = NULL;
        test_row(rows[i].name);
        REQUIRE(process_open(&request, &process, &fault) == ERR_NONE);
        CHECK_EQ(process_ask(process, question, LINES, rows[i].limit_ms, &keep, &answer, &fault),
                 rows[i].want);
        CHECK(rows[i].want != ERR_NONE || (answer != NULL && strcmp(answer, question) == 0));
        process_close(process);
    }
    arena_free(&keep);
}

/* A case with one image, which is a file of the scratch folder. */
static void make_case(const char *image, const char *sha256, struct case_file *file,
                      struct crash_case *out)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), image);
    test_write(path, image, strlen(image));
    *file = (struct case_file){.role = ROLE_IMAGE, .path = image};
    (void)snprintf(file->sha256, sizeof file->sha256, "%s", sha256);
    *out = (struct crash_case){.folder = test_scratch(), .files = file, .file_count = 1};
}

TEST(a_pool_keeps_a_folder_for_each_set_of_files)
{
    static const struct {
        const char *name, *image, *sha256;
        int same_as; /* the row with the same folder; -1: a new folder */
    } rows[] = {
        {"first", "a.exe", "1", -1},          {"same", "a.exe", "1", 0},
        {"other contents", "a.exe", "2", -1}, {"other name", "b.exe", "1", -1},
        {"the first again", "a.exe", "1", 0},
    };
    struct judge_stage stages[COUNT_OF(rows)];
    struct judge_pool *pool = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    char folder[512];
    arena_init(&keep, 0);
    (void)snprintf(folder, sizeof folder, "%s/pool", test_scratch());
    REQUIRE(judge_pool_open(folder, &pool, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct case_file file;
        struct crash_case crash;
        test_row(rows[i].name);
        make_case(rows[i].image, rows[i].sha256, &file, &crash);
        REQUIRE(judge_pool_stage(pool, &crash, &keep, &stages[i], &fault) == ERR_NONE);
        CHECK(path_is_file(path_join(&keep, stages[i].folder, rows[i].image)));
        for (size_t k = 0; k < i; k++)
            CHECK_EQ(strcmp(stages[k].folder, stages[i].folder) == 0,
                     rows[i].same_as == (int)k ||
                         (rows[i].same_as >= 0 && rows[k].same_as == rows[i].same_as));
        judge_stage_close(&stages[i]);
        CHECK(path_is_folder(stages[i].folder));
    }
    judge_pool_close(pool);
    CHECK(!path_is_folder(folder));
    arena_free(&keep);
}

TEST(a_judge_that_dies_is_started_again)
{
    static const struct {
        const char *name, *script;
        bool fresh[3];
        enum status want[3];
    } rows[] = {
        {"it stays", "echo 0", {true, false, false}, {ERR_NONE, ERR_NONE, ERR_NONE}},
        {"it dies after each answer", "line", {true, true, true}, {ERR_NONE, ERR_NONE, ERR_NONE}},
        {"it never answers", "exit 1", {true, true, true}, {ERR_IO, ERR_IO, ERR_IO}},
    };
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s/pool", test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const argv[] = {test_actor(), rows[i].script, NULL};
        struct judge_pool *pool = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        REQUIRE(judge_pool_open(folder, &pool, &fault) == ERR_NONE);
        for (int k = 0; k < 3; k++) {
            char *answer = NULL;
            struct engine_result out = {0};
            CHECK_EQ(judge_pool_ask(pool, argv, "7\n", 1, &keep, &answer, &out, &fault),
                     rows[i].want[k]);
            CHECK_EQ(out.warm, !rows[i].fresh[k]);
            if (rows[i].want[k] == ERR_NONE)
                CHECK_STR(answer, "7\n");
            else
                CHECK_STR(out.why, "its program ended before it answered");
            CHECK(out.cost.total_ns > 0);
            fault_clear(&fault);
        }
        judge_pool_close(pool);
        arena_free(&keep);
    }
}

/* ---- turns ---------------------------------------------------------------------------- */

TEST(forced_turns_mark_all_that_are_out_beyond_the_processors)
{
    static const struct {
        const char *name;
        uint32_t processors, taken, forced;
        bool crowded;
    } rows[] = {
        {"one of two", 2, 1, 0, false},
        {"as many as there are", 2, 2, 0, false},
        {"forced into a free place", 2, 1, 1, false},
        {"one too many", 2, 2, 1, true},
        {"a limit above the processors", 1, 2, 0, true},
        {"only forced ones", 1, 0, 2, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct turn out[4] = {{0}};
        const uint32_t count = rows[i].taken + rows[i].forced;
        test_row(rows[i].name);
        struct turns *turns = turns_new(2, rows[i].processors);
        REQUIRE(turns != NULL);
        for (uint32_t k = 0; k < count; k++)
            k < rows[i].taken ? turns_take(turns, &out[k]) : turns_force(turns, &out[k]);
        turns_force(turns, &out[count - 1]); /* already taken: no effect */
        for (uint32_t k = 0; k < count; k++)
            turns_give(turns, &out[k]);
        for (uint32_t k = 0; k < count; k++)
            CHECK_EQ(out[k].crowded, rows[i].crowded);
        turns_give(turns, &out[0]); /* already given back: no effect */
        struct turn alone = {0};
        turns_take(turns, &alone);
        turns_give(turns, &alone);
        CHECK(!alone.crowded);
        turns_free(turns);
    }
}

TEST(each_turn_has_a_processor_of_its_own_where_there_is_one)
{
    static const struct {
        const char *name;
        uint32_t processors;
        struct {
            uint32_t wish, want;
        } turns[4]; /* want 0: there is no such turn */
    } rows[] = {
        {"one after the other", 3, {{0, 1}, {0, 2}, {0, 3}}},
        {"the requested one", 3, {{3, 3}, {2, 2}, {0, 1}}},
        {"another one, since the requested one is taken", 2, {{2, 2}, {2, 1}}},
        {"a wish for one that is not there", 2, {{9, 1}, {9, 2}}},
        {"more turns than processors share evenly", 2, {{0, 1}, {1, 2}, {2, 2}, {2, 1}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct turn out[4] = {{0}};
        test_row(rows[i].name);
        struct turns *turns = turns_new(4, rows[i].processors);
        REQUIRE(turns != NULL);
        for (size_t k = 0; k < COUNT_OF(out) && rows[i].turns[k].want != 0; k++) {
            out[k].processor = rows[i].turns[k].wish;
            turns_take(turns, &out[k]);
            CHECK_EQ(out[k].processor, rows[i].turns[k].want);
        }
        for (size_t k = 0; k < COUNT_OF(out); k++)
            turns_give(turns, &out[k]);
        struct turn forced = {.processor = rows[i].processors};
        turns_force(turns, &forced);
        CHECK_EQ(forced.processor, rows[i].processors);
        turns_give(turns, &forced);
        turns_free(turns);
    }
    struct turn uncounted = {.processor = 2};
    turns_take(NULL, &uncounted);
    CHECK_EQ(uncounted.processor, 0);
}

static void take_and_give(void *context)
{
    struct turn turn = {0};
    turns_take(context, &turn);
    turns_give(context, &turn);
}

TEST(reserved_turns_are_for_those_that_are_forced)
{
    static const struct {
        const char *name;
        uint32_t limit, reserved, forced, room; /* room: turns that can be taken */
    } rows[] = {
        {"nothing reserved", 3, 0, 0, 3},          {"one reserved", 3, 1, 0, 2},
        {"one reserved and forced", 3, 1, 1, 2},   {"more forced than reserved", 3, 1, 2, 1},
        {"all reserved: one is left", 2, 5, 0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct turn out[5] = {{0}};
        uint32_t count = 0;
        test_row(rows[i].name);
        struct turns *turns = turns_new(rows[i].limit, 5);
        REQUIRE(turns != NULL);
        turns_reserve(turns, rows[i].reserved);
        while (count < rows[i].forced)
            turns_force(turns, &out[count++]);
        for (uint32_t k = 0; k < rows[i].room; k++)
            turns_take(turns, &out[count++]); /* would wait forever */
        struct thread *one_more = thread_start(take_and_give, turns);
        thread_sleep_ms(20);
        for (uint32_t k = 0; k < count; k++) {
            CHECK(out[k].out);
            turns_give(turns, &out[k]);
        }
        thread_join(one_more);
        turns_free(turns);
    }
    turns_reserve(NULL, 1);
}

struct rush {
    struct turns *turns;
    struct mutex *lock;
    uint32_t now, most;
};

static void rush_in(void *context)
{
    struct rush *r = context;
    for (int i = 0; i < 50; i++) {
        struct turn turn = {0};
        turns_take(r->turns, &turn);
        mutex_lock(r->lock);
        r->now++;
        r->most = r->now > r->most ? r->now : r->most;
        mutex_unlock(r->lock);
        thread_sleep_ms(1);
        mutex_lock(r->lock);
        r->now--;
        mutex_unlock(r->lock);
        turns_give(r->turns, &turn);
        CHECK(!turn.crowded);
    }
}

TEST(no_more_turns_are_out_than_the_limit)
{
    struct rush r = {turns_new(2, 2), mutex_new(), 0, 0};
    struct thread *threads[5];
    REQUIRE(r.turns != NULL && r.lock != NULL);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        threads[i] = thread_start(rush_in, &r);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        thread_join(threads[i]);
    CHECK_EQ(r.now, 0);
    CHECK_EQ(r.most, 2);
    mutex_free(r.lock);
    turns_free(r.turns);
}
