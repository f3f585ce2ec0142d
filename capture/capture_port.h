/* The capture as a host program sees it, and everything that the victims need from one: ours, or
 * any library that follows this header (cmake -S victims -DTWINSTACK_CAPTURE=<library>).
 *
 * capture_install() once, early; from then on an unhandled crash leaves a case in the folder
 * and ends the process with the exception's code.  A program whose hangs are to be reported calls
 * capture_heartbeat() from the thread to be watched: the first call arms the watch, a pause
 * longer than hang_ms fires it.  Ours checks every CAPTURE_POLL_MS: it finds a hang at most that
 * long after hang_ms, plus scheduling delays (the record states how late it was), and captures it
 * unless the thread continues while it is sampled, four times 20 ms.  A hang that ends leaves its
 * capture, and the watch goes on; a crash that follows is captured as well.
 *
 * Ours leaves one record and up to two dumps per capture, under names of their own
 * (capture-TIME-PID.rec, .dmp, -tuned.dmp).  They stay until the host takes them, usually at its
 * next start: capture_pending().
 *
 * The files that a library of your own leaves in the folder, innermost frame first:
 *   stack.txt   `> thread ID` of the crashed or hanging thread, then `module!0xOFFSET` per line,
 *               `?!0xADDRESS` outside of modules; the first is an interrupted place, the others
 *               return addresses, unless @i or @r says otherwise.  Or record.rec, as
 *               capture/record.h has it
 *   dump.dmp    a minidump, if it writes any; one that writes none says so when the victims are
 *               built, by -DTWINSTACK_SUBJECTS=offset:rtl, and is judged by its stacks alone
 * A library returns false for features that it lacks, and ignores options that it does not have.
 *
 * Units: sizes are bytes, times milliseconds (names that end in _ms). Text of char is UTF-8.
 *
 * Ownership: arguments are borrowed during the call, and copied where they are needed longer;
 * functions stay in use until capture_uninstall(). Nothing is returned that has to be freed.
 *
 * Errors: a function that can fail returns false, or 0 for a number, and its comment says why. None
 * prints anything. What a capture could not do is stated in its record.
 *
 * Threads: any thread may call any function at any time, also while others do, unless its comment
 * says otherwise. */
#ifndef CAPTURE_CAPTURE_PORT_H
#define CAPTURE_CAPTURE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CAPTURE_VERSION = 1, CAPTURE_POLL_MS = 10 };

/* Exit code of a process that the capture ended after recording a hang. */
#define CAPTURE_EXIT_HANG 0xCA970001u

struct capture_options {
    uint32_t version;        /* CAPTURE_VERSION                                               */
    uint32_t size;           /* sizeof(struct capture_options): it grows at its end           */
    const wchar_t *folder;   /* where the files go; must exist; borrowed during the call      */
    uint32_t hang_ms;        /* a pause between heartbeats that counts as a hang; 0: no watch */
    uint32_t walkers;        /* bits 1 << RECORD_WALKER_*; `rtl` always walks; 0: all         */
    bool end_after_hang;     /* end the process with CAPTURE_EXIT_HANG once a hang is recorded */
    uint32_t hang_samples;   /* samples of the hanging thread, 20 ms apart; 0: 5              */
    uint64_t ring_bytes;     /* memory for capture_now(); 0: none                             */
    bool from_outside;       /* install no hooks; a watcher process captures everything, with
                              * dbghelp */
    bool tuned_dump;         /* also write the dump in its cheapest form                      */
    void (*on_crash)(void);  /* on the crashed thread, once everything is on disk; NULL: none */
    uint32_t keep_count;     /* number of captures to keep in the folder; 0: 32 */
    uint64_t keep_bytes;     /* and their total size; 0: 512 MB */
    bool offsets_only;       /* write no dump: a hanging thread is stopped only while its stack is
                              * copied */
    uint32_t dump_limit_ms;  /* a dump that takes longer is given up; 0: 25000 */
    uint32_t hangs_per_hour; /* that are recorded, if the process goes on after them; 0: 6 */
    bool full_memory;        /* the dump has all memory of the process, not only its stacks */
};

/* One capture that an ended process left in a folder.  Strings are valid during the call. */
struct capture_report {
    uint32_t size;             /* sizeof(struct capture_report): it grows at its end */
    const wchar_t *record;     /* path; NULL: none                                   */
    const wchar_t *dump;       /* path; NULL: none                                   */
    const wchar_t *dump_tuned; /* path; NULL: none                                   */
    uint64_t bytes;            /* total size of these files */
    uint32_t no_dump;          /* CAPTURE_NO_DUMP_*, as the record states it; 0: there is a dump, or
                                * nothing states why there is none */
};

/* Why a capture has a record and no dump. */
enum capture_no_dump {
    CAPTURE_NO_DUMP_LOADER = 1, /* another thread held the lock of the loader */
    CAPTURE_NO_DUMP_HEAP = 2,   /* another thread held the lock of the process's heap */
    CAPTURE_NO_DUMP_WALKER = 3, /* a walker had not come back, and dbghelp serves one thread */
    CAPTURE_NO_DUMP_LIMIT = 4,  /* it took longer than dump_limit_ms */
    CAPTURE_NO_DUMP_WRITER = 5, /* MiniDumpWriteDump failed or faulted */
    CAPTURE_NO_DUMP_CUT = 6,    /* a part of it could not be written, as on a full disk */
};

/* Removes the oldest captures beyond keep_count and keep_bytes, then installs. False: the options
 * have another version, or the files could not be opened, or the helper threads could not be
 * started, and nothing is installed; or a capture is installed already, which stays. May be called
 * again after capture_uninstall() and after a failure, on any thread. */
bool capture_install(const struct capture_options *options);

/* Writes what is in the ring, removes the hooks, ends the helper threads, and removes the files if
 * nothing was captured. Without a capture that is installed, and in on_crash(), does nothing. Not
 * for a DllMain: the threads could not end. */
void capture_uninstall(void);

/* Calls TAKE for each finished capture in FOLDER, the oldest first, and returns
 * how many there were. TAKE returns true to remove the files (because they were sent or copied),
 * false to keep them for the next time. If TAKE is NULL, captures are only counted. A folder that
 * cannot be read has none. Allocates nothing; may be called before and after capture_install(). One
 * thread at a time: two would both get the same capture. */
uint32_t capture_pending(const wchar_t *folder,
                         bool (*take)(const struct capture_report *report, void *context),
                         void *context);

/* Arms the watch of the first thread that calls it; other threads must not. Without a capture that
 * is installed, does nothing. */
void capture_heartbeat(void);

/* The hook for std::set_terminate; it belongs to the host's C++ library. Captures the calling
 * thread and ends the process; without a capture that is installed, returns. */
void capture_on_terminate(void);

/* The watched thread is about to idle: no hang is reported until its next heartbeat. */
void capture_heartbeat_pause(void);

/* One function of code made at run time, so that its frames get names, in offset stacks and in
 * dumps. Register it after its function table, if it has one: without a table, dumps cannot be
 * walked through it, and the crash path does not ask the system for one. NAME is copied, up to 63
 * bytes. False: no room left (the record counts what had none), or no region of memory. */
bool capture_register_code(const char *name, const void *start, uint64_t bytes);

/* ---- managed code: what a .NET profiler knows (capture/profiler) ---- */

/* From this offset of a method's native code on, its code is that of IL_OFFSET; above
 * CAPTURE_IL_LAST there is none (no mapping, prologue, epilogue). */
struct capture_il {
    uint32_t native_offset, il_offset;
};
#define CAPTURE_IL_LAST 0xFFFFFF00u

/* One method that the runtime has compiled. */
struct capture_method {
    uint32_t size;     /* sizeof(struct capture_method): it grows at its end */
    uint32_t token;    /* 0x06......, in its assembly's metadata              */
    uint32_t assembly; /* as capture_register_assembly() numbered it; 0: none */
    uint32_t map_count;
    const struct capture_il *map; /* in any order */
    const void *start;            /* of the native code: its handlers come after it */
    uint64_t bytes;
    const char *type_arguments; /* of generic code, as in METHODS of record.h; NULL: not known */
};

/* An assembly that was loaded at BASE (NULL: not known), and the MVID of its metadata. Returns its
 * number; 0: no room left. */
uint32_t capture_register_assembly(const wchar_t *path, const void *base, const uint8_t mvid[16]);

/* After the runtime has registered the method's unwind data. Copies everything; takes no lock.
 * False: no room left (the record counts what had none), or no method: an older size, no region of
 * memory, no map although MAP_COUNT says so. */
bool capture_register_method(const struct capture_method *method);

/* Frames of a snapshot, innermost first: managed ones by PC, runs of native ones by their registers
 * (a CONTEXT). False: no more. */
typedef bool capture_frame_fn(void *data, const void *pc, const void *native);

/* Takes a snapshot of a suspended thread, or of the calling one; SEED (a CONTEXT; NULL: none) is
 * where to start. Returns the runtime's HRESULT. */
typedef int32_t capture_snapshot_fn(uint32_t thread_id, const void *seed, uint32_t seed_bytes,
                                    capture_frame_fn *add, void *data);

/* From now on the walkers of managed code call SNAPSHOT (NULL: none), in the capture's threads or
 * in the crashed one. It stays in use until the process ends. */
void capture_use_snapshots(capture_snapshot_fn *snapshot);

/* Puts the calling thread's stack into the ring: a few microseconds, no lock, no file. The ring
 * keeps the last captures that fit, each some 100 to 300 bytes. LABEL is copied, up to 128 bytes;
 * NULL: none. They go into the record of a crash or hang, or capture_flush() and
 * capture_uninstall() write them to a record of their own. False: there is no ring. */
bool capture_now(const char *label);

/* Writes the current content of the ring, and waits for that, at most 20 seconds. A later record
 * replaces this one, with the ring's content at that time. False: there was nothing to write, a
 * crash or another flush is in progress, or the monitor did not answer. */
bool capture_flush(void);

#ifdef __cplusplus
}
#endif

#endif
