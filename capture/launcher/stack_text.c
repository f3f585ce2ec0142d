/* Another capture library may leave a text instead of a record (capture_port.h); this makes the
 * record that the analyser reads.  Bases are unknown: offsets need none. */
#include "capture/launcher/stack_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include "capture/record.h"

enum {
    MODULES = 64,
    FRAMES = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL,
    PATH_UNITS = 1024,
    LINE_BYTES = 1024,
    CODEVIEW_HEADER_BYTES = 24,
};

struct module {
    char name[128], path[3 * PATH_UNITS], pdb[128];
    uint32_t timestamp, image_bytes, age;
    uint8_t guid[16];
    WORD machine;
};

struct text {
    struct module modules[MODULES];
    uint32_t module_count;
    struct {
        uint32_t module, flags;
        uint64_t offset;
    } frames[FRAMES];
    uint32_t frame_count, thread_id;
};

/* ---- the identity of a module, from its file ---- */

/* Data at RVA in a file that is not mapped as an image; NULL: outside the file. */
static const uint8_t *at_rva(const IMAGE_NT_HEADERS64 *nt, const uint8_t *file, uint32_t rva)
{
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(nt);
    for (int i = 0; i < nt->FileHeader.NumberOfSections; i++, section++)
        if (rva >= section->VirtualAddress &&
            rva - section->VirtualAddress < section->SizeOfRawData)
            return file + section->PointerToRawData + (rva - section->VirtualAddress);
    return NULL;
}

/* The images are ours or the system's, so their headers are trusted. */
static void read_identity(const uint8_t *file, struct module *out)
{
    const IMAGE_NT_HEADERS64 *nt =
        (const IMAGE_NT_HEADERS64 *)(file + ((const IMAGE_DOS_HEADER *)file)->e_lfanew);
    const IMAGE_DATA_DIRECTORY *where =
        nt->OptionalHeader.Magic == IMAGE_NT_OPTIONAL_HDR64_MAGIC
            ? &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_DEBUG]
            : &((const IMAGE_NT_HEADERS32 *)nt)
                   ->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_DEBUG];
    out->machine = nt->FileHeader.Machine;
    out->timestamp = nt->FileHeader.TimeDateStamp;
    out->image_bytes = nt->OptionalHeader.SizeOfImage; /* at the same place in both forms */
    const IMAGE_DEBUG_DIRECTORY *entry =
        where->Size != 0 ? (const void *)at_rva(nt, file, where->VirtualAddress) : NULL;
    for (uint32_t i = 0; entry != NULL && i < where->Size / sizeof *entry; i++, entry++) {
        const uint8_t *codeview = file + entry->PointerToRawData;
        if (entry->Type != IMAGE_DEBUG_TYPE_CODEVIEW ||
            entry->SizeOfData <= CODEVIEW_HEADER_BYTES || memcmp(codeview, "RSDS", 4) != 0)
            continue;
        memcpy(out->guid, codeview + 4, sizeof out->guid);
        memcpy(&out->age, codeview + 20, sizeof out->age);
        const char *name = (const char *)codeview + CODEVIEW_HEADER_BYTES;
        const char *base = strrchr(name, '\\');
        snprintf(out->pdb, sizeof out->pdb, "%s", base != NULL ? base + 1 : name);
        return;
    }
}

static bool open_module(const wchar_t *path, struct module *out)
{
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    const uint8_t *view = mapping != NULL ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0) : NULL;
    if (view != NULL) {
        read_identity(view, out);
        WideCharToMultiByte(CP_UTF8, 0, path, -1, out->path, sizeof out->path, NULL, NULL);
        UnmapViewOfFile(view);
    }
    CloseHandle(mapping);
    CloseHandle(file);
    return view != NULL;
}

static uint32_t find_module(struct text *text, const char *name, const wchar_t *program)
{
    wchar_t path[PATH_UNITS + 128];
    for (uint32_t i = 0; i < text->module_count; i++)
        if (_stricmp(text->modules[i].name, name) == 0)
            return i;
    if (text->module_count == MODULES)
        return RECORD_NO_MODULE;
    struct module *module = &text->modules[text->module_count];
    snprintf(module->name, sizeof module->name, "%s", name);
    snprintf(module->path, sizeof module->path, "%s", name);
    const wchar_t *base = wcsrchr(program, L'\\');
    swprintf(path, PATH_UNITS + 128, L"%.*ls\\%hs", base != NULL ? (int)(base - program) : 0,
             program, module->name);
    if (!open_module(path, module)) {
        UINT length = GetSystemDirectoryW(path, PATH_UNITS);
        swprintf(path + length, 128, L"\\%hs", module->name);
        (void)open_module(path, module);
    }
    return text->module_count++;
}

/* ---- the text ---- */

/* Parses MODULE!0xHEX[@i|@r]; anything else is not a frame. */
static void read_frame(struct text *text, char *line, const wchar_t *program)
{
    char *mark = strrchr(line, '!'), *end;
    if (mark == NULL || strncmp(mark, "!0x", 3) != 0 || text->frame_count == FRAMES)
        return;
    const uint64_t offset = strtoull(mark + 1, &end, 16);
    *mark = 0;
    const bool is_return = end[0] == '@' ? end[1] == 'r' : text->frame_count > 0;
    const uint32_t at = text->frame_count++;
    text->frames[at].module =
        strcmp(line, "?") == 0 ? RECORD_NO_MODULE : find_module(text, line, program);
    text->frames[at].flags = (is_return ? (uint32_t)RECORD_FRAME_RETURN : 0u) |
                             (uint32_t)RECORD_FOUND_GIVEN << RECORD_FRAME_SHIFT_FOUND;
    text->frames[at].offset = offset;
}

static void read_text(FILE *file, struct text *text, const wchar_t *program)
{
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] == '>' && text->frame_count > 0)
            return;
        if (strncmp(line, "> thread ", 9) == 0)
            text->thread_id = strtoul(line + 9, NULL, 10);
        if (line[0] != '#' && line[0] != '>')
            read_frame(text, line, program);
    }
}

/* ---- the record ---- */

static uint8_t bytes[1 << 20];
static uint32_t used;

static void put(uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size && used < sizeof bytes; i++)
        bytes[used++] = (uint8_t)(value >> 8 * i);
}

static void put_at(uint32_t at, uint64_t value, uint32_t size)
{
    const uint32_t end = used;
    used = at;
    put(value, size);
    used = end;
}

static void put_module(const struct module *module)
{
    const uint32_t start = used, path_bytes = (uint32_t)strlen(module->path),
                   pdb_bytes = (uint32_t)strlen(module->pdb);
    used += RECORD_MODULE_BYTES;
    for (uint32_t i = 0; i < path_bytes; i++)
        put((uint8_t)module->path[i], 1);
    for (uint32_t i = 0; i < pdb_bytes; i++)
        put((uint8_t)module->pdb[i], 1);
    used = (used + 7) & ~7u;
    put_at(start + RECORD_M_ENTRY_BYTES, used - start, 4);
    put_at(start + RECORD_M_TIMESTAMP, module->timestamp, 4);
    put_at(start + RECORD_M_IMAGE_BYTES, module->image_bytes, 8);
    put_at(start + RECORD_M_UNLOADED, RECORD_NEVER, 8);
    for (uint32_t i = 0; i < sizeof module->guid; i++)
        put_at(start + RECORD_M_GUID + i, module->guid[i], 1);
    put_at(start + RECORD_M_AGE, module->age, 4);
    put_at(start + RECORD_M_PATH_BYTES, path_bytes, 2);
    put_at(start + RECORD_M_PDB_BYTES, pdb_bytes, 2);
}

static void build_record(const struct text *text)
{
    used = RECORD_HEADER_BYTES;
    for (uint32_t i = 0; i < text->module_count; i++) {
        const uint32_t start = i == 0 ? used : RECORD_HEADER_BYTES;
        used += i == 0 ? RECORD_SECTION_HEADER_BYTES : 0;
        put_module(&text->modules[i]);
        put_at(start + RECORD_S_TYPE, RECORD_SECTION_MODULES, 4);
        put_at(start + RECORD_S_BYTES, used - start, 4);
        put_at(start + RECORD_S_COUNT, i + 1, 4);
    }
    const uint32_t start = used;
    used += RECORD_STACK_BYTES;
    put_at(start + RECORD_S_TYPE, RECORD_SECTION_STACK, 4);
    put_at(start + RECORD_S_BYTES, RECORD_STACK_BYTES + text->frame_count * RECORD_FRAME_BYTES, 4);
    put_at(start + RECORD_S_COUNT, text->frame_count, 4);
    put_at(start + RECORD_K_WALKER, RECORD_WALKER_RTL, 4);
    put_at(start + RECORD_K_THREAD, text->thread_id, 4);
    put_at(start + RECORD_K_STOP, RECORD_STOP_WALKER, 4);
    for (uint32_t i = 0; i < text->frame_count; i++) {
        put(text->frames[i].module, 4);
        put(text->frames[i].flags, 4);
        put(text->frames[i].offset, 8);
    }
    const WORD machine = text->module_count > 0 ? text->modules[0].machine : 0;
    memcpy(bytes, RECORD_MAGIC, 8);
    put_at(RECORD_H_VERSION, RECORD_VERSION, 4);
    put_at(RECORD_H_HEADER_BYTES, RECORD_HEADER_BYTES, 4);
    put_at(RECORD_H_MACHINE, machine != 0 ? machine : IMAGE_FILE_MACHINE_AMD64, 4);
    put_at(RECORD_H_KIND, RECORD_KIND_CRASH, 4);
    put_at(RECORD_H_SUSPECT, text->thread_id, 4);
    put_at(RECORD_H_COMMITTED, used, 8);
    put_at(RECORD_H_POINTER_BYTES, machine == IMAGE_FILE_MACHINE_I386 ? 4 : 8, 4);
    put_at(RECORD_H_WRITER, RECORD_WRITER_IN_PROCESS, 4);
}

bool stack_text_to_record(const wchar_t *folder, const wchar_t *program)
{
    static struct text text;
    wchar_t path[PATH_UNITS + 32];
    swprintf(path, PATH_UNITS + 32, L"%ls\\stack.txt", folder);
    FILE *file = _wfopen(path, L"rb");
    if (file == NULL)
        return false;
    read_text(file, &text, program);
    fclose(file);
    build_record(&text);
    swprintf(path, PATH_UNITS + 32, L"%ls\\record.rec", folder);
    file = _wfopen(path, L"wb");
    if (file == NULL)
        return false;
    const bool ok = fwrite(bytes, 1, used, file) == used;
    return fclose(file) == 0 && ok;
}
