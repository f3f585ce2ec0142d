/* See durable.h. NTFS writes renames through its journal; a folder cannot be flushed. */
#include <io.h>

#include "stream/durable.h"

bool durable_flush(FILE *stream)
{
    return _commit(_fileno(stream)) == 0;
}

void durable_folder(const char *folder)
{
    (void)folder;
}
