/* Access tokens of a minidump. */
#include "format/minidump/streams.h"

void minidump_read_tokens(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    struct bytes whole = r;
    (void)bytes_u32(&r); /* size of the list, which the directory also states */
    uint32_t count = bytes_u32(&r), header = bytes_u32(&r), head_bytes = bytes_u32(&r);
    if (bytes_failed(&r))
        return;
    if (header < 16 || header > whole.left || head_bytes < 16) {
        (void)fault_set(m->damage, ERR_MALFORMED, whole.offset, "token list header");
        return;
    }
    r = bytes_window(&whole, header, whole.left - header);
    count = bytes_count(&r, count, head_bytes);
    out->tokens = minidump_array(m, count, sizeof(*out->tokens));
    if (out->tokens == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes head = bytes_window(&r, 0, head_bytes);
        struct minidump_token token;
        token.bytes = bytes_u32(&head);
        token.id = bytes_u32(&head);
        token.handle = bytes_u64(&head);
        if (token.bytes < head_bytes) {
            (void)fault_set(m->damage, ERR_MALFORMED, r.offset, "token bytes");
            return;
        }
        bytes_skip(&r, token.bytes);
        if (bytes_failed(&r))
            return;
        out->tokens[out->token_count++] = token;
    }
}

/* Each token's head is followed by its bytes, as the system's own query returns them. */
void minidump_detail_tokens(struct minidump_value_list *list, struct bytes r)
{
    const struct bytes whole = r;
    bytes_skip(&r, 8);
    uint32_t header = bytes_u32(&r), head_bytes = bytes_u32(&r);
    r = bytes_window(&whole, header, whole.left - header);
    minidump_add_array(list, NULL);
    for (uint32_t i = 0; i < list->m->out->token_count; i++) {
        struct bytes token = bytes_window(&r, 0, list->m->out->tokens[i].bytes);
        bytes_skip(&r, list->m->out->tokens[i].bytes);
        minidump_add_object(list, NULL);
        minidump_add_uint(list, "id", list->m->out->tokens[i].id);
        minidump_add_bytes(list, "token",
                           bytes_window(&token, head_bytes, token.left - head_bytes));
        minidump_add_end(list);
    }
    minidump_add_end(list);
}
