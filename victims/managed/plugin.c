/* plugin-managed.dll: the native functions that managed code calls.  It notes frames for managed
 * code, whose texts are not in the read-only data of an image: they are kept in the truth mapping.
 */
#include <string.h>

#include "victims/managed/plugin.h"
#include "victims/plugins/slot.h"

static struct managed_services services;

void managed_connect(const struct managed_services *from)
{
    services = *from;
}

void managed_here(const char *type, const char *method, const char *file, int line, int flags)
{
    char name[256] = {0};
    if (flags == MANAGED_INLINED)
        flags = services.inlines ? TRUTH_FLAG_TAIL : 0;
    if (type == NULL) {
        TRUTH_PUSH(0, 0, 0, (uint32_t)flags);
        return;
    }
    strncat(name, type, 150);
    strncat(name, "::", 3);
    strncat(name, method, 100);
    TRUTH_PUSH(services.keep_text(name), services.keep_text(file), line, (uint32_t)flags);
}

void managed_back(void)
{
    TRUTH_POP(1);
}

uint32_t managed_depth(void)
{
    return TRUTH_STACK->depth;
}

void managed_cut(uint32_t depth)
{
    TRUTH_STACK->depth = depth;
}

void native_thread(const char *role)
{
    services.thread(role, strcmp(role, "finalizer") == 0);
}

void native_ready(void)
{
    services.ready();
}

int native_call(int (*function)(int), int value)
{
    return HERE_SYSTEM(function(value)) + 1;
}

int native_crash(int value)
{
    return HERE(*(volatile int *)16 = value) + 1;
}

int native_wait(int value)
{
    HERE_SYSTEM((Sleep(INFINITE), 0));
    return value;
}

static volatile int holds_heap;

void native_hold_heap(void)
{
    holds_heap = 1;
}

/* With the heap's lock half of the time, if that is requested: other threads need it, too. */
int native_busy(int value)
{
    enum { TURNS = 1 << 20 };
    for (volatile int part = value;; part++) {
        const bool holds = holds_heap != 0 && part % 2 == 0;
        if (holds)
            HeapLock(GetProcessHeap());
        for (volatile int turns = 0; turns < TURNS; turns++) {
        }
        if (holds)
            HeapUnlock(GetProcessHeap());
    }
}

int native_snapshot(int value)
{
    return services.snapshot(value);
}
