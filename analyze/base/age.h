/* How long ago something was, as people say it. */
#ifndef BASE_AGE_H
#define BASE_AGE_H

#include <stdint.h>

enum { AGE_BYTES = 32 };

/* "under 1 min", "59 min", "47 h", "2 days": whole units that are over. Pages have the same rule
 * (dashboard/web/src/ui.js). */
const char *age_text(uint64_t ns, char out[AGE_BYTES]);

#endif
