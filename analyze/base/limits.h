/* Limits on input that a user may run into or that several files apply: sizes of files and
 * documents, counts within a process, depths of nesting. Input above a limit fails with ERR_LIMIT.
 * Only stacks are shortened instead, and state how many frames were left out.
 *
 * A limit that only one algorithm applies is not here. It is an enum named ..._MAX at the top of
 * that algorithm's file: `grep -rn _MAX analyze` lists them. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdint.h>

/* A stack holds at most this many frames: the first 768 and the last 256, with the number left out
 * between them. Every engine and the ground truth leave out the same frames, so stacks stay
 * comparable. */
enum { LIMIT_FRAMES = 1024, LIMIT_FRAMES_HEAD = 768, LIMIT_FRAMES_TAIL = 256 };

enum {
    LIMIT_REPORT_DUMP_BYTES = 64 << 20, /* the dump of one report that a sender uploads */
    LIMIT_INLINE_DEPTH = 256,           /* nesting of inline sites in one procedure             */
    LIMIT_SCOPE_DEPTH = 512,            /* nesting of symbol scopes in one module stream        */
    LIMIT_UNWIND_CHAIN = 32,            /* chained x64 unwind infos; a longer chain is a loop   */
    LIMIT_TYPE_DEPTH = 32,              /* nesting of types in one parameter list               */
    LIMIT_TYPE_STEPS = 4096,            /* types in one parameter list                          */
    LIMIT_PDB_STREAMS = 1 << 20,        /* streams of one PDB                                   */
    LIMIT_MODULES = 4096,               /* modules of one process                               */
    LIMIT_THREADS = 4096,               /* threads of one process                               */
    LIMIT_DUMP_ROWS = 16384,            /* modules, or threads, of a dump: some crashed of them */
    LIMIT_LINE_BYTES = 1 << 20,         /* one input line of `resolve`                          */
    LIMIT_POINTER_BYTES = 4096,         /* a file.ptr of a symbol server                        */
    LIMIT_JSON_DEPTH = 256              /* nesting of JSON, whose parser recurses on any thread */
};

#define LIMIT_ARENA_BYTES ((size_t)4 << 30)      /* one arena by default                        */
#define LIMIT_FILE_BYTES ((uint64_t)1 << 40)     /* one input file, which is mapped, not read   */
#define LIMIT_UNPACKED_BYTES ((uint64_t)8 << 30) /* the unpacked size of one packed file        */
#define LIMIT_INDEX_CODE_BYTES                                                                     \
    ((uint64_t)512 << 20) /* code that one symbol index covers           */
#define LIMIT_INDEX_CHECKED_BYTES                                                                  \
    ((size_t)2 << 20) /* the checksum of a larger index is not verified on opening */
#define LIMIT_ANSWER_BYTES ((size_t)64 << 20) /* one answer of a program that keeps running */
#define LIMIT_JSON_BYTES ((size_t)256 << 20)  /* one JSON document                           */

#endif
