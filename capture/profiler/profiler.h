/* The profiler: a DLL that a .NET runtime loads.  It gives the capture of its process the code map
 * of managed code, and snapshots of managed stacks (DoStackSnapshot).
 *
 * A host program loads the DLL, calls profiler_attach(), and then starts the runtime with
 * CORECLR_ENABLE_PROFILING=1, CORECLR_PROFILER=PROFILER_CLASS and CORECLR_PROFILER_PATH. */
#ifndef CAPTURE_PROFILER_PROFILER_H
#define CAPTURE_PROFILER_PROFILER_H

#include "capture/capture_port.h"

/* The runtime asks for a class by number; the profiler answers to any. */
#define PROFILER_CLASS L"{8C7A1D2E-5F0B-4E3A-9B61-2D4C6E8F0A13}"

/* The capture of the host program, which the DLL does not link. */
struct profiler_capture {
    uint32_t size; /* sizeof(struct profiler_capture): it grows at its end */
    bool no_inlining;
    uint32_t (*register_assembly)(const wchar_t *path, const void *base, const uint8_t mvid[16]);
    bool (*register_method)(const struct capture_method *method);
    bool (*register_code)(const char *name, const void *start, uint64_t bytes);
    void (*use_snapshots)(capture_snapshot_fn *snapshot);
    bool watch_collections; /* their starts are counted; they then run in the foreground */
    uint32_t pause_ms;      /* before a snapshot, so that a test meets the end of its thread */
    bool
        needs_heap; /* each frame of a snapshot does, so that a test meets a thread that holds it */
    bool no_answer; /* Wine's silence about traps stays, so that a test meets a refusal */
};

/* Before the runtime starts.  CAPTURE is copied. */
typedef void profiler_attach_fn(const struct profiler_capture *capture);

/* What happened so far, by which a test sees that the rules in profiler.c are kept. */
struct profiler_counts {
    uint32_t runtime_calls;       /* questions that callbacks asked the runtime         */
    uint32_t calls_under_lock;    /* of these, by a thread that held a lock of ours: 0  */
    uint32_t collections;         /* that started, if they are watched                  */
    uint32_t collections_by_us;   /* of these, by a thread that held a lock of ours: 0  */
    uint32_t snapshots;           /* that the runtime was asked for                     */
    uint32_t snapshots_at_once;   /* the most at a time: 1                              */
    uint32_t snapshots_not_tried; /* another one was being taken                        */
    uint32_t threads_ended;
    uint32_t ended_when_walked; /* their snapshot was being taken, so their end waited  */
    uint32_t freed_when_walked; /* an end that did not wait: 0                          */
};
typedef void profiler_counts_fn(struct profiler_counts *out);

#endif
