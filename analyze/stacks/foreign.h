/* Reads stacks that other tools print: rust-minidump's JSON, Breakpad's `minidump_stackwalk -m`,
 * our own resolved JSON. Also writes rust-minidump's schema. */
#ifndef STACKS_FOREIGN_H
#define STACKS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "format/minidump/minidump.h"
#include "model/stack.h"

enum foreign_form {
    FOREIGN_NONE,
    FOREIGN_RUST_MINIDUMP,
    FOREIGN_BREAKPAD_MACHINE,
    FOREIGN_RESOLVED, /* our own resolved JSON, from any program */
};

/* Detects the form of TEXT; FOREIGN_NONE: unknown. */
enum foreign_form foreign_stack_form(const char *text, size_t bytes);

/* Reads all threads, the crashed one first. Frames' pc kinds follow the tools: the first of a stack
 * is interrupted, others are returns; both tools' printed addresses are converted back to return
 * addresses. Everything is in KEEP. Fails: ERR_UNSUPPORTED unknown form; ERR_MALFORMED with the
 * offset; ERR_LIMIT. */
enum status foreign_stack_read(const char *text, size_t bytes, struct arena *keep,
                               struct stack **out, uint32_t *count, struct fault *fault);

/* Rust-minidump's names of processors. */
extern const char *const foreign_rust_cpus[CPU_COUNT];

/* The distance by which rust-minidump's address of a caller is below the return address. */
static inline uint64_t foreign_rust_back(enum cpu cpu)
{
    return cpu == CPU_ARM64 ? 4 : cpu == CPU_ARM ? 2 : 1;
}

/* Resolved stacks in our own form; see resolved.c. Also reads an answer without frames, whose form
 * foreign_stack_form() cannot recognize. The stacks keep the document's order. Fails as above. */
enum status resolved_stack_read(const char *text, size_t bytes, struct arena *keep,
                                struct stack **out, uint32_t *count, struct fault *fault);

/* Writes rust-minidump's JSON schema. STACKS are resolved, one for each thread of the dump in
 * thread order; CRASHED is the index of the crashed thread's stack, REGISTERS are those of its
 * first frame. */
void foreign_stack_write(struct json *j, const struct minidump *dump, const struct stack *stacks,
                         uint32_t stack_count, uint32_t crashed, const struct registers *registers);

#endif
