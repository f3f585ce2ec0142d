/* plugin-base-one: comes to the same address as plugin-base-two. */
#include "victims/plugins/plugin_base_one.h"
#include "victims/plugins/slot.h"

PLUGIN_EXPORT int plugin_add(int value);

int plugin_add(int value)
{
    _Static_assert(PLUGIN_ADD_LINE == __LINE__ + 1, "plugin_add has moved");
    return value + 1;
}
