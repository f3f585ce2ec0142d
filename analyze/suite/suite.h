/* A reference suite: the cases of a folder that corpus/reference/README.md describes, and its
 * schema.json in every detail. */
#ifndef SUITE_SUITE_H
#define SUITE_SUITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

enum suite_level {
    SUITE_MUST,   /* the one answer */
    SUITE_MAY,    /* each of some answers */
    SUITE_UNKNOWN /* any answer: only that there is one is looked at */
};

enum suite_kind {
    SUITE_MOMENT,  /* a walk is asked for: frames are return addresses */
    SUITE_ADDRESS, /* names are asked for: frames are functions, files and lines */
    SUITE_DUMP     /* the walk of one thread of a minidump: frames as those of a moment */
};

/* Spellings of one name, each of which is right; COUNT 0: none is known. */
struct suite_names {
    const char **names;
    uint32_t count;
};

enum suite_inlined { SUITE_INLINED_UNKNOWN, SUITE_NOT_INLINED, SUITE_INLINED };

struct suite_frame {
    uint64_t ip, sp;                   /* of a moment or a dump */
    struct suite_names function, file; /* of an address, as the next two */
    uint32_t line;                     /* 0: unknown */
    enum suite_inlined inlined;
};

/* Innermost first. */
struct suite_walk {
    const struct suite_frame *frames;
    uint32_t count;
};

struct suite_case {
    enum suite_kind kind;
    const char *id, *capability, *processor, *shape, *position;
    const char *rule, *rule_url; /* RULE_URL: NULL where no page says it */
    enum suite_level level;
    bool whole; /* of SUITE_MUST: the walk ends after its frames */
    const struct suite_walk *walks;
    uint32_t walk_count;
    const char **conflicts; /* ids of cases of another Windows, of which only one can be right */
    uint32_t conflict_count;
    const char *question; /* the line that a contestant gets, with its end */
};

struct suite {
    const char *folder;  /* absolute */
    const char *edition; /* "2026.11" */
    struct suite_case *cases;
    uint32_t count;
    uint32_t not_asked; /* cases of kinds that are not read yet: counted */
};

/* Reads the suite in FOLDER: the cases that EXPR selects (see base/expression.h; a word is true
 * when it is part of the id, the shape, the position or the capability, or is the level; NULL:
 * all). Every file must have the hash that suite.json states. Texts live in KEEP. Fails:
 * ERR_ABSENT, ERR_IO, ERR_MALFORMED with the place, ERR_USAGE (EXPR), ERR_MEMORY. */
enum status suite_open(const char *folder, const char *expr, struct arena *keep, struct suite *out,
                       struct fault *fault);

#endif
