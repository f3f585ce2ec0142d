/* Microsoft's dbghelp.dll and dbgcore.dll under Wine 8, where a run puts them into its prefixes in
 * place of Wine's (`twinstack run --writer microsoft`). Two answers of Wine keep them from working.
 * They are corrected here, before main(), in the programs of the victims' tree alone: capture/,
 * which other programs link, has nothing of it. On Windows, and with Wine's own DLLs, this file
 * does nothing.
 *
 *   NtQueryVirtualMemory, class 3   says success for free memory, where Windows says 0xC0000141,
 * and gives the size of one view, where Windows gives that of the whole allocation. dbgcore goes on
 * at the end of that, and never comes to the end of the address space.
 *   SymInitialize(..., TRUE)        fails, since Wine cannot list the modules in the way in which
 *                                   dbghelp asks. They are loaded one by one. */
#if !defined(_MSC_VER)
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <windows.h>

#include <dbghelp.h>
#include <psapi.h>

enum { MODULES = 512, PATH_UNITS = 1024, CLASS_BASIC = 0, CLASS_REGION = 3 };
#define INVALID_ADDRESS ((LONG)0xC0000141)

typedef LONG(NTAPI *query_fn)(HANDLE, const void *, int, void *, SIZE_T, SIZE_T *);
typedef BOOL(WINAPI *initialize_fn)(HANDLE, PCSTR, BOOL);

static query_fn query;
static initialize_fn initialize;

/* MEMORY_REGION_INFORMATION */
struct region {
    void *base;
    DWORD protect, type;
    SIZE_T bytes, committed;
};

static LONG NTAPI query_as_windows(HANDLE process, const void *va, int what, void *out,
                                   SIZE_T bytes, SIZE_T *got)
{
    MEMORY_BASIC_INFORMATION first, part;
    SIZE_T committed = 0;
    if (what != CLASS_REGION)
        return query(process, va, what, out, bytes, got);
    LONG status = query(process, va, CLASS_BASIC, &first, sizeof first, NULL);
    if (status != 0)
        return status;
    if (first.State == MEM_FREE)
        return INVALID_ADDRESS;
    const char *at = first.AllocationBase;
    while (query(process, at, CLASS_BASIC, &part, sizeof part, NULL) == 0 &&
           part.State != MEM_FREE && part.AllocationBase == first.AllocationBase &&
           part.RegionSize != 0) {
        committed += part.State == MEM_COMMIT ? part.RegionSize : 0;
        at = (const char *)part.BaseAddress + part.RegionSize;
    }
    status = query(process, va, what, out, bytes, got);
    if (status != 0)
        return status;
    struct region *region = out;
    region->bytes = (SIZE_T)(at - (const char *)first.AllocationBase);
    if (bytes >= sizeof *region)
        region->committed = committed;
    return 0;
}

static void load_each_module(HANDLE process)
{
    static HMODULE modules[MODULES];
    static wchar_t path[PATH_UNITS];
    DWORD bytes = 0;
    if (!K32EnumProcessModules(process, modules, sizeof modules, &bytes))
        return;
    for (DWORD i = 0; i < bytes / sizeof modules[0] && i < MODULES; i++) {
        MODULEINFO info;
        if (K32GetModuleInformation(process, modules[i], &info, sizeof info) &&
            K32GetModuleFileNameExW(process, modules[i], path, PATH_UNITS) != 0)
            SymLoadModuleExW(process, NULL, path, NULL, (uintptr_t)info.lpBaseOfDll,
                             info.SizeOfImage, NULL, 0);
    }
}

static BOOL WINAPI initialize_one_by_one(HANDLE process, PCSTR path, BOOL invades)
{
    if (initialize(process, path, invades))
        return TRUE;
    if (!invades || !initialize(process, path, FALSE))
        return FALSE;
    load_each_module(process);
    return TRUE;
}

/* Makes MODULE call WITH where it imports FUNCTION. Returns what it called; NULL: it imports none.
 */
static void *replace_import(HMODULE module, const char *function, void *with)
{
    char *base = (char *)module;
    const IMAGE_NT_HEADERS *nt =
        (const IMAGE_NT_HEADERS *)(base + ((const IMAGE_DOS_HEADER *)base)->e_lfanew);
    const IMAGE_IMPORT_DESCRIPTOR *d =
        (const IMAGE_IMPORT_DESCRIPTOR *)(base +
                                          nt->OptionalHeader.DataDirectory[1].VirtualAddress);
    for (; d->Name != 0 && d->OriginalFirstThunk != 0; d++) {
        void **to = (void **)(base + d->FirstThunk);
        const ULONG_PTR *name = (const ULONG_PTR *)(base + d->OriginalFirstThunk);
        for (; *name != 0; name++, to++) {
            DWORD before;
            const char *text = ((const IMAGE_IMPORT_BY_NAME *)(base + *name))->Name;
            if ((LONG_PTR)*name < 0 || strcmp(text, function) != 0 ||
                !VirtualProtect(to, sizeof *to, PAGE_READWRITE, &before))
                continue;
            void *was = *to;
            *to = with;
            VirtualProtect(to, sizeof *to, before, &before);
            return was;
        }
    }
    return NULL;
}

__attribute__((constructor)) static void correct_wine(void)
{
    HMODULE dbghelp = GetModuleHandleW(L"dbghelp.dll");
    if (GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") == NULL ||
        dbghelp == NULL ||
        GetProcAddress(dbghelp, "SymFunctionTableAccess64AccessRoutines") == NULL)
        return;
    HMODULE dbgcore = LoadLibraryW(L"dbgcore.dll");
    query =
        (query_fn)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQueryVirtualMemory");
    initialize = (initialize_fn)(void *)GetProcAddress(dbghelp, "SymInitialize");
    if (dbgcore != NULL)
        replace_import(dbgcore, "NtQueryVirtualMemory", (void *)query_as_windows);
    replace_import(GetModuleHandleW(NULL), "SymInitialize", (void *)initialize_one_by_one);
}
#endif
