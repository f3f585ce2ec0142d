/* The inside of the capture: its state, and the steps between an exception and bytes on disk.
 *
 * What runs where:
 *   victim thread   vectored handler (candidate), unhandled-exception filter (claims the
 *                   crash, then waits), SIGABRT and the other hooks
 *   monitor         made at install; polls heartbeats, writes record and dumps; needs no
 *                   stack, heap or lock of the victim
 *   runners         made at install; run code that may block (dbghelp, the dump) while the
 *                   monitor waits with a time limit
 *
 * Invariants
 * 1. cap_crash_* allocates nothing and takes no lock that the victim may hold; all memory
 *    is static and all handles are opened at install.
 * 2. Only the monitor writes to the record, so sections never interleave.
 * 3. One crash is captured in a process's life, the first; hangs before it each have files of
 *    their own, and while a hang is being captured, files for the crash are open already. */
#ifndef CAPTURE_CAP_H
#define CAPTURE_CAP_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture_port.h"
#include "capture/port.h"
#include "capture/record.h"

enum {
    /* Values of cap_crash.claimed_by that are no thread. */
    CAP_CLOSED = 0,           /* not installed: nothing is captured */
    CAP_CLAIMED_BY_HANG = -1, /* no thread may claim a crash meanwhile */
    CAP_OPEN = -2,            /* installed, and nothing has happened */
    CAP_HANG_SAMPLES = 5,
    CAP_HANG_SAMPLES_MOST = 16,
    CAP_SAMPLE_PAUSE_MS = 20,
    CAP_MODULES = 512,
    CAP_PATH_BYTES = 512,
    CAP_PDB_BYTES = 128,
    CAP_THREADS = 512,
    CAP_NAME_BYTES = 64,
    CAP_CANDIDATES = 16,
    CAP_CODE_MAPS = 64,
    CAP_CODE_BYTES = 4096, /* of each registered code that go into the dump */
    CAP_BUFFER_BYTES = 2 << 20,
    CAP_WALK_LIMIT_MS = 3000,  /* a walker that needs longer is BLOCKED            */
    CAP_DUMP_LIMIT_MS = 25000, /* the dump; 1 s alone, ten times that on a busy machine */
    CAP_FRAMES = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL,
    CAP_FRAME_LIMIT = 1 << 16, /* no sane stack is deeper: 1 MB of 16-byte frames */
    CAP_LABEL_BYTES = 128,
    CAP_COPY_BYTES = 1 << 20, /* of a suspended thread's stack */
    CAP_CAPTURE_WORDS = (RECORD_CAPTURE_BYTES + CAP_LABEL_BYTES) / 8 + CAP_FRAMES,
};

/* An address range of the stack that a thread may own; low is the reserve's start. */
struct cap_bounds {
    uint64_t low_va, high_va;
};

struct cap_frame {
    uint64_t pc_va;
    uint32_t flags; /* RECORD_FRAME_* and the found_by bits */
};

/* One walk.  Frames past the head go round in the tail. */
struct cap_walk {
    uint32_t walker, state, stop, thread_id;
    uint32_t total; /* frames seen, also those left out */
    uint32_t sample;
    uint64_t walk_ns, at_ns;
    uint64_t left_va;   /* stack pointer after the last frame was left; 0: unknown */
    const char *reason; /* static text; NULL: none */
    struct cap_frame frames[CAP_FRAMES];
};

/* A thread as it was while suspended.  MEMORY has CAP_COPY_BYTES, aligned as stacks are. */
struct cap_copy {
    CONTEXT context;
    uint64_t low_va, bytes; /* of the stack: where the copied part starts, and its size */
    uint64_t copy_ns;       /* the part of the suspension that the copying took */
    bool is_cut;            /* the thread uses more than CAP_COPY_BYTES                 */
    uint8_t *memory;
};

struct cap_module {
    volatile LONG ready; /* set last by the writer of the entry */
    uint32_t timestamp;
    uint64_t base_va, image_bytes;
    uint32_t functions_rva, functions_count; /* the table of unwind data, x64          */
    uint64_t loaded_ns;
    volatile uint64_t unloaded_ns;
    uint8_t guid[16];
    uint32_t age;
    uint16_t path_bytes, pdb_bytes;
    bool is_private; /* the runtime of managed code loaded it, not the system */
    char path[CAP_PATH_BYTES], pdb[CAP_PDB_BYTES];
};

struct cap_code {
    volatile LONG ready;
    uint64_t start_va, code_bytes;
    uint64_t base_va;                        /* its RUNTIME_FUNCTION counts from there */
    uint32_t begin_rva, end_rva, unwind_rva; /* unwind_rva 0: it has none */
    char name[CAP_NAME_BYTES];
};

/* ---- managed code (managed.c) ---- */
enum {
    CAP_ASSEMBLIES = 64,
    CAP_METHODS = 4096,
    CAP_MANAGED_FUNCTIONS = 2 * CAP_METHODS,
    CAP_IL_MAPS = 32 * CAP_METHODS,
    CAP_TYPE_BYTES = 32 * CAP_METHODS, /* type arguments */
};

struct cap_method {
    volatile LONG ready;
    uint32_t token, assembly; /* assembly 0: none; else its place plus 1 */
    uint64_t start_va, code_bytes;
    uint32_t map, map_count, function, function_count; /* places in the pools */
    uint32_t types, types_bytes;
};

#if defined(_WIN64)
struct cap_function {
    uint64_t base_va; /* the entry's RVAs count from there */
    RUNTIME_FUNCTION entry;
};
#else
struct cap_function {
    uint64_t base_va;
};
#endif

struct cap_managed {
    volatile LONG assembly_count, method_count, map_count, function_count, types_used;
    volatile LONG left_out; /* how often there was no room, here and in cap.codes */
    struct {
        int module; /* index into cap.modules; -1: none */
        uint8_t mvid[16];
    } assemblies[CAP_ASSEMBLIES];
    struct cap_method methods[CAP_METHODS];
    struct cap_function functions[CAP_MANAGED_FUNCTIONS];
    struct capture_il maps[CAP_IL_MAPS];
    char types[CAP_TYPE_BYTES];
    capture_snapshot_fn *snapshot; /* NULL: no profiler */
};
extern struct cap_managed cap_managed;

struct cap_thread {
    HANDLE handle;
    uint32_t id, flags;
    uint32_t name_bytes;
    char name[CAP_NAME_BYTES];
    struct cap_bounds bounds;
};

/* A candidate of the vectored handler: dropped if the program continues. */
struct cap_candidate {
    volatile LONG thread_id;
    uint32_t code;
    uint64_t address_va;
    struct cap_walk walk;
};

/* What a crash is captured from; filled by the thread that claims it. */
struct cap_crash {
    volatile LONG claimed_by; /* thread id, or CAP_CLOSED, CAP_CLAIMED_BY_HANG, CAP_OPEN */
    volatile LONG ready;      /* everything below is stored                          */
    uint32_t thread_id, hooks;
    bool captured_context; /* from RtlCaptureContext: the first frame is `return` */
    bool own_stack_usable; /* false after a stack overflow                        */
    EXCEPTION_POINTERS *pointers;
    struct cap_bounds bounds;
};

struct cap_state {
    struct capture_options options;
    volatile LONG installed, quitting;
    LARGE_INTEGER frequency, installed_at;
    HANDLE process; /* the process that is captured: our own, or the one that is watched */
    uint32_t process_id, writer;

    HANDLE record, dump, dump_tuned; /* opened before they are needed, see files.c   */
    uint64_t record_bytes, dump_bytes, dump_tuned_bytes;

    HANDLE monitor, go, done;
    HANDLE hang_over;        /* set while no hang is being taken                    */
    HANDLE held, release;    /* of cap_crash_hold_locks()                            */
    HANDLE never;            /* is never set: for threads that wait for the process's end */
    HANDLE walked;           /* the walks of a hang are done: no need to rescue them  */
    HANDLE flushed;          /* the record that flush_for requested is on disk      */
    volatile LONG flush_for; /* thread that needs the record now; 0: none           */
    HANDLE thread_up;        /* set once by each helper thread, to be waited for at install  */
    uint32_t monitor_id, runner_ids[2], main_id;

    volatile LONG module_count;
    struct cap_module modules[CAP_MODULES];
    volatile LONG code_count;
    struct cap_code codes[CAP_CODE_MAPS];

    struct cap_candidate candidates[CAP_CANDIDATES];
    struct cap_crash crash;

    volatile LONG watched_id; /* thread that beats; 0: none yet                  */
    volatile LONG hang_count; /* captured so far                                    */
    volatile LONG64 beat_ns;  /* 0: paused                                        */

    struct cap_bounds dispatcher, thread_start; /* code ranges in ntdll             */
    struct cap_bounds own_code;                 /* of the functions that are CAP_OWN_CODE     */
    volatile LONG unwind_data_held; /* see cap_crash_try_unwind_data()                       */
};

extern struct cap_state cap;

/* A function that can be in the stack of a crash without being its reason: a hook. All of them are
 * in a section of their own, so that the record marks their frames in any program, whatever its
 * folders and functions are called. Section names of an image have at most 8 letters. */
#define CAP_OWN_SECTION ".twincap"
#if defined(_MSC_VER) && !defined(__clang__)
#define CAP_OWN_CODE __declspec(code_seg(CAP_OWN_SECTION))
#else
#define CAP_OWN_CODE __attribute__((section(CAP_OWN_SECTION), noinline))
#endif

/* ---- install.c: also for the watcher ---- */
void cap_start_clock(void);
/* On x86 nothing says how long a function is. A thread's stack begins at RtlUserThreadStart+0x1b on
 * Windows; in Wine another function begins 0x10 bytes after it and calls at 0x27. */
enum { CAP_X86_THREAD_START = 32, CAP_X86_DISPATCHER = 64 };
struct cap_bounds cap_code_of(const char *ntdll_function, uint32_t x86_bytes);

/* ---- files.c ---- */
/* Opens the record and the dumps.  False: not all could be opened. */
bool cap_files_open(void);
/* Closes them; files without a capture are removed. */
void cap_files_close(void);
/* Opens the files of a further capture, without the heap.  False: not all could be opened. */
bool cap_crash_files_prepare(void);
/* Closes the files of the capture that was written last, and goes on with those prepared. */
void cap_crash_files_switch(void);
/* Closes those prepared, which are then removed. */
void cap_crash_files_discard(void);
/* Without KEEP, the system removes the file when it is closed, however the process ends. */
bool cap_crash_file_keep(HANDLE file, bool keep);
/* Removes the oldest finished captures while they are more than the options allow. */
void cap_files_limit(void);

/* ---- guarded.c: code, of ours or of the system, that may fault ---- */
/* Calls BODY. False: it raised an exception, and what it did before remains. */
bool cap_crash_guarded(void (*body)(void *argument), void *argument);

/* ---- clock and small helpers (support.c) ---- */
uint64_t cap_crash_now_ns(void);
bool cap_crash_is_ours(uint32_t thread_id);
struct cap_bounds cap_crash_own_bounds(void);
bool cap_crash_thread_bounds(HANDLE thread, struct cap_bounds *out);
uint32_t cap_crash_utf8(const wchar_t *text, uint32_t units, char *out, uint32_t room_bytes);
void cap_crash_copy(void *to, const void *from, uint64_t bytes);
/* False: the memory is not readable, and a part of it may have been copied. */
bool cap_crash_copy_guarded(void *to, uint64_t from_va, uint64_t bytes);
void cap_crash_clear(void *at, uint64_t bytes);
uint32_t cap_crash_length(const char *text);
bool cap_crash_within(struct cap_bounds range, uint64_t va);

/* ---- modules.c ---- */
bool cap_modules_start(void);
void cap_modules_add(uint64_t base_va, uint64_t image_bytes, const wchar_t *path,
                     uint32_t path_units, uint64_t loaded_ns);
/* The same for an image that the runtime loaded itself: laid out as in memory or as in its file. */
void cap_modules_add_flat(uint64_t base_va, const wchar_t *path, uint32_t path_units);
void cap_modules_remove(uint64_t base_va);
void cap_modules_stop(void);
/* Index into the table of the module that holds VA now, else of the last that did and is
 * unloaded; -1: none. */
int cap_crash_module_at(uint64_t va);
bool cap_crash_in_loaded_module(uint64_t va);
bool cap_crash_in_code_map(uint64_t va);
#if defined(_WIN64)
/* As RtlLookupFunctionEntry, without its lock, which a thread stopped in the loader may hold:
 * the table of a loaded module is searched here, and the system asked about other code only. */
const RUNTIME_FUNCTION *cap_crash_function_at(uint64_t va, uint64_t *base_va);
#endif

/* ---- managed.c ---- */
/* The method whose code holds VA; NULL: none. */
const struct cap_method *cap_crash_method_at(uint64_t va);
#if defined(_WIN64)
/* Unwind data of registered methods: no lock; NULL: none. */
const RUNTIME_FUNCTION *cap_crash_managed_function(uint64_t va, uint64_t *base_va);
/* Walks as `rtl` does up to the first managed frame, whose registers go to MANAGED; the frames
 * inside of it go to OUT.  False: there is none. */
bool cap_crash_walk_to_managed(const CONTEXT *seed, struct cap_bounds bounds, bool seed_is_return,
                               CONTEXT *managed, struct cap_walk *out);
#endif

/* ---- walkers: each fills OUT and never faults outward ---- */
void cap_crash_walk_begin(struct cap_walk *out, uint32_t walker, uint32_t thread_id);
void cap_crash_walk_add(struct cap_walk *out, uint64_t pc_va, uint32_t flags, uint32_t found);

/* A walk that may fault: adds frames to OUT and returns why it stopped. It may change CONTEXT. */
typedef uint32_t cap_raw_walk_fn(CONTEXT *context, HANDLE thread, bool seed_is_return,
                                 struct cap_walk *out);

/* Calls WALK with a copy of SEED, and notes how it ended and how long it took. */
void cap_walk_guarded(cap_raw_walk_fn *walk, const CONTEXT *seed, HANDLE thread,
                      bool seed_is_return, struct cap_walk *out);

void cap_crash_walk_not(struct cap_walk *out, uint32_t state, const char *reason);
/* Index in walk->frames of the I-th frame that was kept, innermost first. */
uint32_t cap_crash_frame_at(const struct cap_walk *walk, uint32_t i);

/* Walks from SEED into OUT, which cap_crash_walk_begin() prepared.  The first frame is
 * `interrupted`, or `return` when the context was captured in a call.  THREAD is NULL where the
 * walker does not need it.  A walker with RECORD_WALKER_TRAIT_OWN_THREAD runs on the thread that
 * it walks: SEED is where the handler's frames end and the crash starts. */
typedef void cap_walk_fn(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                         bool seed_is_return, struct cap_walk *out);
#define CAP_WALKER(ID, NUMBER, NAME, WALK, TRAITS, SHARES) cap_walk_fn WALK;
RECORD_WALKERS(CAP_WALKER)
#undef CAP_WALKER

/* The rows of RECORD_WALKERS by number; number 0 is no walker. */
struct cap_walker {
    const char *name;
    cap_walk_fn *walk;
    uint32_t traits; /* RECORD_WALKER_TRAIT_* */
};
extern const struct cap_walker cap_walkers[RECORD_WALKER_COUNT];

/* ---- copy.c ---- */
/* Copies the registers and the used stack of THREAD, which is suspended.  False: it has ended. */
bool cap_crash_copy_thread(HANDLE thread, struct cap_bounds bounds, struct cap_copy *out);
#if defined(_WIN64)
/* As `rtl`, in the copy; the thread may run meanwhile (walk_rtl.c). */
void cap_crash_walk_copy(const struct cap_copy *copy, struct cap_walk *out);
#endif

/* ---- walk_snapshot.c: the runtime's own walk on CAP_RUNNER_WALK, which may wait ---- */
/* Whether no suspended thread holds the heap, or the system's lock over the unwind data of code
 * that was made at run time; else a caller that needs it would wait.  False after LIMIT_MS: the
 * runner stays busy until the threads run again. */
bool cap_crash_heap_is_free(uint32_t limit_ms);
bool cap_crash_unwind_data_is_free(uint32_t limit_ms);
/* Before the first walk on the monitor: a thread that crashed or hangs may hold the second lock for
 * good.  Then no walk asks the system about code that was made at run time, and says so. */
void cap_crash_try_unwind_data(void);
/* After our own suspensions have been undone: a snapshot that still waits has suspended THREAD
 * itself, so the thread is resumed until the snapshot comes back.  False: it does not. */
bool cap_crash_free_snapshot(HANDLE thread);

/* The walker for use when time is short, or for threads other than the suspect. */
#if defined(_WIN64)
#define CAP_WALKER_FIRST RECORD_WALKER_RTL
#define cap_crash_walk_first cap_crash_walk_rtl
#else
#define CAP_WALKER_FIRST RECORD_WALKER_FRAME_POINTER
#define cap_crash_walk_first cap_crash_walk_framepointer
#endif

/* ---- places.c: what unwind data does not describe ---- */
/* A collection has just moved the thread, and its stack does not show from where. */
bool cap_crash_is_redirected(const CONTEXT *context);

#if defined(_WIN64)
/* Whether FUNCTION is one to which a .NET runtime moves a thread for a collection, and if so,
 * whether its caller, the place where the thread was, can be unwound to.  PC_VA is in it, or the
 * return address of a call in it. */
enum cap_redirect { CAP_NOT_REDIRECTED, CAP_REDIRECT_UNKNOWN, CAP_REDIRECT_KNOWN };
enum cap_redirect cap_crash_redirect(uint64_t base_va, const RUNTIME_FUNCTION *function,
                                     uint64_t pc_va);
/* For a collection the runtime also replaces the return address of managed code by a function of
 * its own.  No call returns to the first byte of a function; what was replaced is not known. */
bool cap_crash_is_hijacked(uint64_t return_va);
/* Only a leaf has no unwind data, and a leaf calls nothing: what is at the top of the stack of a
 * function that made a call is no return address.  It is if the function ends after the call, which
 * returns to RETURN_VA: with a return, as in the functions of Wine's ntdll that call the system, or
 * with int3, as in the NakedThrowHelper of coreclr, to which a fault in managed code is led. */
bool cap_crash_ends_at(uint64_t return_va);
/* Nothing says where the caller of the function is to which a call returns at RETURN_VA. */
bool cap_crash_is_blind(uint64_t return_va);
/* If the interrupted CONTEXT is in a stack probe of a library that has no unwind data: leaves it.
 */
bool cap_crash_leave_probe(CONTEXT *context, struct cap_bounds bounds);
/* If the interrupted CONTEXT, in FUNCTION, is in an epilogue that ends with a jump: leaves it (see
 * epilogue.h). */
bool cap_crash_leave_by_jump(CONTEXT *context, uint64_t base_va, const RUNTIME_FUNCTION *function,
                             struct cap_bounds bounds);
#endif

/* ---- ring.c: captures on demand ---- */
/* BYTES 0: no ring.  False: too small, or no memory. */
bool cap_ring_start(uint64_t bytes);
void cap_ring_stop(void);
/* The next entry from *CURSOR on (0: the oldest) and its length in words; 0: that was all. */
uint32_t cap_crash_ring_read(uint64_t *cursor, uint64_t out[CAP_CAPTURE_WORDS]);
/* False: nothing was ever captured. */
bool cap_crash_ring_totals(uint64_t *asked, uint64_t *cost_ns, uint64_t *dearest_ns);

/* ---- write_record.c: called by the monitor only ---- */
void cap_crash_record_begin(uint32_t kind, uint32_t thread_id, const EXCEPTION_RECORD *exception,
                            uint32_t hooks);
void cap_crash_record_modules(void);
void cap_crash_record_threads(const struct cap_thread *threads, uint32_t count);
void cap_crash_record_stack(const struct cap_walk *walk);
void cap_crash_record_code_map(void);
void cap_crash_record_captures(void);
void cap_crash_record_timing(uint32_t stage, uint32_t walker, uint64_t ns, uint64_t bytes);
/* How long the suspect was stopped: until its stack was copied, until the last frame, and until the
 * dump was written. */
struct cap_stops {
    uint64_t copy_ns, rtl_ns, dump_ns;
};
void cap_crash_record_stops(const struct cap_stops *stops, uint32_t samples,
                            uint32_t left_suspended);
/* Header, THREADS and MODULES for the dump's user stream; valid until the next call. */
const void *cap_crash_dump_stream(uint32_t *bytes);

/* ---- write_minidump.c ---- */
/* Writes into FILE; EXCEPTION is NULL for a hang.  0: the dump is whole and kept, and bytes_out and
 * ns_out are set; else RECORD_NO_DUMP_WRITER or RECORD_NO_DUMP_CUT. */
uint32_t cap_dump_write(HANDLE file, EXCEPTION_POINTERS *exception, uint32_t thread_id, bool tuned,
                        uint64_t *bytes_out, uint64_t *ns_out);

/* ---- support.c: threads of cap.process, without allocation; from outside, without bounds ---- */
uint32_t cap_crash_threads(struct cap_thread *out, uint32_t room, uint32_t suspect_id,
                           uint32_t main_id);

/* ---- runner.c ---- */
enum cap_runner { CAP_RUNNER_WALK, CAP_RUNNER_DUMP, CAP_RUNNER_CRASHED, CAP_RUNNER_LOCKED };
bool cap_runners_start(void);
/* A runner whose job does not come back is left; it ends when it does. */
void cap_runners_stop(void);
/* Waits until the thread just made runs: its start-up takes locks that the program may
 * hold by the time of the first hang. */
bool cap_wait_for_thread(void);
/* Makes *EVENT unless it is there; it is then not set. */
bool cap_event(HANDLE *event, bool stays_set);
/* Runs JOB on a runner; false: not done in time (it may still finish), still busy, or JOB
 * faulted. */
bool cap_crash_run(enum cap_runner runner, void (*job)(void *), void *argument, uint32_t limit_ms);
/* The same in two steps, for a job that runs while the monitor works. */
bool cap_crash_start(enum cap_runner runner, void (*job)(void *), void *argument);
bool cap_crash_finish(enum cap_runner runner, uint32_t limit_ms);
/* Waits until a job that missed its limit has come back; false: it has not. */
bool cap_crash_wait_idle(enum cap_runner runner, uint32_t limit_ms);
/* A job was given and has not come back. */
bool cap_crash_busy(enum cap_runner runner);
/* The calling thread is WHICH, and does its jobs until END is set. */
void cap_crash_serve_until(enum cap_runner which, HANDLE end);

/* ---- on_crash.c, on_hang.c ---- */
bool cap_hooks_open(void);
void cap_hooks_close(void);
void cap_crash_take(void); /* monitor: the claimed crash becomes a case; ends the process */
void cap_hang_check(void); /* monitor: every CAPTURE_POLL_MS */

/* ---- stopped.c: the threads, and which of them are suspended by us ---- */
struct cap_stopped {
    struct cap_thread threads[CAP_THREADS];
    uint32_t count;
    volatile LONG stopped[CAP_THREADS];
    uint32_t left_suspended; /* could not be resumed */
    bool has_locks;          /* the heap and the loader are CAP_RUNNER_LOCKED's, that is ours */
};
extern struct cap_stopped cap_stopped;

/* Whether no thread holds the lock under which the system puts together where it looks for a DLL.
 * The writer needs it as well, and it cannot be taken beforehand. Its holder asks for the heap: if
 * that is ours, the holder goes on only once it is given back. False after LIMIT_MS:
 * CAP_RUNNER_WALK stays busy until then. */
bool cap_crash_search_is_free(uint32_t limit_ms);
/* CAP_RUNNER_DUMP is busy because it waits for them. */
bool cap_crash_waits_for_locks(void);
/* Takes the lock of the loader for the calling thread, which may have it already, unless another
 * one has it or waits for it. */
bool cap_crash_try_loader(uintptr_t *cookie);
void cap_crash_unlock_loader(uintptr_t cookie);
void cap_crash_close_threads(void);
/* The suspect comes first, in the record as well as in time. False: the thread is gone. */
bool cap_crash_list_threads(uint32_t suspect_id);
/* False: it is one of ours, or gone, or cannot be suspended. */
bool cap_crash_stop_thread(uint32_t i);
/* All threads from the FIRST one on. */
void cap_crash_stop_from(uint32_t first);
void cap_crash_resume_thread(uint32_t i);
void cap_crash_resume_all(void);
/* Takes the locks of the heap and the loader on CAP_RUNNER_DUMP, which then is CAP_RUNNER_LOCKED
 * until they are released. Sets has_locks, unless a thread does not give them away. Threads from
 * the FIRST one on may be suspended for moments meanwhile. */
void cap_crash_hold_locks(uint32_t first);
void cap_crash_release_held(void);
void cap_crash_let_all_go(void);
/* All threads are suspended. False: one of them holds what the writer would wait for, and waits
 * itself for the locks that are ours. All have gone on then; TRIES counts. With IS_RESCUED, and
 * after the last try, the locks are released instead. */
bool cap_crash_may_write(bool is_rescued, int *tries);
/* Stops all threads but the crashed one and ours while none of them holds a lock that a dump needs.
 * False: there is no such moment, and all run. */
bool cap_crash_stop_others(uint32_t crashed_id);

/* ---- outside.c: a watcher takes the case.  The last two are false without a watcher. ---- */
bool cap_outside_start(const struct capture_options *options);
bool cap_outside_beat(void);
bool cap_outside_pause(void);

/* ---- take.c: after the first walk; the cheap walkers, the dumps, then the walkers that may hold
 * up a dump: dbghelp's, and those of a suspended thread ---- */
struct cap_subject {
    EXCEPTION_POINTERS *exception; /* NULL: a hang */
    const CONTEXT *seed;
    HANDLE thread;
    uint32_t thread_id, sample;
    struct cap_bounds bounds;
    bool seed_is_return;
    bool is_suspended;        /* by us, until the last walker has ended     */
    bool can_run;             /* the thread itself can be given jobs        */
    bool has_locks;           /* CAP_RUNNER_LOCKED holds them and gets the jobs */
    bool is_alone;            /* all other threads are stopped, and hold no lock */
    const char *no_backtrace; /* why not                                    */
};
void cap_crash_cheap_walkers(const struct cap_subject *subject);
void cap_crash_late_walkers(const struct cap_subject *subject);
uint32_t cap_crash_dump_limit_ms(void);
/* Returns false when the dump did not come within LIMIT_MS; the record then says why. */
bool cap_crash_dump(const struct cap_subject *subject, bool tuned, uint32_t limit_ms);

#endif
