/* Names of stop reasons and thread roles: see stop.h. */
#include "model/stop.h"

#include <stddef.h>

#include "model/names.h"

static const char *const stop_names[STOP_REASON_COUNT] = {
    [STOP_END] = "end of stack",
    [STOP_RETURN_ZERO] = "return address 0",
    [STOP_STACK_BOUNDS] = "stack pointer left the stack",
    [STOP_WALKER_NO_PROGRESS] = "stack pointer did not rise",
    [STOP_READ_FAULT] = "memory could not be read",
    [STOP_NO_UNWIND] = "no unwind data",
    [STOP_WALKER_LIMIT] = "frame limit of the walker",
    [STOP_WALKER_GAVE_UP] = "the system's walker gave up",
    [STOP_BAD_SEED] = "first context unusable",
    [STOP_HIJACKED] = "hijacked: a collection redirected the return address",
    [STOP_TOO_EARLY] = "ends far from the stack's start: outer frames are missing",
    [STOP_COPY_END] = "the stack is longer than its copy",
    [STOP_WALKER_UNKNOWN] = "unknown",
    [STOP_MEMORY] = "stack memory is missing",
    [STOP_NO_PROGRESS] = "stack pointer does not rise",
    [STOP_GENERATED_CODE] = "a hole: generated code without unwind data or frame pointer",
    [STOP_GENERATED_LEAF] =
        "a hole: generated code whose unwind data describes a leaf, and no frame pointer",
    [STOP_SCAN_STACK_END] = "scan: no return address up to the stack's end",
    [STOP_SCAN_REACH] = "scan: no return address in reach",
    [STOP_NO_UNWINDER] = "no unwinder for this processor",
    [STOP_NESTED_EXCEPTIONS] = "exceptions nest without end",
    [STOP_NO_REGISTERS] = "no registers",
    [STOP_LIMIT] = "limit of frames",
    [STOP_DATA_MALFORMED] = "unwind data is malformed",
    [STOP_DATA_MISSING] = "unwind data is missing",
    [STOP_DATA_RESERVED] = "unwind data is of a reserved form",
    [STOP_DATA_VERSION] = "unwind data of an unknown version",
    [STOP_DATA_APX] = "unwind data of version 3 of a form that is not supported",
    [STOP_DATA_LOOP] = "unwind data is chained in a loop",
    [STOP_PDATA_UNREADABLE] = "pdata unreadable, and a scan finds no return address",
    [STOP_PC_OVERWRITTEN] = "return address overwritten: no code can lie there",
    [STOP_OUT_OF_MEMORY] = "out of memory",
    [STOP_PROGRAM_FAILED] = "frame program cannot be carried out",
    [STOP_PROGRAM_NO_CALLER] = "frame program gives no caller",
    [STOP_NO_TABLES] = "no table-based unwinding on x86",
    [STOP_SNAPSHOT_REFUSED] = "snapshot refused",
    [STOP_NO_RECORD] = "the case has no record",
    [STOP_NOT_WALKED] = "the record has no stack of this walker",
    [STOP_NO_SUSPECT] = "the dump has no exception stream and names no suspect: it may be cut",
    [STOP_REPEATED_THREAD] = "an earlier thread of the list has this id",
    [STOP_JUDGE_END] = "the judge's stack ends",
    [STOP_DEBUGGER_END] = "the debugger's backtrace ends",
};

static const char *const role_names[THREAD_ROLE_COUNT] = {
    [THREAD_ROLE_SUSPECT] = "suspect",
    [THREAD_ROLE_MAIN] = "main",
    [THREAD_ROLE_CAPTURE] = "capture",
    [THREAD_ROLE_OTHER] = "other",
};

const char *stop_reason_name(enum stop_reason reason)
{
    return stop_names[reason];
}

enum stop_reason stop_reason_parse(const char *text)
{
    const int found = name_index(stop_names, STOP_REASON_COUNT, text);
    if (text == NULL)
        return STOP_NONE;
    return found < 0 ? STOP_OTHER : (enum stop_reason)found;
}

const char *thread_role_name(enum thread_role role, const char *word)
{
    return role == THREAD_ROLE_NAMED ? word : role_names[role];
}

enum thread_role thread_role_parse(const char *text, const char **word)
{
    const int found = name_index(role_names, THREAD_ROLE_COUNT, text);
    *word = text != NULL && found < 0 ? text : NULL;
    if (*word != NULL)
        return THREAD_ROLE_NAMED;
    return text == NULL ? THREAD_ROLE_NONE : (enum thread_role)found;
}
