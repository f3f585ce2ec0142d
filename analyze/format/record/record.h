/* Reads the record that a capture wrote (capture/record.h) into model structs.
 *
 * A record is a header and complete sections within its committed length. Nothing is borrowed:
 * texts are copied into the arena, so the file may be unmapped at once.
 *
 * There are three separate states:
 *   sound    ERR_NONE.  Bytes past the committed length are a section that the dying
 *            process did not finish; they are counted in uncommitted_bytes and not read.
 *   cut      ERR_TRUNCATED: the file ends before the committed length.  The sections that
 *            are whole are in *out, which says `partial`.
 *   damaged  ERR_MALFORMED, ERR_UNSUPPORTED, ERR_LIMIT: *out holds the sections before
 *            the damage and says `partial`; a header that cannot be read leaves it empty.
 *
 * The same sections come in a minidump's user stream: record_read_stream(). */
#ifndef FORMAT_RECORD_H
#define FORMAT_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/json.h"
#include "capture/record.h"
#include "model/module.h"
#include "model/stack.h"

struct record_thread {
    uint32_t id;
    uint32_t flags;   /* RECORD_THREAD_*     */
    const char *name; /* NULL: it has none   */
};

/* One walk of one thread by one walker. Frames are physical: without symbols. */
struct record_stack {
    uint32_t walker, state, stop; /* RECORD_WALKER_*, RECORD_STATE_*, RECORD_STOP_* */
    uint32_t thread_id, sample, left_out;
    uint64_t walk_ns, at_ns;
    const char *reason, *label; /* NULL: none */
    struct frame *frames;
    uint32_t frame_count;
};

struct record_timing {
    uint32_t stage, walker; /* RECORD_STAGE_*, RECORD_WALKER_*; walker 0: none */
    uint64_t ns, bytes;
};

/* A function of generated code that the program registered by name. */
struct record_code {
    const char *name;
    uint64_t start_va, code_bytes;
    uint32_t order; /* of two at one address the later one counts */
};

/* Managed code: an assembly, whose MVID its module has, and a method that the runtime compiled. */
struct record_assembly {
    const struct module *module; /* NULL: not known */
};

/* From this offset of the native code on, it is that of the IL offset; RECORD_IL_LAST or above: of
 * none. */
struct record_il {
    uint32_t native_offset, il_offset;
};

struct record_method {
    uint64_t start_va, code_bytes;
    uint32_t token, order; /* of two at one address the later one counts */
    uint32_t map_count;
    const struct record_il *map;            /* ascending            */
    const struct record_assembly *assembly; /* NULL: not known      */
    const char *type_arguments;             /* of generic code; NULL: none are known */
};

/* Unwind data of generated code: one RUNTIME_FUNCTION. */
struct record_function {
    uint64_t base_va; /* the base of the RVAs */
    uint32_t begin_rva, end_rva, unwind_rva;
};

struct record_memory {
    uint64_t va;
    const uint8_t *at;
    uint32_t bytes;
};

/* One capture_now(); record_capture_stack() makes a stack of it. */
struct record_capture {
    uint64_t at_ns; /* since the capture was installed */
    uint32_t thread_id, walk_ns, stop, left_out;
    const char *label;      /* NULL: none                            */
    const uint64_t *frames; /* as in the file: va and flags together */
    uint32_t frame_count;
};

struct record {
    uint32_t machine, kind, process_id, suspect_id, writer, hooks, pointer_bytes;
    uint32_t exception_code, exception_flags;
    uint64_t exception_va, exception_info[2];
    /* How long the target was stopped; 0: no hang. stop_copy_ns 0: its own stack was walked. */
    uint64_t stop_copy_ns, stop_rtl_ns, stop_dump_ns;
    uint32_t sample_count;
    uint32_t left_suspended;    /* threads resumed fewer times than they were suspended */
    uint32_t code_left_out;     /* entries of the code map that the capture had no room for */
    bool partial;               /* truncated or damaged: some of what was written is missing */
    uint64_t uncommitted_bytes; /* past the committed length, unread                */
    struct module *modules;     /* module.index is the position here                */
    struct record_thread *threads;
    struct record_stack *stacks; /* in file order                                   */
    struct record_timing *timings;
    struct record_code *codes;
    uint32_t module_count, thread_count, stack_count, timing_count, code_count;
    struct record_assembly *assemblies;
    struct record_method *methods; /* sorted by start_va */
    uint32_t assembly_count, method_count;
    struct record_function *functions;
    struct record_memory *memory; /* sorted by va */
    uint32_t function_count, memory_count;
    struct record_capture *captures; /* those still in the ring, by time */
    uint32_t capture_count;
    uint64_t captures_asked, captures_cost_ns, captures_dearest_ns; /* total ever made */
};

/* Reads a record file's bytes.  Fails: see the states above; ERR_MEMORY. */
enum status record_read(struct bytes r, struct arena *keep, struct record *out);

/* Maps PATH and reads it; the fault names the file.  An empty file is ERR_TRUNCATED. */
enum status record_read_file(const char *path, struct arena *keep, struct record *out,
                             struct fault *fault);

/* Writes the record that a capture would have left: of FACTS the members of the header, and, as the
 * walk of `rtl` that ended for STOP (RECORD_STOP_*), STACK. The modules that its frames name get
 * the identities and bases of those in FACTS.  Fails: ERR_IO, ERR_MEMORY. */
enum status record_write(const char *path, const struct record *facts, const struct stack *stack,
                         uint32_t stop, struct arena *keep, struct fault *fault);

/* Reads the user stream of a minidump (RECORD_DUMP_STREAM): the same form; the stream's own
 * length is used when the header leaves the committed length 0. */
enum status record_read_stream(struct bytes r, struct arena *keep, struct record *out);

/* Capture INDEX as a stack, walker `rtl`: with the modules loaded at that time. Fails:
 * ERR_MEMORY. */
enum status record_capture_stack(const struct record *record, uint32_t index, struct arena *keep,
                                 struct record_stack *out, struct fault *fault);

/* The registered code, or the unwind data of generated code, that covers VA; NULL: none. */
const struct record_code *record_code_at(const struct record *record, uint64_t va);
const struct record_function *record_function_at(const struct record *record, uint64_t va);

/* Copies BYTES at VA; false unless one MEMORY entry has them all. */
bool record_memory_read(const struct record *record, uint64_t va, void *out, size_t bytes);

/* The method whose code holds VA; NULL: none. */
const struct record_method *record_method_at(const struct record *record, uint64_t va);

/* Turns a frame in a method's code into module!0xTOKEN+0xIL; the native address is stepped back
 * before it is mapped. False: it is in no method. */
bool record_name_managed(const struct record *record, struct frame *frame);

/* Gives a frame in registered code its name: jit!name+0xDISTANCE, or that of its method. */
void record_name_generated(const struct record *record, struct frame *frame);

/* The thread's entry, or NULL. */
const struct record_thread *record_thread_find(const struct record *record, uint32_t thread_id);

/* First stack of WALKER for THREAD that is no later sample of it, or NULL. */
const struct record_stack *record_stack_find(const struct record *record, uint32_t walker,
                                             uint32_t thread_id);

/* First timing of STAGE (and WALKER unless 0), or NULL. */
const struct record_timing *record_timing_find(const struct record *record, uint32_t stage,
                                               uint32_t walker);

/* The role of a thread: suspect, main, capture or other. */
enum thread_role record_thread_role(const struct record *record,
                                    const struct record_thread *thread);

/* The stack that counts as the crash or hang: of the suspect's, in the heaviest sample, the first
 * with frames of `rtl`, `framepointer`, `dbghelp-own`, `dbghelp` and `backtrace`, since `rtl` does
 * not apply to x86. Without any the suspect's first one. NULL: the record has none. */
const struct record_stack *record_crash_stack(const struct record *record);

/* Converts recorded stack FROM to the model: physical frames without names, no engine name; it
 * borrows from RECORD. The thread named in the header is the suspect even if the thread list is
 * lost. */
void record_stack_describe(const struct record *record, const struct record_stack *from,
                           struct stack *out);

/* Writes the offset stack, JSON form: what `resolve` reads. */
void record_write_json(struct json *j, const struct record *record);

/* The row of a walker in the table RECORD_WALKERS; NULL: no walker has that number. */
struct record_walker {
    const char *name, *shares;
    uint32_t traits; /* RECORD_WALKER_TRAIT_* */
};
const struct record_walker *record_walker(uint32_t walker);

const char *record_walker_name(uint32_t walker);    /* "rtl", "dbghelp", ...; "unknown"    */
enum stop_reason record_stop_reason(uint32_t stop); /* of RECORD_STOP_*                    */

#endif
