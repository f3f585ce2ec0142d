/* Offset stacks from a stream: the text form that people paste, the JSON form (one document, or
 * one object per line), and record files.  notation.h has the table of notations. That of a stream
 * is found from its first bytes; text and objects are distinguished again at each line until a line
 * is understood.
 *
 * The text form:
 *
 *     > label               starts a stack; but > and a tab are Visual Studio's mark of a frame,
 *                           and of lines with frames that a mail quotes > is taken off (quoted.c)
 *     # module NAME CODE_ID DEBUG_ID
 *                           frames of NAME from here on are of that build; '-': not known.  NAME as
 *                           the frames spell it
 *     # module NAME CODE_ID DEBUG_ID 0xBASE 0xSIZE
 *                           the same, and where that module was loaded; a UUID of Mach-O is a
 *                           DEBUG_ID. With stack_input_addresses() lines `0xADDRESS` (and
 *                           ?!0xADDRESS) are frames of the modules that were loaded there
 *     # comment             ignored, as are blank lines
 *     module!0xOFFSET       a frame; "@i" (interrupted) or "@r" (return address) after it where it
 *                           is not the usual one: the first frame of a stack is interrupted, others
 *                           are returns.  A folder before the module's name is left out
 *     module!0xOFFSET {DEBUG_ID}
 *                           the same of a certain build
 *                           of managed code, a DEBUG_ID can be mvid:GUID here and above: the MVID
 *                           of its metadata, where the id of its PDB is not known
 *     module!0xTOKEN+0xIL   managed code: the token of a method (0x06......) and the offset in its
 *                           IL; never stepped back, also of a return address
 *     ?!0xADDRESS           an address in no module
 *     jit!name+0xOFFSET     generated code
 *
 * A line that is none of these may be what another tool prints. Most are patterns in one table
 * (notation_spellings.c): gdb, lldb, sanitizers, Android's tombstones, crash reports of macOS,
 * systemd-coredump, LLVM, Chromium, Gecko, HotSpot, Rust, .NET, Node, Python, Zig, winedbg, Boost,
 * std::stacktrace, backtrace_symbols(), minidump_stackwalk, Sentry, Unreal, Unity, Process Monitor,
 * System Informer, CrashRpt, atos, bpftrace. Stackdumps of Cygwin have a file of their own.
 * The others need more than one line:
 *
 *     module+0xOFFSET       as module!0xOFFSET; also module + 0xOFFSET, and module!name+0xOFFSET,
 *                           whose offset is one in the function. Before these and module!0xOFFSET
 *                           may be what logs print: an index (`00`, `#0`, `0:`, `[0]`, `0#`,
 *                           `Frame 0:`), times, levels, a source and a colon, an address; after
 *                           them an address
 *     [NN] [BYTES] CHILD-SP RETURN-ADDRESS [ARGUMENTS] CALL-SITE [NOTES] [FILE @ LINE]
 *                           WinDbg's k, kb, kn, kv, kf, kp, kP; the call site is module+0xOFFSET,
 *                           module!function+0xOFFSET or an address; also "(Inline Function)"
 *     Faulting module name: NAME, ...  then  Fault offset: 0xOFFSET
 *                           Windows' event log, also as XML, and Windows Error Reporting; the other
 *                           lines of an event are ignored, and each event is a stack
 *     THREAD|FRAME|MODULE|FUNCTION|FILE|LINE|0xOFFSET
 *                           minidump_stackwalk -m: frame 0 starts a stack, Module|... lines state
 *                           identities
 *     FUNCTION(ARGUMENTS)   and on the next line FILE:LINE +0xDISTANCE, after "goroutine N [...]:":
 *                           Go
 *     at FILE:LINE          the place of the function on the line before
 *     FUNCTION+0xOFFSET/0xSIZE [MODULE]
 *                           in a log of Linux, after "Call Trace:"; without a module it is vmlinux
 *
 * and, each in a file of its own, the panics of Rust without addresses, perf script, UMDH, the
 * crashrpt.xml of CrashRpt, the text that `resolve` prints, the markup of LLVM's symbolizer, which
 * also places modules, and the calls of scripts: Python's tracebacks, Node's functions without a
 * name, .NET in other languages than English; Qt Creator's stack view; and tables of Windows
 * Performance Analyzer, a stack in each row.
 *
 * "Thread N", "thread #N", ". N Id: ..." and the like start a stack, and so does a frame whose
 * number is that of the first one again. Where numbers end with 0, the outermost frame came first.
 * Of the lines that begin with '#', only "#N ..." and "# N ..." can be more than comments. "#N ..."
 * that is unreadable is an error where N is 0 or comes after the last frame's number.
 * Addresses and offsets are return addresses, except in tools that print the call itself
 * (AddressSanitizer, Android): those are looked up where they are. With stack_input_addresses() the
 * address of a line counts more than the name in it.
 *
 * XML with <frame> elements, or with a <CallStack> whose text has a frame on each line, is read as
 * such lines (notation_xml.c).
 *
 * A frame that names a function without an offset in the module keeps that name.
 *
 * Streaming: memory is bounded by one stack (and, for a JSON document, by LIMIT_JSON_BYTES), never
 * by the stream.  A line that is no frame, an object that is no stack, a line over
 * LIMIT_LINE_BYTES comes back as an item with a fault and does not end the stream. */
#ifndef STACKS_STACK_INPUT_H
#define STACKS_STACK_INPUT_H

#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "model/stack.h"

struct notation; /* notation.h */
struct stack_input;

/* One stack, or one thing that could not be read. In a fault, `what` and `hint` are constants, and
 * fault.offset counts from the stream's start. */
struct stack_item {
    struct stack stack; /* valid when fault.code is ERR_NONE; see `named` */
    struct fault fault;
    const char *label;  /* of the stack, or of the stack with the bad line; or NULL */
    bool goes_on;       /* the next item continues this stack: see stack_input_prompt() */
    bool named;         /* names, and inline frames, are those of the tool that printed the stack */
    bool crashed_first; /* what states which thread crashed, whose stack counts first */
    const char *kind;   /* of a record that is not a crash: "hang" or "on demand"; else NULL */
    bool is_event;      /* a crash or hang; all that follows is other walks of it, or context */
};

/* STREAM is borrowed until stack_input_close(); NAME is for messages.  Fails: ERR_MEMORY. */
enum status stack_input_open(FILE *stream, const char *name, struct stack_input **out,
                             struct fault *fault);
void stack_input_close(struct stack_input *input);

/* Opens PATH ("-": standard input).  Fails: ERR_ABSENT, ERR_IO, ERR_MEMORY. */
enum status stack_input_open_path(const char *path, struct stack_input **out, struct fault *fault);

/* The next item; everything in it lives in KEEP or as long as the input. Returns false at the end.
 * A read error (ERR_IO), or an interruption by the user (ERR_INTERRUPTED), gives an item with that
 * fault, then the end. */
bool stack_input_next(struct stack_input *input, struct arena *keep, struct stack_item *out);

/* From now on a line `0xADDRESS` is a frame, of the module that a `# module` line put there. */
void stack_input_addresses(struct stack_input *input);

/* Of a record of a crash or hang only the stacks of one walker, NAME, or, NULL, the one whose stack
 * counts, and nothing that was captured on demand. stack_input_left() counts the others. */
void stack_input_one_walker(struct stack_input *input, const char *name);
uint32_t stack_input_left(const struct stack_input *input);

/* From now on an incomplete text stack is returned in parts instead of being held until the rest
 * arrives. Only the first part has a label; frame numbers continue across parts. */
void stack_input_prompt(struct stack_input *input);
/* True when the next item would have to wait longer than WAIT_MS for the writer of the stream. */
bool stack_input_waits(const struct stack_input *input, uint32_t wait_ms);

/* How much of a regular file was read, and how much is left, in bytes; false for other streams. */
bool stack_input_progress(const struct stack_input *input, uint64_t *read_bytes,
                          uint64_t *left_bytes);

/* Known after the first stack_input_next(). */
const struct notation *stack_input_notation(const struct stack_input *input);

/* {schema_version, label, error: {code, what, offset, hint}} */
void stack_item_write_error(struct json *j, const struct stack_item *item);

#endif
