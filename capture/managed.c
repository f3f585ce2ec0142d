/* The code map: generated code that the program registers, and the managed code that a profiler
 * does, kept until a capture writes it.
 *
 * Entries are only ever added, and those without room are counted; `ready` is set last.  The
 * runtime may free the code of a dynamic method and put another there, so what was added last
 * counts. */
#include <stddef.h>

#include "capture/cap.h"

struct cap_managed cap_managed;

/* Takes COUNT places of a pool with ROOM; -1: they are not left. */
static LONG take_places(volatile LONG *used, uint32_t count, LONG room)
{
    LONG at = *used;
    for (;;) {
        if (count > (uint32_t)(room - at)) {
            InterlockedIncrement(&cap_managed.left_out);
            return -1;
        }
        const LONG seen = InterlockedCompareExchange(used, at + (LONG)count, at);
        if (seen == at)
            return at;
        at = seen;
    }
}

#if defined(_WIN64)
/* The next entry of the method's body or, after it, of its handlers; NULL: no more. *VA moves to
 * its end. */
static const RUNTIME_FUNCTION *next_function(const struct cap_method *method, uint64_t *va,
                                             DWORD64 *base)
{
    if (*va - method->start_va >= method->code_bytes)
        return NULL;
    const RUNTIME_FUNCTION *found = RtlLookupFunctionEntry(*va, base, NULL);
    if (found == NULL || *base + found->EndAddress <= *va)
        return NULL;
    *va = *base + found->EndAddress;
    return found;
}

/* Asked now: at a crash the system's lookup may have to wait for a lock. Other threads register
 * methods meanwhile, so the places of one method are taken all at once. */
static void add_functions(struct cap_method *method)
{
    const RUNTIME_FUNCTION *found;
    DWORD64 base = 0;
    uint32_t count = 0;
    for (uint64_t va = method->start_va; next_function(method, &va, &base) != NULL;)
        count++;
    const LONG at = take_places(&cap_managed.function_count, count, CAP_MANAGED_FUNCTIONS);
    if (at < 0)
        return;
    uint64_t va = method->start_va;
    method->function = (uint32_t)at;
    for (uint32_t i = 0; i < count && (found = next_function(method, &va, &base)) != NULL; i++) {
        cap_managed.functions[(uint32_t)at + i] =
            (struct cap_function){.base_va = base, .entry = *found};
        method->function_count = i + 1;
    }
}
#else
static void add_functions(struct cap_method *method)
{
    (void)method;
}
#endif

/* Of a method whose arguments have no room, none are known; the method is kept. */
static void add_types(struct cap_method *method, const char *text)
{
    const uint32_t bytes = text != NULL ? cap_crash_length(text) : 0;
    const LONG at = bytes > 0 && bytes <= CAP_TYPE_BYTES
                        ? take_places(&cap_managed.types_used, bytes, CAP_TYPE_BYTES)
                        : -1;
    if (at < 0)
        return;
    cap_crash_copy(&cap_managed.types[at], text, bytes);
    method->types = (uint32_t)at;
    method->types_bytes = bytes;
}

/* A region that wraps, or has no end, would claim addresses that it does not have. */
static bool is_region(const void *start, uint64_t bytes)
{
    enum { CODE_MOST = 1 << 30 };
    return start != NULL && bytes > 0 && bytes <= CODE_MOST &&
           (uintptr_t)start + bytes - 1 >= (uintptr_t)start;
}

/* Records have no assembly of another number. */
static bool is_assembly(uint32_t number)
{
    return number <= CAP_ASSEMBLIES && number <= (uint32_t)cap_managed.assembly_count;
}

bool capture_register_method(const struct capture_method *method)
{
    enum { FIRST_BYTES = offsetof(struct capture_method, type_arguments) };
    if (method->size < FIRST_BYTES || (method->map == NULL && method->map_count != 0) ||
        !is_region(method->start, method->bytes))
        return false;
    /* the map first: an entry without one would be a method of which every line is the first */
    const LONG map = take_places(&cap_managed.map_count, method->map_count, CAP_IL_MAPS);
    const LONG at = map >= 0 ? take_places(&cap_managed.method_count, 1, CAP_METHODS) : -1;
    if (at < 0)
        return false;
    struct cap_method *to = &cap_managed.methods[at];
    to->start_va = (uintptr_t)method->start;
    to->code_bytes = method->bytes;
    to->token = method->token;
    to->assembly = is_assembly(method->assembly) ? method->assembly : 0;
    to->map = (uint32_t)map;
    to->map_count = method->map_count;
    cap_crash_copy(&cap_managed.maps[map], method->map, method->map_count * sizeof method->map[0]);
    if (method->size >= sizeof *method)
        add_types(to, method->type_arguments);
    add_functions(to);
    InterlockedExchange(&to->ready, 1);
    return true;
}

bool capture_register_code(const char *name, const void *start, uint64_t bytes)
{
    const LONG at = is_region(start, bytes) ? take_places(&cap.code_count, 1, CAP_CODE_MAPS) : -1;
    if (at < 0)
        return false;
    struct cap_code *code = &cap.codes[at];
    uint32_t length = cap_crash_length(name);
    if (length >= CAP_NAME_BYTES)
        length = CAP_NAME_BYTES - 1;
    cap_crash_copy(code->name, name, length);
    code->name[length] = 0;
    code->start_va = (uintptr_t)start;
    code->code_bytes = bytes;
#if defined(_WIN64)
    /* Queried now: for generated code the system's lookup takes a lock. */
    const RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(code->start_va, &code->base_va, NULL);
    if (function != NULL) {
        code->begin_rva = function->BeginAddress;
        code->end_rva = function->EndAddress;
        code->unwind_rva = function->UnwindData;
    }
#endif
    InterlockedExchange(&code->ready, 1);
    return true;
}

const struct cap_method *cap_crash_method_at(uint64_t va)
{
    LONG i = cap_managed.method_count < CAP_METHODS ? cap_managed.method_count : CAP_METHODS;
    while (i-- > 0) {
        const struct cap_method *method = &cap_managed.methods[i];
        if (method->ready && va - method->start_va < method->code_bytes)
            return method;
    }
    return NULL;
}

#if defined(_WIN64)
const RUNTIME_FUNCTION *cap_crash_managed_function(uint64_t va, uint64_t *base_va)
{
    const struct cap_method *method = cap_crash_method_at(va);
    for (uint32_t i = 0; method != NULL && i < method->function_count; i++) {
        const struct cap_function *function = &cap_managed.functions[method->function + i];
        const uint64_t rva = va - function->base_va;
        if (rva >= function->entry.BeginAddress && rva < function->entry.EndAddress) {
            *base_va = function->base_va;
            return &function->entry;
        }
    }
    return NULL;
}
#endif

void capture_use_snapshots(capture_snapshot_fn *snapshot)
{
    cap_managed.snapshot = snapshot;
}
