/* The walker `dbghelp`: StackWalk64 exactly as in the article: SymInitialize once at the start, one
 * walk at a time, the library's own callbacks, no read routine.
 *
 * May call: StackWalk64, SymFunctionTableAccess64, SymGetModuleBase64. They allocate, so it runs on
 * a runner under a limit. */
#include "capture/cap.h"

#include <dbghelp.h>

enum { FRAME_LIMIT = 256 }; /* 0.4 to 1.4 ms per frame under Wine: keep deep stacks bounded */

static uint32_t walk(CONTEXT *context, HANDLE thread, bool seed_is_return, struct cap_walk *out)
{
    STACKFRAME64 frame = {0};
#if defined(_WIN64)
    const DWORD machine = IMAGE_FILE_MACHINE_AMD64;
    frame.AddrPC.Offset = context->Rip;
    frame.AddrFrame.Offset = context->Rbp;
    frame.AddrStack.Offset = context->Rsp;
#else
    const DWORD machine = IMAGE_FILE_MACHINE_I386;
    frame.AddrPC.Offset = context->Eip;
    frame.AddrFrame.Offset = context->Ebp;
    frame.AddrStack.Offset = context->Esp;
#endif
    frame.AddrPC.Mode = frame.AddrFrame.Mode = frame.AddrStack.Mode = AddrModeFlat;

    for (uint32_t n = 0; n < FRAME_LIMIT; n++) {
        if (!StackWalk64(machine, cap.process, thread, &frame, context, NULL,
                         SymFunctionTableAccess64, SymGetModuleBase64, NULL))
            return RECORD_STOP_WALKER;
        if (frame.AddrPC.Offset == 0 && n > 0)
            return RECORD_STOP_RETURN_ZERO;
        bool is_return = n > 0 || seed_is_return;
        cap_crash_walk_add(out, frame.AddrPC.Offset, is_return ? RECORD_FRAME_RETURN : 0u,
                           n > 0 ? RECORD_FOUND_UNWIND : RECORD_FOUND_CONTEXT);
        if (cap_crash_within(cap.thread_start, frame.AddrPC.Offset))
            return RECORD_STOP_END;
    }
    return RECORD_STOP_LIMIT;
}

void cap_walk_dbghelp(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                      bool seed_is_return, struct cap_walk *out)
{
    (void)bounds;
    cap_walk_guarded(walk, seed, thread, seed_is_return, out);
}
