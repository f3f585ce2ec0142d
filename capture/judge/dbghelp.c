/* twinstack-dbghelp: the system's own dump reader as a reference.  See README.md here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "capture/judge/judge.h"
#include "capture/record.h"

enum { EXIT_USAGE = 2, EXIT_BAD_DUMP = 3, EXIT_OLD_DBGHELP = 4, FRAME_LIMIT = 1 << 17 };

/* Under Wine drive Z: is the root of the Unix file system. */
static wchar_t *windows_path(const wchar_t *from)
{
    wchar_t *path = calloc(JUDGE_PATH_UNITS, sizeof *path);
    if (path == NULL)
        return NULL;
    swprintf(path, JUDGE_PATH_UNITS, L"%ls%ls", from[0] == L'/' ? L"Z:" : L"", from);
    for (wchar_t *c = path; *c != 0; c++)
        if (*c == L'/')
            *c = L'\\';
    return path;
}

/* The hooks of the C runtime capture their context in a call, so the first frame is a return
 * address. */
static bool seed_is_return(bool crashed)
{
    uint32_t bytes = 0, doors, kind;
    const uint8_t *header = judge_stream(RECORD_DUMP_STREAM, &bytes);
    if (!crashed || header == NULL || bytes < RECORD_HEADER_BYTES)
        return false;
    memcpy(&doors, header + RECORD_H_DOORS, sizeof doors);
    memcpy(&kind, header + RECORD_H_KIND, sizeof kind);
    return kind == RECORD_KIND_CRASH && (doors & RECORD_DOORS_FAULT) == 0;
}

/* The frame that StackWalk64 starts from, by the dump's processor. A 32-bit program knows nothing
 * of x64. */
union seed {
#ifdef _WIN64
    CONTEXT x64;
#endif
    WOW64_CONTEXT x86;
};

static bool is_x86(void)
{
    uint32_t bytes = 0;
    const MINIDUMP_SYSTEM_INFO *system = judge_stream(SystemInfoStream, &bytes);
    return system != NULL && bytes >= sizeof system->ProcessorArchitecture &&
           system->ProcessorArchitecture == PROCESSOR_ARCHITECTURE_INTEL;
}

static bool read_seed(MINIDUMP_LOCATION_DESCRIPTOR where, union seed *out)
{
    const size_t bytes = is_x86() ? sizeof out->x86 : sizeof *out;
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
    if (!is_x86()) {
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

static uint32_t walk(union seed *context, uint64_t pcs[])
{
    const uint64_t start_ns = judge_now_ns();
    STACKFRAME64 frame;
    const DWORD machine = begin_walk(context, &frame);
    uint32_t total = 0;
    uint64_t last_pc = 0, last_sp = 0;
    while (total < FRAME_LIMIT &&
           StackWalk64(machine, JUDGE_PROCESS, (HANDLE)1, &frame, context, judge_read,
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
    }
    judge.unwind_ns += judge_now_ns() - start_ns;
    return total;
}

static void print_thread(uint32_t id, MINIDUMP_LOCATION_DESCRIPTOR where, bool crashed, bool first)
{
    static uint64_t pcs[RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL];
    const uint32_t limit = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL;
    union seed seed;
    uint32_t total = read_seed(where, &seed) ? walk(&seed, pcs) : 0;
    const uint32_t kept = total < limit ? total : limit;
    printf("%s\n{\"id\":%u,\"crashed\":%s,\"left_out\":%u,\"frames\":[", first ? "" : ",",
           (unsigned)id, crashed ? "true" : "false", (unsigned)(total - kept));
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t at = i, index = i;
        if (total > limit && i >= RECORD_FRAMES_HEAD) {
            at = RECORD_FRAMES_HEAD +
                 (total - RECORD_FRAMES_HEAD + i - RECORD_FRAMES_HEAD) % RECORD_FRAMES_TAIL;
            index = i + total - limit;
        }
        judge_print_frame(index, pcs[at], i > 0 || seed_is_return(crashed), i == 0);
    }
    printf("]}");
}

static void print_threads(void)
{
    uint32_t bytes = 0;
    bool first = true;
    const MINIDUMP_EXCEPTION_STREAM *exception = judge_stream(ExceptionStream, &bytes);
    if (exception != NULL && bytes >= sizeof *exception) {
        print_thread(exception->ThreadId, exception->ThreadContext, true, true);
        first = false;
    }
    const MINIDUMP_THREAD_LIST *list = judge_stream(ThreadListStream, &bytes);
    for (uint32_t i = 0; list != NULL && i < list->NumberOfThreads; i++) {
        const MINIDUMP_THREAD *thread = &list->Threads[i];
        if ((const uint8_t *)(thread + 1) > (const uint8_t *)list + bytes)
            break;
        if (exception != NULL && thread->ThreadId == exception->ThreadId)
            continue;
        print_thread(thread->ThreadId, thread->ThreadContext, false, first);
        first = false;
    }
}

static void print_version(void)
{
    char text[64] = "dbghelp of Windows";
    FARPROC function = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version");
    if (function != NULL)
        snprintf(text, sizeof text, "dbghelp of Wine %s",
                 ((const char *(*)(void))(void (*)(void))function)());
    judge_print_text(text);
}

int wmain(int argc, wchar_t **argv)
{
    static wchar_t search[16 * JUDGE_PATH_UNITS];
    const uint64_t start_ns = judge_now_ns();
    if (argc < 2 || argv[1][0] == L'-') {
        fprintf(stderr, "usage: twinstack-dbghelp FILE.dmp [SYMDIR...]\n");
        return EXIT_USAGE;
    }
    if (!judge_open_dump(windows_path(argv[1]))) {
        fprintf(stderr, "twinstack-dbghelp: not a readable minidump\n");
        return EXIT_BAD_DUMP;
    }
    for (int i = 2; i < argc && judge.folder_count < 15; i++) {
        wchar_t *folder = judge.folders[judge.folder_count++] = windows_path(argv[i]);
        if (i > 2)
            wcscat(search, L";");
        wcscat(search, folder);
    }
    if (sizeof(void *) == 4 && !is_x86()) {
        fprintf(stderr, "twinstack-dbghelp: not a dump of x86: twinstack-dbghelp.exe reads it\n");
        return EXIT_BAD_DUMP;
    }
    if (!judge_open_frames()) {
        fprintf(stderr, "twinstack-dbghelp: dbghelp.dll is older than Windows 8's\n");
        return EXIT_OLD_DBGHELP;
    }
    SymSetOptions(SYMOPT_UNDNAME | SYMOPT_LOAD_LINES | SYMOPT_DEFERRED_LOADS);
    SymInitializeW(JUDGE_PROCESS, search[0] != 0 ? search : NULL, FALSE);
    judge.open_ns = judge_now_ns() - start_ns;

    const uint64_t load_ns = judge_now_ns();
    judge_load_modules();
    judge.load_ns = judge_now_ns() - load_ns;

    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    printf("{\"schema_version\":1,\"version\":");
    print_version();
    printf(",\"threads\":[");
    print_threads();
    printf("],\n\"times\":{\"open_ns\":%llu,\"load_ns\":%llu,\"unwind_ns\":%llu,"
           "\"resolve_ns\":%llu}}\n",
           (unsigned long long)judge.open_ns, (unsigned long long)judge.load_ns,
           (unsigned long long)judge.unwind_ns, (unsigned long long)judge.resolve_ns);
    fflush(stdout);
    return 0;
}
