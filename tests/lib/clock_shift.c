/* Preloaded into a program under test: its wall clock differs from the system's by the number of
 * seconds in the file TEST_CLOCK_SHIFT, which is read on each call, so that the clock jumps while
 * the program runs. The monotonic clock stays as it is. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t which, struct timespec *out)
{
    const int result = (int)syscall(SYS_clock_gettime, which, out);
    const char *path = getenv("TEST_CLOCK_SHIFT");
    FILE *file = which == CLOCK_REALTIME && path != NULL ? fopen(path, "r") : NULL;
    char line[32];
    if (file == NULL)
        return result;
    if (fgets(line, sizeof line, file) != NULL)
        out->tv_sec += strtol(line, NULL, 10);
    (void)fclose(file);
    return result;
}
