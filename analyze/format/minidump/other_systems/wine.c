/* Wine's stream of ELF images: a second MINIDUMP_MODULE_LIST, of images that Windows does not know.
 */
#include "format/minidump/streams.h"

void minidump_detail_wine_modules(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field fields[] = {
        {"base", FIELD_HEX, 8},      {"size", FIELD_HEX, 4},    {"checksum", FIELD_HEX, 4},
        {"timestamp", FIELD_HEX, 4}, {"path", FIELD_STRING, 4}, {NULL, FIELD_SKIP, 84}};
    uint32_t count = bytes_count(&r, bytes_u32(&r), 108);
    minidump_add_array(list, NULL);
    for (uint32_t i = 0; i < count && !list->full; i++)
        minidump_add_record(list, NULL, &r, fields, COUNT_OF(fields));
    minidump_add_end(list);
}
