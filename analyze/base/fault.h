/* Error codes and what they report.
 *
 * A fallible function returns an enum status and fills a struct fault. The first fault is kept,
 * because later ones are consequences. "Absent" means that something does not exist (there is no
 * PDB), "malformed" that it is damaged, "unsupported" that this program cannot read it. Never mix
 * the three: the user's next step differs. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdint.h>

enum status {
    ERR_NONE = 0,
    ERR_ABSENT,      /* not found: no such file, stream or symbol                   */
    ERR_TRUNCATED,   /* the bytes end before the structure does                     */
    ERR_MALFORMED,   /* the bytes contradict the format                             */
    ERR_UNSUPPORTED, /* valid, but in a form that this program does not read        */
    ERR_MISMATCH,    /* valid, but of another build (GUID, age, timestamp, size)    */
    ERR_LIMIT,       /* valid so far, but above a limit of base/limits.h            */
    ERR_MEMORY,      /* an allocation failed                                        */
    ERR_IO,          /* the operating system refused                                */
    ERR_USAGE,       /* a wrong argument from the caller or the user                */
    ERR_TIMEOUT,     /* a time limit passed                                         */
    ERR_INTERRUPTED, /* the user asked to stop                                      */
};

/* What a face must know of a fault beyond its code, so that no program has to read the hint. */
enum fault_reason {
    FAULT_NO_REASON,
    FAULT_NEWER, /* a newer version of this program wrote it */
    FAULT_OLDER, /* an older version wrote it, and it has to be brought up to date */
    FAULT_FULL,  /* the disk, or what this program may write to it, is used up */
};

enum { FAULT_PATH_BYTES = 512 };

/* Plain data, copied freely. `what` and `hint` are never freed. */
struct fault {
    enum status code;
    uint64_t offset;             /* where in the file; FAULT_NO_OFFSET: unknown */
    const char *what;            /* what was being read, e.g. "MSF block size"  */
    const char *hint;            /* what to do about it, or NULL                */
    char path[FAULT_PATH_BYTES]; /* which file; "" when unknown                 */
    enum fault_reason reason;
};

#define FAULT_NO_OFFSET UINT64_MAX
#define FAULT_INIT {ERR_NONE, FAULT_NO_OFFSET, NULL, NULL, {0}, FAULT_NO_REASON}

/* Records the fault unless one is already recorded. Returns the recorded code. The fault keeps the
 * pointer, so WHAT can only be a string literal: anything else does not compile. What varies, such
 * as a name, goes to fault_set_path(). */
#define fault_set(fault, code, offset, what)                                                       \
    fault_set_lasting(fault, code, offset, "" what "", NULL)

/* Memory for WHAT, a literal, could not be allocated. Returns the recorded code. */
#define fault_no_memory(fault, what) fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, what)

/* Like fault_set(), with advice for the user, also a literal. */
#define fault_set_hint(fault, code, offset, what, hint)                                            \
    fault_set_lasting(fault, code, offset, "" what "", "" hint "")

/* For texts that are never freed and no literals at the place of the call: a choice of literals,
 * names from constant tables, the texts of another fault, fault_errno_hint(). HINT: may be NULL. */
enum status fault_set_lasting(struct fault *fault, enum status code, uint64_t offset,
                              const char *what, const char *hint);

/* Like fault_set_lasting(), with a reason for programs. */
enum status fault_set_reason(struct fault *fault, enum status code, const char *what,
                             enum fault_reason reason, const char *hint);

/* "newer", "older", "full"; NULL: none. */
const char *fault_reason_name(enum fault_reason reason);

/* FAULT_FULL for an errno that says so: there is no space, the quota is used up, the file would
 * become too large. */
enum fault_reason fault_errno_reason(int number);

/* The hint for an errno of the C library: "permission denied", "no space left on device", ...
 * Always a string constant, unlike the result of strerror(). */
const char *fault_errno_hint(int number);

/* Sets the file name of a recorded fault that has none yet. */
void fault_set_path(struct fault *fault, const char *path);

/* Clears the fault, so that the struct can be used again. */
void fault_clear(struct fault *fault);

/* A stable lower-case word for a code: "truncated", "mismatch", ... */
const char *fault_code_name(enum status code);

/* Writes "path: what at offset 0x10: truncated (hint)" into OUT, always terminated. */
void fault_describe(const struct fault *fault, char *out, unsigned out_bytes);

#endif
