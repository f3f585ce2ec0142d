/* Helpers of the crash path: clock, text, thread bounds, the list of threads.  No heap, no
 * locks, no C runtime. */
#include "capture/cap.h"

#include <winternl.h>

struct cap_state cap;

typedef LONG(NTAPI *nt_query_thread)(HANDLE, int, void *, ULONG, ULONG *);
typedef LONG(NTAPI *nt_next_thread)(HANDLE, HANDLE, ACCESS_MASK, ULONG, ULONG, HANDLE *);

enum {
    THREAD_BASIC_INFORMATION = 0,
    THREAD_NAME_INFORMATION = 38,
#if defined(_WIN64)
    TEB_DEALLOCATION_STACK = 0x1478,
#else
    TEB_DEALLOCATION_STACK = 0xE0C,
#endif
};

struct thread_basic {
    LONG status;
    void *teb;
    void *process_id, *thread_id;
    ULONG_PTR affinity;
    LONG priority, base_priority;
};

extern LONG NTAPI NtQueryInformationThread(HANDLE, THREADINFOCLASS, PVOID, ULONG, PULONG);
extern LONG NTAPI NtGetNextThread(HANDLE, HANDLE, ACCESS_MASK, ULONG, ULONG, HANDLE *);

uint64_t cap_crash_now_ns(void)
{
    LARGE_INTEGER now;
    QueryPerformanceCounter(&now);
    uint64_t ticks = (uint64_t)(now.QuadPart - cap.installed_at.QuadPart);
    uint64_t rate = (uint64_t)cap.frequency.QuadPart;
    return ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}

void cap_crash_copy(void *to, const void *from, uint64_t bytes)
{
    volatile uint8_t *out = to;
    const uint8_t *in = from;
    for (uint64_t i = 0; i < bytes; i++)
        out[i] = in[i];
}

struct copying {
    void *to;
    uint64_t from_va, bytes;
};

static void copy_now(void *argument)
{
    const struct copying *copying = argument;
    cap_crash_copy(copying->to, (const void *)(uintptr_t)copying->from_va, copying->bytes);
}

bool cap_crash_copy_guarded(void *to, uint64_t from_va, uint64_t bytes)
{
    return cap_crash_guarded(copy_now, &(struct copying){to, from_va, bytes});
}

void cap_crash_clear(void *at, uint64_t bytes)
{
    volatile uint8_t *out = at;
    for (uint64_t i = 0; i < bytes; i++)
        out[i] = 0;
}

uint32_t cap_crash_length(const char *text)
{
    uint32_t length = 0;
    while (text[length] != 0)
        length++;
    return length;
}

bool cap_crash_within(struct cap_bounds range, uint64_t va)
{
    return va >= range.low_va && va < range.high_va;
}

bool cap_crash_is_ours(uint32_t thread_id)
{
    return thread_id == cap.monitor_id || thread_id == cap.runner_ids[0] ||
           thread_id == cap.runner_ids[1];
}

static struct cap_bounds bounds_of_teb(const uint8_t *teb)
{
    const NT_TIB *tib = (const NT_TIB *)teb;
    struct cap_bounds bounds = {
        .low_va = (uintptr_t)*(void *const *)(teb + TEB_DEALLOCATION_STACK),
        .high_va = (uintptr_t)tib->StackBase,
    };
    /* A fiber or a hand-made stack may leave the reserve's start stale. */
    if (bounds.low_va == 0 || bounds.low_va > (uintptr_t)tib->StackLimit)
        bounds.low_va = (uintptr_t)tib->StackLimit;
    return bounds;
}

struct cap_bounds cap_crash_own_bounds(void)
{
    return bounds_of_teb((const uint8_t *)NtCurrentTeb());
}

/* A thread that has not begun, or has ended, has no TEB; 32-bit Wine then adds an offset to 0. */
static bool query_thread(HANDLE thread, struct thread_basic *out)
{
    enum { NEVER_MAPPED_BYTES = 1 << 16 };
    return NtQueryInformationThread(thread, (THREADINFOCLASS)THREAD_BASIC_INFORMATION, out,
                                    sizeof *out, NULL) == 0 &&
           (uintptr_t)out->teb >= NEVER_MAPPED_BYTES;
}

struct bounds_reading {
    const void *teb;
    struct cap_bounds *out;
};

static void read_bounds_now(void *argument)
{
    const struct bounds_reading *reading = argument;
    *reading->out = bounds_of_teb(reading->teb);
}

/* The thread may end while its TEB is read. */
static bool read_bounds(const struct thread_basic *basic, struct cap_bounds *out)
{
    return cap_crash_guarded(read_bounds_now, &(struct bounds_reading){basic->teb, out});
}

bool cap_crash_thread_bounds(HANDLE thread, struct cap_bounds *out)
{
    struct thread_basic basic = {0};
    return query_thread(thread, &basic) && read_bounds(&basic, out);
}

static uint32_t utf8_bytes(uint32_t c)
{
    if (c < 0x80)
        return 1;
    if (c < 0x800)
        return 2;
    return c < 0x10000 ? 3 : 4;
}

/* UTF-16 to UTF-8; a lone surrogate becomes U+FFFD. Stops before a character that does not fit. */
uint32_t cap_crash_utf8(const wchar_t *text, uint32_t units, char *out, uint32_t room_bytes)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < units; i++) {
        uint32_t c = text[i];
        if (c >= 0xD800 && c < 0xDC00 && i + 1 < units && text[i + 1] >= 0xDC00 &&
            text[i + 1] < 0xE000)
            c = 0x10000 + ((c - 0xD800) << 10) + (text[++i] - 0xDC00u);
        else if (c >= 0xD800 && c < 0xE000)
            c = 0xFFFD;
        const uint32_t need = utf8_bytes(c);
        if (used + need > room_bytes)
            break;
        for (uint32_t k = need; k-- > 1; c >>= 6)
            out[used + k] = (char)(0x80 | (c & 0x3F));
        out[used] = (char)(need == 1 ? c : (0xF00u >> need & 0xFF) | c);
        used += need;
    }
    return used;
}

static void read_thread_name(struct cap_thread *thread)
{
    struct {
        UNICODE_STRING text;
        wchar_t room[256];
    } name = {0};
    thread->name_bytes = 0;
    if (NtQueryInformationThread(thread->handle, (THREADINFOCLASS)THREAD_NAME_INFORMATION, &name,
                                 sizeof name, NULL) == 0 &&
        name.text.Buffer != NULL)
        thread->name_bytes =
            cap_crash_utf8(name.text.Buffer, name.text.Length / 2u, thread->name, CAP_NAME_BYTES);
}

uint32_t cap_crash_threads(struct cap_thread *out, uint32_t room, uint32_t suspect_id,
                           uint32_t main_id)
{
    const ACCESS_MASK access =
        THREAD_QUERY_INFORMATION | THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT;
    HANDLE at = NULL;
    uint32_t count = 0;
    while (count < room && NtGetNextThread(cap.process, at, access, 0, 0, &at) == 0) {
        struct cap_thread *thread = &out[count];
        struct thread_basic basic = {0};
        if (!query_thread(at, &basic) ||
            (cap.writer == RECORD_WRITER_IN_PROCESS && !read_bounds(&basic, &thread->bounds)))
            continue;
        thread->handle = at;
        thread->id = (uint32_t)(uintptr_t)basic.thread_id;
        thread->flags = (thread->id == suspect_id ? RECORD_THREAD_SUSPECT : 0u) |
                        (thread->id == main_id ? RECORD_THREAD_MAIN : 0u) |
                        (cap_crash_is_ours(thread->id) ? RECORD_THREAD_CAPTURE : 0u);
        read_thread_name(thread);
        count++;
    }
    return count;
}
