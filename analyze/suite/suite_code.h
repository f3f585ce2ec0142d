/* The code at which a walk takes a step, or a name is asked for: for the page of results alone. No
 * contestant is judged by it. */
#ifndef SUITE_SUITE_CODE_H
#define SUITE_SUITE_CODE_H

#include "code/code.h"
#include "suite/suite.h"

/* Images of a suite, opened when they are first asked for. Not thread safe. NULL: out of memory. */
struct suite_images;
struct suite_images *suite_images_open(const struct suite *suite);
void suite_images_close(struct suite_images *images);

/* The instructions around the address of FRAME of the truth of C, 0 the innermost; of an address,
 * around that. *WHY: why there is none, without a full stop; NULL: there are some. Texts live in
 * KEEP, bytes as long as IMAGES. Fails: ERR_MEMORY. */
enum status suite_code_list(struct suite_images *images, const struct suite_case *c, uint32_t frame,
                            struct arena *keep, struct code_listing *out, const char **why,
                            struct fault *fault);

#endif
