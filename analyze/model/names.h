/* Tables of names: one array of texts for each enum, indexed by its values. Names are printed,
 * stored and put into JSON; code compares the enum. */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

/* The index of TEXT in NAMES, whose entries may be NULL; -1 when TEXT is NULL or not in the
 * table. */
int name_index(const char *const *names, int count, const char *text);

#endif
