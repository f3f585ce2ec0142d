/* See durable.h. */
#include <fcntl.h>
#include <unistd.h>

#include "stream/durable.h"

bool durable_flush(FILE *stream)
{
    return fsync(fileno(stream)) == 0;
}

void durable_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}
