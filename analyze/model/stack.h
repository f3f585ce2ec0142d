/* Frames and stacks: what one engine claims about one thread.
 *
 * A stack is a list of logical frames, innermost first. Inline frames come before the physical
 * frame that holds them, with the same index and falling inline_depth; the physical frame has
 * inline_depth 0. pc is the saved address; the byte that symbols are asked about (the lookup
 * address) is the same place for an interrupted frame and one byte earlier for a frame waiting in a
 * call, since a call that never returns may be the last instruction of its function. Only
 * frame_lookup_offset() computes it. Strings live as long as the arena of the stack. */
#ifndef MODEL_STACK_H
#define MODEL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/module.h"
#include "model/note.h"
#include "model/stop.h"

enum pc_kind { PC_INTERRUPTED, PC_RETURN };

/* How a frame was found. */
enum found_by {
    FOUND_CONTEXT,
    FOUND_UNWIND,
    FOUND_LEAF,
    FOUND_FRAME_POINTER,
    FOUND_FRAME_SIZE,
    FOUND_SCAN,
    FOUND_GIVEN,
    FOUND_INLINED,
    FOUND_CFI, /* by the STACK records of a Breakpad file; add new values last: they are stored */
};

/* What produced a frame's name. */
enum symbols_from {
    SYMBOLS_NONE,
    SYMBOLS_PDB,
    SYMBOLS_PDB_PUBLIC,
    SYMBOLS_DWARF,
    SYMBOLS_COFF,
    SYMBOLS_EXPORT,
    SYMBOLS_CSV,
    SYMBOLS_JIT,
    SYMBOLS_MISMATCH,        /* the file belongs to another build and was not used */
    SYMBOLS_BREAKPAD,        /* a function of a Breakpad .sym file  */
    SYMBOLS_BREAKPAD_PUBLIC, /* a public symbol of such a file: the nearest one before */
    SYMBOLS_SYMTAB,          /* the symbol table of an ELF or Mach-O file */
    SYMBOLS_NEAREST,         /* the last symbol before it, of unknown size */
    SYMBOLS_PPDB,            /* a portable PDB, or the metadata of a managed image */
    SYMBOLS_COUNT,           /* add new values before this one: the numbers are stored */
};

/* Whose code a frame is: by the compiland (DBI module) that holds the function. */
enum frame_class {
    CLASS_NONE,
    CLASS_OWN,
    CLASS_CAPTURE,
    CLASS_RUNTIME,
    CLASS_SYSTEM,
    CLASS_GENERATED,
};

/* Whether the module that a frame is in was still loaded when the process died. */
enum module_state { MODULE_STATE_LOADED, MODULE_STATE_UNLOADED };

enum identity_state { IDENTITY_CHECKED, IDENTITY_UNCHECKED, IDENTITY_AMBIGUOUS };

struct frame {
    uint32_t index;        /* of the physical frame, 0 innermost           */
    uint16_t inline_depth; /* 0: physical; larger: deeper inlined          */
    enum pc_kind kind;
    enum found_by found_by;
    enum symbols_from symbols;
    enum frame_class frame_class;
    enum identity_state identity;
    enum module_state module_state;
    uint64_t pc_va;              /* 0: unknown (text stacks have only offsets)    */
    const struct module *module; /* NULL: pc lies in no known module              */
    const char *module_name;     /* also set when only a name is known; NULL: none */
    uint64_t offset;             /* of pc from the module's base; the va if there is no module */
    uint32_t method_token;       /* managed code: OFFSET is one in this method's IL; 0: native */
    const char *type_arguments;  /* of generic managed code, as records have them; NULL: unknown */
    const char *function;        /* undecorated UTF-8; NULL: unknown              */
    const char *file;            /* as spelt in the PDB; NULL: unknown            */
    uint32_t line;               /* 1-based; 0: unknown                           */
    enum frame_note note;        /* why something is missing, or how it was found */
    uint64_t symbol_distance;    /* bytes past the symbol's start             */
    const char *compiland;       /* object file that holds the function; NULL     */
    const char *note_words;      /* of NOTE_OTHER; else NULL                      */
};

/* Why a physical frame's caller was found where it was: what an unwinder saw and did.  Numbers of
 * the dead process; 0: none. */
struct frame_evidence {
    uint32_t index; /* of the physical frame that was left */
    uint64_t sp_va;
    const char *where;                             /* "prologue", "body", "epilogue"; NULL */
    uint32_t function_begin_rva, function_end_rva; /* of the unwind data that was used     */
    uint64_t unwind_data_va;
    uint64_t return_slot_va; /* where the caller's pc was read; 0: in a register   */
    uint64_t caller_sp_va;
    /* One unwind code per line, each after '+' (had run and was undone) or '-' (had not run);
     * NULL. */
    const char *steps;
    /* Bytes around pc, hexadecimal; NULL: not known. CODE_ALIGNED: CODE_BEFORE begins with an
     * instruction, and one begins at pc; without CODE_BEFORE, only the latter. */
    const char *code_before, *code_after;
    bool code_aligned;
};

/* The cost for an engine, in nanoseconds of wall time; 0: not done or not known. */
struct engine_cost {
    uint64_t open_ns, unwind_ns, load_ns, resolve_ns, total_ns;
    uint64_t system_ns;  /* of resolve_ns: frames of system modules, where a judge states it; not
                          * stored */
    uint64_t cold_ns;    /* total_ns when nothing of the case was opened or looked up before */
    uint64_t peak_bytes; /* a program's peak size; for an engine in this process, the memory it
                          * added */
};

enum stack_state { STACK_OK, STACK_NOT_APPLICABLE, STACK_BLOCKED, STACK_FAILED, STACK_SKIPPED };

struct stack {
    const char *engine; /* "offset:rtl", "dump", "judge:dbghelp", ...; NULL outside cases */
    const char *label;  /* text form's "> label"; NULL                                    */
    uint32_t thread_id;
    const char *thread_name; /* NULL: none                                    */
    enum thread_role role;
    const char *role_word; /* of THREAD_ROLE_NAMED; else NULL                 */
    enum stack_state state;
    enum stop_reason stop;   /* why the walk ended, or why there is no stack */
    const char *stop_detail; /* details beyond the reason's name; NULL */
    struct frame *frames;
    uint32_t frame_count;
    uint32_t left_out;            /* physical frames elided between head and tail  */
    uint32_t sample;              /* hang records: which sample, 0 the heaviest    */
    uint64_t walk_ns, stopped_ns; /* in the dying process                  */
    struct engine_cost cost;
    const struct frame_evidence *evidence; /* ascending index; some frames have none */
    uint32_t evidence_count;
};

/* The offset that symbols are asked about: one byte before a return address. Of managed code: the
 * method's token in the upper half, and the offset in its IL. */
#define FRAME_METHOD(token) ((uint64_t)(token) << 32)
/* Whether TOKEN is of the table MethodDef. */
#define FRAME_IS_METHOD(token) ((token) >> 24 == 6)
uint64_t frame_lookup_offset(const struct frame *frame);

/* Why the walk ended, for people: the detail if there is one, else the reason's name; NULL: not
 * stated. */
const char *stack_stop_text(const struct stack *stack);

/* The reverse of stack_stop_text(). TEXT is borrowed if it is not a reason's name. */
void stack_set_stop_text(struct stack *stack, const char *text);

/* Like stack_stop_text() and its reverse, for roles: "suspect", "main", "worker"; NULL: not
 * stated. */
const char *stack_role_text(const struct stack *stack);
void stack_set_role_text(struct stack *stack, const char *text);

/* The sentence of a frame's note; NULL: none. OUT is only used where the words depend on the
 * frame. */
enum { FRAME_NOTE_BYTES = 320 };
const char *frame_note_text(const struct frame *frame, char out[FRAME_NOTE_BYTES]);

/* The reverse, when all other fields of the frame are set. TEXT is borrowed if it is no note's
 * sentence. */
void frame_set_note_text(struct frame *frame, const char *text);

/* The module was unloaded before the process died, or before the stack was taken. */
bool frame_module_is_unloaded(const struct frame *frame);

const char *pc_kind_name(enum pc_kind kind); /* "interrupted", "return"     */
bool pc_kind_parse(const char *name, enum pc_kind *out);
const char *found_by_name(enum found_by found_by);     /* "context", "unwind", ...    */
const char *found_by_rule(enum found_by found);        /* "the callee's unwind data", ... */
const char *symbols_from_name(enum symbols_from from); /* "pdb", "pdb-public", ...    */
const char *frame_class_name(enum frame_class c);      /* "own", "capture", ...       */
const char *stack_state_name(enum stack_state state);  /* "ok", "not_applicable", ... */

/* Writes one frame object, and a whole stack in the contract's resolved JSON form
 * {schema_version, label, frames: [...]}.  Stable order; unknown is null. */
void frame_write_json(struct json *j, const struct frame *frame);
void stack_write_json(struct json *j, const struct stack *stack);
/* The members of that object, for a caller that adds more. */
void stack_write_members(struct json *j, const struct stack *stack);

#endif
