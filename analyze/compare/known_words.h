/* Lists of words of an acceptance, with * and ?: scopes and causes. */
#ifndef COMPARE_KNOWN_WORDS_H
#define COMPARE_KNOWN_WORDS_H

#include <stdbool.h>

/* True when NAME matches one of the words of PATTERNS. */
bool known_words_match(const char *patterns, const char *name);

/* True when the build of one of the words of SCOPE, "scenario.variant", matches VARIANT. */
bool known_words_build(const char *scope, const char *variant);

#endif
