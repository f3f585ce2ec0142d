/* Files and folders. Paths are UTF-8 with '/' as separator on every system; the platform file
 * converts them for system calls. One implementation per system: files_posix.c, files_windows.c. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"

/* A whole file mapped read-only. Owned by the caller that mapped it; file_unmap() invalidates it
 * and every pointer into it. An empty file is valid: data is non-NULL, bytes 0. */
struct file_map {
    const uint8_t *data;
    size_t bytes;
    uint64_t modified_ns;        /* last change, nanoseconds since 1970, for caches */
    uint64_t changed_ns, number; /* as in struct file_stamp */
    bool is_mapped;              /* by file_map(); else DATA is memory of another owner */
};

/* Fails: ERR_ABSENT no such file; ERR_IO; ERR_LIMIT over LIMIT_FILE_BYTES;
 * ERR_UNSUPPORTED not a regular file. */
enum status file_map(const char *path, struct file_map *out, struct fault *fault);
void file_unmap(struct file_map *map);
/* Gives the memory of a part of a map back to the system, FROM on, a multiple of 64 KiB. What is
 * read again comes from the system's cache of the file; pointers stay valid, also in other threads.
 * Does nothing for memory that is not mapped, and where a system has no call for it (Windows
 * shrinks a process by itself). */
void file_release(const struct file_map *map, uint64_t from, uint64_t bytes);

/* A mapped file that is opened again, to read small parts of it that lie far apart. A page that is
 * read in the map brings 15 others with it: that takes seven times as long. */
struct file_peek {
    const uint8_t *data; /* of the map */
    size_t bytes;
    intptr_t handle; /* of the system; -1: none */
};
/* PATH has to be the file that was mapped; if it is another by now, or where the system has no use
 * for it (Windows), nothing can be read. */
void file_peek_open(const char *path, const struct file_map *map, struct file_peek *out);
void file_peek_close(struct file_peek *peek);
/* Copies the BYTES at AT, a place in the map. False: use the map. */
bool file_peek(const struct file_peek *peek, const uint8_t *at, size_t bytes, void *to);

/* Reads a whole file of at most MAX_BYTES into KEEP, followed by a NUL that *bytes does not count.
 * Fails like file_map(). */
enum status file_read(const char *path, size_t max_bytes, struct arena *keep, char **out,
                      size_t *bytes, struct fault *fault);

/* The SHA-256 of a file as 64 lower-case hex digits and NUL. Fails like file_map(). */
enum status file_sha256(const char *path, char out[65], struct fault *fault);

/* Writes a file atomically: to a temporary file in the same folder, which is then renamed. A
 * symbolic link is followed; a device or pipe is written to and never replaced. Fails: ERR_IO. */
enum status file_write(const char *path, const void *data, size_t bytes, struct fault *fault);

/* The same for a file whose bytes are in several places: in memory, or in a stream, which is read
 * to its end. */
struct file_part {
    const void *data;
    size_t bytes;
    FILE *stream; /* NULL: the part is DATA */
};
enum status file_write_parts(const char *path, const struct file_part *parts, size_t count,
                             struct fault *fault);
/* The same for all that STREAM, a temporary file, has. */
enum status file_write_stream(const char *path, FILE *stream, struct fault *fault);

/* Renames a file; an existing TO is replaced, and no reader ever sees half of either. Both are on
 * one file system. Fails: ERR_ABSENT, ERR_IO. */
enum status file_move(const char *from, const char *to, struct fault *fault);

/* fopen() with a path in UTF-8; NULL with the reason in errno. */
FILE *file_open(const char *path, const char *mode);

/* Copies a file, as a hard link when the system supports it. Replaces TO, unless it is a device or
 * pipe. */
enum status file_copy(const char *from, const char *to, struct fault *fault);

/* A name there that no other thread or process has, "twinstack-KIND-..."; NULL when out of memory.
 */
const char *folder_temporary_name(const char *kind, struct arena *keep);

/* Makes a folder and its parents; an existing one is fine. */
enum status folder_make(const char *path, struct fault *fault);

/* Lists the names in a folder, sorted by byte, without "." and "..".  Fails: ERR_ABSENT, ERR_IO. */
enum status folder_list(const char *path, struct arena *keep, const char ***names, size_t *count,
                        struct fault *fault);

/* Removes a file, or a folder with everything in it; a missing one is fine. Never follows links. */
enum status path_remove(const char *path, struct fault *fault);

/* A lock that one thread of one process holds at a time. PATH is made if missing and stays. The
 * system releases the lock when the process ends, however it ends. Waits at most WAIT_MS.
 * Fails: ERR_TIMEOUT another holder kept it; ERR_IO. */
struct file_lock {
    intptr_t handle; /* of the system */
};
enum status file_lock_take(const char *path, uint32_t wait_ms, struct file_lock *out,
                           struct fault *fault);
void file_lock_release(struct file_lock *lock);

bool path_is_file(const char *path);
bool path_is_folder(const char *path);
/* True when PATH names something below FOLDER, by its spelling: both absolute. On Windows neither
 * case nor the kind of slash matters. */
bool path_is_below(const char *path, const char *folder);

/* True for a device, pipe or socket, and for everything below /dev and /proc: such a path can be
 * written to, but must never be replaced by a file. */
bool path_is_stream(const char *path);

/* What PATH leads to through symbolic links, whether it exists or not; PATH itself if it is no
 * link. A caller that renames a file to PATH must rename it to this. NULL: out of memory. */
const char *path_followed(const char *path, struct arena *keep);

uint64_t path_bytes(const char *path); /* size of a file; 0 when there is none */

/* Size and time of the last change (as in struct file_map) of a file; false: there is none. */
bool path_stat(const char *path, uint64_t *bytes, uint64_t *modified_ns);

/* What differs when a file was changed, or another was put in its place, even one of its size and
 * with its time of change (`cp -p`): the system's own time of the last change, and the number of
 * the file. Windows says the last two only of an open file: 0 there. No padding. */
struct file_stamp {
    uint64_t bytes, modified_ns, changed_ns, number;
};
/* False: there is no such file; *OUT is unchanged. */
bool path_stamp(const char *path, struct file_stamp *out);

/* Sets the time of a file's last change to now. A file that cannot be changed stays as it is. */
void path_touch(const char *path);

/* Gives a file another name in one step, in place of the file that has that name. Both are on the
 * same volume. Fails: ERR_ABSENT, ERR_IO. */
enum status path_rename(const char *from, const char *to, struct fault *fault);

/* Joins two paths with one '/'. The result is in KEEP; NULL when out of memory. */
char *path_join(struct arena *keep, const char *folder, const char *name);

/* The absolute path of a file or folder, in KEEP; NULL when it does not exist or memory is out. */
char *path_absolute(const char *path, struct arena *keep);

/* The part after the last '/' or '\\' (borrowed). */
const char *path_base(const char *path);

bool file_is_terminal(FILE *stream);
uint32_t file_terminal_columns(FILE *stream); /* 0: no terminal, or unknown */

/* Reads what a pipe or terminal has available, without waiting for all of BYTES: at least one
 * byte, or 0 at the end. Returns 0 and sets *FAILED on an error. Do not mix it with reads
 * through stdio. */
size_t file_read_some(FILE *stream, void *to, size_t bytes, bool *failed);
/* True when there is nothing to read now or within WAIT_MS, so that file_read_some() would wait. */
bool file_would_wait(FILE *stream, uint32_t wait_ms);

/* How many bytes of a regular file were read, and how many are left. False: it is none, so that its
 * end is unknown. */
bool file_progress(FILE *stream, uint64_t *read_bytes, uint64_t *left_bytes);

/* A monotonic clock in nanoseconds, and the wall clock in nanoseconds since 1970. */
uint64_t clock_ns(void);
uint64_t clock_wall_ns(void);

/* Peak resident memory of this process, in bytes: since memory_peak_restart() where the system can
 * reset the peak (Linux), otherwise since the process started. */
uint64_t memory_peak_bytes(void);

/* memory_peak_restart() resets the peak and returns the resident memory at this moment.
 * memory_peak_beyond() returns by how much the peak since then exceeds that. */
uint64_t memory_peak_restart(void);
uint64_t memory_peak_beyond(uint64_t held_bytes);

/* The resident memory of this process now; 0: the system does not report it. */
uint64_t memory_held_bytes(void);

/* How much of it are pages of files, such as those of a struct file_map; 0: as above. */
uint64_t memory_mapped_bytes(void);

/* How much memory the allocator requests from the system at a time, for the whole process; 0: the
 * default. Set it high for short work that needs much memory, because each request and each release
 * stops all threads. */
void memory_grow_by(size_t bytes);

/* Makes all threads share COUNT pools of the allocator. Each pool keeps what its largest user once
 * needed, so a server with hundreds of threads holds less with few; short work is faster with many.
 * Blocks of 4 MiB and more are in no pool. */
void memory_share_pools(int count);

/* Gives the system what the pools hold unused. It takes tens of milliseconds, and what is
 * used next is slower, so not after each answer. */
void memory_give_back(void);

/* ---- what the files of each system share ---- */

typedef bool file_put_fn(void *to, const void *data, size_t bytes);

/* Passes the bytes of all parts to PUT, in order. False: PUT failed, or a stream cannot be read. */
bool file_put_parts(const struct file_part *parts, size_t count, file_put_fn *put, void *to);

/* Removes all that is in the folder PATH. */
enum status folder_clear(const char *path, struct fault *fault);

#endif
