/* Makes a sealed case of a dump, a stack or both. */
#ifndef VERBS_CASE_IMPORT_H
#define VERBS_CASE_IMPORT_H

#include "base/fault.h"
#include "model/stack.h"
#include "verbs/verb.h"

struct case_source {
    const char *dump, *stack, *truth; /* files; NULL: there is none, but of the first two one is */
    const struct stack *given;        /* physical frames, in place of STACK; NULL: STACK is read */
    const char *out;                  /* folder in which the case's is made */
    const char *name;                 /* of the scenario; NULL: the file's */
    struct option_list own;           /* globs: images that are the user's */
};

/* NAME as part of a folder's name: what such a part cannot have becomes '_'. In KEEP; NULL: out of
 * memory. */
const char *case_import_name(const char *name, struct arena *keep);

/* *FOLDER, in KEEP, is OUT/NAME.imported with case_import_name(). Fails: as the file's reader, with
 * its path; ERR_IO. */
enum status case_import(const struct case_source *from, struct arena *keep, const char **folder,
                        struct fault *fault);

#endif
