/* The session; see fetch.h. */
#include "fetch/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/process.h"
#include "fetch/fetch_cache.h"

enum { PARALLEL_MAX = 64 };

enum status fetch_open(const struct fetch_options *options, struct fetch **out, struct fault *fault)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);

    *out = NULL;
    if (fetch == NULL || (fetch->mutex = mutex_new()) == NULL) {
        free(fetch);
        return fault_no_memory(fault, "symbol servers");
    }
    arena_init(&fetch->arena, 0);
    fetch->options = *options;
    fetch->options.cache = arena_string(&fetch->arena, options->cache);
    struct fetch_options *o = &fetch->options;
    o->parallel = o->parallel == 0 ? FETCH_PARALLEL : o->parallel;
    o->parallel = o->parallel > PARALLEL_MAX ? PARALLEL_MAX : o->parallel;
    o->limit_ms = o->limit_ms == 0 ? FETCH_LIMIT_MS : o->limit_ms;
    o->missing_ms = o->missing_ms == 0 ? FETCH_MISSING_MS : o->missing_ms;
    o->limit_bytes = o->limit_bytes == 0 ? FETCH_LIMIT_BYTES : o->limit_bytes;
    *out = fetch;
    return ERR_NONE;
}

void fetch_close(struct fetch *fetch)
{
    if (fetch == NULL)
        return;
    for (uint32_t i = 0; i < fetch->idle_count; i++)
        transfer_close(fetch->idle[i]);
    mutex_free(fetch->mutex);
    arena_free(&fetch->arena);
    free(fetch);
}

enum status fetch_add(struct fetch *fetch, const struct symbol_path_element *element,
                      const char **cache, struct fault *fault)
{
    *cache = NULL;
    if (element->url_count == 0)
        return ERR_NONE;
    if (fetch->chain_count == FETCH_CHAINS_MAX)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "chains of symbol servers");
    const char *folder = element->cache != NULL ? element->cache : fetch->options.cache;
    if (folder == NULL)
        return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol servers",
                              "there is no cache folder: name one, srv*FOLDER*URL");
    if (transfer_library(fault) != ERR_NONE || fetch_cache_make(folder, fault) != ERR_NONE)
        return fault->code;
    struct fetch_chain *chain = &fetch->chains[fetch->chain_count];
    chain->cache = arena_string(&fetch->arena, folder);
    for (uint32_t i = 0; i < element->url_count; i++) {
        struct fetch_server *server = &chain->servers[chain->server_count++];
        server->url = arena_string(&fetch->arena, element->urls[i]);
        server->debuginfod = element->debuginfod;
        if (server->url == NULL || chain->cache == NULL)
            return fault_no_memory(fault, "symbol servers");
    }
    fetch->chain_count++;
    *cache = chain->cache;
    return ERR_NONE;
}

bool fetch_has_servers(const struct fetch *fetch)
{
    return fetch != NULL && fetch->chain_count > 0;
}

static bool is_part(const char *text)
{
    if (text[0] == '\0' || text[0] == '.' || strlen(text) > 200)
        return false;
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || strchr("/\\:*?\"<>|\x7f", *text) != NULL)
            return false;
    return true;
}

bool fetch_key_set(char out[FETCH_KEY_BYTES], const char *name, const char *id, const char *file)
{
    const int length = snprintf(out, FETCH_KEY_BYTES, "%s/%s/%s", name, id, file);
    return is_part(name) && is_part(id) && is_part(file) && length > 0 && length < FETCH_KEY_BYTES;
}

static void fetch_tell(struct fetch *fetch, const struct fetch_event *event)
{
    if (fetch->options.event == NULL)
        return;
    mutex_lock(fetch->mutex);
    fetch->options.event(fetch->options.context, event);
    mutex_unlock(fetch->mutex);
}

/* Looks into the caches of all chains. */
static bool find_cached(struct fetch_task *task)
{
    struct fetch *fetch = task->fetch;
    struct fetch_file *file = task->file;

    for (uint32_t i = 0; i < fetch->chain_count; i++) {
        char path[FETCH_PATH_BYTES];
        if (!fetch_cache_path(path, fetch->chains[i].cache, file->place) || !path_is_file(path) ||
            !fetch_check(task, fetch->chains[i].cache, path, path))
            continue;
        file->result = FETCH_CACHED;
        (void)snprintf(file->path, sizeof file->path, "%s", path);
        return true;
    }
    return false;
}

/* Asks one server, unless another process is already doing so: then its download is used. */
static void ask(struct fetch_task *task, struct fetch_chain *chain, struct fetch_server *server)
{
    struct fault fault = FAULT_INIT;
    struct fetch_file *file = task->file;
    struct file_lock lock;

    if (fetch_is_missing(task->fetch, chain->cache, server->url, file->place) ||
        !server_can_be_asked(task, server))
        return;
    if (fetch_cache_lock(chain->cache, file->place, task->fetch->options.limit_ms, &lock, &fault) !=
        ERR_NONE) {
        file->result = FETCH_REFUSED;
        (void)snprintf(file->text, sizeof file->text, "%.120s: %.80s", chain->cache,
                       fault.code == ERR_TIMEOUT ? "another process is downloading it"
                                                 : "the cache cannot be written");
        return;
    }
    if (!find_cached(task) &&
        !fetch_is_missing(task->fetch, chain->cache, server->url, file->place))
        server_ask(task, chain, server);
    file_lock_release(&lock);
}

static bool is_got(const struct fetch_file *file)
{
    return file->result == FETCH_CACHED || file->result == FETCH_LOADED;
}

static void get_file(struct fetch_task *task)
{
    struct fetch *fetch = task->fetch;
    struct fetch_file *file = task->file;

    if (find_cached(task))
        return;
    if (fetch->options.offline) {
        file->result = file->result == FETCH_WRONG ? FETCH_WRONG : FETCH_OFFLINE;
        return;
    }
    file->result = FETCH_ABSENT;
    file->text[0] = '\0';
    for (uint32_t i = 0; i < fetch->chain_count; i++) {
        struct fetch_chain *chain = &fetch->chains[i];
        for (uint32_t k = 0; k < chain->server_count && !is_got(file); k++)
            if (!process_interrupted())
                ask(task, chain, &chain->servers[k]);
    }
    const struct fetch_event event = {.kind = is_got(file) ? FETCH_EVENT_LOADED : FETCH_EVENT_FAULT,
                                      .name = file->place,
                                      .text = file->text};
    if (file->text[0] != '\0')
        fetch_tell(fetch, &event);
}

static struct transfer *take_transfer(struct fetch *fetch)
{
    struct transfer *transfer = NULL;
    mutex_lock(fetch->mutex);
    if (fetch->idle_count > 0)
        transfer = fetch->idle[--fetch->idle_count];
    fetch->running++;
    mutex_unlock(fetch->mutex);
    return transfer != NULL || fetch->options.offline ? transfer : transfer_open();
}

static void give_transfer(struct fetch *fetch, struct transfer *transfer,
                          const struct fetch_task *task)
{
    mutex_lock(fetch->mutex);
    fetch->running--;
    fetch->done_bytes -= task->done_bytes;
    fetch->total_bytes -= task->total_bytes;
    if (transfer != NULL && fetch->idle_count < COUNT_OF(fetch->idle)) {
        fetch->idle[fetch->idle_count++] = transfer;
        transfer = NULL;
    }
    mutex_unlock(fetch->mutex);
    transfer_close(transfer);
}

struct fetch_queue {
    struct fetch *fetch;
    struct fetch_file *files;
    uint32_t count, next; /* under fetch->mutex */
};

static void work(void *context)
{
    struct fetch_queue *queue = context;
    struct fetch *fetch = queue->fetch;

    for (;;) {
        mutex_lock(fetch->mutex);
        const uint32_t number = queue->next < queue->count ? queue->next++ : UINT32_MAX;
        mutex_unlock(fetch->mutex);
        if (number == UINT32_MAX)
            return;
        struct fetch_file *file = &queue->files[number];
        struct fetch_task task = {
            .fetch = fetch,
            .file = file,
            .end_ns = clock_ns() + (uint64_t)fetch->options.limit_ms * 1000000U,
            .transfer = take_transfer(fetch),
        };
        file->path[0] = file->text[0] = '\0';
        file->result = FETCH_ABSENT;
        if (task.transfer != NULL || fetch->options.offline)
            get_file(&task);
        give_transfer(fetch, task.transfer, &task);
    }
}

void fetch_files(struct fetch *fetch, struct fetch_file *files, uint32_t count)
{
    struct thread *threads[PARALLEL_MAX];
    struct fetch_queue queue = {fetch, files, count, 0};
    uint32_t started = 0;

    while (started + 1 < count && started + 1 < fetch->options.parallel) {
        threads[started] = thread_start(work, &queue);
        if (threads[started] == NULL)
            break;
        started++;
    }
    work(&queue);
    for (uint32_t i = 0; i < started; i++)
        thread_join(threads[i]);
}
