/* See dead_process.h. */
#include "unwind/dead_process.h"

#include "base/array.h"
#include "base/bytes.h"

const char *unwind_where_name(enum unwind_where where)
{
    static const char *const names[] = {"unknown", "prologue", "body", "epilogue"};
    return (size_t)where < COUNT_OF(names) ? names[where] : names[0];
}

uint32_t unwind_read_code(const struct unwind_process *process, uint64_t va, uint8_t *code,
                          uint32_t bytes)
{
    while (bytes > 0 && !process->read(process->self, va, code, bytes))
        bytes /= 2;
    return bytes;
}

bool unwind_read_u32(const struct unwind_process *process, uint64_t va, uint32_t *out)
{
    uint8_t raw[4];
    if (!process->read(process->self, va, raw, sizeof(raw)))
        return false;
    *out = load_u32(raw);
    return true;
}

bool unwind_read_u64(const struct unwind_process *process, uint64_t va, uint64_t *out)
{
    uint8_t raw[8];
    if (!process->read(process->self, va, raw, sizeof(raw)))
        return false;
    *out = load_u64(raw);
    return true;
}
