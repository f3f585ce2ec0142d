/* See fault.h. */
#include "base/fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

enum status fault_set_lasting(struct fault *fault, enum status code, uint64_t offset,
                              const char *what, const char *hint)
{
    if (fault->code != ERR_NONE)
        return fault->code;
    fault->code = code;
    fault->offset = offset;
    fault->what = what;
    fault->hint = hint;
    return code;
}

enum status fault_set_reason(struct fault *fault, enum status code, const char *what,
                             enum fault_reason reason, const char *hint)
{
    if (fault->code == ERR_NONE)
        fault->reason = reason;
    return fault_set_lasting(fault, code, FAULT_NO_OFFSET, what, hint);
}

const char *fault_reason_name(enum fault_reason reason)
{
    static const char *const names[] = {
        [FAULT_NEWER] = "newer", [FAULT_OLDER] = "older", [FAULT_FULL] = "full"};
    const size_t index = (size_t)reason;
    return index < COUNT_OF(names) ? names[index] : NULL;
}

enum fault_reason fault_errno_reason(int number)
{
#if defined(EDQUOT)
    if (number == EDQUOT)
        return FAULT_FULL;
#endif
    return number == ENOSPC || number == EFBIG ? FAULT_FULL : FAULT_NO_REASON;
}

const char *fault_errno_hint(int number)
{
    static const struct {
        int number;
        const char *hint;
    } hints[] = {
        {EACCES, "permission denied"},
        {EPERM, "operation not permitted"},
        {ENOENT, "no such file"},
        {ENOTDIR, "not a folder"},
        {EISDIR, "is a folder"},
        {EEXIST, "exists already"},
        {EROFS, "the file system is read-only"},
        {ENOSPC, "no space left on device"},
        {EFBIG, "the file would become too large"},
        {EMFILE, "too many open files"},
        {ENFILE, "too many open files in the system"},
        {ENAMETOOLONG, "the name is too long"},
        {ENOTEMPTY, "the folder is not empty"},
        {EBUSY, "in use by another process"},
        {EXDEV, "on another file system"},
        {EIO, "the device reports an error"},
        {EPIPE, "the reader has closed the pipe"},
        {EAGAIN, "temporarily out of processes or memory"},
        {ENOMEM, "out of memory"},
        {E2BIG, "too many arguments"},
        {ENOEXEC, "not a program of this system"},
    };
    for (size_t i = 0; i < COUNT_OF(hints); i++)
        if (hints[i].number == number)
            return hints[i].hint;
    return "the system refused";
}

void fault_set_path(struct fault *fault, const char *path)
{
    if (fault->code == ERR_NONE || fault->path[0] != '\0' || path == NULL)
        return;
    (void)snprintf(fault->path, sizeof fault->path, "%s", path);
}

void fault_clear(struct fault *fault)
{
    const struct fault fresh = FAULT_INIT;
    *fault = fresh;
}

const char *fault_code_name(enum status code)
{
    static const char *const names[] = {
        [ERR_NONE] = "ok",
        [ERR_ABSENT] = "absent",
        [ERR_TRUNCATED] = "truncated",
        [ERR_MALFORMED] = "malformed",
        [ERR_UNSUPPORTED] = "unsupported",
        [ERR_MISMATCH] = "mismatch",
        [ERR_LIMIT] = "limit",
        [ERR_MEMORY] = "memory",
        [ERR_IO] = "io",
        [ERR_USAGE] = "usage",
        [ERR_TIMEOUT] = "timeout",
        [ERR_INTERRUPTED] = "interrupted",
    };
    const size_t index = (size_t)code;
    return index < COUNT_OF(names) && names[index] ? names[index] : "unknown";
}

void fault_describe(const struct fault *fault, char *out, unsigned out_bytes)
{
    char where[32] = "";
    if (fault->offset != FAULT_NO_OFFSET)
        (void)snprintf(where, sizeof where, " at offset 0x%llx", (unsigned long long)fault->offset);
    (void)snprintf(out, out_bytes, "%s%s%s%s: %s%s%s%s", fault->path,
                   fault->path[0] != '\0' ? ": " : "", fault->what ? fault->what : "input", where,
                   fault_code_name(fault->code), fault->hint ? " (" : "",
                   fault->hint ? fault->hint : "", fault->hint ? ")" : "");
}
