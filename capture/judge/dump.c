/* The dump as the judge reads it: mapped as a whole, every access checked against its size. */
#include "capture/judge/judge.h"

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
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE || !GetFileSizeEx(file, &size))
        return false;
    HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping == NULL)
        return false;
    judge.dump = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    judge.dump_bytes = (uint64_t)size.QuadPart;
    const MINIDUMP_HEADER *header = judge_at(0, sizeof *header);
    return judge.dump != NULL && header != NULL && header->Signature == MINIDUMP_SIGNATURE;
}
