/* Unpredictable random bytes.  One implementation per system. */
#ifndef DASHBOARD_SECRET_H
#define DASHBOARD_SECRET_H

#include <stdbool.h>
#include <stddef.h>

bool secret_bytes(unsigned char *out, size_t bytes);

#endif
