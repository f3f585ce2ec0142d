/* capture_now(): stacks on demand, kept in a ring in memory until the record is written.
 *
 * The ring is made of granules of 64 bytes, with numbers that never repeat: a tag, then 56 bytes of
 * an entry in the record's form. A writer takes as many granules as its entry needs by one
 * addition, without a lock, and sets each granule's tag to its number once the bytes are written. A
 * reader believes an entry if every tag has the number that it must have; so an entry that was
 * overwritten, or whose writer was stopped or killed halfway, is skipped without affecting
 * others. */
#include "capture/cap.h"

enum { GRANULE_WORDS = 8, PAYLOAD_WORDS = 7, HEAD_WORDS = RECORD_CAPTURE_BYTES / 8 };

static struct {
    volatile uint64_t *words; /* NULL: no ring */
    uint64_t granule_count;
    volatile LONG64 next; /* granules allocated so far */
    uint64_t first;       /* where the entries of this installation start */
    volatile LONG users;  /* threads in capture_now() */
    volatile LONG64 asked_count, cost_ns, dearest_ns;
} ring;

bool cap_ring_start(uint64_t bytes)
{
    ring.asked_count = ring.cost_ns = ring.dearest_ns = 0;
    ring.first = (uint64_t)ring.next;
    ring.granule_count = bytes / (GRANULE_WORDS * 8);
    if (ring.granule_count * PAYLOAD_WORDS < CAP_CAPTURE_WORDS)
        return bytes == 0;
    ring.words = VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    return ring.words != NULL;
}

/* The memory of a thread that stays in capture_now(), since it is suspended or was ended there, is
 * not freed. */
void cap_ring_stop(void)
{
    enum { TRIES = 1000 };
    volatile uint64_t *words = ring.words;
    ring.words = NULL;
    MemoryBarrier();
    for (int i = 0; i < TRIES && ring.users != 0; i++)
        Sleep(1);
    if (words != NULL && ring.users == 0)
        VirtualFree((void *)(uintptr_t)words, 0, MEM_RELEASE);
}

static volatile uint64_t *granule(uint64_t number)
{
    return ring.words + number % ring.granule_count * GRANULE_WORDS;
}

/* No granule's tag is 0, so untouched memory belongs to no entry. */
static uint64_t tag_of(uint64_t number, bool is_first)
{
    return (number + 1) << 1 | is_first;
}

static uint64_t granules_of(uint64_t words)
{
    return (words + PAYLOAD_WORDS - 1) / PAYLOAD_WORDS;
}

static void store_entry(const uint64_t *words, uint32_t count)
{
    const uint64_t granules = granules_of(count);
    const uint64_t first = (uint64_t)InterlockedExchangeAdd64(&ring.next, (LONG64)granules);
    for (uint64_t g = 0, at = 0; g < granules; g++) {
        volatile uint64_t *to = granule(first + g);
        to[0] = 0;
        for (uint32_t i = 1; i <= PAYLOAD_WORDS && at < count; i++)
            to[i] = words[at++];
        to[0] = tag_of(first + g, g == 0);
    }
}

static uint64_t frame_word(const struct cap_frame *frame)
{
    const uint64_t most = (1ull << RECORD_N_VA_BITS) - 1;
    return (frame->pc_va < most ? frame->pc_va : most) | (uint64_t)frame->flags << RECORD_N_VA_BITS;
}

/* The entry of capture/record.h.  The innermost frame of the walk is capture_now() itself. */
static uint32_t build_entry(const struct cap_walk *walk, const char *label, uint64_t *out)
{
    const uint32_t kept = walk->total < CAP_FRAMES ? walk->total : CAP_FRAMES;
    const uint32_t count = kept > 0 ? kept - 1 : 0;
    uint32_t label_bytes = label != NULL ? cap_crash_length(label) : 0;
    if (label_bytes > CAP_LABEL_BYTES)
        label_bytes = CAP_LABEL_BYTES;
    const uint32_t words = HEAD_WORDS + count + (label_bytes + 7) / 8;
    out[0] = (uint64_t)walk->thread_id << 32 | words * 8;
    out[1] = walk->at_ns;
    out[2] = (uint64_t)(walk->total - kept) << 32 |
             (walk->walk_ns < UINT32_MAX ? walk->walk_ns : UINT32_MAX);
    out[3] = (uint64_t)walk->stop << 32 | label_bytes << 16 | count;
    for (uint32_t i = 0; i < count; i++)
        out[HEAD_WORDS + i] = frame_word(&walk->frames[cap_crash_frame_at(walk, i + 1)]);
    if (label_bytes > 0)
        out[words - 1] = 0; /* zeros after the label */
    cap_crash_copy(&out[HEAD_WORDS + count], label, label_bytes);
    return words;
}

/* A frame of capture_now(), whose context it is. */
static void capture(const CONTEXT *context, const char *label)
{
    struct cap_walk walk;
    uint64_t words[CAP_CAPTURE_WORDS];
    const uint64_t start_ns = cap_crash_now_ns();
    cap_crash_walk_begin(&walk, RECORD_WALKER_RTL, GetCurrentThreadId());
    cap_crash_walk_first(context, NULL, cap_crash_own_bounds(), true, &walk);
    store_entry(words, build_entry(&walk, label, words));

    const LONG64 cost_ns = (LONG64)(cap_crash_now_ns() - start_ns);
    InterlockedIncrement64(&ring.asked_count);
    InterlockedExchangeAdd64(&ring.cost_ns, cost_ns);
    LONG64 dearest_ns = ring.dearest_ns;
    while (cost_ns > dearest_ns &&
           InterlockedCompareExchange64(&ring.dearest_ns, cost_ns, dearest_ns) != dearest_ns)
        dearest_ns = ring.dearest_ns;
}

NOINLINE bool capture_now(const char *label)
{
    CONTEXT context;
    InterlockedIncrement(&ring.users);
    const bool has_ring = ring.words != NULL && cap.installed;
    if (has_ring) {
        RtlCaptureContext(&context);
        capture(&context, label);
    }
    InterlockedDecrement(&ring.users);
    return has_ring;
}

/* ---- reading, when the record is written ---- */

bool cap_crash_ring_totals(uint64_t *asked, uint64_t *cost_ns, uint64_t *dearest_ns)
{
    *asked = (uint64_t)ring.asked_count;
    *cost_ns = (uint64_t)ring.cost_ns;
    *dearest_ns = (uint64_t)ring.dearest_ns;
    return ring.words != NULL && (uint64_t)ring.next != ring.first;
}

/* The length in words of the entry that starts at NUMBER; 0 if no complete entry is there. */
static uint32_t read_entry(uint64_t number, uint64_t *out)
{
    if (granule(number)[0] != tag_of(number, true))
        return 0;
    const uint32_t count = (uint32_t)granule(number)[1] / 8;
    if (count < HEAD_WORDS || count > CAP_CAPTURE_WORDS)
        return 0;
    for (uint32_t at = 0; at < count; at++)
        out[at] = granule(number + at / PAYLOAD_WORDS)[1 + at % PAYLOAD_WORDS];
    for (uint64_t g = 0; g < granules_of(count); g++) /* checked after the bytes were read */
        if (granule(number + g)[0] != tag_of(number + g, g == 0))
            return 0;
    return count;
}

uint32_t cap_crash_ring_read(uint64_t *cursor, uint64_t out[CAP_CAPTURE_WORDS])
{
    const uint64_t end = (uint64_t)ring.next;
    if (*cursor < ring.first)
        *cursor = ring.first;
    if (ring.words != NULL && end > ring.granule_count && *cursor < end - ring.granule_count)
        *cursor = end - ring.granule_count;
    while (ring.words != NULL && *cursor < end) {
        const uint32_t count = read_entry(*cursor, out);
        *cursor += count > 0 ? granules_of(count) : 1;
        if (count > 0)
            return count;
    }
    return 0;
}
