/* A walk beside its truth, frame by frame from the innermost on: the one comparison of all that
 * scores walks at known states, which are `steps` and the reference suite. What makes two frames
 * the same is the caller's. */
#ifndef BASE_WALK_COMPARE_H
#define BASE_WALK_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

enum walk_outcome {
    WALK_RIGHT, /* the truth, to its end */
    WALK_EARLY, /* a true beginning, and then it ends; or a part of a frame is left out */
    WALK_WRONG  /* a frame that the truth does not have there */
};

enum walk_match {
    WALK_SAME,
    WALK_LESS, /* the walk leaves out what the truth knows, and what it says is true */
    WALK_OTHER
};

struct walk_pair {
    uint32_t truth_count, claim_count;
    bool open; /* the walk may go on after the truth, which is known so far */
    enum walk_match (*match)(const void *self, uint32_t index); /* frame INDEX of both */
    const void *self;
};

/* *FIRST: the frame where they part; NULL: not wanted. */
enum walk_outcome walk_compare(const struct walk_pair *pair, uint32_t *first);

#endif
