/* The files of a capture.
 *
 *   capture-YYYYMMDD-HHMMSS-mmm-PID.rec         the record
 *   capture-YYYYMMDD-HHMMSS-mmm-PID.dmp         the dump
 *   capture-YYYYMMDD-HHMMSS-mmm-PID-tuned.dmp   the dump in its cheapest form
 *
 * The time is that of the opening, in UTC, so names sort by age.  No two captures share a
 * name, so no start destroys what an earlier one left.
 *
 * The files of the next capture are always open: from the installation on, and from each hang on
 * that the program survives.  They are marked for deletion.  The record loses the mark with its
 * first section, a dump once it is whole.  So however the process ends, a file that stays holds a
 * capture: the system removes the others. */
#include "capture/cap.h"

#include <string.h>
#include <wchar.h>
#include <winternl.h>

enum file_kind { FILE_RECORD, FILE_DUMP, FILE_DUMP_TUNED, FILE_KINDS };

enum { PATH_UNITS = 1024, STEM_UNITS = 64, NAME_UNITS = 96, NAME_TRIES = 100, KEEP_COUNT = 32 };

extern NTSTATUS NTAPI NtSetInformationFile(HANDLE, PIO_STATUS_BLOCK, PVOID, ULONG,
                                           FILE_INFORMATION_CLASS);

static const LONG STATUS_NAME_TAKEN = (LONG)0xC0000035;

static const uint64_t KEEP_BYTES = 512ull << 20;

static const wchar_t *const suffixes[FILE_KINDS] = {L".rec", L".dmp", L"-tuned.dmp"};

/* One capture in a folder, as capture_pending() reports it. */
struct pending {
    wchar_t stem[STEM_UNITS], path[FILE_KINDS][PATH_UNITS];
    bool is_there[FILE_KINDS];
    uint64_t bytes;
    uint32_t no_dump;
};

static bool make_path(const wchar_t *folder, const wchar_t *stem, enum file_kind kind,
                      wchar_t path[PATH_UNITS])
{
    return swprintf(path, PATH_UNITS, L"%ls\\%ls%ls", folder, stem, suffixes[kind]) > 0;
}

/* ---- opening ---- */

static HANDLE open_folder;
static HANDLE next_files[FILE_KINDS]; /* of cap_crash_files_prepare() */

static bool is_file(HANDLE file)
{
    return file != NULL && file != INVALID_HANDLE_VALUE;
}

bool cap_crash_file_keep(HANDLE file, bool keep)
{
    enum { FILE_DISPOSITION_INFORMATION = 13 };
    IO_STATUS_BLOCK status;
    FILE_DISPOSITION_INFO disposition = {.DeleteFile = !keep};
    return NtSetInformationFile(file, &status, &disposition, sizeof disposition,
                                (FILE_INFORMATION_CLASS)FILE_DISPOSITION_INFORMATION) == 0;
}

static void put_number(wchar_t **at, uint32_t value, int digits)
{
    for (int i = digits; i-- > 0; value /= 10)
        (*at)[i] = (wchar_t)(L'0' + value % 10);
    *at += digits;
}

static void put_text(wchar_t **at, const wchar_t *text)
{
    for (; *text != 0; text++)
        *(*at)++ = *text;
}

static int digits_of(uint32_t value)
{
    int digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

/* capture-YYYYMMDD-HHMMSS-mmm-PID; returns its length. */
static uint32_t put_stem(wchar_t stem[STEM_UNITS])
{
    SYSTEMTIME t;
    wchar_t *at = stem;
    GetSystemTime(&t);
    put_text(&at, L"capture-");
    put_number(&at, t.wYear, 4);
    put_number(&at, t.wMonth, 2);
    put_number(&at, t.wDay, 2);
    put_text(&at, L"-");
    put_number(&at, t.wHour, 2);
    put_number(&at, t.wMinute, 2);
    put_number(&at, t.wSecond, 2);
    put_text(&at, L"-");
    put_number(&at, t.wMilliseconds, 3);
    put_text(&at, L"-");
    put_number(&at, cap.process_id, digits_of(cap.process_id));
    return (uint32_t)(at - stem);
}

/* Relative to the folder that is open, and by the system call itself: the functions above it would
 * allocate the path from the heap, which a thread that hangs may hold. */
static LONG open_new(const wchar_t *stem, uint32_t units, enum file_kind kind, HANDLE *file)
{
    wchar_t name[NAME_UNITS];
    wchar_t *end = name;
    IO_STATUS_BLOCK status;
    cap_crash_copy(name, stem, units * sizeof *stem);
    end += units;
    put_text(&end, suffixes[kind]);
    UNICODE_STRING text = {.Buffer = name};
    text.Length = text.MaximumLength = (USHORT)((end - name) * (ptrdiff_t)sizeof *name);
    OBJECT_ATTRIBUTES attributes = {.Length = sizeof attributes,
                                    .RootDirectory = open_folder,
                                    .ObjectName = &text,
                                    .Attributes = OBJ_CASE_INSENSITIVE};
    const LONG result =
        NtCreateFile(file, GENERIC_READ | GENERIC_WRITE | DELETE | SYNCHRONIZE, &attributes,
                     &status, NULL, FILE_ATTRIBUTE_NORMAL, FILE_SHARE_READ | FILE_SHARE_DELETE,
                     FILE_CREATE, FILE_SYNCHRONOUS_IO_NONALERT | FILE_NON_DIRECTORY_FILE, NULL, 0);
    if (result != 0)
        *file = INVALID_HANDLE_VALUE;
    else
        (void)cap_crash_file_keep(*file, false);
    return result;
}

static void close_all(HANDLE files[FILE_KINDS])
{
    for (int i = 0; i < FILE_KINDS; i++) {
        if (is_file(files[i]))
            CloseHandle(files[i]);
        files[i] = INVALID_HANDLE_VALUE;
    }
}

/* All files of one capture, under a free name: if a name is taken, that of the next millisecond. */
static bool open_all(HANDLE files[FILE_KINDS])
{
    wchar_t stem[STEM_UNITS];
    uint32_t units = 0;
    LONG result = STATUS_NAME_TAKEN;
    for (int i = 0; i < FILE_KINDS; i++)
        files[i] = INVALID_HANDLE_VALUE;
    for (int i = 0; i < NAME_TRIES && result == STATUS_NAME_TAKEN; i++) {
        units = put_stem(stem);
        result = open_new(stem, units, FILE_RECORD, &files[FILE_RECORD]);
        if (result == STATUS_NAME_TAKEN)
            Sleep(1);
    }
    if (result == 0)
        result = open_new(stem, units, FILE_DUMP, &files[FILE_DUMP]);
    if (result == 0 && cap.options.tuned_dump)
        result = open_new(stem, units, FILE_DUMP_TUNED, &files[FILE_DUMP_TUNED]);
    if (result != 0)
        close_all(files);
    return result == 0;
}

static void use(const HANDLE files[FILE_KINDS])
{
    cap.record_bytes = cap.dump_bytes = cap.dump_tuned_bytes = 0;
    cap.record = files[FILE_RECORD];
    cap.dump = files[FILE_DUMP];
    cap.dump_tuned = files[FILE_DUMP_TUNED];
}

bool cap_files_open(void)
{
    HANDLE files[FILE_KINDS];
    open_folder = CreateFileW(cap.options.folder, FILE_LIST_DIRECTORY | FILE_ADD_FILE | SYNCHRONIZE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (open_folder == INVALID_HANDLE_VALUE || !open_all(files))
        return false;
    use(files);
    return true;
}

void cap_files_close(void)
{
    HANDLE files[FILE_KINDS] = {cap.record, cap.dump, cap.dump_tuned};
    close_all(files);
    use(files);
    if (is_file(open_folder))
        CloseHandle(open_folder);
    open_folder = INVALID_HANDLE_VALUE;
}

bool cap_crash_files_prepare(void)
{
    return open_all(next_files);
}

void cap_crash_files_switch(void)
{
    HANDLE files[FILE_KINDS] = {cap.record, cap.dump, cap.dump_tuned};
    /* A dump that was given up may still be written, and no other file may get its handle. */
    if (cap_crash_busy(CAP_RUNNER_DUMP))
        files[FILE_DUMP] = files[FILE_DUMP_TUNED] = INVALID_HANDLE_VALUE;
    close_all(files);
    use(next_files);
}

void cap_crash_files_discard(void)
{
    close_all(next_files);
}

/* ---- captures that are finished ---- */

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

static bool read_at(HANDLE file, uint64_t at, void *to, DWORD bytes)
{
    OVERLAPPED where = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    DWORD got = 0;
    return ReadFile(file, to, bytes, &got, &where) && got == bytes;
}

static uint64_t number_at(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

/* The bytes of all complete sections and the header; 0: not a record with at least one section. */
static uint64_t committed_bytes(HANDLE file)
{
    uint8_t header[RECORD_HEADER_BYTES];
    if (!read_at(file, 0, header, sizeof header) || memcmp(header, RECORD_MAGIC, 8) != 0)
        return 0;
    const uint64_t committed = number_at(header + RECORD_H_COMMITTED, 8);
    return committed > RECORD_HEADER_BYTES ? committed : 0;
}

/* What the record states instead of a dump: RECORD_NO_DUMP_*; 0: nothing. Its timings have a
 * section each. */
static uint32_t stated_no_dump(HANDLE file, uint64_t committed)
{
    uint8_t head[RECORD_SECTION_HEADER_BYTES + RECORD_TIMING_BYTES] = {0};
    const uint8_t *timing = head + RECORD_SECTION_HEADER_BYTES;
    uint64_t bytes = 0;
    for (uint64_t at = RECORD_HEADER_BYTES; at < committed; at += bytes) {
        if (!read_at(file, at, head, sizeof head) ||
            (bytes = number_at(head + RECORD_S_BYTES, 4)) < RECORD_SECTION_HEADER_BYTES)
            return 0;
        if (number_at(head + RECORD_S_TYPE, 4) == RECORD_SECTION_TIMING &&
            number_at(timing + RECORD_G_STAGE, 4) == RECORD_STAGE_NO_DUMP)
            return (uint32_t)number_at(timing + RECORD_G_WALKER, 4);
    }
    return 0;
}

static bool look_at_record(struct pending *p, HANDLE file)
{
    const uint64_t committed = committed_bytes(file);
    p->no_dump = stated_no_dump(file, committed);
    return committed > 0;
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
    p->is_there[kind] = kind == FILE_RECORD ? look_at_record(p, file) : size.QuadPart > 0;
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
        p->no_dump = 0;
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
            .no_dump = p.is_there[FILE_DUMP] ? 0 : p.no_dump,
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
