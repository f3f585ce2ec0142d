/* Notes on stderr about the symbols, at the end: that indexes were built, since the first use of a
 * module takes longer than all later ones, and what was named without a use. */
#ifndef VERBS_INDEX_NOTE_H
#define VERBS_INDEX_NOTE_H

#include <stdint.h>

struct symbol_store;

/* COUNT indexes were built in NS nanoseconds; 0: nothing is printed. */
void index_note(uint32_t count, uint64_t ns);
void index_note_of(struct symbol_store *store); /* NULL: nothing is printed */

/* FILES: what was named and gave nothing; NULL: nothing is printed. */
void unused_note(const char *files);

#endif
