/* Breakpad symbol files (.sym): one text line per record. Addresses are hexadecimal and count from
 * the image's base.
 *
 *     MODULE os arch id name
 *     INFO CODE_ID id [image name]
 *     FILE number name
 *     INLINE_ORIGIN number name                     older: number file name
 *     FUNC [m] address bytes parameter_bytes name   its lines and INLINE records follow
 *     address bytes line file                       a line of the last FUNC
 *     INLINE level line file origin [address bytes]...   older: level line origin [...]
 *     PUBLIC [m] address parameter_bytes name
 *     STACK CFI INIT address bytes rules            unwind data; the rules hold for the range,
 *     STACK CFI address rules                       changed from this address on
 *     STACK WIN type address bytes prologue epilogue parameters saved locals stack_max
 *               has_program program|uses_ebp        unwind data of x86, from PDBs
 * Source: https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md; the
 * older forms are those of Breakpad's SymbolParseHelper.
 *
 * A damaged line is skipped; `damaged` counts them. */
#ifndef FORMAT_BREAKPAD_H
#define FORMAT_BREAKPAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/limits.h"
#include "model/module.h"

struct breakpad_line {
    uint64_t rva, end;
    uint32_t line, file;
};

/* One range of an inlined call. */
struct breakpad_inline {
    uint64_t rva, end;
    uint32_t level, origin;
    uint32_t line, file; /* of the call; file BREAKPAD_NO_FILE: not stated */
};
#define BREAKPAD_NO_FILE UINT32_MAX

struct breakpad_function {
    uint64_t rva, end;
    const char *name;
    uint32_t params_bytes;
    uint32_t first_line, line_count;     /* sorted by address within the function */
    uint32_t first_inline, inline_count; /* in the file's order */
};

struct breakpad_public {
    uint64_t rva;
    uint32_t params_bytes;
    const char *name;
};

struct breakpad_name {
    uint32_t number;
    uint32_t file; /* of an origin in the older form; else BREAKPAD_NO_FILE */
    const char *name;
};

enum breakpad_stack_kind { STACK_CFI_INIT, STACK_CFI_NEXT, STACK_WIN_PROGRAM, STACK_WIN_FPO };
enum { BREAKPAD_STACK_KINDS = STACK_WIN_FPO + 1 };

/* A STACK record; its rules or sizes are still text. */
struct breakpad_stack {
    uint64_t rva, end; /* of STACK_CFI_NEXT, END is not used */
    enum breakpad_stack_kind kind;
    uint32_t bytes;   /* of the text */
    uint32_t around;  /* position + 1 of the smallest record of this kind around it; 0: none */
    const char *text; /* borrowed from the file: what follows the sizes (CFI) or the range (WIN) */
};

struct breakpad {
    const char *os, *arch;
    const char *module;  /* file name of the PDB or image */
    const char *image;   /* file name of the image, from INFO CODE_ID; or NULL */
    const char *code_id; /* from INFO CODE_ID; or NULL */
    char debug_id[DEBUG_ID_BYTES];
    struct breakpad_function *functions; /* sorted by address; equal ones stay in file order */
    struct breakpad_line *lines;
    struct breakpad_inline *inlines;
    struct breakpad_public *publics; /* sorted by address */
    struct breakpad_name *files, *origins;
    struct breakpad_stack *stacks;                   /* sorted by kind, then by address */
    uint32_t stack_starts[BREAKPAD_STACK_KINDS + 1]; /* where each kind starts in STACKS */
    uint32_t function_count, line_count, inline_count, public_count, file_count, origin_count;
    uint32_t stack_count;
    uint32_t function_room, line_room, inline_room, public_room, file_room, origin_room, stack_room;
    uint32_t damaged;                  /* lines that could not be read */
    uint32_t current;                  /* function that the next line is of */
    const char *skimmed, *skimmed_end; /* the text, after breakpad_skim(); else NULL */
    struct arena names;                /* owned */
};

bool breakpad_recognize(const void *data, size_t bytes);

/* Reads only the identity: the MODULE line and INFO CODE_ID. Call breakpad_close() even after a
 * fault. Fails: ERR_UNSUPPORTED not a symbol file; ERR_MALFORMED incomplete MODULE line;
 * ERR_MEMORY. */
enum status breakpad_read_identity(const void *data, size_t bytes, struct breakpad *out,
                                   struct fault *fault);

/* Reads the whole file. DATA must outlive the struct (for STACK records). Fails: as above. */
enum status breakpad_read(const void *data, size_t bytes, struct breakpad *out,
                          struct fault *fault);
void breakpad_close(struct breakpad *file);

/* Reads of a file only where functions, publics, files and origins are, a tenth of it; their names
 * are not read yet. The memory of MAP is given back. MAP must outlive the struct, of which only
 * breakpad_load() makes use. Fails: as breakpad_read(). */
enum status breakpad_skim(const struct file_map *map, struct breakpad *out, struct fault *fault);

/* Reads what breakpad_lookup() needs for RVA. NAMED is called with each name of a function or
 * public that is read, and may change it. Fails: ERR_MEMORY. */
typedef void breakpad_named_fn(void *context, const char **name);
enum status breakpad_load(struct breakpad *file, uint64_t rva, breakpad_named_fn *named,
                          void *context, struct fault *fault);

/* One logical frame. */
struct breakpad_frame {
    const char *name; /* NULL: none */
    const char *file; /* NULL: none */
    uint32_t line;
    uint64_t distance; /* from the start of the function or public */
    bool is_public;
};

enum { BREAKPAD_FRAMES_MAX = LIMIT_INLINE_DEPTH + 1 };

/* Frames at RVA, innermost first, the function last; 0: nothing covers it. A public names the code
 * up to the next public, unless a function starts in between. */
uint32_t breakpad_lookup(const struct breakpad *file, uint64_t rva,
                         struct breakpad_frame out[BREAKPAD_FRAMES_MAX]);

/* The ranges of inlined calls that a lookup at RVA looks at. */
uint32_t breakpad_inlines_around(const struct breakpad *file, uint64_t rva);

/* How to find a register of the caller: "$rbp: .cfa 16 - ^". Both texts are borrowed from the file
 * and not terminated. */
struct breakpad_rule {
    const char *name, *text; /* without the colon */
    uint32_t name_bytes, text_bytes;
};

enum { BREAKPAD_RULES_MAX = 64 };

/* The rules of STACK CFI that hold at one address, each register once. */
struct breakpad_rules {
    uint64_t rva, end; /* of the record with INIT */
    uint32_t count;
    struct breakpad_rule rules[BREAKPAD_RULES_MAX];
};

/* The sizes of a STACK WIN record, in bytes. */
struct breakpad_win {
    uint64_t rva, end;
    uint32_t prolog_bytes, params_bytes, saved_bytes, locals_bytes;
    const char *program; /* of frame data: borrowed, not terminated; NULL: an FPO record */
    uint32_t program_bytes;
    bool uses_ebp; /* FPO: ebp is an ordinary register that the function saves */
};

/* False: no record covers RVA, or it is damaged. Frame data goes before FPO; of nested records,
 * the innermost counts. */
bool breakpad_cfi_at(const struct breakpad *file, uint64_t rva, struct breakpad_rules *out);
bool breakpad_win_at(const struct breakpad *file, uint64_t rva, struct breakpad_win *out);

/* The range of the function at RVA; of a public symbol, up to the next one or to the end of the
 * address space. */
bool breakpad_range_at(const struct breakpad *file, uint64_t rva, uint64_t *begin, uint64_t *end);

/* Bytes of parameters of the function or public symbol at RVA; 0: none, or not known. */
uint32_t breakpad_params_at(const struct breakpad *file, uint64_t rva);

#endif
