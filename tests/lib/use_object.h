/* Calls every reader of object files on some bytes: for truncations, damage and fuzzing. */
#ifndef TESTS_USE_OBJECT_H
#define TESTS_USE_OBJECT_H

#include <stddef.h>

void use_object(const void *data, size_t bytes);

#endif
