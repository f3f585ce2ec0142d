/* What ends a test that uses a lock wrongly: lib/locks.c. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "test.h"

static void release_untaken(struct mutex *mutex, struct signal *signal)
{
    (void)signal;
    mutex_unlock(mutex);
}

static void take_twice(struct mutex *mutex, struct signal *signal)
{
    (void)signal;
    mutex_lock(mutex);
    mutex_lock(mutex);
}

static void take(void *mutex)
{
    mutex_lock(mutex);
}

static void release_of_another(struct mutex *mutex, struct signal *signal)
{
    (void)signal;
    thread_join(thread_start(take, mutex));
    mutex_unlock(mutex);
}

static void wait_untaken(struct mutex *mutex, struct signal *signal)
{
    signal_wait(signal, mutex);
}

static void free_taken(struct mutex *mutex, struct signal *signal)
{
    (void)signal;
    mutex_lock(mutex);
    mutex_free(mutex);
}

static void take_both(struct mutex *mutex, struct signal *signal)
{
    struct mutex *other = mutex_new();
    (void)signal;
    mutex_lock(mutex);
    mutex_lock(other);
    mutex_unlock(mutex);
    mutex_unlock(other);
    mutex_lock(mutex);
    mutex_unlock(mutex);
    mutex_free(other);
    mutex_free(NULL);
}

struct waker {
    struct mutex *mutex;
    struct signal *signal;
};

/* Gets the lock only when the other waits. */
static void wake(void *context)
{
    const struct waker *w = context;
    mutex_lock(w->mutex);
    signal_wake_all(w->signal);
    mutex_unlock(w->mutex);
}

static void wait_and_release(struct mutex *mutex, struct signal *signal)
{
    struct waker waker = {mutex, signal};
    mutex_lock(mutex);
    struct thread *thread = thread_start(wake, &waker);
    signal_wait(signal, mutex);
    mutex_unlock(mutex);
    thread_join(thread);
}

TEST(a_lock_that_is_used_wrongly_ends_the_test)
{
    static const struct {
        const char *name;
        void (*use)(struct mutex *mutex, struct signal *signal);
        int signal;
    } rows[] = {
        {"released, and never taken", release_untaken, SIGABRT},
        {"released by another thread", release_of_another, SIGABRT},
        {"taken twice by one thread", take_twice, SIGABRT},
        {"waited with, and never taken", wait_untaken, SIGABRT},
        {"freed, and still taken", free_taken, SIGABRT},
        {"two, released in any order", take_both, 0},
        {"waited with and released", wait_and_release, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int status = 0;
        test_row(rows[i].name);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            (void)alarm(20); /* one that waits without end fails, too */
            rows[i].use(mutex_new(), signal_new());
            _exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, rows[i].signal);
    }
}
