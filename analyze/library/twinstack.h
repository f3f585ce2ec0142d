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
 * Ownership: a struct that a function returns, through a pointer to a pointer or as a pointer
 * without const, belongs to the caller, who frees it with the function named there; NULL may be
 * freed, too. Text in a result lives as long as the result and its symbols. Arguments are borrowed
 * during the call.
 *
 * Errors: every function that can fail returns an enum twinstack_status, and describes the failure
 * in *error, which may be NULL; what it would have returned is then NULL. All of them may fail with
 * TWINSTACK_MEMORY. Functions that take the position of a frame, an item or a thread return NULL or
 * 0 for one that does not exist. The library prints nothing and has no global state.
 *
 * Threads: several threads may use the same `symbols` at the same time, once their files are bound
 * and until they are closed. A `stack` does not change, so any number of threads may read it. One
 * thread at a time uses an `input`, a `batch` or a `dump`; several of them, with the same symbols,
 * may be used at the same time. Other functions may be called by any thread.
 *
 * Compatibility: structs that the caller makes begin with their size, results are only read through
 * functions, so both can grow without a new ABI. (A new member begins where the older struct ended:
 * what older programs have in the padding at its end is not defined.) TWINSTACK_ABI is the number
 * in the file name of the shared library. */
#ifndef TWINSTACK_H
#define TWINSTACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Windows: a DLL is built with TWINSTACK_BUILDS_DLL and used with TWINSTACK_USES_DLL. */
#if defined(_WIN32) && defined(TWINSTACK_BUILDS_DLL)
#define TWINSTACK_API __declspec(dllexport)
#elif defined(_WIN32) && defined(TWINSTACK_USES_DLL)
#define TWINSTACK_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
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
    char text[1024]; /* one sentence: file, what, offset, what to do; empty after success */
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
    TWINSTACK_INDEX_IMAGES, /* at once for images without a PDB: most belong to the system */
};

/* What a download from a symbol server has come to. */
enum twinstack_fetch_kind {
    TWINSTACK_FETCH_PROGRESS, /* of all downloads under way; at most ten per second */
    TWINSTACK_FETCH_LOADED,   /* a file came and is in the cache */
    TWINSTACK_FETCH_FAULT,    /* a wrong file, a server that does not answer, a limit */
};

struct twinstack_fetch_event {
    enum twinstack_fetch_kind kind;
    const char *name;            /* the file's place below the cache */
    const char *text;            /* one line for the user; NULL for progress */
    uint64_t bytes, total_bytes; /* progress; total 0: unknown */
    uint32_t running;            /* progress: downloads under way */
};

/* Called on any thread, one call at a time. */
typedef void twinstack_fetch_fn(void *context, const struct twinstack_fetch_event *event);

/* A file that the caller has in memory: what would be in one of `paths`. */
struct twinstack_memory {
    const char *name; /* of the file, without a folder */
    const void *data;
    size_t bytes;
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
    const char *arch;                 /* which part of fat files answers; NULL: the first */
    int offline;                      /* not 0: symbol servers are not asked, only their caches */
    uint32_t fetch_limit_ms;          /* of one download, retries included; 0: 10 minutes */
    uint32_t fetch_missing_ms;        /* how long a file counts as absent; 0: an hour */
    twinstack_fetch_fn *fetched;      /* called for downloads; or NULL */
    void *context;                    /* its first argument */
    const struct twinstack_memory *memory; /* more files, borrowed during the call: each is written
                                            * to a temporary folder, until twinstack_close */
    uint32_t memory_count;                 /* of them */
};

/* 1: NAME is an architecture for twinstack_options.arch: "arm64", "x86_64", ... */
TWINSTACK_API int twinstack_is_arch(const char *name);

/* Opens symbols; files inside folders are opened when they are first needed. OPTIONS may be NULL;
 * its texts are copied, and `fetched` is called until twinstack_close. Close *SYMBOLS with
 * twinstack_close, after all results. Fails: TWINSTACK_ABSENT a path that does not exist;
 * TWINSTACK_USAGE an option without a meaning; TWINSTACK_IO. */
TWINSTACK_API enum twinstack_status twinstack_open(const struct twinstack_options *options,
                                                   struct twinstack_symbols **symbols,
                                                   struct twinstack_error *error);
TWINSTACK_API void twinstack_close(struct twinstack_symbols *symbols);

/* Says that the file PATH has the symbols of MODULE, whatever its identity. MODULE NULL: of the
 * module that the file's own name matches, otherwise of the first that is not a system module. Call
 * it before anything is resolved. Fails: TWINSTACK_ABSENT, TWINSTACK_IO; TWINSTACK_TRUNCATED,
 * TWINSTACK_MALFORMED, TWINSTACK_UNSUPPORTED or TWINSTACK_LIMIT for what is wrong with the file. */
TWINSTACK_API enum twinstack_status twinstack_bind_pdb(struct twinstack_symbols *symbols,
                                                       const char *module, const char *path,
                                                       struct twinstack_error *error);

#define TWINSTACK_CSV_BASE 0x400000

/* The same for a table of symbols as pdbdump prints it. BASE: the load base that its addresses
 * include, usually TWINSTACK_CSV_BASE. Fails: as twinstack_bind_pdb. */
TWINSTACK_API enum twinstack_status twinstack_bind_csv(struct twinstack_symbols *symbols,
                                                       const char *module, const char *path,
                                                       uint64_t base,
                                                       struct twinstack_error *error);

/* TWINSTACK_OK: all of _NT_SYMBOL_PATH and TWINSTACK_SYMBOLS is used, which count with the option
 * system; otherwise why a part of it is not. */
TWINSTACK_API enum twinstack_status twinstack_path_fault(const struct twinstack_symbols *symbols,
                                                         struct twinstack_error *error);

/* How many symbol indexes were built since twinstack_open. NS (may be NULL): how many nanoseconds
 * that took. */
TWINSTACK_API uint32_t twinstack_indexes_built(struct twinstack_symbols *symbols, uint64_t *ns);

/* The paths of twinstack_open, and the files of twinstack_bind_pdb and twinstack_bind_csv, that
 * gave nothing to what was resolved so far, separated by commas; NULL: none. It lives as long as
 * SYMBOLS. */
TWINSTACK_API const char *twinstack_unused(struct twinstack_symbols *symbols);

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
    uint64_t offset;      /* from the start of the image; with METHOD from that of its IL */
    enum twinstack_kind kind;
    const char *mvid; /* of managed code: the GUID of the image's metadata; or NULL */
    uint32_t method;  /* of managed code: the token 0x06......; 0: none. KIND is then ignored, since
                       * the mapping to IL has already gone back by one byte */
};

/* Frames, innermost first. Inlined functions come before the function that contains them. */
struct twinstack_stack;

/* Resolves COUNT addresses, one or a whole stack, in order. An address that nothing covers gives
 * one frame without a function, and twinstack_note says why. Free *STACK with
 * twinstack_stack_free. Fails: TWINSTACK_USAGE no module name, or an id or a token that is none;
 * TWINSTACK_MEMORY. */
TWINSTACK_API enum twinstack_status
twinstack_resolve(struct twinstack_symbols *symbols, const struct twinstack_address *addresses,
                  uint32_t count, struct twinstack_stack **stack, struct twinstack_error *error);
TWINSTACK_API void twinstack_stack_free(struct twinstack_stack *stack);

/* The name that the input gives the stack; NULL: none. */
TWINSTACK_API const char *twinstack_label(const struct twinstack_stack *stack);

/* How many frames there are, inlined ones included. FRAME counts them from 0. */
TWINSTACK_API uint32_t twinstack_frame_count(const struct twinstack_stack *stack);

/* Which physical frame it belongs to: for twinstack_resolve the position in ADDRESSES. */
TWINSTACK_API uint32_t twinstack_index(const struct twinstack_stack *stack, uint32_t frame);

/* 0: the function that the compiler emitted; larger: inlined into the next frame. */
TWINSTACK_API uint32_t twinstack_inline_depth(const struct twinstack_stack *stack, uint32_t frame);

/* What kind of address it is, the name of its module, its offset, and the names of the function and
 * source file that it is in, with the line. */
TWINSTACK_API enum twinstack_kind twinstack_kind(const struct twinstack_stack *stack,
                                                 uint32_t frame);
TWINSTACK_API const char *twinstack_module(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API uint64_t twinstack_offset(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API const char *twinstack_function(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API const char *twinstack_file(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API uint32_t twinstack_line(const struct twinstack_stack *stack, uint32_t frame);

/* Of managed code: the method's token, and then twinstack_offset is one in its IL; 0: native. And
 * the MVID of the module, as in "D6FDA5EC-8D44-4036-BDB6-8B5593DB3E94"; NULL: not known. */
TWINSTACK_API uint32_t twinstack_method(const struct twinstack_stack *stack, uint32_t frame);
TWINSTACK_API const char *twinstack_mvid(const struct twinstack_stack *stack, uint32_t frame);

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

/* ---- many stacks ---- */

/* Stacks from a file or from standard input, in every form that `twinstack resolve` reads: text,
 * JSON, one JSON object per line, records of crashes, and what other tools print. */
struct twinstack_input;

enum twinstack_input_flags {
    TWINSTACK_INPUT_ADDRESSES = 1, /* lines are 0xADDRESS, in modules that `# module` lines place */
    TWINSTACK_INPUT_PROMPT = 2,    /* a text stack of which only a part has come is read in parts */
};

enum twinstack_input_form {
    TWINSTACK_INPUT_UNKNOWN, /* nothing was read yet */
    TWINSTACK_INPUT_TEXT,
    TWINSTACK_INPUT_JSON,   /* one document */
    TWINSTACK_INPUT_NDJSON, /* one object per line */
    TWINSTACK_INPUT_RECORD,
    TWINSTACK_INPUT_UTF16, /* never: text in UTF-16 is one of the others */
};

/* PATH "-": standard input. FLAGS: of enum twinstack_input_flags. Close *INPUT with
 * twinstack_input_close, after the batches that were read from it are freed or filled again. Fails:
 * TWINSTACK_ABSENT, TWINSTACK_IO. */
TWINSTACK_API enum twinstack_status twinstack_input_open(const char *path, uint32_t flags,
                                                         struct twinstack_input **input,
                                                         struct twinstack_error *error);
TWINSTACK_API void twinstack_input_close(struct twinstack_input *input);
/* The form of what was read from it last. */
TWINSTACK_API enum twinstack_input_form twinstack_input_form(const struct twinstack_input *input);
/* Of a record of a crash or hang only the stacks that the walker NAME made ("rtl", "dbghelp", ...),
 * NULL: those of the walker that counts. NAME is borrowed until the input is closed. */
TWINSTACK_API void twinstack_input_walker(struct twinstack_input *input, const char *name);
/* How many stacks of records that left out so far. */
TWINSTACK_API uint32_t twinstack_input_left(const struct twinstack_input *input);

/* Stacks that are resolved and written together. A batch is filled again and again and keeps its
 * memory, so that a stream of stacks costs no allocation per stack. */
struct twinstack_batch;

enum { TWINSTACK_BATCH_STACKS = 64 };

/* NULL: out of memory. Free it with twinstack_batch_free. */
TWINSTACK_API struct twinstack_batch *twinstack_batch_new(void);
TWINSTACK_API void twinstack_batch_free(struct twinstack_batch *batch);

/* Forgets the stacks and their text. */
TWINSTACK_API void twinstack_batch_clear(struct twinstack_batch *batch);

enum twinstack_read {
    TWINSTACK_READ_END,   /* nothing follows */
    TWINSTACK_READ_MORE,  /* the batch is full */
    TWINSTACK_READ_WAITS, /* the writer of the stream has sent no more yet */
};

/* Clears the batch and reads the next stacks into it, at most TWINSTACK_BATCH_STACKS. Input that is
 * no stack is an item with an error and does not end the stream. SYMBOLS (may be NULL): those with
 * which the batch will be resolved; batches are read in the order of the input, whatever the order
 * in which they are resolved. */
TWINSTACK_API enum twinstack_read twinstack_batch_read(struct twinstack_batch *batch,
                                                       struct twinstack_input *input,
                                                       struct twinstack_symbols *symbols);

/* Adds a stack of COUNT addresses, which are copied. LABEL may be NULL. Fails: TWINSTACK_LIMIT the
 * batch is full; as twinstack_resolve. */
TWINSTACK_API enum twinstack_status twinstack_batch_add(struct twinstack_batch *batch,
                                                        const char *label,
                                                        const struct twinstack_address *addresses,
                                                        uint32_t count,
                                                        struct twinstack_error *error);

/* How many items the batch holds. ITEM counts them from 0. */
TWINSTACK_API uint32_t twinstack_batch_count(const struct twinstack_batch *batch);

/* TWINSTACK_OK: the item is a stack; otherwise why it is none. Fails: TWINSTACK_USAGE there is no
 * such item. */
TWINSTACK_API enum twinstack_status twinstack_batch_error(const struct twinstack_batch *batch,
                                                          uint32_t item,
                                                          struct twinstack_error *error);

/* Resolves all stacks of the batch. SYMBOLS must stay open as long as the batch holds them. */
TWINSTACK_API void twinstack_batch_resolve(struct twinstack_batch *batch,
                                           struct twinstack_symbols *symbols);

/* A resolved stack, which lives until the batch changes; without frames before
 * twinstack_batch_resolve and where the item is an error. Do not free it. */
TWINSTACK_API const struct twinstack_stack *
twinstack_batch_stack(const struct twinstack_batch *batch, uint32_t item);

/* What is known of all stacks of a resolved batch. */
struct twinstack_summary {
    size_t size;       /* sizeof(struct twinstack_summary) */
    uint32_t errors;   /* items that are no stacks */
    int unresolved;    /* not 0: a frame has no function */
    int unchecked;     /* not 0: a name is from a file that was chosen by its name alone */
    const char *lack;  /* why parts of a file gave no names, as a sentence; NULL: none lacks */
    uint64_t frames;   /* of all stacks, inline ones too */
    uint64_t left_out; /* frames in the middle of stacks of more than 1,024, which are not kept */
};

/* Fills *OUT, whose size the caller has set. */
TWINSTACK_API void twinstack_batch_summary(const struct twinstack_batch *batch,
                                           struct twinstack_summary *out);

enum twinstack_form {
    TWINSTACK_FORM_TEXT,   /* for people */
    TWINSTACK_FORM_JSON,   /* one object, over several lines */
    TWINSTACK_FORM_NDJSON, /* one object, on one line */
    TWINSTACK_FORM_FOLDED, /* one line of a flame graph; errors are left out */
};

enum twinstack_write_flags {
    TWINSTACK_WRITE_COLOUR = 1,  /* text: with a terminal's colours */
    TWINSTACK_WRITE_MODULES = 2, /* JSON: with the modules that the addresses are in */
};

/* Writes a resolved batch into its own memory. FLAGS: of enum twinstack_write_flags. Fails:
 * TWINSTACK_USAGE it is not resolved. */
TWINSTACK_API enum twinstack_status twinstack_batch_write(struct twinstack_batch *batch,
                                                          enum twinstack_form form, uint32_t flags);

/* The text of COUNT items from FIRST on, one after the other, which lives until the batch changes.
 * It is not ended by 0; BYTES says how long it is. */
TWINSTACK_API const char *twinstack_batch_text(const struct twinstack_batch *batch, uint32_t first,
                                               uint32_t count, size_t *bytes);

/* ---- minidumps ---- */

struct twinstack_dump;

/* Opens a minidump. SYMBOLS (NULL: none) also give the images with which the stack is unwound.
 * Close *DUMP with twinstack_dump_close, after all its stacks and before its symbols. Fails:
 * TWINSTACK_ABSENT, TWINSTACK_IO; TWINSTACK_TRUNCATED; TWINSTACK_MALFORMED not a dump;
 * TWINSTACK_LIMIT. */
TWINSTACK_API enum twinstack_status twinstack_dump_open(struct twinstack_symbols *symbols,
                                                        const char *path,
                                                        struct twinstack_dump **dump,
                                                        struct twinstack_error *error);
TWINSTACK_API void twinstack_dump_close(struct twinstack_dump *dump);

/* How many threads the dump holds. POSITION counts them from 0, in the order of the dump. */
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

/* From now on threads are walked without the map of generated code (.NET) that the dumps of our own
 * capture contain: as any other reader walks them. */
TWINSTACK_API void twinstack_dump_ignore_code_map(struct twinstack_dump *dump);

/* TWINSTACK_OK: all of the dump can be read; otherwise why a part of it cannot. */
TWINSTACK_API enum twinstack_status twinstack_dump_damage(const struct twinstack_dump *dump,
                                                          struct twinstack_error *error);

enum twinstack_dump_part {
    TWINSTACK_DUMP_SUMMARY,   /* text: what the dump holds, and one stack; JSON: every stream */
    TWINSTACK_DUMP_STACKS,    /* the stacks of all threads, that of `thread_id` first */
    TWINSTACK_DUMP_FRAME,     /* how `frame` of one thread was found, and its caller */
    TWINSTACK_DUMP_STACKWALK, /* the stacks of all threads, always JSON, in rust-minidump's schema
                               */
    TWINSTACK_DUMP_LINT,      /* what is wrong by the format, even where this library reads it */
    TWINSTACK_DUMP_WALK,      /* TWINSTACK_DUMP_FRAME of every frame, innermost first */
};

struct twinstack_dump_request {
    size_t size; /* sizeof(struct twinstack_dump_request) */
    enum twinstack_dump_part part;
    int json;           /* not 0: one JSON document; 0: text for people */
    uint32_t thread_id; /* 0: the thread that the dump is about */
    uint32_t frame; /* the position in the walk, 0 is the innermost; inlined ones do not count */
};

/* Writes a part of the dump into its own memory. *TEXT, of BYTES bytes, is not ended by 0 and lives
 * until the next call or twinstack_dump_close: do not free it. Fails: TWINSTACK_USAGE there is no
 * such frame or part; for TWINSTACK_DUMP_FRAME and _WALK as
 * twinstack_dump_walk. */
TWINSTACK_API enum twinstack_status
twinstack_dump_write(struct twinstack_dump *dump, const struct twinstack_dump_request *request,
                     const char **text, size_t *bytes, struct twinstack_error *error);

/* The number of faults that the last TWINSTACK_DUMP_LINT found. */
TWINSTACK_API uint64_t twinstack_dump_fault_count(const struct twinstack_dump *dump);

#ifdef __cplusplus
}
#endif

#endif
