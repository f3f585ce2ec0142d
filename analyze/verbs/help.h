/* What a verb's tables are printed as: its --help, its manual page, or its part of a shell's
 * completion script. All of them come from the same option rows, which each verb passes to
 * options_parse. */
#ifndef VERBS_HELP_H
#define VERBS_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "verbs/verb.h"

/* Prints SELF to stdout in one form. */
typedef void help_form(const struct verb *self, const struct option_row *rows, size_t row_count);

/* Prints SELF in the form that help_of asked for, help_text by default. */
help_form help_print;

/* Prints VERB in FORM (NULL: as text).  Not safe from more than one thread. */
void help_of(const struct verb *verb, help_form *form);

/* The verbs that help is about: main() names the table once, because the verbs in it cannot. */
struct help_table {
    const struct verb *const *rows;
    size_t count;
};
void help_about(struct help_table table);
struct help_table help_verbs(void);

/* The list of verbs, the text of `twinstack --help`. */
void help_list(FILE *out);

/* The five tasks that most users come for, each with its command: what `twinstack` alone prints. */
void help_tasks(FILE *out);

#define HELP_WHAT_IT_IS                                                                            \
    "Takes every Windows crash twice, by dump and by module!offset frames, resolves both\n"        \
    "with no Windows, and reports which engine is right."

#endif
