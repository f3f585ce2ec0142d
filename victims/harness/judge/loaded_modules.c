/* Modules and memory of a dump: files found by identity, loaded into dbghelp and laid out
 * for the read routine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "victims/harness/judge/dbghelp_judge.h"

/* Reads a PE file and lays its headers and sections out as the loader would: Microsoft's dbghelp
 * finds the function table by the headers.  NULL unless timestamp and image size are the ones asked
 * for. */
static uint8_t *lay_out(const wchar_t *path, uint32_t timestamp, uint32_t image_bytes)
{
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    DWORD bytes = GetFileSize(file, NULL), got = 0;
    uint8_t *raw = malloc(bytes + 1u), *image = NULL;
    if (raw == NULL || !ReadFile(file, raw, bytes, &got, NULL) ||
        got < sizeof(IMAGE_DOS_HEADER) + sizeof(IMAGE_NT_HEADERS64))
        got = 0;
    CloseHandle(file);
    const IMAGE_DOS_HEADER *dos = (const IMAGE_DOS_HEADER *)raw;
    if (got != 0 && dos->e_lfanew > 0 &&
        (uint32_t)dos->e_lfanew < got - sizeof(IMAGE_NT_HEADERS64)) {
        const IMAGE_NT_HEADERS64 *nt = (const IMAGE_NT_HEADERS64 *)(raw + dos->e_lfanew);
        const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(nt);
        if (nt->FileHeader.TimeDateStamp == timestamp &&
            nt->OptionalHeader.SizeOfImage == image_bytes)
            image = calloc(1, image_bytes);
        if (image != NULL && nt->OptionalHeader.SizeOfHeaders <= got &&
            nt->OptionalHeader.SizeOfHeaders <= image_bytes)
            memcpy(image, raw, nt->OptionalHeader.SizeOfHeaders);
        for (int i = 0; image != NULL && i < nt->FileHeader.NumberOfSections; i++, section++)
            if ((const uint8_t *)(section + 1) <= raw + got &&
                (uint64_t)section->VirtualAddress + section->SizeOfRawData <= image_bytes &&
                (uint64_t)section->PointerToRawData + section->SizeOfRawData <= got)
                memcpy(image + section->VirtualAddress, raw + section->PointerToRawData,
                       section->SizeOfRawData);
    }
    free(raw);
    return image;
}

/* The path of the image with that identity: the path in the dump, else a file in one of the
 * folders, else beside this program, where Microsoft's DLLs are: a victim may have had them. */
static uint8_t *find_image(const wchar_t *dumped, const struct judge_module *m, wchar_t *path)
{
    const wchar_t *name = wcsrchr(dumped, L'\\') != NULL ? wcsrchr(dumped, L'\\') + 1 : dumped;
    uint8_t *image;
    swprintf(path, JUDGE_PATH_UNITS, L"%ls", dumped);
    image = lay_out(path, m->timestamp, m->image_bytes);
    for (int i = 0; image == NULL && i < judge.folder_count; i++) {
        swprintf(path, JUDGE_PATH_UNITS, L"%ls\\%ls", judge.folders[i], name);
        image = lay_out(path, m->timestamp, m->image_bytes);
        if (image != NULL)
            break;
        swprintf(path, JUDGE_PATH_UNITS, L"%ls\\%08X%x\\%ls", judge.folders[i],
                 (unsigned)m->timestamp, (unsigned)m->image_bytes, name);
        image = lay_out(path, m->timestamp, m->image_bytes);
        if (image != NULL)
            break;
        swprintf(path, JUDGE_PATH_UNITS, L"%ls\\%ls\\%08X%x\\%ls", judge.folders[i], name,
                 (unsigned)m->timestamp, (unsigned)m->image_bytes, name);
        image = lay_out(path, m->timestamp, m->image_bytes);
    }
    if (image == NULL && judge_beside_program(name, path))
        image = lay_out(path, m->timestamp, m->image_bytes);
    return image;
}

/* Under Wine a module that is built in has a path that begins with '/'. */
static bool is_in_system_folder(const wchar_t *path)
{
    static const wchar_t *const folders[] = {L"\\system32\\", L"\\syswow64\\", L"\\winsxs\\"};
    wchar_t lower[JUDGE_PATH_UNITS];
    size_t i = 0;
    for (; path[i] != 0 && i + 1 < JUDGE_PATH_UNITS; i++)
        lower[i] = (wchar_t)towlower(path[i]);
    lower[i] = 0;
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++)
        if (wcsstr(lower, folders[k]) != NULL)
            return true;
    return path[0] == L'/';
}

/* What identifies the modules of the dump; images are not loaded yet. */
static void list_modules(struct judge_set *set, wchar_t (*dumped)[JUDGE_PATH_UNITS])
{
    uint32_t bytes = 0;
    const MINIDUMP_MODULE_LIST *list = judge_stream(ModuleListStream, &bytes);
    for (uint32_t i = 0; list != NULL && i < list->NumberOfModules && i < JUDGE_MODULES; i++) {
        const MINIDUMP_MODULE *m = &list->Modules[i];
        if ((const uint8_t *)(m + 1) > (const uint8_t *)list + bytes)
            break;
        const MINIDUMP_STRING *name = judge_at(m->ModuleNameRva, sizeof *name);
        if (name == NULL || judge_at(m->ModuleNameRva + 4u, name->Length) == NULL)
            break;
        const uint32_t units = name->Length / 2;
        if (units >= JUDGE_PATH_UNITS)
            continue;
        wchar_t *path = dumped[set->module_count];
        memcpy(path, name->Buffer, units * 2);
        path[units] = 0;

        struct judge_module *module = &set->modules[set->module_count++];
        const wchar_t *file = wcsrchr(path, L'\\') != NULL ? wcsrchr(path, L'\\') + 1 : path;
        WideCharToMultiByte(CP_UTF8, 0, file, -1, module->name, sizeof module->name, NULL, NULL);
        module->base_va = m->BaseOfImage;
        module->image_bytes = m->SizeOfImage;
        module->timestamp = m->TimeDateStamp;
        module->system = is_in_system_folder(path);
    }
}

static bool are_same(const struct judge_set *a, const struct judge_set *b)
{
    if (a->module_count != b->module_count || wcscmp(a->search, b->search) != 0)
        return false;
    for (uint32_t i = 0; i < a->module_count; i++) {
        const struct judge_module *x = &a->modules[i], *y = &b->modules[i];
        if (x->base_va != y->base_va || x->image_bytes != y->image_bytes ||
            x->timestamp != y->timestamp || strcmp(x->name, y->name) != 0)
            return false;
    }
    return true;
}

static void free_set(struct judge_set *set)
{
    if (set->used == 0)
        return;
    SymCleanup(set->process);
    for (uint32_t i = 0; i < set->module_count; i++)
        free(set->modules[i].image);
    set->used = 0;
}

#ifndef CBA_READ_MEMORY /* mingw-w64 10 does not declare it */
#define CBA_READ_MEMORY 6
typedef struct {
    DWORD64 addr;
    PVOID buf;
    DWORD bytes;
    DWORD *bytesread;
} IMAGEHLP_CBA_READ_MEMORY, *PIMAGEHLP_CBA_READ_MEMORY;
#endif

/* Microsoft's dbghelp reads headers and function tables in the memory of the process, and asks here
 * where the handle is none of a process. Wine's reads them in the files. */
static BOOL CALLBACK answer(HANDLE process, ULONG action, ULONG64 data, ULONG64 context)
{
    const IMAGEHLP_CBA_READ_MEMORY *read = (const IMAGEHLP_CBA_READ_MEMORY *)(uintptr_t)data;
    (void)context;
    return action == CBA_READ_MEMORY &&
           judge_read(process, read->addr, read->buf, read->bytes, read->bytesread);
}

/* Where dbghelp looks for PDBs: the folders of the question, then those of images of the program.
 * Microsoft's does not look beside an image by itself once it has found a PDB of the wanted name,
 * but of another image, elsewhere. */
static wchar_t search[2 * JUDGE_FOLDERS * JUDGE_PATH_UNITS];

static bool is_searched(const wchar_t *folder, size_t units)
{
    for (const wchar_t *at = search; *at != 0; at += wcscspn(at, L";"), at += *at == L';')
        if (wcscspn(at, L";") == units && _wcsnicmp(at, folder, units) == 0)
            return true;
    return false;
}

static void search_beside(const wchar_t *image)
{
    const wchar_t *name = wcsrchr(image, L'\\');
    const size_t units = name != NULL ? (size_t)(name - image) : 0, used = wcslen(search);
    if (units == 0 || used + units + 2 > sizeof search / sizeof search[0] ||
        is_searched(image, units))
        return;
    if (used > 0)
        wcscat(search, L";");
    wcsncat(search, image, units);
    SymSetSearchPathW(judge.set->process, search);
}

void judge_load_modules(void)
{
    static struct judge_set sets[JUDGE_SETS], wanted;
    static wchar_t dumped[JUDGE_MODULES][JUDGE_PATH_UNITS], path[JUDGE_PATH_UNITS];
    struct judge_set *oldest = &sets[0];

    memset(&wanted, 0, sizeof wanted);
    for (int i = 0; i < judge.folder_count; i++) {
        wcscat(wanted.search, i > 0 ? L";" : L"");
        wcscat(wanted.search, judge.folders[i]);
    }
    list_modules(&wanted, dumped);
    wanted.used = ++judge.questions;
    for (size_t i = 0; i < JUDGE_SETS; i++) {
        if (sets[i].used != 0 && are_same(&sets[i], &wanted)) {
            judge.set = &sets[i];
            judge.set->used = wanted.used;
            return;
        }
        if (sets[i].used < oldest->used)
            oldest = &sets[i];
    }
    free_set(oldest);
    judge.set = oldest;
    *judge.set = wanted;
    judge.set->process = (HANDLE)(ULONG_PTR)(0x7D15u + 4 * judge.questions);
    SymInitializeW(judge.set->process, wanted.search[0] != 0 ? wanted.search : NULL, FALSE);
    SymRegisterCallback64(judge.set->process, answer, 0);
    wcscpy(search, wanted.search);
    for (uint32_t i = 0; i < judge.set->module_count; i++) {
        struct judge_module *m = &judge.set->modules[i];
        m->image = find_image(dumped[i], m, path);
        if (m->image != NULL && !m->system)
            search_beside(path);
        if (m->image != NULL)
            SymLoadModuleExW(judge.set->process, NULL, path, NULL, m->base_va, m->image_bytes, NULL,
                             0);
    }
}

const struct judge_module *judge_module_at(uint64_t va)
{
    for (uint32_t i = 0; i < judge.set->module_count; i++)
        if (va - judge.set->modules[i].base_va < judge.set->modules[i].image_bytes)
            return &judge.set->modules[i];
    return NULL;
}

BOOL CALLBACK judge_read(HANDLE process, DWORD64 va, PVOID to, DWORD bytes, LPDWORD got)
{
    const MINIDUMP_MEMORY_LIST *list = judge.memory;
    const uint32_t count = list != NULL ? list->NumberOfMemoryRanges : 0;
    (void)process;
    *got = 0;
    for (uint32_t k = 0; k < count; k++) { /* most reads hit the range of the last one */
        const uint32_t i = (judge.memory_last + k) % count;
        const MINIDUMP_MEMORY_DESCRIPTOR *range = &list->MemoryRanges[i];
        if ((const uint8_t *)(range + 1) > (const uint8_t *)list + judge.memory_bytes)
            continue;
        if (va < range->StartOfMemoryRange || bytes > range->Memory.DataSize ||
            va - range->StartOfMemoryRange > range->Memory.DataSize - bytes)
            continue;
        const void *from = judge_at(range->Memory.Rva + (va - range->StartOfMemoryRange), bytes);
        if (from == NULL)
            continue;
        memcpy(to, from, bytes);
        *got = bytes;
        judge.memory_last = i;
        return TRUE;
    }
    const struct judge_module *module = judge_module_at(va);
    if (module == NULL || module->image == NULL ||
        va - module->base_va + bytes > module->image_bytes)
        return FALSE;
    memcpy(to, module->image + (va - module->base_va), bytes);
    *got = bytes;
    return TRUE;
}
