/* Shared libraries that are loaded when they are needed. One implementation per system. */
#ifndef FETCH_SHARED_LIBRARY_H
#define FETCH_SHARED_LIBRARY_H

#include <stdbool.h>

/* NULL: there is none of that name. It stays loaded. */
void *library_open(const char *name);

/* Writes the address of a function to *TO, a pointer to a function. False: it has none of NAME. */
bool library_function(void *library, const char *name, void *to);

#endif
