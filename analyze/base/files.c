/* The portable parts of files.h. */
#include "base/files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

char *path_join(struct arena *keep, const char *folder, const char *name)
{
    const size_t length = strlen(folder), name_length = strlen(name);
    const bool joined = length == 0 || is_separator(folder[length - 1]);
    char *out = arena_alloc(keep, length + !joined + name_length + 1);
    if (out == NULL)
        return NULL;
    memcpy(out, folder, length);
    if (!joined)
        out[length] = '/';
    memcpy(out + length + !joined, name, name_length);
    return out;
}

const char *path_base(const char *path)
{
    const char *base = path;
    for (const char *p = path; *p != '\0'; p++)
        if (is_separator(*p))
            base = p + 1;
    return base;
}

bool path_stat(const char *path, uint64_t *bytes, uint64_t *modified_ns)
{
    struct file_stamp stamp;
    if (!path_stamp(path, &stamp))
        return false;
    *bytes = stamp.bytes;
    *modified_ns = stamp.modified_ns;
    return true;
}

uint64_t path_bytes(const char *path)
{
    struct file_stamp stamp;
    return path_stamp(path, &stamp) ? stamp.bytes : 0;
}

static bool put_stream(FILE *stream, file_put_fn *put, void *to)
{
    char chunk[16384];
    size_t bytes = 0;
    while ((bytes = fread(chunk, 1, sizeof chunk, stream)) > 0)
        if (!put(to, chunk, bytes))
            return false;
    return ferror(stream) == 0;
}

bool file_put_parts(const struct file_part *parts, size_t count, file_put_fn *put, void *to)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = parts[i].stream != NULL ? put_stream(parts[i].stream, put, to)
                                       : put(to, parts[i].data, parts[i].bytes);
    return good;
}

/* Where temporary files go: TMPDIR, else TEMP, else /tmp. */
static const char *folder_temporary(void)
{
    const char *folder = getenv("TMPDIR");
    if (folder == NULL)
        folder = getenv("TEMP");
    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

const char *folder_temporary_name(const char *kind, struct arena *keep)
{
    return arena_printf(keep, "%s/twinstack-%s-%" PRIx64 "-%" PRIxPTR, folder_temporary(), kind,
                        clock_wall_ns(), (uintptr_t)keep);
}

enum status folder_clear(const char *path, struct fault *fault)
{
    struct arena scratch;
    const char **names;
    size_t count;
    arena_init(&scratch, 0);
    if (folder_list(path, &scratch, &names, &count, fault) == ERR_NONE) {
        for (size_t i = 0; i < count && fault->code == ERR_NONE; i++) {
            const char *inner = path_join(&scratch, path, names[i]);
            if (inner == NULL)
                fault_no_memory(fault, "path to remove");
            else
                (void)path_remove(inner, fault);
        }
    }
    arena_free(&scratch);
    return fault->code;
}

enum status file_sha256(const char *path, char out[65], struct fault *fault)
{
    struct file_map map;
    if (file_map(path, &map, fault) != ERR_NONE)
        return fault->code;
    text_sha256(map.data, map.bytes, out);
    file_unmap(&map);
    return ERR_NONE;
}

enum status file_write(const char *path, const void *data, size_t bytes, struct fault *fault)
{
    const struct file_part whole = {.data = data, .bytes = bytes};
    return file_write_parts(path, &whole, 1, fault);
}

enum status file_write_stream(const char *path, FILE *stream, struct fault *fault)
{
    const struct file_part whole = {.stream = stream};
    if (fseek(stream, 0, SEEK_SET) != 0)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    return file_write_parts(path, &whole, 1, fault);
}

uint64_t memory_peak_beyond(uint64_t held_bytes)
{
    const uint64_t peak = memory_peak_bytes(); /* the system's figure is approximate */
    return peak > held_bytes ? peak - held_bytes : 0;
}
