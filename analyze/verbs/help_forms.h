/* Forms of help other than text (help.h); each prints to stdout. */
#ifndef VERBS_HELP_FORMS_H
#define VERBS_HELP_FORMS_H

#include "verbs/help.h"

help_form help_man; /* the manual page twinstack-VERB(1) */
void help_man_of_all(void);

/* One JSON document about ONLY, or about all verbs. */
void help_json(const struct verb *only);

/* Whole completion scripts. */
void help_bash(void);
void help_zsh(void);
void help_fish(void);

#endif
