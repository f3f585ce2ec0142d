/* Partial results as text: see partial.h. */
#include "stream/partial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"

static const char mark[] = "#signatures\t";
enum { FORM_VERSION = 1, ROW_BYTES_MIN = 6, HEAD_COLUMNS = 8, ROW_COLUMNS = 5 };

/* ---- writing -------------------------------------------------------------------------- */

static void put_number(struct text_buffer *out, uint64_t value)
{
    char text[24];
    text_buffer_put(out, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

static void put_column(struct text_buffer *out, const char *text, char end)
{
    static const char plain[] = "\t\n\r\\", escaped[] = "tnr\\";
    const char *from = text_or_empty(text);
    for (const char *at = from; *at != '\0'; at++) {
        const char *special = strchr(plain, *at);
        if (special == NULL && (unsigned char)*at >= 0x20)
            continue;
        text_buffer_put(out, from, (size_t)(at - from));
        if (special != NULL) {
            text_buffer_put(out, "\\", 1);
            text_buffer_put(out, &escaped[special - plain], 1);
        }
        from = at + 1;
    }
    text_buffer_put(out, from, strlen(from));
    text_buffer_put(out, &end, 1);
}

void partial_write_columns(struct text_buffer *out, const struct partial *partial)
{
    const uint64_t numbers[] = {FORM_VERSION, partial->count, partial->stacks, partial->floor,
                                partial->bad};
    text_buffer_put(out, mark, sizeof mark - 1);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        put_number(out, numbers[i]);
        text_buffer_put(out, "\t", 1);
    }
    put_column(out, partial->of, '\t');
    put_column(out, partial->hour, '\t');
    put_column(out, partial->version, '\n');
    for (uint32_t i = 0; i < partial->count; i++) {
        const struct signature_count *row = &partial->rows[i];
        put_number(out, row->count);
        text_buffer_put(out, "\t", 1);
        put_number(out, row->error);
        text_buffer_put(out, "\t", 1);
        put_column(out, row->first_seen, '\t');
        put_column(out, row->example, '\t');
        put_column(out, row->text, '\n');
    }
}

static void put_known_uint(struct json *j, const char *key, uint64_t value)
{
    if (value != 0)
        json_key_uint(j, key, value);
}

static void put_known_string(struct json *j, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        json_key_string(j, key, text);
}

/* Moves the line that J holds to OUT. */
static void put_line(struct text_buffer *out, struct json *j)
{
    json_object_end(j);
    json_newline(j);
    out->failed = out->failed || j->failed;
    if (!j->failed)
        text_buffer_put(out, j->text, j->bytes);
    j->bytes = 0;
    j->has_item[0] = false;
}

void partial_write_ndjson(struct text_buffer *out, const struct partial *partial)
{
    struct json j;
    json_to_text(&j, false);
    json_object(&j);
    json_key_uint(&j, "schema_version", FORM_VERSION);
    put_known_string(&j, "of", partial->of);
    put_known_string(&j, "hour", partial->hour);
    put_known_string(&j, "version", partial->version);
    json_key_uint(&j, "total", partial->count);
    json_key_uint(&j, "stacks", partial->stacks);
    put_known_uint(&j, "floor", partial->floor);
    put_known_uint(&j, "bad", partial->bad);
    put_line(out, &j);
    for (uint32_t i = 0; i < partial->count; i++) {
        const struct signature_count *row = &partial->rows[i];
        json_object(&j);
        json_key_string(&j, "signature", row->text);
        json_key_uint(&j, "count", row->count);
        put_known_uint(&j, "error", row->error);
        put_known_string(&j, "first_seen", row->first_seen);
        put_known_string(&j, "example", row->example);
        put_line(out, &j);
    }
    json_free(&j);
}

/* ---- reading -------------------------------------------------------------------------- */

struct reader {
    const char *text, *at, *end;
    struct arena *keep;
    struct fault *fault;
};

static bool fail(struct reader *r, enum status code, const char *what)
{
    (void)fault_set_lasting(r->fault, code, (uint64_t)(r->at - r->text), what, NULL);
    return false;
}

/* The next line, which must end; its length is in *BYTES. */
static const char *next_line(struct reader *r, size_t *bytes)
{
    const char *line = r->at;
    const char *stop = r->end > line ? memchr(line, '\n', (size_t)(r->end - line)) : NULL;
    if (stop == NULL) {
        (void)fail(r, ERR_TRUNCATED, "partial result");
        return NULL;
    }
    *bytes = (size_t)(stop - line);
    r->at = stop + 1;
    return line;
}

/* What C means after a backslash. */
static char meant_by(char c)
{
    switch (c) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    default:
        return c;
    }
}

static char *unescaped(struct reader *r, const char *text, size_t bytes)
{
    char *out = arena_alloc(r->keep, bytes + 1), *to = out;
    if (out == NULL) {
        (void)fail(r, ERR_MEMORY, "partial result");
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < bytes)
            c = meant_by(text[++i]);
        if (c != '\0')
            *to++ = c;
    }
    return out;
}

struct column {
    const char *text;
    size_t bytes;
};

static bool split(struct reader *r, const char *line, size_t bytes, struct column *out,
                  uint32_t count)
{
    const char *const end = line + bytes;
    for (uint32_t i = 0; i < count; i++) {
        const char *stop = memchr(line, '\t', (size_t)(end - line));
        if ((stop == NULL) != (i + 1 == count))
            return fail(r, ERR_MALFORMED, "columns of a partial result");
        out[i] = (struct column){line, (size_t)((stop != NULL ? stop : end) - line)};
        line = stop != NULL ? stop + 1 : end;
    }
    return true;
}

static bool read_number(struct reader *r, const struct column *from, uint64_t *out)
{
    return text_parse_uint(from->text, from->bytes, out) ||
           fail(r, ERR_MALFORMED, "number of a partial result");
}

/* NULL for an empty text; a failure is in the fault. */
static const char *read_text(struct reader *r, const struct column *from)
{
    return from->bytes > 0 ? unescaped(r, from->text, from->bytes) : NULL;
}

/* No sum of many partial results can overflow. */
static bool check_head(struct reader *r, const struct partial *out)
{
    if (out->stacks > PARTIAL_STACKS_MAX || out->floor > out->stacks ||
        out->bad > PARTIAL_STACKS_MAX)
        return fail(r, ERR_MALFORMED, "numbers of a partial result");
    return r->fault->code == ERR_NONE;
}

/* Room for ROWS rows, each of which takes at least ROW_BYTES_MIN bytes of what is left. */
static struct signature_count *make_rows(struct reader *r, uint64_t rows, struct partial *out)
{
    if (rows > PARTIAL_ROWS_MAX)
        (void)fail(r, ERR_LIMIT, "rows of a partial result");
    else if (rows > (uint64_t)(r->end - r->at) / ROW_BYTES_MIN)
        (void)fail(r, ERR_TRUNCATED, "rows of a partial result");
    if (r->fault->code != ERR_NONE)
        return NULL;
    struct signature_count *made = ARENA_ARRAY(r->keep, (size_t)rows + 1, struct signature_count);
    if (made == NULL)
        (void)fail(r, ERR_MEMORY, "rows of a partial result");
    out->rows = made;
    out->count = (uint32_t)rows;
    return made;
}

/* What would make sums wrong or overflow them. */
static bool check_row(struct reader *r, const struct partial *partial,
                      const struct signature_count *row, uint64_t *sum)
{
    if (row->text == NULL || row->count == 0 || row->error > row->count ||
        row->count > partial->stacks || row->count - row->error > partial->stacks - *sum)
        return fail(r, ERR_MALFORMED, "row of a partial result");
    *sum += row->count - row->error; /* at least so often */
    return r->fault->code == ERR_NONE;
}

/* Before anything else of it is read: a newer form may have other columns. */
static bool check_version(struct reader *r, uint64_t version)
{
    if (version > FORM_VERSION)
        (void)fault_set_reason(r->fault, ERR_UNSUPPORTED, "version of a partial result",
                               FAULT_NEWER, "a newer version of this program reads it");
    else if (version != FORM_VERSION)
        (void)fail(r, ERR_UNSUPPORTED, "version of a partial result");
    return r->fault->code == ERR_NONE;
}

static bool read_columns(struct reader *r, struct partial *out)
{
    struct column head[HEAD_COLUMNS], version = {NULL, 0};
    uint64_t numbers[5] = {0}, sum = 0;
    size_t bytes = 0;
    const char *line = next_line(r, &bytes);
    if (line == NULL)
        return false;
    version.text = line + sizeof mark - 1;
    bytes -= sizeof mark - 1;
    const char *tab = memchr(version.text, '\t', bytes);
    version.bytes = tab != NULL ? (size_t)(tab - version.text) : bytes;
    if (!read_number(r, &version, &numbers[0]) || !check_version(r, numbers[0]) ||
        !split(r, version.text, bytes, head, HEAD_COLUMNS))
        return false;
    for (uint32_t i = 0; i < COUNT_OF(numbers); i++)
        if (!read_number(r, &head[i], &numbers[i]))
            return false;
    out->stacks = numbers[2];
    out->floor = numbers[3];
    out->bad = numbers[4];
    out->of = read_text(r, &head[5]);
    out->hour = read_text(r, &head[6]);
    out->version = read_text(r, &head[7]);
    if (!check_head(r, out))
        return false;
    struct signature_count *rows = make_rows(r, numbers[1], out);
    for (uint32_t i = 0; rows != NULL && i < out->count; i++) {
        struct column columns[ROW_COLUMNS];
        line = next_line(r, &bytes);
        if (line == NULL || !split(r, line, bytes, columns, ROW_COLUMNS) ||
            !read_number(r, &columns[0], &rows[i].count) ||
            !read_number(r, &columns[1], &rows[i].error))
            return false;
        rows[i].first_seen = read_text(r, &columns[2]);
        rows[i].example = read_text(r, &columns[3]);
        rows[i].text = read_text(r, &columns[4]);
        if (!check_row(r, out, &rows[i], &sum))
            return false;
    }
    return rows != NULL;
}

static cJSON *next_object(struct reader *r)
{
    cJSON *root = NULL;
    size_t bytes = 0;
    const char *line = next_line(r, &bytes);
    if (line != NULL && json_parse(line, bytes, &root, r->fault) == ERR_NONE &&
        !cJSON_IsObject(root))
        (void)fail(r, ERR_MALFORMED, "partial result");
    return root;
}

static bool read_head(struct reader *r, struct partial *out, uint64_t *rows)
{
    cJSON *root = next_object(r);
    const uint64_t version = json_get_uint(root, "schema_version", 0, r->fault);
    if (r->fault->code == ERR_NONE && !check_version(r, version)) {
        cJSON_Delete(root);
        return false;
    }
    *rows = json_get_uint(root, "total", UINT64_MAX, r->fault);
    out->stacks = json_get_uint(root, "stacks", 0, r->fault);
    out->floor = json_get_uint(root, "floor", 0, r->fault);
    out->bad = json_get_uint(root, "bad", 0, r->fault);
    out->of = json_get_string(root, "of", r->keep, r->fault);
    out->hour = json_get_string(root, "hour", r->keep, r->fault);
    out->version = json_get_string(root, "version", r->keep, r->fault);
    cJSON_Delete(root);
    if (r->fault->code == ERR_NONE && *rows == UINT64_MAX)
        return fail(r, ERR_MALFORMED, "partial result without `total`");
    return check_head(r, out);
}

static bool read_objects(struct reader *r, struct partial *out)
{
    uint64_t count = 0, sum = 0;
    if (!read_head(r, out, &count))
        return false;
    struct signature_count *rows = make_rows(r, count, out);
    for (uint32_t i = 0; rows != NULL && i < out->count; i++) {
        cJSON *root = next_object(r);
        rows[i].text = json_get_string(root, "signature", r->keep, r->fault);
        rows[i].count = json_get_uint(root, "count", 0, r->fault);
        rows[i].error = json_get_uint(root, "error", 0, r->fault);
        rows[i].first_seen = json_get_string(root, "first_seen", r->keep, r->fault);
        rows[i].example = json_get_string(root, "example", r->keep, r->fault);
        cJSON_Delete(root);
        if (r->fault->code != ERR_NONE || !check_row(r, out, &rows[i], &sum))
            return false;
    }
    return rows != NULL;
}

enum status partial_read(const char *text, size_t bytes, struct arena *keep, struct partial *out,
                         size_t *used, struct fault *fault)
{
    struct reader r = {text, text, text + bytes, keep, fault};
    memset(out, 0, sizeof *out);
    *used = 0;
    if (bytes >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0)
        (void)read_columns(&r, out);
    else if (bytes > 0 && text[0] == '{')
        (void)read_objects(&r, out);
    else if (bytes < sizeof mark - 1)
        (void)fail(&r, ERR_TRUNCATED, "partial result");
    else
        (void)fault_set_hint(fault, ERR_MALFORMED, 0, "partial result",
                             "--merge takes what `signatures --format columns` or --ndjson wrote");
    *used = (size_t)(r.at - text);
    return fault->code;
}
