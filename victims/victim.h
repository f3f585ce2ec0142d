/* For scenarios: how one is written, and how it states its truth.
 *
 *     SCENARIO(null_write, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
 *              .doors = DOOR_CRASH, .sentence = "...")
 *     {
 *         return HERE(middle(NULL)) + 1;
 *     }
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
 * A thread calls truth_thread() before its first HERE.  Scenarios do not force inlining in
 * or out, except for leaves and assembler, which must stay functions to be what they are.
 * C++ scenarios name the members of their SCENARIO in the order of the struct. */
#ifndef VICTIMS_VICTIM_H
#define VICTIMS_VICTIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <windows.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "capture/capture_port.h"
#include "capture/port.h"
#include "capture/record.h"
#include "victims/truth.h"

enum { KIND_CRASH = 1, KIND_HANG, KIND_CALM };

enum {
    EXIT_SURVIVED = 77, /* the fault did not end the program */
    EXIT_USAGE = 2,
    VICTIM_PATH_UNITS = 1024,
    DOOR_CRASH = RECORD_DOOR_VECTORED | RECORD_DOOR_UNHANDLED,
};

struct scenario {
    const char *name;
    int (*run)(void);
    uint32_t kind;
    const char *group;
    uint32_t code, wine_code;           /* expected exception code; 0: none               */
    uint32_t exit_code, wine_exit_code; /* 0: `code` for a crash, CAPTURE_EXIT_HANG for a
                                           hang, 0 calm.  wine_*: where Wine differs      */
    uint32_t doors;                     /* RECORD_DOOR_*; 0 for a crash: DOOR_CRASH, for a
                                           hang heartbeat                                 */
    bool no_case;                       /* no hook in the process sees it                 */
    bool watched;                       /* no capture inside: a watcher outside           */
    uint32_t hang_ms;                   /* hang detection; 0: 300 for a hang, else off    */
    uint32_t limit_ms;                  /* 0: 40000                                       */
    uint32_t dump_limit_ms;       /* 0: that of the capture; more also leaves out the tuned dump */
    uint32_t ring_kb;             /* memory for captures on demand; 0: none         */
    bool offsets_only;            /* no dump is written, and none is judged */
    void (*on_crash)(void);       /* handed to the capture                          */
    void (*prepare)(void);        /* runs before the capture is installed           */
    const char *(*missing)(void); /* why this host cannot show it; it returns NULL: it can */
    const char *not_built;        /* why this architecture or compiler cannot show it */
    const char *not_on_wine;      /* why Wine cannot show it; NULL: it can          */
    const char *sentence;
};

#define SCENARIO(id, ...)                                                                          \
    static int run_##id(void);                                                                     \
    static const struct scenario scenario_##id = {.name = #id, .run = run_##id, __VA_ARGS__};      \
    extern const struct scenario *const scenario_ref_##id;                                         \
    IN_SECTION("vict$m") const struct scenario *const scenario_ref_##id = &scenario_##id;          \
    static int run_##id(void)

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

/* Prints one line and flushes, so that the harness knows the fault was asked for. */
void victim_say(const char *text);

/* Prints the last line of a calm program; only scenarios that do not return call it. */
void victim_stayed_calm(void);

/* A hang is about to begin on this thread, on purpose. */
void victim_ready(void);

/* Loads plugin NAME of this variant from beside the program.  NULL: not there. */
HMODULE victim_load(const char *name);
HMODULE victim_load_file(const wchar_t *path);
void victim_plugin_path(const char *name, wchar_t path[VICTIM_PATH_UNITS]);
/* A function of a plugin; ends the program if it is missing. */
FARPROC victim_function(HMODULE plugin, const char *name);

/* The compiler must not see through these. */
extern volatile int victim_zero;
extern volatile int *volatile victim_null;

#ifdef __cplusplus
}
#endif

#endif
