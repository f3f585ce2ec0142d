/* What every plugin has: the slot of the shadow stacks, set by the program that loads it. */
#ifndef VICTIMS_PLUGINS_SLOT_H
#define VICTIMS_PLUGINS_SLOT_H

#include "victims/victim.h"

#if defined(_MSC_VER)
#define PLUGIN_EXPORT __declspec(dllexport)
#elif !defined(_WIN64) /* the linker exports everything */
#define PLUGIN_EXPORT
#else
#define PLUGIN_EXPORT __attribute__((dllexport))
#endif

uint32_t truth_slot;

PLUGIN_EXPORT void plugin_set_slot(uint32_t slot);
PLUGIN_EXPORT void plugin_set_slot(uint32_t slot)
{
    truth_slot = slot;
}

#endif
