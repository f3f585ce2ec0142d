/* See stream.h. */
#include "study/stream.h"

#include "study/signatures.h"

enum status stream_work(struct work_options *options, const char *rules,
                        struct work_figures *figures, struct fault *fault)
{
    struct signature_rules *read = NULL;
    struct arena keep;
    arena_init(&keep, 0);
    if (signatures_read_rules(rules, &keep, &read, fault) == ERR_NONE) {
        options->rules = read;
        (void)work_run(options, figures, fault);
    }
    arena_free(&keep);
    return fault->code;
}
