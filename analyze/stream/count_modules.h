/* Which build of a module later frames of a stream are of. */
#ifndef STREAM_COUNT_MODULES_H
#define STREAM_COUNT_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

struct stated_modules *stated_modules_new(void);
void stated_modules_free(struct stated_modules *modules);

/* Notes the lines of TEXT that state modules. Later lines replace those of the same module. Fails:
 * ERR_MEMORY. */
enum status stated_modules_add(struct stated_modules *modules, const char *text, size_t bytes,
                               struct fault *fault);

/* The same set of lines has the same hash; 0: there are none. */
uint64_t stated_modules_hash(const struct stated_modules *modules);

/* All lines, as a text in KEEP. NULL: out of memory. */
char *stated_modules_text(struct stated_modules *modules, struct arena *keep, size_t *bytes);

#endif
