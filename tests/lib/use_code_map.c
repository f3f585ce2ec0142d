/* See use_code_map.h. */
#include "use_code_map.h"

#include <string.h>

#include <winternl.h>

enum { UNWIND_AT = 0x10, FUNCTION_BYTES = 0x40, FUNCTIONS_BASE = 0x10000 };

struct cap_state cap;
struct code_map_flat code_map_flat;

static uint8_t file[2 * CAP_BUFFER_BYTES];
static uint32_t file_bytes;

bool cap_crash_file_keep(HANDLE handle, bool keep)
{
    (void)handle;
    return keep;
}

void GetSystemTimeAsFileTime(FILETIME *out)
{
    *out = (FILETIME){1, 2};
}

BOOL WriteFile(HANDLE handle, const void *from, DWORD bytes, DWORD *done, OVERLAPPED *at)
{
    (void)handle;
    *done = 0;
    if (at->Offset > sizeof file || bytes > sizeof file - at->Offset)
        return FALSE;
    memcpy(file + at->Offset, from, bytes);
    if (file_bytes < at->Offset + bytes)
        file_bytes = at->Offset + bytes;
    *done = bytes;
    return TRUE;
}

DWORD SetFilePointer(HANDLE handle, LONG offset, LONG *high, DWORD from)
{
    (void)handle, (void)offset, (void)high, (void)from;
    return 0;
}

BOOL SetEndOfFile(HANDLE handle)
{
    (void)handle;
    return TRUE;
}

/* Each FUNCTION_BYTES of the address space below 4 GB are one function. */
const RUNTIME_FUNCTION *RtlLookupFunctionEntry(DWORD64 va, DWORD64 *base, void *history)
{
    static RUNTIME_FUNCTION found;
    (void)history;
    if (va < FUNCTIONS_BASE || va >> 32 != 0)
        return NULL;
    *base = FUNCTIONS_BASE;
    found.BeginAddress = (DWORD)(va - FUNCTIONS_BASE) & ~(DWORD)(FUNCTION_BYTES - 1);
    found.EndAddress = found.BeginAddress + FUNCTION_BYTES;
    found.UnwindData = UNWIND_AT;
    return &found;
}

/* Each look at the clock is 7 ns after the one before. */
uint64_t cap_crash_now_ns(void)
{
    static uint64_t now_ns;
    return now_ns += 7;
}

void cap_crash_copy(void *to, const void *from, uint64_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

/* Memory below 4 GB can be read, and is all ones. */
bool cap_crash_copy_guarded(void *to, uint64_t from_va, uint64_t bytes)
{
    if (from_va >> 32 != 0 || bytes >> 32 != 0)
        return false;
    memset(to, 1, (size_t)bytes);
    return true;
}

void cap_crash_clear(void *at, uint64_t bytes)
{
    memset(at, 0, (size_t)bytes);
}

bool cap_crash_within(struct cap_bounds range, uint64_t va)
{
    return va >= range.low_va && va < range.high_va;
}

uint32_t cap_crash_length(const char *text)
{
    return (uint32_t)strlen(text);
}

uint32_t cap_crash_frame_at(const struct cap_walk *walk, uint32_t i)
{
    (void)walk;
    return i;
}

int cap_crash_module_at(uint64_t va)
{
    for (LONG i = 0; i < cap.module_count; i++)
        if (va - cap.modules[i].base_va < cap.modules[i].image_bytes)
            return (int)i;
    return -1;
}

bool cap_crash_in_code_map(uint64_t va)
{
    return cap_crash_method_at(va) != NULL;
}

void cap_modules_add_flat(uint64_t base_va, const wchar_t *path, uint32_t path_units)
{
    (void)path;
    code_map_flat = (struct code_map_flat){base_va, path_units};
}

uint32_t cap_crash_ring_read(uint64_t *cursor, uint64_t out[CAP_CAPTURE_WORDS])
{
    (void)cursor, (void)out;
    return 0;
}

bool cap_crash_ring_totals(uint64_t *asked, uint64_t *cost_ns, uint64_t *dearest_ns)
{
    *asked = *cost_ns = *dearest_ns = 0;
    return false;
}

void code_map_reset(void)
{
    memset(&cap_managed, 0, sizeof cap_managed);
    memset(&cap, 0, sizeof cap);
    file_bytes = 0;
    code_map_flat = (struct code_map_flat){0, 0};
    struct cap_module *module = &cap.modules[cap.module_count++];
    module->ready = 1;
    module->base_va = 0x70000000000;
    module->unloaded_ns = RECORD_NEVER;
    memcpy(module->path, "a.dll", 5);
    module->path_bytes = 5;
}

const uint8_t *code_map_written(uint32_t *bytes)
{
    *bytes = file_bytes;
    return file;
}

const uint8_t *code_map_stream(uint32_t *bytes)
{
    cap_crash_record_begin(RECORD_KIND_CRASH, 1, NULL, 0);
    return cap_crash_dump_stream(bytes);
}

const uint8_t *code_map_record(uint32_t *bytes)
{
    file_bytes = 0;
    cap.record_bytes = 0;
    cap_crash_record_begin(RECORD_KIND_CRASH, 1, NULL, 0);
    cap_crash_record_modules();
    cap_crash_record_threads(NULL, 0);
    cap_crash_record_code_map();
    return code_map_written(bytes);
}
