/* See mechanism.h. */
#include "reporter/mechanism.h"

#define MECHANISM_ROW(ID, CAUSE, NAME, WORDS, WHO, ADVICE) {CAUSE, NAME, WORDS, WHO, ADVICE},
static const struct mechanism_row rows[] = {REPORTER_MECHANISMS(MECHANISM_ROW)};

const struct mechanism_row *mechanism_row(enum reporter_mechanism mechanism)
{
    return &rows[mechanism];
}
