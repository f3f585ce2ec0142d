/* A larger edition of a suite: too large for a repository, made where it is used. */
#ifndef SUITE_SUITE_MAKE_H
#define SUITE_SUITE_MAKE_H

#include "suite/suite.h"

struct suite_maker;

struct suite_make_request {
    const char *out;     /* a folder that has no suite yet */
    const char *edition; /* "2026.11-large" */
    const char *base;    /* a suite whose cases and files the new one has, too; NULL: none */
    const char *licence; /* of the images */
};

/* What a draft of a moment lacks. */
struct suite_made {
    const char *group; /* the list, and a part of the id: "steps-ob2" */
    uint32_t number;   /* in the group: the id is never used again */
    const char *shape; /* any text: NULL: unknown */
    const char *position;
};

/* Makes the folder, and copies the base into it. OUT is of KEEP. Fails: ERR_USAGE there is a suite;
 * like suite_open(); ERR_IO, ERR_MEMORY. */
enum status suite_make_open(const struct suite_make_request *request, struct arena *keep,
                            struct suite_maker **out, struct fault *fault);

/* Copies the file to images/. Fails: ERR_USAGE there is another one of its name; ERR_ABSENT,
 * ERR_IO, ERR_MEMORY. */
enum status suite_make_image(struct suite_maker *maker, const char *path, struct fault *fault);

/* Adds the DRAFT, JSON of a moment whose modules are of suite_make_image(), each named without a
 * folder, by the rule that it was executed. Fails: ERR_MALFORMED it lacks more than MADE has;
 * ERR_IO, ERR_MEMORY. */
enum status suite_make_moment(struct suite_maker *maker, const char *draft,
                              const struct suite_made *made, struct fault *fault);

struct suite_made_counts {
    uint32_t must, may, files, base_cases;
};

/* Writes lists and suite.json, in this order, so that the suite is there whole or not at all.
 * Fails: ERR_IO, ERR_MEMORY. */
enum status suite_make_finish(struct suite_maker *maker, struct suite_made_counts *counts,
                              struct fault *fault);

/* NULL is fine. */
void suite_make_close(struct suite_maker *maker);

#endif
