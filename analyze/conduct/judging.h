/* What judging cases needs, put together in one place: the symbols with all
 * their folders, and the judges with their launcher. `check`, `regrade`,
 * `bench` and `run` state what they need. */
#ifndef CONDUCT_JUDGING_H
#define CONDUCT_JUDGING_H

#include "conduct/analysis.h"

struct collect_options;
struct collect_session;
struct fetch_options;

struct judging_needs {
    const char *const *symbols; /* more symbols and images */
    uint32_t symbol_count;
    const char *store; /* a run's symbols, a folder that is there; NULL */
    const struct crash_case
        *cases; /* whose own symbols are used, too; those without folder: none */
    uint32_t case_count;
    const char *cache;                 /* see symbol_store_options */
    const struct fetch_options *fetch; /* of symbol servers; NULL: the usual ones */
};

struct judging {
    struct analysis analysis; /* symbols and judges are set; the rest is the caller's */
    struct collect_session *windows;
};

/* Opens the symbols. Fails: as symbol_store_open(). */
enum status judging_open(const struct judging_needs *needs, struct arena *keep, struct judging *out,
                         struct fault *fault);

/* Adds the judges that are Windows programs, beside the victims of OPTIONS,
 * which must outlive J. Fails: as collect_session_open(); then they are not
 * asked. */
enum status judging_open_windows(struct judging *j, const struct collect_options *options,
                                 struct fault *fault);

void judging_close(struct judging *j);

#endif
