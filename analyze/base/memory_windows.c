/* The memory of the process; see files.h. */
#include "base/files.h"

#include <windows.h>

#include <psapi.h>

void file_release(const struct file_map *map, uint64_t from, uint64_t bytes)
{
    (void)map, (void)from, (void)bytes; /* Windows takes from a process what it does not use */
}

uint64_t memory_peak_bytes(void)
{
    PROCESS_MEMORY_COUNTERS counters;
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
               ? counters.PeakWorkingSetSize
               : 0;
}

uint64_t memory_held_bytes(void)
{
    PROCESS_MEMORY_COUNTERS counters;
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
               ? counters.WorkingSetSize
               : 0;
}

uint64_t memory_mapped_bytes(void)
{
    return 0;
}

/* Windows keeps one peak for the lifetime of a process and cannot reset it. */
uint64_t memory_peak_restart(void)
{
    return memory_held_bytes();
}

void memory_grow_by(size_t bytes)
{
    (void)bytes; /* the Windows heap has no such setting */
}

void memory_share_pools(int count)
{
    (void)count; /* one heap serves all threads */
}

void memory_give_back(void)
{
    /* the Windows heap does so by itself */
}
