/* The cache folder; see fetch.h for what is in it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "fetch/fetch_cache.h"

enum { NOTE_BYTES_MAX = 8192 };

bool fetch_cache_path(char out[FETCH_PATH_BYTES], const char *cache, const char *place)
{
    const int length = snprintf(out, FETCH_PATH_BYTES, "%s/%s", cache, place);
    return length > 0 && length < FETCH_PATH_BYTES;
}

static bool own_path(char out[FETCH_PATH_BYTES], const char *cache, const char *folder,
                     uint64_t hash, const char *end)
{
    const int length = snprintf(out, FETCH_PATH_BYTES, "%s/.twinstack/%s/%016" PRIx64 "%s", cache,
                                folder, hash, end);
    return length > 0 && length < FETCH_PATH_BYTES;
}

enum status fetch_cache_make(const char *cache, struct fault *fault)
{
    static const char *const folders[] = {"part", "missing", "wrong", "lock"};
    char path[FETCH_PATH_BYTES];

    for (size_t i = 0; i < 4 && fault->code == ERR_NONE; i++) {
        const int length = snprintf(path, sizeof path, "%s/.twinstack/%s", cache, folders[i]);
        if (length < 0 || length >= (int)sizeof path)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of the cache");
        (void)folder_make(path, fault);
    }
    return fault->code;
}

enum status fetch_cache_lock(const char *cache, const char *place, uint32_t wait_ms,
                             struct file_lock *out, struct fault *fault)
{
    char path[FETCH_PATH_BYTES];
    const unsigned slot = hash_fold(hash_text(HASH_START, place)) & 0xFF;
    const int length = snprintf(path, sizeof path, "%s/.twinstack/lock/%02x", cache, slot);

    out->handle = -1;
    if (length < 0 || length >= (int)sizeof path)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of the cache");
    return file_lock_take(path, wait_ms, out, fault);
}

static uint64_t hash_two(const char *url, const char *place)
{
    return hash_text(hash_byte(hash_text(HASH_START, url), 0), place);
}

bool fetch_is_missing(const struct fetch *fetch, const char *cache, const char *url,
                      const char *place)
{
    struct fault fault = FAULT_INIT;
    char path[FETCH_PATH_BYTES];
    struct file_map map;

    if (!own_path(path, cache, "missing", hash_two(url, place), "") || !path_is_file(path) ||
        file_map(path, &map, &fault) != ERR_NONE)
        return false;
    const uint64_t now_ns = clock_wall_ns(),
                   end_ns = map.modified_ns + fetch->options.missing_ms * 1000000ULL;
    file_unmap(&map);
    if (now_ns < end_ns)
        return true;
    (void)path_remove(path, &fault);
    return false;
}

void fetch_cache_set_missing(const char *cache, const char *url, const char *place)
{
    struct fault fault = FAULT_INIT;
    char path[FETCH_PATH_BYTES], text[NOTE_BYTES_MAX];
    const int length = snprintf(text, sizeof text, "%s/%s\n", url, place);
    if (own_path(path, cache, "missing", hash_two(url, place), "") && (size_t)length < sizeof text)
        (void)file_write(path, text, (size_t)length, &fault);
}

bool fetch_part_find(const char *cache, const char *url, struct fetch_part *out)
{
    struct fault fault = FAULT_INIT;
    const uint64_t hash = hash_text(HASH_START, url);
    struct arena scratch;
    char *text;
    size_t bytes;

    memset(out, 0, sizeof *out);
    if (!own_path(out->path, cache, "part", hash, "") ||
        !own_path(out->note, cache, "part", hash, ".txt"))
        return false;
    if (!path_is_file(out->path) || !path_is_file(out->note))
        return true;
    arena_init(&scratch, 0);
    if (file_read(out->note, NOTE_BYTES_MAX, &scratch, &text, &bytes, &fault) == ERR_NONE) {
        char *second = strchr(text, '\n');
        if (second != NULL)
            *second++ = '\0';
        if (second != NULL && strcmp(text, url) == 0 && strlen(second) < sizeof out->validator) {
            (void)snprintf(out->validator, sizeof out->validator, "%s", second);
            out->bytes = path_bytes(out->path);
        }
    }
    arena_free(&scratch);
    return true;
}

void fetch_part_begin(const struct fetch_part *part, const char *url, const char *validator)
{
    struct fault fault = FAULT_INIT;
    char text[NOTE_BYTES_MAX];
    const int length = snprintf(text, sizeof text, "%s\n%s", url, validator);
    (void)path_remove(part->path, &fault);
    if ((size_t)length < sizeof text)
        (void)file_write(part->note, text, (size_t)length, &fault);
}

void fetch_part_drop(const struct fetch_part *part)
{
    struct fault fault = FAULT_INIT;
    (void)path_remove(part->path, &fault);
    (void)path_remove(part->note, &fault);
}

/* Moves a wrong file into quarantine; PATH is then its new path. */
static void fetch_cache_quarantine(const char *cache, const char *place, const char *url,
                                   const char *why, char path[FETCH_PATH_BYTES])
{
    struct fault fault = FAULT_INIT;
    char to[FETCH_PATH_BYTES], note[FETCH_PATH_BYTES], text[NOTE_BYTES_MAX];
    char end[FETCH_KEY_BYTES + 2];
    const uint64_t hash = hash_two(url, place);

    (void)snprintf(end, sizeof end, "-%s", path_base(place));
    if (!own_path(to, cache, "wrong", hash, end) || !own_path(note, cache, "wrong", hash, ".txt") ||
        file_move(path, to, &fault) != ERR_NONE) {
        (void)path_remove(path, &fault);
        return;
    }
    (void)snprintf(path, FETCH_PATH_BYTES, "%s", to);
    const int length = snprintf(text, sizeof text, "%s\nfor %s\n%s\n", url, place, why);
    if ((size_t)length < sizeof text)
        (void)file_write(note, text, (size_t)length, &fault);
}

bool fetch_check(struct fetch_task *task, const char *cache, const char *path, const char *url)
{
    struct fault fault = FAULT_INIT;
    struct fetch_file *file = task->file;
    char moved[FETCH_PATH_BYTES];

    if (file->check(file->context, path, &fault) == ERR_NONE)
        return true;
    (void)snprintf(moved, sizeof moved, "%s", path);
    const char *why = "it is damaged";
    if (fault.code == ERR_MISMATCH)
        why = "it is of another build";
    else if (fault.hint != NULL)
        why = fault.hint;
    else if (fault.what != NULL)
        why = fault.what;
    fetch_cache_quarantine(cache, file->place, url, why, moved);
    file->result = FETCH_WRONG;
    (void)snprintf(file->path, sizeof file->path, "%s", moved);
    (void)snprintf(file->text, sizeof file->text, "wrong file from %.120s: %.60s; kept as %.60s",
                   url, why, path_base(moved));
    return false;
}
