/* Writing JSON: see json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/text.h"

void json_to_stream(struct json *j, FILE *stream, bool pretty)
{
    memset(j, 0, sizeof *j);
    j->stream = stream;
    j->pretty = pretty;
}

void json_to_text(struct json *j, bool pretty)
{
    json_to_stream(j, NULL, pretty);
}

static void json_put_more(struct json *j, const char *text, size_t bytes)
{
    if (j->stream != NULL) {
        if (fwrite(text, 1, bytes, j->stream) != bytes)
            j->failed = true;
        return;
    }
    if (j->room - j->bytes <= bytes) {
        const size_t room = array_next_room(j->room, j->bytes + bytes + 1, 1);
        char *wider = room != 0 ? realloc(j->text, room) : NULL;
        if (wider == NULL) {
            j->failed = true;
            return;
        }
        j->text = wider;
        j->room = room;
    }
    memcpy(j->text + j->bytes, text, bytes);
    j->bytes += bytes;
}

static inline void json_put(struct json *j, const char *text, size_t bytes)
{
    if (j->stream != NULL || j->room - j->bytes <= bytes) {
        json_put_more(j, text, bytes);
        return;
    }
    memcpy(j->text + j->bytes, text, bytes);
    j->bytes += bytes;
}

static void json_puts(struct json *j, const char *text)
{
    json_put(j, text, strlen(text));
}

static void json_indent(struct json *j)
{
    if (!j->pretty)
        return;
    json_put(j, "\n", 1);
    for (int i = 0; i < j->depth; i++)
        json_put(j, "  ", 2);
}

/* Writes what goes before a value: nothing after a key, otherwise a comma if one is needed. */
static void json_separate(struct json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->has_item[j->depth])
        json_put(j, ",", 1);
    if (j->depth > 0)
        json_indent(j);
    j->has_item[j->depth] = true;
}

static void json_open(struct json *j, const char *bracket)
{
    json_separate(j);
    json_put(j, bracket, 1);
    if (j->depth == JSON_DEPTH_MAX) {
        j->failed = true;
        return;
    }
    j->depth++;
    j->has_item[j->depth] = false;
}

static void json_close(struct json *j, const char *bracket)
{
    const bool any = j->has_item[j->depth];
    if (j->depth == 0) {
        j->failed = true;
        return;
    }
    j->depth--;
    if (any)
        json_indent(j);
    json_put(j, bracket, 1);
}

void json_object(struct json *j)
{
    json_open(j, "{");
}

void json_object_end(struct json *j)
{
    json_close(j, "}");
}

void json_array(struct json *j)
{
    json_open(j, "[");
}

void json_array_end(struct json *j)
{
    json_close(j, "]");
}

void json_newline(struct json *j)
{
    json_put(j, "\n", 1);
    j->has_item[0] = false;
}

void json_print_list(struct json *j, const char *key)
{
    json_to_stream(j, stdout, true);
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_array(j, key);
}

void json_print_list_end(struct json *j)
{
    json_array_end(j);
    json_object_end(j);
    json_newline(j);
}

/* Writes C escaped to OUT; returns the bytes. */
static size_t json_escape(char *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    const char wide[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    static const char shorts[] = {
        ['"'] = '"', ['\\'] = '\\', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    const char short_of = c < sizeof shorts ? shorts[c] : '\0';

    if (short_of == '\0') {
        memcpy(out, wide, sizeof wide);
        return sizeof wide;
    }
    out[0] = '\\';
    out[1] = short_of;
    return 2;
}

/* How many of the eight characters in W, the first one lowest, need no escape and are of one byte.
 * The tests set bit 7 of the first other one (and may set those above it):
 * https://graphics.stanford.edu/~seander/bithacks.html, "Determine if a word has a byte less than
 * n" and "equal to n". */
static inline size_t json_plain_run(uint64_t w)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    const uint64_t quote = w ^ ones * '"', slash = w ^ ones * '\\', rubout = w ^ ones * 0x7F;
    const uint64_t bad =
        (w | (w - ones * 0x20) | (quote - ones) | (slash - ones) | (rubout - ones)) & tops;
    return bad == 0 ? sizeof w : low_zeroes(bad) / 8;
}

/* True for characters of one byte that need no escape. */
static inline bool json_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Another character to OUT. Returns the bytes that it has there; AT moves
 * behind it. */
static size_t json_character(char *out, const unsigned char **at)
{
    static const char unknown[] = "\\ufffd";
    const unsigned char c = **at;
    const size_t n = c < 0x80 ? 1 : text_utf8_length(*at);

    if (n == 0) {
        memcpy(out, unknown, sizeof unknown - 1);
        *at += 1;
        return sizeof unknown - 1;
    }
    const unsigned char *from = *at;
    *at += n;
    if (n == 1)
        return json_escape(out, c);
    memcpy(out, from, n);
    return n;
}

/* Where up to PIECE bytes are written: behind what is there, or in PIECE if there is no room. */
enum { JSON_PIECE = 512 };

static inline char *json_begin(const struct json *j, char piece[JSON_PIECE])
{
    return j->stream == NULL && j->room - j->bytes > JSON_PIECE ? j->text + j->bytes : piece;
}

static inline void json_end(struct json *j, const char *piece, const char *from, size_t bytes)
{
    if (from == piece)
        json_put(j, piece, bytes);
    else
        j->bytes += bytes;
}

static void json_quoted(struct json *j, const char *text)
{
    enum { WORD = sizeof(uint64_t) }; /* no character becomes longer */
    const unsigned char *at = (const unsigned char *)text, *const end = at + strlen(text);
    char piece[JSON_PIECE];
    char *out = json_begin(j, piece);
    size_t bytes = 1;

    out[0] = '"';
    while (at < end) {
        if (bytes > JSON_PIECE - 2 * WORD - 1) {
            json_end(j, piece, out, bytes);
            out = json_begin(j, piece);
            bytes = 0;
        }
        if ((size_t)(end - at) >= WORD) {
            const size_t run = json_plain_run(load_u64(at));
            memcpy(out + bytes, at, WORD);
            bytes += run;
            at += run;
            if (run == WORD)
                continue;
        }
        if (json_is_plain(*at))
            out[bytes++] = (char)*at++;
        else
            bytes += json_character(out + bytes, &at);
    }
    out[bytes] = '"';
    json_end(j, piece, out, bytes + 1);
}

void json_key_of(struct json *j, const char *key, size_t bytes)
{
    char piece[JSON_PIECE];
    size_t n = 0;

    if (j->pretty || bytes > JSON_PIECE - 4) {
        json_separate(j);
        json_put(j, "\"", 1);
        json_put(j, key, bytes);
        json_puts(j, j->pretty ? "\": " : "\":");
        j->after_key = true;
        return;
    }
    char *out = json_begin(j, piece);
    if (j->has_item[j->depth])
        out[n++] = ',';
    out[n++] = '"';
    memcpy(out + n, key, bytes);
    n += bytes;
    out[n++] = '"';
    out[n++] = ':';
    json_end(j, piece, out, n);
    j->has_item[j->depth] = true;
    j->after_key = true;
}

void json_string(struct json *j, const char *text)
{
    json_separate(j);
    if (text == NULL)
        json_puts(j, "null");
    else
        json_quoted(j, text);
}

/* What json_separate() writes at most. */
enum { JSON_SEPARATOR_MAX = 3 * JSON_DEPTH_MAX };

void json_string_again(struct json *j, const char *text, struct json_memo *memo)
{
    if (text == NULL || j->stream != NULL || memo->text != text ||
        j->room - j->bytes <= memo->bytes + JSON_SEPARATOR_MAX) { /* the source must not move */
        json_separate(j);
        const size_t from = j->bytes;
        if (text == NULL)
            json_puts(j, "null");
        else
            json_quoted(j, text);
        *memo = (struct json_memo){text, from, j->bytes - from};
        return;
    }
    json_separate(j);
    const size_t at = memo->at;
    memo->at = j->bytes;
    memcpy(j->text + j->bytes, j->text + at, memo->bytes);
    j->bytes += memo->bytes;
}

bool json_again(struct json *j, const struct json_memo *memo)
{
    if (j->stream != NULL || memo->bytes == 0 || j->room - j->bytes <= memo->bytes)
        return false;
    memcpy(j->text + j->bytes, j->text + memo->at, memo->bytes);
    j->bytes += memo->bytes;
    return true;
}

static void json_raw(struct json *j, const char *text)
{
    json_separate(j);
    json_puts(j, text);
}

/* Writes VALUE in BASE 10 or 16 with at least DIGITS digits, up to END; returns its start. printf
 * would be too slow here: every frame of a million stacks has five numbers. */
static char *json_digits(char *end, uint64_t value, unsigned base, int digits)
{
    do {
        *--end = "0123456789abcdef"[value % base];
        value /= base;
        digits--;
    } while (value != 0 || digits > 0);
    return end;
}

void json_int(struct json *j, int64_t value)
{
    char text[24];
    char *end = text + sizeof text;
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *at = json_digits(end, size, 10, 1);
    if (value < 0)
        *--at = '-';
    json_separate(j);
    json_put(j, at, (size_t)(end - at));
}

void json_uint(struct json *j, uint64_t value)
{
    char text[24];
    char *end = text + sizeof text;
    const char *at = json_digits(end, value, 10, 1);
    json_separate(j);
    json_put(j, at, (size_t)(end - at));
}

void json_hex(struct json *j, uint64_t value)
{
    json_hex_wide(j, value, 1);
}

void json_hex_wide(struct json *j, uint64_t value, int digits)
{
    char text[24];
    char *end = text + sizeof text;
    end[-1] = '"';
    char *at = json_digits(end - 1, value, 16, digits < 16 ? digits : 16);
    *--at = 'x';
    *--at = '0';
    *--at = '"';
    json_separate(j);
    json_put(j, at, (size_t)(end - at));
}

void json_number(struct json *j, double value)
{
    char text[40] = "null";
    if (isfinite(value)) {
        for (int digits = 6; digits <= 17;
             digits++) { /* the shortest form that reads back as the same value */
            (void)snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
    }
    json_raw(j, text);
}

void json_bool(struct json *j, bool value)
{
    json_raw(j, value ? "true" : "false");
}

void json_null(struct json *j)
{
    json_raw(j, "null");
}

char *json_take(struct json *j, size_t *bytes)
{
    const bool whole = !j->failed && j->depth == 0;
    json_put(j, "", 1);
    char *text = j->text;
    if (bytes != NULL)
        *bytes = j->bytes > 0 ? j->bytes - 1 : 0;
    if (!whole || j->failed) {
        free(text);
        text = NULL;
    }
    json_to_text(j, j->pretty);
    return text;
}

void json_free(struct json *j)
{
    free(j->text);
    json_to_text(j, j->pretty);
}
