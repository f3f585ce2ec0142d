/* What crash reporters add to a minidump: Breakpad's and Crashpad's streams, and our own.
 *
 *   CRASHPAD INFO          OFFSET SIZE     Annotations: count, then (key, value) places of
 *   version                     0    4     UTF-8 texts (length, bytes, NUL).  Modules: count,
 *   report id                   4   16     then (module index, place of MODULE INFO):
 *   client id                  20   16       version             0    4
 *   annotations place          36    8       list place          4    8
 *   modules place              44    8       annotations place  12    8
 *                                            objects place      20    8
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "format/minidump/streams.h"

void minidump_read_breakpad(struct minidump_reader *m, struct bytes r)
{
    struct minidump_breakpad *out = &m->out->breakpad;
    out->validity = bytes_u32(&r);
    out->dump_thread_id = bytes_u32(&r);
    out->requesting_thread_id = bytes_u32(&r);
    out->present = !bytes_failed(&r);
}

void minidump_read_assertion(struct minidump_reader *m, struct bytes r)
{
    struct minidump_breakpad *out = &m->out->breakpad;
    out->assert_expression = minidump_utf16(m, &r, 256);
    out->assert_function = minidump_utf16(m, &r, 256);
    out->assert_file = minidump_utf16(m, &r, 256);
    out->assert_line = bytes_u32(&r);
    out->assert_type = bytes_u32(&r);
}

static void guid_text(const uint8_t *guid, char out[40])
{
    (void)snprintf(out, 40, "%08" PRIx32 "-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                   load_u32(guid), (unsigned)load_u16(guid + 4), (unsigned)load_u16(guid + 6),
                   guid[8], guid[9], guid[10], guid[11], guid[12], guid[13], guid[14], guid[15]);
}

/* A list of annotations, being filled. */
struct annotation_list {
    struct minidump_text *rows;
    uint32_t count, room;
};

static void add_annotation(struct annotation_list *list, const char *key, const char *value,
                           uint32_t type)
{
    if (list->count < list->room && (key != NULL || value != NULL))
        list->rows[list->count++] =
            (struct minidump_text){key != NULL ? key : "", value != NULL ? value : "", type};
}

/* How many entries of SIZE a counted list at PLACE holds; 0 when there is none. */
static uint32_t counted(struct minidump_reader *m, struct minidump_place place, size_t size,
                        struct bytes *out)
{
    if (place.bytes == 0)
        return 0;
    *out = minidump_at(m->out, place, m->damage);
    return bytes_count(out, bytes_u32(out), size);
}

static void read_annotations(struct minidump_reader *m, struct bytes r, uint32_t count,
                             struct annotation_list *list)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *key = minidump_utf8(m, bytes_u32(&r), "annotation key");
        add_annotation(list, key, minidump_utf8(m, bytes_u32(&r), "annotation value"), 1);
    }
}

/* The bytes of an annotation that is not text (count, bytes), as hexadecimal digits. */
static const char *annotation_bytes(struct minidump_reader *m, uint32_t foff)
{
    if (foff == 0)
        return NULL;
    struct bytes r = minidump_from(m->out, foff, m->damage);
    uint32_t count = bytes_count(&r, bytes_u32(&r), 1);
    if (bytes_failed(&r) || !minidump_spend_text(m, (uint64_t)count * 2, foff))
        return NULL;
    char *text = minidump_array(m, count + 1, 2);
    for (uint32_t i = 0; text != NULL && i < count; i++)
        (void)snprintf(text + (size_t)i * 2, 3, "%02x", r.at[i]);
    return text;
}

/* Annotation objects: name place, type (1: text), reserved, value place. */
static void read_objects(struct minidump_reader *m, struct bytes r, uint32_t count,
                         struct annotation_list *list)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *name = minidump_utf8(m, bytes_u32(&r), "annotation name");
        uint16_t type = bytes_u16(&r);
        bytes_skip(&r, 2);
        uint32_t foff = bytes_u32(&r);
        const char *value =
            type == 1 ? minidump_utf8(m, foff, "annotation value") : annotation_bytes(m, foff);
        add_annotation(list, name, value, type);
    }
}

static void read_list(struct minidump_reader *m, struct bytes r, uint32_t count,
                      struct annotation_list *list)
{
    for (uint32_t i = 0; i < count; i++)
        add_annotation(list, NULL, minidump_utf8(m, bytes_u32(&r), "annotation"), 1);
}

static void read_module_info(struct minidump_reader *m, struct minidump_place place,
                             struct minidump_module *module)
{
    if (place.bytes == 0 || module->annotation_count > 0)
        return;
    struct bytes r = minidump_at(m->out, place, m->damage), texts, pairs, objects;
    (void)bytes_u32(&r);
    struct minidump_place list_place = minidump_location(m, &r, "annotation list");
    struct minidump_place pair_place = minidump_location(m, &r, "annotations of a module");
    struct minidump_place object_place = {0, 0};
    if (r.left >= 8)
        object_place = minidump_location(m, &r, "annotation objects");
    uint32_t text_count = counted(m, list_place, 4, &texts);
    uint32_t pair_count = counted(m, pair_place, 8, &pairs);
    uint32_t object_count = counted(m, object_place, 12, &objects);
    uint64_t room = (uint64_t)text_count + pair_count + object_count;
    if (room == 0 || room > LIMIT_THREADS)
        return;
    struct annotation_list list = {.room = (uint32_t)room};
    list.rows = minidump_array(m, list.room, sizeof(*list.rows));
    if (list.rows == NULL)
        return;
    if (text_count > 0)
        read_list(m, texts, text_count, &list);
    if (pair_count > 0)
        read_annotations(m, pairs, pair_count, &list);
    if (object_count > 0)
        read_objects(m, objects, object_count, &list);
    module->annotations = list.rows;
    module->annotation_count = list.count;
}

void minidump_read_crashpad(struct minidump_reader *m, struct bytes r)
{
    struct minidump_crashpad *out = &m->out->crashpad;
    struct bytes list;
    out->version = bytes_u32(&r);
    const uint8_t *report = bytes_take(&r, 16), *client = bytes_take(&r, 16);
    struct minidump_place annotations = minidump_location(m, &r, "annotations");
    struct minidump_place modules = minidump_location(m, &r, "module annotations");
    if (bytes_failed(&r))
        return;
    out->present = true;
    if (r.left >= 12) { /* later writers: a reserved word first */
        bytes_skip(&r, 4);
        out->address_mask = bytes_u64(&r);
    }
    guid_text(report, out->report_id);
    guid_text(client, out->client_id);
    uint32_t count = counted(m, annotations, 8, &list);
    if (count > 0 && count <= LIMIT_THREADS) {
        struct annotation_list rows = {.room = count};
        rows.rows = minidump_array(m, count, sizeof(*rows.rows));
        if (rows.rows != NULL)
            read_annotations(m, list, count, &rows);
        out->annotations = rows.rows;
        out->annotation_count = rows.count;
    }
    count = counted(m, modules, 12, &list);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = bytes_u32(&list);
        struct minidump_place place = minidump_location(m, &list, "module annotations");
        if (index < m->out->module_count)
            read_module_info(m, place, &m->out->modules[index]);
    }
}

void minidump_read_user(struct minidump_reader *m, struct bytes r)
{
    struct record *record = ARENA_NEW(m->keep, struct record);
    if (record == NULL) {
        (void)fault_no_memory(m->damage, "minidump");
        return;
    }
    (void)record_read_stream(r, m->keep, record);
    m->out->user = record; /* even from a damaged record: its complete parts are valid */
}
