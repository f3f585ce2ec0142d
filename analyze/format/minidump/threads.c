/* Threads of a minidump: both forms of the list, names, times, and which thread crashed.
 *
 *   THREAD (48)
 *   id                   0
 *   suspend count        4
 *   priority class       8
 *   priority            12
 *   TEB va              16
 *   stack descriptor    24
 *   context place       40
 *
 * THREAD EX (64) adds the descriptor of a backing store at 48. */
#include "base/limits.h"
#include "format/minidump/streams.h"

static void read_thread_list(struct minidump_reader *m, struct bytes r, bool extended)
{
    struct minidump *out = m->out;
    m->superseded = out->threads != NULL; /* the dump has both lists: the plain one was read */
    if (m->superseded)
        return;
    uint32_t count =
        minidump_list_count(m, &r, extended ? 64 : 48, LIMIT_DUMP_ROWS, "number of threads");
    out->threads = minidump_array(m, count, sizeof(*out->threads));
    if (out->threads == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_thread *thread = &out->threads[i];
        thread->id = bytes_u32(&r);
        thread->suspend_count = bytes_u32(&r);
        thread->priority_class = bytes_u32(&r);
        thread->priority = bytes_u32(&r);
        thread->teb_va = bytes_u64(&r);
        thread->stack_start_va = bytes_u64(&r);
        thread->stack = minidump_location(m, &r, "stack of a thread");
        thread->context = minidump_location(m, &r, "context of a thread");
        if (extended) {
            bytes_skip(&r, 8);
            thread->backing_store = minidump_location(m, &r, "backing store of a thread");
        }
    }
    out->thread_count = count;
}

void minidump_read_threads(struct minidump_reader *m, struct bytes r)
{
    read_thread_list(m, r, false);
}

void minidump_read_threads_ex(struct minidump_reader *m, struct bytes r)
{
    read_thread_list(m, r, true);
}

static struct minidump_thread *thread_of(struct minidump *dump, uint32_t id, uint32_t hint)
{
    if (hint < dump->thread_count && dump->threads[hint].id == id)
        return &dump->threads[hint]; /* writers use the same order as the thread list */
    for (uint32_t i = 0; i < dump->thread_count; i++)
        if (dump->threads[i].id == id)
            return &dump->threads[i];
    return NULL;
}

void minidump_read_thread_names(struct minidump_reader *m, struct bytes r)
{
    uint32_t count = minidump_list_count(m, &r, 12, LIMIT_DUMP_ROWS, "number of thread names");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = bytes_u32(&r);
        uint64_t foff = bytes_u64(&r);
        struct minidump_thread *thread = thread_of(m->out, id, i);
        if (thread == NULL || thread->name != NULL)
            continue;
        const char *name = minidump_string(m, foff, "name of a thread");
        thread->name = name != NULL && name[0] != '\0' ? name : NULL;
    }
}

void minidump_read_thread_infos(struct minidump_reader *m, struct bytes r)
{
    uint32_t entry_bytes;
    uint32_t count =
        minidump_sized_list(m, &r, 64, &entry_bytes, LIMIT_DUMP_ROWS, "thread information");
    for (uint32_t i = 0; i < count; i++) {
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        struct minidump_thread *thread = thread_of(m->out, bytes_u32(&entry), i);
        if (thread == NULL)
            continue;
        thread->has_info = true;
        thread->dump_flags = bytes_u32(&entry);
        thread->dump_error = bytes_u32(&entry);
        thread->exit_status = bytes_u32(&entry);
        thread->create_time = bytes_u64(&entry);
        thread->exit_time = bytes_u64(&entry);
        thread->kernel_time = bytes_u64(&entry);
        thread->user_time = bytes_u64(&entry);
        thread->start_va = bytes_u64(&entry);
        thread->affinity = bytes_u64(&entry);
    }
}

const struct minidump_thread *minidump_thread_find(const struct minidump *dump, uint32_t id)
{
    for (uint32_t i = 0; i < dump->thread_count; i++)
        if (dump->threads[i].id == id)
            return &dump->threads[i];
    return NULL;
}

uint32_t minidump_suspect(const struct minidump *dump, const char **why)
{
    *why = "exception stream";
    if (dump->exception.present && dump->exception.thread_id != 0)
        return dump->exception.thread_id;
    *why = "user stream";
    if (dump->user != NULL && dump->user->suspect_id != 0)
        return dump->user->suspect_id;
    *why = "Breakpad's requesting thread";
    if (dump->breakpad.present && (dump->breakpad.validity & 2) != 0 &&
        minidump_thread_find(dump, dump->breakpad.requesting_thread_id) != NULL)
        return dump->breakpad.requesting_thread_id;
    *why = "first thread";
    return dump->thread_count > 0 ? dump->threads[0].id : 0;
}
