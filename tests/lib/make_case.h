/* Cases made from a few lines of text, for tests of comparison, store and reports.
 *
 * A stack, one frame per line, innermost first:
 *
 *     > app.exe+1005 own inner a.h:3        inlined into the next line without '>'
 *     app.exe+1005 own poke a.c:10 scan     MODULE+HEX CLASS FUNCTION FILE:LINE WORD...
 *     ntdll.dll+4a sys RtlUserThreadStart
 *
 * CLASS: own, capture, runtime, sys, generated, none.  FUNCTION "-": unknown; FILE:LINE may be
 * left out.  MODULE "?": none.  The first physical frame is at an interrupted address, the others
 * are at return addresses.
 * WORDs: interrupted, return, scan, export, none, mismatch, other_pdb, coff, public, jit,
 * ambiguous, unloaded, start=HEX (symbol distance), token=HEX (of a managed method), pc=HEX
 * (address, where the module was not where others say).
 *
 * A truth: "poke a.c:10", "tailed a.c:12 tail", "[system]", "[elided 3]". */
#ifndef TESTS_MAKE_CASE_H
#define TESTS_MAKE_CASE_H

#include "base/arena.h"
#include "model/run.h"

struct stack make_stack(struct arena *keep, const char *engine, const char *text);
struct truth *make_truth(struct arena *keep, const char *text);

/* A claim of one stack; TEXT NULL: the engine was skipped.  A line "! words" is its stop reason,
 * "!! words" the reason why it failed. */
struct engine_claim make_claim(struct arena *keep, const char *engine, bool subject,
                               const char *text);

/* A crash of scenario "null_write" in "ob2", captured, with own image app.exe. */
struct crash_case make_crash(enum case_kind kind);

#endif
