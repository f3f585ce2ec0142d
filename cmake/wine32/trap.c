/* The number of the trap in the context of a signal, by which 32-bit Wine knows what exception it
 * was.
 *
 * qemu-user writes -1 there (seen in 7.2 and 10.0), and every fault becomes an illegal instruction.
 * The number follows from the signal and its si_code. See cmake/debian_wine32.sh.
 *
 * Loaded by LD_PRELOAD, and built without headers for i386 (which would have to be installed), so
 * the few constants and structures of the i386 ABI are written here. */
#define SA_SIGINFO 4

enum signal_number { SIGILL = 4, SIGTRAP, SIGBUS = 7, SIGFPE, SIGSEGV = 11, SIGNALS = 65 };

/* Intel's manual, volume 3, table 6-1. */
enum trap {
    DIVIDE,
    DEBUG,
    BREAKPOINT = 3,
    INVALID_OPCODE = 6,
    PROTECTION = 13,
    PAGE_FAULT,
    FPU = 16,
    ALIGNMENT
};

struct signal_info { /* siginfo_t */
    int number, error, code;
};

struct context { /* ucontext_t */
    unsigned flags, link, stack[3];
    unsigned registers[12];
    int trap; /* REG_TRAPNO */
};

typedef void handler(int number, struct signal_info *info, struct context *context);

struct action { /* struct sigaction */
    handler *call;
    unsigned mask[32];
    int flags;
    void (*restore)(void);
};

/* Of the C library, which is there when the program runs. */
extern int __sigaction(int number, const struct action *action, struct action *old);
extern int unsetenv(const char *name);

__attribute__((visibility("default"))) int sigaction(int number, const struct action *action,
                                                     struct action *old);

static handler *handlers[SIGNALS];

static enum trap trap_of(const struct signal_info *info)
{
    switch (info->number) {
    case SIGILL:
        return INVALID_OPCODE;
    case SIGTRAP: /* SI_KERNEL: an int3; qemu says TRAP_BRKPT of a single step */
        return info->code == 0x80 ? BREAKPOINT : DEBUG;
    case SIGBUS:
        return ALIGNMENT;
    case SIGFPE: /* FPE_INTDIV, FPE_INTOVF */
        return info->code == 1 || info->code == 2 ? DIVIDE : FPU;
    default: /* SEGV_MAPERR, SEGV_ACCERR */
        return info->code == 1 || info->code == 2 ? PAGE_FAULT : PROTECTION;
    }
}

static void with_trap(int number, struct signal_info *info, struct context *context)
{
    if (context->trap == -1)
        context->trap = (int)trap_of(info);
    handlers[number](number, info, context);
}

int sigaction(int number, const struct action *action, struct action *old)
{
    struct action ours;
    handler *before = number > 0 && number < SIGNALS ? handlers[number] : 0;

    if (action != 0 && (action->flags & SA_SIGINFO) != 0 &&
        (number == SIGILL || number == SIGTRAP || number == SIGBUS || number == SIGFPE ||
         number == SIGSEGV)) {
        handlers[number] = action->call;
        ours = *action;
        ours.call = with_trap;
        action = &ours;
    }
    const int result = __sigaction(number, action, old);
    if (result == 0 && old != 0 && old->call == with_trap)
        old->call = before;
    return result;
}

/* What Wine starts is not for this library: 64-bit programs would print that they cannot load it.
 */
__attribute__((constructor)) static void forget(void)
{
    (void)unsetenv("LD_PRELOAD");
}
