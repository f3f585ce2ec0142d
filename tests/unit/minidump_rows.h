/* One small dump for each kind of stream that is reported as values or as bytes. */
#ifndef TESTS_UNIT_MINIDUMP_ROWS_H
#define TESTS_UNIT_MINIDUMP_ROWS_H

#include "minidump_maker.h"

struct minidump_row {
    const char *name;
    uint16_t architecture;
    void (*fill)(struct maker *m); /* begins the stream, after what it points to; does not end it */
    /* In the JSON: the member that holds its values, and a part of its content. */
    const char *json_member, *content;
};

extern const struct minidump_row minidump_rows[];
extern const size_t minidump_row_count;

/* The row of that name; a failure when there is none. */
const struct minidump_row *minidump_row_find(const char *name);

/* The whole dump of a row; the row's stream is the last, and ends the file. */
void minidump_row_make(struct maker *m, const struct minidump_row *row);

#endif
