/* files.h on Windows. Paths are UTF-8 here and converted to UTF-16 for Win32 calls. */
#include "base/files.h"

#include <io.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/text.h"

enum { WIDE_PATH = 4096 };

static const uint8_t nothing[1] = {0};
static const uint64_t EPOCH_1970_IN_100NS = 116444736000000000ULL;

/* UTF-16 of PATH. A long path is made absolute and gets the prefix that lifts the system's limit of
 * 260 units, which holds for folders from 248 on. */
static bool widen(const char *path, wchar_t out[WIDE_PATH])
{
    static const wchar_t prefix[] = L"\\\\?\\";
    enum { PREFIX = 4, SHORT_PATH = 240 };
    wchar_t full[WIDE_PATH];
    const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, WIDE_PATH);
    if (units < SHORT_PATH || (out[0] == L'\\' && out[1] == L'\\'))
        return units > 0;
    const DWORD length = GetFullPathNameW(out, WIDE_PATH - PREFIX, full, NULL);
    if (length == 0 || length >= WIDE_PATH - PREFIX)
        return false;
    memcpy(out, prefix, PREFIX * sizeof *out);
    memcpy(out + PREFIX, full, (length + 1) * sizeof *out);
    return true;
}

static enum status file_fault(struct fault *fault, const char *path, const char *what)
{
    const DWORD error = GetLastError();
    const bool absent = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    const bool full = error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL;
    const char *hint = "the system refused; is it open elsewhere?";
    if (absent)
        hint = "no such file";
    else if (full)
        hint = "no space left on device";
    fault_set_reason(fault, absent ? ERR_ABSENT : ERR_IO, what, full ? FAULT_FULL : FAULT_NO_REASON,
                     hint);
    fault_set_path(fault, path);
    return fault->code;
}

static uint64_t filetime_ns(FILETIME t)
{
    const uint64_t ticks = (uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime;
    return ticks > EPOCH_1970_IN_100NS ? (ticks - EPOCH_1970_IN_100NS) * 100 : 0;
}

static HANDLE file_open_read(const char *path, LARGE_INTEGER *size, FILETIME *modified,
                             struct fault *fault)
{
    wchar_t wide[WIDE_PATH];
    HANDLE file = INVALID_HANDLE_VALUE;

    if (path_is_folder(path)) {
        fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "not a regular file");
        fault_set_path(fault, path);
        return file;
    }
    if (widen(path, wide)) /* also while it is being written, as on other systems */
        file =
            CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                        NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        (void)file_fault(fault, path, "file");
        return file;
    }
    if (!GetFileSizeEx(file, size) || !GetFileTime(file, NULL, NULL, modified)) {
        (void)file_fault(fault, path, "file");
        (void)CloseHandle(file);
        return INVALID_HANDLE_VALUE;
    }
    return file;
}

enum status file_map(const char *path, struct file_map *out, struct fault *fault)
{
    LARGE_INTEGER size;
    FILETIME modified;

    memset(out, 0, sizeof *out);
    HANDLE file = file_open_read(path, &size, &modified, fault);
    if (file == INVALID_HANDLE_VALUE)
        return fault->code;
    if ((uint64_t)size.QuadPart > LIMIT_FILE_BYTES) {
        fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "file larger than this program reads");
        fault_set_path(fault, path);
    } else if (size.QuadPart == 0) {
        out->data = nothing;
    } else {
        HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
        out->data = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0) : NULL;
        if (out->data == NULL)
            (void)file_fault(fault, path, "file");
        if (mapping != NULL)
            (void)CloseHandle(mapping);
    }
    (void)CloseHandle(file);
    if (fault->code == ERR_NONE) {
        out->bytes = (size_t)size.QuadPart;
        out->modified_ns = filetime_ns(modified);
    }
    return fault->code;
}

void file_unmap(struct file_map *map)
{
    if (map->data != NULL && map->data != nothing)
        (void)UnmapViewOfFile(map->data);
    memset(map, 0, sizeof *map);
}

void file_peek_open(const char *path, const struct file_map *map, struct file_peek *out)
{
    (void)path;
    *out = (struct file_peek){map->data, map->bytes, -1};
}

void file_peek_close(struct file_peek *peek)
{
    (void)peek;
}

bool file_peek(const struct file_peek *peek, const uint8_t *at, size_t bytes, void *to)
{
    (void)peek;
    (void)at;
    (void)bytes;
    (void)to;
    return false;
}

enum status file_read(const char *path, size_t max_bytes, struct arena *keep, char **out,
                      size_t *bytes, struct fault *fault)
{
    struct file_map map;

    *out = NULL;
    *bytes = 0;
    if (file_map(path, &map, fault) != ERR_NONE)
        return fault->code;
    if (map.bytes > max_bytes)
        fault_set(fault, ERR_LIMIT, max_bytes, "file larger than expected here");
    else if ((*out = arena_text(keep, (const char *)map.data, map.bytes)) == NULL)
        fault_no_memory(fault, "file");
    else
        *bytes = map.bytes;
    file_unmap(&map);
    fault_set_path(fault, path);
    return fault->code;
}

static bool write_all(HANDLE file, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        DWORD put = 0;
        const DWORD part = bytes > 1U << 30 ? 1U << 30 : (DWORD)bytes;
        if (!WriteFile(file, at, part, &put, NULL) || put == 0)
            return false;
        at += put;
        bytes -= put;
    }
    return true;
}

/* Opens what is at PATH for writing. INVALID_HANDLE_VALUE: it does not exist, or access is
 * refused. */
static HANDLE open_standing(const wchar_t *path)
{
    return CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL, NULL);
}

bool path_is_stream(const char *path)
{
    wchar_t wide[WIDE_PATH];
    const HANDLE file = widen(path, wide) ? open_standing(wide) : INVALID_HANDLE_VALUE;
    const bool stream = file != INVALID_HANDLE_VALUE && GetFileType(file) != FILE_TYPE_DISK;
    if (file != INVALID_HANDLE_VALUE)
        (void)CloseHandle(file);
    return stream;
}

const char *path_followed(const char *path, struct arena *keep)
{
    (void)keep; /* making such links needs a privilege there, so outputs are none */
    return path;
}

static bool write_part(void *to, const void *data, size_t bytes)
{
    return write_all(*(const HANDLE *)to, data, bytes);
}

static enum status write_through(const char *path, const wchar_t *wide,
                                 const struct file_part *parts, size_t count, struct fault *fault)
{
    HANDLE file = open_standing(wide);
    const bool written =
        file != INVALID_HANDLE_VALUE && file_put_parts(parts, count, write_part, &file);
    if (!written)
        (void)file_fault(fault, path, "file to write");
    if (file != INVALID_HANDLE_VALUE)
        (void)CloseHandle(file);
    return fault->code;
}

/* The file that a symbolic link leads to; any other name stays as it is. */
static void follow_link(wchar_t path[WIDE_PATH])
{
    wchar_t real[WIDE_PATH];
    const DWORD flags = GetFileAttributesW(path);
    if (flags == INVALID_FILE_ATTRIBUTES || (flags & FILE_ATTRIBUTE_REPARSE_POINT) == 0)
        return;
    const HANDLE file = open_standing(path);
    if (file == INVALID_HANDLE_VALUE)
        return;
    const DWORD length = GetFinalPathNameByHandleW(file, real, WIDE_PATH, FILE_NAME_NORMALIZED);
    if (length > 0 && length < WIDE_PATH)
        memcpy(path, real, (length + 1) * sizeof *real);
    (void)CloseHandle(file);
}

enum status file_write_parts(const char *path, const struct file_part *parts, size_t count,
                             struct fault *fault)
{
    wchar_t final[WIDE_PATH], temporary[WIDE_PATH];
    char name[WIDE_PATH];
    const int length = snprintf(name, sizeof name, "%s.%lu-%lu.new", path, GetCurrentProcessId(),
                                GetCurrentThreadId());

    if (length < 0 || length >= (int)sizeof name || !widen(path, final) || !widen(name, temporary))
        return file_fault(fault, path, "file to write");
    if (path_is_stream(path))
        return write_through(path, final, parts, count, fault);
    follow_link(final);
    HANDLE file =
        CreateFileW(temporary, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return file_fault(fault, path, "file to write");
    const bool written = file_put_parts(parts, count, write_part, &file);
    (void)CloseHandle(file);
    if (!written || !MoveFileExW(temporary, final, MOVEFILE_REPLACE_EXISTING)) {
        (void)file_fault(fault, path, "file to write");
        (void)DeleteFileW(temporary);
    }
    return fault->code;
}

enum status file_move(const char *from, const char *to, struct fault *fault)
{
    wchar_t wide_from[WIDE_PATH], wide_to[WIDE_PATH];

    if (widen(from, wide_from) && widen(to, wide_to) &&
        MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING))
        return ERR_NONE;
    return file_fault(fault, to, "file to move");
}

FILE *file_open(const char *path, const char *mode)
{
    wchar_t wide[WIDE_PATH], wide_mode[WIDE_PATH];
    return widen(path, wide) && widen(mode, wide_mode) ? _wfopen(wide, wide_mode) : NULL;
}

enum status file_lock_take(const char *path, uint32_t wait_ms, struct file_lock *out,
                           struct fault *fault)
{
    const uint64_t end_ns = clock_ns() + (uint64_t)wait_ms * 1000000U;
    wchar_t wide[WIDE_PATH];
    HANDLE file = INVALID_HANDLE_VALUE;

    out->handle = -1;
    while (widen(path, wide)) {
        file = CreateFileW(wide, GENERIC_WRITE, 0, NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
        if (file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_SHARING_VIOLATION)
            break;
        if (clock_ns() >= end_ns) {
            fault_set(fault, ERR_TIMEOUT, FAULT_NO_OFFSET, "lock held by another process");
            break;
        }
        Sleep(20);
    }
    if (file == INVALID_HANDLE_VALUE)
        return file_fault(fault, path, "file of a lock");
    out->handle = (intptr_t)file;
    return ERR_NONE;
}

void file_lock_release(struct file_lock *lock)
{
    if (lock->handle != -1)
        (void)CloseHandle((HANDLE)lock->handle);
    lock->handle = -1;
}

enum status file_copy(const char *from, const char *to, struct fault *fault)
{
    wchar_t wide_from[WIDE_PATH], wide_to[WIDE_PATH];

    if (!widen(from, wide_from) || !widen(to, wide_to))
        return file_fault(fault, from, "file to copy");
    const bool is_stream = path_is_stream(to);
    const DWORD attributes = GetFileAttributesW(wide_from);
    if (!is_stream)
        (void)DeleteFileW(wide_to);
    /* A link of a read-only file cannot be deleted, and the next copy would go through it. */
    if ((attributes & FILE_ATTRIBUTE_READONLY) == 0 && CreateHardLinkW(wide_to, wide_from, NULL))
        return ERR_NONE;
    if (!CopyFileW(wide_from, wide_to, !is_stream))
        return file_fault(fault, from, "file to copy");
    (void)SetFileAttributesW(wide_to, FILE_ATTRIBUTE_NORMAL);
    return ERR_NONE;
}

enum status folder_make(const char *path, struct fault *fault)
{
    char part[WIDE_PATH];
    wchar_t wide[WIDE_PATH];
    const size_t length = strlen(path);

    if (length == 0 || length >= sizeof part)
        return file_fault(fault, path, "folder to make");
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if ((part[i] != '/' && part[i] != '\\' && part[i] != '\0') || part[i - 1] == ':')
            continue;
        part[i] = '\0';
        if (!widen(part, wide) ||
            (!CreateDirectoryW(wide, NULL) && GetLastError() != ERROR_ALREADY_EXISTS))
            return file_fault(fault, path, "folder to make");
        part[i] = path[i];
    }
    return path_is_folder(path) ? ERR_NONE : file_fault(fault, path, "folder to make");
}

static bool names_add(struct arena *keep, const char ***names, size_t *count, uint32_t *room,
                      const wchar_t *wide)
{
    char name[MAX_PATH * 4];

    if (wcscmp(wide, L".") == 0 || wcscmp(wide, L"..") == 0)
        return true;
    if (WideCharToMultiByte(CP_UTF8, 0, wide, -1, name, sizeof name, NULL, NULL) == 0)
        return false;
    if (!ARENA_ROOM(keep, *names, *room, *count + 1))
        return false;
    (*names)[*count] = arena_string(keep, name);
    return (*names)[(*count)++] != NULL;
}

enum status folder_list(const char *path, struct arena *keep, const char ***names, size_t *count,
                        struct fault *fault)
{
    WIN32_FIND_DATAW entry;
    wchar_t wide[WIDE_PATH];
    uint32_t room = 0;
    const char *pattern = path_join(keep, path, "*");

    *names = NULL;
    *count = 0;
    if (pattern == NULL || !widen(pattern, wide))
        return file_fault(fault, path, "folder");
    HANDLE search = FindFirstFileW(wide, &entry);
    if (search == INVALID_HANDLE_VALUE)
        return file_fault(fault, path, "folder");
    do {
        if (!names_add(keep, names, count, &room, entry.cFileName)) {
            fault_no_memory(fault, "folder");
            break;
        }
    } while (FindNextFileW(search, &entry));
    (void)FindClose(search);
    if (*count > 1)
        array_sort(*names, *count, sizeof **names, text_order);
    return fault->code;
}

static DWORD attributes_of(const char *path)
{
    wchar_t wide[WIDE_PATH];
    return widen(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
}

enum status path_remove(const char *path, struct fault *fault)
{
    wchar_t wide[WIDE_PATH];
    const DWORD attributes = attributes_of(path);

    if (attributes == INVALID_FILE_ATTRIBUTES)
        return ERR_NONE;
    if (!widen(path, wide))
        return file_fault(fault, path, "path to remove");
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) == 0)
        return DeleteFileW(wide) ? ERR_NONE : file_fault(fault, path, "path to remove");
    if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0)
        return RemoveDirectoryW(wide) ? ERR_NONE : file_fault(fault, path, "path to remove");
    if (folder_clear(path, fault) == ERR_NONE && !RemoveDirectoryW(wide))
        return file_fault(fault, path, "path to remove");
    return fault->code;
}

char *path_absolute(const char *path, struct arena *keep)
{
    wchar_t wide[WIDE_PATH], full[WIDE_PATH];
    char text[3 * WIDE_PATH];

    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, WIDE_PATH) == 0)
        return NULL;
    const DWORD units = GetFullPathNameW(wide, WIDE_PATH, full, NULL);
    if (units == 0 || units >= WIDE_PATH ||
        WideCharToMultiByte(CP_UTF8, 0, full, -1, text, sizeof text, NULL, NULL) == 0)
        return NULL;
    for (char *p = text; (p = strchr(p, '\\')) != NULL;)
        *p = '/';
    return path_is_file(text) || path_is_folder(text) ? arena_string(keep, text) : NULL;
}

bool path_is_file(const char *path)
{
    const DWORD attributes = attributes_of(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

bool path_is_folder(const char *path)
{
    const DWORD attributes = attributes_of(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

/* One spelling for both slashes and both cases. */
static char folded(char c)
{
    if (c == '\\')
        return '/';
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool path_is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folded(folder[length - 1]) == '/')
        length--;
    for (size_t i = 0; i < length; i++)
        if (folded(path[i]) != folded(folder[i]))
            return false;
    return folded(path[length]) == '/';
}

bool path_stamp(const char *path, struct file_stamp *out)
{
    WIN32_FILE_ATTRIBUTE_DATA info;
    wchar_t wide[WIDE_PATH];

    if (!widen(path, wide) || !GetFileAttributesExW(wide, GetFileExInfoStandard, &info) ||
        (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        return false;
    *out = (struct file_stamp){.bytes = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
                               .modified_ns = filetime_ns(info.ftLastWriteTime)};
    return true;
}

void path_touch(const char *path)
{
    wchar_t wide[WIDE_PATH];
    FILETIME now;
    const HANDLE file = widen(path, wide)
                            ? CreateFileW(wide, FILE_WRITE_ATTRIBUTES,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                          NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL)
                            : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return;
    GetSystemTimeAsFileTime(&now);
    (void)SetFileTime(file, NULL, NULL, &now);
    (void)CloseHandle(file);
}

enum status path_rename(const char *from, const char *to, struct fault *fault)
{
    wchar_t wide_from[WIDE_PATH], wide_to[WIDE_PATH];

    if (!widen(from, wide_from) || !widen(to, wide_to) ||
        !MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING))
        return file_fault(fault, to, "file to rename");
    return ERR_NONE;
}

bool file_is_terminal(FILE *stream)
{
    return _isatty(_fileno(stream)) != 0;
}

uint32_t file_terminal_columns(FILE *stream)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    const HANDLE console = (HANDLE)_get_osfhandle(_fileno(stream));
    if (!GetConsoleScreenBufferInfo(console, &info) || info.srWindow.Right < info.srWindow.Left)
        return 0;
    return (uint32_t)(info.srWindow.Right - info.srWindow.Left) + 1;
}

size_t file_read_some(FILE *stream, void *to, size_t bytes, bool *failed)
{
    const unsigned most = bytes < INT_MAX ? (unsigned)bytes : INT_MAX;
    const int got = _read(_fileno(stream), to, most);
    *failed = got < 0;
    return got > 0 ? (size_t)got : 0;
}

bool file_would_wait(FILE *stream, uint32_t wait_ms)
{
    const HANDLE file = (HANDLE)_get_osfhandle(_fileno(stream));
    for (;; wait_ms--, Sleep(1)) { /* a pipe cannot be waited for */
        DWORD ready = 0;
        if (GetFileType(file) != FILE_TYPE_PIPE ||
            !PeekNamedPipe(file, NULL, 0, NULL, &ready, NULL) || ready != 0)
            return false;
        if (wait_ms == 0)
            return true;
    }
}

bool file_progress(FILE *stream, uint64_t *read_bytes, uint64_t *left_bytes)
{
    const HANDLE file = (HANDLE)_get_osfhandle(_fileno(stream));
    const LARGE_INTEGER here = {.QuadPart = 0};
    LARGE_INTEGER at, end;
    if (GetFileType(file) != FILE_TYPE_DISK || !GetFileSizeEx(file, &end) ||
        !SetFilePointerEx(file, here, &at, FILE_CURRENT))
        return false;
    *read_bytes = (uint64_t)at.QuadPart;
    *left_bytes = end.QuadPart > at.QuadPart ? (uint64_t)(end.QuadPart - at.QuadPart) : 0;
    return true;
}

uint64_t clock_ns(void)
{
    LARGE_INTEGER frequency, now;
    (void)QueryPerformanceFrequency(&frequency);
    (void)QueryPerformanceCounter(&now);
    const uint64_t ticks = (uint64_t)now.QuadPart, rate = (uint64_t)frequency.QuadPart;
    return ticks / rate * 1000000000U + ticks % rate * 1000000000U / rate;
}

uint64_t clock_wall_ns(void)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return filetime_ns(now);
}
