/* Answers of contestants, kept in the user's cache (base/cache.h), so that a program that has not
 * changed is not asked again.
 *
 * They belong to the name and version that the contestant gives, its command, the bytes of its
 * program and of each file that the command names, of the libraries and scripts beside those, and
 * the bytes of suite.json, which has the edition and the hash of each file of the suite. What a
 * program loads from elsewhere is not looked at. */
#ifndef SUITE_SCORE_CACHE_H
#define SUITE_SCORE_CACHE_H

#include "base/cache.h"
#include "suite/contestant.h"

struct score_cache;

/* *OUT is NULL where CACHE has no folder. A file of answers that is damaged is none. KEEP is for
 * all that it holds. Fails: ERR_MEMORY. */
enum status score_cache_open(const struct cache *cache, const struct contestant_request *request,
                             const struct contestant_name *name, struct arena *keep,
                             struct score_cache **out, struct fault *fault);

/* What the contestant printed for QUESTION; NULL: it is not known. Several threads may ask. CACHE
 * NULL is fine, as in the next two. */
const char *score_cache_find(const struct score_cache *cache, const char *question);

/* Remembers a line for score_cache_close(). Fails: ERR_MEMORY. */
enum status score_cache_put(struct score_cache *cache, const char *question, const char *line,
                            struct fault *fault);

/* Writes the answers if there are new ones. That it cannot is no fault: they are asked again. */
void score_cache_close(struct score_cache *cache);

#endif
