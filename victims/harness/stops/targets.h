/* Threads that are busy forever in places that can block a walker. */
#ifndef HARNESS_STOPS_TARGETS_H
#define HARNESS_STOPS_TARGETS_H

#include <windows.h>

struct stop_target {
    const char *name;
    DWORD(WINAPI *run)(void *unused); /* does not return */
};

/* NULL: there is no target of that name. */
const struct stop_target *stop_target_find(const char *name);

/* Calls FUNCTION from generated code, about which only the system can be asked.  0: no memory. */
int stop_target_call_generated(int (*function)(void *unused));

/* held.c: `twinstack-stops held WHO FOLDER`; returns the exit code. */
int stop_held(const wchar_t *who, const wchar_t *folder);

#endif
