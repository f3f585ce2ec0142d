/* The judges, in the order of reports. ROW(NAME) means judge_NAME, a row that is in a file
 * judge_*.c; each is declared here and an engine of the table in engines.c. `adapter` is
 * `judge:NAME`, any program that TWINSTACK_ADAPTER="NAME=COMMAND WORD..." names; README.md here
 * describes its input and its answer. */
#ifndef ENGINE_JUDGES_H
#define ENGINE_JUDGES_H

#include "engine/judge.h"

#define JUDGES(ROW)                                                                                \
    ROW(dbghelp_microsoft)                                                                         \
    ROW(dbghelp)                                                                                   \
    ROW(symbolizer)                                                                                \
    ROW(winedbg)                                                                                   \
    ROW(lldb)                                                                                      \
    ROW(dbgeng)                                                                                    \
    ROW(adapter)

#define JUDGE_DECLARATION(NAME) extern const struct judge judge_##NAME;
JUDGES(JUDGE_DECLARATION)

/* Reads TWINSTACK_ADAPTER. To be called before the first analysis, while there is one thread:
 * analyses on several threads only read it. */
void judge_adapter_configure(void);

/* The same as TWINSTACK_ADAPTER, which it replaces: "NAME=COMMAND WORD...", or a command that its
 * first word names. To be called at the same time. Fails: ERR_USAGE. */
enum status judge_adapter_set(const char *spec, struct fault *fault);

#endif
