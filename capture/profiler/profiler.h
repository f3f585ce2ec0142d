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
};

/* Before the runtime starts.  CAPTURE is copied. */
typedef void profiler_attach_fn(const struct profiler_capture *capture);

#endif
