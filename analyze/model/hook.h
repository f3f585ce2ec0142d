/* The hooks by which a capture sees a crash. A set of them is a bit set: bit 1 << enum case_hook.
 * JSON and the database keep the names, and call a set "doors". */
#ifndef MODEL_HOOK_H
#define MODEL_HOOK_H

#include <stdint.h>

#include "base/fault.h"
#include "base/json.h"

/* In the order in which a crash passes them, which is that of the RECORD_HOOK_* bits. */
enum case_hook {
    CASE_HOOK_VECTORED,
    CASE_HOOK_UNHANDLED,
    CASE_HOOK_SIGABRT,
    CASE_HOOK_INVALID_PARAMETER,
    CASE_HOOK_PURE_CALL,
    CASE_HOOK_TERMINATE,
    CASE_HOOK_WATCHER,
    CASE_HOOK_HEARTBEAT,
    CASE_HOOK_IMPORT, /* of cases that were made from single files */
    CASE_HOOK_OTHER,  /* a name that a newer program wrote         */
    CASE_HOOK_COUNT
};

#define HOOK_BIT(hook) (UINT32_C(1) << (hook))

enum { HOOKS_TEXT_BYTES = 128 }; /* all names, with commas */

/* The hooks that a record has a bit for. */
#define HOOKS_OF_RECORDS (HOOK_BIT(CASE_HOOK_IMPORT) - 1)

const char *case_hook_name(enum case_hook hook); /* "vectored", ... */

/* The first hook of a set. HOOKS is not 0. */
enum case_hook hooks_first(uint32_t hooks);

/* "vectored,unhandled", in OUT; NULL for the empty set. */
const char *hooks_text(uint32_t hooks, char out[HOOKS_TEXT_BYTES]);

/* The set that a comma-separated list names; NULL is empty. */
uint32_t hooks_parse(const char *list);

/* The set as an array of names, the member "doors". */
void hooks_write(struct json *j, uint32_t hooks);

/* Reads such an array, which may be missing. Fails: ERR_MALFORMED not a list of texts. */
uint32_t hooks_read(const cJSON *object, struct fault *fault);

#endif
