/* What breakpad.c and skim.c share: the records of a symbol file, one line each. */
#ifndef FORMAT_BREAKPAD_RECORDS_H
#define FORMAT_BREAKPAD_RECORDS_H

#include "format/breakpad/breakpad.h"

/* The rest of a line that has not been parsed yet. */
struct breakpad_words {
    const char *at, *end;
};

enum breakpad_parsed { PARSED, PARSED_DAMAGED, PARSED_NO_MEMORY };

/* Removes the next line from the text, without its end and the blanks before it; false at the end
 * of the text. */
bool breakpad_next_line(const char **at, const char *end, struct breakpad_words *out);

/* Reads the MODULE line and prepares the struct. Fails: see breakpad_read(). */
enum status breakpad_read_head(const char **at, const char *end, struct breakpad *out,
                               struct fault *fault);

enum breakpad_group {
    RECORD_NAME = 1, /* functions, publics, files, origins */
    RECORD_CODE = 2, /* lines and inlined calls */
    RECORD_OTHER = 4,
    RECORD_ANY = 7,
};

/* Reads a record if it is of one of the GROUPS. Lines and inlined calls are added to the function
 * FILE->current. */
enum breakpad_parsed breakpad_read_record(struct breakpad *file, struct breakpad_words w,
                                          unsigned groups);

/* True for a record that starts a function; a damaged one does not. */
bool breakpad_starts_function(struct breakpad_words w);

/* The order of the lines of a function. */
void breakpad_sort_lines(struct breakpad *file, const struct breakpad_function *function);

/* The first of the sorted NAMES with that number; NULL: none. */
const struct breakpad_name *breakpad_name_of(const struct breakpad_name *names, uint32_t count,
                                             uint32_t number);

/* The first of the functions, or publics, that start last at or before RVA; NULL: none. */
const struct breakpad_function *breakpad_function_before(const struct breakpad *file, uint64_t rva);
const struct breakpad_public *breakpad_public_before(const struct breakpad *file, uint64_t rva);

#endif
