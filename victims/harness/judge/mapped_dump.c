/* The dump as the judge reads it: mapped as a whole, every access checked against its size. */
#include <string.h>
#include <wchar.h>

#include "capture/record.h"
#include "victims/harness/judge/dbghelp_judge.h"

struct judge judge;

uint64_t judge_now_ns(void)
{
    LARGE_INTEGER rate, now;
    QueryPerformanceFrequency(&rate);
    QueryPerformanceCounter(&now);
    return (uint64_t)((double)now.QuadPart * 1e9 / (double)rate.QuadPart);
}

void *judge_at(uint64_t offset, uint64_t bytes)
{
    if (offset > judge.dump_bytes || bytes > judge.dump_bytes - offset)
        return NULL;
    return judge.dump + offset;
}

void *judge_stream(uint32_t type, uint32_t *bytes)
{
    const MINIDUMP_HEADER *header = judge_at(0, sizeof *header);
    const MINIDUMP_DIRECTORY *directory =
        judge_at(header->StreamDirectoryRva, (uint64_t)header->NumberOfStreams * sizeof *directory);
    for (uint32_t i = 0; directory != NULL && i < header->NumberOfStreams; i++)
        if (directory[i].StreamType == type) {
            *bytes = directory[i].Location.DataSize;
            return judge_at(directory[i].Location.Rva, *bytes);
        }
    return NULL;
}

bool judge_open_dump(const wchar_t *path)
{
    LARGE_INTEGER size;
    judge.file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                             OPEN_EXISTING, 0, NULL);
    if (judge.file == INVALID_HANDLE_VALUE || !GetFileSizeEx(judge.file, &size))
        return false;
    judge.mapping = CreateFileMappingW(judge.file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (judge.mapping == NULL)
        return false;
    judge.dump = MapViewOfFile(judge.mapping, FILE_MAP_READ, 0, 0, 0);
    judge.dump_bytes = judge.dump != NULL ? (uint64_t)size.QuadPart : 0;
    const MINIDUMP_HEADER *header = judge_at(0, sizeof *header);
    if (header == NULL || header->Signature != MINIDUMP_SIGNATURE)
        return false;
    judge.memory = judge_stream(MemoryListStream, &judge.memory_bytes);
    judge.memory_last = 0;
    return true;
}

void judge_close_dump(void)
{
    if (judge.dump != NULL)
        UnmapViewOfFile(judge.dump);
    if (judge.mapping != NULL)
        CloseHandle(judge.mapping);
    if (judge.file != NULL && judge.file != INVALID_HANDLE_VALUE)
        CloseHandle(judge.file);
    judge.dump = NULL;
    judge.dump_bytes = 0;
    judge.mapping = judge.file = NULL;
    judge.memory = NULL;
}

bool judge_beside_program(const wchar_t *name, wchar_t path[JUDGE_PATH_UNITS])
{
    const DWORD length = GetModuleFileNameW(NULL, path, JUDGE_PATH_UNITS);
    wchar_t *last = length > 0 && length < JUDGE_PATH_UNITS ? wcsrchr(path, L'\\') : NULL;
    if (last == NULL || (size_t)(last + 1 - path) + wcslen(name) >= JUDGE_PATH_UNITS)
        return false;
    wcscpy(name[0] != 0 ? last + 1 : last, name);
    return true;
}

bool judge_seed_is_return(bool crashed)
{
    uint32_t bytes = 0, hooks, kind;
    const uint8_t *header = judge_stream(RECORD_DUMP_STREAM, &bytes);
    if (!crashed || header == NULL || bytes < RECORD_HEADER_BYTES)
        return false;
    memcpy(&hooks, header + RECORD_H_HOOKS, sizeof hooks);
    memcpy(&kind, header + RECORD_H_KIND, sizeof kind);
    return kind == RECORD_KIND_CRASH && (hooks & RECORD_HOOKS_FAULT) == 0;
}

bool judge_is_x86(void)
{
    uint32_t bytes = 0;
    const MINIDUMP_SYSTEM_INFO *system = judge_stream(SystemInfoStream, &bytes);
    return system != NULL && bytes >= sizeof system->ProcessorArchitecture &&
           system->ProcessorArchitecture == PROCESSOR_ARCHITECTURE_INTEL;
}
