/* The dump of a case, from the folder that its run left.
 *
 * The file is mapped and sent from there, so its size does not matter.  A client that was cut off
 * asks for the rest with Range (RFC 9110, 14). */
#include "pages/download.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "http/response.h"
#include "http/state.h"
#include "pages/asked.h"
#include "pages/stores.h"

static bool parse_number(const char *text, size_t bytes, uint64_t *out)
{
    return bytes > 0 && text_parse_uint(text, bytes, out);
}

/* What a Range line asks of a file of BYTES.  RANGE_WHOLE: all of it, also where the line is
 * malformed or lists several parts; RANGE_NONE: nothing that the file has. */
enum range { RANGE_WHOLE, RANGE_PART, RANGE_NONE };

static enum range download_range(const char *header, uint64_t bytes, uint64_t *begin,
                                 uint64_t *count)
{
    static const char unit[] = "bytes=";
    uint64_t first = 0, last = bytes > 0 ? bytes - 1 : 0;

    *begin = 0;
    *count = bytes;
    if (header == NULL || strncmp(header, unit, sizeof unit - 1) != 0)
        return RANGE_WHOLE;
    const char *from = header + sizeof unit - 1, *dash = strchr(from, '-');
    if (dash == NULL || strchr(from, ',') != NULL)
        return RANGE_WHOLE; /* several ranges: the whole file is a correct answer */
    const bool has_first = parse_number(from, (size_t)(dash - from), &first);
    const bool has_last = parse_number(dash + 1, strlen(dash + 1), &last);
    if ((!has_first && dash != from) || (!has_last && dash[1] != '\0') || (!has_first && !has_last))
        return RANGE_WHOLE;
    if (!has_first) { /* the last so many bytes */
        if (last == 0 || bytes == 0)
            return RANGE_NONE;
        first = last < bytes ? bytes - last : 0;
        last = bytes - 1;
    } else if (last < first) {
        return has_last ? RANGE_WHOLE : RANGE_NONE;
    }
    if (first >= bytes)
        return RANGE_NONE;
    *begin = first;
    *count = (last < bytes ? last : bytes - 1) - first + 1;
    return RANGE_PART;
}

/* Pieces, so that a client that leaves ends the sending. */
static void send_bytes(struct exchange *x, const uint8_t *data, uint64_t bytes)
{
    enum { PIECE_BYTES = 1 << 20 };
    while (bytes > 0 && !dashboard_is_stopping(x->dashboard)) {
        const size_t piece = bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES;
        if (mg_write(x->connection, data, piece) <= 0)
            return;
        data += piece;
        bytes -= piece;
    }
}

/* A name that is plain on every system. */
static void name_file(const struct run_case *c, char *out, size_t bytes)
{
    (void)snprintf(out, bytes, "run-%" PRIu64 "-%.80s.%.40s", c->run_id, c->scenario, c->variant);
    for (char *at = out; *at != '\0'; at++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_", *at) ==
            NULL)
            *at = '_';
}

static int send_file(struct exchange *x, const struct file_map *map, const char *name,
                     const char *etag)
{
    const char *condition = exchange_header(x, "If-Range");
    uint64_t begin = 0, bytes = 0;
    char head[1024], place[96] = "";

    const bool whole = condition != NULL && strcmp(condition, etag) != 0;
    const enum range range =
        download_range(whole ? NULL : exchange_header(x, "Range"), map->bytes, &begin, &bytes);
    if (range == RANGE_NONE)
        bytes = 0;
    if (range == RANGE_PART)
        (void)snprintf(place, sizeof place, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%zu\r\n",
                       begin, begin + bytes - 1, map->bytes);
    else if (range == RANGE_NONE)
        (void)snprintf(place, sizeof place, "Content-Range: bytes */%zu\r\n", map->bytes);
    static const struct {
        int status;
        const char *reason;
    } answers[] = {[RANGE_WHOLE] = {200, "OK"},
                   [RANGE_PART] = {206, "Partial Content"},
                   [RANGE_NONE] = {416, "Range Not Satisfiable"}};
    const int length = snprintf(
        head, sizeof head,
        "HTTP/1.1 %d %s\r\nContent-Type: application/octet-stream\r\n"
        "Content-Disposition: attachment; filename=\"%s-dump.dmp\"\r\nContent-Length: %" PRIu64
        "\r\nAccept-Ranges: bytes\r\nETag: %s\r\nCache-Control: private, no-cache\r\n%s"
        "Connection: close\r\n%s\r\n",
        answers[range].status, answers[range].reason, name, bytes, etag, place,
        exchange_safety_headers);
    mg_disable_connection_keep_alive(x->connection);
    if (length > 0 && (size_t)length < sizeof head &&
        mg_write(x->connection, head, (size_t)length) > 0 && !x->head_only)
        send_bytes(x, map->data + begin, bytes);
    return answers[range].status;
}

int answer_dump(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    struct run_case found;
    struct file_map map;
    char etag[ETAG_BYTES], name[200];

    if (store_pool_take(x->dashboard->stores, &store, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    const struct view_input in = {.store = store, .query = &x->query, .keep = &x->keep};
    const enum status status = view_read_case(&in, &found, &fault);
    store_pool_give(x->dashboard->stores, store);
    if (status != ERR_NONE)
        return answer_fault(x, &fault);
    const char *path = view_dump_path(&found, &x->keep);
    if (path == NULL || file_map(path, &map, &fault) != ERR_NONE)
        return answer_error(x, 404, "absent", "The dump of this case is not kept any more",
                            "the folders of the newest ten runs are kept; `twinstack run --out` "
                            "names one that stays");
    int sent = 0;
    if (map.bytes >= 4 && memcmp(map.data, "MDMP", 4) == 0) {
        const uint64_t marks[] = {map.bytes, map.modified_ns};
        etag_of(marks, sizeof marks, etag);
        name_file(&found, name, sizeof name);
        sent = send_file(x, &map, name, etag);
    } else { /* the path is from the database: nothing but a dump leaves this machine */
        sent = answer_error(x, 422, "malformed", "What is kept as the dump is none", NULL);
    }
    file_unmap(&map);
    return sent;
}
