/* A property of walks: taking memory away never adds a wrong frame without a mark.
 *
 * Each walk is repeated with one range of memory hidden. The range is one that the walk read, or a
 * range of the dump that contains one, whole or either half. A frame is marked as uncertain if it
 * was found by a scan or the frame pointer, or if it has a note. Up to the first marked frame, the
 * walk must be the same as with all memory. The same holds when a module is missing from the list,
 * or when the end of a module is missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/dump.h"
#include "symbol/symbol_store.h"
#include "test.h"
#include "unwind_world.h"

enum { READS_MAX = 4096, SHOWN_MAX = 8 };

struct range {
    uint64_t start, end;
};

/* A process with a hole in its memory. It records what is read. */
struct holed {
    const struct unwind_process *inner;
    struct range hole;
    struct range unlisted; /* addresses that are in no module */
    struct range reads[READS_MAX];
    uint32_t read_count;
};

static void note_read(struct holed *h, struct range read)
{
    for (uint32_t i = 0; i < h->read_count; i++)
        if (h->reads[i].start == read.start && h->reads[i].end == read.end)
            return;
    REQUIRE(h->read_count < READS_MAX);
    h->reads[h->read_count++] = read;
}

static bool read_holed(void *self, uint64_t va, void *out, size_t bytes)
{
    struct holed *h = self;
    if (va < h->hole.end && va + bytes > h->hole.start)
        return false;
    const bool there = h->inner->read(h->inner->self, va, out, bytes);
    if (there && h->hole.start == h->hole.end)
        note_read(h, (struct range){va, va + bytes});
    return there;
}

static const struct module *module_holed(void *self, uint64_t va)
{
    const struct holed *h = self;
    if (va >= h->unlisted.start && va < h->unlisted.end)
        return NULL;
    return h->inner->module_at(h->inner->self, va);
}

static struct pdb *pdb_holed(void *self, const struct module *module)
{
    const struct holed *h = self;
    return h->inner->pdb != NULL ? h->inner->pdb(h->inner->self, module) : NULL;
}

static bool generated_holed(void *self, uint64_t va, struct unwind_entry *out)
{
    const struct holed *h = self;
    return h->inner->generated != NULL && h->inner->generated(h->inner->self, va, out);
}

static void walk(struct holed *h, const struct registers *start, enum pc_kind kind,
                 struct arena *keep, struct unwind_stack *out)
{
    struct fault fault = FAULT_INIT;
    const struct unwind_process process = {.self = h,
                                           .read = read_holed,
                                           .module_at = module_holed,
                                           .pdb = pdb_holed,
                                           .generated = generated_holed,
                                           .tables = unwind_tables_new(keep),
                                           .chains_frames = h->inner->chains_frames};
    REQUIRE(unwind_walk(&process, start, kind, keep, out, &fault) == ERR_NONE);
}

static bool is_marked(const struct unwind_frame *frame)
{
    return frame->note != NOTE_NONE || frame->found_by == FOUND_SCAN ||
           frame->found_by == FOUND_FRAME_POINTER;
}

/* The first unmarked frame of NOW that differs from WHOLE. Frames after a mark that WHOLE does not
 * have are not compared. UINT32_MAX: no such frame. */
static uint32_t wrong_frame(const struct unwind_stack *whole, const struct unwind_stack *now)
{
    for (uint32_t i = 0; i < now->frame_count; i++) {
        const struct unwind_frame *a = i < whole->frame_count ? &whole->frames[i] : NULL;
        const struct unwind_frame *b = &now->frames[i];
        const bool same = a != NULL && a->pc_va == b->pc_va && a->kind == b->kind;
        if (is_marked(b) && !(same && is_marked(a)))
            return UINT32_MAX;
        if (!same)
            return i;
    }
    return UINT32_MAX;
}

struct tally {
    uint32_t walks, wrong, shorter;
};

static void walk_with_hole(const char *name, struct holed *h, struct range hole,
                           const struct registers *start, enum pc_kind kind,
                           const struct unwind_stack *whole, struct tally *tally)
{
    struct arena keep;
    struct unwind_stack now;
    arena_init(&keep, 0);
    h->hole = hole;
    walk(h, start, kind, &keep, &now);
    const uint32_t at = wrong_frame(whole, &now);
    tally->walks++;
    tally->shorter += now.frame_count < whole->frame_count;
    if (at != UINT32_MAX && tally->wrong++ < SHOWN_MAX)
        FAIL("%s without 0x%llx to 0x%llx: frame %u is 0x%llx (%s), found by %s", name,
             (unsigned long long)hole.start, (unsigned long long)hole.end, at,
             (unsigned long long)now.frames[at].pc_va, pc_kind_name(now.frames[at].kind),
             found_by_name(now.frames[at].found_by));
    arena_free(&keep);
}

/* Repeats the walk from START, each time without one of the ranges that it read, or without one of
 * RANGES that contains such a range. */
static void walk_without_each(const char *name, const struct unwind_process *process,
                              const struct registers *start, enum pc_kind kind,
                              const struct range *ranges, uint32_t range_count, struct tally *tally)
{
    static struct holed h;
    struct arena keep;
    struct unwind_stack whole;
    arena_init(&keep, 0);
    h = (struct holed){.inner = process};
    walk(&h, start, kind, &keep, &whole);
    for (uint32_t i = 0; i < h.read_count + range_count; i++) {
        const struct range r = i < h.read_count ? h.reads[i] : ranges[i - h.read_count];
        const uint64_t middle = r.start + (r.end - r.start) / 2;
        bool is_read = i < h.read_count;
        for (uint32_t k = 0; k < h.read_count && !is_read; k++)
            is_read = h.reads[k].start < r.end && h.reads[k].end > r.start;
        if (!is_read)
            continue;
        const struct range holes[] = {r, {r.start, middle}, {middle, r.end}};
        for (size_t k = 0; k < COUNT_OF(holes); k++)
            if (holes[k].start < holes[k].end)
                walk_with_hole(name, &h, holes[k], start, kind, &whole, tally);
    }
    arena_free(&keep);
}

/* Repeats the walk from START, each time without one of the dump's modules, or without its end. */
static void walk_without_modules(const char *name, const struct dump_session *session,
                                 const struct registers *start, enum pc_kind kind,
                                 struct tally *tally)
{
    static struct holed h;
    const struct minidump *dump = dump_minidump(session);
    struct arena keep;
    struct unwind_stack whole;
    arena_init(&keep, 0);
    h = (struct holed){.inner = dump_process(session), .hole = {1, 0}};
    walk(&h, start, kind, &keep, &whole);
    for (uint32_t i = 0; i < dump->module_count; i++) {
        const struct module *m = &dump->modules[i].module;
        const struct range cuts[] = {
            {m->base_va, m->base_va + m->image_bytes},
            {m->base_va + 0x1000, m->base_va + m->image_bytes},
            {m->base_va + m->image_bytes / 2, m->base_va + m->image_bytes}};
        for (size_t k = 0; k < COUNT_OF(cuts); k++) {
            h.unlisted = cuts[k];
            walk_with_hole(name, &h, h.hole, start, kind, &whole, tally);
        }
    }
    arena_free(&keep);
}

static void cut_dump(const char *path, struct symbol_store *symbols, struct tally *tally)
{
    struct arena keep;
    struct dump_session *session = NULL;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    REQUIRE(dump_open(path, symbols, &keep, &session, &fault) == ERR_NONE);
    const struct minidump *dump = dump_minidump(session);
    struct range *ranges = ARENA_ARRAY(&keep, (size_t)dump->memory_count + 1, struct range);
    for (uint32_t i = 0; i < dump->memory_count; i++)
        ranges[i] = (struct range){dump->memory[i].start_va,
                                   dump->memory[i].start_va + dump->memory[i].place.bytes};
    for (uint32_t i = 0; i < dump->thread_count; i++) {
        struct registers start;
        enum pc_kind kind;
        fault_clear(&fault);
        if (dump_registers(session, dump->threads[i].id, &start, &kind, &fault) != ERR_NONE)
            continue;
        walk_without_each(path, dump_process(session), &start, kind, ranges, dump->memory_count,
                          tally);
        walk_without_modules(path, session, &start, kind, tally);
    }
    dump_close(session);
    arena_free(&keep);
}

/* With the images, and without them: then a walk has only what the dump holds. */
TEST(a_dump_with_less_memory_adds_no_frame_without_a_mark)
{
    static const char *const dumps[] = {
        "cases/inline_chain.ob0/dump.dmp",
        "cases/recursion.ob2/dump.dmp",
        "cases/inline_chain.x86-ob2/dump.dmp",
        "cases/null_call.ob2/dump.dmp",
        "cases/null_write.ob2/dump.dmp",
        "cases/call_data.x86-ob2/dump.dmp",
        "cases/spin.ob2/dump.dmp",
        "cases/noreturn_tail.ob2/dump.dmp",
        "cases/crash_in_dll.ob2/dump.dmp",
        "cases/inline_twice.ob2/dump.dmp",
        "cases/throw_uncaught.x86-ob2/dump.dmp",
        "arm64/small-1.dmp",
        "arm64/small-2.dmp",
        "arm64/small-3.dmp",
        "arm64/signed-1.dmp",
    };
    const char *const roots[] = {test_source("corpus/symbols")};
    test_limit(120);
    for (uint32_t with_images = 0; with_images < 2; with_images++) {
        const struct symbol_store_options options = {
            .names = NAMES_SHORT, .roots = roots, .root_count = with_images};
        struct symbol_store *symbols = NULL;
        struct fault fault = FAULT_INIT;
        struct tally tally = {0, 0, 0};
        test_row(with_images ? "with images" : "without images");
        REQUIRE(symbol_store_open(&options, &symbols, &fault) == ERR_NONE);
        for (size_t i = 0; i < COUNT_OF(dumps); i++) {
            char path[600];
            (void)snprintf(path, sizeof path, "%s/%s", test_source("corpus"), dumps[i]);
            cut_dump(path, symbols, &tally);
        }
        symbol_store_close(symbols);
        CHECK(tally.walks > 2000);
        CHECK(tally.shorter > 100); /* holes do remove frames */
        CHECK_EQ(tally.wrong, 0);
    }
}

/* A packed word: a function of 0x100 bytes, a chained frame of 32 bytes. */
#define CHAINED_32 (1u | 0x40u << 2 | 3u << 21 | 2u << 23)

enum { BEGIN = 0x1100, END = 0x1200, SECOND = 0x1300, SECOND_END = 0x1400, SP = 64 };

/* Puts a call before RVA, so that RVA is a valid return address. */
static uint64_t call_site(struct world *w, bool is_arm64, uint32_t rva)
{
    static const uint8_t x64[] = {0xe8, 0, 0, 0, 0}, arm64[] = {0, 0, 0, 0x94};
    if (is_arm64)
        world_put(w, rva - (uint32_t)sizeof arm64, arm64, sizeof arm64);
    else
        world_put(w, rva - (uint32_t)sizeof x64, x64, sizeof x64);
    return WORLD_BASE_VA + rva;
}

/* In this ntdll.dll, as in Wine's, KiUserExceptionDispatcher has no machine frame. Only its export
 * shows that its caller was interrupted. */
TEST(a_dispatcher_whose_export_is_hidden_is_marked)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)}; /* sub rsp, 0x28 */
    enum { EXPORTS = 0x2800, BYTES = 52 };
    static struct world w;
    struct tally tally = {0, 0, 0};
    uint32_t exports[BYTES / 4] = {0};
    world_init(&w, PE_MACHINE_X64);
    w.module.name = "ntdll.dll";
    exports[6] = 1; /* one name; the tables of functions, names and ordinals follow */
    exports[7] = EXPORTS + 40;
    exports[8] = EXPORTS + 44;
    exports[9] = EXPORTS + 48;
    exports[10] = BEGIN;
    exports[11] = EXPORTS + BYTES;
    world_put(&w, EXPORTS, exports, sizeof exports);
    world_put(&w, EXPORTS + BYTES, "KiUserExceptionDispatcher", 26);
    world_put(&w, 0x98 + 112, &(uint32_t){EXPORTS}, 4);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
    world_function(&w, SECOND, SECOND_END, world_xdata(&w, xdata, sizeof xdata));
    const struct registers start = {
        .cpu = CPU_X64, .pc = WORLD_BASE_VA + BEGIN + 0x40, .sp = WORLD_STACK_VA + 8 * SP};
    w.stack[SP + 5] = call_site(&w, false, SECOND + 0x50);
    w.stack[SP + 11] = 0;
    walk_without_each("dispatcher", &w.process, &start, PC_RETURN, NULL, 0, &tally);
    CHECK(tally.walks > 20);
    CHECK_EQ(tally.wrong, 0);
    world_free(&w);
}

/* What the dumps of the corpus do not cover: a thread in an epilogue, and arm64. */
TEST(a_made_process_with_less_memory_adds_no_frame_without_a_mark)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)}; /* sub rsp, 0x28 */
    static const uint8_t leaves[] = {0x48, 0x83, 0xc4, 0x28, 0xc3};
    static const struct {
        const char *name;
        uint16_t machine;
        uint32_t into;   /* bytes into the first function */
        uint32_t popped; /* stack words that its epilogue has released */
    } rows[] = {
        {"x64, body", PE_MACHINE_X64, 0x40, 0},     {"x64, prologue", PE_MACHINE_X64, 0, 5},
        {"x64, epilogue", PE_MACHINE_X64, 0x80, 0}, {"x64, ret", PE_MACHINE_X64, 0x84, 5},
        {"arm64, body", PE_MACHINE_ARM64, 0x40, 0}, {"arm64, ret", PE_MACHINE_ARM64, 0xfc, 4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct world w;
        struct tally tally = {0, 0, 0};
        const bool is_arm64 = rows[i].machine == PE_MACHINE_ARM64;
        test_row(rows[i].name);
        world_init(&w, rows[i].machine);
        struct registers start = {.cpu = is_arm64 ? CPU_ARM64 : CPU_X64,
                                  .pc = WORLD_BASE_VA + BEGIN + rows[i].into,
                                  .sp = WORLD_STACK_VA + 8 * (SP + rows[i].popped)};
        if (is_arm64) { /* stp fp, lr, [sp, #-32]!; mov fp, sp */
            world_function_arm64(&w, BEGIN, CHAINED_32);
            world_function_arm64(&w, SECOND, CHAINED_32);
            w.stack[SP] = WORLD_STACK_VA + 8 * (SP + 4);
            w.stack[SP + 1] = start.r[30] = call_site(&w, is_arm64, SECOND + 0x50);
            w.stack[SP + 5] = 0;
            start.r[29] = rows[i].popped > 0 ? w.stack[SP] : start.sp;
        } else {
            world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
            world_function(&w, SECOND, SECOND_END, world_xdata(&w, xdata, sizeof xdata));
            world_put(&w, BEGIN + 0x80, leaves, sizeof leaves);
            w.stack[SP + 5] = call_site(&w, is_arm64, SECOND + 0x50);
            w.stack[SP + 11] = 0;
        }
        walk_without_each(rows[i].name, &w.process, &start, PC_INTERRUPTED, NULL, 0, &tally);
        CHECK(tally.walks > 20);
        CHECK_EQ(tally.wrong, 0);
        world_free(&w);
    }
}
