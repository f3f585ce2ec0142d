/* What plugin-managed.dll exports, and what it needs of the program. */
#ifndef VICTIMS_MANAGED_PLUGIN_H
#define VICTIMS_MANAGED_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

enum { MANAGED_INLINED = 1 };

struct managed_services {
    bool inlines; /* the JIT puts small methods into their callers */
    const char *(*keep_text)(const char *text);
    void (*thread)(const char *role, bool suspect);
    void (*ready)(void);
    int (*snapshot)(int what);
};

#define MANAGED_EXPORT __declspec(dllexport)
MANAGED_EXPORT void managed_connect(const struct managed_services *from);
MANAGED_EXPORT void managed_here(const char *type, const char *method, const char *file, int line,
                                 int flags);
MANAGED_EXPORT void managed_back(void);
MANAGED_EXPORT uint32_t managed_depth(void);
MANAGED_EXPORT void managed_cut(uint32_t depth);
MANAGED_EXPORT void native_thread(const char *role);
MANAGED_EXPORT void native_ready(void);
MANAGED_EXPORT int native_call(int (*function)(int), int value);
MANAGED_EXPORT int native_crash(int value);
MANAGED_EXPORT int native_wait(int value);
MANAGED_EXPORT int native_busy(int value);
MANAGED_EXPORT void native_hold_heap(void); /* from now on, native_busy() holds it now and then */
MANAGED_EXPORT int native_snapshot(int value);

#endif
