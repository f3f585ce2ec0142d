/* What the program says about signals before it does anything. */
#include <signal.h>
#include <unistd.h>

#include "base/process.h"

/* A file that is mapped became shorter, or its disk cannot hold what a hole of it needs. */
static void on_bus_error(int number)
{
    enum { EXIT_CODE = 3 }; /* an input cannot be read, for each verb */
    static const char text[] = "twinstack: error: a file cannot be read to its end: it became "
                               "shorter, or its disk is full or damaged\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_CODE);
}

void process_prepare(void)
{
    (void)signal(SIGXFSZ, SIG_IGN); /* `ulimit -f`: the write fails, as on a full disk */
    (void)signal(SIGBUS, on_bus_error);
}
