/* Tables of names: one array of texts for each enum, indexed by its values.  A name is what is
 * printed, stored and put into JSON; programs compare the enum. */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

/* The index of TEXT in NAMES, where entries may be NULL; -1 when it is not there or TEXT is NULL.
 */
int name_index(const char *const *names, int count, const char *text);

#endif
