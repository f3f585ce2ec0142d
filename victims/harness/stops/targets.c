/* See targets.h. */
#include "victims/harness/stops/targets.h"

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

/* 64 KB of stack lie above the loop. */
static DWORD WINAPI in_deep(void *unused)
{
    volatile uint8_t filled[64 << 10];
    for (size_t i = 0; i < sizeof filled; i += 64)
        filled[i] = (uint8_t)i;
    return in_calls(unused) + filled[0];
}

/* Adds and removes function tables.  Its caller is generated code, about which only the system can
 * be asked: RtlLookupFunctionEntry waits for the lock that this thread holds most of the time. */
static int change_tables(void *unused)
{
    static RUNTIME_FUNCTION table = {.BeginAddress = 0, .EndAddress = 16, .UnwindData = 0};
    static uint8_t code[64];
    (void)unused;
    for (;; turns++) {
        RtlAddFunctionTable(&table, 1, (uintptr_t)code);
        RtlDeleteFunctionTable(&table);
    }
}

int stop_target_call_generated(int (*function)(void *unused))
{
    /* push rbp; mov rbp, rsp; sub rsp, 32; call rcx; add rsp, 32; pop rbp; ret */
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xE5, 0x48, 0x83, 0xEC, 0x20,
                                   0xFF, 0xD1, 0x48, 0x83, 0xC4, 0x20, 0x5D, 0xC3};
    /* Version 1, prologue 8 bytes, 3 codes: alloc 32 at 8, set frame rbp at 4, push at 1. */
    static const uint8_t unwind[] = {1, 8, 3, 5, 8, 0x32, 4, 0x03, 1, 0x50, 0, 0};
    enum { UNWIND_RVA = 64, TABLE_RVA = 128, PAGE_BYTES = 4096 };
    uint8_t *page =
        VirtualAlloc(NULL, PAGE_BYTES, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
    if (page == NULL)
        return 0;
    RUNTIME_FUNCTION *table = (RUNTIME_FUNCTION *)(void *)(page + TABLE_RVA);
    memcpy(page, code, sizeof code);
    memcpy(page + UNWIND_RVA, unwind, sizeof unwind);
    *table = (RUNTIME_FUNCTION){.EndAddress = sizeof code, .UnwindData = UNWIND_RVA};
    RtlAddFunctionTable(table, 1, (uintptr_t)page);
    union {
        uint8_t *bytes;
        int (*call)(int (*function)(void *), void *unused);
    } made = {page};
    return made.call(function, NULL);
}

static DWORD WINAPI in_tables(void *unused)
{
    (void)unused;
    return (DWORD)stop_target_call_generated(change_tables);
}

static const struct stop_target targets[] = {
    {"heap", in_heap},   {"loader", in_loader},         {"dbghelp", in_dbghelp},
    {"stdio", in_stdio}, {"exceptions", in_exceptions}, {"calls", in_calls},
    {"deep", in_deep},   {"tables", in_tables},
};

const struct stop_target *stop_target_find(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}
