/* The stream 0x54570099: a number and flags, 32 bits each. */
#include "format/minidump/streams.h"

void minidump_detail_recipe(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field fields[] = {{"answer", FIELD_UINT, 4},
                                                   {"flags", FIELD_HEX, 4}};
    minidump_add_record(list, NULL, &r, fields, COUNT_OF(fields));
}
