/* suite.json: the list of all that a suite has, with the hashes of its files. */
#ifndef SUITE_SUITE_INDEX_H
#define SUITE_SUITE_INDEX_H

#include <cjson/cJSON.h>

#include "base/fault.h"

/* The hash that suite.json has of PATH; NULL: none. */
const char *suite_index_hash(const cJSON *index, const char *path);

/* Writes suite.json, whole or not at all. Fails: ERR_IO. */
enum status suite_index_write(const cJSON *index, const char *path, struct fault *fault);

#endif
