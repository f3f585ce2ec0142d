/* The entry of every verb; NAME's is in verb_NAME.c, the table of them in verbs.c. */
#ifndef VERBS_VERBS_H
#define VERBS_VERBS_H

#include "verbs/verb.h"

extern const struct verb verb_case;
extern const struct verb verb_dump;
extern const struct verb verb_list;
extern const struct verb verb_check;
extern const struct verb verb_resolve;
extern const struct verb verb_review;
extern const struct verb verb_symbols;
extern const struct verb verb_run;
extern const struct verb verb_doctor;
extern const struct verb verb_serve;
extern const struct verb verb_report;
extern const struct verb verb_accept;
extern const struct verb verb_known;
extern const struct verb verb_compare;
extern const struct verb verb_gate;
extern const struct verb verb_baseline;
extern const struct verb verb_cache;
extern const struct verb verb_db;
extern const struct verb verb_regrade;
extern const struct verb verb_bench;
extern const struct verb verb_signatures;
extern const struct verb verb_steps;
extern const struct verb verb_score;
extern const struct verb verb_suite;
extern const struct verb verb_version;
extern const struct verb verb_help;
extern const struct verb verb_completion;
extern const struct verb verb_worker;
extern const struct verb verb_reduce;
extern const struct verb verb_queue;

#endif
