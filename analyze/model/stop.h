/* Why a walk ended, and the role of a stack's thread. Engines state these facts, stacks carry them,
 * and cause rules use them. Each enum has one table of names, which text forms, JSON and the store
 * use. */
#ifndef MODEL_STOP_H
#define MODEL_STOP_H

enum stop_reason {
    STOP_NONE, /* not stated; for one step: the walk continues */

    /* Recorded by the walkers inside the dying process. */
    STOP_END,          /* the thread's start was reached */
    STOP_RETURN_ZERO,  /* the return address is 0: also a regular end */
    STOP_STACK_BOUNDS, /* the stack pointer is outside the thread's limits */
    STOP_WALKER_NO_PROGRESS,
    STOP_READ_FAULT,
    STOP_NO_UNWIND, /* no unwind data for code in no known module */
    STOP_WALKER_LIMIT,
    STOP_WALKER_GAVE_UP, /* the system's walker returned false */
    STOP_BAD_SEED,       /* the first context is unusable */
    STOP_COPY_END,       /* the stack was longer than the copy of it */
    STOP_HIJACKED,       /* a collection of a .NET runtime redirected the return address */
    STOP_TOO_EARLY,      /* where a stack ends, but far from the stack's start */
    STOP_WALKER_UNKNOWN, /* a number unknown to this program */

    /* Found by the unwinders. */
    STOP_MEMORY, /* stack memory is missing */
    STOP_NO_PROGRESS,
    STOP_GENERATED_CODE, /* generated code without unwind data or frame pointer */
    STOP_GENERATED_LEAF, /* ... whose unwind data describes only a leaf, but it is not one */
    STOP_SCAN_STACK_END,
    STOP_SCAN_REACH,
    STOP_NO_UNWINDER, /* for this processor */
    STOP_NESTED_EXCEPTIONS,
    STOP_NO_REGISTERS,
    STOP_LIMIT,
    STOP_DATA_MALFORMED, /* of unwind data, as the other STOP_DATA_* */
    STOP_DATA_MISSING,
    STOP_DATA_RESERVED,
    STOP_DATA_VERSION,
    STOP_DATA_APX,
    STOP_DATA_LOOP,
    STOP_PDATA_UNREADABLE, /* and a scan finds no return address */
    STOP_PC_OVERWRITTEN,   /* the return address cannot be code */
    STOP_OUT_OF_MEMORY,
    STOP_PROGRAM_FAILED,    /* an x86 frame program cannot be executed */
    STOP_PROGRAM_NO_CALLER, /* ... or it gives no caller */

    /* Why an engine has no stack, or ends it. */
    STOP_NO_TABLES,        /* x86 has no unwind tables */
    STOP_SNAPSHOT_REFUSED, /* by a .NET runtime; the detail has the HRESULT */
    STOP_NO_RECORD,
    STOP_NOT_WALKED,      /* the record has no stack of this walker */
    STOP_NO_SUSPECT,      /* the dump does not say which thread crashed */
    STOP_REPEATED_THREAD, /* an earlier thread of the dump's list has this id */
    STOP_JUDGE_END,       /* a judge's stack ends and the judge gives no reason */

    STOP_DEBUGGER_END, /* like STOP_JUDGE_END, for a debugger's printed backtrace */

    STOP_OTHER, /* only stated in words */
    STOP_REASON_COUNT
};

/* The sentence for people; NULL for STOP_NONE and STOP_OTHER. */
const char *stop_reason_name(enum stop_reason reason);

/* The reverse, for stored texts: STOP_NONE for NULL, STOP_OTHER for any other sentence. */
enum stop_reason stop_reason_parse(const char *text);

enum thread_role {
    THREAD_ROLE_NONE,    /* not stated */
    THREAD_ROLE_SUSPECT, /* it crashed or hangs */
    THREAD_ROLE_MAIN,
    THREAD_ROLE_CAPTURE, /* a helper thread of capture itself */
    THREAD_ROLE_OTHER,
    THREAD_ROLE_NAMED, /* named by the program itself: "worker" */
    THREAD_ROLE_COUNT
};

/* "suspect", "main", "capture", "other"; WORD for THREAD_ROLE_NAMED; NULL for none. */
const char *thread_role_name(enum thread_role role, const char *word);

/* The reverse: THREAD_ROLE_NONE for NULL. TEXT that is not in the table gives THREAD_ROLE_NAMED,
 * and *word borrows it; else *word is NULL. */
enum thread_role thread_role_parse(const char *text, const char **word);

#endif
