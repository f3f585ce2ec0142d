/* Equality of function names and of source files. */
#ifndef COMPARE_SAME_NAMES_H
#define COMPARE_SAME_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Names are equal up to the parameter list, without class/struct/enum/union and blanks; an
 * unqualified truth ("poke") equals a qualified name ("app::poke"). */
bool compare_names(const char *truth, const char *name);

/* Paths are equal after '\' -> '/', relative to ROOT (NULL: none), case folded.  BARE: one of them
 * is from an outside program, which may report base names only; then base names are compared. */
bool compare_files(const char *truth, const char *file, const char *root, bool bare);

/* Hashes of the spelling that compare_names() compares; 0 for NULL. */
uint64_t compare_name_hash(const char *name);
uint64_t compare_last_name_hash(const char *name); /* what an unqualified truth equals */

#endif
