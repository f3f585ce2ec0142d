/* The name that a mistyped word was probably meant to be. */
#ifndef VERBS_NEAREST_H
#define VERBS_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    size_t length;
    const char *name; /* the best so far; NULL: none is near enough */
    size_t distance;  /* letters that differ */
};

/* WORD has LENGTH bytes; a name may differ from it in a third of its letters, at most in three. */
void nearest_begin(struct nearest *nearest, const char *word, size_t length);
void nearest_look(struct nearest *nearest, const char *name);

#endif
