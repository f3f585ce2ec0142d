/* See microsoft.h. */
#include "engine/microsoft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/files.h"
#include "format/pe/pe.h"

static char microsoft_folder[4096]; /* "": none was named */
static bool from_system;

const char microsoft_why_not[] =
    "no files of Microsoft's debugger: --debugger or TWINSTACK_DEBUGGER names their folder, "
    "`./run debugger` restores them";

static const char *const names[MICROSOFT_FILE_COUNT] = {
    [MICROSOFT_DBGHELP] = "dbghelp.dll",   [MICROSOFT_DBGCORE] = "dbgcore.dll",
    [MICROSOFT_MSDIA] = "msdia140.dll",    [MICROSOFT_DBGENG] = "dbgeng.dll",
    [MICROSOFT_DBGMODEL] = "dbgmodel.dll",
};

/* The names of the folders for a processor: those of the Debugging Tools, and of the package. */
static const struct {
    enum cpu cpu;
    uint16_t machine;
    const char *folders[3];
} processors[] = {
    {CPU_X64, PE_MACHINE_X64, {".", "x64", "amd64"}},
    {CPU_X86, PE_MACHINE_X86, {".", "x86", NULL}},
    {CPU_ARM64, PE_MACHINE_ARM64, {".", "arm64", NULL}},
};

const char *microsoft_file_name(enum microsoft_file file)
{
    return names[file];
}

/* Wine marks what it installs in place of Windows' files, after the DOS header. */
static bool is_of_wine(const struct file_map *map)
{
    static const char *const marks[] = {"Wine builtin DLL", "Wine placeholder DLL"};
    enum { MARK_AT = 0x40 };
    for (size_t i = 0; i < COUNT_OF(marks); i++)
        if (map->bytes > MARK_AT + strlen(marks[i]) &&
            memcmp(map->data + MARK_AT, marks[i], strlen(marks[i])) == 0)
            return true;
    return false;
}

static bool is_for(const char *path, uint16_t machine)
{
    struct fault ignored = FAULT_INIT;
    struct file_map map;
    struct pe pe;

    if (!path_is_file(path) || file_map(path, &map, &ignored) != ERR_NONE)
        return false;
    const bool fits = !is_of_wine(&map) &&
                      pe_open(map.data, map.bytes, &pe, &ignored) == ERR_NONE &&
                      pe.machine == machine;
    file_unmap(&map);
    return fits;
}

const char *microsoft_path(enum microsoft_file file, enum cpu cpu, struct arena *keep)
{
    for (size_t i = 0; i < COUNT_OF(processors) && microsoft_folder[0] != '\0'; i++)
        for (size_t k = 0; processors[i].cpu == cpu && k < COUNT_OF(processors[i].folders); k++) {
            const char *inner = processors[i].folders[k];
            const char *path =
                inner != NULL ? arena_printf(keep, "%s/%s/%s", microsoft_folder, inner, names[file])
                              : NULL;
            if (path != NULL && is_for(path, processors[i].machine))
                return path;
        }
    return NULL;
}

/* One step down in the tree of resources, at OFFSET from its start: to entry ID, or to the first
 * one. Returns the entry's place, whose highest bit means another directory; 0: none. */
static uint32_t resource_below(const uint8_t *tree, uint32_t bytes, uint32_t offset, uint32_t id)
{
    enum { HEAD_BYTES = 16, COUNTS = 12, ENTRY_BYTES = 8, ANY = 0 };
    if (offset > bytes || bytes - offset < HEAD_BYTES)
        return 0;
    const uint8_t *head = tree + offset;
    const uint32_t count = (uint32_t)load_u16(head + COUNTS) + load_u16(head + COUNTS + 2);
    const uint32_t room = (bytes - offset - HEAD_BYTES) / ENTRY_BYTES;
    for (uint32_t i = 0; i < count && i < room; i++) {
        const uint8_t *entry = head + HEAD_BYTES + (size_t)i * ENTRY_BYTES;
        if (id == ANY || load_u32(entry) == id)
            return load_u32(entry + 4);
    }
    return 0;
}

/* VS_FIXEDFILEINFO of the version resource, 40 bytes after its start. */
static const uint8_t *fixed_info(const struct pe *pe)
{
    enum { RESOURCES = 2, VERSION_TYPE = 16, FIXED_AT = 40, FIXED_BYTES = 52 };
    const uint32_t is_directory = 0x80000000, signature = 0xfeef04bd;
    uint32_t bytes = 0;
    const uint8_t *tree = pe_tail(pe, pe->directories[RESOURCES].rva, &bytes);
    uint32_t place = is_directory;

    for (int level = 0; tree != NULL && level < 3; level++)
        place = (place & is_directory) != 0 ? resource_below(tree, bytes, place & ~is_directory,
                                                             level == 0 ? VERSION_TYPE : 0)
                                            : 0;
    if (tree == NULL || place == 0 || place > bytes || bytes - place < 8)
        return NULL;
    const uint8_t *info = pe_at(pe, load_u32(tree + place), FIXED_AT + FIXED_BYTES);
    return info != NULL && load_u32(info + FIXED_AT) == signature ? info + FIXED_AT : NULL;
}

const char *microsoft_version(const char *path, struct arena *keep)
{
    enum { FILE_VERSION = 8 };
    struct fault ignored = FAULT_INIT;
    struct file_map map;
    struct pe pe;
    const char *version = NULL;

    if (file_map(path, &map, &ignored) != ERR_NONE)
        return NULL;
    const uint8_t *info =
        pe_open(map.data, map.bytes, &pe, &ignored) == ERR_NONE ? fixed_info(&pe) : NULL;
    if (info != NULL)
        version = arena_printf(keep, "%u.%u.%u.%u", (unsigned)load_u16(info + FILE_VERSION + 2),
                               (unsigned)load_u16(info + FILE_VERSION),
                               (unsigned)load_u16(info + FILE_VERSION + 6),
                               (unsigned)load_u16(info + FILE_VERSION + 4));
    file_unmap(&map);
    return version;
}

enum status microsoft_set(const char *folder, struct fault *fault)
{
    struct arena scratch;
    bool found = false;
    const int bytes = snprintf(microsoft_folder, sizeof microsoft_folder, "%s", folder);

    from_system = false;
    if (bytes < 0 || (size_t)bytes >= sizeof microsoft_folder) {
        microsoft_folder[0] = '\0';
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "folder of Microsoft's debugger");
    }
    arena_init(&scratch, 0);
    for (size_t i = 0; i < COUNT_OF(processors); i++)
        found |= microsoft_path(MICROSOFT_DBGHELP, processors[i].cpu, &scratch) != NULL;
    arena_free(&scratch);
    if (found)
        return ERR_NONE;
    microsoft_folder[0] = '\0';
    fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "folder of Microsoft's debugger",
                   "it has no dbghelp.dll, neither itself nor in x64, amd64, x86 or arm64");
    fault_set_path(fault, folder);
    return fault->code;
}

bool microsoft_is_system(void)
{
    return from_system;
}

void microsoft_configure(void)
{
    const char *folder = getenv("TWINSTACK_DEBUGGER"), *below = "";
#if defined(_WIN32)
    from_system = folder == NULL && getenv("SystemRoot") != NULL;
    if (from_system) {
        folder = getenv("SystemRoot");
        below = "/System32";
    }
#endif
    const int bytes =
        folder != NULL ? snprintf(microsoft_folder, sizeof microsoft_folder, "%s%s", folder, below)
                       : 0;
    if (bytes <= 0 || (size_t)bytes >= sizeof microsoft_folder)
        microsoft_folder[0] = '\0';
}
