/* A copy of a suspended thread: its registers and the used part of its stack.
 *
 * While a thread is suspended, only this code runs: no lock, no allocation, no system call but
 * GetThreadContext.  Whatever locks the thread holds, it is resumed after some microseconds, and
 * then the copy is walked. */
#include "capture/cap.h"

static void copy_memory(void *argument)
{
    struct cap_copy *out = argument;
    COPY_BYTES(out->memory, (const void *)(uintptr_t)out->low_va, (size_t)out->bytes);
}

static uint64_t stack_pointer(const CONTEXT *context)
{
#if defined(_WIN64)
    return context->Rsp;
#else
    return context->Esp;
#endif
}

bool cap_crash_copy_thread(HANDLE thread, struct cap_bounds bounds, struct cap_copy *out)
{
    out->bytes = 0;
    out->copy_ns = 0;
    out->is_cut = false;
    out->context.ContextFlags = CONTEXT_FULL;
    if (!GetThreadContext(thread, &out->context))
        return false;
    out->low_va = stack_pointer(&out->context) & ~(uint64_t)15; /* keeps the stack's alignment */
    if (!cap_crash_within(bounds, out->low_va))
        return true; /* nothing to copy: the walk has only the registers */
    out->bytes = bounds.high_va - out->low_va;
    if (out->bytes > CAP_COPY_BYTES) {
        out->bytes = CAP_COPY_BYTES;
        out->is_cut = true;
    }
    const uint64_t start_ns = cap_crash_now_ns();
    if (!cap_crash_guarded(copy_memory, out))
        out->bytes = 0;
    out->copy_ns = cap_crash_now_ns() - start_ns;
    return true;
}
