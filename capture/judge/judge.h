/* Inside of the dbghelp judge. */
#ifndef CAPTURE_JUDGE_JUDGE_H
#define CAPTURE_JUDGE_JUDGE_H

#include <windows.h>

#include <dbghelp.h>
#include <stdbool.h>
#include <stdint.h>

enum { JUDGE_MODULES = 512, JUDGE_PATH_UNITS = 1024 };

struct judge_module {
    uint64_t base_va;
    uint32_t image_bytes;
    char name[256];
    const uint8_t *image; /* laid out as in memory; NULL: no file with this identity */
};

struct judge {
    uint8_t *dump;
    uint64_t dump_bytes;
    wchar_t *folders[64];
    int folder_count;
    struct judge_module modules[JUDGE_MODULES];
    uint32_t module_count;
    uint64_t open_ns, load_ns, unwind_ns, resolve_ns;
};

extern struct judge judge;

/* dbghelp wants a process handle; any number will do for a dump. */
#define JUDGE_PROCESS ((HANDLE)(ULONG_PTR)0x7D15)

/* ---- dump.c ---- */
uint64_t judge_now_ns(void);

/* Maps the dump. False: it cannot be read or is not a minidump. */
bool judge_open_dump(const wchar_t *path);

/* A stream of the dump, or NULL; its size in *BYTES. */
void *judge_stream(uint32_t type, uint32_t *bytes);

/* BYTES of the dump at OFFSET, or NULL when they are outside the file. */
void *judge_at(uint64_t offset, uint64_t bytes);

/* ---- modules.c: finds and loads every module of the dump ---- */
void judge_load_modules(void);
const struct judge_module *judge_module_at(uint64_t va);

/* StackWalk64's read routine: the dump's memory, then the images. */
BOOL CALLBACK judge_read(HANDLE process, DWORD64 va, PVOID to, DWORD bytes, LPDWORD got);

/* ---- frames.c ---- */
/* Finds dbghelp's interface for inlined functions; false: it is older than that. */
bool judge_open_frames(void);

/* Prints the logical frames of one physical frame. */
void judge_print_frame(uint32_t index, uint64_t pc_va, bool is_return, bool first);
void judge_print_text(const char *text);

#endif
