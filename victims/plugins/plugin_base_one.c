/* plugin-base-one: is loaded at the same address as plugin-base-two. */
#include "victims/plugins/plugin_base_one.h"
#include "victims/plugins/slot.h"

PLUGIN_EXPORT int plugin_add(int value);

_Static_assert(PLUGIN_ADD_LINE == __LINE__ + 2, "plugin_add has moved");
/* clang-format off */
int plugin_add(int value) { return value + 1; } /* one line, whatever its first instruction is */
/* clang-format on */

PLUGIN_EXPORT int plugin_back_one(int (*callback)(int), int value);

int plugin_back_one(int (*callback)(int), int value)
{
    return callback(value) + 1;
}
