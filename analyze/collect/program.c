/* What a Windows program needs from its host: see parts.h. */
#include "base/files.h"
#include "collect/parts.h"
#include "format/pe/pe.h"

uint32_t program_machine(const char *program)
{
    struct fault ignored = FAULT_INIT;
    struct file_map map;
    struct pe pe;

    if (file_map(program, &map, &ignored) != ERR_NONE)
        return 0;
    const bool sound = pe_open(map.data, map.bytes, &pe, &ignored) == ERR_NONE;
    const uint32_t machine = sound ? pe.machine : 0;
    file_unmap(&map);
    return machine;
}

bool prefix_runs_32_bits(const char *prefix, struct arena *keep)
{
    if (prefix == NULL)
        return true;
    const char *dll = arena_printf(keep, "%s/drive_c/windows/syswow64/kernel32.dll", prefix);
    return dll != NULL && path_absolute(dll, keep) != NULL;
}
