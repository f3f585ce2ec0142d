/* JSON documents, whose objects are read by the notations. */
#ifndef STACKS_JSON_DOCUMENTS_H
#define STACKS_JSON_DOCUMENTS_H

#include "stacks/notation.h"

enum json_form { JSON_NONE, JSON_DOCUMENT, JSON_LINES };

/* Recognises JSON by its first character. */
enum json_form json_find_form(struct stack_input *input);

/* `next` of the notations that are JSON; those with `by_line` have an object per line. */
bool json_next(struct stack_input *input, struct arena *keep, struct stack_item *out);

/* A frame that states nothing of its place, which is not address 0. */
void json_no_place(struct fault *fault);

/* Ends the walk that a notation reads: OUT has the frames that were added, in KEEP, and what was
 * left out; its other facts stay. Fails: ERR_MEMORY. */
void json_end_walk(struct stack_input *input, struct arena *keep, struct stack *out,
                   struct fault *fault);

/* True for an object with members of our own form alone. Stacks by the million are such objects, so
 * readers of many other forms ask this first. */
bool json_is_own(const cJSON *object);

/* The images that an object lists, in scratch: read once, for any number of frames. */
struct json_image {
    const cJSON *object;
    uint64_t start_va, bytes;    /* 0: not stated */
    const struct module *module; /* once it was needed, as the notation reads it */
};

struct json_images {
    const cJSON *list;
    struct json_image *items, **by_start; /* in the order of the list, and of their addresses */
    uint32_t count;
};

/* Those in LIST, whose addresses, sizes or last addresses are members of these names; NULL: not
 * read. Fails: ERR_LIMIT, ERR_MALFORMED, ERR_MEMORY. */
struct json_images *json_images(struct stack_input *input, const cJSON *list, const char *start,
                                const char *bytes, const char *last, struct fault *fault);

/* The image of a number. NULL: there is none. */
struct json_image *json_image(const struct json_images *images, uint64_t index);

/* The image that holds VA; one without a size ends where the next one begins. NULL: none. */
struct json_image *json_image_at(const struct json_images *images, uint64_t va);

#endif
