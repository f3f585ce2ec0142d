/* The table of modules, kept up to date by load notifications.  The system is never asked at a
 * crash: every query that names a module takes the loader lock.
 *
 * Invariants
 * 1. The notification is registered before the first snapshot, so nothing is missed; what
 *    both saw is entered once (by base, while loaded).
 * 2. Entries are only ever added; `ready` is set last; an unload stamps a time.
 * 3. A program that loads the same image again and again does not fill the table: from half of it
 *    on, an image that comes back to its place has its former entry again, with the former time. */
#include "capture/cap.h"

#include <psapi.h>
#include <stddef.h>
#include <string.h>
#include <winternl.h>

#include "capture/function_table.h"

enum {
    NOTIFY_LOADED = 1,
    NOTIFY_UNLOADED = 2,
    FUNCTION_BYTES = 12,
    CODEVIEW_HEADER_BYTES = 24, /* "RSDS", GUID, age; then the name */
};

struct load_notice {
    ULONG flags;
    const UNICODE_STRING *full_name, *base_name;
    void *base;
    ULONG image_bytes;
};

typedef void(CALLBACK *notify_function)(ULONG, const struct load_notice *, void *);
extern LONG NTAPI LdrRegisterDllNotification(ULONG, notify_function, void *, void **);
extern LONG NTAPI LdrUnregisterDllNotification(void *);

static void *cookie;

static void set_pdb_name(struct cap_module *module, const char *name, uint64_t room_bytes)
{
    uint32_t start = 0, length = 0;
    while (length < room_bytes && length < 1024 && name[length] != 0)
        length++;
    for (uint32_t i = 0; i < length; i++)
        if (name[i] == '\\' || name[i] == '/')
            start = i + 1;
    length -= start;
    if (length > CAP_PDB_BYTES)
        length = 0;
    cap_crash_copy(module->pdb, name + start, length);
    module->pdb_bytes = (uint16_t)length;
}

/* BYTES at VA of the process; false: not readable. */
static bool read_memory(uint64_t va, void *to, uint32_t bytes)
{
    SIZE_T got = 0;
    const HANDLE process =
        cap.process != NULL ? cap.process : GetCurrentProcess(); /* not installed */
    return ReadProcessMemory(process, (const void *)(uintptr_t)va, to, bytes, &got) && got == bytes;
}

static bool read_codeview(struct cap_module *module, uint32_t rva, uint32_t bytes)
{
    uint8_t codeview[CODEVIEW_HEADER_BYTES + CAP_PDB_BYTES * 4];
    if (bytes > sizeof codeview)
        bytes = sizeof codeview;
    if (bytes <= CODEVIEW_HEADER_BYTES || !read_memory(module->base_va + rva, codeview, bytes) ||
        codeview[0] != 'R' || codeview[1] != 'S' || codeview[2] != 'D' || codeview[3] != 'S')
        return false;
    cap_crash_copy(module->guid, codeview + 4, sizeof module->guid);
    cap_crash_copy(&module->age, codeview + 20, sizeof module->age);
    set_pdb_name(module, (const char *)codeview + CODEVIEW_HEADER_BYTES,
                 bytes - CODEVIEW_HEADER_BYTES);
    return true;
}

/* Where RVA is, from the module's base, if the image is laid out as in its file. */
static uint32_t file_offset(const struct cap_module *module, const IMAGE_NT_HEADERS *nt,
                            uint32_t nt_offset, uint32_t rva)
{
    IMAGE_SECTION_HEADER section;
    const uint32_t first = nt_offset + (uint32_t)(offsetof(IMAGE_NT_HEADERS, OptionalHeader) +
                                                  nt->FileHeader.SizeOfOptionalHeader);
    for (uint32_t i = 0; i < nt->FileHeader.NumberOfSections; i++)
        if (read_memory(module->base_va + first + i * sizeof section, &section, sizeof section) &&
            rva - section.VirtualAddress < section.SizeOfRawData)
            return rva - section.VirtualAddress + section.PointerToRawData;
    return rva;
}

/* An image of managed code alone has headers of 32 bits, also in a process of 64 bits. */
static IMAGE_DATA_DIRECTORY directory(const IMAGE_NT_HEADERS *nt, uint32_t which)
{
    return nt->OptionalHeader.Magic == IMAGE_NT_OPTIONAL_HDR32_MAGIC
               ? ((const IMAGE_NT_HEADERS32 *)(const void *)nt)->OptionalHeader.DataDirectory[which]
               : nt->OptionalHeader.DataDirectory[which];
}

/* Headers and debug directory of a mapped image: size, timestamp, and the PDB's identity.  IS_FLAT:
 * it is laid out as in its file. */
static void read_identity(struct cap_module *module, bool is_flat)
{
    IMAGE_DOS_HEADER dos;
    IMAGE_NT_HEADERS nt;
    IMAGE_DEBUG_DIRECTORY entry;
    if (!read_memory(module->base_va, &dos, sizeof dos) ||
        !read_memory(module->base_va + (uint32_t)dos.e_lfanew, &nt, sizeof nt))
        return;
    module->timestamp = nt.FileHeader.TimeDateStamp;
    module->image_bytes = nt.OptionalHeader.SizeOfImage;

    const IMAGE_DATA_DIRECTORY table = directory(&nt, IMAGE_DIRECTORY_ENTRY_EXCEPTION);
    module->functions_rva = table.VirtualAddress;
    module->functions_count = table.Size / FUNCTION_BYTES;

    IMAGE_DATA_DIRECTORY where = directory(&nt, IMAGE_DIRECTORY_ENTRY_DEBUG);
    if (where.VirtualAddress == 0)
        return;
    if (is_flat)
        where.VirtualAddress =
            file_offset(module, &nt, (uint32_t)dos.e_lfanew, where.VirtualAddress);
    for (uint32_t i = 0; i < where.Size / sizeof entry; i++)
        if (read_memory(module->base_va + where.VirtualAddress + i * sizeof entry, &entry,
                        sizeof entry) &&
            entry.Type == IMAGE_DEBUG_TYPE_CODEVIEW && entry.AddressOfRawData != 0 &&
            read_codeview(module, is_flat ? entry.PointerToRawData : entry.AddressOfRawData,
                          entry.SizeOfData))
            return;
}

static bool is_listed(uint64_t base_va)
{
    for (LONG i = 0; i < cap.module_count && i < CAP_MODULES; i++)
        if (cap.modules[i].ready && cap.modules[i].base_va == base_va &&
            cap.modules[i].unloaded_ns == RECORD_NEVER)
            return true;
    return false;
}

/* Whether the image that is now at the entry's place is the entry's. */
static bool has_headers_of(const struct cap_module *module)
{
    IMAGE_DOS_HEADER dos;
    IMAGE_NT_HEADERS nt;
    return read_memory(module->base_va, &dos, sizeof dos) &&
           read_memory(module->base_va + (uint32_t)dos.e_lfanew, &nt, sizeof nt) &&
           nt.FileHeader.TimeDateStamp == module->timestamp &&
           nt.OptionalHeader.SizeOfImage == module->image_bytes;
}

/* While no notification came, images went, and others took their places. */
static void remove_what_went(void)
{
    for (LONG i = 0; i < cap.module_count && i < CAP_MODULES; i++) {
        struct cap_module *module = &cap.modules[i];
        HMODULE now = NULL;
        if (!module->ready || module->is_private || module->unloaded_ns != RECORD_NEVER)
            continue;
        if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                    GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                                (const wchar_t *)(uintptr_t)module->base_va, &now) ||
            !has_headers_of(module))
            module->unloaded_ns = cap_crash_now_ns();
    }
}

/* Whether the image at BASE_VA is one that was there before; then its entry counts again. */
static bool is_back(uint64_t base_va, const wchar_t *path, uint32_t path_units)
{
    char name[CAP_PATH_BYTES];
    const uint32_t bytes = cap_crash_utf8(path, path_units, name, CAP_PATH_BYTES);
    for (LONG i = cap.module_count < CAP_MODULES ? cap.module_count : CAP_MODULES; i-- > 0;) {
        struct cap_module *module = &cap.modules[i];
        if (!module->ready || module->base_va != base_va || module->path_bytes != bytes ||
            memcmp(module->path, name, bytes) != 0 || !has_headers_of(module))
            continue;
        module->unloaded_ns = RECORD_NEVER;
        return true;
    }
    return false;
}

static void add(uint64_t base_va, uint64_t image_bytes, const wchar_t *path, uint32_t path_units,
                uint64_t loaded_ns, bool may_be_flat)
{
    if (is_listed(base_va) ||
        (cap.module_count >= CAP_MODULES / 2 && is_back(base_va, path, path_units)))
        return;
    LONG at = InterlockedIncrement(&cap.module_count) - 1;
    if (at >= CAP_MODULES) {
        InterlockedDecrement(&cap.module_count);
        return;
    }
    struct cap_module *module = &cap.modules[at];
    module->base_va = base_va;
    module->is_private = may_be_flat;
    module->image_bytes = image_bytes;
    module->loaded_ns = loaded_ns;
    module->unloaded_ns = RECORD_NEVER;
    module->path_bytes = (uint16_t)cap_crash_utf8(path, path_units, module->path, CAP_PATH_BYTES);
    read_identity(module, false);
    if (may_be_flat && module->pdb_bytes == 0)
        read_identity(module, true);
    InterlockedExchange(&module->ready, 1);
}

void cap_modules_add(uint64_t base_va, uint64_t image_bytes, const wchar_t *path,
                     uint32_t path_units, uint64_t loaded_ns)
{
    add(base_va, image_bytes, path, path_units, loaded_ns, false);
}

/* Native code never runs in such an image, so its pages need not be where its headers say. */
void cap_modules_add_flat(uint64_t base_va, const wchar_t *path, uint32_t path_units)
{
    add(base_va, 0, path, path_units, cap.process != NULL ? cap_crash_now_ns() : 0, true);
}

void cap_modules_remove(uint64_t base_va)
{
    const uint64_t now_ns = cap_crash_now_ns();
    for (LONG i = 0; i < cap.module_count && i < CAP_MODULES; i++)
        if (cap.modules[i].base_va == base_va && cap.modules[i].unloaded_ns == RECORD_NEVER)
            cap.modules[i].unloaded_ns = now_ns;
}

static void CALLBACK on_notice(ULONG reason, const struct load_notice *notice, void *context)
{
    (void)context;
    if (reason == NOTIFY_LOADED)
        cap_modules_add((uintptr_t)notice->base, notice->image_bytes, notice->full_name->Buffer,
                        notice->full_name->Length / 2u, cap_crash_now_ns());
    else if (reason == NOTIFY_UNLOADED)
        cap_modules_remove((uintptr_t)notice->base);
}

bool cap_modules_start(void)
{
    static HMODULE loaded[CAP_MODULES];
    static wchar_t path[1024];
    DWORD bytes = 0;
    if (LdrRegisterDllNotification(0, on_notice, NULL, &cookie) != 0)
        return false;
    remove_what_went();
    if (!K32EnumProcessModules(GetCurrentProcess(), loaded, sizeof loaded, &bytes))
        return false;
    for (DWORD i = 0; i < bytes / sizeof loaded[0] && i < CAP_MODULES; i++) {
        MODULEINFO info = {0};
        if (!K32GetModuleInformation(GetCurrentProcess(), loaded[i], &info, sizeof info))
            continue;
        DWORD units = GetModuleFileNameW(loaded[i], path, sizeof path / sizeof path[0]);
        cap_modules_add((uintptr_t)loaded[i], info.SizeOfImage, path, units, 0);
    }
    return true;
}

void cap_modules_stop(void)
{
    if (cookie != NULL)
        LdrUnregisterDllNotification(cookie);
    cookie = NULL;
}

static bool holds(const struct cap_module *module, uint64_t va)
{
    return module->ready && va - module->base_va < module->image_bytes;
}

static const struct cap_module *loaded_at(uint64_t va)
{
    for (LONG i = 0; i < cap.module_count && i < CAP_MODULES; i++)
        if (holds(&cap.modules[i], va) && cap.modules[i].unloaded_ns == RECORD_NEVER)
            return &cap.modules[i];
    return NULL;
}

bool cap_crash_in_loaded_module(uint64_t va)
{
    return loaded_at(va) != NULL;
}

#if defined(_WIN64)
const RUNTIME_FUNCTION *cap_crash_function_at(uint64_t va, uint64_t *base_va)
{
    const struct cap_module *module = loaded_at(va);
    if (module == NULL) {
        const RUNTIME_FUNCTION *managed = cap_crash_managed_function(va, base_va);
        return managed != NULL || cap.unwind_data_held ? managed
                                                       : RtlLookupFunctionEntry(va, base_va, NULL);
    }
    const uint32_t rva = (uint32_t)(va - module->base_va);
    const uint8_t *base = (const uint8_t *)(uintptr_t)module->base_va;
    *base_va = module->base_va;
    return (const RUNTIME_FUNCTION *)(const void *)cap_crash_function_row(
        base, (const struct cap_function_row *)(const void *)(base + module->functions_rva),
        module->functions_count, rva);
}
#endif

int cap_crash_module_at(uint64_t va)
{
    int best = -1;
    for (int i = 0; i < cap.module_count && i < CAP_MODULES; i++) {
        const struct cap_module *module = &cap.modules[i];
        if (!holds(module, va))
            continue;
        if (module->unloaded_ns == RECORD_NEVER)
            return i;
        if (best < 0 || module->unloaded_ns > cap.modules[best].unloaded_ns)
            best = i;
    }
    return best;
}

bool cap_crash_in_code_map(uint64_t va)
{
    for (LONG i = 0; i < cap.code_count && i < CAP_CODE_MAPS; i++)
        if (cap.codes[i].ready && va - cap.codes[i].start_va < cap.codes[i].code_bytes)
            return true;
    return cap_crash_method_at(va) != NULL;
}
