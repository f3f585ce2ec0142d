/* A property of damaged dumps: cutting any stream short never adds a wrong frame without a mark.
 *
 * The directory of a dump states each stream in turn shorter than it is, or past the end of the
 * file, as in a dump that was not written completely. Then every thread is walked again. A stack
 * may be missing or end earlier. A frame is marked as uncertain if it was found by a scan or the
 * frame pointer, or if it has a note; up to the first marked frame, the frames must be those of the
 * whole dump, in the same modules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "engine/dump_engine.h"
#include "symbol/store.h"
#include "test.h"

enum { CUTS = 12, THREADS_MAX = 64, SHOWN_MAX = 8 };

struct tally {
    uint32_t cuts, refused, stacks, lost, marked, wrong;
};

/* All stacks of one dump. */
struct walked {
    struct arena keep;
    struct dump_session *session;
    struct stack stacks[THREADS_MAX]; /* state STACK_FAILED: there is none */
    uint32_t ids[THREADS_MAX];
    uint32_t count;
};

static bool walk_file(const char *path, struct symbol_store *symbols, const struct walked *like,
                      struct walked *out)
{
    struct fault fault = FAULT_INIT;
    *out = (struct walked){.count = 0};
    arena_init(&out->keep, 0);
    if (dump_open(path, symbols, &out->keep, &out->session, &fault) != ERR_NONE)
        return false;
    const struct minidump *dump = dump_minidump(out->session);
    out->count = like != NULL ? like->count : dump->thread_count;
    REQUIRE(out->count <= THREADS_MAX);
    for (uint32_t i = 0; i < out->count; i++) {
        out->ids[i] = like != NULL ? like->ids[i] : dump->threads[i].id;
        fault_clear(&fault);
        if (dump_thread_stack(out->session, out->ids[i], NULL, &out->keep, &out->stacks[i],
                              &fault) != ERR_NONE)
            out->stacks[i] = (struct stack){.state = STACK_FAILED};
    }
    return true;
}

static void walked_free(struct walked *walked)
{
    dump_close(walked->session);
    arena_free(&walked->keep);
}

static bool is_marked(const struct frame *frame)
{
    return frame->note != NOTE_NONE || frame->found_by == FOUND_SCAN ||
           frame->found_by == FOUND_FRAME_POINTER;
}

static bool is_same(const struct frame *a, const struct frame *b)
{
    const char *x = a->module_name, *y = b->module_name;
    return a->pc_va == b->pc_va && a->kind == b->kind &&
           (x == y || (x != NULL && y != NULL && strcmp(x, y) == 0));
}

/* The first unmarked frame of NOW that differs from WHOLE; UINT32_MAX: none. */
static uint32_t wrong_frame(const struct stack *whole, const struct stack *now, bool *marked)
{
    for (uint32_t i = 0; i < now->frame_count; i++) {
        const struct frame *a = i < whole->frame_count ? &whole->frames[i] : NULL;
        const struct frame *b = &now->frames[i];
        const bool same = a != NULL && is_same(a, b);
        *marked = is_marked(b) && !(same && is_marked(a));
        if (*marked)
            return UINT32_MAX;
        if (!same)
            return i;
    }
    return UINT32_MAX;
}

static void compare_stacks(const char *path, const struct minidump_stream *stream, uint32_t bytes,
                           const struct walked *whole, const struct walked *now,
                           struct tally *tally)
{
    for (uint32_t i = 0; i < whole->count; i++) {
        bool marked = false;
        if (now->stacks[i].state != STACK_OK) {
            tally->lost += whole->stacks[i].state == STACK_OK;
            continue;
        }
        tally->stacks++;
        const uint32_t at = wrong_frame(&whole->stacks[i], &now->stacks[i], &marked);
        tally->marked += marked;
        if (at == UINT32_MAX || tally->wrong++ >= SHOWN_MAX)
            continue;
        const struct frame *frame = &now->stacks[i].frames[at];
        const char *name = minidump_stream_name(stream->type);
        FAIL("%s, %s of 0x%llx cut to 0x%x: thread %u, frame %u is %s 0x%llx (%s), found by %s",
             path, name != NULL ? name : "a stream", (unsigned long long)stream->place.bytes, bytes,
             whole->ids[i], at, frame->module_name != NULL ? frame->module_name : "?",
             (unsigned long long)frame->pc_va, pc_kind_name(frame->kind),
             found_by_name(frame->found_by));
    }
}

static void write_row(uint8_t *row, uint32_t bytes, uint32_t foff)
{
    for (uint32_t i = 0; i < 4; i++) {
        row[4 + i] = (uint8_t)(bytes >> (8 * i));
        row[8 + i] = (uint8_t)(foff >> (8 * i));
    }
}

/* Cuts stream NUMBER of the dump in DATA to several lengths, and then moves it past the end. */
static void cut_stream(const char *path, uint8_t *data, size_t size, struct symbol_store *symbols,
                       const struct walked *whole, uint32_t number, struct tally *tally)
{
    const struct minidump_stream *stream = &dump_minidump(whole->session)->streams[number];
    uint8_t *row = data + load_u32(data + 12) + (size_t)number * 12;
    const uint32_t all = load_u32(row + 4), foff = load_u32(row + 8);
    char copy[600];
    (void)snprintf(copy, sizeof copy, "%s/cut.dmp", test_scratch());
    for (uint32_t k = 0; k <= CUTS; k++) {
        struct walked now;
        const uint32_t bytes = (uint32_t)((uint64_t)all * k / CUTS);
        write_row(row, bytes, k < CUTS ? foff : (uint32_t)size);
        test_write(copy, data, size);
        tally->cuts++;
        if (walk_file(copy, symbols, whole, &now))
            compare_stacks(path, stream, bytes, whole, &now, tally);
        else
            tally->refused++;
        walked_free(&now);
    }
    write_row(row, all, foff);
}

TEST(a_dump_with_a_cut_stream_adds_no_frame_without_a_mark)
{
    static const char *const dumps[] = {
        "cases/inline_chain.ob0/dump.dmp",
        "cases/recursion.ob2/dump.dmp",
        "cases/inline_chain.x86-ob2/dump.dmp",
        "cases/null_call.ob2/dump.dmp",
        "cases/crash_in_dll.ob2/dump.dmp",
        "cases/crash_in_dll.ob2/dump-tuned.dmp",
        "cases/throw_uncaught.x86-ob2/dump.dmp",
        "cases/spin.ob2/dump.dmp",
        "arm64/small-1.dmp",
        "arm64/small-3.dmp",
    };
    const char *const roots[] = {test_source("corpus/symbols")};
    test_limit(120);
    for (uint32_t with_images = 0; with_images < 2; with_images++) {
        const struct symbol_store_options options = {
            .names = NAMES_SHORT, .roots = roots, .root_count = with_images};
        struct symbol_store *symbols = NULL;
        struct fault fault = FAULT_INIT;
        struct tally tally = {0};
        test_row(with_images ? "with images" : "without images");
        REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
        for (size_t i = 0; i < COUNT_OF(dumps); i++) {
            static struct walked whole;
            char path[600];
            size_t bytes;
            (void)snprintf(path, sizeof path, "%s/%s", test_source("corpus"), dumps[i]);
            uint8_t *data = test_read(path, &bytes);
            REQUIRE(walk_file(path, symbols, NULL, &whole));
            for (uint32_t s = 0; s < dump_minidump(whole.session)->stream_count; s++)
                cut_stream(dumps[i], data, bytes, symbols, &whole, s, &tally);
            walked_free(&whole);
        }
        symbol_store_close(symbols);
        CHECK(tally.cuts > 800 && tally.stacks > 1000);
        CHECK(tally.lost > 50 && tally.marked > 50);
        CHECK_EQ(tally.wrong, 0);
    }
}
