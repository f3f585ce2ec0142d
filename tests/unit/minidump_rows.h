/* One small dump for each kind of stream that is reported as values or as bytes. */
#ifndef TESTS_UNIT_MINIDUMP_ROWS_H
#define TESTS_UNIT_MINIDUMP_ROWS_H

#include "minidump_maker.h"

struct minidump_row {
    const char *name;
    uint16_t architecture;
    void (*fill)(struct maker *m); /* writes what the stream refers to, begins it, leaves it open */
    /* The JSON member that holds the stream's values, and a part of its content. */
    const char *json_member, *content;
};

extern const struct minidump_row minidump_rows[];
extern const size_t minidump_row_count;

/* The row of that name. The test fails if there is none. */
const struct minidump_row *minidump_row_find(const char *name);

/* Makes the whole dump of a row. The row's stream comes last and ends the file. */
void minidump_row_make(struct maker *m, const struct minidump_row *row);

#endif
