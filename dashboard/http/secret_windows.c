/* Random bytes of the system. */
#define _CRT_RAND_S
#include "http/secret.h"

#include <stdlib.h>

bool secret_bytes(unsigned char *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned value = 0;
        if (rand_s(&value) != 0)
            return false;
        out[i] = (unsigned char)value;
    }
    return true;
}
