/* Results of several tools, case by case. */
#ifndef SUITE_MATRIX_H
#define SUITE_MATRIX_H

#include "suite/score.h"

/* One more than enum suite_outcome: no result of the tool has the case. */
enum { MATRIX_NOT_ASKED = SUITE_OUTCOMES, MATRIX_OUTCOMES };

enum { RESULT_BYTES_MAX = 256 << 20 };

/* One version of a tool. Several results of it, e.g. of walks and of names, are one. */
struct matrix_tool {
    const char *name, *version, *bugs; /* BUGS: where its faults are reported; NULL */
    const char *edition, *when;        /* of its first result */
    uint64_t wall_ms, peak_bytes;      /* the sum and the most of its results */
    uint8_t *outcomes;                 /* by case of the suite */
    /* By case of the suite; of cases whose outcome differs here, the result has no answer. NULL: it
     * has none at all. */
    struct suite_answer *answers;
    uint32_t elsewhere; /* cases that the suite, as it was selected, has not */
};

struct matrix {
    const struct suite *suite;
    struct matrix_tool *tools; /* in the order in which results were added */
    uint32_t count;
    const uint32_t *order; /* the cases by capability, shape and id */
    const uint32_t *by_id;
};

/* An empty matrix, to which at most RESULTS are added. SUITE outlives it. Fails: ERR_MEMORY. */
enum status matrix_open(const struct suite *suite, uint32_t results, struct arena *keep,
                        struct matrix *out, struct fault *fault);

/* Adds the result in TEXT ($defs/result of corpus/reference/schema.json). Fails: ERR_MALFORMED,
 * also where a version of a tool has two answers to one case; ERR_MEMORY. */
enum status matrix_add(struct matrix *matrix, const char *text, size_t bytes, struct arena *keep,
                       struct fault *fault);

/* Adds the result in the file PATH. Fails like matrix_add() and file_read(), with the path. */
enum status matrix_add_file(struct matrix *matrix, const char *path, struct arena *keep,
                            struct fault *fault);

/* Adds a score of this run, whose answers outlive the matrix. WHEN: "2026-11-28". Fails like
 * matrix_add(). */
enum status matrix_add_score(struct matrix *matrix, const struct score *score, const char *when,
                             struct arena *keep, struct fault *fault);

/* The place in ORDER after the last case that has the capability (and, if BY_SHAPE, the shape) of
 * the case at place FROM. */
uint32_t matrix_end(const struct matrix *matrix, uint32_t from, bool by_shape);

/* Adds up the outcomes of a tool at the places FROM to END of ORDER. */
void matrix_count(const struct matrix *matrix, uint32_t tool, uint32_t from, uint32_t end,
                  uint32_t counts[MATRIX_OUTCOMES]);

/* What the tool answered to a case that it has early or wrong; NULL: its result does not say. */
const struct suite_answer *matrix_answer(const struct matrix_tool *tool, uint32_t case_index);

/* True when one of the outcomes that were counted is an answer. */
bool matrix_covers(const uint32_t counts[MATRIX_OUTCOMES]);

/* True when the case of the suite is answered wrongly, or not, by versions of one tool alone, and
 * another tool is right. *TOOL is the first of those versions. */
bool matrix_wrong_here_only(const struct matrix *matrix, uint32_t case_index, uint32_t *tool);

/* "right", ..., "not asked". */
const char *matrix_outcome_name(int outcome);

#endif
