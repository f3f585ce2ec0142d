/* `check --dumps`: a folder of dumps beside the stacks of a crash reporter. */
#ifndef VERBS_CHECK_REPORTER_H
#define VERBS_CHECK_REPORTER_H

#include "reporter/reporter.h"

struct check_reporter_options {
    struct reporter_request request;
    const char *junit, *html; /* files; NULL: none */
    const char *db, *out;     /* where the pairs become a run, and sealed cases; NULL: nowhere */
    int argc;                 /* the command line, stored with the run */
    char *const *argv;
    bool as_json, details;
};

/* Judges, prints, and returns the exit code. */
int check_reporter(const struct check_reporter_options *options, struct arena *keep);

#endif
