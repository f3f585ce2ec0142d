/* The environment of a run: the code under test, the machine, the tools. */
#ifndef CONDUCT_RUN_FACTS_H
#define CONDUCT_RUN_FACTS_H

#include "model/run.h"

struct collect_options;

/* Fills label, times, commit and branch, platform, compiler, tools and the command line of INFO.
 * What is unknown stays NULL; so does what concerns victims, where OPTIONS name none. Fails:
 * ERR_MEMORY. */
enum status run_facts(const struct collect_options *options, const char *label, int argc,
                      char *const *argv, struct arena *keep, struct run_info *out,
                      struct fault *fault);

/* The commit of the working folder, as git or else GITHUB_SHA says; NULL: unknown. */
const char *run_facts_commit(struct arena *keep);

/* The builds that toolchain.json lists and that have no program, in one text in KEEP; NULL: none.
 * (Those of x86 are in the list of cases nevertheless, see collect_list().) */
const char *run_facts_not_built(const char *victims_folder, struct arena *keep);

/* INFO came from the database: its tools get the version of this program, in KEEP. Fails:
 * ERR_MEMORY. */
enum status run_facts_renew(struct run_info *info, struct arena *keep, struct fault *fault);

#endif
