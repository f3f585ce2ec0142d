/* steps-VARIANT.exe FILE [WALKERS]: walks at every instruction of steps_tree and writes FILE, a
 * record with STEPS sections (record.h).  WALKERS: names, comma separated; default all.
 *
 * The truth is a shadow stack kept by looking at each instruction before it runs: a call pushes
 * the return address that it left, a ret pops, a jump changes nothing.  It knows no unwind data.
 * Only where the stepped thread began is asked of the system, once, in the body of its first
 * function.
 *
 * Exit status: 0 done, 2 usage, 3 the file or the thread could not be made, 4 cut short. */
#include "victims/steps/stepper.h"

#include <dbghelp.h>
#include <string.h>
#include <wchar.h>

enum {
    STEPS_MAX = 20000,
    THREAD_STACK_BYTES = 4 << 20, /* committed: the shapes do not probe */
    PATH_UNITS = 1024,
    EXIT_USAGE = 2,
    EXIT_NOT_MADE = 3,
    EXIT_CUT = 4,
};

static uint32_t wanted; /* bits 1 << RECORD_WALKER_* */
static struct cap_walk walks[STEPS_WALKS];
static uint32_t step_count;
static bool cut;

/* ---- the truth ---- */

static struct steps_caller callers[STEPS_CALLERS];
static uint32_t caller_count;
static struct {
    uint64_t pc_va, sp_va;
    uint8_t code[16];
} last;

static void push_caller(uint64_t pc_va, uint64_t sp_va)
{
    if (caller_count == STEPS_CALLERS) {
        cut = true;
        return;
    }
    callers[caller_count++] = (struct steps_caller){pc_va, sp_va};
}

static uintptr_t word_at(uint64_t va)
{
    return *(const uintptr_t *)(uintptr_t)va;
}

/* The frames below the stepped thread's first function, outermost first.  On x86 that function and
 * the system's own down there keep frame pointers. */
static void find_thread_start(const CONTEXT *context, struct cap_bounds bounds)
{
    static struct cap_walk start;
    enum { INNER_FRAMES = 2 };
    const uint64_t slot_va = STEPS_SP(context) + STEPS_THREAD_FRAME;
    cap_crash_walk_begin(&start, RECORD_WALKER_RTL, GetCurrentThreadId());
#if defined(_WIN64)
    cap_crash_walk_rtl(context, NULL, bounds, false, &start);
#else
    cap_crash_walk_framepointer(context, NULL, bounds, false, &start);
#endif
    for (uint32_t i = start.total; i-- > INNER_FRAMES;)
        if (cap_crash_in_loaded_module(start.frames[i].pc_va))
            push_caller(start.frames[i].pc_va, 0);
    push_caller(word_at(slot_va), slot_va + sizeof(void *));
}

/* After REX, bnd and rep. */
static const uint8_t *after_prefixes(const uint8_t *code)
{
    while ((sizeof(void *) == 8 && (*code & 0xf0) == 0x40) || *code == 0xf2 || *code == 0xf3)
        code++;
    return code;
}

#if defined(_WIN64)
static bool follow_jump(const CONTEXT *now)
{
    if (now->Rip != (uintptr_t)steps_interrupt_handler)
        return false;
    push_caller(word_at(now->Rsp), ((const uint64_t *)(uintptr_t)now->Rsp)[3]);
    return true;
}
#else
/* The stack probe leaves by a jump to its return address. */
static bool follow_jump(const CONTEXT *now)
{
    const uint8_t *code = last.code;
    if (code[0] != 0xff || (code[1] & 0x38) != 0x20 || caller_count == 0 ||
        callers[caller_count - 1].pc_va != now->Eip)
        return false;
    caller_count--;
    return true;
}
#endif

static void follow(const CONTEXT *now)
{
    const uint8_t *code = after_prefixes(last.code);
    const bool is_call = code[0] == 0xe8 || (code[0] == 0xff && (code[1] & 0x38) == 0x10);
    if (is_call && STEPS_SP(now) == last.sp_va - sizeof(void *))
        push_caller(word_at(STEPS_SP(now)), last.sp_va);
    else if (!follow_jump(now) && (code[0] == 0xc3 || code[0] == 0xc2 || code[0] == 0xcf) &&
             caller_count > 0)
        caller_count--;
}

static void remember(const CONTEXT *now)
{
    last.pc_va = STEPS_PC(now);
    last.sp_va = STEPS_SP(now);
    memcpy(last.code, (const void *)(uintptr_t)last.pc_va, sizeof last.code);
}

/* ---- one step ---- */

static void walk(uint32_t walker, CONTEXT *context, struct cap_bounds bounds)
{
    struct cap_walk *out = &walks[walker];
    cap_crash_walk_begin(out, walker, GetCurrentThreadId());
    cap_walkers[walker].walk(context, GetCurrentThread(), bounds, false, out);
}

static void take_step(CONTEXT *context)
{
    const struct cap_walk *done[STEPS_WALKS];
    struct steps_state state = {context, callers, caller_count, done, 0};
    const struct cap_bounds bounds = cap_crash_own_bounds();
    for (uint32_t walker = 1; walker < STEPS_WALKS; walker++) {
        if ((wanted & 1u << walker) == 0)
            continue;
        walk(walker, context, bounds);
        done[state.walk_count++] = &walks[walker];
    }
    cut = cut || !steps_write(&state) || ++step_count == STEPS_MAX;
}

static LONG CALLBACK on_step(EXCEPTION_POINTERS *pointers)
{
    CONTEXT *context = pointers->ContextRecord;
    if (pointers->ExceptionRecord->ExceptionCode != EXCEPTION_SINGLE_STEP)
        return EXCEPTION_CONTINUE_SEARCH;
    if (last.pc_va == 0) {
        const struct cap_bounds bounds = cap_crash_own_bounds();
        cut = !steps_write_begin(bounds.high_va);
        find_thread_start(context, bounds);
    } else {
        follow(context);
    }
    remember(context);
    if (STEPS_PC(context) == (uintptr_t)steps_end || cut) {
        context->EFlags &= ~0x100u;
        return EXCEPTION_CONTINUE_EXECUTION;
    }
    take_step(context);
    context->EFlags |= 0x100;
    return EXCEPTION_CONTINUE_EXECUTION;
}

/* ---- the program ---- */

/* The number of the walker whose name is the LENGTH units at NAME; 0: there is none. */
static uint32_t find_walker(const wchar_t *name, size_t length)
{
    enum { NAME_UNITS = 32 };
    wchar_t wide[NAME_UNITS];
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT; i++) {
        swprintf(wide, NAME_UNITS, L"%hs", cap_walkers[i].name);
        if (wcslen(wide) == length && wcsncmp(wide, name, length) == 0)
            return i;
    }
    return 0;
}

/* The stepped thread is not suspended, and no .NET runtime is there to be asked. */
static bool can_step(uint32_t walker)
{
    return (cap_walkers[walker].traits &
            (RECORD_WALKER_TRAIT_SUSPENDED | RECORD_WALKER_TRAIT_MANAGED)) == 0;
}

/* One that unwinds by tables has nothing to walk by on x86. */
static uint32_t bit_of(uint32_t walker)
{
    const bool has_tables = sizeof(void *) == 8;
    return has_tables || (cap_walkers[walker].traits & RECORD_WALKER_TRAIT_TABLES) == 0
               ? 1u << walker
               : 0u;
}

static bool parse_walkers(const wchar_t *list)
{
    while (*list != 0) {
        const size_t length = wcscspn(list, L",");
        const uint32_t walker = find_walker(list, length);
        if (walker == 0 || !can_step(walker))
            return false;
        wanted |= bit_of(walker);
        list += length + (list[length] != 0);
    }
    return true;
}

/* Under Wine drive Z: is the root of the Unix file system. */
static HANDLE open_file(const wchar_t *path)
{
    wchar_t full[PATH_UNITS];
    swprintf(full, PATH_UNITS, L"%ls%ls", path[0] == L'/' ? L"Z:" : L"", path);
    return CreateFileW(full, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS,
                       FILE_ATTRIBUTE_NORMAL, NULL);
}

static bool prepare(const wchar_t *path)
{
    bool dbghelp = false;
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT; i++)
        dbghelp = dbghelp || ((wanted & 1u << i) != 0 &&
                              (cap_walkers[i].traits & RECORD_WALKER_TRAIT_DBGHELP) != 0);
    cap_start_clock();
    cap.process = GetCurrentProcess();
    cap.process_id = GetCurrentProcessId();
    cap.writer = RECORD_WRITER_IN_PROCESS;
    cap.dispatcher = cap_code_of("KiUserExceptionDispatcher", CAP_X86_DISPATCHER);
    cap.thread_start = cap_code_of("RtlUserThreadStart", CAP_X86_THREAD_START);
    cap.record = open_file(path);
    if (cap.record == INVALID_HANDLE_VALUE || !cap_modules_start())
        return false;
    if (dbghelp) {
        SymSetOptions(SYMOPT_DEFERRED_LOADS | SYMOPT_UNDNAME | SYMOPT_LOAD_LINES);
        SymInitialize(GetCurrentProcess(), NULL, TRUE);
    }
    return AddVectoredExceptionHandler(1, on_step) != NULL;
}

int wmain(int argc, wchar_t **argv)
{
    DWORD id = 0;
    if (argc < 2 || argc > 3 || !parse_walkers(argc == 3 ? argv[2] : L""))
        return EXIT_USAGE;
    for (uint32_t i = 1; i < RECORD_WALKER_COUNT && argc == 2; i++)
        wanted |= can_step(i) ? bit_of(i) : 0u;
    if (!prepare(argv[1]))
        return EXIT_NOT_MADE;
    HANDLE thread =
        CreateThread(NULL, THREAD_STACK_BYTES, steps_thread, NULL, CREATE_SUSPENDED, &id);
    if (thread == NULL)
        return EXIT_NOT_MADE;
    cap_crash_record_begin(RECORD_KIND_STEPS, id, NULL, 0);
    cap_crash_record_modules();
    ResumeThread(thread);
    WaitForSingleObject(thread, INFINITE);
    steps_write_end();
    return cut ? EXIT_CUT : 0;
}
