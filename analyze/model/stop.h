/* Why a walk ended, and whose stack a thread's is: facts that engines state, stacks carry and
 * rules for causes use. Each has one table of names; text forms, JSON and the store hold names. */
#ifndef MODEL_STOP_H
#define MODEL_STOP_H

enum stop_reason {
    STOP_NONE, /* not stated; of one step: the walk goes on */

    /* What the walkers inside the dying process record. */
    STOP_END,          /* the thread's start was reached */
    STOP_RETURN_ZERO,  /* the return address is 0: also an end */
    STOP_STACK_BOUNDS, /* the stack pointer left the thread's limits */
    STOP_WALKER_NO_PROGRESS,
    STOP_READ_FAULT,
    STOP_NO_UNWIND, /* no unwind data for code in no known module */
    STOP_WALKER_LIMIT,
    STOP_WALKER_GAVE_UP, /* the system's walker returned false */
    STOP_BAD_SEED,       /* the first context is unusable */
    STOP_WALKER_UNKNOWN, /* a number that this program does not know */

    /* What the unwinders find. */
    STOP_MEMORY, /* stack memory is missing */
    STOP_NO_PROGRESS,
    STOP_GENERATED_CODE, /* generated code without unwind data or frame pointer */
    STOP_GENERATED_LEAF, /* ... whose unwind data knows only a leaf, which it is not */
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
    STOP_PC_OVERWRITTEN,   /* no code can lie at the return address */
    STOP_OUT_OF_MEMORY,
    STOP_PROGRAM_FAILED,    /* an x86 frame program cannot be carried out */
    STOP_PROGRAM_NO_CALLER, /* ... or it gives no caller */

    /* Why an engine has no stack, or ends it. */
    STOP_NO_TABLES, /* x86 has no tables to unwind by */
    STOP_NO_RECORD,
    STOP_NOT_WALKED,      /* the record has no stack of this walker */
    STOP_NO_SUSPECT,      /* the dump does not say which thread crashed */
    STOP_REPEATED_THREAD, /* an earlier thread of the dump's list has this id */
    STOP_JUDGE_END,       /* a judge's stack ends, and the judge does not say why */

    STOP_DEBUGGER_END, /* as STOP_JUDGE_END, for a debugger's printed backtrace */

    STOP_OTHER, /* stated in words only */
    STOP_REASON_COUNT
};

/* The sentence for people; NULL for STOP_NONE and STOP_OTHER. */
const char *stop_reason_name(enum stop_reason reason);

/* The reverse, for what is read back: STOP_NONE for NULL, STOP_OTHER for any other sentence. */
enum stop_reason stop_reason_parse(const char *text);

enum thread_role {
    THREAD_ROLE_NONE,    /* not stated */
    THREAD_ROLE_SUSPECT, /* it crashed or hangs */
    THREAD_ROLE_MAIN,
    THREAD_ROLE_CAPTURE, /* a helper thread of capture itself */
    THREAD_ROLE_OTHER,
    THREAD_ROLE_NAMED, /* by the program itself, with a word of its own: "worker" */
    THREAD_ROLE_COUNT
};

/* "suspect", "main", "capture", "other"; WORD for THREAD_ROLE_NAMED; NULL for none. */
const char *thread_role_name(enum thread_role role, const char *word);

/* NULL gives THREAD_ROLE_NONE.  TEXT that is not in the table gives THREAD_ROLE_NAMED, and *word
 * borrows it; else *word is NULL. */
enum thread_role thread_role_parse(const char *text, const char **word);

#endif
