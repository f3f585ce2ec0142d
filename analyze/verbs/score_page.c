/* See score_page.h. */
#include "verbs/score_page.h"

#include <inttypes.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "suite/result_page.h"
#include "verbs/open_store.h"

static void warn_elsewhere(const struct matrix *matrix)
{
    for (uint32_t i = 0; i < matrix->count; i++)
        if (matrix->tools[i].elsewhere > 0)
            log_warn("%s %s: %" PRIu32 " cases of its result (edition %s) are not in the suite "
                     "(edition %s)",
                     matrix->tools[i].name, matrix->tools[i].version, matrix->tools[i].elsewhere,
                     matrix->tools[i].edition, matrix->suite->edition);
}

static enum status write_page(const void *context, FILE *out, struct fault *fault)
{
    return result_page(context, NULL, out, fault);
}

struct badge_of {
    const struct suite_badge *badge;
    const char *words;
};

static enum status write_badge(const void *context, FILE *out, struct fault *fault)
{
    const struct badge_of *of = context;
    (void)fault;
    suite_badge_write(of->badge, of->words, out);
    return ERR_NONE;
}

/* All names first: no badge is written where one would replace another. */
static enum status name_badges(const struct suite_badge *badges, const char **names, uint32_t count,
                               struct arena *keep, struct fault *fault)
{
    for (uint32_t i = 0; i < count; i++) {
        names[i] = suite_badge_file_name(&badges[i], keep);
        if (names[i] == NULL)
            return fault_no_memory(fault, "badges");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0) {
                (void)fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "badges",
                                     "the badges of two tools have this name; write them apart");
                fault_set_path(fault, names[i]);
                return fault->code;
            }
    }
    return ERR_NONE;
}

static enum status write_badges(const struct matrix *matrix, const char *folder, struct arena *keep,
                                struct fault *fault)
{
    struct suite_badge *badges = NULL;
    uint32_t count = 0;
    if (suite_badges(matrix, keep, &badges, &count, fault) != ERR_NONE)
        return fault->code;
    const char **names = ARENA_ARRAY(keep, (size_t)count + 1, const char *);
    if (names == NULL)
        return fault_no_memory(fault, "badges");
    if (name_badges(badges, names, count, keep, fault) != ERR_NONE ||
        folder_make(folder, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        const struct badge_of of = {&badges[i], suite_badge_words(&badges[i], keep)};
        const char *path = path_join(keep, folder, names[i]);
        if (of.words == NULL || path == NULL)
            return fault_no_memory(fault, "badges");
        (void)stored_write(path, write_badge, &of, fault);
    }
    return fault->code;
}

enum status score_page(const struct score_page *page, const struct suite *suite,
                       const struct score *score, const struct option_list *results, bool whole,
                       struct arena *keep, struct fault *fault)
{
    char *today = arena_alloc(keep, TEXT_DATE_BYTES);
    struct matrix matrix;
    if (today == NULL)
        return fault_no_memory(fault, "results");
    text_utc_date(clock_wall_ns() / 1000000000U, today);
    if (matrix_open(suite, results->count + 1, keep, &matrix, fault) != ERR_NONE ||
        (score != NULL && matrix_add_score(&matrix, score, today, keep, fault) != ERR_NONE))
        return fault->code;
    for (uint32_t i = 0; i < results->count; i++)
        if (matrix_add_file(&matrix, results->items[i], keep, fault) != ERR_NONE)
            return fault->code;
    if (whole)
        warn_elsewhere(&matrix);
    if (page->badges != NULL && write_badges(&matrix, page->badges, keep, fault) != ERR_NONE)
        return fault->code;
    return page->html != NULL ? stored_write(page->html, write_page, &matrix, fault) : ERR_NONE;
}
