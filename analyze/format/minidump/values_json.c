/* Writes the data of a stream that no other member of the JSON has: trees of values, texts,
 * bytes. */
#include <string.h>

#include "format/minidump/dump_values.h"

enum {
    BYTES_SHOWN_MAX = 16 << 10
}; /* of one stream or value; its full size is written next to it */

/* Writes the first of BYTES as hexadecimal digits; returns how many fitted. */
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
    while (depth > 0) /* the list was cut short */
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
    } else if (stream->json_member != NULL || stream->place.bytes == 0 ||
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
