/* The walker `dbghelp-own`: StackWalk64 with callbacks of our own: memory by plain copies, function
 * tables from the system's lists, module bases from our table, and a call to an invalid address
 * popped beforehand. Faster by orders of magnitude than dbghelp's own callbacks, and it knows DLLs
 * that were loaded late.
 *
 * May call: StackWalk64, RtlLookupFunctionEntry, GetCurrentProcess. The first allocates, so it runs
 * on a runner under a limit. */
#include "capture/cap.h"

#include <dbghelp.h>

#if defined(_WIN64)
enum { MACHINE = IMAGE_FILE_MACHINE_AMD64 };
#define PC Rip
#define SP Rsp
#define FP Rbp
#else
enum { MACHINE = IMAGE_FILE_MACHINE_I386 };
#define PC Eip
#define SP Esp
#define FP Ebp
#endif

static BOOL CALLBACK read_memory(HANDLE process, DWORD64 va, PVOID to, DWORD bytes, LPDWORD got)
{
    (void)process;
    *got = cap_crash_copy_guarded(to, va, bytes) ? bytes : 0;
    return *got == bytes;
}

static PVOID CALLBACK function_table(HANDLE process, DWORD64 va)
{
    (void)process;
#if defined(_WIN64)
    DWORD64 base;
    return RtlLookupFunctionEntry(va, &base, NULL);
#else
    (void)va;
    return NULL;
#endif
}

static DWORD64 CALLBACK module_base(HANDLE process, DWORD64 va)
{
    (void)process;
#if defined(_WIN64)
    DWORD64 base = 0;
    if (RtlLookupFunctionEntry(va, &base, NULL) != NULL)
        return base;
#endif
    int module = cap_crash_module_at(va);
    return module < 0 ? 0 : cap.modules[module].base_va;
}

/* On x86 it uses a process handle that dbghelp does not know, so that it looks into no PDB: there
 * are none where the program is deployed. What remains is frame pointers. */
static HANDLE process_of_walk(void)
{
    static const char nobody[1];
    return sizeof(void *) == 8 ? GetCurrentProcess() : (HANDLE)(uintptr_t)nobody;
}

static uint32_t walk(CONTEXT *context, HANDLE thread, bool seed_is_return, struct cap_walk *out)
{
    STACKFRAME64 frame = {0};
    bool first = true;
    if (!cap_crash_in_loaded_module(context->PC) && function_table(NULL, context->PC) == NULL) {
        cap_crash_walk_add(out, context->PC, seed_is_return ? RECORD_FRAME_RETURN : 0u,
                           RECORD_FOUND_CONTEXT);
        context->PC = *(const uintptr_t *)(uintptr_t)context->SP;
        context->SP += sizeof(void *);
        first = false;
    }
    frame.AddrPC.Offset = context->PC;
    frame.AddrFrame.Offset = context->FP;
    frame.AddrStack.Offset = context->SP;
    frame.AddrPC.Mode = frame.AddrFrame.Mode = frame.AddrStack.Mode = AddrModeFlat;

    for (uint32_t n = 0; n < CAP_FRAME_LIMIT; n++, first = false) {
        if (!StackWalk64(MACHINE, process_of_walk(), thread, &frame, context, read_memory,
                         function_table, module_base, NULL))
            return RECORD_STOP_WALKER;
        if (frame.AddrPC.Offset == 0 && n > 0)
            return RECORD_STOP_RETURN_ZERO;
        cap_crash_walk_add(out, frame.AddrPC.Offset,
                           !first || seed_is_return ? RECORD_FRAME_RETURN : 0u,
                           first ? RECORD_FOUND_CONTEXT : RECORD_FOUND_UNWIND);
        if (cap_crash_within(cap.thread_start, frame.AddrPC.Offset))
            return RECORD_STOP_END;
    }
    return RECORD_STOP_LIMIT;
}

void cap_walk_dbghelp_own(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                          bool seed_is_return, struct cap_walk *out)
{
    (void)bounds;
    cap_walk_guarded(walk, seed, thread, seed_is_return, out);
}
