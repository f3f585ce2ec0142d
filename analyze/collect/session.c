/* Running Windows programs outside of cases: see collect.h. */
#include <stdlib.h>

#include "collect/runner.h"

enum { LAUNCHER_WORDS_MAX = 32 };

struct collect_session {
    struct runner runner;
    const char *launcher[LAUNCHER_WORDS_MAX + 1];
};

/* Under Wine: env ROW... wine */
static void fill_launcher(struct collect_session *session)
{
    size_t count = 0;

    if (session->runner.prefix != NULL) {
        session->launcher[count++] = "env";
        for (const char *const *row = session->runner.environment;
             *row != NULL && count < LAUNCHER_WORDS_MAX; row++)
            session->launcher[count++] = *row;
    }
    runner_launcher(&session->runner, LAUNCHER_WORDS_MAX, session->launcher, &count);
    session->launcher[count] = NULL;
}

enum status collect_session_open(const struct collect_options *options,
                                 struct collect_session **out, struct fault *fault)
{
    struct collect_session *session = calloc(1, sizeof *session);

    *out = NULL;
    if (session == NULL)
        return fault_no_memory(fault, "session");
    if (runner_open(options, options->beside_run ? RUNNER_SESSION : 0, &session->runner, fault) !=
        ERR_NONE) {
        collect_session_close(session);
        return fault->code;
    }
    fill_launcher(session);
    *out = session;
    return ERR_NONE;
}

const char *const *collect_session_launcher(const struct collect_session *session)
{
    return session->launcher;
}

void collect_session_close(struct collect_session *session)
{
    if (session == NULL)
        return;
    runner_close(&session->runner);
    free(session);
}
