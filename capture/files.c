/* The files of a capture.
 *
 *   capture-YYYYMMDD-HHMMSS-mmm-PID.rec         the record
 *   capture-YYYYMMDD-HHMMSS-mmm-PID.dmp         the dump
 *   capture-YYYYMMDD-HHMMSS-mmm-PID-tuned.dmp   the dump in its cheapest form
 *
 * The time is that of the installation, in UTC, so names sort by age.  No two captures share a
 * name, so no start destroys what an earlier one left.
 *
 * The files are opened at install, marked for deletion.  The record loses the mark with its first
 * section, a dump once it is whole.  So however the process ends, a file that stays holds a
 * capture: the system removes the others. */
#include "capture/cap.h"

#include <string.h>
#include <wchar.h>

enum file_kind { FILE_RECORD, FILE_DUMP, FILE_DUMP_TUNED, FILE_KINDS };

enum { PATH_UNITS = 1024, STEM_UNITS = 64, NAME_TRIES = 100, KEEP_COUNT = 32 };

static const uint64_t KEEP_BYTES = 512ull << 20;

static const wchar_t *const suffixes[FILE_KINDS] = {L".rec", L".dmp", L"-tuned.dmp"};

/* One capture in a folder, as capture_pending() reports it. */
struct pending {
    wchar_t stem[STEM_UNITS], path[FILE_KINDS][PATH_UNITS];
    bool is_there[FILE_KINDS];
    uint64_t bytes;
};

static bool make_path(const wchar_t *folder, const wchar_t *stem, enum file_kind kind,
                      wchar_t path[PATH_UNITS])
{
    return swprintf(path, PATH_UNITS, L"%ls\\%ls%ls", folder, stem, suffixes[kind]) > 0;
}

/* ---- opening ---- */

static void mark_for_deletion(HANDLE file)
{
    FILE_DISPOSITION_INFO remove = {.DeleteFile = TRUE};
    if (file != INVALID_HANDLE_VALUE)
        SetFileInformationByHandle(file, FileDispositionInfo, &remove, sizeof remove);
}

static HANDLE open_new(const wchar_t *stem, enum file_kind kind)
{
    wchar_t path[PATH_UNITS];
    if (!make_path(cap.options.folder, stem, kind, path))
        return INVALID_HANDLE_VALUE;
    HANDLE file = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE,
                              FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, CREATE_NEW,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    mark_for_deletion(file);
    return file;
}

/* A free name; if the name is taken, tries the next millisecond. */
static HANDLE open_record(wchar_t stem[STEM_UNITS])
{
    HANDLE file = INVALID_HANDLE_VALUE;
    for (int i = 0; i < NAME_TRIES && file == INVALID_HANDLE_VALUE; i++) {
        SYSTEMTIME t;
        GetSystemTime(&t);
        swprintf(stem, STEM_UNITS, L"capture-%04u%02u%02u-%02u%02u%02u-%03u-%lu", t.wYear, t.wMonth,
                 t.wDay, t.wHour, t.wMinute, t.wSecond, t.wMilliseconds,
                 (unsigned long)cap.process_id);
        file = open_new(stem, FILE_RECORD);
        if (file == INVALID_HANDLE_VALUE && GetLastError() != ERROR_FILE_EXISTS)
            break;
        if (file == INVALID_HANDLE_VALUE)
            Sleep(1);
    }
    return file;
}

bool cap_files_open(void)
{
    wchar_t stem[STEM_UNITS];
    cap.record_bytes = cap.dump_bytes = cap.dump_tuned_bytes = 0;
    cap.record = open_record(stem);
    cap.dump = cap.dump_tuned = INVALID_HANDLE_VALUE;
    if (cap.record == INVALID_HANDLE_VALUE)
        return false;
    cap.dump = open_new(stem, FILE_DUMP);
    if (cap.options.tuned_dump)
        cap.dump_tuned = open_new(stem, FILE_DUMP_TUNED);
    return cap.dump != INVALID_HANDLE_VALUE &&
           (!cap.options.tuned_dump || cap.dump_tuned != INVALID_HANDLE_VALUE);
}

void cap_files_close(void)
{
    HANDLE *const files[FILE_KINDS] = {&cap.record, &cap.dump, &cap.dump_tuned};
    for (int i = 0; i < FILE_KINDS; i++) {
        if (*files[i] != INVALID_HANDLE_VALUE)
            CloseHandle(*files[i]);
        *files[i] = INVALID_HANDLE_VALUE;
    }
}

/* ---- captures that earlier processes left ---- */

/* The name of a capture's file without its suffix. False: not a capture's file. */
static bool stem_of(const wchar_t *name, wchar_t stem[STEM_UNITS])
{
    const size_t length = wcslen(name);
    for (int i = FILE_KINDS; i-- > 0;) { /* `-tuned.dmp` before `.dmp` */
        const size_t suffix = wcslen(suffixes[i]);
        if (length > suffix && length - suffix < STEM_UNITS &&
            wcscmp(name + length - suffix, suffixes[i]) == 0) {
            wmemcpy(stem, name, length - suffix);
            stem[length - suffix] = 0;
            return true;
        }
    }
    return false;
}

/* The first stem in FOLDER after AFTER, in the order of names. False: there is none. */
static bool next_stem(const wchar_t *folder, const wchar_t *after, wchar_t next[STEM_UNITS])
{
    wchar_t path[PATH_UNITS], stem[STEM_UNITS];
    WIN32_FIND_DATAW found;
    next[0] = 0;
    if (swprintf(path, PATH_UNITS, L"%ls\\capture-*", folder) < 0)
        return false;
    HANDLE search = FindFirstFileW(path, &found);
    for (BOOL more = search != INVALID_HANDLE_VALUE; more; more = FindNextFileW(search, &found))
        if (stem_of(found.cFileName, stem) && wcscmp(stem, after) > 0 &&
            (next[0] == 0 || wcscmp(stem, next) < 0))
            wmemcpy(next, stem, STEM_UNITS);
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    return next[0] != 0;
}

/* A record with at least one section. */
static bool holds_sections(HANDLE file)
{
    uint8_t header[RECORD_HEADER_BYTES];
    DWORD got = 0;
    uint64_t committed = 0;
    if (!ReadFile(file, header, sizeof header, &got, NULL) || got != sizeof header)
        return false;
    for (int i = 8; i-- > 0;)
        committed = committed << 8 | header[RECORD_H_COMMITTED + i];
    return memcmp(header, RECORD_MAGIC, 8) == 0 && committed > RECORD_HEADER_BYTES;
}

/* Looks at one file. False: a process still has it open. An empty file, such as a power failure may
 * leave, is removed. */
static bool look_at(struct pending *p, enum file_kind kind)
{
    LARGE_INTEGER size = {0};
    /* Not shared for writing: opening fails as long as the capture has the file open. */
    HANDLE file = CreateFileW(p->path[kind], GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                              NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    p->is_there[kind] = false;
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND;
    GetFileSizeEx(file, &size);
    p->is_there[kind] = kind == FILE_RECORD ? holds_sections(file) : size.QuadPart > 0;
    CloseHandle(file);
    if (p->is_there[kind])
        p->bytes += (uint64_t)size.QuadPart;
    else
        DeleteFileW(p->path[kind]);
    return true;
}

/* The next capture after P->stem that no process is still writing. False: there are no more. */
static bool next_pending(const wchar_t *folder, struct pending *p)
{
    wchar_t after[STEM_UNITS];
    do {
        wmemcpy(after, p->stem, STEM_UNITS);
        if (!next_stem(folder, after, p->stem))
            return false;
        p->bytes = 0;
        bool is_idle = true;
        for (int i = 0; i < FILE_KINDS; i++)
            is_idle = make_path(folder, p->stem, i, p->path[i]) && look_at(p, i) && is_idle;
        if (!is_idle)
            p->bytes = 0;
    } while (p->bytes == 0);
    return true;
}

static void remove_files(const struct pending *p)
{
    for (int i = 0; i < FILE_KINDS; i++)
        if (p->is_there[i])
            DeleteFileW(p->path[i]);
}

uint32_t capture_pending(const wchar_t *folder,
                         bool (*take)(const struct capture_report *report, void *context),
                         void *context)
{
    struct pending p = {.stem = L""};
    uint32_t count = 0;
    for (; next_pending(folder, &p); count++) {
        const struct capture_report report = {
            .size = sizeof report,
            .record = p.is_there[FILE_RECORD] ? p.path[FILE_RECORD] : NULL,
            .dump = p.is_there[FILE_DUMP] ? p.path[FILE_DUMP] : NULL,
            .dump_tuned = p.is_there[FILE_DUMP_TUNED] ? p.path[FILE_DUMP_TUNED] : NULL,
            .bytes = p.bytes,
        };
        if (take != NULL && take(&report, context))
            remove_files(&p);
    }
    return count;
}

void cap_files_limit(void)
{
    const uint64_t most_bytes = cap.options.keep_bytes != 0 ? cap.options.keep_bytes : KEEP_BYTES;
    const uint32_t most = cap.options.keep_count != 0 ? cap.options.keep_count : KEEP_COUNT;
    struct pending p = {.stem = L""};
    uint64_t bytes = 0;
    uint32_t count = 0;
    for (; next_pending(cap.options.folder, &p); count++)
        bytes += p.bytes;
    p.stem[0] = 0;
    for (; (count > most || bytes > most_bytes) && next_pending(cap.options.folder, &p); count--) {
        bytes -= p.bytes;
        remove_files(&p);
    }
}
