/* Random bytes of the kernel. */
#include "http/secret.h"

#include <stdio.h>

bool secret_bytes(unsigned char *out, size_t bytes)
{
    FILE *random = fopen("/dev/urandom", "rb");
    if (random == NULL)
        return false;
    bool whole = fread(out, 1, bytes, random) == bytes;
    (void)fclose(random);
    return whole;
}
