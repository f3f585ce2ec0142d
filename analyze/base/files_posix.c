/* files.h on POSIX systems. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE /* flock */
#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/text.h"

static const uint8_t nothing[1] = {0};

static enum status file_fault(struct fault *fault, const char *path, const char *what)
{
    const int number = errno;
    const enum status code = number == ENOENT || number == ENOTDIR ? ERR_ABSENT : ERR_IO;
    fault_set_reason(fault, code, what, fault_errno_reason(number),
                     code == ERR_ABSENT ? "no such file" : fault_errno_hint(number));
    fault_set_path(fault, path);
    return fault->code;
}

static uint64_t nanoseconds(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static enum status file_open_regular(const char *path, int *fd, struct stat *info,
                                     struct fault *fault)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return file_fault(fault, path, "file");
    if (fstat(*fd, info) != 0) {
        (void)file_fault(fault, path, "file");
        (void)close(*fd);
        return fault->code;
    }
    if (!S_ISREG(info->st_mode)) {
        (void)close(*fd);
        fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "not a regular file");
        fault_set_path(fault, path);
        return fault->code;
    }
    return ERR_NONE;
}

enum status file_map(const char *path, struct file_map *out, struct fault *fault)
{
    struct stat info = {0};
    int fd = -1;

    memset(out, 0, sizeof *out);
    if (file_open_regular(path, &fd, &info, fault) != ERR_NONE)
        return fault->code;
    const uint64_t bytes = (uint64_t)info.st_size;
    out->data = nothing;
    out->bytes = (size_t)bytes;
    out->modified_ns = nanoseconds(info.st_mtim);
    out->changed_ns = nanoseconds(info.st_ctim);
    out->number = info.st_ino;
    if (bytes > LIMIT_FILE_BYTES) {
        fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "file larger than this program reads");
        fault_set_path(fault, path);
    } else if (bytes > 0) {
        void *memory = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory == MAP_FAILED)
            (void)file_fault(fault, path, "file");
        else
            out->data = memory;
        out->is_mapped = memory != MAP_FAILED;
    }
    (void)close(fd);
    if (fault->code != ERR_NONE)
        memset(out, 0, sizeof *out);
    return fault->code;
}

/* munmap takes what mmap gave; the map is read-only for everyone else. */
static void *memory_of(const struct file_map *map)
{
    union {
        const uint8_t *in;
        void *out;
    } memory = {map->data};
    return memory.out;
}

void file_unmap(struct file_map *map)
{
    if (map->data != NULL && map->data != nothing)
        (void)munmap(memory_of(map), map->bytes);
    memset(map, 0, sizeof *map);
}

void file_release(const struct file_map *map, uint64_t from, uint64_t bytes)
{
    const uint64_t left = from < map->bytes ? map->bytes - from : 0;
    if (map->is_mapped && left != 0)
        (void)madvise((char *)memory_of(map) + from, bytes < left ? bytes : left, MADV_DONTNEED);
}

void file_peek_open(const char *path, const struct file_map *map, struct file_peek *out)
{
    struct stat info = {0};
    const int fd = map->is_mapped ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

    *out = (struct file_peek){map->data, map->bytes, fd};
    if (fd >= 0 &&
        (fstat(fd, &info) != 0 || info.st_ino != map->number ||
         nanoseconds(info.st_ctim) != map->changed_ns || (uint64_t)info.st_size != map->bytes))
        file_peek_close(out);
}

void file_peek_close(struct file_peek *peek)
{
    if (peek->handle >= 0)
        (void)close((int)peek->handle);
    peek->handle = -1;
}

bool file_peek(const struct file_peek *peek, const uint8_t *at, size_t bytes, void *to)
{
    const uintptr_t from = (uintptr_t)at - (uintptr_t)peek->data;

    return peek->handle >= 0 && from < peek->bytes && bytes <= peek->bytes - from &&
           pread((int)peek->handle, to, bytes, (off_t)from) == (ssize_t)bytes;
}

enum status file_read(const char *path, size_t max_bytes, struct arena *keep, char **out,
                      size_t *bytes, struct fault *fault)
{
    struct stat info = {0};
    int fd = -1;

    *out = NULL;
    *bytes = 0;
    if (file_open_regular(path, &fd, &info, fault) != ERR_NONE)
        return fault->code;
    if ((uint64_t)info.st_size > max_bytes) {
        fault_set(fault, ERR_LIMIT, max_bytes, "file larger than expected here");
        fault_set_path(fault, path);
        (void)close(fd);
        return fault->code;
    }
    const size_t size = (size_t)info.st_size;
    char *text = arena_alloc(keep, size + 1);
    size_t done = 0;
    if (text == NULL)
        fault_no_memory(fault, "file");
    while (text != NULL && done < size) {
        const ssize_t got = read(fd, text + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    (void)close(fd);
    if (text != NULL && done < size)
        return file_fault(fault, path, "file");
    fault_set_path(fault, path);
    *out = text;
    *bytes = done;
    return fault->code;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t put = write(fd, at, bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

static bool write_part(void *to, const void *data, size_t bytes)
{
    return write_all(*(const int *)to, data, bytes);
}

static bool write_parts(int fd, const struct file_part *parts, size_t count)
{
    return fd >= 0 && file_put_parts(parts, count, write_part, &fd);
}

/* Writes into what is at PATH, or appends to it as a shell's `>>` does. */
static enum status write_through(const char *path, const struct file_part *parts, size_t count,
                                 struct fault *fault)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    const bool written = write_parts(fd, parts, count);
    if (!written || (close(fd) != 0 && errno != EINTR)) {
        (void)file_fault(fault, path, "file to write");
        if (!written && fd >= 0)
            (void)close(fd);
    }
    return fault->code;
}

static enum status write_anew(const char *path, const struct file_part *parts, size_t count,
                              struct fault *fault)
{
    char temporary[PATH_MAX];
    const int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary) {
        errno = ENAMETOOLONG;
        return file_fault(fault, path, "file to write");
    }
    const int fd = mkstemp(temporary);
    if (fd < 0)
        return file_fault(fault, path, "file to write");
    const bool written = fchmod(fd, 0644) == 0 && write_parts(fd, parts, count);
    if (close(fd) != 0 || !written || rename(temporary, path) != 0) {
        (void)file_fault(fault, path, "file to write");
        (void)unlink(temporary);
    }
    return fault->code;
}

bool path_is_stream(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return true;
    /* A path in /dev/fd or /proc, or /dev/stdout, can lead to a regular file; even so, it cannot be
     * replaced by a rename.  Other folders below /dev, such as /dev/shm, are like any. */
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/dev/std", 8) == 0 ||
           strncmp(path, "/proc/", 6) == 0;
}

const char *path_followed(const char *path, struct arena *keep)
{
    enum { LINKS_MAX = 40 }; /* as Linux's own limit */
    char to[PATH_MAX];
    for (int links = 0; path != NULL && links < LINKS_MAX; links++) {
        const ssize_t bytes = readlink(path, to, sizeof to - 1);
        if (bytes <= 0)
            return path;
        to[bytes] = '\0';
        path = to[0] == '/' ? arena_string(keep, to)
                            : arena_printf(keep, "%.*s%s", (int)(path_base(path) - path), path, to);
    }
    return path;
}

enum status file_write_parts(const char *path, const struct file_part *parts, size_t count,
                             struct fault *fault)
{
    char real[PATH_MAX];
    struct stat info;
    if (path_is_stream(path))
        return write_through(path, parts, count, fault);
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
        return write_anew(path, parts, count, fault);
    if (realpath(path, real) != NULL)
        return write_anew(real, parts, count, fault);
    return write_through(path, parts, count, fault); /* a link to a file that does not exist yet */
}

enum status file_move(const char *from, const char *to, struct fault *fault)
{
    return rename(from, to) == 0 ? ERR_NONE : file_fault(fault, to, "file to move");
}

FILE *file_open(const char *path, const char *mode)
{
    return fopen(path, mode);
}

/* flock() and not fcntl(): the latter does not keep threads of one process apart. */
enum status file_lock_take(const char *path, uint32_t wait_ms, struct file_lock *out,
                           struct fault *fault)
{
    const uint64_t end_ns = clock_ns() + (uint64_t)wait_ms * 1000000U;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    out->handle = -1;
    if (fd < 0)
        return file_fault(fault, path, "file of a lock");
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const struct timespec pause = {0, 20000000};
        const bool held = errno == EWOULDBLOCK;
        if ((!held && errno != EINTR) || clock_ns() >= end_ns) {
            if (held)
                fault_set(fault, ERR_TIMEOUT, FAULT_NO_OFFSET, "lock held by another process");
            (void)file_fault(fault, path, "file of a lock");
            (void)close(fd);
            return fault->code;
        }
        (void)nanosleep(&pause, NULL);
    }
    out->handle = fd;
    return ERR_NONE;
}

void file_lock_release(struct file_lock *lock)
{
    if (lock->handle >= 0)
        (void)close((int)lock->handle);
    lock->handle = -1;
}

enum status file_copy(const char *from, const char *to, struct fault *fault)
{
    struct file_map map;

    if (!path_is_stream(to)) {
        (void)unlink(to);
        if (link(from, to) == 0)
            return ERR_NONE;
    }
    if (file_map(from, &map, fault) != ERR_NONE)
        return fault->code;
    (void)file_write(to, map.data, map.bytes, fault);
    file_unmap(&map);
    return fault->code;
}

enum status folder_make(const char *path, struct fault *fault)
{
    char part[4096];
    const size_t length = strlen(path);

    if (length == 0 || length >= sizeof part) {
        errno = length == 0 ? ENOENT : ENAMETOOLONG;
        return file_fault(fault, path, "folder to make");
    }
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST && errno != ENOTDIR)
            return file_fault(fault, path, "folder to make");
        part[i] = path[i];
    }
    if (!path_is_folder(path)) {
        errno = ENOTDIR;
        fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "folder to make: a file is in the way");
        fault_set_path(fault, path);
    }
    return fault->code;
}

enum status folder_list(const char *path, struct arena *keep, const char ***names, size_t *count,
                        struct fault *fault)
{
    uint32_t room = 0;
    struct dirent *entry = NULL;
    DIR *folder = opendir(path);

    *names = NULL;
    *count = 0;
    if (folder == NULL)
        return file_fault(fault, path, "folder");
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!ARENA_ROOM(keep, *names, room, *count + 1))
            break;
        (*names)[*count] = arena_string(keep, entry->d_name);
        if ((*names)[*count] == NULL)
            break;
        (*count)++;
    }
    if (entry != NULL)
        fault_no_memory(fault, "folder");
    (void)closedir(folder);
    if (*count > 1)
        array_sort(*names, *count, sizeof **names, text_order);
    return fault->code;
}

enum status path_remove(const char *path, struct fault *fault)
{
    struct stat info;

    if (lstat(path, &info) != 0)
        return errno == ENOENT ? ERR_NONE : file_fault(fault, path, "path to remove");
    if (!S_ISDIR(info.st_mode))
        return unlink(path) == 0 ? ERR_NONE : file_fault(fault, path, "path to remove");
    if (folder_clear(path, fault) == ERR_NONE && rmdir(path) != 0)
        return file_fault(fault, path, "path to remove");
    return fault->code;
}

char *path_absolute(const char *path, struct arena *keep)
{
    char real[PATH_MAX];
    return realpath(path, real) != NULL ? arena_string(keep, real) : NULL;
}

bool path_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool path_is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

bool path_stamp(const char *path, struct file_stamp *out)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *out = (struct file_stamp){(uint64_t)info.st_size, nanoseconds(info.st_mtim),
                               nanoseconds(info.st_ctim), (uint64_t)info.st_ino};
    return true;
}

void path_touch(const char *path)
{
    (void)utimensat(AT_FDCWD, path, NULL, 0);
}

enum status path_rename(const char *from, const char *to, struct fault *fault)
{
    return rename(from, to) == 0 ? ERR_NONE : file_fault(fault, to, "file to rename");
}

bool file_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

uint32_t file_terminal_columns(FILE *stream)
{
    struct winsize size = {0};
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t file_read_some(FILE *stream, void *to, size_t bytes, bool *failed)
{
    const ssize_t got = read(fileno(stream), to, bytes);
    *failed = got < 0;
    return got > 0 ? (size_t)got : 0;
}

bool file_would_wait(FILE *stream, uint32_t wait_ms)
{
    struct pollfd set = {.fd = fileno(stream), .events = POLLIN};
    return poll(&set, 1, (int)wait_ms) == 0;
}

bool file_progress(FILE *stream, uint64_t *read_bytes, uint64_t *left_bytes)
{
    struct stat status;
    const int file = fileno(stream);
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    const off_t at = lseek(file, 0, SEEK_CUR);
    if (at < 0)
        return false;
    *read_bytes = (uint64_t)at;
    *left_bytes = status.st_size > at ? (uint64_t)(status.st_size - at) : 0;
    return true;
}

static uint64_t clock_read(clockid_t which)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(which, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
    return clock_read(CLOCK_REALTIME);
}

/* A short text that the system makes when it is read; empty: there is none. */
static void read_state(const char *path, char *text, size_t room)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, room - 1) : -1;
    if (file >= 0)
        (void)close(file);
    text[got > 0 ? got : 0] = '\0';
}

/* Returns in bytes a value that /proc/self/status states in kB; 0: no such row. */
static uint64_t status_bytes(const char *row)
{
    char text[4096];
    read_state("/proc/self/status", text, sizeof text);
    const char *at = strstr(text, row);
    return at != NULL ? strtoull(at + strlen(row), NULL, 10) * 1024U : 0;
}

/* VmHWM is used because, unlike ru_maxrss, it can be reset. */
uint64_t memory_peak_bytes(void)
{
    const uint64_t peak = status_bytes("VmHWM:");
    struct rusage usage;
    if (peak != 0)
        return peak;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024U : 0;
}

uint64_t memory_held_bytes(void)
{
    return status_bytes("VmRSS:");
}

/* The third number of statm; to read it takes a fifth of the time of two rows of status. */
uint64_t memory_mapped_bytes(void)
{
    char text[256], *at = text;
    read_state("/proc/self/statm", text, sizeof text);
    (void)strtoull(at, &at, 10); /* all pages, and those that are there */
    (void)strtoull(at, &at, 10);
    return strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t memory_peak_restart(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, "5", 1);
        (void)close(file);
    }
    return memory_held_bytes();
}

void memory_grow_by(size_t bytes)
{
#if defined(__GLIBC__)
    enum { USUAL_BYTES = 128 << 10 };
    (void)mallopt(M_TOP_PAD, bytes != 0 && bytes <= INT_MAX ? (int)bytes : USUAL_BYTES);
#else
    (void)bytes;
#endif
}

void memory_share_pools(int count)
{
#if defined(__GLIBC__)
    enum { LARGE_BYTES = 4 << 20 };
    (void)mallopt(M_ARENA_MAX, count);
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#else
    (void)count;
#endif
}

void memory_give_back(void)
{
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}
