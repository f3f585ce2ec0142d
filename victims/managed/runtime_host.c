/* See runtime_host.h.  Three files of the runtime are enough: coreclr.dll, clrjit.dll and
 * System.Private.CoreLib.dll, in the folder that TWINSTACK_DOTNET names, else in dotnet\\ (for
 * .NET 10: dotnet10\\) beside this program, where ./run puts a link, else two folders above it,
 * where
 * ./run puts them.
 *
 * Spec: https://learn.microsoft.com/dotnet/core/tutorials/netcore-hosting */
#include "victims/managed/runtime_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/profiler/profiler.h"
#include "victims/managed/plugin.h"

enum { FOLDER_UNITS = 600, PATH_BYTES = 3 * FOLDER_UNITS };

#if MANAGED_RUNTIME >= 10
#define RUNTIME_FOLDER L"dotnet10\\"
#else
#define RUNTIME_FOLDER L"dotnet\\"
#endif

typedef int initialize_fn(const char *program, const char *domain, int count, const char **keys,
                          const char **values, void **host, unsigned int *domain_id);
typedef int create_delegate_fn(void *host, unsigned int domain_id, const char *assembly,
                               const char *class, const char *method, void **out);

static void *clr;
static unsigned int domain_id;
static create_delegate_fn *create_delegate;

/* The folder of this program, or of the runtime, with a separator at its end. */
static void own_folder(wchar_t folder[FOLDER_UNITS])
{
    DWORD length = GetModuleFileNameW(NULL, folder, FOLDER_UNITS - 64);
    while (length > 0 && folder[length - 1] != L'\\')
        length--;
    folder[length] = 0;
}

static bool is_file(const wchar_t *folder, const wchar_t *name)
{
    wchar_t path[FOLDER_UNITS + 64];
    swprintf(path, FOLDER_UNITS + 64, L"%ls%ls", folder, name);
    return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

static void runtime_folder(wchar_t folder[FOLDER_UNITS])
{
    const DWORD length = GetEnvironmentVariableW(L"TWINSTACK_DOTNET", folder, FOLDER_UNITS - 64);
    if (length > 0 && length < FOLDER_UNITS - 64) {
        wcscat(folder, L"\\");
        return;
    }
    own_folder(folder);
    wcscat(folder, RUNTIME_FOLDER);
    if (is_file(folder, L"coreclr.dll"))
        return;
    own_folder(folder);
    wcscat(folder, L"..\\..\\" RUNTIME_FOLDER);
}

const char *managed_missing(void)
{
    wchar_t folder[FOLDER_UNITS];
    runtime_folder(folder);
    return is_file(folder, L"coreclr.dll") && is_file(folder, L"clrjit.dll") &&
                   is_file(folder, L"System.Private.CoreLib.dll")
               ? NULL
               : "no .NET runtime";
}

static void fail(const char *what, int result)
{
    fprintf(stderr, "victims-%s: %s: 0x%08x\n", VICTIM_VARIANT, what, (unsigned)result);
    TerminateProcess(GetCurrentProcess(), EXIT_USAGE);
}

static FARPROC function_of(HMODULE module, const char *name)
{
    FARPROC found = module != NULL ? GetProcAddress(module, name) : NULL;
    if (found == NULL)
        fail(name, (int)GetLastError());
    return found;
}

/* The profiler's function, kept for the scenario bad_seed as well. */
static capture_snapshot_fn *snapshots;

static void use_snapshots(capture_snapshot_fn *snapshot)
{
    snapshots = snapshot;
    capture_use_snapshots(snapshot);
}

static bool take_frame(void *data, const void *pc, const void *native)
{
    (void)pc, (void)native;
    return ++*(int *)data < 64;
}

/* Snapshots of the calling thread by seeds that are wrong: each has to come back, with an HRESULT
 * or a stack, and the last one, without a seed, with frames. Returns VALUE if so. */
static int ask_for_snapshots(int value)
{
    static uint64_t elsewhere[64];
    const NT_TIB *tib = (const NT_TIB *)NtCurrentTeb();
    CONTEXT right;
    RtlCaptureContext(&right);
    const struct {
        uint64_t pc, sp;
    } seeds[] = {
        {0, 0},
        {(uintptr_t)elsewhere, right.Rsp}, /* a pc in data */
        {0xFFFF800000001000u, right.Rsp},  /* and in the kernel's half */
        {right.Rip, (uintptr_t)(elsewhere + 8)},
        {right.Rip, right.Rsp + 3},
        {right.Rip, (uintptr_t)tib->StackBase - 8},
    };
    int frames = 0;
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        CONTEXT seed = right;
        seed.Rip = seeds[i].pc;
        seed.Rsp = seeds[i].sp;
        (void)snapshots(GetCurrentThreadId(), &seed, sizeof seed, take_frame, &frames);
    }
    frames = 0;
    return snapshots(GetCurrentThreadId(), NULL, 0, take_frame, &frames) == 0 && frames > 0 ? value
                                                                                            : -1;
}

static profiler_counts_fn *counts;

void managed_counts(struct profiler_counts *out)
{
    counts(out);
}

static void attach_profiler(const wchar_t *own)
{
    wchar_t path[FOLDER_UNITS + 64], pause_ms[16] = {0};
    (void)GetEnvironmentVariableW(L"TWINSTACK_SNAPSHOT_PAUSE_MS", pause_ms, 16);
    const struct profiler_capture capture = {
        .size = sizeof capture,
        .no_inlining = strstr(VICTIM_VARIANT, "ob0") != NULL,
        .register_assembly = capture_register_assembly,
        .register_method = capture_register_method,
        .register_code = capture_register_code,
        .use_snapshots = use_snapshots,
        .watch_collections =
            GetEnvironmentVariableW(L"TWINSTACK_WATCH_COLLECTIONS", path, FOLDER_UNITS) > 0,
        .needs_heap =
            GetEnvironmentVariableW(L"TWINSTACK_SNAPSHOT_NEEDS_HEAP", path, FOLDER_UNITS) > 0,
        .no_answer =
            GetEnvironmentVariableW(L"TWINSTACK_SNAPSHOT_NO_ANSWER", path, FOLDER_UNITS) > 0,
        .pause_ms = (uint32_t)wcstoul(pause_ms, NULL, 10),
    };
    swprintf(path, FOLDER_UNITS + 64, L"%lstwinstack-profiler.dll", own);
    const HMODULE profiler = LoadLibraryW(path);
    counts = (profiler_counts_fn *)(void (*)(void))function_of(profiler, "profiler_counts");
    ((profiler_attach_fn *)(void (*)(void))function_of(profiler, "profiler_attach"))(&capture);
    SetEnvironmentVariableW(L"CORECLR_ENABLE_PROFILING", L"1");
    SetEnvironmentVariableW(L"CORECLR_PROFILER", PROFILER_CLASS);
    SetEnvironmentVariableW(L"CORECLR_PROFILER_PATH", path);
    /* Else the first calls of a method run code without inlining, in every variant. */
    SetEnvironmentVariableW(L"COMPlus_TieredCompilation", L"0");
    SetEnvironmentVariableW(L"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", L"1");
}

static void connect_plugin(const wchar_t *own)
{
    wchar_t path[FOLDER_UNITS + 64];
    const struct managed_services services = {
        .inlines = strstr(VICTIM_VARIANT, "ob0") == NULL,
        .keep_text = truth_keep_text,
        .thread = truth_thread,
        .ready = victim_ready,
        .snapshot = ask_for_snapshots,
    };
    swprintf(path, FOLDER_UNITS + 64, L"%lsplugin-managed.dll", own);
    ((void (*)(const struct managed_services *))(void (*)(void))function_of(
        victim_load_file(path), "managed_connect"))(&services);
}

static void utf8(const wchar_t *text, char *out)
{
    WideCharToMultiByte(CP_UTF8, 0, text, -1, out, PATH_BYTES, NULL, NULL);
}

/* Wine hands out the lowest free addresses, Windows does not below 2 GB to a 64-bit program.  There
 * the JIT of .NET 10 gives up each optimised method that calls another one through a cell (its own
 * exception 0x02345678 with CORJIT_RECOVERABLEERROR) and compiles it without optimisation, so that
 * nothing is inlined.  So what is free down there is taken before the runtime comes. */
static void keep_runtime_high(void)
{
    MEMORY_BASIC_INFORMATION info;
    const uintptr_t end_va = (uintptr_t)1 << 31;
    const uintptr_t granule = (uintptr_t)1 << 16;
    if (MANAGED_RUNTIME < 10 ||
        GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") == NULL)
        return;
    for (uintptr_t at = granule; at < end_va; at += info.RegionSize) {
        if (VirtualQuery((const void *)at, &info, sizeof info) == 0)
            return;
        const uintptr_t from = (at + granule - 1) & ~(granule - 1);
        const uintptr_t past = at + info.RegionSize < end_va ? at + info.RegionSize : end_va;
        if (info.State == MEM_FREE && past > from)
            VirtualAlloc((void *)from, past - from, MEM_RESERVE, PAGE_NOACCESS);
    }
}

/* What a debugger asks for managed frames is in a dump because dbgcore loads the runtime's own
 * mscordaccore.dll, which lies beside coreclr.dll.  Windows checks who signed it.  Wine cannot, but
 * takes what the registry lists, as older Windows did. */
static void name_dac(const wchar_t *runtime)
{
    static const wchar_t key[] = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
    wchar_t core[FOLDER_UNITS + 64], dac[FOLDER_UNITS + 64], list[96];
    const DWORD no = 0;
    if (GetModuleHandleW(L"dbgcore.dll") == NULL || !is_file(runtime, L"mscordaccore.dll") ||
        GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") == NULL)
        return;
    swprintf(core, FOLDER_UNITS + 64, L"%lscoreclr.dll", runtime);
    swprintf(dac, FOLDER_UNITS + 64, L"%lsmscordaccore.dll", runtime);
    swprintf(list, 96, L"%ls\\MiniDumpAuxiliaryDlls", key);
    RegSetKeyValueW(HKEY_LOCAL_MACHINE, list, core, REG_SZ, dac,
                    (DWORD)((wcslen(dac) + 1) * sizeof dac[0]));
    swprintf(list, 96, L"%ls\\KnownManagedDebuggingDlls", key);
    RegSetKeyValueW(HKEY_LOCAL_MACHINE, list, dac, REG_DWORD, &no, sizeof no);
}

void managed_start(void)
{
    static const char *const keys[] = {
        "TRUSTED_PLATFORM_ASSEMBLIES", "NATIVE_DLL_SEARCH_DIRECTORIES",
        "System.Globalization.Invariant", "System.Runtime.TieredCompilation"};
    static char own_utf8[PATH_BYTES], runtime_utf8[PATH_BYTES], trusted[3 * PATH_BYTES];
    wchar_t own[FOLDER_UNITS], runtime[FOLDER_UNITS], path[FOLDER_UNITS + 64];
    const char *values[] = {trusted, own_utf8, "true", "false"},
               *names[] = {keys[0], keys[1], keys[2], keys[3]};
    if (clr != NULL)
        return;
    keep_runtime_high();
    own_folder(own);
    runtime_folder(runtime);
    GetFullPathNameW(runtime, FOLDER_UNITS, path, NULL);
    wcscpy(runtime, path);
    utf8(own, own_utf8);
    utf8(runtime, runtime_utf8);
    snprintf(trusted, sizeof trusted, "%sSystem.Private.CoreLib.dll;%smanaged.dll", runtime_utf8,
             own_utf8);
    connect_plugin(own);
    attach_profiler(own);
    name_dac(runtime);
    swprintf(path, FOLDER_UNITS + 64, L"%lscoreclr.dll", runtime);
    HMODULE core = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    create_delegate =
        (create_delegate_fn *)(void (*)(void))function_of(core, "coreclr_create_delegate");
    const int result = ((initialize_fn *)(void (*)(void))function_of(core, "coreclr_initialize"))(
        own_utf8, "victims", 4, names, values, &clr, &domain_id);
    if (result != 0)
        fail("coreclr_initialize", result);
}

managed_method managed_find(const char *name)
{
    union {
        void *bits;
        managed_method call;
    } method = {NULL};
    const int result = create_delegate(clr, domain_id, "managed", "Scenarios", name, &method.bits);
    if (result != 0)
        fail(name, result);
    return method.call;
}
