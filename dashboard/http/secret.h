/* Unpredictable random bytes.  One implementation per system. */
#ifndef HTTP_SECRET_H
#define HTTP_SECRET_H

#include <stdbool.h>
#include <stddef.h>

bool secret_bytes(unsigned char *out, size_t bytes);

#endif
