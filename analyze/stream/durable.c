/* See durable.h: what is the same on every system. */
#include "stream/durable.h"

#include <errno.h>
#include <string.h>

#include "base/files.h"

static enum status failed(const struct durable *file, struct fault *fault)
{
    (void)fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "file to keep", fault_errno_hint(errno));
    fault_set_path(fault, file->path);
    return fault->code;
}

enum status durable_open(struct durable *file, const char *path, struct fault *fault)
{
    const int length = snprintf(file->path, sizeof file->path, "%s", path);
    const int longer = snprintf(file->temporary, sizeof file->temporary, "%s.%llx.tmp", path,
                                (unsigned long long)clock_ns());
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
    if (path_rename(file->temporary, file->path, fault) != ERR_NONE)
        return fault->code;
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
