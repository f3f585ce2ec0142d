/* Patterns of lines that other tools print. notation_spellings.c has most of them.
 *
 *     ' '   one or more blanks         other characters   themselves; x also as X
 *     %n    a decimal number           %a   an address: hexadecimal digits, with or without 0x; of
 *                                           two in a line, the first counts
 *     %b    the address that the module is loaded at, spelt as %a
 *     %o    hexadecimal, and %d        decimal: an offset in the module
 *     %D    a decimal distance from the start of the function, %X a hexadecimal one with 0x
 *     %1    exactly one blank; %{ and %} themselves, not within {...}
 *     %m    the module: text up to what follows in the pattern; %w the same without blanks, %e the
 *           same when it ends in .exe, .dll, .so and the like
 *     %f    the function; %F and %L a file and a line apart
 *     %s    FILE:LINE or FILE:LINE:COLUMN, without " at "; %p the same after the blank that ends a
 *           function, without a word of the function
 *     %i    the identity of the module, hexadecimal digits
 *     %*    anything, also nothing
 *     {...} may be missing
 *
 * A text is as short as what follows allows; a module or file closes the parentheses that it opens,
 * a function its template arguments; the whole line must match. */
#ifndef STACKS_STACK_PATTERN_H
#define STACKS_STACK_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed text, not terminated. */
struct pattern_text {
    const char *at, *end;
};

struct pattern_match {
    struct pattern_text module, function, file, identity; /* empty: not in the line */
    uint64_t number, address, offset, distance, line;
    bool has_number, has_address, has_offset; /* the last also of an address and a base */
};

/* False: LINE is different, or so intricate that the comparison was given up. */
bool pattern_matches(const char *pattern, struct pattern_text line, struct pattern_match *out);

/* Which characters are in LINE, and which a line needs to match PATTERN, as bits: what lacks one of
 * these cannot match. Far cheaper to see than by the comparison. */
uint64_t pattern_marks(struct pattern_text line);
uint64_t pattern_needs(const char *pattern);

/* pattern_matches() with the first of COUNT patterns that matches. */
bool pattern_matches_any(const char *const *patterns, size_t count, struct pattern_text line,
                         struct pattern_match *out);

/* Parts of texts. */
size_t pattern_length(struct pattern_text text);
bool pattern_starts(struct pattern_text text, const char *word);
void pattern_skip_blanks(struct pattern_text *text);
/* Skips blanks and takes the text up to the next one. */
struct pattern_text pattern_next_word(struct pattern_text *text);
/* NULL: not there. */
const char *pattern_find(struct pattern_text text, char c);
const char *pattern_find_last(struct pattern_text text, const char *word);
/* Where the parameters after a FUNCTION's name begin, else its end. */
const char *pattern_parameters(struct pattern_text function);

#endif
