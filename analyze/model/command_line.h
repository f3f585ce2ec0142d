/* The command line of a run as one text: people read it, and --resume takes its words again. */
#ifndef MODEL_COMMAND_LINE_H
#define MODEL_COMMAND_LINE_H

#include "base/arena.h"
#include "base/fault.h"

/* "twinstack LABEL WORD...", each word quoted if a shell needs it; NULL: no memory. */
const char *command_line_join(int argc, char *const *argv, const char *label, struct arena *keep);

/* Splits a text that command_line_join joined; returns the words after the verb's name.  Fails:
 * ERR_MALFORMED it is none; ERR_MEMORY. */
enum status command_line_words(const char *command, struct arena *keep, int *argc, char ***argv,
                               struct fault *fault);

/* The value of option NAME at word *i of ARGV, in any form ("-k X", "-kX", "--name X", "--name=X"),
 * and moves *i past it; NULL: another option. */
const char *command_line_value(const char *name, int argc, char *const *argv, int *i);

#endif
