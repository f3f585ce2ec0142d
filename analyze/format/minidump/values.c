/* Streams as trees of values: gathering them, and writing what no other member of the JSON has. */
#include <string.h>

#include "format/minidump/parts.h"

enum { BYTES_SHOWN_MAX = 16 << 10 }; /* of one stream or value; the whole size stands beside it */

static void add(struct minidump_teller *t, const char *key, enum minidump_value_kind kind,
                uint64_t number, const void *data)
{
    struct minidump_reader *m = t->m;
    if (t->full)
        return;
    if (m->value_budget == 0) {
        (void)fault_set(m->damage, ERR_LIMIT, FAULT_NO_OFFSET, "values of minidump streams");
        t->full = true;
        return;
    }
    if (t->count == t->room) {
        uint32_t room = t->room == 0 ? 64 : t->room * 2;
        struct minidump_value *values = minidump_array(m, room, sizeof(*values));
        if (values == NULL) {
            t->full = true;
            return;
        }
        if (t->count > 0)
            memcpy(values, t->values, t->count * sizeof(*values));
        t->values = values;
        t->room = room;
    }
    m->value_budget--;
    t->values[t->count++] = (struct minidump_value){key, kind, number, data};
}

void minidump_tell_object(struct minidump_teller *t, const char *key)
{
    add(t, key, VALUE_OBJECT, 0, NULL);
}

void minidump_tell_array(struct minidump_teller *t, const char *key)
{
    add(t, key, VALUE_ARRAY, 0, NULL);
}

void minidump_tell_end(struct minidump_teller *t)
{
    add(t, NULL, VALUE_END, 0, NULL);
}

void minidump_tell_uint(struct minidump_teller *t, const char *key, uint64_t value)
{
    add(t, key, VALUE_UINT, value, NULL);
}

void minidump_tell_int(struct minidump_teller *t, const char *key, int32_t value)
{
    add(t, key, VALUE_INT, (uint32_t)value, NULL);
}

void minidump_tell_hex(struct minidump_teller *t, const char *key, uint64_t value)
{
    add(t, key, VALUE_HEX, value, NULL);
}

void minidump_tell_text(struct minidump_teller *t, const char *key, const char *text)
{
    add(t, key, VALUE_TEXT, 0, text);
}

void minidump_tell_bytes(struct minidump_teller *t, const char *key, struct bytes bytes)
{
    add(t, key, VALUE_BYTES, bytes.left, bytes.at);
}

uint32_t minidump_pointer_bytes(const struct minidump *dump)
{
    switch (dump->system.present ? dump->system.architecture : UINT16_MAX) {
    case 6:      /* IA64 */
    case 9:      /* AMD64 */
    case 12:     /* ARM64 */
    case 0x8002: /* Breakpad's PPC64, */
    case 0x8003: /* older ARM64, */
    case 0x8004: /* MIPS64 and */
    case 0x8006: /* RISCV64 */
        return 8;
    case UINT16_MAX:
        return dump->dump_cpu == CPU_X86 ? 4 : 8;
    default:
        return 4;
    }
}

uint64_t minidump_number(const struct minidump *dump, struct bytes *r, uint32_t bytes)
{
    switch (bytes != 0 ? bytes : minidump_pointer_bytes(dump)) {
    case 1:
        return bytes_u8(r);
    case 2:
        return bytes_u16(r);
    case 4:
        return bytes_u32(r);
    default:
        return bytes_u64(r);
    }
}

void minidump_tell_fields(struct minidump_teller *t, struct bytes *r,
                          const struct minidump_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct minidump_field *field = &fields[i];
        if (field->kind == FIELD_SKIP) {
            bytes_skip(r, field->bytes);
            continue;
        }
        uint64_t value = minidump_number(t->m->out, r, field->bytes);
        if (bytes_failed(r))
            return;
        if (field->kind == FIELD_STRING)
            minidump_tell_text(t, field->key, minidump_string(t->m, value, field->key));
        else if (field->kind == FIELD_INT)
            minidump_tell_int(t, field->key, (int32_t)value);
        else if (field->kind == FIELD_HEX)
            minidump_tell_hex(t, field->key, value);
        else
            minidump_tell_uint(t, field->key, value);
    }
}

void minidump_tell_record(struct minidump_teller *t, const char *key, struct bytes *r,
                          const struct minidump_field *fields, size_t count)
{
    minidump_tell_object(t, key);
    minidump_tell_fields(t, r, fields, count);
    minidump_tell_end(t);
}

struct bytes minidump_from(const struct minidump *dump, uint64_t foff, struct fault *fault)
{
    uint64_t left = foff <= dump->data_bytes ? dump->data_bytes - foff : 0;
    return minidump_at(dump, (struct minidump_place){foff, left}, fault);
}

/* The first of BYTES as hexadecimal digits; returns how many there was room for. */
static uint64_t write_hex(struct json *j, const uint8_t *at, uint64_t bytes, uint64_t room)
{
    static const char digits[] = "0123456789abcdef";
    char text[BYTES_SHOWN_MAX * 2 + 1];
    if (bytes > room)
        bytes = room;
    if (bytes > BYTES_SHOWN_MAX)
        bytes = BYTES_SHOWN_MAX;
    for (size_t i = 0; i < bytes; i++) {
        text[i * 2] = digits[at[i] >> 4];
        text[i * 2 + 1] = digits[at[i] & 15];
    }
    text[bytes * 2] = '\0';
    json_key_string(j, "hex", text);
    return bytes;
}

static void write_bytes(struct json *j, const uint8_t *at, uint64_t bytes, uint64_t room,
                        uint64_t *shown)
{
    uint64_t written = write_hex(j, at, bytes, room - *shown);
    json_key_uint(j, "bytes_shown", written);
    *shown += written;
}

static void write_values(struct json *j, const struct minidump *dump,
                         const struct minidump_stream *stream, uint64_t *shown)
{
    bool in_array[JSON_DEPTH_MAX] = {false};
    int depth = 0;
    for (uint32_t i = 0; i < stream->value_count; i++) {
        const struct minidump_value *value = &stream->values[i];
        if (value->key != NULL)
            json_key(j, value->key);
        switch (value->kind) {
        case VALUE_OBJECT:
        case VALUE_ARRAY:
            in_array[depth++] = value->kind == VALUE_ARRAY;
            if (value->kind == VALUE_ARRAY)
                json_array(j);
            else
                json_object(j);
            break;
        case VALUE_END:
            if (in_array[--depth])
                json_array_end(j);
            else
                json_object_end(j);
            break;
        case VALUE_UINT:
            json_uint(j, value->number);
            break;
        case VALUE_INT:
            json_int(j, (int32_t)value->number);
            break;
        case VALUE_HEX:
            json_hex(j, value->number);
            break;
        case VALUE_TEXT:
            json_string(j, value->data);
            break;
        case VALUE_BYTES:
            json_object(j);
            json_key_uint(j, "bytes", value->number);
            write_bytes(j, value->data, value->number, dump->data_bytes, shown);
            json_object_end(j);
            break;
        }
    }
    while (depth > 0) /* the list was cut */
        if (in_array[--depth])
            json_array_end(j);
        else
            json_object_end(j);
}

void minidump_write_content(struct json *j, const struct minidump *dump,
                            const struct minidump_stream *stream, uint64_t *shown)
{
    if (stream->value_count > 0) {
        write_values(j, dump, stream, shown);
    } else if (stream->told_in != NULL || stream->place.bytes == 0 ||
               stream->type == STREAM_UNUSED) {
        json_null(j);
    } else {
        json_object(j);
        json_key_string(j, "text", stream->text);
        json_key_uint(j, "text_bytes", stream->text_bytes);
        write_bytes(j, dump->data + stream->place.foff, stream->place.bytes, dump->data_bytes,
                    shown);
        json_object_end(j);
    }
}
