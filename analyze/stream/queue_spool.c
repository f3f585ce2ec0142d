/* A queue as a folder:
 *
 *     DIR/CHANNEL/ready/ID      a message
 *     DIR/CHANNEL/taken/ID      taken; back to ready when it is older than the lease
 *     DIR/CHANNEL/done/ID       an empty file: the id is known and not wanted again
 *     DIR/CHANNEL/tries/ID      a byte per delivery
 *
 * A rename has one winner, so any number of processes may share the folder. Ages are compared with
 * the clock of the file system: a jump makes a message come early or late, never twice in the sums,
 * since these know the ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/thread.h"
#include "stream/durable.h"
#include "stream/queue.h"

enum { POLL_MS = 50, PRUNE_EVERY = 4096 };

static const char *const parts[] = {"ready", "taken", "done", "tries"};
enum part { READY, TAKEN, DONE, TRIES, PARTS };

struct spool {
    struct queue queue;
    char *folders[QUEUE_CHANNELS][PARTS]; /* in arena */
    struct arena arena;
    uint32_t settled; /* since old ids were removed; not exact among threads */
};

static bool path_of(const struct spool *s, enum queue_channel channel, enum part part,
                    const char *id, char out[DURABLE_PATH_BYTES])
{
    const int length = snprintf(out, DURABLE_PATH_BYTES, "%s/%s", s->folders[channel][part], id);
    return length > 0 && length < DURABLE_PATH_BYTES - 32;
}

static uint64_t age_ns(const char *path)
{
    uint64_t bytes = 0, modified_ns = 0;
    const uint64_t now_ns = clock_wall_ns();
    if (!path_stat(path, &bytes, &modified_ns))
        return 0;
    return now_ns > modified_ns ? now_ns - modified_ns : 0;
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
        char from[DURABLE_PATH_BYTES], to[DURABLE_PATH_BYTES];
        struct fault ignored = FAULT_INIT;
        if (path_of(s, channel, TAKEN, names[i], from) &&
            path_of(s, channel, READY, names[i], to) &&
            age_ns(from) > (uint64_t)QUEUE_LEASE_MS * 1000000U)
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
    return (uint32_t)path_bytes(path);
}

/* Takes one message by its name; false: another process was faster. */
static bool take_one(struct spool *s, enum queue_channel channel, const char *id,
                     struct arena *keep, struct queue_message *out, struct fault *fault)
{
    char from[DURABLE_PATH_BYTES], to[DURABLE_PATH_BYTES];
    struct fault ignored = FAULT_INIT;
    char *data = NULL;
    if (!queue_id_is_valid(id) || !path_of(s, channel, READY, id, from) ||
        !path_of(s, channel, TAKEN, id, to))
        return false;
    path_touch(from); /* the lease starts with the time of the file */
    if (path_rename(from, to, &ignored) != ERR_NONE)
        return false;
    if (file_read(to, (size_t)QUEUE_MESSAGE_BYTES * 2, keep, &data, &out->bytes, fault) != ERR_NONE)
        return false;
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
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "messages");
    for (;;) {
        const char **names = NULL;
        size_t found = 0;
        return_expired(s, channel);
        if (folder_list(s->folders[channel][READY], keep, &names, &found, fault) != ERR_NONE)
            return fault->code;
        for (size_t i = 0; i < found && *count < most && fault->code == ERR_NONE; i++)
            if (strstr(names[i], ".tmp") == NULL &&
                take_one(s, channel, names[i], keep, &messages[*count], fault))
                (*count)++;
        if (*count > 0 || fault->code != ERR_NONE || clock_ns() >= end_ns)
            return fault->code;
        thread_sleep_ms(POLL_MS);
    }
}

/* Old ids are not remembered forever. */
static void prune(struct spool *s, enum queue_channel channel)
{
    struct arena work;
    struct fault fault = FAULT_INIT;
    const char **names = NULL;
    size_t count = 0;
    arena_init(&work, 0);
    (void)folder_list(s->folders[channel][DONE], &work, &names, &count, &fault);
    for (size_t i = 0; fault.code == ERR_NONE && i < count; i++) {
        char path[DURABLE_PATH_BYTES];
        struct fault ignored = FAULT_INIT;
        if (path_of(s, channel, DONE, names[i], path) &&
            age_ns(path) > (uint64_t)QUEUE_REMEMBER_S * 1000000000U)
            (void)path_remove(path, &ignored);
    }
    arena_free(&work);
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
        prune(s, channel);
    return ERR_NONE;
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
        arena_free(&work);
        if (fault.code != ERR_NONE)
            return false;
        *out += count;
    }
    return true;
}

static void spool_close(struct queue *queue)
{
    struct spool *s = (struct spool *)queue;
    arena_free(&s->arena);
    free(s);
}

enum status queue_open_spool(const char *folder, struct queue **out, struct fault *fault)
{
    static const struct transport functions = {spool_put, spool_take, spool_settle};
    struct spool *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "queue");
    s->queue = (struct queue){&functions, spool_close, spool_pending};
    arena_init(&s->arena, 0);
    for (int c = 0; c < QUEUE_CHANNELS; c++)
        for (int part = 0; part < PARTS; part++) {
            char *path = arena_printf(&s->arena, "%s/%s/%s", folder,
                                      queue_channel_name((enum queue_channel)c), parts[part]);
            s->folders[c][part] = path;
            if (path == NULL)
                (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "queue");
            else
                (void)folder_make(path, fault);
        }
    if (fault->code != ERR_NONE) {
        spool_close(&s->queue);
        return fault->code;
    }
    *out = &s->queue;
    return ERR_NONE;
}
