/* What pages show beside a case: how frames were found, and the small files that the case is based
 * on. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "store/statements.h"

/* ---- evidence ------------------------------------------------------------------------- */

void store_put_evidence(struct store *store, uint64_t stack_id, const struct stack *stack,
                        struct fault *fault)
{
    for (uint32_t i = 0; i < stack->evidence_count && fault->code == ERR_NONE; i++) {
        const struct frame_evidence *e = &stack->evidence[i];
        struct query q = query_with(store, SQL_ADD_EVIDENCE, stack_id, NULL, fault);
        query_int(&q, e->index);
        query_int(&q, e->sp_va);
        query_text(&q, e->where);
        query_int(&q, e->function_begin_rva);
        query_int(&q, e->function_end_rva);
        query_int(&q, e->unwind_data_va);
        query_int(&q, e->return_slot_va);
        query_int(&q, e->caller_sp_va);
        query_id(&q, store_text_id(store, e->steps, fault));
        query_id(&q, store_text_id(store, e->code_before, fault));
        query_id(&q, store_text_id(store, e->code_after, fault));
        query_int(&q, e->code_aligned);
        (void)query_run(&q);
    }
}

void store_read_evidence(struct store *store, uint64_t stack_id, struct stack *stack,
                         struct arena *keep, struct fault *fault)
{
    struct query q = query_with(store, SQL_READ_EVIDENCE, stack_id, keep, fault);
    struct frame_evidence *e;
    while ((e = query_row_of(&q, &stack->evidence, &stack->evidence_count, sizeof *e)) != NULL) {
        e->index = (uint32_t)query_get(&q);
        e->sp_va = query_get(&q);
        e->where = query_get_text(&q);
        e->function_begin_rva = (uint32_t)query_get(&q);
        e->function_end_rva = (uint32_t)query_get(&q);
        e->unwind_data_va = query_get(&q);
        e->return_slot_va = query_get(&q);
        e->caller_sp_va = query_get(&q);
        e->steps = query_get_text(&q);
        e->code_before = query_get_text(&q);
        e->code_after = query_get_text(&q);
        e->code_aligned = query_get(&q) != 0;
    }
    (void)query_end(&q);
}

/* ---- artifacts ------------------------------------------------------------------------ */

static uint64_t find_artifact(struct store *store, const char *sha256, struct fault *fault)
{
    struct query q = query_begin(store, SQL_FIND_ARTIFACT, NULL, fault);
    query_text(&q, sha256);
    const uint64_t id = query_row(&q) ? query_get(&q) : 0;
    (void)query_end(&q);
    return id;
}

void store_bind_packed(struct query *q, const void *data, size_t bytes, int level)
{
    uLongf packed_bytes = compressBound((uLong)bytes);
    Bytef *packed = bytes > 0 && bytes <= UINT32_MAX / 2 ? malloc(packed_bytes) : NULL;
    if (packed != NULL && compress2(packed, &packed_bytes, data, (uLong)bytes, level) == Z_OK &&
        packed_bytes < bytes) {
        query_blob(q, packed, packed_bytes);
        query_int(q, bytes);
    } else {
        query_blob(q, data, bytes);
        query_id(q, 0);
    }
    free(packed);
}

/* zlib makes at most 1,032 bytes of one: https://zlib.net/zlib_tech.html, "Maximum Compression
 * Factor". A size that says more is damage, and nothing is allocated for it. */
char *store_get_packed(struct query *q, size_t *bytes)
{
    size_t packed_bytes = 0;
    const void *packed = query_see_blob(q, &packed_bytes);
    const uint64_t plain_bytes = query_get(q);
    if (plain_bytes == 0) {
        char *copy = arena_text(q->keep, packed, packed_bytes);
        *bytes = packed_bytes;
        if (copy == NULL)
            (void)fault_no_memory(q->fault, "file from the database");
        return copy;
    }
    uLongf size = (uLongf)plain_bytes;
    char *plain =
        plain_bytes / 1032 <= packed_bytes ? arena_alloc(q->keep, (size_t)plain_bytes + 1) : NULL;
    if (plain == NULL || uncompress((Bytef *)plain, &size, packed, (uLong)packed_bytes) != Z_OK ||
        size != plain_bytes) {
        (void)fault_set(q->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "file in the database");
        return NULL;
    }
    plain[size] = '\0';
    *bytes = size;
    return plain;
}

static uint64_t artifact_id(struct store *store, const struct case_artifact *a, struct fault *fault)
{
    const uint64_t known = find_artifact(store, a->sha256, fault);
    if (known != 0 || fault->code != ERR_NONE)
        return known;
    struct query add = query_begin(store, SQL_ADD_ARTIFACT, NULL, fault);
    query_text(&add, a->sha256);
    store_bind_packed(&add, a->data, a->bytes, Z_BEST_COMPRESSION);
    (void)query_run(&add);
    return database_added(&store->database);
}

void store_put_artifacts(struct store *store, uint64_t case_id, const struct run_case *c,
                         struct fault *fault)
{
    for (uint32_t i = 0; i < c->artifact_count && fault->code == ERR_NONE; i++) {
        const uint64_t id = artifact_id(store, &c->artifacts[i], fault);
        struct query q = query_with(store, SQL_ADD_CASE_ARTIFACT, case_id, NULL, fault);
        query_int(&q, i);
        query_text(&q, artifact_role_name(c->artifacts[i].role));
        query_text(&q, c->artifacts[i].name);
        query_int(&q, id);
        (void)query_run(&q);
    }
}

static void read_artifact_row(struct query *q, struct case_artifact *out)
{
    out->role = artifact_role_parse(query_get_text(q));
    out->name = query_get_text(q);
    const char *sha256 = query_get_text(q);
    if (sha256 != NULL && strlen(sha256) < sizeof out->sha256)
        memcpy(out->sha256, sha256, strlen(sha256) + 1);
    out->data = store_get_packed(q, &out->bytes);
}

enum status store_read_files(struct store *store, struct run_case *c, struct arena *keep,
                             struct fault *fault)
{
    struct query q = query_with(store, SQL_READ_CASE_ARTIFACTS, c->id, keep, fault);
    struct case_artifact *a;
    while ((a = query_row_of(&q, &c->artifacts, &c->artifact_count, sizeof *a)) != NULL)
        read_artifact_row(&q, a);
    return query_end(&q);
}

enum status store_read_artifact(struct store *store, const char *sha256, struct arena *keep,
                                struct case_artifact *out, struct fault *fault)
{
    struct query q = query_begin(store, SQL_READ_ARTIFACT, keep, fault);
    memset(out, 0, sizeof *out);
    query_text(&q, sha256);
    if (query_row(&q))
        read_artifact_row(&q, out);
    if (query_end(&q) != ERR_NONE)
        return fault->code;
    return out->data != NULL ? ERR_NONE
                             : fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "artifact",
                                              "no case of this database has such a file");
}
