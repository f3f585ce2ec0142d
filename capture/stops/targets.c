/* See targets.h. */
#include "capture/stops/targets.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <dbghelp.h>

#include "capture/port.h"

static volatile uint32_t turns;

static DWORD WINAPI in_heap(void *unused)
{
    void *kept[16] = {0};
    (void)unused;
    for (;; turns++) {
        HeapFree(GetProcessHeap(), 0, kept[turns % 16]);
        kept[turns % 16] = HeapAlloc(GetProcessHeap(), 0, turns * 97u % 40000 + 1);
    }
}

static DWORD WINAPI in_loader(void *unused)
{
    (void)unused;
    for (;; turns++) {
        HMODULE module = LoadLibraryW(L"version.dll");
        if (module != NULL)
            FreeLibrary(module);
    }
}

static DWORD WINAPI in_dbghelp(void *unused)
{
    static SYMBOL_INFO symbol = {.SizeOfStruct = sizeof symbol};
    DWORD64 distance = 0;
    (void)unused;
    SymInitialize(GetCurrentProcess(), NULL, TRUE); /* fails if the capture already did it */
    for (;; turns++)
        SymFromAddr(GetCurrentProcess(), (uintptr_t)in_dbghelp + turns % 64, &distance, &symbol);
}

static DWORD WINAPI in_stdio(void *unused)
{
    FILE *file = fopen("NUL", "w");
    (void)unused;
    for (;; turns++)
        fprintf(file, "%u %s %f\n", (unsigned)turns, "text", turns / 3.0);
}

static DWORD WINAPI in_exceptions(void *unused)
{
    (void)unused;
    for (;; turns++) {
        __try {
            RaiseException(0xE0000001u, 0, 0, NULL);
        } __except (EXCEPTION_EXECUTE_HANDLER) {
            continue;
        }
    }
}

static NOINLINE uint32_t dive(uint32_t depth)
{
    turns++;
    return depth > 0 ? dive(depth - 1) + turns : turns;
}

static DWORD WINAPI in_calls(void *unused)
{
    (void)unused;
    for (;;)
        turns += dive(turns % 20) & 1;
}

static const struct stop_target targets[] = {
    {"heap", in_heap},   {"loader", in_loader},         {"dbghelp", in_dbghelp},
    {"stdio", in_stdio}, {"exceptions", in_exceptions}, {"calls", in_calls},
};

const struct stop_target *stop_target_find(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}
