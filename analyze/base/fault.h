/* What went wrong, said once.
 *
 * A fallible function returns an enum status and fills a struct fault.  The first
 * fault wins: later ones are consequences.  "Absent" is news (there is no PDB),
 * "malformed" is damage, "unsupported" is our own limit; the three are never mixed,
 * because what a user does next differs. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdint.h>

enum status {
    ERR_NONE = 0,
    ERR_ABSENT,      /* asked for, not there: no such file, stream, symbol          */
    ERR_TRUNCATED,   /* the bytes end before the structure does                     */
    ERR_MALFORMED,   /* the bytes contradict the format                             */
    ERR_UNSUPPORTED, /* sound, but a form that this program does not read           */
    ERR_MISMATCH,    /* sound, but of another build (GUID, age, timestamp, size)    */
    ERR_LIMIT,       /* sound so far, but larger than a limit of base/limits.h      */
    ERR_MEMORY,      /* an allocation failed                                        */
    ERR_IO,          /* the operating system said no                                */
    ERR_USAGE,       /* the caller's or user's words are off                        */
    ERR_TIMEOUT,     /* a time limit passed                                         */
    ERR_INTERRUPTED, /* the user asked to stop                                      */
};

enum { FAULT_PATH_BYTES = 512 };

/* Plain data, copied freely.  `what` and `hint` are string constants. */
struct fault {
    enum status code;
    uint64_t offset;             /* where in the file; FAULT_NO_OFFSET: nowhere */
    const char *what;            /* what was being read, e.g. "MSF block size"  */
    const char *hint;            /* what to do about it, or NULL                */
    char path[FAULT_PATH_BYTES]; /* which file; "" when unknown                 */
};

#define FAULT_NO_OFFSET UINT64_MAX
#define FAULT_INIT {ERR_NONE, FAULT_NO_OFFSET, NULL, NULL, {0}}

/* Records the fault unless an earlier one stands.  Returns the code that stands. */
enum status fault_set(struct fault *fault, enum status code, uint64_t offset, const char *what);

/* As fault_set, with advice for the user.  HINT must be a string constant: the fault keeps the
 * pointer. */
enum status fault_set_hint(struct fault *fault, enum status code, uint64_t offset, const char *what,
                           const char *hint);

/* The hint for an errno of the C library: "permission denied", "no space left on device", ...
 * Always a string constant, unlike the result of strerror(). */
const char *fault_errno_hint(int number);

/* Names the file of a standing fault if it has no name yet. */
void fault_set_path(struct fault *fault, const char *path);

/* Forgets the fault, so that the struct can be used again. */
void fault_clear(struct fault *fault);

/* A stable lower-case word for a code: "truncated", "mismatch", ... */
const char *fault_code_name(enum status code);

/* Writes "path: what at offset 0x10: truncated (hint)" into OUT, always terminated. */
void fault_describe(const struct fault *fault, char *out, unsigned out_bytes);

#endif
