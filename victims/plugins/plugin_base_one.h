/* The first line with code of plugin_add: a call into it once it is unloaded never gets to note
 * itself. */
#ifndef VICTIMS_PLUGINS_PLUGIN_BASE_ONE_H
#define VICTIMS_PLUGINS_PLUGIN_BASE_ONE_H

enum { PLUGIN_ADD_LINE = 9 };
#define PLUGIN_ADD_FILE "victims\\plugins\\plugin_base_one.c"

#endif
