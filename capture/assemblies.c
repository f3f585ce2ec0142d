/* Assemblies that a profiler registers: modules whose images the runtime maps itself. */
#include "capture/cap.h"

static int listed_at(uint64_t base_va)
{
    for (LONG i = 0; i < cap.module_count && i < CAP_MODULES; i++)
        if (cap.modules[i].ready && cap.modules[i].base_va == base_va)
            return (int)i;
    return -1;
}

uint32_t capture_register_assembly(const wchar_t *path, const void *base, const uint8_t mvid[16])
{
    const LONG at = InterlockedIncrement(&cap_managed.assembly_count) - 1;
    if (at >= CAP_ASSEMBLIES) {
        InterlockedIncrement(&cap_managed.left_out);
        return 0;
    }
    uint32_t units = 0;
    while (path[units] != 0)
        units++;
    if (base != NULL)
        cap_modules_add_flat((uintptr_t)base, path, units);
    cap_managed.assemblies[at].module = base != NULL ? listed_at((uintptr_t)base) : -1;
    cap_crash_copy(cap_managed.assemblies[at].mvid, mvid, 16);
    return (uint32_t)at + 1;
}
