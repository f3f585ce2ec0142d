/* Stacks that Sentry's fork of Crashpad walks in the crashed process: a header, threads, frames and
 * the bytes of all names.
 *
 *   HEADER (16)               THREAD (12)            FRAME (16)
 *   version              0    id               0     instruction address    0
 *   threads              4    its first frame  4     place of its name      8
 *   frames               8    its frames       8     bytes of its name     12
 *   bytes of the names  12
 *
 * Threads are padded to a multiple of 8 bytes. Facts: Symbolicator, minidump_stacktraces.rs. */
#include "format/minidump/streams.h"

enum { VERSION = 1, THREAD_BYTES = 12, FRAME_BYTES = 16 };

/* Any number of frames may share one name, so its bytes are charged each time. */
static const char *name_at(struct minidump_reader *m, const struct bytes *names, uint32_t start,
                           uint32_t bytes)
{
    const struct bytes name = bytes_window(names, start, bytes);
    if (name.left == 0 || !minidump_spend_text(m, name.left, name.offset))
        return NULL;
    const char *text = arena_text(m->keep, (const char *)name.at, name.left);
    if (text == NULL)
        (void)fault_no_memory(m->damage, "minidump");
    return text;
}

static void add_frame(struct minidump_value_list *list, struct bytes r, const struct bytes *names)
{
    const uint64_t va = bytes_u64(&r);
    const uint32_t start = bytes_u32(&r), bytes = bytes_u32(&r);
    const char *name = name_at(list->m, names, start, bytes);
    minidump_add_object(list, NULL);
    minidump_add_hex(list, "address", va);
    if (name != NULL)
        minidump_add_text(list, "name", name);
    minidump_add_end(list);
}

static void add_thread(struct minidump_value_list *list, struct bytes r, const struct bytes *frames,
                       const struct bytes *names)
{
    const uint32_t id = bytes_u32(&r), start = bytes_u32(&r);
    const uint32_t count = bytes_u32(&r);
    const struct bytes mine =
        bytes_window(frames, (uint64_t)start * FRAME_BYTES, (uint64_t)count * FRAME_BYTES);
    minidump_add_object(list, NULL);
    minidump_add_uint(list, "thread", id);
    minidump_add_array(list, "frames");
    for (uint64_t at = 0; at < mine.left && !list->full && !bytes_failed(&mine); at += FRAME_BYTES)
        add_frame(list, bytes_window(&mine, at, FRAME_BYTES), names);
    minidump_add_end(list);
    minidump_add_end(list);
}

void minidump_detail_sentry_stacks(struct minidump_value_list *list, struct bytes r)
{
    const struct bytes whole = r;
    const uint32_t version = bytes_u32(&r), thread_count = bytes_u32(&r);
    const uint32_t frame_count = bytes_u32(&r), name_bytes = bytes_u32(&r);
    const uint64_t threads = (uint64_t)thread_count * THREAD_BYTES;
    const uint64_t padded = (threads + 7) & ~(uint64_t)7;
    if (bytes_failed(&r))
        return;
    if (version != VERSION) {
        (void)fault_set(list->m->damage, ERR_UNSUPPORTED, whole.offset,
                        "version of Sentry's stacks");
        return;
    }
    const struct bytes rows = bytes_window(&r, 0, threads);
    const struct bytes frames = bytes_window(&r, padded, (uint64_t)frame_count * FRAME_BYTES);
    const struct bytes names =
        bytes_window(&r, padded + (uint64_t)frame_count * FRAME_BYTES, name_bytes);
    minidump_add_array(list, NULL);
    for (uint64_t at = 0; at < rows.left && !list->full && !bytes_failed(&rows); at += THREAD_BYTES)
        add_thread(list, bytes_window(&rows, at, THREAD_BYTES), &frames, &names);
    minidump_add_end(list);
}
