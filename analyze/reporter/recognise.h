/* Names the way in which a given stack differs from the true one.
 *
 * Each way is a function that predicts, from the true frames and from what the dump states, what a
 * reporter with that fault writes. It is proved when the prediction equals the given stack, frame
 * by frame; ways with fewer free numbers are asked first. Nothing here reads a file: the dump and
 * its images answer through struct crash_world. */
#ifndef REPORTER_RECOGNISE_H
#define REPORTER_RECOGNISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/module.h"
#include "reporter/mechanism.h"

/* One frame of a given or a true stack. */
struct place {
    const char *module;         /* NULL: in no module; then OFFSET is the address */
    const struct module *image; /* true frames: the loaded module; given ones: what they state */
    uint64_t offset;
    uint64_t va;          /* true frames only */
    bool interrupted;     /* looked up where it is, not one byte earlier */
    bool no_offset;       /* only its name is stated */
    const char *function; /* stated by the reporter, or NULL */
};

struct places {
    const struct place *at;
    uint32_t count;
};

enum named_as { NAMED_OTHERWISE, NAMED_UNKNOWN, NAMED_HERE, NAMED_WITHOUT_STEP };

/* What the dump and the images say. Each function may be NULL: nothing is known. */
struct crash_world {
    void *self;
    const struct module *const *modules; /* loaded ones, then unloaded ones */
    uint32_t module_count;
    /* The base that the image was linked for; false: not known. */
    bool (*preferred_base)(void *self, const struct module *module, uint64_t *out);
    /* The section that contains RVA; false: not known. */
    bool (*section)(void *self, const struct module *module, uint64_t rva, uint32_t *start_rva,
                    uint32_t *start_foff);
    /* VA can be code, as far as the images are there. */
    bool (*is_code)(void *self, uint64_t va);
    /* Where the live stack holds VA; 0: nowhere. */
    uint64_t (*stack_slot)(void *self, uint64_t va);
    /* How many inline frames are at the lookup address of a true frame. */
    uint32_t (*inlines)(void *self, const struct place *frame);
    /* Whether NAME is what the symbols say of a true frame: at its lookup address, or else at its
     * address without the step back. */
    enum named_as (*named)(void *self, const struct place *frame, const char *name);
    /* The stack that the chain of frame pointers gives. */
    struct places (*chain)(void *self);
    /* The stack of the INDEX-th other thread; false: there are no more. */
    bool (*thread)(void *self, uint32_t index, uint32_t *id, struct places *out);
};

struct recognition {
    const struct crash_world *world;
    struct arena *keep;
    struct places given, truth;
};

struct recognised {
    enum reporter_mechanism mechanism;
    const char *words;   /* what exactly, of this stack; NULL: nothing to add */
    const char *variant; /* the same for all stacks of a group, "after 32 frames"; NULL */
    uint32_t first;      /* the first frame of the given stack that shows it */
};

/* Fills OUT; MECHANISM_UNEXPLAINED when no way is proved. False: out of memory. */
bool recognise(const struct recognition *in, struct recognised *out);

/* Equality of frames: module and offset; of names only, where there is no offset. */
bool place_same(const struct recognition *in, const struct place *given, const struct place *truth);
/* Module names, case folded; one of them may lack its extension. */
bool module_names_equal(const char *a, const char *b);
/* How many frames at the front are the same. */
uint32_t places_common(const struct recognition *in);

/* ---- the ways, in recognise_*.c: false when the way is not proved ------------------------ */
typedef bool recognise_fn(const struct recognition *in, struct recognised *out);
recognise_fn recognise_wrong_build, recognise_lookup, recognise_other_symbols, recognise_absolute,
    recognise_preferred, recognise_low_32, recognise_shifted, recognise_modules, recognise_reversed,
    recognise_inlines, recognise_duplicated, recognise_chain, recognise_missing, recognise_handler,
    recognise_thread, recognise_invented;

#endif
