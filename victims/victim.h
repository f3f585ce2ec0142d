/* For scenarios: how one is written.
 *
 *     SCENARIO(null_write, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
 *              .hooks = HOOKS_OF_A_CRASH, .sentence = "...")
 *     {
 *         return HERE(middle(NULL)) + 1;
 *     }
 *
 * HERE and its relatives state the truth: see victims/shadow.h.  Scenarios do not force inlining in
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
#include "victims/shadow.h"

enum { KIND_CRASH = 1, KIND_HANG, KIND_CALM };

enum {
    EXIT_SURVIVED = 77, /* the fault did not end the program */
    EXIT_LACKS_FILE,    /* a plugin is missing; the last line that was printed is its path */
    VICTIM_PATH_UNITS = 1024,
    HOOKS_OF_A_CRASH = RECORD_HOOK_VECTORED | RECORD_HOOK_UNHANDLED,
};

struct scenario {
    const char *name;
    int (*run)(void);
    uint32_t kind;
    const char *group;
    uint32_t code, wine_code;           /* expected exception code; 0: none               */
    uint32_t exit_code, wine_exit_code; /* 0: `code` for a crash, CAPTURE_EXIT_HANG for a
                                           hang, 0 calm.  wine_*: where Wine differs      */
    uint32_t hooks;                     /* RECORD_HOOK_*; 0 for a crash: HOOKS_OF_A_CRASH, for a
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

/* Prints one line and flushes, so that the harness knows the fault was asked for. */
void victim_say(const char *text);

/* Prints the last line of a calm program; only scenarios that do not return call it. */
void victim_stayed_calm(void);

/* A hang is about to begin on this thread, on purpose. */
void victim_ready(void);

/* Loads plugin NAME of this variant from beside the program; ends the program if it is not there.
 * NULL: it is, and cannot be loaded. */
HMODULE victim_load(const char *name);
HMODULE victim_load_file(const wchar_t *path);
void victim_plugin_path(const char *name, wchar_t path[VICTIM_PATH_UNITS]);
/* For .missing: the reason where an emulated processor raises no floating-point exceptions. */
const char *victim_without_float_traps(void);

/* A function of a plugin; ends the program if it is missing. */
FARPROC victim_function(HMODULE plugin, const char *name);

/* The compiler must not see through these. */
extern volatile int victim_zero;
extern volatile int *volatile victim_null;

#ifdef __cplusplus
}
#endif

#endif
