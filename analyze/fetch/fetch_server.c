/* One file asked of one server; see fetch.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/process.h"
#include "fetch/fetch_cache.h"

enum {
    BACKOFF_MS = 200,  /* before the second attempt; doubled before each further one */
    ROUNDS_MAX = 1000, /* attempts at one file, including those that gave some bytes  */
};

/* Appends TEXT as a URL's path spells it. */
static bool append_escaped(char *out, size_t room, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] = "/-._~!$'()*,;:@&=";
    size_t n = strlen(out);

    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool letter = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (n + 4 > room)
            return false;
        if (letter || strchr(plain, c) != NULL) {
            out[n++] = (char)c;
        } else {
            out[n++] = '%';
            out[n++] = digits[c >> 4];
            out[n++] = digits[c & 15];
        }
        out[n] = '\0';
    }
    return true;
}

static bool make_url(char out[FETCH_URL_BYTES], const struct fetch_server *server, const char *key)
{
    const int length = snprintf(out, FETCH_URL_BYTES, "%s/", server->url);
    return length > 0 && length < FETCH_URL_BYTES && append_escaped(out, FETCH_URL_BYTES, key);
}

/* A download under way: what on_begin() and on_progress() need. */
struct download {
    struct fetch_task *task;
    const struct fetch_part *part;
    const char *url;
};

static void on_begin(void *context, const char *validator)
{
    const struct download *d = context;
    fetch_part_begin(d->part, d->url, validator);
}

static void on_progress(void *context, uint64_t bytes, uint64_t total)
{
    enum { REPORT_NS = 100000000 };
    const struct download *d = context;
    struct fetch_task *task = d->task;
    struct fetch *fetch = task->fetch;
    const uint64_t now = clock_ns();

    mutex_lock(fetch->mutex);
    fetch->done_bytes += bytes - task->done_bytes; /* wraps around where it shrinks */
    fetch->total_bytes += total - task->total_bytes;
    task->done_bytes = bytes;
    task->total_bytes = total;
    if (now - fetch->reported_ns >= REPORT_NS && fetch->options.event != NULL) {
        const struct fetch_event event = {FETCH_EVENT_PROGRESS, task->file->place,  NULL,
                                          fetch->done_bytes,    fetch->total_bytes, fetch->running};
        fetch->reported_ns = now;
        fetch->options.event(fetch->options.context, &event);
    }
    mutex_unlock(fetch->mutex);
}

bool server_can_be_asked(struct fetch_task *task, const struct fetch_server *server)
{
    struct fetch_file *file = task->file;
    bool has_key = false;
    for (uint32_t i = 0; i < file->key_count; i++)
        has_key = has_key || (file->keys[i].form == FETCH_DEBUGINFOD) == server->debuginfod;
    mutex_lock(task->fetch->mutex);
    const bool down = server->down;
    mutex_unlock(task->fetch->mutex);
    if (has_key && down && file->result == FETCH_ABSENT)
        file->result = FETCH_UNREACHABLE;
    return has_key && !down;
}

static void set_down(struct fetch *fetch, struct fetch_server *server)
{
    mutex_lock(fetch->mutex);
    server->down = true;
    mutex_unlock(fetch->mutex);
}

static enum server_layout layout_of(struct fetch *fetch, const struct fetch_server *server)
{
    mutex_lock(fetch->mutex);
    const enum server_layout layout = server->layout;
    mutex_unlock(fetch->mutex);
    return layout;
}

static void set_layout(struct fetch *fetch, struct fetch_server *server, enum server_layout layout)
{
    mutex_lock(fetch->mutex);
    server->layout = layout;
    mutex_unlock(fetch->mutex);
}

static uint32_t left_ms(const struct fetch_task *task)
{
    const uint64_t now = clock_ns();
    return now < task->end_ns ? (uint32_t)((task->end_ns - now) / 1000000) + 1 : 0;
}

/* Sleeps, but ends at once when the user interrupts. */
static void pause_ms(uint32_t ms)
{
    for (uint32_t done = 0; done < ms && !process_interrupted(); done += 50)
        thread_sleep_ms(ms - done < 50 ? ms - done : 50);
}

/* Downloads URL to PART, with retries. The text of a failure is in *ANSWER. */
static void download(struct fetch_task *task, const char *url, struct fetch_part *part,
                     struct transfer_answer *answer)
{
    const struct fetch_options *options = &task->fetch->options;
    struct download context = {task, part, url};
    uint64_t most_bytes = part->bytes;
    uint32_t backoff_ms = BACKOFF_MS + (uint32_t)(clock_ns() % 100);

    for (uint32_t attempt = 0, round = 0; round < ROUNDS_MAX; round++) {
        const uint32_t limit_ms = left_ms(task);
        const struct transfer_request request = {
            .url = url,
            .part = part->path,
            .have_bytes = part->validator[0] != '\0' ? part->bytes : 0,
            .validator = part->validator,
            .limit_bytes = options->limit_bytes,
            .limit_ms = limit_ms,
            .stall_ms = FETCH_STALL_MS,
            .progress = on_progress,
            .begins = on_begin,
            .context = &context,
        };
        if (limit_ms == 0) {
            answer->outcome = TRANSFER_AGAIN;
            (void)snprintf(answer->text, sizeof answer->text,
                           "no whole answer within the time limit");
            return;
        }
        transfer_get(task->transfer, &request, answer);
        (void)snprintf(part->validator, sizeof part->validator, "%s", answer->validator);
        part->bytes = answer->part_bytes;
        if (answer->outcome != TRANSFER_AGAIN)
            return;
        if (part->validator[0] != '\0' && part->bytes > most_bytes) {
            most_bytes = part->bytes;
            attempt = 0;
            backoff_ms = BACKOFF_MS;
        } else if (++attempt == FETCH_ATTEMPTS_MAX) {
            return;
        }
        const uint32_t wait_ms = answer->wait_ms > backoff_ms ? answer->wait_ms : backoff_ms;
        if (wait_ms >= left_ms(task) || process_interrupted())
            return;
        pause_ms(wait_ms);
        backoff_ms *= 2;
    }
}

/* The outcome for one key. */
enum answer { ANSWER_GOT, ANSWER_ABSENT, ANSWER_END };

static void set_result(struct fetch_task *task, enum fetch_result result, const char *url,
                       const char *text)
{
    task->file->result = result;
    (void)snprintf(task->file->text, sizeof task->file->text, "%.160s: %.80s", url, text);
}

static enum answer refuse(struct fetch_task *task, struct fetch_server *server, const char *url,
                          const struct transfer_answer *answer)
{
    switch (answer->outcome) {
    case TRANSFER_ABSENT:
        return ANSWER_ABSENT;
    case TRANSFER_AGAIN:
        set_down(task->fetch, server);
        set_result(task, FETCH_UNREACHABLE, url, answer->text);
        break;
    case TRANSFER_INTERRUPTED:
        set_result(task, FETCH_UNREACHABLE, url, "interrupted");
        break;
    default:
        set_result(task, FETCH_REFUSED, url, answer->text);
        break;
    }
    return ANSWER_END;
}

/* Downloads KEY into its place in the cache. POINTED: the target of a file.ptr that may be
 * followed. */
static enum answer get_key(struct fetch_task *task, const struct fetch_chain *chain,
                           struct fetch_server *server, const char *key, char *pointed);

/* The key that the text of a file.ptr leads to: relative to its folder, or below the server's own
 * address. False: it leads elsewhere; this program opens no other path that a server names. */
static bool follow(const struct fetch_server *server, const char *key, const char *target,
                   char out[FETCH_KEY_BYTES])
{
    const size_t url_bytes = strlen(server->url);
    const char *end = strrchr(key, '/');
    size_t n = end != NULL ? (size_t)(end - key) : 0;

    if (strncmp(target, server->url, url_bytes) == 0 && target[url_bytes] == '/') {
        target += url_bytes + 1;
        n = 0;
    }
    if (strpbrk(target, "\\:?#") != NULL || target[0] == '/' || n >= FETCH_KEY_BYTES)
        return false;
    memcpy(out, key, n);
    out[n] = '\0';
    while (*target != '\0') {
        const size_t bytes = strcspn(target, "/");
        if (bytes == 2 && memcmp(target, "..", 2) == 0) {
            char *slash = strrchr(out, '/');
            if (out[0] == '\0')
                return false;
            *(slash != NULL ? slash : out) = '\0';
        } else if (bytes > 0 && !(bytes == 1 && target[0] == '.')) {
            n = strlen(out);
            if (n + bytes + 2 > FETCH_KEY_BYTES)
                return false;
            (void)snprintf(out + n, FETCH_KEY_BYTES - n, "%s%.*s", n > 0 ? "/" : "", (int)bytes,
                           target);
        }
        target += bytes + (target[bytes] == '/');
    }
    return out[0] != '\0';
}

static enum answer read_pointer(struct fetch_task *task, const struct fetch_chain *chain,
                                struct fetch_server *server, const char *key, const char *url,
                                const struct fetch_part *part)
{
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    char target[FETCH_KEY_BYTES], *text = NULL;
    size_t bytes = 0;
    enum answer answer = ANSWER_END;

    arena_init(&scratch, 0);
    (void)file_read(part->path, LIMIT_POINTER_BYTES, &scratch, &text, &bytes, &fault);
    fetch_part_drop(part);
    if (text != NULL)
        text[strcspn(text, "\r\n")] = '\0';
    if (text != NULL && strncmp(text, "MSG:", 4) == 0)
        set_result(task, FETCH_REFUSED, url, text + 4);
    else if (text != NULL && strncmp(text, "PATH:", 5) == 0 &&
             follow(server, key, text + 5, target))
        answer = get_key(task, chain, server, target, NULL);
    else
        set_result(task, FETCH_REFUSED, url, "it leads to a place outside of the server");
    arena_free(&scratch);
    return answer;
}

static enum answer take_part(struct fetch_task *task, const struct fetch_chain *chain,
                             const char *url, struct fetch_part *part)
{
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    char path[FETCH_PATH_BYTES];

    if (!fetch_check(task, chain->cache, part->path, url)) {
        fetch_part_drop(part);
        return ANSWER_END;
    }
    arena_init(&scratch, 0);
    if (fetch_cache_path(path, chain->cache, task->file->place)) {
        char *folder = arena_string(&scratch, path);
        if (folder != NULL)
            *strrchr(folder, '/') = '\0';
        if (folder != NULL && folder_make(folder, &fault) == ERR_NONE)
            (void)file_move(part->path, path, &fault);
    } else {
        fault_set(&fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of the cache");
    }
    arena_free(&scratch);
    fetch_part_drop(part);
    if (fault.code != ERR_NONE) {
        set_result(task, FETCH_REFUSED, path, fault.hint != NULL ? fault.hint : fault.what);
        return ANSWER_END;
    }
    task->file->result = FETCH_LOADED;
    (void)snprintf(task->file->path, sizeof task->file->path, "%s", path);
    (void)snprintf(task->file->text, sizeof task->file->text, "%" PRIu64 " bytes from %.200s",
                   path_bytes(path), url);
    return ANSWER_GOT;
}

static enum answer get_key(struct fetch_task *task, const struct fetch_chain *chain,
                           struct fetch_server *server, const char *key, char *pointer)
{
    struct transfer_answer answer = {0};
    struct fetch_part part;
    char url[FETCH_URL_BYTES];

    if (!make_url(url, server, key) || !fetch_part_find(chain->cache, url, &part))
        return ANSWER_ABSENT;
    download(task, url, &part, &answer);
    if (answer.outcome != TRANSFER_DONE) {
        if (answer.outcome != TRANSFER_AGAIN && answer.outcome != TRANSFER_INTERRUPTED)
            fetch_part_drop(&part);
        return refuse(task, server, url, &answer);
    }
    if (pointer != NULL)
        return read_pointer(task, chain, server, key, url, &part);
    return take_part(task, chain, url, &part);
}

/* Whether the server keeps app.pdb below "ap/": it then has a file index2.txt. Where that is not
 * known, the file may be there. */
static enum answer ask_layout(struct fetch_task *task, const struct fetch_chain *chain,
                              struct fetch_server *server)
{
    struct transfer_answer answer = {0};
    struct fetch_part part;
    char url[FETCH_URL_BYTES];

    const enum server_layout known = layout_of(task->fetch, server);
    if (known != LAYOUT_UNKNOWN)
        return known == LAYOUT_TWO_TIER ? ANSWER_GOT : ANSWER_ABSENT;
    if (fetch_is_missing(task->fetch, chain->cache, server->url, "index2.txt") ||
        !make_url(url, server, "index2.txt") || !fetch_part_find(chain->cache, url, &part)) {
        set_layout(task->fetch, server, LAYOUT_FLAT);
        return ANSWER_ABSENT;
    }
    download(task, url, &part, &answer);
    fetch_part_drop(&part);
    if (answer.outcome == TRANSFER_ABSENT)
        fetch_cache_set_missing(chain->cache, server->url, "index2.txt");
    else if (answer.outcome != TRANSFER_DONE)
        return refuse(task, server, url, &answer);
    const bool is_done = answer.outcome == TRANSFER_DONE;
    set_layout(task->fetch, server, is_done ? LAYOUT_TWO_TIER : LAYOUT_FLAT);
    return is_done ? ANSWER_GOT : ANSWER_ABSENT;
}

static enum answer get_keys(struct fetch_task *task, const struct fetch_chain *chain,
                            struct fetch_server *server, bool two_tier)
{
    const struct fetch_file *file = task->file;
    enum answer answer = ANSWER_ABSENT;
    char tiered[FETCH_KEY_BYTES + 4], pointer = 0;

    for (uint32_t i = 0; i < file->key_count && answer == ANSWER_ABSENT; i++) {
        const struct fetch_key *key = &file->keys[i];
        if ((key->form == FETCH_DEBUGINFOD) != server->debuginfod)
            continue;
        (void)snprintf(tiered, sizeof tiered, "%.2s/%s", key->path, key->path);
        answer = get_key(task, chain, server, two_tier ? tiered : key->path,
                         key->form == FETCH_POINTER ? &pointer : NULL);
    }
    return answer;
}

void server_ask(struct fetch_task *task, const struct fetch_chain *chain,
                struct fetch_server *server)
{
    if (!server_can_be_asked(task, server))
        return;
    const bool tiered_first = layout_of(task->fetch, server) == LAYOUT_TWO_TIER;
    enum answer answer = get_keys(task, chain, server, tiered_first);
    if (answer == ANSWER_ABSENT && !server->debuginfod && !tiered_first &&
        (answer = ask_layout(task, chain, server)) == ANSWER_GOT)
        answer = get_keys(task, chain, server, true);
    if (answer == ANSWER_ABSENT || task->file->result == FETCH_WRONG)
        fetch_cache_set_missing(chain->cache, server->url, task->file->place);
}
