/* JSON documents, whose objects are read by the notations. */
#ifndef STACKS_JSON_DOCUMENTS_H
#define STACKS_JSON_DOCUMENTS_H

#include "stacks/notation.h"

enum json_form { JSON_NONE, JSON_DOCUMENT, JSON_LINES };

/* Recognises JSON by its first character. */
enum json_form json_find_form(struct stack_input *input);

/* `next` of the notations that are JSON; those with `by_line` have an object per line. */
bool json_next(struct stack_input *input, struct arena *keep, struct stack_item *out);

#endif
