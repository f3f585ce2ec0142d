/* See dumps.h. */
#include "stream/dumps.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"

struct dump_file {
    const char *path;
    uint64_t bytes, changed_ns;
};

static bool is_part(const char *name)
{
    static const char end[] = ".tmp";
    const size_t bytes = strlen(name);
    return bytes >= sizeof end - 1 && strcmp(name + bytes - (sizeof end - 1), end) == 0;
}

static int oldest_first(const void *left, const void *right)
{
    const struct dump_file *a = left, *b = right;
    if (a->changed_ns != b->changed_ns)
        return a->changed_ns < b->changed_ns ? -1 : 1;
    return strcmp(a->path, b->path);
}

static bool delete_file(const char *path, uint64_t *deleted)
{
    struct fault ignored = FAULT_INIT;
    const bool gone = path_remove(path, &ignored) == ERR_NONE;
    *deleted += gone;
    return gone;
}

/* Lists the files of FOLDER and deletes those that are too old. *BYTES is the sum of those left,
 * which are in OUT without the parts of uploads. */
static enum status delete_old(const char *folder, uint64_t age_ms, struct arena *keep,
                              struct dump_file **out, size_t *count, uint64_t *bytes,
                              uint64_t *deleted, struct fault *fault)
{
    const uint64_t now_ns = clock_wall_ns();
    const char **names = NULL;
    size_t found = 0;
    if (folder_list(folder, keep, &names, &found, fault) != ERR_NONE)
        return fault->code;
    *out = ARENA_ARRAY(keep, found + 1, struct dump_file);
    for (size_t i = 0; *out != NULL && i < found; i++) {
        struct dump_file file = {.path = path_join(keep, folder, names[i])};
        if (file.path == NULL)
            return fault_no_memory(fault, "folder of dumps");
        if (!path_stat(file.path, &file.bytes, &file.changed_ns))
            continue;
        const uint64_t old_ms =
            now_ns > file.changed_ns ? (now_ns - file.changed_ns) / 1000000U : 0;
        if (old_ms > (is_part(names[i]) ? DUMPS_UPLOAD_MS : age_ms) &&
            delete_file(file.path, deleted))
            continue;
        *bytes += file.bytes;
        if (!is_part(names[i]))
            (*out)[(*count)++] = file;
    }
    return *out != NULL ? ERR_NONE : fault_no_memory(fault, "folder of dumps");
}

enum status dumps_trim(const char *folder, uint64_t age_ms, uint64_t bytes_max, uint64_t *deleted,
                       struct fault *fault)
{
    struct dump_file *files = NULL;
    uint64_t bytes = 0;
    size_t count = 0;
    struct arena keep;
    arena_init(&keep, 0);
    if (delete_old(folder, age_ms, &keep, &files, &count, &bytes, deleted, fault) == ERR_NONE) {
        array_sort(files, count, sizeof *files, oldest_first);
        for (size_t i = 0; i < count && bytes > bytes_max; i++)
            if (delete_file(files[i].path, deleted))
                bytes -= files[i].bytes;
    }
    arena_free(&keep);
    return fault->code;
}
