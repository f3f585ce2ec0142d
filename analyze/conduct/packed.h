/* How small the files of a case become, each by itself: what keeping and sending them costs. */
#ifndef CONDUCT_PACKED_H
#define CONDUCT_PACKED_H

#include "model/case.h"
#include "model/run.h"

/* Fills the members `..._gzip_bytes` (level 6) and `..._zstd_bytes` (level 3, the default) of OUT
 * from the record and the dumps of CRASH. A file that is not there, or cannot be read, leaves 0. */
void packed_sizes_take(const struct crash_case *crash, struct case_timing *out);

#endif
