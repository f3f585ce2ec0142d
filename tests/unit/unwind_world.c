#include "unwind_world.h"

#include <string.h>

#include "base/bytes.h"
#include "format/breakpad/breakpad.h"
#include "test.h"

static bool read_world(void *self, uint64_t va, void *out, size_t bytes)
{
    struct world *w = self;
    if (va >= WORLD_STACK_VA && va - WORLD_STACK_VA < sizeof(w->stack)) {
        uint64_t at = va - WORLD_STACK_VA;
        if (bytes > sizeof(w->stack) - at)
            return false;
        memcpy(out, (const uint8_t *)w->stack + at, bytes);
        return true;
    }
    if (va < w->module.base_va || va - w->module.base_va >= w->module.image_bytes)
        return false;
    uint64_t rva = va - w->module.base_va;
    if (rva < w->missing.end_rva && rva + bytes > w->missing.begin_rva)
        return false;
    if (w->file != NULL) {
        const uint8_t *from = pe_at(w->file, (uint32_t)rva, (uint32_t)bytes);
        if (from != NULL)
            memcpy(out, from, bytes);
        return from != NULL;
    }
    if (bytes > WORLD_IMAGE_BYTES - rva)
        return false;
    memcpy(out, w->image + rva, bytes);
    return true;
}

static const struct module *module_in_world(void *self, uint64_t va)
{
    struct world *w = self;
    bool inside = va >= w->module.base_va && va - w->module.base_va < w->module.image_bytes;
    return inside ? &w->module : NULL;
}

static void put_number(struct world *w, uint32_t rva, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        w->image[rva + i] = (uint8_t)(value >> (8 * i));
}

static void start(struct world *w)
{
    memset(w, 0, sizeof(*w));
    arena_init(&w->arena, 0);
    w->module = (struct module){.name = "world.exe",
                                .base_va = WORLD_BASE_VA,
                                .image_bytes = WORLD_IMAGE_BYTES,
                                .unloaded_at_ns = MODULE_STILL_LOADED};
    for (uint64_t i = 0; i < WORLD_STACK_WORDS; i++)
        w->stack[i] = WORLD_MARK + i;
    w->process = (struct unwind_process){.self = w,
                                         .read = read_world,
                                         .module_at = module_in_world,
                                         .tables = unwind_tables_new(&w->arena)};
}

void world_init(struct world *w, uint16_t machine)
{
    start(w);
    put_number(w, 0, 0x5a4d, 2);
    put_number(w, 60, 0x80, 4);
    put_number(w, 0x80, 0x4550, 4);
    put_number(w, 0x84, machine, 2);
    put_number(w, 0x86, 1, 2);     /* sections */
    put_number(w, 0x94, 0xf0, 2);  /* optional header */
    put_number(w, 0x98, 0x20b, 2); /* PE32+ */
    put_number(w, 0x98 + 112 + 24, WORLD_PDATA_RVA, 4);
    put_number(w, 0x188 + 8, 0x1000, 4); /* .text */
    put_number(w, 0x188 + 12, WORLD_TEXT_RVA, 4);
    put_number(w, 0x188 + 36, 0x60000020, 4);
    w->xdata_at = WORLD_XDATA_RVA;
    w->pdata_at = WORLD_PDATA_RVA;
}

void world_init_file(struct world *w, const struct pe *pe)
{
    start(w);
    w->file = pe;
    w->module.image_bytes = pe->image_bytes;
}

void world_free(struct world *w)
{
    arena_free(&w->arena);
}

void world_put(struct world *w, uint32_t rva, const void *bytes, size_t size)
{
    memcpy(w->image + rva, bytes, size);
}

uint32_t world_xdata(struct world *w, const void *bytes, size_t size)
{
    uint32_t rva = w->xdata_at;
    world_put(w, rva, bytes, size);
    w->xdata_at += ((uint32_t)size + 7) & ~7u;
    return rva;
}

static void set_directory(struct world *w)
{
    put_number(w, 0x98 + 112 + 28, w->pdata_at - WORLD_PDATA_RVA, 4);
}

void world_function(struct world *w, uint32_t begin_rva, uint32_t end_rva, uint32_t xdata_rva)
{
    put_number(w, w->pdata_at, begin_rva, 4);
    put_number(w, w->pdata_at + 4, end_rva, 4);
    put_number(w, w->pdata_at + 8, xdata_rva, 4);
    w->pdata_at += 12;
    set_directory(w);
}

void world_function_arm64(struct world *w, uint32_t begin_rva, uint32_t word)
{
    put_number(w, w->pdata_at, begin_rva, 4);
    put_number(w, w->pdata_at + 4, word, 4);
    w->pdata_at += 8;
    set_directory(w);
}

struct unwind_walker world_walker(struct world *w, enum cpu cpu, uint32_t rva, uint32_t sp_word,
                                  enum pc_kind kind, struct unwind_frame *frame)
{
    struct unwind_walker walker = {.process = &w->process, .frame = frame};
    *frame =
        (struct unwind_frame){.pc_va = w->module.base_va + rva, .module = &w->module, .kind = kind};
    walker.regs.cpu = cpu;
    walker.regs.pc = frame->pc_va;
    walker.regs.sp = WORLD_STACK_VA + (uint64_t)sp_word * 8;
    for (uint64_t i = 0; i < REG_COUNT; i++)
        walker.regs.r[i] = 0x1000 + i;
    frame->sp_va = walker.regs.sp;
    walker.caller_kind = PC_RETURN;
    walker.caller_found = FOUND_UNWIND;
    return walker;
}

static struct {
    const char *text;
    struct breakpad file;
} read_rules;

void world_rules(const char *text)
{
    breakpad_close(&read_rules.file);
    memset(&read_rules.file, 0, sizeof read_rules.file);
    read_rules.text = text;
}

const struct breakpad *world_breakpad(void *self, const struct module *module)
{
    struct fault fault = FAULT_INIT;
    (void)self;
    (void)module;
    if (read_rules.file.os == NULL)
        CHECK_EQ(breakpad_read(read_rules.text, strlen(read_rules.text), &read_rules.file, &fault),
                 ERR_NONE);
    return &read_rules.file;
}
