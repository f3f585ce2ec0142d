/* A moment in the life of a thread: its next call of a function of the system. The thread waits
 * there until another one has done something, or for a time. For programs of one file. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <windows.h>

static __attribute__((used)) void *hooked; /* the function of the system that a hook is before */
static volatile DWORD hooks; /* the thread whose next call of it is a moment; 0: none */
static HANDLE moment, acted; /* the first: it calls; the second: it goes on */
static DWORD moment_ms;      /* how long it waits at most */

static DWORD own_id(void)
{
    return __readgsdword(0x48); /* without a call, since any may be hooked */
}

static __attribute__((used)) void reached(void)
{
    if (InterlockedCompareExchange((volatile LONG *)&hooks, 0, (LONG)own_id()) != (LONG)own_id())
        return;
    SetEvent(moment);
    WaitForSingleObject(acted, moment_ms);
}

static __attribute__((naked)) void hook(void)
{
    __asm__("pushq %rcx\n\tpushq %rdx\n\tpushq %r8\n\tpushq %r9\n\tsubq $40, %rsp\n\t"
            "call reached\n\t"
            "addq $40, %rsp\n\tpopq %r9\n\tpopq %r8\n\tpopq %rdx\n\tpopq %rcx\n\t"
            "jmp *hooked(%rip)");
}

/* The moment is a call of FUNCTION of a DLL. False: the program imports no such function. */
static bool moment_is_before(const char *function)
{
    uint8_t *base = (uint8_t *)GetModuleHandleW(NULL);
    const IMAGE_NT_HEADERS *headers =
        (IMAGE_NT_HEADERS *)(base + ((IMAGE_DOS_HEADER *)base)->e_lfanew);
    const IMAGE_IMPORT_DESCRIPTOR *dll =
        (IMAGE_IMPORT_DESCRIPTOR *)(base + headers->OptionalHeader.DataDirectory[1].VirtualAddress);
    DWORD before;
    moment = CreateEventW(NULL, TRUE, FALSE, NULL);
    acted = CreateEventW(NULL, TRUE, FALSE, NULL);
    for (; dll->Name != 0; dll++) {
        const uint64_t *name = (uint64_t *)(base + dll->OriginalFirstThunk);
        void **place = (void **)(base + dll->FirstThunk);
        for (; *name != 0; name++, place++) {
            if ((*name >> 63) != 0 || strcmp((char *)base + *name + 2, function) != 0)
                continue;
            hooked = *place;
            VirtualProtect(place, sizeof *place, PAGE_READWRITE, &before);
            *place = (void *)hook;
            return true;
        }
    }
    return false;
}

/* The next call by this thread. */
static void moment_comes(void)
{
    hooks = own_id();
}

/* The same from the first handler on that sees an exception after those that are there. */
static LONG CALLBACK moment_comes_now(EXCEPTION_POINTERS *pointers)
{
    (void)pointers;
    moment_comes();
    return EXCEPTION_CONTINUE_SEARCH;
}
