/* Trees of values: stream contents that no struct of minidump.h covers. */
#ifndef FORMAT_MINIDUMP_DUMP_VALUES_H
#define FORMAT_MINIDUMP_DUMP_VALUES_H

#include "format/minidump/core.h"

/* The values of one stream while they are collected. */
struct minidump_value_list {
    struct minidump_reader *m;
    struct minidump_value *values;
    uint32_t count, room;
    bool full; /* out of memory or over the budget (which is noted): nothing more is added */
};

/* Each adds one value; KEY is NULL inside an array.  Every object and array needs its end. */
void minidump_add_object(struct minidump_value_list *list, const char *key);
void minidump_add_array(struct minidump_value_list *list, const char *key);
void minidump_add_end(struct minidump_value_list *list);
void minidump_add_uint(struct minidump_value_list *list, const char *key, uint64_t value);
void minidump_add_hex(struct minidump_value_list *list, const char *key, uint64_t value);
void minidump_add_text(struct minidump_value_list *list, const char *key, const char *text);
void minidump_add_bytes(struct minidump_value_list *list, const char *key, struct bytes bytes);

enum minidump_field_kind {
    FIELD_UINT,
    FIELD_INT, /* of 32 bits */
    FIELD_HEX,
    FIELD_STRING, /* 32-bit offset of a MINIDUMP_STRING; 0: none */
    FIELD_SKIP,
};

/* One member of a structure. `bytes` is its size; 0 means a pointer of the crashed process. */
struct minidump_field {
    const char *key;
    enum minidump_field_kind kind;
    uint8_t bytes;
};

/* Reads COUNT members from R and adds them, up to the first that is past R's end (R keeps that
 * fault). */
void minidump_add_fields(struct minidump_value_list *list, struct bytes *r,
                         const struct minidump_field *fields, size_t count);

/* Like minidump_add_fields(), but in a new object. */
void minidump_add_record(struct minidump_value_list *list, const char *key, struct bytes *r,
                         const struct minidump_field *fields, size_t count);

/* Writes the data of a stream that no other member of the JSON has, as the value of the key just
 * written. *SHOWN counts the raw bytes written for all streams: never more than the file has. */
void minidump_write_content(struct json *j, const struct minidump *dump,
                            const struct minidump_stream *stream, uint64_t *shown);

#endif
