/* Where plugin-attach sleeps in its DllMain: it cannot state its frame so early or so late. */
#ifndef VICTIMS_PLUGINS_PLUGIN_ATTACH_H
#define VICTIMS_PLUGINS_PLUGIN_ATTACH_H

enum { PLUGIN_ATTACH_SLEEP_LINE = 19, PLUGIN_DETACH_SLEEP_LINE = 17 };
#define PLUGIN_ATTACH_FILE "victims\\plugins\\plugin_attach.c"

#endif
