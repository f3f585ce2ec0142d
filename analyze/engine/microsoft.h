/* Microsoft's debugger files (dbghelp.dll and what belongs to it), where the user has them: the
 * Debugging Tools for Windows, or what `./run debugger` restores; on Windows those of the system,
 * unless the user names others. Nothing here ever fetches them. */
#ifndef ENGINE_MICROSOFT_H
#define ENGINE_MICROSOFT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/cpu.h"

enum microsoft_file {
    MICROSOFT_DBGHELP,  /* symbols, StackWalk64                       */
    MICROSOFT_DBGCORE,  /* the writer of dumps                        */
    MICROSOFT_MSDIA,    /* the PDB reader that dbghelp uses           */
    MICROSOFT_DBGENG,   /* the engine of WinDbg                       */
    MICROSOFT_DBGMODEL, /* which dbgeng loads                         */
    MICROSOFT_FILE_COUNT
};

/* Reads TWINSTACK_DEBUGGER; on Windows, without it, the system's folder is taken. To be called
 * once, while there is one thread. */
void microsoft_configure(void);

/* True if no folder was named and the files are those of Windows itself, which has no msdia140.dll:
 * its dbghelp reads PDBs by itself. */
bool microsoft_is_system(void);

/* The same as TWINSTACK_DEBUGGER, which it replaces: a folder that has the files of one processor,
 * or subfolders named x64 or amd64, x86, arm64. Fails: ERR_ABSENT none of them has a dbghelp.dll;
 * ERR_LIMIT the name is too long. */
enum status microsoft_set(const char *folder, struct fault *fault);

/* The path of a file for that processor, in KEEP; NULL: the user has not named a folder, or it is
 * not there. Wine's files of these names are none. */
const char *microsoft_path(enum microsoft_file file, enum cpu cpu, struct arena *keep);

/* "10.0.29507.1001", from the file's version resource, in KEEP; NULL: it states none. */
const char *microsoft_version(const char *path, struct arena *keep);

/* "dbghelp.dll". */
const char *microsoft_file_name(enum microsoft_file file);

/* Why there is none; it says what to do. */
extern const char microsoft_why_not[];

#endif
