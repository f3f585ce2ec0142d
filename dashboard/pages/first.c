/* Finds, makes and writes what a page asks for first. */
#include "pages/first.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "http/state.h"
#include "web/web.h"

/* Its queue is followed by the case that it begins with, whose address is known once the queue is.
 */
static const char queue_page[] = "/runs/{run}/mismatches";

/* Letters that a browser sends as they are in a query, too. */
static bool is_plain(const char *text)
{
    return text[0] != '\0' &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_-.")] == '\0';
}

/* As the script writes NAME into a path.  NULL when out of memory. */
static const char *escaped(struct exchange *x, const char *name)
{
    const size_t room = 3 * strlen(name) + 5;
    char *out = arena_alloc(&x->keep, room);
    if (out != NULL)
        http_escape(name, out, room);
    return out;
}

/* The address of ASK; QUERY: what comes after its path; "": nothing.  NULL: the script may spell it
 * otherwise, or memory. */
static const char *address_of(struct exchange *x, const char *ask, const char *query)
{
    const char *path = "/api/v1/";
    uint32_t names = 0;
    bool in_query = false;
    for (const char *p = ask; path != NULL && *p != '\0'; p++) {
        in_query = in_query || *p == '?';
        if (*p != '*') {
            path = arena_printf(&x->keep, "%s%c", path, *p);
            continue;
        }
        const char *name = x->query.params[names++];
        const char *part = in_query && !is_plain(name) ? NULL : escaped(x, name);
        path = part != NULL ? arena_printf(&x->keep, "%s%s", path, part) : NULL;
    }
    return path == NULL || query[0] == '\0'
               ? path
               : arena_printf(&x->keep, "%s%c%s", path, in_query ? '&' : '?', query);
}

static void add(struct exchange *x, struct first *first, const char *address)
{
    if (address != NULL && first->count < FIRST_MAX &&
        document_find(x, address, &first->documents[first->count]))
        first->addresses[first->count++] = address;
}

void first_find(struct exchange *x, struct first *out)
{
    const char *query = x->request->query_string != NULL ? x->request->query_string : "";
    const bool names_run = strncmp(query, "run=", 4) == 0 && is_plain(query + 4);
    *out = (struct first){0};
    if (x->route == NULL || x->dashboard->options.allow_remote)
        return;
    out->begins_with_case = query[0] == '\0' && strcmp(x->route->pattern, queue_page) == 0;
    for (size_t i = 0; i < web_first_count; i++)
        if (strcmp(web_first[i].page, x->route->pattern) == 0 &&
            (query[0] == '\0' || (names_run && web_first[i].takes_run)))
            add(x, out, address_of(x, web_first[i].ask, query));
}

/* Adds the case that the queue begins with. */
static void add_first_case(struct exchange *x, struct first *first)
{
    struct fault fault = FAULT_INIT;
    cJSON *queue = NULL;
    const struct document *d = &first->documents[0];
    if (!first->begins_with_case || first->count != 1 || d->text == NULL ||
        json_parse(d->text, d->bytes, &queue, &fault) != ERR_NONE)
        return;
    const cJSON *row = cJSON_GetArrayItem(json_get_array(queue, "cases", &fault), 0);
    const char *scenario = json_get_string(row, "scenario", &x->keep, &fault);
    const char *variant = json_get_string(row, "variant", &x->keep, &fault);
    const uint64_t repeat = json_get_uint(row, "repeat", 0, &fault);
    cJSON_Delete(queue);
    if (scenario == NULL || variant == NULL)
        return;
    const char *run = escaped(x, x->query.params[0]);
    const char *name = arena_printf(&x->keep, "%s.%s", scenario, variant);
    const char *part = name != NULL ? escaped(x, name) : NULL;
    if (run != NULL && part != NULL)
        add(x, first,
            repeat == 0 ? arena_printf(&x->keep, "/api/v1/runs/%s/cases/%s", run, part)
                        : arena_printf(&x->keep, "/api/v1/runs/%s/cases/%s?repeat=%" PRIu64, run,
                                       part, repeat));
}

bool first_kept(struct exchange *x, struct first *first)
{
    for (size_t i = 0; i < first->count; i++) {
        if (!document_kept(x, &first->documents[i]))
            return false;
        add_first_case(x, first);
    }
    return true;
}

void first_make(struct exchange *x, struct first *first)
{
    for (size_t i = 0; i < first->count; i++) {
        struct fault fault = FAULT_INIT;
        if (first->documents[i].text == NULL)
            (void)document_make(x, &first->documents[i], &fault);
        add_first_case(x, first);
    }
}

/* Copies TEXT without "<", which in JSON is only ever inside a string, and which in a page could
 * end the element. */
static size_t copy_without_less(char *out, const char *text, size_t bytes)
{
    static const char less[] = "\\u003c";
    size_t size = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != '<') {
            out[size++] = text[i];
            continue;
        }
        memcpy(out + size, less, sizeof less - 1);
        size += sizeof less - 1;
    }
    return size;
}

/* A browser reads the page up to its end before it draws any of it, so a larger document delays the
 * page by more than a request of its own does. */
static bool is_carried(const struct document *d)
{
    enum { CARRIED_BYTES = 256 * 1024 };
    return d->text != NULL && d->bytes <= CARRIED_BYTES;
}

/* The most that document I takes inside the page. */
static size_t room_of(const struct first *first, size_t i)
{
    const struct document *d = &first->documents[i];
    size_t room = strlen(first->addresses[i]) + ETAG_BYTES + 64 + d->bytes;
    for (size_t k = 0; k < d->bytes; k++)
        room += d->text[k] == '<' ? 5 : 0;
    return room;
}

const char *first_write(struct exchange *x, const struct first *first, const char *tail,
                        size_t *bytes)
{
    size_t room = strlen(tail) + 256;
    for (size_t i = 0; i < first->count; i++)
        room += is_carried(&first->documents[i]) ? room_of(first, i) : 0;
    char *out = arena_alloc(&x->keep, room);
    if (out == NULL)
        return NULL;
    size_t size = (size_t)snprintf(
        out, room,
        "<script type=\"application/json\" id=\"twinstack-first\">{\"version\":\"0x%" PRIx64
        "\",\"answers\":{",
        x->data_version);
    bool comma = false;
    for (size_t i = 0; i < first->count; i++) {
        const struct document *d = &first->documents[i];
        char etag[ETAG_BYTES];
        if (!is_carried(d))
            continue;
        etag_of(d->text, d->bytes, etag); /* its quotes are written as \" */
        size +=
            (size_t)snprintf(out + size, room - size,
                             "%s\"%s\":{\"etag\":\"W/\\\"%.16s\\\"\",\"data\":", comma ? "," : "",
                             first->addresses[i], etag + 1);
        size += copy_without_less(out + size, d->text, d->bytes);
        out[size++] = '}';
        comma = true;
    }
    size += (size_t)snprintf(out + size, room - size, "}}</script>\n%s", tail);
    *bytes = size;
    return out;
}
