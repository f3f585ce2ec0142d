/* The adapter asked about a dump of the fixtures. */
#ifndef TEST_JUDGE_ASKED_H
#define TEST_JUDGE_ASKED_H

#include "engine/judges.h"

/* A case that holds one dump of the fixtures. */
void make_case(const char *dump, struct crash_case *out, struct case_file *file);

/* Makes the adapter answer with TEXT and runs it. */
enum status ask_adapter(const char *text, size_t bytes, struct arena *keep,
                        struct engine_result *out);

#endif
