/* twinstack-dbghelp: the system's own dump reader as a reference.  See README.md here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/record.h"
#include "victims/harness/judge/dbghelp_judge.h"

enum { EXIT_OLD_DBGHELP = 4, FRAME_LIMIT = 1 << 17 };

/* The frame that StackWalk64 starts from, by the dump's processor. A 32-bit program knows nothing
 * of x64. */
union seed {
#ifdef _WIN64
    CONTEXT x64;
#endif
    WOW64_CONTEXT x86;
};

static bool read_seed(MINIDUMP_LOCATION_DESCRIPTOR where, union seed *out)
{
    const size_t bytes = judge_is_x86() ? sizeof out->x86 : sizeof *out;
    const void *from = where.DataSize >= bytes ? judge_at(where.Rva, bytes) : NULL;
    if (from != NULL)
        memcpy(out, from, bytes);
    return from != NULL;
}

static DWORD begin_walk(const union seed *seed, STACKFRAME64 *frame)
{
    memset(frame, 0, sizeof *frame);
    frame->AddrPC.Mode = frame->AddrFrame.Mode = frame->AddrStack.Mode = AddrModeFlat;
#ifdef _WIN64
    if (!judge_is_x86()) {
        frame->AddrPC.Offset = seed->x64.Rip;
        frame->AddrFrame.Offset = seed->x64.Rbp;
        frame->AddrStack.Offset = seed->x64.Rsp;
        return IMAGE_FILE_MACHINE_AMD64;
    }
#endif
    frame->AddrPC.Offset = seed->x86.Eip;
    frame->AddrFrame.Offset = seed->x86.Ebp;
    frame->AddrStack.Offset = seed->x86.Esp;
    return IMAGE_FILE_MACHINE_I386;
}

/* The innermost frames of the walk that was made last. */
static struct judge_step steps[JUDGE_STEPS];
static uint32_t step_count;

static void add_step(const STACKFRAME64 *frame)
{
    if (step_count < JUDGE_STEPS)
        steps[step_count++] =
            (struct judge_step){.pc_va = frame->AddrPC.Offset, .sp_va = frame->AddrStack.Offset};
}

/* The entries that dbghelp gives its walker. x86 has none. */
static void find_entries(void)
{
#ifdef _WIN64
    for (uint32_t i = 0; i < step_count; i++) {
        const RUNTIME_FUNCTION *entry =
            SymFunctionTableAccess64(judge.set->process, steps[i].pc_va);
        const struct judge_module *module = judge_module_at(steps[i].pc_va);
        steps[i].base_va = module != NULL ? module->base_va : 0;
        if (entry == NULL || module == NULL)
            continue;
        steps[i].begin_rva = entry->BeginAddress;
        steps[i].end_rva = entry->EndAddress;
        steps[i].unwind_rva = entry->UnwindData;
    }
#endif
}

static bool read_process(uint64_t va, void *to, uint32_t bytes)
{
    DWORD got = 0;
    return judge_read(judge.set->process, va, to, bytes, &got) && got == bytes;
}

static uint32_t walk(union seed *context, uint64_t pcs[])
{
    const uint64_t start_ns = judge_now_ns();
    STACKFRAME64 frame;
    const DWORD machine = begin_walk(context, &frame);
    uint32_t total = 0;
    uint64_t last_pc = 0, last_sp = 0;
    step_count = 0;
    while (total < FRAME_LIMIT &&
           StackWalk64(machine, judge.set->process, (HANDLE)1, &frame, context, judge_read,
                       SymFunctionTableAccess64, SymGetModuleBase64, NULL) &&
           (frame.AddrPC.Offset != 0 || total == 0)) {
        if (total > 1 && frame.AddrPC.Offset == last_pc && frame.AddrStack.Offset == last_sp)
            break; /* no progress: it would loop forever */
        last_pc = frame.AddrPC.Offset;
        last_sp = frame.AddrStack.Offset;
        uint32_t at = total++;
        if (at >= RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL)
            at = RECORD_FRAMES_HEAD + (at - RECORD_FRAMES_HEAD) % RECORD_FRAMES_TAIL;
        pcs[at] = frame.AddrPC.Offset;
        add_step(&frame);
    }
    judge.unwind_ns += judge_now_ns() - start_ns;
    return total;
}

struct printed_thread {
    uint32_t id;
    MINIDUMP_LOCATION_DESCRIPTOR context;
    bool crashed, first; /* first: no comma before it */
};

static void print_thread(const struct printed_thread *thread)
{
    static uint64_t pcs[RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL];
    const uint32_t limit = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL;
    union seed seed;
    const uint64_t unwind_ns = judge.unwind_ns, resolve_ns = judge.resolve_ns;
    const uint64_t system_ns = judge.resolve_system_ns;
    uint32_t total = read_seed(thread->context, &seed) ? walk(&seed, pcs) : 0;
    const uint32_t kept = total < limit ? total : limit;
    const bool has_evidence = thread->crashed && !judge_is_x86();
    if (has_evidence)
        find_entries();
    printf("%s{\"id\":%u,\"crashed\":%s,\"left_out\":%u,\"frames\":[", thread->first ? "" : ",",
           (unsigned)thread->id, thread->crashed ? "true" : "false", (unsigned)(total - kept));
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t at = i, index = i;
        if (total > limit && i >= RECORD_FRAMES_HEAD) {
            at = RECORD_FRAMES_HEAD +
                 (total - RECORD_FRAMES_HEAD + i - RECORD_FRAMES_HEAD) % RECORD_FRAMES_TAIL;
            index = i + total - limit;
        }
        const bool is_step = has_evidence && index <= step_count;
        judge_print_frame(index, pcs[at], i > 0 || judge_seed_is_return(thread->crashed), i == 0,
                          is_step ? judge_found_by(index > 0 ? &steps[index - 1] : NULL) : NULL);
    }
    printf("]");
    if (has_evidence)
        judge_print_evidence(steps, step_count, read_process);
    printf(",\"times\":{\"unwind_ns\":%llu,\"resolve_ns\":%llu,\"resolve_system_ns\":%llu}}",
           (unsigned long long)(judge.unwind_ns - unwind_ns),
           (unsigned long long)(judge.resolve_ns - resolve_ns),
           (unsigned long long)(judge.resolve_system_ns - system_ns));
}

static void print_threads(void)
{
    uint32_t bytes = 0;
    bool first = true;
    const MINIDUMP_EXCEPTION_STREAM *exception = judge_stream(ExceptionStream, &bytes);
    if (exception != NULL && bytes >= sizeof *exception) {
        print_thread(&(struct printed_thread){.id = exception->ThreadId,
                                              .context = exception->ThreadContext,
                                              .crashed = true,
                                              .first = true});
        first = false;
    }
    const MINIDUMP_THREAD_LIST *list = judge_stream(ThreadListStream, &bytes);
    for (uint32_t i = 0; list != NULL && i < list->NumberOfThreads; i++) {
        const MINIDUMP_THREAD *thread = &list->Threads[i];
        if ((const uint8_t *)(thread + 1) > (const uint8_t *)list + bytes)
            break;
        if (exception != NULL && thread->ThreadId == exception->ThreadId)
            continue;
        print_thread(&(struct printed_thread){
            .id = thread->ThreadId, .context = thread->ThreadContext, .first = first});
        first = false;
    }
}

static int answer(const wchar_t *dump, const char **why)
{
    const uint64_t start_ns = judge_now_ns();
    judge.unwind_ns = judge.resolve_ns = judge.resolve_system_ns = 0;
    if (!judge_open_dump(dump)) {
        *why = "not a readable minidump";
        return JUDGE_BAD_DUMP;
    }
    if (sizeof(void *) == 4 && !judge_is_x86()) {
        *why = "not a dump of x86: twinstack-dbghelp.exe reads it";
        return JUDGE_BAD_DUMP;
    }
    judge.open_ns = judge_now_ns() - start_ns;

    const uint64_t load_ns = judge_now_ns();
    judge_load_modules();
    judge.load_ns = judge_now_ns() - load_ns;

    printf("{\"schema_version\":1,\"version\":");
    judge_print_version(L"dbghelp.dll", "dbghelp");
    printf(",\"threads\":[");
    print_threads();
    printf("],\"times\":{\"open_ns\":%llu,\"load_ns\":%llu,\"unwind_ns\":%llu,"
           "\"resolve_ns\":%llu}}\n",
           (unsigned long long)judge.open_ns, (unsigned long long)judge.load_ns,
           (unsigned long long)judge.unwind_ns, (unsigned long long)judge.resolve_ns);
    return 0;
}

int wmain(int argc, wchar_t **argv)
{
    SymSetOptions(SYMOPT_UNDNAME | SYMOPT_LOAD_LINES | SYMOPT_DEFERRED_LOADS);
    if (!judge_open_frames()) {
        fprintf(stderr, "twinstack-dbghelp: dbghelp.dll is older than Windows 8's\n");
        return EXIT_OLD_DBGHELP;
    }
    return judge_main(argc, argv, "twinstack-dbghelp", answer);
}
