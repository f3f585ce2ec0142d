/* Which stack belongs to which dump: by the stem of the files' names, by labels in one file of many
 * stacks, or by a table. */
#ifndef REPORTER_PAIRS_H
#define REPORTER_PAIRS_H

#include "reporter/given.h"

struct pair {
    const char *name;                /* the stem, or the label */
    const char *dump;                /* path; NULL: there is none */
    const char *stack;               /* path; NULL: there is none */
    const struct given_stack *given; /* of a file of many; NULL: STACK is read */
    uint32_t thread;                 /* 0: the one that the dump is about */
};

struct pairs {
    struct pair *at; /* sorted by name */
    uint32_t count, room;
    struct given_file shared; /* of one file of many stacks */
};

/* DUMPS is a folder; STACKS a folder or a file. TABLE: a CSV file with lines `dump,stack,thread`,
 * relative to these folders; NULL: none. Fails: ERR_ABSENT, ERR_IO; ERR_MALFORMED a line of the
 * table, or two files of one stem; ERR_MEMORY. */
enum status pairs_find(const char *dumps, const char *stacks, const char *table, struct arena *keep,
                       struct pairs *out, struct fault *fault);

#endif
