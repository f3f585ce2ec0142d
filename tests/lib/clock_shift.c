/* Preloaded into a program under test: its wall clock differs from the system's by the number of
 * seconds in the file TEST_CLOCK_SHIFT, which is read on each call, so that the clock jumps while
 * the program runs. The monotonic clock stays as it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WALL_CLOCK_S = 1000000000 }; /* less than this is a time of the monotonic clock */

static long shift_s(void)
{
    const char *path = getenv("TEST_CLOCK_SHIFT");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    char line[32];
    if (file == NULL)
        return 0;
    const long seconds = fgets(line, sizeof line, file) != NULL ? strtol(line, NULL, 10) : 0;
    (void)fclose(file);
    return seconds;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    const int result = (int)syscall(SYS_clock_gettime, which, out);
    if (which == CLOCK_REALTIME)
        out->tv_sec += shift_s();
    return result;
}

/* A wait ends by the system's clock: without this, a shift of two days would be a wait of two days.
 */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until)
{
    int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    *(void **)&wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    struct timespec end = *until;
    if (end.tv_sec > WALL_CLOCK_S)
        end.tv_sec -= shift_s();
    return wait(condition, mutex, &end);
}
