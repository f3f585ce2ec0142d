/* -o FILE: what the program prints goes into a file instead. */
#ifndef VERBS_OUTPUT_H
#define VERBS_OUTPUT_H

#include <stdbool.h>

/* From now on standard output is collected for PATH (borrowed until output_end()); "-": it stays as
 * it is.  False: PATH is no place for a file, or there is no temporary file. */
bool output_to(const char *path);

/* Writes what was collected, whole or not at all; a verb that fails without a word leaves an older
 * file as it is. Returns CODE, or EXIT_INPUT after it reported that the file cannot be written. */
int output_end(int code);

#endif
