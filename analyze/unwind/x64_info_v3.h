/* x64 unwind information of version 3, which states each instruction with an effect, of epilogues,
 * too.
 * Source: https://learn.microsoft.com/cpp/build/x64-unwind-information-v3 (a preview, read in the
 * edition of 2026-05-18). The kinds of canonical frames 0 and 1 are from the page of .PUSHFRAME.
 *
 *   record            OFFSET   payload                                      BYTES
 *   version:3 flags:5      0   with flag 8: high byte of the prologue's          1
 *   prologue bytes         1   offsets of the prologue's instructions   1, or 2 with flag 8, each
 *   words of payload       2   epilogues                                         -
 *   operations:5           3   operations, of 1 to 5 bytes: first the prologue's
 *   epilogues:3
 *   payload                4   epilogue
 *   at a multiple of 4:        flags:3 operations:5 (0: all as the one before)   1
 *     as in version 1          start, signed: from the part's start, or if       2
 *                              negative its end; then from the one before
 *                              byte of the pool where its operations begin       2
 *                              offset of its last instruction             1, or 2 with flag 2
 *                              offsets of its instructions                the same each
 *
 * An operation is the code of version 1 that does the same, and so are its names here. What the
 * page leaves open ends in STOP_DATA_APX: which of two registers a push of two has on top, frames
 * of other kinds, registers above 15 (which no context of a dump here has), a second frame
 * register, rax or rsp as such, an epilogue that returns to its parent, and where a save is when
 * the stack pointer moved after it (see x64_saves_are_certain). */
#ifndef UNWIND_X64_INFO_V3_H
#define UNWIND_X64_INFO_V3_H

#include "unwind/x64_info.h"

/* Reads what follows HEAD, the 4 bytes at VA; OUT has its version, flags and prologue already.
 * *TAIL_VA: what follows the record. Returns as x64_info_read() does. */
enum stop_reason x64_info_read_v3(const struct unwind_process *process, uint64_t va,
                                  const uint8_t *head, struct x64_info *out, uint64_t *tail_va);

/* The epilogue of version 3 that PC is in, its last instruction included, or NULL. *INTO: bytes
 * since its start. */
const struct x64_listed_epilogue *x64_listed_epilogue(const struct x64_info *info,
                                                      const struct unwind_entry *entry,
                                                      uint32_t pc_rva, uint32_t *into);

/* False: a save's place depends on whether offsets count from the stack pointer at its instruction
 * or, as in version 1, after all of them; the page of version 3 does not say. CODES are those still
 * to undo: between a save and the frame register, or the first of them, none moves the stack
 * pointer. */
bool x64_saves_are_certain(const struct x64_code *codes, uint32_t count);

#endif
