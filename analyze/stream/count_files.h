/* Counts the stacks of files by their signatures, in one pass each; "-" is the standard input. An
 * interrupt ends a pass: what was counted until then stays. */
#ifndef STREAM_COUNT_FILES_H
#define STREAM_COUNT_FILES_H

#include "stream/count.h"

struct signature_rules;

/* By the names that the stacks have. BAD: those that are none. Fails: as the files; ERR_MEMORY. */
enum status count_named_files(const char *const *files, uint32_t file_count,
                              const struct signature_rules *rules, struct signature_tally *tally,
                              uint64_t *bad, struct fault *fault);

/* By the names that count_stacks() finds. Fails: as that. */
enum status count_files(const char *const *files, uint32_t file_count,
                        const struct count_options *options, struct signature_tally *tally,
                        uint64_t *bad, struct fault *fault);

#endif
