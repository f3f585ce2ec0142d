/* See durable.h: what is the same on every system. */
#include "stream/durable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"

static const char MARK = '#';
#define ABANDONED_NS (UINT64_C(3600) * 1000000000)

static enum status failed(const struct durable *file, struct fault *fault)
{
    const int number = errno;
    (void)fault_set_reason(fault, ERR_IO, "file to keep", fault_errno_reason(number),
                           fault_errno_hint(number));
    fault_set_path(fault, file->path);
    return fault->code;
}

enum status durable_open(struct durable *file, const char *path, struct fault *fault)
{
    char self[PROCESS_NAME_BYTES];
    process_name_self(self);
    const int length = snprintf(file->path, sizeof file->path, "%s", path);
    const int longer = snprintf(file->temporary, sizeof file->temporary, "%s%c%lu-%llx.tmp", path,
                                MARK, strtoul(self, NULL, 10), (unsigned long long)clock_ns());
    file->stream = NULL;
    if (length < 0 || longer < 0 || (size_t)longer >= sizeof file->temporary)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of a file to keep");
    file->stream = file_open(file->temporary, "wbx");
    return file->stream != NULL ? ERR_NONE : failed(file, fault);
}

enum status durable_commit(struct durable *file, struct fault *fault)
{
    char folder[DURABLE_PATH_BYTES];
    FILE *stream = file->stream;
    if (stream == NULL)
        return failed(file, fault);
    errno = 0;
    const bool flushed = fflush(stream) == 0 && durable_flush(stream);
    file->stream = NULL;
    if (fclose(stream) != 0 || !flushed) {
        const int number = errno;
        struct fault ignored = FAULT_INIT;
        (void)path_remove(file->temporary, &ignored);
        errno = number;
        return failed(file, fault);
    }
    if (path_rename(file->temporary, file->path, fault) != ERR_NONE) {
        struct fault ignored = FAULT_INIT;
        (void)path_remove(file->temporary, &ignored);
        return fault->code;
    }
    (void)snprintf(folder, sizeof folder, "%s", file->path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
        durable_folder(folder);
    }
    return ERR_NONE;
}

void durable_drop(struct durable *file)
{
    struct fault ignored = FAULT_INIT;
    if (file->stream == NULL)
        return;
    (void)fclose(file->stream);
    file->stream = NULL;
    (void)path_remove(file->temporary, &ignored);
}

enum status durable_write(const char *path, const void *data, size_t bytes, struct fault *fault)
{
    struct durable file;
    if (durable_open(&file, path, fault) != ERR_NONE || file.stream == NULL)
        return fault->code;
    errno = 0;
    if (bytes > 0 && fwrite(data, 1, bytes, file.stream) != bytes) {
        (void)failed(&file, fault);
        durable_drop(&file);
        return fault->code;
    }
    return durable_commit(&file, fault);
}

uint64_t durable_age_ns(const char *path)
{
    uint64_t bytes = 0, changed_ns = 0;
    const uint64_t now_ns = clock_wall_ns();
    return path_stat(path, &bytes, &changed_ns) && now_ns > changed_ns ? now_ns - changed_ns : 0;
}

bool durable_is_temporary(const char *name)
{
    return strchr(name, MARK) != NULL;
}

/* True for a file that is not committed, when the process that began it is gone, or is this one,
 * which begins none before it sweeps. A file that is removed under a living writer is no loss: it
 * cannot be committed then, and nothing was acknowledged. */
static bool is_abandoned(const char *name, const char *path, const void *context)
{
    char self[PROCESS_NAME_BYTES], writer[PROCESS_NAME_BYTES];
    (void)context;
    if (!durable_is_temporary(name))
        return false;
    process_name_self(self);
    const unsigned long id = strtoul(strchr(name, MARK) + 1, NULL, 10);
    const int length = snprintf(writer, sizeof writer, "%lu%s", id, self + strcspn(self, "@"));
    if (length > 0 && (size_t)length < sizeof writer &&
        (strcmp(writer, self) == 0 || process_life_of(writer) == PROCESS_GONE))
        return true;
    return durable_age_ns(path) > ABANDONED_NS;
}

void durable_remove(const char *folder, durable_rule_fn *rule, const void *context)
{
    struct arena work;
    struct fault fault = FAULT_INIT;
    const char **names = NULL;
    size_t count = 0;
    arena_init(&work, 0);
    (void)folder_list(folder, &work, &names, &count, &fault);
    for (size_t i = 0; fault.code == ERR_NONE && i < count; i++) {
        struct fault ignored = FAULT_INIT;
        const char *path = path_join(&work, folder, names[i]);
        if (path != NULL && rule(names[i], path, context))
            (void)path_remove(path, &ignored);
    }
    arena_free(&work);
}

void durable_sweep(const char *folder)
{
    durable_remove(folder, is_abandoned, NULL);
}
