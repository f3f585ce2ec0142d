/* See cpu.h. */
#include "model/cpu.h"

#include "model/names.h"

#define CPU_NAMED(PLACE, ID, NAME) [CPU_##ID] = (NAME),
static const char *const cpu_names[CPU_COUNT] = {[CPU_UNKNOWN] = "unknown", CPU_ORDER(CPU_NAMED)};

#define CPU_AT(PLACE, ID, NAME) [PLACE] = CPU_##ID,
const enum cpu cpu_order[CPU_COUNT] = {CPU_ORDER(CPU_AT)};

const char *cpu_name(enum cpu cpu)
{
    return cpu_names[(unsigned)cpu < CPU_COUNT ? cpu : CPU_UNKNOWN];
}

enum cpu cpu_parse(const char *text)
{
    const int found = name_index(cpu_names, CPU_COUNT, text);
    return found < 0 ? CPU_UNKNOWN : (enum cpu)found;
}
