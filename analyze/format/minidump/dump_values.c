/* See dump_values.h. */
#include "format/minidump/dump_values.h"

#include <string.h>

static void add(struct minidump_value_list *list, const char *key, enum minidump_value_kind kind,
                uint64_t number, const void *data)
{
    struct minidump_reader *m = list->m;
    if (list->full)
        return;
    if (m->value_budget == 0) {
        (void)fault_set(m->damage, ERR_LIMIT, FAULT_NO_OFFSET, "values of minidump streams");
        list->full = true;
        return;
    }
    if (!ARENA_ROOM(m->keep, list->values, list->room, (uint64_t)list->count + 1)) {
        (void)fault_no_memory(m->damage, "minidump");
        list->full = true;
        return;
    }
    m->value_budget--;
    list->values[list->count++] = (struct minidump_value){key, kind, number, data};
}

void minidump_add_object(struct minidump_value_list *list, const char *key)
{
    add(list, key, VALUE_OBJECT, 0, NULL);
}

void minidump_add_array(struct minidump_value_list *list, const char *key)
{
    add(list, key, VALUE_ARRAY, 0, NULL);
}

void minidump_add_end(struct minidump_value_list *list)
{
    add(list, NULL, VALUE_END, 0, NULL);
}

void minidump_add_uint(struct minidump_value_list *list, const char *key, uint64_t value)
{
    add(list, key, VALUE_UINT, value, NULL);
}

static void minidump_add_int(struct minidump_value_list *list, const char *key, int32_t value)
{
    add(list, key, VALUE_INT, (uint32_t)value, NULL);
}

void minidump_add_hex(struct minidump_value_list *list, const char *key, uint64_t value)
{
    add(list, key, VALUE_HEX, value, NULL);
}

void minidump_add_text(struct minidump_value_list *list, const char *key, const char *text)
{
    add(list, key, VALUE_TEXT, 0, text);
}

void minidump_add_bytes(struct minidump_value_list *list, const char *key, struct bytes bytes)
{
    add(list, key, VALUE_BYTES, bytes.left, bytes.at);
}

void minidump_add_fields(struct minidump_value_list *list, struct bytes *r,
                         const struct minidump_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct minidump_field *field = &fields[i];
        if (field->kind == FIELD_SKIP) {
            bytes_skip(r, field->bytes);
            continue;
        }
        uint64_t value = minidump_number(list->m->out, r, field->bytes);
        if (bytes_failed(r))
            return;
        if (field->kind == FIELD_STRING)
            minidump_add_text(list, field->key, minidump_string(list->m, value, field->key));
        else if (field->kind == FIELD_INT)
            minidump_add_int(list, field->key, (int32_t)value);
        else if (field->kind == FIELD_HEX)
            minidump_add_hex(list, field->key, value);
        else
            minidump_add_uint(list, field->key, value);
    }
}

void minidump_add_record(struct minidump_value_list *list, const char *key, struct bytes *r,
                         const struct minidump_field *fields, size_t count)
{
    minidump_add_object(list, key);
    minidump_add_fields(list, r, fields, count);
    minidump_add_end(list);
}
