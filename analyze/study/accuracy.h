/* How right the two ways are over the same cases: a figure of the offset way and one of the dump
 * way stand side by side only if both are of the same stacks. Computed here, once. */
#ifndef STUDY_ACCURACY_H
#define STUDY_ACCURACY_H

#include "base/json.h"
#include "base/text_pool.h"
#include "study/figures.h"

enum accuracy_way_index { ACCURACY_OFFSET, ACCURACY_DUMP, ACCURACY_WAYS };

/* Cases by which of the two ways has a thing. */
struct accuracy_split {
    uint32_t both, only_offset, only_dump, neither;
};

/* One way, over the cases that both have a judged stack of. */
struct accuracy_way {
    const char *engine;
    struct measure exact, top1, top3; /* stacks; the innermost frames are those of a signature */
    struct measure recall_micro;      /* all frames alike: a deep recursion counts as it is deep */
    double recall_macro; /* the mean over scenarios of the mean over their cases; NaN: none */
};

struct accuracy {
    struct accuracy_split judged;     /* a stack that the truth judges, of the cases that should be
                                         captured; calm programs are none */
    struct accuracy_split exact;      /* of the `judged.both` */
    uint32_t unusable[ACCURACY_WAYS]; /* of all of `judged`: no stack, or its innermost own frame is
                                         wrong */
    struct accuracy_usable {
        uint32_t judged, unusable[ACCURACY_WAYS];
    } by_cpu[CPU_COUNT]; /* the same for one processor */
    uint32_t scenarios;  /* in `recall_macro`: those whose truth demands a frame */
    struct accuracy_way ways[ACCURACY_WAYS];
};

/* Counted case by case; the cases need not stay. */
struct accuracy_count {
    struct accuracy *out;
    struct arena *keep;
    struct text_pool texts;
    struct accuracy_scenario *scenarios;
    uint32_t count, room, at; /* at: that of the last case */
};
void accuracy_begin(struct accuracy_count *count, struct arena *keep, struct accuracy *out);
enum status accuracy_add(struct accuracy_count *count, const struct run_case *c,
                         struct fault *fault);
void accuracy_end(struct accuracy_count *count);

/* The value of "accuracy", an object: see report/README.md. */
void accuracy_write_json(struct json *j, const struct run_figures *figures);

#endif
