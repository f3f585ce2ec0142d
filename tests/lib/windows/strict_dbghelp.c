/* A dbghelp.dll that is as strict as Microsoft's, and as little as test_judge.py needs: what it
 * refuses and what it asks for was seen with Microsoft's, version 10.0.29507.1001.
 *
 *  - A frame itself has the inline context 0xffffffff; 0x80000000, which Wine's takes, is refused.
 *  - Headers and function tables of a module are read in the memory of the process. Where the
 * handle is none of a process, the callback is asked (CBA_READ_MEMORY).
 *  - Without its function table a function is a leaf, and the walk goes wrong: here it ends. */
#define _IMAGEHLP_SOURCE_ /* these functions are exported, not imported */
#include <windows.h>

#include <dbghelp.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __declspec(dllexport)

enum { READ_MEMORY = 6, MODULES = 64, REFUSED = 87 /* ERROR_INVALID_PARAMETER */ };

struct question { /* IMAGEHLP_CBA_READ_MEMORY */
    DWORD64 va;
    void *to;
    DWORD bytes;
    DWORD *got;
};

static struct {
    DWORD64 base_va;
    DWORD bytes;
} modules[MODULES];
static unsigned module_count;
static PSYMBOL_REGISTERED_CALLBACK64 callback;
static ULONG64 callback_context;

EXPORT DWORD WINAPI SymSetOptions(DWORD options)
{
    return options;
}

EXPORT BOOL WINAPI SymInitializeW(HANDLE process, PCWSTR path, BOOL invade)
{
    (void)process, (void)path;
    module_count = 0;
    callback = NULL;
    return !invade;
}

EXPORT BOOL WINAPI SymSetSearchPathW(HANDLE process, PCWSTR path)
{
    (void)process, (void)path;
    return TRUE;
}

EXPORT BOOL WINAPI SymCleanup(HANDLE process)
{
    (void)process;
    return TRUE;
}

EXPORT BOOL WINAPI SymRegisterCallback64(HANDLE process, PSYMBOL_REGISTERED_CALLBACK64 function,
                                         ULONG64 context)
{
    (void)process;
    callback = function;
    callback_context = context;
    return TRUE;
}

EXPORT DWORD64 WINAPI SymLoadModuleExW(HANDLE process, HANDLE file, PCWSTR image, PCWSTR name,
                                       DWORD64 base_va, DWORD bytes, PMODLOAD_DATA data,
                                       DWORD flags)
{
    (void)process, (void)file, (void)image, (void)name, (void)data, (void)flags;
    if (module_count == MODULES)
        return 0;
    modules[module_count].base_va = base_va;
    modules[module_count++].bytes = bytes;
    return base_va;
}

EXPORT DWORD64 WINAPI SymGetModuleBase64(HANDLE process, DWORD64 va)
{
    (void)process;
    for (unsigned i = 0; i < module_count; i++)
        if (va - modules[i].base_va < modules[i].bytes)
            return modules[i].base_va;
    return 0;
}

EXPORT BOOL WINAPI SymGetModuleInfoW64(HANDLE process, DWORD64 va, PIMAGEHLP_MODULEW64 out)
{
    out->SymType = SymPdb;
    return SymGetModuleBase64(process, va) != 0;
}

static BOOL read_memory(HANDLE process, DWORD64 va, void *to, DWORD bytes)
{
    DWORD got = 0;
    struct question question = {va, to, bytes, &got};
    return callback != NULL &&
           callback(process, READ_MEMORY, (ULONG64)(uintptr_t)&question, callback_context) &&
           got == bytes;
}

EXPORT PVOID WINAPI SymFunctionTableAccess64(HANDLE process, DWORD64 va)
{
    static IMAGE_RUNTIME_FUNCTION_ENTRY entry;
    IMAGE_DOS_HEADER dos;
    IMAGE_NT_HEADERS64 nt;
    const DWORD64 base_va = SymGetModuleBase64(process, va);
    if (base_va == 0 || !read_memory(process, base_va, &dos, sizeof dos) ||
        dos.e_magic != IMAGE_DOS_SIGNATURE ||
        !read_memory(process, base_va + (DWORD64)dos.e_lfanew, &nt, sizeof nt) ||
        nt.Signature != IMAGE_NT_SIGNATURE)
        return NULL;
    const IMAGE_DATA_DIRECTORY *table =
        &nt.OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXCEPTION];
    for (DWORD at = 0; at + sizeof entry <= table->Size; at += sizeof entry)
        if (read_memory(process, base_va + table->VirtualAddress + at, &entry, sizeof entry) &&
            va - base_va >= entry.BeginAddress && va - base_va < entry.EndAddress)
            return &entry;
    return NULL;
}

/* Two frames at most: that of the context and, where its function has a table, the same again. */
EXPORT BOOL WINAPI StackWalk64(DWORD machine, HANDLE process, HANDLE thread, LPSTACKFRAME64 frame,
                               PVOID context, PREAD_PROCESS_MEMORY_ROUTINE64 read,
                               PFUNCTION_TABLE_ACCESS_ROUTINE64 table,
                               PGET_MODULE_BASE_ROUTINE64 base,
                               PTRANSLATE_ADDRESS_ROUTINE64 translate)
{
    (void)machine, (void)thread, (void)context, (void)read, (void)base, (void)translate;
    if (frame->Reserved[0]++ == 0)
        return TRUE;
    frame->AddrStack.Offset += 8;
    return frame->Reserved[0] == 2 && table(process, frame->AddrPC.Offset) != NULL;
}

EXPORT DWORD WINAPI SymAddrIncludeInlineTrace(HANDLE process, DWORD64 va)
{
    (void)process, (void)va;
    return 0;
}

EXPORT BOOL WINAPI SymQueryInlineTrace(HANDLE process, DWORD64 start_va, DWORD context,
                                       DWORD64 return_va, DWORD64 va, LPDWORD first, LPDWORD index)
{
    (void)process, (void)start_va, (void)context, (void)return_va, (void)va;
    *first = *index = 0;
    return TRUE;
}

static BOOL is_frame_itself(ULONG context)
{
    if (context != 0xffffffff)
        SetLastError(REFUSED);
    return context == 0xffffffff;
}

EXPORT BOOL WINAPI SymFromInlineContext(HANDLE process, DWORD64 va, ULONG context,
                                        PDWORD64 displacement, PSYMBOL_INFO out)
{
    (void)process, (void)va;
    *displacement = 0;
    return is_frame_itself(context) && snprintf(out->Name, out->MaxNameLen, "strict") > 0;
}

EXPORT BOOL WINAPI SymGetLineFromInlineContext(HANDLE process, DWORD64 va, ULONG context,
                                               DWORD64 base_va, PDWORD displacement,
                                               PIMAGEHLP_LINE64 out)
{
    static char file[] = "strict.c";
    (void)process, (void)va, (void)base_va;
    *displacement = 0;
    out->FileName = file;
    out->LineNumber = 7;
    return is_frame_itself(context);
}
