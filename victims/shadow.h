/* A thread's shadow stack: how a scenario states its truth, beside the machine's own stack.
 *
 * HERE(expr)       notes this function, file and line, then evaluates expr (an int); put it
 *                  around every call on the way to the crash and around the crash itself.
 *                  Stores only: no call, no inline function, one source line.  What comes
 *                  after it keeps the call from becoming a jump.
 * HERE_AS(name, e) the same where __func__ is not what a PDB calls the function
 * HERE_DO(expr)    the same for an expression without a value
 * HERE_BLOCK(s)    the same for statements on one line, such as a loop
 * HERE_SYSTEM(e)   e calls into system code that will call us back: leaves a mark
 * HERE_LEAF(f, line, e)  e calls the leaf or assembler function f, which cannot note itself
 * HERE_LOST(f, line, e)  the same, and f destroys the return address: the callers are unknown
 * HERE_GENERATED(e) e calls code made at run time: leaves a mark
 * HERE_TAIL(f, line, e)  e calls f, which leaves by a jump: f's frame must be absent
 *
 * A thread calls truth_thread() before its first HERE.  truth.c holds the functions. */
#ifndef VICTIMS_SHADOW_H
#define VICTIMS_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include <windows.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "capture/port.h"
#include "victims/truth.h"

/* Exit code of a program that was used wrongly: bad arguments, more threads than a truth holds. */
enum { EXIT_USAGE = 2 };

/* Index of the thread-local slot that holds the thread's shadow stack; set at start. */
extern uint32_t truth_slot;

#define TRUTH_STACK ((struct truth_stack *)TEB_SLOT(TEB_TLS_SLOTS + sizeof(void *) * truth_slot))
#define TRUTH_TOP (TRUTH_STACK->entries[TRUTH_STACK->depth])
#define TRUTH_PUSH(func, path, at, marks)                                                          \
    (TRUTH_TOP.function = (uintptr_t)(func), TRUTH_TOP.file = (uintptr_t)(path),                   \
     TRUTH_TOP.line = (uint32_t)(at), TRUTH_TOP.flags = (marks),                                   \
     TRUTH_STACK->depth = TRUTH_STACK->depth + 1)
#define TRUTH_POP(count) (TRUTH_STACK->depth = TRUTH_STACK->depth - (count))
#define TRUTH_SELF TRUTH_PUSH(__func__, __FILE__, __LINE__, 0)
#define TRUTH_VALUE(expr, count)                                                                   \
    (TRUTH_STACK->value = (int64_t)(expr), TRUTH_POP(count), (int)TRUTH_STACK->value)

#define HERE(expr) (TRUTH_SELF, TRUTH_VALUE(expr, 1))
#define HERE_AS(name, expr) (TRUTH_PUSH(name, __FILE__, __LINE__, 0), TRUTH_VALUE(expr, 1))
#define HERE_DO(expr) (TRUTH_SELF, (expr), (void)TRUTH_POP(1))
#define HERE_BLOCK(statements)                                                                     \
    do {                                                                                           \
        TRUTH_SELF;                                                                                \
        statements TRUTH_POP(1);                                                                   \
    } while (0)
#define HERE_SYSTEM(expr) (TRUTH_SELF, TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_SYSTEM), TRUTH_VALUE(expr, 2))
#define HERE_LEAF(leaf, line, expr)                                                                \
    (TRUTH_SELF, TRUTH_PUSH(#leaf, __FILE__, line, 0), TRUTH_VALUE(expr, 2))
#define HERE_LOST(leaf, line, expr)                                                                \
    (TRUTH_SELF, TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_LOST), TRUTH_PUSH(#leaf, __FILE__, line, 0),       \
     TRUTH_VALUE(expr, 3))
#define HERE_GENERATED(expr)                                                                       \
    (TRUTH_SELF, TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_GENERATED), TRUTH_VALUE(expr, 2))
#define HERE_TAIL(jumper, line, expr)                                                              \
    (TRUTH_SELF, TRUTH_PUSH(#jumper, __FILE__, line, TRUTH_FLAG_TAIL), TRUTH_VALUE(expr, 2))

/* Gives the calling thread a shadow stack.  SUSPECT: the one that will crash or hang. */
void truth_thread(const char *role, bool suspect);

/* Depth now, and back to it: for what leaves frames without returning. */
uint32_t truth_depth(void);
void truth_cut(uint32_t depth);

/* A copy of TEXT that outlives the process, for frames whose texts are in no image; "": no room. */
const char *truth_keep_text(const char *text);

/* Opens the launcher's mapping, or a private one if there is no launcher.  False: neither could be
 * had. */
bool truth_start(void);

/* Copies the constants of the loaded image at BASE, so that names and paths outlive the process. */
void truth_image(const void *base);

#ifdef __cplusplus
}
#endif

#endif
