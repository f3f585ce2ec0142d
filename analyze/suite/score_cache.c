/* See score_cache.h. A file of answers is text:
 *
 *     twinstack-answers 1
 *     <SHA-256 of the question> <the answer>
 *     ... */
#include "suite/score_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"

#define HEAD "twinstack-answers 1\n"

enum {
    HASH_CHARACTERS = 64,
    ANSWERS_BYTES_MAX = 512 << 20,
    BESIDE_MAX = 256 /* files beside one that the command names */
};

struct row {
    char question[HASH_CHARACTERS + 1];
    const char *line;
};

struct score_cache {
    struct cache cache;
    const char *key;
    struct row *rows, *added; /* ROWS: sorted by question */
    uint32_t count, added_count, added_room;
    struct arena *keep;
};

/* ---- the key ----------------------------------------------------------------------------- */

/* Appends "WHAT HASH" to the facts that the key is made of. */
static enum status add_fact(const char **facts, const char *what, const char *hash,
                            struct arena *keep, struct fault *fault)
{
    const char *longer = arena_printf(keep, "%s%s %s\n", *facts, what, hash);
    if (longer == NULL)
        return fault_no_memory(fault, "cache of answers");
    *facts = longer;
    return ERR_NONE;
}

/* A file that cannot be read is a fact, too. */
static enum status add_file(const char **facts, const char *path, struct arena *keep,
                            struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    char hash[HASH_CHARACTERS + 1] = "unreadable";
    (void)file_sha256(path, hash, &ignored);
    return add_fact(facts, path, hash, keep, fault);
}

/* What a program loads when it is beside it. */
static bool is_loaded(const char *name)
{
    static const char *const ends[] = {".py",  ".sh",  ".js",    ".mjs", ".rb",    ".pl", ".lua",
                                       ".php", ".dll", ".dylib", ".jar", ".class", ".so"};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end != NULL && i < COUNT_OF(ends); i++)
        if (strcmp(end, ends[i]) == 0)
            return true;
    return strstr(name, ".so.") != NULL;
}

static enum status add_beside(const char **facts, const char *path, struct arena *keep,
                              struct fault *fault)
{
    const size_t length = (size_t)(path_base(path) - path);
    const char *folder = length > 0 ? arena_text(keep, path, length) : ".";
    struct fault ignored = FAULT_INIT;
    const char **names = NULL;
    size_t count = 0, taken = 0;
    if (folder == NULL)
        return fault_no_memory(fault, "cache of answers");
    if (folder_list(folder, keep, &names, &count, &ignored) != ERR_NONE)
        return ERR_NONE;
    for (size_t i = 0; i < count && taken < BESIDE_MAX; i++) {
        const char *beside = is_loaded(names[i]) ? path_join(keep, folder, names[i]) : NULL;
        if (beside == NULL || !path_is_file(beside))
            continue;
        taken++;
        if (add_file(facts, beside, keep, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

/* Of a word of the command: the file that it names, also after "=". */
static enum status add_word(const char **facts, const char *word, struct arena *keep,
                            struct fault *fault)
{
    const char *value = strchr(word, '=');
    const char *path = value != NULL && !path_is_file(word) ? value + 1 : word;
    if (!path_is_file(path))
        return ERR_NONE;
    if (add_file(facts, path, keep, fault) != ERR_NONE)
        return fault->code;
    return add_beside(facts, path, keep, fault);
}

static enum status add_command(const char **facts, const char *command, struct arena *keep,
                               struct fault *fault)
{
    char *words = arena_string(keep, command);
    const char *word = words != NULL ? text_next_word(&words) : NULL;
    if (word == NULL || add_fact(facts, "command", command, keep, fault) != ERR_NONE)
        return fault_no_memory(fault, "cache of answers");
    /* What is found in PATH comes with the system, and so does what is beside it. */
    const char *found = strpbrk(word, "/\\") == NULL ? process_find(word, keep) : NULL;
    if (found != NULL && add_file(facts, found, keep, fault) != ERR_NONE)
        return fault->code;
    for (; word != NULL && fault->code == ERR_NONE; word = text_next_word(&words))
        (void)add_word(facts, word, keep, fault);
    return fault->code;
}

/* The name of the file of answers. */
static enum status make_key(struct score_cache *c, const struct contestant_request *request,
                            const struct contestant_name *name, struct fault *fault)
{
    char hash[HASH_CHARACTERS + 1];
    const char *index = path_join(c->keep, request->suite->folder, "suite.json");
    const char *facts = arena_printf(c->keep, HEAD "%s\n%s\n", name->name, name->version);
    if (index == NULL || facts == NULL)
        return fault_no_memory(fault, "cache of answers");
    if (add_file(&facts, index, c->keep, fault) != ERR_NONE ||
        add_command(&facts, request->command, c->keep, fault) != ERR_NONE)
        return fault->code;
    text_sha256(facts, strlen(facts), hash);
    c->key = arena_printf(c->keep, "answers-%s", hash);
    return c->key != NULL ? ERR_NONE : fault_no_memory(fault, "cache of answers");
}

/* ---- the file ---------------------------------------------------------------------------- */

ARRAY_ORDER_TEXT(by_question, struct row, question)

static const struct row *find_row(const struct row *rows, uint32_t count, const struct row *like)
{
    return count > 0 ? bsearch(like, rows, count, sizeof *rows, by_question) : NULL;
}

static uint32_t count_lines(const char *text, size_t bytes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == '\n';
    return count;
}

/* Reads what is there. A line of another form, and what follows it, is not used. */
static enum status read_rows(struct score_cache *c, const char *path, struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    if (file_read(path, ANSWERS_BYTES_MAX, c->keep, &text, &bytes, &ignored) != ERR_NONE ||
        bytes < strlen(HEAD) || memcmp(text, HEAD, strlen(HEAD)) != 0)
        return ERR_NONE;
    c->rows = ARENA_ARRAY(c->keep, (size_t)count_lines(text, bytes) + 1, struct row);
    if (c->rows == NULL)
        return fault_no_memory(fault, "cache of answers");
    for (size_t at = strlen(HEAD); at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        if (end == NULL || (size_t)(end - text) - at < HASH_CHARACTERS + 2 ||
            text[at + HASH_CHARACTERS] != ' ')
            break;
        struct row *row = &c->rows[c->count++];
        memcpy(row->question, text + at, HASH_CHARACTERS);
        row->line = text + at + HASH_CHARACTERS + 1;
        at = (size_t)(end - text) + 1;
        text[at - 1] = 0; /* the line is a text */
    }
    qsort(c->rows, c->count, sizeof *c->rows, by_question);
    return ERR_NONE;
}

enum status score_cache_open(const struct cache *cache, const struct contestant_request *request,
                             const struct contestant_name *name, struct arena *keep,
                             struct score_cache **out, struct fault *fault)
{
    struct score_cache *c = cache->folder != NULL ? ARENA_NEW(keep, struct score_cache) : NULL;
    *out = NULL;
    if (c == NULL)
        return cache->folder == NULL ? ERR_NONE : fault_no_memory(fault, "cache of answers");
    c->cache = *cache;
    c->keep = keep;
    if (make_key(c, request, name, fault) != ERR_NONE)
        return fault->code;
    const char *path = cache_path(cache, CACHE_INDEX, c->key, keep);
    uint64_t bytes = 0, modified_ns = 0;
    if (path == NULL)
        return fault_no_memory(fault, "cache of answers");
    if (path_stat(path, &bytes, &modified_ns)) {
        cache_used(path, modified_ns);
        if (read_rows(c, path, fault) != ERR_NONE)
            return fault->code;
    }
    *out = c;
    return ERR_NONE;
}

const char *score_cache_find(const struct score_cache *cache, const char *question)
{
    struct row key;
    if (cache == NULL || cache->count == 0)
        return NULL;
    text_sha256(question, strlen(question), key.question);
    const struct row *row = find_row(cache->rows, cache->count, &key);
    return row != NULL ? row->line : NULL;
}

enum status score_cache_put(struct score_cache *cache, const char *question, const char *line,
                            struct fault *fault)
{
    const size_t bytes = strcspn(line, "\r\n");
    if (cache == NULL || line[bytes + strspn(line + bytes, "\r\n")] != 0)
        return ERR_NONE; /* an answer of several lines is none */
    const char *kept = arena_text(cache->keep, line, bytes);
    if (!ARENA_ROOM(cache->keep, cache->added, cache->added_room,
                    (uint64_t)cache->added_count + 1) ||
        kept == NULL)
        return fault_no_memory(fault, "cache of answers");
    struct row *row = &cache->added[cache->added_count++];
    text_sha256(question, strlen(question), row->question);
    row->line = kept;
    return ERR_NONE;
}

static void put_text(struct file_part *parts, size_t *count, const char *text)
{
    parts[(*count)++] = (struct file_part){.data = text, .bytes = strlen(text)};
}

/* Those of ROWS that were not asked again. */
static void put_rows(const struct score_cache *c, const struct row *rows, uint32_t row_count,
                     struct file_part *parts, size_t *count)
{
    for (uint32_t i = 0; i < row_count; i++) {
        if (rows != c->added && find_row(c->added, c->added_count, &rows[i]) != NULL)
            continue;
        put_text(parts, count, rows[i].question);
        put_text(parts, count, " ");
        put_text(parts, count, rows[i].line);
        put_text(parts, count, "\n");
    }
}

void score_cache_close(struct score_cache *cache)
{
    enum { PARTS_OF_ROW = 4 };
    struct fault ignored = FAULT_INIT;
    size_t count = 0;
    if (cache == NULL || cache->added_count == 0)
        return;
    const size_t most = ((size_t)cache->count + cache->added_count) * PARTS_OF_ROW + 1;
    struct file_part *parts = ARENA_ARRAY(cache->keep, most, struct file_part);
    const char *partial = cache_partial(&cache->cache, cache->keep);
    if (parts == NULL || partial == NULL)
        return;
    qsort(cache->added, cache->added_count, sizeof *cache->added, by_question);
    put_text(parts, &count, HEAD);
    put_rows(cache, cache->rows, cache->count, parts, &count);
    put_rows(cache, cache->added, cache->added_count, parts, &count);
    if (file_write_parts(partial, parts, count, &ignored) == ERR_NONE)
        (void)cache_publish(&cache->cache, partial, CACHE_INDEX, cache->key, &ignored);
    else
        (void)path_remove(partial, &ignored);
}
