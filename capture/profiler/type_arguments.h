/* The type arguments of compiled code, as the runtime knows them. */
#ifndef CAPTURE_PROFILER_TYPE_ARGUMENTS_H
#define CAPTURE_PROFILER_TYPE_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROFILER_TYPES_BYTES = 512 };

struct profiler_types {
    char text[PROFILER_TYPES_BYTES];
    uint32_t bytes;
    bool whole; /* false: some are not known, so none are stated */
};

/* As METHODS of capture/record.h has them: System.__Canon for every reference type, since these
 * share code. INFO is the runtime's, CLASS the method's type (0: not known). NULL: FUNCTION is not
 * generic, or the runtime does not know all of them. */
const char *profiler_type_arguments(void *info, uintptr_t function, uintptr_t class,
                                    struct profiler_types *types);

/* The metadata of a module, to be given to profiler_release(); NULL: there is none. */
void *profiler_metadata(void *info, uintptr_t module);
void profiler_release(void *metadata);

/* Counts a question to the runtime; see struct profiler_counts. */
void profiler_asked(void);

/* CLR_CALL, counted: all questions to the runtime but that for a snapshot. */
#define PROFILER_ASK(...) (profiler_asked(), CLR_CALL(__VA_ARGS__))

#endif
