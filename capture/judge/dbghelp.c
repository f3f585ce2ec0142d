/* twinstack-dbghelp: the system's own dump reader as a reference.  See README.md here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "capture/judge/judge.h"
#include "capture/record.h"

enum { EXIT_USAGE = 2, EXIT_BAD_DUMP = 3, EXIT_OLD_DBGHELP = 4, FRAME_LIMIT = 1 << 17 };

enum { QUESTION_BYTES = 3 * JUDGE_PATH_UNITS };

/* Under Wine drive Z: is the root of the Unix file system. */
static void windows_path(const wchar_t *from, wchar_t path[JUDGE_PATH_UNITS])
{
    path[JUDGE_PATH_UNITS - 1] = 0;
    swprintf(path, JUDGE_PATH_UNITS, L"%ls%ls", from[0] == L'/' ? L"Z:" : L"", from);
    for (wchar_t *c = path; *c != 0; c++)
        if (*c == L'/')
            *c = L'\\';
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
    }
    judge.unwind_ns += judge_now_ns() - start_ns;
    return total;
}

static void print_thread(uint32_t id, MINIDUMP_LOCATION_DESCRIPTOR where, bool crashed, bool first)
{
    static uint64_t pcs[RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL];
    const uint32_t limit = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL;
    union seed seed;
    const uint64_t unwind_ns = judge.unwind_ns, resolve_ns = judge.resolve_ns;
    const uint64_t system_ns = judge.resolve_system_ns;
    uint32_t total = read_seed(where, &seed) ? walk(&seed, pcs) : 0;
    const uint32_t kept = total < limit ? total : limit;
    printf("%s{\"id\":%u,\"crashed\":%s,\"left_out\":%u,\"frames\":[", first ? "" : ",",
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
    printf("],\"times\":{\"unwind_ns\":%llu,\"resolve_ns\":%llu,\"resolve_system_ns\":%llu}}",
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

/* Reads the dump with the images and PDBs of the folders and prints the document, in one line.
 * Returns an exit status; *why says what is wrong. */
static int answer(const wchar_t *dump, const char **why)
{
    const uint64_t start_ns = judge_now_ns();
    judge.unwind_ns = judge.resolve_ns = judge.resolve_system_ns = 0;
    if (!judge_open_dump(dump)) {
        *why = "not a readable minidump";
        return EXIT_BAD_DUMP;
    }
    if (sizeof(void *) == 4 && !is_x86()) {
        *why = "not a dump of x86: twinstack-dbghelp.exe reads it";
        return EXIT_BAD_DUMP;
    }
    judge.open_ns = judge_now_ns() - start_ns;

    const uint64_t load_ns = judge_now_ns();
    judge_load_modules();
    judge.load_ns = judge_now_ns() - load_ns;

    printf("{\"schema_version\":1,\"version\":");
    judge_print_version();
    printf(",\"threads\":[");
    print_threads();
    printf("],\"times\":{\"open_ns\":%llu,\"load_ns\":%llu,\"unwind_ns\":%llu,"
           "\"resolve_ns\":%llu}}\n",
           (unsigned long long)judge.open_ns, (unsigned long long)judge.load_ns,
           (unsigned long long)judge.unwind_ns, (unsigned long long)judge.resolve_ns);
    return 0;
}

/* One question per line, FILE.dmp and at most one folder with a tab between them; one line per
 * answer: the document, or {"error"}. */
static int serve(void)
{
    static char line[QUESTION_BYTES];
    static wchar_t wide[QUESTION_BYTES], dump[JUDGE_PATH_UNITS];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *why = "not a question";
        line[strcspn(line, "\r\n")] = 0;
        if (MultiByteToWideChar(CP_UTF8, 0, line, -1, wide, QUESTION_BYTES) > 0) {
            wchar_t *folder = wcschr(wide, L'\t');
            judge.folder_count = 0;
            if (folder != NULL) {
                *folder = 0;
                windows_path(folder + 1, judge.folders[judge.folder_count++]);
            }
            windows_path(wide, dump);
            if (answer(dump, &why) == 0)
                why = NULL;
            judge_close_dump();
        }
        if (why != NULL)
            printf("{\"error\":\"%s\"}\n", why);
        fflush(stdout);
    }
    return 0;
}

int wmain(int argc, wchar_t **argv)
{
    static wchar_t dump[JUDGE_PATH_UNITS];
    const bool serves = argc == 2 && wcscmp(argv[1], L"--serve") == 0;
    const char *why = "";
    if (argc < 2 || (argv[1][0] == L'-' && !serves)) {
        fprintf(stderr, "usage: twinstack-dbghelp FILE.dmp [SYMDIR...]\n"
                        "       twinstack-dbghelp --serve\n");
        return EXIT_USAGE;
    }
    SymSetOptions(SYMOPT_UNDNAME | SYMOPT_LOAD_LINES | SYMOPT_DEFERRED_LOADS);
    if (!judge_open_frames()) {
        fprintf(stderr, "twinstack-dbghelp: dbghelp.dll is older than Windows 8's\n");
        return EXIT_OLD_DBGHELP;
    }
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (serves)
        return serve();
    windows_path(argv[1], dump);
    for (int i = 2; i < argc && judge.folder_count < JUDGE_FOLDERS; i++)
        windows_path(argv[i], judge.folders[judge.folder_count++]);
    const int status = answer(dump, &why);
    if (status != 0)
        fprintf(stderr, "twinstack-dbghelp: %s\n", why);
    fflush(stdout);
    return status;
}
