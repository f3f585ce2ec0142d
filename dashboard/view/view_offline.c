/* The data of the offline page: what the live API would answer, under its paths. */
#include <stdio.h>
#include <string.h>

#include "view/parts.h"

enum { SOURCES_MAX = 1024 };

struct carrier {
    struct view_input in;
    char sources[SOURCES_MAX][65]; /* carried already, by content */
    uint32_t source_count;
    struct json *out;
    struct fault *fault;
};

/* Writes one member: the path, and what its view says. */
static enum status carry(struct carrier *c, const char *path)
{
    struct view_query query;
    char plain[512];
    size_t size = strcspn(path, "?");

    if (size >= sizeof plain)
        return fault_set(c->fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of a view");
    memcpy(plain, path, size);
    plain[size] = '\0';
    for (size_t i = 0; i < view_count; i++) {
        if (!view_path_match(views[i].pattern, plain, c->in.keep, &query))
            continue;
        enum status status = view_query_parse(path[size] == '?' ? path + size + 1 : NULL,
                                              c->in.keep, &query, c->fault);
        if (status != ERR_NONE)
            return status;
        c->in.query = &query;
        json_key(c->out, path);
        return views[i].write(&c->in, c->out, c->fault);
    }
    return fault_set(c->fault, ERR_USAGE, FAULT_NO_OFFSET, "view of this path");
}

/* Escapes as encodeURIComponent() does, so that the pages find the same path. */
static void escape(const char *text, char *out, size_t room)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()";
    size_t length = 0;
    for (; *text != '\0' && length + 4 < room; text++) {
        if (strchr(plain, *text) != NULL)
            out[length++] = *text;
        else
            length += (size_t)snprintf(out + length, 4, "%%%02X", (unsigned char)*text);
    }
    out[length] = '\0';
}

/* The sources of a case, each content once, as text. */
static enum status carry_sources(struct carrier *c, uint64_t case_id)
{
    struct run_case beside = {.id = case_id};
    if (store_read_files(c->in.store, &beside, c->in.keep, c->fault) != ERR_NONE)
        return c->fault->code;
    for (uint32_t i = 0; i < beside.artifact_count; i++) {
        const struct case_artifact *a = &beside.artifacts[i];
        uint32_t known = 0;
        while (known < c->source_count && strcmp(c->sources[known], a->sha256) != 0)
            known++;
        if (strcmp(a->role, "source") != 0 || known < c->source_count || known == SOURCES_MAX)
            continue;
        memcpy(c->sources[c->source_count++], a->sha256, sizeof a->sha256);
        char path[128];
        (void)snprintf(path, sizeof path, "/api/v1/artifacts/%s", a->sha256);
        json_key_string(c->out, path, a->data);
    }
    return ERR_NONE;
}

static enum status carry_cases(struct carrier *c, uint64_t run_id, uint32_t cases_max,
                               uint64_t *left_out)
{
    struct run_case *cases = NULL;
    uint32_t count = 0, written = 0;
    enum status status =
        store_read_outcomes(c->in.store, run_id, false, c->in.keep, &cases, &count, c->fault);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count && written < cases_max && status == ERR_NONE; i++) {
            char path[512], name[320], escaped[400];
            if (run_verdict_fails(cases[i].result.verdict) != (pass == 0))
                continue;
            struct arena scratch;
            struct arena *keep = c->in.keep;
            arena_init(&scratch, 0);
            c->in.keep = &scratch;
            (void)snprintf(name, sizeof name, "%s.%s", cases[i].scenario, cases[i].variant);
            escape(name, escaped, sizeof escaped);
            (void)snprintf(path, sizeof path, "/api/v1/runs/%llu/cases/%s%s%.0u",
                           (unsigned long long)run_id, escaped,
                           cases[i].repeat > 0 ? "?repeat=" : "", cases[i].repeat);
            status = carry(c, path);
            if (status == ERR_NONE)
                status = carry_sources(c, cases[i].id);
            c->in.keep = keep;
            arena_free(&scratch);
            written++;
        }
    *left_out = count - written;
    return status;
}

enum status view_write_offline(struct store *store, uint64_t run_id, uint32_t cases_max,
                               const char *known_text, struct json *out, struct fault *fault)
{
    static const char *const lists[] = {"timing", "doors", "signatures", "symbols"};
    struct arena keep;
    char path[128];
    uint64_t left_out = 0;

    arena_init(&keep, 0);
    struct carrier *c = ARENA_NEW(&keep, struct carrier);
    if (c == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "offline page");
    *c = (struct carrier){.in = {.store = store, .known_text = known_text, .keep = &keep},
                          .out = out,
                          .fault = fault};
    json_object(out);
    (void)snprintf(path, sizeof path, "/api/v1/runs/%llu", (unsigned long long)run_id);
    enum status status = carry(c, path);
    (void)snprintf(path, sizeof path, "/api/v1/runs/%llu/cases?limit=1000",
                   (unsigned long long)run_id);
    if (status == ERR_NONE)
        status = carry(c, path);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == ERR_NONE; i++) {
        (void)snprintf(path, sizeof path, "/api/v1/%s?run=%llu", lists[i],
                       (unsigned long long)run_id);
        status = carry(c, path);
    }
    if (status == ERR_NONE)
        status = carry(c, "/api/v1/known");
    if (status == ERR_NONE)
        status = carry_cases(c, run_id, cases_max != 0 ? cases_max : 2000, &left_out);
    json_key(out, "offline");
    json_object(out);
    json_key_uint(out, "run", run_id);
    json_key_uint(out, "cases_left_out", left_out);
    json_object_end(out);
    json_object_end(out);
    arena_free(&keep);
    return status;
}
