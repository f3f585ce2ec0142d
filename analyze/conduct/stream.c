/* See stream.h. */
#include "conduct/stream.h"

#include "conduct/shadow_judge.h"
#include "study/signatures.h"

enum status stream_work(struct work_options *options, const char *rules,
                        struct shadow_judging *judging, struct work_figures *figures,
                        struct fault *fault)
{
    struct signature_rules *read = NULL;
    struct arena keep;
    arena_init(&keep, 0);
    if (signatures_read_rules(rules, &keep, &read, fault) == ERR_NONE) {
        options->rules = read;
        if (judging != NULL) {
            judging->rules = read;
            options->judge = shadow_judge;
            options->judge_context = judging;
        }
        (void)work_run(options, figures, fault);
    }
    arena_free(&keep);
    return fault->code;
}
