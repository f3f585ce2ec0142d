#include "base/age.h"

#include <inttypes.h>
#include <stdio.h>

#define MINUTE_NS UINT64_C(60000000000)

const char *age_text(uint64_t ns, char out[AGE_BYTES])
{
    static const uint64_t HOUR = 60, DAY = 1440; /* in minutes */
    const uint64_t minutes = ns / MINUTE_NS;
    uint64_t count = minutes / DAY;
    const char *unit = "days", *under = "";
    if (minutes < HOUR) {
        under = minutes == 0 ? "under " : "";
        count = minutes == 0 ? 1 : minutes;
        unit = "min";
    } else if (minutes < 2 * DAY) {
        count = minutes / HOUR;
        unit = "h";
    }
    (void)snprintf(out, AGE_BYTES, "%s%" PRIu64 " %s", under, count, unit);
    return out;
}
