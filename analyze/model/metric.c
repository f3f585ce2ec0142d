/* See metric.h. */
#include "model/metric.h"

#include <string.h>

static const struct metric_facts facts[METRIC_COUNT] = {
#define METRIC_ROW(ID, NAME, TITLE, UNIT, LESS) {NAME, TITLE, METRIC_UNIT_##UNIT, LESS},
    METRICS(METRIC_ROW)
#undef METRIC_ROW
};

static const char *const unit_names[METRIC_UNIT_COUNT] = {"share", "ratio", "ns", "bytes"};

const struct metric_facts *metric_facts(enum metric metric)
{
    return &facts[metric];
}

const char *metric_name(enum metric metric)
{
    return facts[metric].name;
}

bool metric_parse(const char *name, enum metric *out)
{
    for (int i = 0; name != NULL && i < METRIC_COUNT; i++)
        if (strcmp(facts[i].name, name) == 0) {
            *out = (enum metric)i;
            return true;
        }
    return false;
}

const char *metric_unit_name(enum metric_unit unit)
{
    return unit_names[unit];
}
