/* The minidump: plain as in the article (MiniDumpNormal) or with all memory, with one user stream
 * of ours, and a second time in its cheapest form. Runs on a runner: MiniDumpWriteDump allocates
 * and stops every other thread. */
#include "capture/complete_dump.h"

#if defined(_MSC_VER)
#define wide_contains(text, part) (wcsstr((text), (part)) != NULL)
#else
#include <wchar.h>
#define wide_contains(text, part) (wcsstr((text), (part)) != NULL)
#endif

/* Leaves out the data of system modules: with Wine's writer the unwind data of each function is a
 * memory range of its own, and writing these takes nearly all of a plain dump's time.  A writer
 * leaves out the whole module then, also of its list; cap_dump_complete() puts it back there. */
static BOOL CALLBACK drop_system(PVOID context, PMINIDUMP_CALLBACK_INPUT input,
                                 PMINIDUMP_CALLBACK_OUTPUT output)
{
    (void)context;
    if (input->CallbackType != ModuleCallback || input->Module.FullPath == NULL)
        return TRUE;
    const wchar_t *path = input->Module.FullPath;
    const bool is_elf = path[0] == L'/'; /* Wine's own, which has a list of its own */
    if (is_elf || ((wide_contains(path, L"system32") || wide_contains(path, L"System32")) &&
                   cap_dump_leave_out(&input->Module)))
        output->ModuleWriteFlags = 0;
    return TRUE;
}

struct writing {
    HANDLE file;
    MINIDUMP_EXCEPTION_INFORMATION *who;
    MINIDUMP_USER_STREAM_INFORMATION *streams;
    MINIDUMP_CALLBACK_INFORMATION *callback;
    bool ok;
    DWORD error;
};

static bool is_full_memory(const struct writing *w)
{
    return cap.options.full_memory && w->callback == NULL;
}

static void write_now(void *argument)
{
    struct writing *w = argument;
    cap_dump_begin();
    w->ok = MiniDumpWriteDump(cap.process, cap.process_id, w->file,
                              is_full_memory(w) ? MiniDumpWithFullMemory : MiniDumpNormal, w->who,
                              w->streams, w->callback);
    w->error = GetLastError();
}

static void complete_now(void *argument)
{
    struct writing *w = argument;
    w->ok = cap_dump_complete(w->file) || w->callback == NULL;
    w->error = GetLastError();
}

static bool read_at(HANDLE file, uint32_t offset, void *to, DWORD bytes)
{
    OVERLAPPED where = {.Offset = offset};
    DWORD got = 0;
    return ReadFile(file, to, bytes, &got, &where) && got == bytes;
}

/* Whether all that the list of memory at OFFSET refers to is in the file. */
static bool has_memory(HANDLE file, uint32_t offset, uint64_t file_bytes)
{
    MINIDUMP_MEMORY_DESCRIPTOR range;
    ULONG32 count = 0;
    if (!read_at(file, offset, &count, sizeof count))
        return false;
    for (ULONG32 i = 0; i < count; i++)
        if (!read_at(file, offset + (uint32_t)sizeof count + i * (uint32_t)sizeof range, &range,
                     sizeof range) ||
            (uint64_t)range.Memory.Rva + range.Memory.DataSize > file_bytes)
            return false;
    return true;
}

/* The same of the list of a dump with all memory, whose parts follow each other. */
static bool has_all_memory(HANDLE file, uint32_t offset, uint64_t file_bytes)
{
    ULONG64 head[2] = {0}; /* how many parts, and where the first one is */
    uint64_t bytes[2];
    if (!read_at(file, offset, head, sizeof head))
        return false;
    for (ULONG64 i = 0, end = head[1]; i < head[0]; i++) {
        if (!read_at(file, offset + (uint32_t)(sizeof head + i * sizeof bytes), bytes,
                     sizeof bytes) ||
            (end += bytes[1]) > file_bytes)
            return false;
    }
    return true;
}

/* "MDMP". That of <dbghelp.h> is a character constant of four letters, which gcc warns of. */
enum { DUMP_SIGNATURE = 0x504D444D };

/* A writer may report success although the disk was full, as Wine's does. */
static bool is_whole(HANDLE file, uint64_t file_bytes)
{
    MINIDUMP_HEADER header;
    MINIDUMP_DIRECTORY entry;
    if (!read_at(file, 0, &header, sizeof header) || header.Signature != DUMP_SIGNATURE)
        return false;
    for (ULONG32 i = 0; i < header.NumberOfStreams; i++)
        if (!read_at(file, header.StreamDirectoryRva + i * (uint32_t)sizeof entry, &entry,
                     sizeof entry) ||
            (uint64_t)entry.Location.Rva + entry.Location.DataSize > file_bytes ||
            (entry.StreamType == MemoryListStream &&
             !has_memory(file, entry.Location.Rva, file_bytes)) ||
            (entry.StreamType == Memory64ListStream &&
             !has_all_memory(file, entry.Location.Rva, file_bytes)))
            return false;
    return true;
}

/* Whether the directory lists all that was asked for; is_whole() looks whether it is there. */
static bool has_all_parts(const struct writing *w)
{
    const ULONG32 wanted[] = {
        SystemInfoStream,
        ThreadListStream,
        ModuleListStream,
        is_full_memory(w) ? Memory64ListStream : MemoryListStream,
        w->who != NULL ? ExceptionStream : SystemInfoStream,
        RECORD_DUMP_STREAM,
    };
    enum { WANTED = sizeof wanted / sizeof wanted[0] };
    MINIDUMP_HEADER header;
    MINIDUMP_DIRECTORY entry;
    uint32_t found = 0;
    if (!read_at(w->file, 0, &header, sizeof header))
        return false;
    for (ULONG32 i = 0; i < header.NumberOfStreams; i++) {
        if (!read_at(w->file, header.StreamDirectoryRva + i * (uint32_t)sizeof entry, &entry,
                     sizeof entry))
            return false;
        for (uint32_t k = 0; k < WANTED; k++)
            if (entry.StreamType == wanted[k] && entry.Location.DataSize > 0)
                found |= 1u << k;
    }
    return found == (1u << WANTED) - 1;
}

/* Wine's writer reads the symbols of all modules, and frees them after the last byte is written: of
 * a program that names no PDB also what it never set, and may fault there. */
static bool write_guarded(struct writing *w)
{
    const bool is_written = cap_crash_guarded(write_now, w) ? w->ok : has_all_parts(w);
    return is_written && cap_crash_guarded(complete_now, w) && w->ok;
}

/* The error is an HRESULT. */
static bool is_full(DWORD error)
{
    enum { QUOTA_EXCEEDED = 1295 }; /* ERROR_DISK_QUOTA_EXCEEDED: not in mingw's headers */
    const DWORD code = error & 0xFFFF;
    return code == ERROR_DISK_FULL || code == ERROR_HANDLE_DISK_FULL || code == QUOTA_EXCEEDED;
}

uint32_t cap_dump_write(HANDLE file, EXCEPTION_POINTERS *exception, uint32_t thread_id, bool tuned,
                        uint64_t *bytes_out, uint64_t *ns_out)
{
    MINIDUMP_EXCEPTION_INFORMATION who = {
        .ThreadId = thread_id, .ExceptionPointers = exception, .ClientPointers = FALSE};
    MINIDUMP_CALLBACK_INFORMATION callback = {.CallbackRoutine = drop_system};
    MINIDUMP_USER_STREAM stream = {.Type = RECORD_DUMP_STREAM};
    MINIDUMP_USER_STREAM_INFORMATION streams = {.UserStreamCount = 1, .UserStreamArray = &stream};
    LARGE_INTEGER size = {0};
    uint32_t bytes = 0;

    stream.Buffer = (void *)(uintptr_t)cap_crash_dump_stream(&bytes);
    stream.BufferSize = bytes;
    struct writing writing = {
        file, exception != NULL ? &who : NULL, &streams, tuned ? &callback : NULL, false, 0};
    const uint64_t start_ns = cap_crash_now_ns();
    const bool ok = write_guarded(&writing);
    *ns_out = cap_crash_now_ns() - start_ns;
    FILE_DISPOSITION_INFO keep = {.DeleteFile = FALSE};
    if (!ok)
        return is_full(writing.error) ? RECORD_NO_DUMP_CUT : RECORD_NO_DUMP_WRITER;
    if (!GetFileSizeEx(file, &size) || !is_whole(file, (uint64_t)size.QuadPart))
        return RECORD_NO_DUMP_CUT;
    if (!SetFileInformationByHandle(file, FileDispositionInfo, &keep, sizeof keep))
        return RECORD_NO_DUMP_WRITER;
    *bytes_out = (uint64_t)size.QuadPart;
    return 0;
}
