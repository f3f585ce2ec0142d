/* libtwinstack: names for `module!offset` frames and minidumps, as a C library.
 *
 *     struct twinstack_options options = {.size = sizeof options, .paths = paths, .path_count = 1};
 *     struct twinstack_error error;
 *     struct twinstack_symbols *symbols;
 *     if (twinstack_open(&options, &symbols, &error) != TWINSTACK_OK)
 *         fputs(error.text, stderr);
 *
 * Units: offsets are bytes from the start of a module's image; addresses are those of the dead
 * process; lines count from 1. Text is UTF-8. A pointer or number that is not known is NULL or 0.
 *
 * Ownership: what twinstack_open, twinstack_resolve, twinstack_dump_open and twinstack_dump_walk
 * return belongs to the caller, who frees it with the function named there. Text in a result lives
 * as long as the result and its symbols.
 *
 * Errors: every function that can fail returns an enum twinstack_status, and describes the failure
 * in *error, which may be NULL. The library prints nothing and has no global state.
 *
 * Threads: several threads may resolve with the same symbols at the same time. A dump is walked by
 * one thread at a time.
 *
 * Compatibility: structs that the caller makes begin with their size, results are only read through
 * functions, so both can grow without a new ABI. TWINSTACK_ABI is the number in the file name of
 * the shared library. */
#ifndef TWINSTACK_H
#define TWINSTACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TWINSTACK_API __attribute__((visibility("default")))
#else
#define TWINSTACK_API
#endif

#define TWINSTACK_ABI 0

enum twinstack_status {
    TWINSTACK_OK = 0,
    TWINSTACK_ABSENT,      /* not found: no such file, thread or stream */
    TWINSTACK_TRUNCATED,   /* the bytes end before the structure does */
    TWINSTACK_MALFORMED,   /* the bytes contradict the format */
    TWINSTACK_UNSUPPORTED, /* valid, but in a form that this library does not read */
    TWINSTACK_MISMATCH,    /* valid, but of another build */
    TWINSTACK_LIMIT,       /* larger than this library's limits */
    TWINSTACK_MEMORY,      /* an allocation failed */
    TWINSTACK_IO,          /* the operating system refused */
    TWINSTACK_USAGE,       /* a wrong argument */
    TWINSTACK_TIMEOUT,     /* a time limit passed */
};

#define TWINSTACK_NO_OFFSET UINT64_MAX

struct twinstack_error {
    uint64_t offset; /* where in the file; TWINSTACK_NO_OFFSET: unknown */
    char text[1024]; /* one sentence: file, what, offset, what to do    */
};

/* "0.1.0", of the library that runs. */
TWINSTACK_API const char *twinstack_version(void);

/* "absent", "truncated", ...: a stable word for a status. */
TWINSTACK_API const char *twinstack_status_name(enum twinstack_status status);

/* ---- symbols ---- */

struct twinstack_symbols;

/* How much of a function's name is returned. */
enum twinstack_names { TWINSTACK_NAMES_SHORT, TWINSTACK_NAMES_FULL, TWINSTACK_NAMES_DECORATED };

/* Whether symbol indexes, with which a lookup takes less than a microsecond, are kept in a cache.
 */
enum twinstack_indexing {
    TWINSTACK_INDEX_NEVER,
    TWINSTACK_INDEX_AUTO,   /* built once there were enough lookups for it to pay off */
    TWINSTACK_INDEX_ALWAYS, /* built at the first lookup */
};

struct twinstack_options {
    size_t size;                      /* sizeof(struct twinstack_options) */
    const char *const *paths;         /* files (PDB, PE, ELF, Mach-O, .sym), folders, symbol stores,
                                       * and symbol servers as in "srv*CACHE*https://..." */
    uint32_t path_count;              /* of them */
    enum twinstack_names names;       /* zero: short */
    enum twinstack_indexing indexing; /* zero: never */
    const char *cache;                /* folder of the indexes; NULL: the user's cache folder */
    int system;                       /* not 0: also where the system keeps its own symbols */
};

/* Opens symbols; files inside folders are opened when they are first needed. Close them with
 * twinstack_close, after all results. A path that does not exist is TWINSTACK_ABSENT. */
TWINSTACK_API enum twinstack_status twinstack_open(const struct twinstack_options *options,
                                                   struct twinstack_symbols **symbols,
                                                   struct twinstack_error *error);
TWINSTACK_API void twinstack_close(struct twinstack_symbols *symbols);

/* ---- stacks ---- */

enum twinstack_kind {
    TWINSTACK_INTERRUPTED, /* the thread was stopped at this address: innermost frames */
    TWINSTACK_RETURN,      /* a return address: looked up one byte earlier */
};

/* An address to resolve. Without ids any file of the module's name answers, and
 * twinstack_identity_checked says so; with them a file of another build names nothing. */
struct twinstack_address {
    size_t size;          /* sizeof(struct twinstack_address) */
    const char *module;   /* "app.exe" */
    const char *debug_id; /* GUID in 32 hexadecimal digits, then the age; or NULL */
    const char *code_id;  /* PE timestamp in 8 hexadecimal digits, then the image size; or NULL */
    uint64_t offset;      /* from the start of the image */
    enum twinstack_kind kind;
};

/* Frames, innermost first. Inlined functions come before the function that contains them. */
struct twinstack_stack;

/* Resolves COUNT addresses, one or a whole stack, in order. An address that nothing covers gives
 * one frame without a function, and twinstack_note says why. Free *STACK with
 * twinstack_stack_free. Fails: TWINSTACK_USAGE no module name; TWINSTACK_MEMORY. */
TWINSTACK_API enum twinstack_status
twinstack_resolve(struct twinstack_symbols *symbols, const struct twinstack_address *addresses,
                  uint32_t count, struct twinstack_stack **stack, struct twinstack_error *error);
TWINSTACK_API void twinstack_stack_free(struct twinstack_stack *stack);

/* How many frames there are, inlined ones included. For the functions below FRAME is less. */
TWINSTACK_API uint32_t twinstack_frame_count(const struct twinstack_stack *stack);

/* Which physical frame it belongs to: for twinstack_resolve the position in ADDRESSES. */
TWINSTACK_API uint32_t twinstack_index(const struct twinstack_stack *stack, uint32_t frame);

/* 0: the function that the compiler emitted; larger: inlined into the next frame. */
TWINSTACK_API uint32_t twinstack_inline_depth(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API enum twinstack_kind twinstack_kind(const struct twinstack_stack *stack,
                                                 uint32_t frame);
TWINSTACK_API const char *twinstack_module(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API uint64_t twinstack_offset(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API const char *twinstack_function(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API const char *twinstack_file(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API uint32_t twinstack_line(const struct twinstack_stack *stack, uint32_t frame);

/* Bytes from the start of the function's symbol. */
TWINSTACK_API uint64_t twinstack_distance(const struct twinstack_stack *stack, uint32_t frame);

/* What named it: "pdb", "pdb-public", "dwarf", "coff", "export", "breakpad", ..., "none",
 * "mismatch": there is a file, but of another build. */
TWINSTACK_API const char *twinstack_source(const struct twinstack_stack *stack, uint32_t frame);

/* How the walk found it: "context", "unwind", "leaf", "scan", ...; "given" for twinstack_resolve.
 */
TWINSTACK_API const char *twinstack_found_by(const struct twinstack_stack *stack, uint32_t frame);

/* 1: the module's identity was compared with that of the file that answered. */
TWINSTACK_API int twinstack_identity_checked(const struct twinstack_stack *stack, uint32_t frame);

/* Why something is missing, as a sentence; NULL: nothing to say. OUT receives it. */
TWINSTACK_API const char *twinstack_note(const struct twinstack_stack *stack, uint32_t frame,
                                         char *out, size_t out_bytes);

/* Why a walk ended; NULL for twinstack_resolve. */
TWINSTACK_API const char *twinstack_stop(const struct twinstack_stack *stack);

/* ---- minidumps ---- */

struct twinstack_dump;

/* Opens a minidump. SYMBOLS (NULL: none) also give the images with which the stack is unwound.
 * Close the dump with twinstack_dump_close, after all its stacks and before its symbols. */
TWINSTACK_API enum twinstack_status twinstack_dump_open(struct twinstack_symbols *symbols,
                                                        const char *path,
                                                        struct twinstack_dump **dump,
                                                        struct twinstack_error *error);
TWINSTACK_API void twinstack_dump_close(struct twinstack_dump *dump);

TWINSTACK_API uint32_t twinstack_thread_count(const struct twinstack_dump *dump);

/* The id of the POSITION-th thread; its name or NULL. */
TWINSTACK_API uint32_t twinstack_thread_id(const struct twinstack_dump *dump, uint32_t position);
TWINSTACK_API const char *twinstack_thread_name(const struct twinstack_dump *dump,
                                                uint32_t position);

/* The id of the thread that the dump is about: the one that crashed, if there is one. */
TWINSTACK_API uint32_t twinstack_suspect(const struct twinstack_dump *dump);

/* Walks a thread and names its frames. Free *STACK with twinstack_stack_free. Fails:
 * TWINSTACK_ABSENT no such thread, or it has no registers. */
TWINSTACK_API enum twinstack_status twinstack_dump_walk(struct twinstack_dump *dump,
                                                        uint32_t thread_id,
                                                        struct twinstack_stack **stack,
                                                        struct twinstack_error *error);

#ifdef __cplusplus
}
#endif

#endif
