#include "base/age.h"

#include <inttypes.h>
#include <stdio.h>

#define MINUTE_NS UINT64_C(60000000000)

const char *age_text(uint64_t ns, char out[AGE_BYTES])
{
    const uint64_t minutes = ns / MINUTE_NS;
    const uint64_t count = minutes < 60 ? minutes : minutes / (minutes < 48 * 60 ? 60 : 24 * 60);
    const char *unit = minutes < 60 ? "min" : minutes < 48 * 60 ? "h" : "days";
    (void)snprintf(out, AGE_BYTES, "%s%" PRIu64 " %s", minutes == 0 ? "under " : "",
                   minutes == 0 ? 1 : count, unit);
    return out;
}
