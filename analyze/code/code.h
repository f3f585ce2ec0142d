/* The instructions around an address, as text.
 *
 * An x86 instruction has 1 to 15 bytes, so that text made from a wrong first byte is wrong, and
 * looks right. Text is made only of bytes that begin with an instruction: code_align() starts at
 * the begin of a function and accepts the address only if an instruction begins or ends there.
 * Of 32-bit arm there is no text: its tables would cost each start of the program 0.1 ms (see
 * cmake/archives.sh). The functions can be called from several threads. */
#ifndef CODE_CODE_H
#define CODE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/cpu.h"
#include "model/stack.h"

enum { CODE_SHOWN_MAX = 32 }; /* bytes before the address, and as many from it on */

/* Bytes of the dead process; borrowed. */
struct code_bytes {
    enum cpu cpu;
    uint64_t at; /* address of BYTES[0], in the numbers in which targets of jumps are printed */
    const uint8_t *bytes;
    uint32_t count;
    uint32_t pc; /* the address that is asked about: an offset in BYTES, at most COUNT */
    enum pc_kind kind;
};

enum code_mark {
    CODE_UNMARKED,
    CODE_CALLS, /* the call that returns to the address */
    CODE_PC     /* the instruction at the address */
};

struct code_line {
    uint64_t at;
    const uint8_t *bytes; /* borrowed as those of struct code_bytes */
    uint32_t count;
    enum code_mark mark;
    const char *text;
};

struct code_listing {
    const struct code_line *lines;
    uint32_t count;
    /* What is unusual, as one sentence without a full stop; NULL: nothing. */
    const char *note;
};

/* CODE begins with an instruction. *START: the first of those that lie within the last
 * CODE_SHOWN_MAX bytes before the address. False: no chain of instructions leads from the first
 * byte to the address, or the processor is not known. */
bool code_align(const struct code_bytes *code, uint32_t *start);

/* The instructions of CODE, which begins with one. What follows bytes that are no instruction is
 * left out, and so is an instruction that is cut off; NOTE names the former. No line for a
 * processor that is not known. Fails: ERR_MEMORY. */
enum status code_list(const struct code_bytes *code, struct arena *keep, struct code_listing *out,
                      struct fault *fault);

const char *code_mark_name(enum code_mark mark); /* "call", "pc"; NULL: unmarked */

#endif
