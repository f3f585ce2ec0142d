/* The walker `rtl`: RtlVirtualUnwind, frame by frame, by the unwind data of modules that we
 * found ourselves and, for generated code, that of RtlLookupFunctionEntry.
 *
 * May call: RtlVirtualUnwind, RtlLookupFunctionEntry, VirtualQuery.  None of them allocates;
 * RtlLookupFunctionEntry takes a lock of the system, so it is asked only about
 * code in no module, which may have registered a table at run time.  A suspended thread may hold
 * that lock: hence cap_crash_walk_copy(), which walks a copy of the stack after the thread runs
 * again.  `rtl-suspended` is the same walk while the thread is suspended. */
#include "capture/cap.h"

enum {
    UNWIND_PUSH_NONVOL = 0,
    UNWIND_ALLOC_LARGE = 1,
    UNWIND_SAVE_NONVOL = 4,
    UNWIND_SAVE_NONVOL_FAR = 5,
    UNWIND_EPILOG = 6,
    UNWIND_SPARE = 7,
    UNWIND_SAVE_XMM128 = 8,
    UNWIND_SAVE_XMM128_FAR = 9,
    UNWIND_PUSH_MACHFRAME = 10,
};

#if defined(_WIN64)

enum codes { CODES_PLAIN, CODES_MACHINE_FRAME, CODES_UNKNOWN };

/* True when the function saves its caller as an interrupted place, or uses an undefined unwind
 * code, so that RtlVirtualUnwind could only guess. Reads UNWIND_INFO: version and flags, prologue
 * size, count of codes, frame register, then 2-byte codes. */
static enum codes codes_of(uint64_t base_va, const RUNTIME_FUNCTION *function)
{
    const uint8_t *info = (const uint8_t *)(uintptr_t)(base_va + function->UnwindData);
    const uint32_t count = info[2];
    for (uint32_t i = 0; i < count;) {
        uint32_t op = info[4 + 2 * i + 1] & 15, large = info[4 + 2 * i + 1] >> 4;
        if (op == UNWIND_PUSH_MACHFRAME)
            return CODES_MACHINE_FRAME;
        if (op == UNWIND_SPARE || op > UNWIND_PUSH_MACHFRAME)
            return CODES_UNKNOWN;
        if (op == UNWIND_ALLOC_LARGE)
            i += large == 0 ? 2 : 3;
        else if (op == UNWIND_SAVE_NONVOL || op == UNWIND_SAVE_XMM128)
            i += 2;
        else if (op == UNWIND_SAVE_NONVOL_FAR || op == UNWIND_SAVE_XMM128_FAR)
            i += 3;
        else
            i += 1;
    }
    return CODES_PLAIN;
}

static bool is_executable(uint64_t va)
{
    MEMORY_BASIC_INFORMATION info;
    const DWORD executable =
        PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
    if (cap_crash_in_loaded_module(va)) /* quick answer for nearly every frame */
        return true;
    return VirtualQuery((const void *)(uintptr_t)va, &info, sizeof info) != 0 &&
           info.State == MEM_COMMIT && (info.Protect & executable) != 0;
}

/* Pops a return address, as a leaf's RET would. False: there is nothing to pop. */
static bool pop_return(CONTEXT *context, struct cap_bounds bounds)
{
    if (!cap_crash_within(bounds, context->Rsp) || context->Rsp + 8 > bounds.high_va)
        return false;
    context->Rip = *(const uint64_t *)(uintptr_t)context->Rsp;
    context->Rsp += 8;
    return true;
}

static bool top_is_code(const CONTEXT *context, struct cap_bounds bounds)
{
    return context->Rsp + 8 <= bounds.high_va &&
           is_executable(*(const uint64_t *)(uintptr_t)context->Rsp - 1);
}

/* Code made at run time without unwind data usually keeps frame pointers. A frame pointer is
 * followed only if the frame is further up the stack and returns into code. */
static bool pop_frame_pointer(CONTEXT *context, struct cap_bounds bounds)
{
    const uint64_t fp = context->Rbp;
    if (fp % 8 != 0 || fp < context->Rsp || fp + 16 > bounds.high_va)
        return false;
    const uint64_t *at = (const uint64_t *)(uintptr_t)fp;
    if (!is_executable(at[1] - 1))
        return false;
    context->Rbp = at[0];
    context->Rip = at[1];
    context->Rsp = fp + 16;
    return true;
}

struct step {
    bool is_return; /* of the current frame, then of the next */
    uint32_t found; /* how the next frame was found            */
};

/* Moves CONTEXT to the caller. Returns RECORD_STOP_LIMIT to continue, else the stop reason. */
static uint32_t step_out(CONTEXT *context, struct cap_bounds bounds, bool first, struct step *step)
{
    const uint64_t pc = context->Rip, lookup = step->is_return ? pc - 1 : pc;
    DWORD64 base = 0, establisher = 0;
    PVOID handler_data = NULL;
    const RUNTIME_FUNCTION *function = NULL;

    if (!(first && !is_executable(pc)))
        function = cap_crash_function_at(lookup, &base);
    if (function == NULL) {
        /* After a call to an invalid address, and in a leaf, the return address is at the top of
         * the stack. In code of unknown origin a frame pointer is the better guess. */
        if (is_executable(lookup) && !cap_crash_in_loaded_module(lookup) &&
            !(first && top_is_code(context, bounds))) {
            if (!pop_frame_pointer(context, bounds))
                return RECORD_STOP_NO_UNWIND;
            step->is_return = true;
            step->found = RECORD_FOUND_FRAME_POINTER;
            return RECORD_STOP_LIMIT;
        }
        if (!first && !cap_crash_in_loaded_module(lookup))
            return RECORD_STOP_NO_UNWIND;
        const bool is_probe = !step->is_return && cap_crash_in_loaded_module(pc) &&
                              cap_crash_leave_probe(context, bounds);
        if (!is_probe && step->is_return && cap_crash_in_loaded_module(lookup) &&
            !cap_crash_ends_at(pc))
            return RECORD_STOP_NO_UNWIND;
        if (!is_probe && !pop_return(context, bounds))
            return RECORD_STOP_STACK_BOUNDS;
        step->is_return = true;
        step->found = RECORD_FOUND_LEAF;
        return RECORD_STOP_LIMIT;
    }
    const enum codes codes = codes_of(base, function);
    if (codes == CODES_UNKNOWN)
        return RECORD_STOP_NO_UNWIND;
    const enum cap_redirect redirect = cap_crash_redirect(base, function, pc);
    if (redirect == CAP_REDIRECT_UNKNOWN)
        return RECORD_STOP_HIJACKED;
    bool interrupted = cap_crash_within(cap.dispatcher, lookup) || codes == CODES_MACHINE_FRAME ||
                       redirect == CAP_REDIRECT_KNOWN;
    step->found = RECORD_FOUND_UNWIND;
    if (!step->is_return && cap_crash_leave_by_jump(context, base, function, bounds)) {
        step->is_return = true;
        return RECORD_STOP_LIMIT;
    }
    /* The return address of a call that never returns may be past the end of its function. */
    bool past_end = step->is_return && pc - base >= function->EndAddress;
    RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, past_end ? lookup : pc,
                     (PRUNTIME_FUNCTION)(uintptr_t)function, context, &handler_data, &establisher,
                     NULL);
    step->is_return = !interrupted;
    return RECORD_STOP_LIMIT;
}

/* Moves each register that points into the stack of the thread to the same place in the copy.
 * Unwinding restores registers from saved values, which point into the thread's own stack, so this
 * is repeated after each step.  A register that only looks like such an address is moved too; that
 * does no harm, since only addresses are followed. */
static void point_into_copy(CONTEXT *context, const struct cap_copy *copy)
{
    const uint64_t by = (uint64_t)(uintptr_t)copy->memory - copy->low_va;
    for (DWORD64 *at = &context->Rax; at <= &context->R15; at++)
        if (*at >= copy->low_va && *at - copy->low_va <= copy->bytes)
            *at += by;
}

/* In a runtime that makes code, an address that is no code is not shown as a caller: the unwind
 * data does not describe this place, such as Wine's RtlCaptureContext after it pushed the flags. */
static bool is_no_caller(uint64_t return_va)
{
    return cap_managed.method_count > 0 && !is_executable(return_va - 1);
}

/* A stack ends close to where it starts: a walk that reaches an end anywhere else went wrong, or
 * the stack is damaged.  START_BYTES is more than any system keeps there. */
static uint32_t end_at(uint64_t sp_va, struct cap_bounds bounds, uint32_t stop)
{
    enum { START_BYTES = 8192 };
    return bounds.high_va - sp_va <= START_BYTES ? stop : RECORD_STOP_TOO_EARLY;
}

/* COPY NULL: the stack itself is walked. */
static uint32_t walk(CONTEXT *context, struct cap_bounds bounds, struct step step,
                     const struct cap_copy *copy, struct cap_walk *out)
{
    step.found = RECORD_FOUND_CONTEXT;
    for (uint32_t n = 0; n < CAP_FRAME_LIMIT; n++) {
        if (copy != NULL)
            point_into_copy(context, copy);
        const uint64_t pc = context->Rip, sp = context->Rsp;
        cap_crash_walk_add(out, pc, step.is_return ? RECORD_FRAME_RETURN : 0u, step.found);
        if (cap_crash_within(cap.thread_start, pc))
            return end_at(sp, bounds, RECORD_STOP_END);
        if (n == 0 && (!cap_crash_within(bounds, sp) || sp % 8 != 0))
            return RECORD_STOP_BAD_SEED;
        uint32_t stop = step_out(context, bounds, n == 0, &step);
        if (stop != RECORD_STOP_LIMIT)
            return stop;
        if (copy != NULL)
            point_into_copy(context, copy);
        if (context->Rip == 0)
            return end_at(context->Rsp, bounds, RECORD_STOP_RETURN_ZERO);
        if (step.is_return && cap_crash_is_hijacked(context->Rip))
            return RECORD_STOP_HIJACKED;
        if (step.is_return && is_no_caller(context->Rip))
            return RECORD_STOP_NO_UNWIND;
        if (context->Rsp <= sp)
            return RECORD_STOP_NO_PROGRESS;
        if (context->Rsp > bounds.high_va)
            return RECORD_STOP_STACK_BOUNDS;
    }
    return RECORD_STOP_LIMIT;
}

struct walking {
    CONTEXT context;
    struct cap_bounds bounds;
    bool seed_is_return;
    const struct cap_copy *copy;
    struct cap_walk *out;
};

static void walk_now(void *argument)
{
    struct walking *w = argument;
    w->out->stop = walk(&w->context, w->bounds, (struct step){.is_return = w->seed_is_return},
                        w->copy, w->out);
    w->out->left_va = w->context.Rsp;
    if (w->copy != NULL)
        w->out->left_va -= (uint64_t)(uintptr_t)w->copy->memory - w->copy->low_va;
}

/* Walks SEED, whose stack is COPY or, if that is NULL, the thread's own within BOUNDS. */
static void walk_guarded(const CONTEXT *seed, struct cap_bounds bounds, bool seed_is_return,
                         const struct cap_copy *copy, struct cap_walk *out)
{
    struct walking walking = {*seed, bounds, seed_is_return, copy, out};
    const uint64_t start_ns = cap_crash_now_ns();
    if (!cap_crash_guarded(walk_now, &walking))
        out->stop = RECORD_STOP_READ_FAULT;
    if (out->stop == RECORD_STOP_NO_UNWIND && cap.unwind_data_held)
        out->reason = "no unwind data: a thread holds the system's lock over it";
    out->walk_ns = cap_crash_now_ns() - start_ns;
}

void cap_crash_walk_copy(const struct cap_copy *copy, struct cap_walk *out)
{
    const uint64_t low_va = (uintptr_t)copy->memory;
    const struct cap_bounds bounds = {low_va, low_va + copy->bytes};
    walk_guarded(&copy->context, bounds, false, copy, out);
    if (copy->is_cut &&
        (out->stop == RECORD_STOP_STACK_BOUNDS || out->stop == RECORD_STOP_NO_UNWIND))
        out->stop = RECORD_STOP_COPY_END;
    if (copy->is_cut && (out->stop == RECORD_STOP_END || out->stop == RECORD_STOP_RETURN_ZERO))
        out->stop = RECORD_STOP_TOO_EARLY; /* the stack's start is not in the copy */
}

static bool walk_to_managed(CONTEXT *context, struct cap_bounds bounds, struct step step,
                            struct cap_walk *out)
{
    enum { NATIVE_LIMIT = 512 };
    step.found = RECORD_FOUND_CONTEXT;
    for (uint32_t n = 0; n < NATIVE_LIMIT; n++) {
        const uint64_t pc = context->Rip, sp = context->Rsp;
        if (cap_crash_method_at(step.is_return ? pc - 1 : pc) != NULL)
            return true;
        cap_crash_walk_add(out, pc, step.is_return ? RECORD_FRAME_RETURN : 0u, step.found);
        if (!cap_crash_within(bounds, sp))
            return false;
        const uint32_t stop = step_out(context, bounds, n == 0, &step);
        if (stop == RECORD_STOP_HIJACKED)
            out->stop = stop;
        if (stop != RECORD_STOP_LIMIT || context->Rip == 0 || context->Rsp <= sp ||
            (step.is_return && is_no_caller(context->Rip)))
            return false;
    }
    return false;
}

struct managed_walking {
    CONTEXT *managed;
    struct cap_bounds bounds;
    bool seed_is_return, found;
    struct cap_walk *out;
};

static void walk_to_managed_now(void *argument)
{
    struct managed_walking *w = argument;
    const struct step step = {.is_return = w->seed_is_return};
    w->found = walk_to_managed(w->managed, w->bounds, step, w->out);
}

bool cap_crash_walk_to_managed(const CONTEXT *seed, struct cap_bounds bounds, bool seed_is_return,
                               CONTEXT *managed, struct cap_walk *out)
{
    struct managed_walking walking = {managed, bounds, seed_is_return, false, out};
    *managed = *seed;
    return cap_crash_guarded(walk_to_managed_now, &walking) && walking.found;
}

void cap_crash_walk_rtl(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                        bool seed_is_return, struct cap_walk *out)
{
    (void)thread;
    walk_guarded(seed, bounds, seed_is_return, NULL, out);
}

void cap_walk_rtl_suspended(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                            bool seed_is_return, struct cap_walk *out)
{
    (void)thread;
    walk_guarded(seed, bounds, seed_is_return, NULL, out);
}

#else

void cap_crash_walk_rtl(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                        bool seed_is_return, struct cap_walk *out)
{
    (void)thread;
    (void)seed, (void)bounds, (void)seed_is_return;
    cap_crash_walk_not(out, RECORD_STATE_NOT_APPLICABLE, "no table-based unwinding on x86");
}

void cap_walk_rtl_suspended(const CONTEXT *seed, HANDLE thread, struct cap_bounds bounds,
                            bool seed_is_return, struct cap_walk *out)
{
    cap_crash_walk_rtl(seed, thread, bounds, seed_is_return, out);
}

#endif
