/* A dead process made for tests: one image, built by hand or read from a file, and a stack whose
 * word number i holds WORLD_MARK + i, so that every value read shows where it came from. */
#ifndef TESTS_UNWIND_WORLD_H
#define TESTS_UNWIND_WORLD_H

#include "format/pe/pe.h"
#include "unwind/arm64.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"
#include "unwind/walker.h"
#include "unwind/x64.h"
#include "unwind/x86.h"

enum {
    WORLD_TEXT_RVA = 0x1000,
    WORLD_XDATA_RVA = 0x2000,
    WORLD_PDATA_RVA = 0x3000,
    WORLD_IMAGE_BYTES = 0x4000,
    WORLD_STACK_WORDS = 2048,
};
#define WORLD_BASE_VA ((uint64_t)0x140000000)
#define WORLD_STACK_VA ((uint64_t)0x100000)
#define WORLD_MARK ((uint64_t)0xaa0000)

/* Bytes of x64 unwind data. OP: one code. HEAD: the header before the codes. */
#define OP(op, info) (uint8_t)((op) | (info) << 4)
#define HEAD(version, flags, prologue, slots, fp, fp_offset)                                       \
    (uint8_t)((version) | (flags) << 3), (prologue), (slots), (uint8_t)((fp) | (fp_offset) << 4)

struct world {
    struct arena arena;
    struct module module;
    uint8_t image[WORLD_IMAGE_BYTES];
    uint64_t stack[WORLD_STACK_WORDS];
    const struct pe *file; /* replaces `image` unless NULL */
    uint32_t pdata_at, xdata_at;
    struct unwind_range missing; /* bytes of the image that are not available; empty: none */
    struct unwind_process process;
};

/* MACHINE: enum pe_machine. */
void world_init(struct world *w, uint16_t machine);
void world_init_file(struct world *w, const struct pe *pe);
void world_free(struct world *w);

/* Writes bytes into the image. */
void world_put(struct world *w, uint32_t rva, const void *bytes, size_t size);

/* Adds unwind data and returns its rva. */
uint32_t world_xdata(struct world *w, const void *bytes, size_t size);
/* Adds a row of .pdata (x64). */
void world_function(struct world *w, uint32_t begin_rva, uint32_t end_rva, uint32_t xdata_rva);
/* Adds a row of .pdata (arm64). WORD is the rva of unwind data, or a packed word. */
void world_function_arm64(struct world *w, uint32_t begin_rva, uint32_t word);

/* A walker that is about to leave a frame at RVA. Its stack pointer points to word SP_WORD, and
 * r[i] is 0x1000 + i. */
struct unwind_walker world_walker(struct world *w, enum cpu cpu, uint32_t rva, uint32_t sp_word,
                                  enum pc_kind kind, struct unwind_frame *frame);

/* What `process.breakpad` of a world may be: the file whose text world_rules() took last. */
const struct breakpad *world_breakpad(void *self, const struct module *module);
/* TEXT is borrowed; NULL: closes what was read. */
void world_rules(const char *text);

#endif
