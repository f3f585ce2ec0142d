/* Modules and memory of a dump: files found by identity, loaded into dbghelp and laid out
 * for the read routine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "capture/judge/judge.h"

/* Reads a PE file and lays its sections out as the loader would.  NULL unless timestamp
 * and image size are the ones asked for. */
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
 * folders. */
static uint8_t *find_image(const wchar_t *dumped, const MINIDUMP_MODULE *m, wchar_t *path)
{
    const wchar_t *name = wcsrchr(dumped, L'\\') != NULL ? wcsrchr(dumped, L'\\') + 1 : dumped;
    uint8_t *image;
    swprintf(path, JUDGE_PATH_UNITS, L"%ls", dumped);
    image = lay_out(path, m->TimeDateStamp, m->SizeOfImage);
    for (int i = 0; image == NULL && i < judge.folder_count; i++) {
        swprintf(path, JUDGE_PATH_UNITS, L"%ls\\%ls", judge.folders[i], name);
        image = lay_out(path, m->TimeDateStamp, m->SizeOfImage);
        if (image != NULL)
            break;
        swprintf(path, JUDGE_PATH_UNITS, L"%ls\\%ls\\%08X%x\\%ls", judge.folders[i], name,
                 (unsigned)m->TimeDateStamp, (unsigned)m->SizeOfImage, name);
        image = lay_out(path, m->TimeDateStamp, m->SizeOfImage);
    }
    return image;
}

void judge_load_modules(void)
{
    static wchar_t dumped[JUDGE_PATH_UNITS], path[JUDGE_PATH_UNITS];
    uint32_t bytes = 0;
    const MINIDUMP_MODULE_LIST *list = judge_stream(ModuleListStream, &bytes);
    for (uint32_t i = 0; list != NULL && i < list->NumberOfModules && i < JUDGE_MODULES; i++) {
        const MINIDUMP_MODULE *m = &list->Modules[i];
        const MINIDUMP_STRING *name = judge_at(m->ModuleNameRva, sizeof *name);
        if ((const uint8_t *)(m + 1) > (const uint8_t *)list + bytes || name == NULL ||
            judge_at(m->ModuleNameRva + 4u, name->Length) == NULL)
            break;
        uint32_t units = name->Length / 2;
        if (units >= JUDGE_PATH_UNITS)
            continue;
        memcpy(dumped, name->Buffer, units * 2);
        dumped[units] = 0;

        struct judge_module *module = &judge.modules[judge.module_count++];
        const wchar_t *file = wcsrchr(dumped, L'\\') != NULL ? wcsrchr(dumped, L'\\') + 1 : dumped;
        WideCharToMultiByte(CP_UTF8, 0, file, -1, module->name, sizeof module->name, NULL, NULL);
        module->base_va = m->BaseOfImage;
        module->image_bytes = m->SizeOfImage;
        module->image = find_image(dumped, m, path);
        if (module->image != NULL)
            SymLoadModuleExW(JUDGE_PROCESS, NULL, path, NULL, m->BaseOfImage, m->SizeOfImage, NULL,
                             0);
    }
}

const struct judge_module *judge_module_at(uint64_t va)
{
    for (uint32_t i = 0; i < judge.module_count; i++)
        if (va - judge.modules[i].base_va < judge.modules[i].image_bytes)
            return &judge.modules[i];
    return NULL;
}

BOOL CALLBACK judge_read(HANDLE process, DWORD64 va, PVOID to, DWORD bytes, LPDWORD got)
{
    static const MINIDUMP_MEMORY_LIST *list;
    static uint32_t list_bytes, last;
    (void)process;
    if (list == NULL)
        list = judge_stream(MemoryListStream, &list_bytes);
    const uint32_t count = list != NULL ? list->NumberOfMemoryRanges : 0;
    *got = 0;
    for (uint32_t k = 0; k < count; k++) { /* most reads hit the range of the last one */
        const uint32_t i = (last + k) % count;
        const MINIDUMP_MEMORY_DESCRIPTOR *range = &list->MemoryRanges[i];
        if ((const uint8_t *)(range + 1) > (const uint8_t *)list + list_bytes)
            continue;
        if (va < range->StartOfMemoryRange || bytes > range->Memory.DataSize ||
            va - range->StartOfMemoryRange > range->Memory.DataSize - bytes)
            continue;
        const void *from = judge_at(range->Memory.Rva + (va - range->StartOfMemoryRange), bytes);
        if (from == NULL)
            continue;
        memcpy(to, from, bytes);
        *got = bytes;
        last = i;
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
