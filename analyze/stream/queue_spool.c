/* A queue as a folder:
 *
 *     DIR/CHANNEL/ready/ID      a message
 *     DIR/CHANNEL/taken/ID      taken; back to ready when it is older than the lease
 *     DIR/CHANNEL/done/ID       an empty file: the id is known and not wanted again
 *     DIR/CHANNEL/tries/ID      a byte per delivery
 *     DIR/notes/NAME, DIR/parts/NAME    an item
 *     DIR/locks/N               held while an item with this hash is added
 *
 * ID is written as queue_file_name() says; other names are files that are being written.
 *
 * A rename has one winner, so any number of processes may share the folder. Ages are compared with
 * the clock of the file system: a jump makes a message come early or late, never twice in the sums,
 * since these know the ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/thread.h"
#include "stream/durable.h"
#include "stream/queue.h"

enum { POLL_MS = 50, PRUNE_EVERY = 4096, LOCKS = 16, LOCK_WAIT_MS = 10000 };

static const char *const parts[] = {"ready", "taken", "done", "tries"};
enum part { READY, TAKEN, DONE, TRIES, PARTS };

struct spool {
    struct queue queue;
    char *folders[QUEUE_CHANNELS][PARTS]; /* in arena */
    char *shelves[QUEUE_SHELVES], *locks; /* in arena */
    struct arena arena;
    uint32_t settled; /* since old ids were removed; not exact among threads */
};

static bool path_in(const char *folder, const char *id, char out[DURABLE_PATH_BYTES])
{
    char name[QUEUE_FILE_BYTES];
    queue_file_name(id, name);
    const int length = snprintf(out, DURABLE_PATH_BYTES, "%s/%s", folder, name);
    return length > 0 && length < DURABLE_PATH_BYTES - 48;
}

static bool path_of(const struct spool *s, enum queue_channel channel, enum part part,
                    const char *id, char out[DURABLE_PATH_BYTES])
{
    return path_in(s->folders[channel][part], id, out);
}

static enum status spool_put(struct queue *queue, enum queue_channel channel, const char *id,
                             const void *data, size_t bytes, struct fault *fault)
{
    struct spool *s = (struct spool *)queue;
    char path[DURABLE_PATH_BYTES];
    for (int part = READY; part <= DONE; part++) {
        if (!path_of(s, channel, (enum part)part, id, path))
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of a message");
        if (path_is_file(path))
            return ERR_NONE;
    }
    (void)path_of(s, channel, READY, id, path);
    return durable_write(path, data, bytes, fault);
}

/* Messages whose taker has not settled them in time become ready again. */
static void return_expired(struct spool *s, enum queue_channel channel)
{
    struct arena work;
    struct fault fault = FAULT_INIT;
    const char **names = NULL;
    size_t count = 0;
    arena_init(&work, 0);
    (void)folder_list(s->folders[channel][TAKEN], &work, &names, &count, &fault);
    for (size_t i = 0; fault.code == ERR_NONE && i < count; i++) {
        char from[DURABLE_PATH_BYTES], to[DURABLE_PATH_BYTES], id[QUEUE_ID_BYTES];
        struct fault ignored = FAULT_INIT;
        if (queue_file_id(names[i], id) && path_of(s, channel, TAKEN, id, from) &&
            path_of(s, channel, READY, id, to) &&
            durable_age_ns(from) > (uint64_t)QUEUE_LEASE_MS * 1000000U)
            (void)path_rename(from, to, &ignored);
    }
    arena_free(&work);
}

static uint32_t count_try(struct spool *s, enum queue_channel channel, const char *id)
{
    char path[DURABLE_PATH_BYTES];
    FILE *tries = path_of(s, channel, TRIES, id, path) ? file_open(path, "ab") : NULL;
    if (tries == NULL)
        return 1;
    (void)fputc('.', tries);
    (void)fclose(tries);
    const uint64_t count = path_bytes(path);
    return count > 0 ? (uint32_t)count : 1; /* there was no room for this one */
}

/* Takes one message; false: another process was faster. */
static bool take_one(struct spool *s, enum queue_channel channel, const char *id,
                     struct arena *keep, struct queue_message *out, struct fault *fault)
{
    char from[DURABLE_PATH_BYTES], to[DURABLE_PATH_BYTES];
    struct fault ignored = FAULT_INIT;
    char *data = NULL;
    if (!path_of(s, channel, READY, id, from) || !path_of(s, channel, TAKEN, id, to))
        return false;
    path_touch(from); /* the lease starts with the time of the file */
    if (path_rename(from, to, &ignored) != ERR_NONE)
        return false;
    if (file_read(to, (size_t)QUEUE_MESSAGE_BYTES * 2, keep, &data, &out->bytes, fault) !=
        ERR_NONE) {
        if (fault->code == ERR_ABSENT) /* who had it before has settled it after its lease */
            fault_clear(fault);
        return false;
    }
    out->data = data;
    out->id = arena_string(keep, id);
    out->delivered = count_try(s, channel, id);
    return out->id != NULL;
}

static enum status spool_take(struct queue *queue, enum queue_channel channel, uint32_t most,
                              uint32_t wait_ms, struct arena *keep, struct queue_message **out,
                              uint32_t *count, struct fault *fault)
{
    struct spool *s = (struct spool *)queue;
    const uint64_t end_ns = clock_ns() + (uint64_t)wait_ms * 1000000U;
    struct queue_message *messages = ARENA_ARRAY(keep, most, struct queue_message);
    *out = messages;
    *count = 0;
    if (messages == NULL)
        return fault_no_memory(fault, "messages");
    for (;;) {
        const char **names = NULL;
        size_t found = 0;
        return_expired(s, channel);
        if (folder_list(s->folders[channel][READY], keep, &names, &found, fault) != ERR_NONE)
            return fault->code;
        for (size_t i = 0; i < found && *count < most && fault->code == ERR_NONE; i++) {
            char id[QUEUE_ID_BYTES];
            if (queue_file_id(names[i], id) &&
                take_one(s, channel, id, keep, &messages[*count], fault))
                (*count)++;
        }
        if (*count > 0 || fault->code != ERR_NONE || clock_ns() >= end_ns)
            return fault->code;
        thread_sleep_ms(POLL_MS);
    }
}

static bool is_older(const char *name, const char *path, const void *context)
{
    const uint64_t *age_s = context;
    (void)name;
    return durable_age_ns(path) > *age_s * 1000000000U;
}

static void remove_old(const char *folder, uint64_t age_s)
{
    durable_remove(folder, is_older, &age_s);
}

/* Old ids and items are not remembered forever. */
static void prune(struct spool *s)
{
    for (int c = 0; c < QUEUE_CHANNELS; c++) {
        remove_old(s->folders[c][DONE], QUEUE_REMEMBER_S);
        remove_old(s->folders[c][TRIES], QUEUE_KEEP_S);
    }
    remove_old(s->shelves[QUEUE_NOTES], QUEUE_NOTES_S);
    remove_old(s->shelves[QUEUE_PARTS], QUEUE_KEEP_S);
    remove_old(s->folders[QUEUE_SHADOW][READY], QUEUE_KEEP_S);
}

static enum status spool_settle(struct queue *queue, enum queue_channel channel,
                                struct queue_message *message, enum queue_end end,
                                struct fault *fault)
{
    struct spool *s = (struct spool *)queue;
    char taken[DURABLE_PATH_BYTES], to[DURABLE_PATH_BYTES], tries[DURABLE_PATH_BYTES];
    struct fault ignored = FAULT_INIT;
    if (!path_of(s, channel, TAKEN, message->id, taken) ||
        !path_of(s, channel, end == QUEUE_DONE ? DONE : READY, message->id, to) ||
        !path_of(s, channel, TRIES, message->id, tries))
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of a message");
    if (end == QUEUE_LATER)
        return ERR_NONE;
    if (end == QUEUE_AGAIN)
        return path_rename(taken, to, &ignored); /* gone: its lease was over */
    if (durable_write(to, NULL, 0, fault) != ERR_NONE)
        return fault->code;
    (void)path_remove(taken, &ignored);
    (void)path_remove(tries, &ignored);
    /* a lease that was over has made it ready again */
    if (path_of(s, channel, READY, message->id, taken))
        (void)path_remove(taken, &ignored);
    if (++s->settled % PRUNE_EVERY == 0)
        prune(s);
    return ERR_NONE;
}

static void spool_renew(struct queue *queue, enum queue_channel channel,
                        struct queue_message *message)
{
    char taken[DURABLE_PATH_BYTES];
    if (path_of((struct spool *)queue, channel, TAKEN, message->id, taken))
        path_touch(taken);
}

static bool spool_oldest(struct queue *queue, enum queue_channel channel, uint64_t *stored_ns)
{
    struct spool *s = (struct spool *)queue;
    struct arena work;
    struct fault fault = FAULT_INIT;
    const char **names = NULL;
    size_t count = 0;
    *stored_ns = UINT64_MAX;
    arena_init(&work, 0);
    (void)folder_list(s->folders[channel][READY], &work, &names, &count, &fault);
    for (size_t i = 0; fault.code == ERR_NONE && i < count; i++) {
        const char *path = path_join(&work, s->folders[channel][READY], names[i]);
        uint64_t bytes = 0, changed_ns = 0;
        if (path != NULL && !durable_is_temporary(names[i]) &&
            path_stat(path, &bytes, &changed_ns) && changed_ns < *stored_ns)
            *stored_ns = changed_ns;
    }
    arena_free(&work);
    return *stored_ns != UINT64_MAX;
}

static bool spool_pending(struct queue *queue, enum queue_channel channel, uint64_t *out)
{
    struct spool *s = (struct spool *)queue;
    *out = 0;
    for (int part = READY; part <= TAKEN; part++) {
        struct arena work;
        struct fault fault = FAULT_INIT;
        const char **names = NULL;
        size_t count = 0;
        arena_init(&work, 0);
        (void)folder_list(s->folders[channel][part], &work, &names, &count, &fault);
        for (size_t i = 0; fault.code == ERR_NONE && i < count; i++)
            *out += !durable_is_temporary(names[i]);
        arena_free(&work);
        if (fault.code != ERR_NONE)
            return false;
    }
    return true;
}

/* ---- items ------------------------------------------------------------------------------ */

static enum status read_item(const char *path, struct arena *keep, struct queue_item *out,
                             struct fault *fault)
{
    char *data = NULL;
    if (file_read(path, (size_t)QUEUE_MESSAGE_BYTES, keep, &data, &out->bytes, fault) == ERR_NONE)
        out->data = data;
    return fault->code;
}

static enum status spool_item_add(struct queue *queue, enum queue_shelf shelf, const char *name,
                                  const void *data, size_t bytes, struct arena *keep,
                                  struct queue_item *have, struct fault *fault)
{
    struct spool *s = (struct spool *)queue;
    struct file_lock lock;
    char path[DURABLE_PATH_BYTES], number[8];
    (void)snprintf(number, sizeof number, "%u",
                   (unsigned)(hash_fold(hash_text(HASH_START, name)) % LOCKS));
    const char *lock_path = path_join(keep, s->locks, number);
    if (lock_path == NULL || !path_in(s->shelves[shelf], name, path))
        return fault_no_memory(fault, "item of a queue");
    if (file_lock_take(lock_path, LOCK_WAIT_MS, &lock, fault) != ERR_NONE)
        return fault->code;
    if (!path_is_file(path))
        (void)durable_write(path, data, bytes, fault);
    if (fault->code == ERR_NONE)
        (void)read_item(path, keep, have, fault);
    file_lock_release(&lock);
    return fault->code;
}

static enum status spool_item_set(struct queue *queue, enum queue_shelf shelf, const char *name,
                                  const void *data, size_t bytes, struct fault *fault)
{
    struct spool *s = (struct spool *)queue;
    char path[DURABLE_PATH_BYTES];
    if (!path_in(s->shelves[shelf], name, path))
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of an item");
    return data == NULL ? path_remove(path, fault) : durable_write(path, data, bytes, fault);
}

static enum status spool_item_get(struct queue *queue, enum queue_shelf shelf, const char *name,
                                  struct arena *keep, struct queue_item *out, struct fault *fault)
{
    struct spool *s = (struct spool *)queue;
    char path[DURABLE_PATH_BYTES];
    if (!path_in(s->shelves[shelf], name, path))
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of an item");
    return read_item(path, keep, out, fault);
}

/* ---- opening ---------------------------------------------------------------------------- */

/* A message whose file has no name of today would never be taken. Other files are left alone. */
static bool has_old_name(const char *folder)
{
    struct fault ignored = FAULT_INIT;
    struct arena work;
    const char **names = NULL;
    size_t count = 0;
    bool has = false;
    arena_init(&work, 0);
    (void)folder_list(folder, &work, &names, &count, &ignored);
    for (size_t i = 0; i < count && !has; i++) {
        char id[QUEUE_ID_BYTES];
        has = queue_id_is_valid(names[i]) && !queue_file_id(names[i], id);
    }
    arena_free(&work);
    return has;
}

/* Makes a folder of the queue, or tidies up what an earlier process left in it. NULL: see FAULT. */
static char *open_folder(struct spool *s, const char *folder, const char *name, struct fault *fault)
{
    char *path = arena_printf(&s->arena, "%s/%s", folder, name);
    if (path == NULL)
        (void)fault_no_memory(fault, "queue");
    else if (folder_make(path, fault) == ERR_NONE)
        durable_sweep(path);
    return path;
}

/* Shows one message; VISIT may have it removed. Another process may take it at the same time. */
static void visit_one(struct spool *s, enum queue_channel channel, const char *id,
                      queue_visit_fn *visit, void *context)
{
    struct queue_message message = {.id = id};
    struct fault ignored = FAULT_INIT;
    struct arena work;
    char path[DURABLE_PATH_BYTES];
    char *data = NULL;
    uint64_t bytes = 0, stored_ns = 0;
    arena_init(&work, 0);
    if (path_of(s, channel, READY, id, path) && path_stat(path, &bytes, &stored_ns) &&
        file_read(path, (size_t)QUEUE_MESSAGE_BYTES * 2, &work, &data, &message.bytes, &ignored) ==
            ERR_NONE) {
        message.data = data;
        if (visit(context, &message, stored_ns))
            (void)path_remove(path, &ignored);
    }
    arena_free(&work);
}

static enum status spool_visit(struct queue *queue, enum queue_channel channel,
                               queue_visit_fn *visit, void *context, struct fault *fault)
{
    struct spool *s = (struct spool *)queue;
    struct arena work;
    const char **names = NULL;
    size_t count = 0;
    arena_init(&work, 0);
    (void)folder_list(s->folders[channel][READY], &work, &names, &count, fault);
    for (size_t i = 0; fault->code == ERR_NONE && i < count; i++) {
        char id[QUEUE_ID_BYTES];
        if (queue_file_id(names[i], id))
            visit_one(s, channel, id, visit, context);
    }
    arena_free(&work);
    return fault->code;
}

static void spool_close(struct queue *queue)
{
    struct spool *s = (struct spool *)queue;
    arena_free(&s->arena);
    free(s);
}

enum status queue_open_spool(const char *folder, struct queue **out, struct fault *fault)
{
    static const struct transport functions = {.put = spool_put,
                                               .take = spool_take,
                                               .settle = spool_settle,
                                               .renew = spool_renew,
                                               .item_add = spool_item_add,
                                               .item_set = spool_item_set,
                                               .item_get = spool_item_get};
    static const char *const shelves[QUEUE_SHELVES] = {"notes", "parts"};
    struct spool *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fault_no_memory(fault, "queue");
    s->queue =
        (struct queue){&functions, NULL, spool_close, spool_pending, spool_oldest, spool_visit};
    arena_init(&s->arena, 0);
    for (int c = 0; c < QUEUE_CHANNELS; c++)
        for (int part = 0; part < PARTS; part++) {
            char name[32];
            (void)snprintf(name, sizeof name, "%s/%s", queue_channel_name((enum queue_channel)c),
                           parts[part]);
            s->folders[c][part] = open_folder(s, folder, name, fault);
            if (fault->code == ERR_NONE && has_old_name(s->folders[c][part]))
                (void)fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "queue",
                                     "an unreleased version wrote its messages: name a new folder");
        }
    for (int i = 0; i < QUEUE_SHELVES; i++)
        s->shelves[i] = open_folder(s, folder, shelves[i], fault);
    s->locks = open_folder(s, folder, "locks", fault);
    if (fault->code != ERR_NONE) {
        spool_close(&s->queue);
        return fault->code;
    }
    prune(s); /* workers that end soon settle too few to do it */
    *out = &s->queue;
    return ERR_NONE;
}
