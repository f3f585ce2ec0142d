/* Options of the verbs that start victims: where the victims are and how Windows programs are run
 * on this host. */
#ifndef VERBS_HARNESS_H
#define VERBS_HARNESS_H

#include "collect/collect.h"
#include "verbs/common.h"

struct harness {
    const char *victims;  /* --victims  */
    const char *launcher; /* --launcher */
    const char *prefix;   /* --prefix   */
    const char *debugger; /* --debugger; NULL: what the environment names */
    const char *writer;   /* --writer; NULL: microsoft where its files are, else wine */
    const char *dlls[3];  /* of the writer, NULL-terminated */
    const char *dlls_x86[3];
    const char *words[16]; /* of the launcher, NULL-terminated */
    char launcher_text[256];
};

/* Sets the defaults that the rows' help states. */
void harness_init(struct harness *harness);

#define HARNESS_ROWS(h)                                                                            \
    OPTION(VICTIMS, &(h).victims), OPTION(LAUNCHER, &(h).launcher), OPTION(PREFIX, &(h).prefix)

#define HARNESS_DEBUGGER_ROW(h) OPTION(DEBUGGER, &(h).debugger)

#define HARNESS_WRITER_ROW(h) OPTION(WRITER, &(h).writer)

/* Makes the folder of --debugger known. Fails: as microsoft_set(). */
enum status harness_debugger(const struct harness *harness, struct fault *fault);

/* Sets the members of OPTIONS that --writer decides, after harness_debugger(), and says on stderr
 * who writes when the option was not given and it is not Wine; as for
 * harness_options(), both must outlive the run. Fails: ERR_USAGE no such writer; ERR_ABSENT there
 * are no files of Microsoft's. */
enum status harness_writer(struct harness *harness, struct arena *keep,
                           struct collect_options *options, struct fault *fault);

/* Sets the members of OPTIONS that the harness decides; both must outlive the run.  False: the
 * launcher has too many words. */
bool harness_options(struct harness *harness, struct collect_options *options);

#endif
