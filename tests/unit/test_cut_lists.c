/* A property of damaged dumps: cutting any stream short never adds a wrong frame without a mark.
 *
 * The directory of a dump states each stream in turn shorter than it is, or past the end of the
 * file, as in a dump that was not written completely. Then every thread is walked again. A stack
 * may be missing or end earlier. A frame is marked as uncertain if it was found by a scan or the
 * frame pointer, or if it has a note; up to the first marked frame, the frames must be those of the
 * whole dump, in the same modules. The same holds when the dump is whole and the streams of the PDB
 * are cut, by which x86 is unwound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "engine/dump_engine.h"
#include "format/pdb/msf.h"
#include "symbol/symbol_store.h"
#include "test.h"

enum { CUTS = 12, THREADS_MAX = 64, SHOWN_MAX = 8, PDB_CUTS = 6, PDB_STREAMS = 12 };

#define X86_FILES "corpus/symbols/victims-x86-ob2."
#define X86_IMAGE X86_FILES "exe/512891A75ac000/victims-x86-ob2.exe"
#define X86_PDB X86_FILES "pdb/5884E44757F723CE4C4C44205044422E1/victims-x86-ob2.pdb"

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

/* WHAT was cut to BYTES. */
static void compare_stacks(const char *path, const char *what, uint32_t bytes,
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
        FAIL("%s, %s cut to 0x%x: thread %u, frame %u is %s 0x%llx (%s), found by %s", path, what,
             bytes, whole->ids[i], at, frame->module_name != NULL ? frame->module_name : "?",
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
    const char *name = minidump_stream_name(dump_minidump(whole->session)->streams[number].type);
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
            compare_stacks(path, name != NULL ? name : "a stream", bytes, whole, &now, tally);
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

static void store_word(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Cuts STREAM of the PDB in COPY to BYTES: in the directory {streams, their bytes, their blocks},
 * whose bytes the file states at 44. */
static void cut_pdb_stream(const struct msf *msf, uint8_t *copy, uint32_t stream, uint32_t bytes)
{
    const size_t directory = (size_t)(msf->directory.data - msf->data);
    const uint32_t per_block = msf->block_bytes;
    uint8_t *sizes = copy + directory + 4, *blocks = sizes + 4 * (size_t)msf->stream_count;
    const uint32_t all = load_u32(copy + 44);
    for (uint32_t i = 0; i < stream; i++)
        blocks += 4 * (size_t)((load_u32(sizes + 4 * (size_t)i) + per_block - 1) / per_block);
    const uint32_t had = (load_u32(sizes + 4 * (size_t)stream) + per_block - 1) / per_block;
    const uint32_t left = (bytes + per_block - 1) / per_block;
    uint8_t *end = copy + directory + all;
    memmove(blocks + 4 * (size_t)left, blocks + 4 * (size_t)had,
            (size_t)(end - (blocks + 4 * (size_t)had)));
    store_word(sizes + 4 * (size_t)stream, bytes);
    store_word(copy + 44, all - 4 * (had - left));
}

static void walk_with_cut_pdb(const uint8_t *pdb, size_t pdb_bytes, uint32_t stream, uint32_t k,
                              const char *const *dumps, struct walked *wholes, struct tally *tally)
{
    char path[600], what[32];
    struct fault fault = FAULT_INIT;
    struct symbol_store *symbols = NULL;
    struct arena keep;
    struct msf msf;
    uint8_t *copy = test_copy(pdb, pdb_bytes);
    arena_init(&keep, 0);
    REQUIRE(msf_open(pdb, pdb_bytes, &keep, &msf, &fault) == ERR_NONE);
    REQUIRE(msf.directory.data >= pdb && msf.directory.data < pdb + pdb_bytes);
    const uint32_t bytes = (uint32_t)((uint64_t)msf_stream(&msf, stream).bytes * k / PDB_CUTS);
    cut_pdb_stream(&msf, copy, stream, bytes);
    (void)snprintf(path, sizeof path, "%s/victims-x86-ob2.pdb", test_scratch());
    (void)snprintf(what, sizeof what, "stream %u of the PDB", stream);
    test_write(path, copy, pdb_bytes);
    const char *const roots[] = {path, test_source(X86_IMAGE)};
    const struct symbol_store_options options = {
        .names = NAMES_SHORT, .roots = roots, .root_count = COUNT_OF(roots)};
    tally->refused += symbol_store_open(&options, &symbols, &fault) != ERR_NONE;
    for (size_t i = 0; symbols != NULL && dumps[i] != NULL; i++) {
        static struct walked now;
        (void)snprintf(path, sizeof path, "%s/%s", test_source("corpus"), dumps[i]);
        tally->cuts++;
        REQUIRE(walk_file(path, symbols, &wholes[i], &now));
        compare_stacks(dumps[i], what, bytes, &wholes[i], &now, tally);
        walked_free(&now);
    }
    symbol_store_close(symbols);
    msf_close(&msf);
    arena_free(&keep);
    free(copy);
}

TEST(a_cut_pdb_adds_no_x86_frame_without_a_mark)
{
    static const char *const dumps[] = {"cases/call_data.x86-ob2/dump.dmp",
                                        "cases/inline_chain.x86-ob2/dump.dmp",
                                        "cases/throw_uncaught.x86-ob2/dump.dmp", NULL};
    static struct walked wholes[COUNT_OF(dumps)];
    const char *const roots[] = {test_source(X86_PDB), test_source(X86_IMAGE)};
    const struct symbol_store_options options = {
        .names = NAMES_SHORT, .roots = roots, .root_count = COUNT_OF(roots)};
    struct fault fault = FAULT_INIT;
    struct symbol_store *symbols = NULL;
    struct tally tally = {0};
    size_t bytes;
    const uint8_t *pdb = test_read(test_source(X86_PDB), &bytes);
    test_limit(120);
    REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
    for (size_t i = 0; dumps[i] != NULL; i++) {
        char path[600];
        (void)snprintf(path, sizeof path, "%s/%s", test_source("corpus"), dumps[i]);
        REQUIRE(walk_file(path, symbols, NULL, &wholes[i]));
    }
    for (uint32_t stream = 1; stream < PDB_STREAMS; stream++)
        for (uint32_t k = 0; k < PDB_CUTS; k++)
            walk_with_cut_pdb(pdb, bytes, stream, k, dumps, wholes, &tally);
    for (size_t i = 0; dumps[i] != NULL; i++)
        walked_free(&wholes[i]);
    symbol_store_close(symbols);
    CHECK(tally.cuts > 100 && tally.stacks > 100 && tally.marked > 10);
    CHECK_EQ(tally.wrong, 0);
}
