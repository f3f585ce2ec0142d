/* Locks as unit tests see them: the linker puts these before mutex_lock() and the others
 * (--wrap). A lock that is missing changes nothing where one thread runs, and shows only as a race,
 * now and then; here each thread knows what it holds, and a wrong use ends the test at once. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/thread.h"

void __real_mutex_lock(struct mutex *mutex);
void __real_mutex_unlock(struct mutex *mutex);
void __real_mutex_free(struct mutex *mutex);
void __real_signal_wait(struct signal *signal, struct mutex *mutex);
void __wrap_mutex_lock(struct mutex *mutex);
void __wrap_mutex_unlock(struct mutex *mutex);
void __wrap_mutex_free(struct mutex *mutex);
void __wrap_signal_wait(struct signal *signal, struct mutex *mutex);

static _Thread_local struct mutex *held[16];
static _Thread_local size_t held_count;

static void require(bool right, const char *wrong)
{
    if (right)
        return;
    (void)fprintf(stderr, "a lock is %s\n", wrong);
    abort();
}

/* Its place in HELD; HELD_COUNT: this thread does not hold it. */
static size_t place_of(const struct mutex *mutex)
{
    size_t at = 0;
    while (at < held_count && held[at] != mutex)
        at++;
    return at;
}

void __wrap_mutex_lock(struct mutex *mutex)
{
    require(place_of(mutex) == held_count, "taken twice");
    require(held_count < COUNT_OF(held), "one too many");
    __real_mutex_lock(mutex);
    held[held_count++] = mutex;
}

void __wrap_mutex_unlock(struct mutex *mutex)
{
    const size_t at = place_of(mutex);
    require(at < held_count, "released and not held");
    held[at] = held[--held_count];
    __real_mutex_unlock(mutex);
}

void __wrap_mutex_free(struct mutex *mutex)
{
    require(mutex == NULL || place_of(mutex) == held_count, "freed and held");
    __real_mutex_free(mutex);
}

void __wrap_signal_wait(struct signal *signal, struct mutex *mutex)
{
    require(place_of(mutex) < held_count, "waited with and not held");
    __real_signal_wait(signal, mutex);
}
