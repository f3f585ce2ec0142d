/* The record: what a capture leaves.  THE contract between capture/ (writer, in a
 * dying Windows process) and analyze/format (reader, anywhere).
 *
 * Freestanding: constants and an OFFSET/SIZE table, no Windows types, no structs laid
 * over bytes.  Everything is little-endian and fixed width; text is UTF-8 without NUL.
 *
 * A file is a header and a run of sections.  A section is complete or it is not there:
 * the writer appends it, then raises RECORD_H_COMMITTED over it, in that order, so that
 * a process that dies in between leaves the earlier sections whole.  A reader trusts only the bytes
 * below the committed length. Order: MODULES, then the STACK of the suspect by the `rtl` walker, on
 * disk before anything else runs; then the rest. Unknown section types are skipped by their length.
 *
 *   HEADER                     OFFSET SIZE
 *   magic "TWINREC1"                0    8
 *   version                         8    4   RECORD_VERSION; readers know all older ones
 *   header bytes                   12    4   where the first section starts
 *   machine                        16    4   IMAGE_FILE_MACHINE_*: 0x8664, 0x14c, 0xaa64
 *   kind                           20    4   RECORD_KIND_*
 *   process id                     24    4
 *   suspect thread id              28    4   crashed or hanging thread
 *   exception code                 32    4   0: none
 *   exception flags                36    4
 *   exception address (va)         40    8
 *   exception information[0]       48    8
 *   exception information[1]       56    8
 *   started, 100 ns since 1601     64    8   UTC
 *   committed bytes                72    8   header and all complete sections
 *   pointer bytes                  80    4   4 or 8
 *   writer                         84    4   RECORD_WRITER_*: in process or watcher
 *   hooks                          88    4   bit set of RECORD_HOOK_*, grows while handlers run
 *   code map: left out             92    4   entries that had no room: methods, unwind data, code
 *   stop: to last rtl frame, ns    96    8   0: not a hang
 *   stop: to end of the dump, ns  104    8
 *   sample count                  112    4   hang: samples of the suspect; else 0
 *   left suspended                116    4   threads that were not resumed as often as stopped
 *   stop: to the copy, ns         120    8   registers and stack of the suspect are copied
 *                                 128
 *
 *   SECTION HEADER             OFFSET SIZE
 *   type                            0    4   RECORD_SECTION_*
 *   section bytes                   4    4   with this header, multiple of 8
 *   count                           8    4   of entries
 *   reserved, zero                 12    4
 *                                  16
 *
 *   MODULES entry              OFFSET SIZE   (variable, 8-aligned)
 *   entry bytes                     0    4
 *   timestamp (PE header)           4    4
 *   base (va)                       8    8
 *   image bytes                    16    8
 *   loaded at, ns since install    24    8   0: before it
 *   unloaded at, ns since install  32    8   RECORD_NEVER: still loaded
 *   PDB GUID                       40   16   zero: none known
 *   PDB age                        56    4
 *   path bytes                     60    2   then the path, UTF-8
 *   PDB name bytes                 62    2   then the PDB name, UTF-8
 *                                  64        texts, zeros to the next multiple of 8
 *
 *   THREADS entry              OFFSET SIZE   (variable, 8-aligned)
 *   entry bytes                     0    4
 *   thread id                       4    4
 *   flags                           8    4   RECORD_THREAD_*
 *   name bytes                     12    4   then the name, UTF-8
 *                                  16
 *
 *   STACK section, after the section header; count = frames
 *   walker                         16    4   RECORD_WALKER_*
 *   state                          20    4   RECORD_STATE_*
 *   thread id                      24    4
 *   stop                           28    4   RECORD_STOP_*: why the walk ended
 *   frames left out                32    4   between frame 767 and the next (record limit)
 *   sample                         36    4   hang: which sample, 0 the heaviest
 *   walk, ns                       40    8
 *   at, ns since install           48    8   when, for play-back against the module times
 *   reason bytes                   56    4   why not applicable or blocked; UTF-8
 *   label bytes                    60    4   capture_now(label); UTF-8
 *                                  64        frames, then reason, then label, zeros to 8
 *   frame                      OFFSET SIZE
 *   module                          0    4   index into all MODULES entries; RECORD_NO_MODULE
 *   flags                           4    4   RECORD_FRAME_*
 *   offset or va                    8    8   from the module's base; the va with no module; of
 *                                            RECORD_FRAME_METHOD the IL offset, and the token of
 *                                            the method in the upper half
 *                                  16
 *
 *   TIMING entry               OFFSET SIZE
 *   stage                           0    4   RECORD_STAGE_*
 *   walker                          4    4   RECORD_WALKER_*; 0: none; of RECORD_STAGE_NO_DUMP
 *                                            the reason, RECORD_NO_DUMP_*
 *   ns                              8    8
 *   bytes                          16    8   written by the stage; 0: none
 *                                  24
 *
 *   CODE_MAP entry (generated code) OFFSET SIZE   (variable, 8-aligned)
 *   entry bytes                     0    4
 *   name bytes                      4    4   then the name, UTF-8
 *   start (va)                      8    8
 *   code bytes                     16    8
 *                                  24
 *
 *   FUNCTIONS entry: unwind data of generated code, one RUNTIME_FUNCTION each
 *   base (va)                       0    8   what the others count from
 *   begin, end (rva)                8    8
 *   UNWIND_INFO (rva)              16    4   its bytes are a MEMORY entry
 *   reserved, zero                 20    4
 *                                  24
 *
 *   ASSEMBLIES entry: managed code (version 2)
 *   module                          0    4   index into all MODULES entries; RECORD_NO_MODULE
 *   reserved, zero                  4    4
 *   MVID                            8   16   of its metadata
 *                                  24
 *
 *   METHODS entry: managed code that the runtime compiled (version 2)
 *                              OFFSET SIZE   (variable, 8-aligned)
 *   entry bytes                     0    4
 *   token                           4    4   0x06......: MethodDef, in the assembly's metadata
 *   start (va)                      8    8
 *   code bytes                     16    8
 *   assembly                       24    4   index into all ASSEMBLIES entries; RECORD_NO_MODULE
 *   map entries                    28    4
 *                                  32        map: 8 bytes each, in any order; then, of generic
 *                                            code, its type arguments: UTF-8, zeros to 8
 *   map: native offset              0    4   from here on, the code is that of
 *   IL offset                       4    4   or above RECORD_IL_LAST: no mapping, prologue,
 * epilogue
 *   type arguments: those of the method's type, in its declaration's order and with those of the
 *   types around it, then ';' and those of the method, as "System.Int32,A.B`1<System.Byte>;".
 *   System.__Canon is any reference type: these share their code.
 *
 *   MEMORY entry: bytes of generated code and unwind data; where a walk at every instruction
 *   was packed, of images           OFFSET SIZE   (8-aligned)
 *   entry bytes                     0    4
 *   bytes                           4    4
 *   va                              8    8   then the bytes, zeros to 8
 *                                  16
 *
 *   CAPTURES section, after the section header; count = entries, oldest first.  What
 *   capture_now() left in memory; a long ring comes in several sections.
 *   captures asked for             16    8   in the process's life; the ring keeps the last
 *   cost of all of them, ns        24    8
 *   cost of the dearest, ns        32    8
 *                                  40        entries
 *   CAPTURES entry             OFFSET SIZE   (variable, 8-aligned)
 *   entry bytes                     0    4
 *   thread id                       4    4
 *   at, ns since install            8    8
 *   walk, ns                       16    4
 *   frames left out                20    4   between frame 767 and the next (record limit)
 *   frames                         24    2
 *   label bytes                    26    2
 *   stop                           28    4   RECORD_STOP_*
 *                                  32        frames, 8 bytes each; the label, UTF-8; zeros to 8
 *   frame: bits 0 to 47 the va, all ones if it has more; bits 48 to 63 RECORD_FRAME_*.  Its
 *   module is the one that was loaded there at that time.
 *
 * The walk at every instruction (kind STEPS, written by victims/steps): after MODULES come
 * STEPS sections.  Each entry states, before one instruction of one thread, what changed since
 * the entry before it.  The first entry starts from zeros everywhere.
 *
 *   STEPS section, after the section header; count = entries
 *   stack low (va)                 16    8   no stack pointer of the run lies below
 *   stack high (va)                24    8   the stack's end; all of [rsp, high) is recorded
 *                                  32        entries
 *   STEPS entry                OFFSET SIZE   (variable, 8-aligned)
 *   entry bytes                     0    4
 *   changed registers               4    4   bit n: register n as the processor numbers
 *                                            them; 16: rip, or eip; 8 to 15: not on x86
 *   truth kept                      8    2   callers, counted from the outermost, that still wait
 *   truth added                    10    2   callers on top of them
 *   stack runs                     12    2
 *   walks                          14    2
 *                                  16        changed registers, 8 bytes each, lowest bit first;
 *                                            truth added, outermost first; stack runs; walks
 *   truth: where it goes on (va)    0    8   the return address
 *   stack pointer there (va)        8    8   0: not stated
 *   stack run: va                   0    8
 *   words                           8    4   then 4 bytes zero, then the words, 8 bytes each
 *   walk: walker                    0    1   RECORD_WALKER_*
 *   state                           1    1   RECORD_STATE_*
 *   stop                            2    1   RECORD_STOP_*
 *   flags                           3    1   RECORD_WALK_AS_TRUTH: no frames follow
 *   frames                          4    4   then their pcs (va), 8 bytes each
 *
 * The minidump's user stream (RECORD_DUMP_STREAM) holds one THREADS and one MODULES
 * section in this same form after a header of RECORD_HEADER_BYTES: identities that the
 * dump's writer may leave out, and the suspect thread.  Engines of the dump take
 * identities from there and from nowhere else.  Where the program registered generated code,
 * CODE_MAP, FUNCTIONS and MEMORY follow: dumps lack all three. */
#ifndef CAPTURE_RECORD_H
#define CAPTURE_RECORD_H

#define RECORD_MAGIC "TWINREC1"

enum {
    RECORD_VERSION = 2,

    RECORD_HEADER_BYTES = 128,
    RECORD_H_MAGIC = 0,
    RECORD_H_VERSION = 8,
    RECORD_H_HEADER_BYTES = 12,
    RECORD_H_MACHINE = 16,
    RECORD_H_KIND = 20,
    RECORD_H_PROCESS = 24,
    RECORD_H_SUSPECT = 28,
    RECORD_H_CODE = 32,
    RECORD_H_FLAGS = 36,
    RECORD_H_ADDRESS = 40,
    RECORD_H_INFO0 = 48,
    RECORD_H_INFO1 = 56,
    RECORD_H_STARTED = 64,
    RECORD_H_COMMITTED = 72,
    RECORD_H_POINTER_BYTES = 80,
    RECORD_H_WRITER = 84,
    RECORD_H_HOOKS = 88,
    RECORD_H_CODE_LEFT_OUT = 92,
    RECORD_H_STOP_RTL = 96,
    RECORD_H_STOP_DUMP = 104,
    RECORD_H_SAMPLES = 112,
    RECORD_H_LEFT_SUSPENDED = 116,
    RECORD_H_STOP_COPY = 120, /* since version 2; 0: the stack itself was walked */

    RECORD_SECTION_HEADER_BYTES = 16,
    RECORD_S_TYPE = 0,
    RECORD_S_BYTES = 4,
    RECORD_S_COUNT = 8,

    RECORD_SECTION_MODULES = 1,
    RECORD_SECTION_THREADS = 2,
    RECORD_SECTION_STACK = 3,
    RECORD_SECTION_TIMING = 4,
    RECORD_SECTION_CODE_MAP = 5,
    RECORD_SECTION_CAPTURES = 6,
    RECORD_SECTION_ASSEMBLIES = 7,
    RECORD_SECTION_METHODS = 8,
    RECORD_SECTION_STEPS = 16,
    RECORD_SECTION_MEMORY = 17,
    RECORD_SECTION_FUNCTIONS = 18,

    RECORD_MODULE_BYTES = 64,
    RECORD_M_ENTRY_BYTES = 0,
    RECORD_M_TIMESTAMP = 4,
    RECORD_M_BASE = 8,
    RECORD_M_IMAGE_BYTES = 16,
    RECORD_M_LOADED = 24,
    RECORD_M_UNLOADED = 32,
    RECORD_M_GUID = 40,
    RECORD_M_AGE = 56,
    RECORD_M_PATH_BYTES = 60,
    RECORD_M_PDB_BYTES = 62,

    RECORD_THREAD_BYTES = 16,
    RECORD_T_ENTRY_BYTES = 0,
    RECORD_T_ID = 4,
    RECORD_T_FLAGS = 8,
    RECORD_T_NAME_BYTES = 12,
    RECORD_THREAD_SUSPECT = 1,
    RECORD_THREAD_MAIN = 2,
    RECORD_THREAD_CAPTURE = 4, /* a helper thread of capture itself */

    RECORD_STACK_BYTES = 64,
    RECORD_K_WALKER = 16,
    RECORD_K_STATE = 20,
    RECORD_K_THREAD = 24,
    RECORD_K_STOP = 28,
    RECORD_K_LEFT_OUT = 32,
    RECORD_K_SAMPLE = 36,
    RECORD_K_WALK_NS = 40,
    RECORD_K_AT_NS = 48,
    RECORD_K_REASON_BYTES = 56,
    RECORD_K_LABEL_BYTES = 60,

    RECORD_FRAME_BYTES = 16,
    RECORD_F_MODULE = 0,
    RECORD_F_FLAGS = 4,
    RECORD_F_OFFSET = 8,
    RECORD_FRAME_RETURN = 1,      /* a return address; else interrupted              */
    RECORD_FRAME_GENERATED = 2,   /* va lies in registered generated code            */
    RECORD_FRAME_METHOD = 4,      /* managed code that an import knows by its token alone */
    RECORD_FRAME_CAPTURE = 128,   /* the capture's own code: a hook, not the program      */
    RECORD_FRAME_SHIFT_FOUND = 8, /* 4 bits: RECORD_FOUND_*                        */

    RECORD_TIMING_BYTES = 24,
    RECORD_G_STAGE = 0,
    RECORD_G_WALKER = 4,
    RECORD_G_NS = 8,
    RECORD_G_BYTES = 16,

    RECORD_CODE_MAP_BYTES = 24,
    RECORD_C_ENTRY_BYTES = 0,
    RECORD_C_NAME_BYTES = 4,
    RECORD_C_START = 8,
    RECORD_C_CODE_BYTES = 16,

    RECORD_CAPTURES_BYTES = 40,
    RECORD_N_ASKED = 16,
    RECORD_N_COST = 24,
    RECORD_N_DEAREST = 32,
    RECORD_CAPTURE_BYTES = 32,
    RECORD_N_ENTRY_BYTES = 0,
    RECORD_N_THREAD = 4,
    RECORD_N_AT = 8,
    RECORD_N_WALK_NS = 16,
    RECORD_N_LEFT_OUT = 20,
    RECORD_N_FRAMES = 24,
    RECORD_N_LABEL_BYTES = 26,
    RECORD_N_STOP = 28,
    RECORD_N_VA_BITS = 48,

    RECORD_ASSEMBLY_BYTES = 24,
    RECORD_A_MODULE = 0,
    RECORD_A_MVID = 8,

    RECORD_METHOD_BYTES = 32,
    RECORD_D_ENTRY_BYTES = 0,
    RECORD_D_TOKEN = 4,
    RECORD_D_START = 8,
    RECORD_D_CODE_BYTES = 16,
    RECORD_D_ASSEMBLY = 24,
    RECORD_D_MAP_COUNT = 28,
    RECORD_MAP_BYTES = 8,

    RECORD_FUNCTION_BYTES = 24,
    RECORD_N_BASE = 0,
    RECORD_N_BEGIN = 8,
    RECORD_N_END = 12,
    RECORD_N_UNWIND = 16,

    RECORD_MEMORY_BYTES = 16,
    RECORD_Y_ENTRY_BYTES = 0,
    RECORD_Y_BYTES = 4,
    RECORD_Y_VA = 8,

    RECORD_STEPS_BYTES = 32,
    RECORD_P_STACK_LOW = 16,
    RECORD_P_STACK_HIGH = 24,
    RECORD_STEP_BYTES = 16,
    RECORD_STEP_REGISTERS = 17,
    RECORD_STEP_RIP = 16,
    RECORD_WALK_AS_TRUTH = 1,

    /* A record holds at most this many frames of a stack; see base/limits.h. */
    RECORD_FRAMES_HEAD = 768,
    RECORD_FRAMES_TAIL = 256,

    RECORD_KIND_CRASH = 1,
    RECORD_KIND_HANG = 2,
    RECORD_KIND_ON_DEMAND = 3,
    RECORD_KIND_STEPS = 4,

    RECORD_WRITER_IN_PROCESS = 1,
    RECORD_WRITER_WATCHER = 2,

    RECORD_HOOK_VECTORED = 1 << 0,
    RECORD_HOOK_UNHANDLED = 1 << 1, /* unhandled-exception filter */
    RECORD_HOOK_SIGABRT = 1 << 2,
    RECORD_HOOK_INVALID_PARAMETER = 1 << 3,
    RECORD_HOOK_PURE_CALL = 1 << 4,
    RECORD_HOOK_TERMINATE = 1 << 5,
    RECORD_HOOK_WATCHER = 1 << 6,
    RECORD_HOOK_HEARTBEAT = 1 << 7, /* the hang monitor of the process itself */
    /* An exception led here, so the context is of the instruction that faulted; by any other hook
     * of a crash it comes from RtlCaptureContext and its pc is a return address. */
    RECORD_HOOKS_FAULT = RECORD_HOOK_VECTORED | RECORD_HOOK_UNHANDLED | RECORD_HOOK_WATCHER,

    RECORD_STATE_OK = 0,
    RECORD_STATE_NOT_APPLICABLE = 1,
    RECORD_STATE_BLOCKED = 2, /* the watchdog abandoned it  */
    RECORD_STATE_FAULTED = 3, /* the walker itself crashed  */

    RECORD_STOP_END = 0,          /* thread start reached                       */
    RECORD_STOP_RETURN_ZERO = 1,  /* return address 0                           */
    RECORD_STOP_STACK_BOUNDS = 2, /* stack pointer left the thread's limits     */
    RECORD_STOP_NO_PROGRESS = 3,  /* stack pointer did not rise                 */
    RECORD_STOP_READ_FAULT = 4,   /* memory could not be read                   */
    RECORD_STOP_NO_UNWIND = 5,    /* no unwind data for code that needs it      */
    RECORD_STOP_LIMIT = 6,        /* the walker's own frame limit               */
    RECORD_STOP_WALKER = 7,       /* the system's walker returned false         */
    RECORD_STOP_BAD_SEED = 8,     /* first context unusable                     */
    RECORD_STOP_COPY_END = 9,     /* the stack was longer than the copy of it   */
    RECORD_STOP_HIJACKED = 10,    /* a collection redirected the return address */
    RECORD_STOP_TOO_EARLY = 11,   /* END or RETURN_ZERO, far from the stack's start */

    RECORD_FOUND_CONTEXT = 0, /* same order as enum found_by of the analyser */
    RECORD_FOUND_UNWIND = 1,
    RECORD_FOUND_LEAF = 2,
    RECORD_FOUND_FRAME_POINTER = 3,
    RECORD_FOUND_FRAME_SIZE = 4,
    RECORD_FOUND_SCAN = 5,
    RECORD_FOUND_GIVEN = 6,

    RECORD_STAGE_WALK = 1,         /* one walker, all its frames     */
    RECORD_STAGE_SUSPEND = 2,      /* SuspendThread to its return    */
    RECORD_STAGE_RECORD_WRITE = 3, /* record bytes to disk           */
    RECORD_STAGE_DUMP_WRITE = 4,   /* MiniDumpWriteDump, plain form  */
    RECORD_STAGE_DUMP_TUNED = 5,   /* the dump in its cheapest form */
    RECORD_STAGE_MODULES = 6,      /* making the module section      */
    RECORD_STAGE_HANG_FOUND = 7,   /* past hang_ms when it was found */
    RECORD_STAGE_STOP_TUNED = 8,   /* a hang: how long it was stopped for the tuned dump */
    RECORD_STAGE_RESCUED = 9,      /* a hang: a walk waited so long that all threads were resumed */
    RECORD_STAGE_NO_DUMP = 10,     /* instead of a dump; its walker is RECORD_NO_DUMP_* */

    RECORD_NO_DUMP_LOADER = 1, /* another thread holds the lock of the loader          */
    RECORD_NO_DUMP_HEAP = 2,   /* another thread holds the lock of the process's heap  */
    RECORD_NO_DUMP_WALKER = 3, /* a walker has not come back, and dbghelp serves one thread */
    RECORD_NO_DUMP_LIMIT = 4,  /* it took longer than the host allows                 */
    RECORD_NO_DUMP_WRITER = 5, /* MiniDumpWriteDump failed or faulted                      */
    RECORD_NO_DUMP_CUT = 6,    /* a part of it is not in the file, as on a full disk       */
};

/* The walkers, one row each: WALKER(ID, NUMBER, NAME, WALK, TRAITS, SHARES).
 *
 * ID      RECORD_WALKER_ID is the row's NUMBER, which records hold: never change or reuse one
 * NAME    what people read and type; the analyser's engine is called offset:NAME
 * WALK    the function in capture/ that walks; only capture/cap.h uses this column
 * TRAITS  RECORD_WALKER_TRAIT_*: what the walker may do in the dying process, and what it needs
 * SHARES  what else uses the same code, for people: agreement counts only between independent code
 *
 * RTL first: its stack of the suspect is on disk before any other walker runs. */
#define RECORD_WALKERS(WALKER)                                                                     \
    WALKER(RTL, 1, "rtl", cap_crash_walk_rtl,                                                      \
           RECORD_WALKER_TRAIT_TABLES | RECORD_WALKER_TRAIT_SYSTEM,                                \
           "symbol lookup with the dump engine; nothing of the walk")                              \
    WALKER(DBGHELP, 2, "dbghelp", cap_walk_dbghelp,                                                \
           RECORD_WALKER_TRAIT_WAITS | RECORD_WALKER_TRAIT_DBGHELP,                                \
           "symbol lookup with the dump engine; nothing of the walk")                              \
    WALKER(DBGHELP_OWN, 3, "dbghelp-own", cap_walk_dbghelp_own,                                    \
           RECORD_WALKER_TRAIT_WAITS | RECORD_WALKER_TRAIT_DBGHELP,                                \
           "symbol lookup with the dump engine; function tables with offset:rtl")                  \
    WALKER(BACKTRACE, 4, "backtrace", cap_crash_walk_backtrace,                                    \
           RECORD_WALKER_TRAIT_WAITS | RECORD_WALKER_TRAIT_SYSTEM |                                \
               RECORD_WALKER_TRAIT_OWN_THREAD,                                                     \
           "symbol lookup with the dump engine; the system's unwinder with offset:rtl")            \
    WALKER(FRAME_POINTER, 5, "framepointer", cap_crash_walk_framepointer, 0,                       \
           "symbol lookup with the dump engine; nothing of the walk")                              \
    WALKER(RTL_SUSPENDED, 6, "rtl-suspended", cap_walk_rtl_suspended,                              \
           RECORD_WALKER_TRAIT_TABLES | RECORD_WALKER_TRAIT_WAITS | RECORD_WALKER_TRAIT_SYSTEM |   \
               RECORD_WALKER_TRAIT_SUSPENDED,                                                      \
           "the same walk as offset:rtl, of the suspended thread itself")                          \
    WALKER(SNAPSHOT, 7, "snapshot", cap_walk_snapshot,                                             \
           RECORD_WALKER_TRAIT_TABLES | RECORD_WALKER_TRAIT_WAITS | RECORD_WALKER_TRAIT_MANAGED,   \
           "the .NET runtime's own walk; under Wine a stand-in answers for the trap flags")        \
    WALKER(SNAPSHOT_SEEDED, 8, "snapshot-seeded", cap_walk_snapshot_seeded,                        \
           RECORD_WALKER_TRAIT_TABLES | RECORD_WALKER_TRAIT_WAITS | RECORD_WALKER_TRAIT_SYSTEM |   \
               RECORD_WALKER_TRAIT_MANAGED,                                                        \
           "as snapshot; native frames by the unwinder of offset:rtl")

#define RECORD_WALKER_NUMBER(ID, NUMBER, NAME, WALK, TRAITS, SHARES) RECORD_WALKER_##ID = (NUMBER),
/* NOLINTNEXTLINE(bugprone-macro-parentheses) terms of a sum */
#define RECORD_WALKER_ONE(ID, NUMBER, NAME, WALK, TRAITS, SHARES) +1

enum { RECORD_WALKERS(RECORD_WALKER_NUMBER) };

/* One more than the highest number: numbers start at 1 and have no gaps. */
enum { RECORD_WALKER_COUNT = 1 RECORD_WALKERS(RECORD_WALKER_ONE) };

enum {
    RECORD_WALKER_TRAIT_TABLES = 1,      /* unwinds by tables, which x86 does not have       */
    RECORD_WALKER_TRAIT_WAITS = 2,       /* may take locks: own thread, under a time limit   */
    RECORD_WALKER_TRAIT_DBGHELP = 4,     /* runs in dbghelp.dll, one caller at a time        */
    RECORD_WALKER_TRAIT_SYSTEM = 8,      /* walks by the unwinder of ntdll, as others may    */
    RECORD_WALKER_TRAIT_OWN_THREAD = 16, /* walks the thread it runs on, no other */
    RECORD_WALKER_TRAIT_SUSPENDED = 32,  /* walks a suspended thread: of a hang   */
    RECORD_WALKER_TRAIT_MANAGED = 64,    /* asks the .NET runtime: own thread, or a suspended one */
};

#define RECORD_NO_MODULE 0xFFFFFFFFu
#define RECORD_IL_LAST 0xFFFFFF00u
#define RECORD_NEVER 0xFFFFFFFFFFFFFFFFull
#define RECORD_DUMP_STREAM 0x54570001u /* user stream type: above LastReservedStream */

#endif
