/* thread.h on POSIX systems. */
#define _DEFAULT_SOURCE
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct thread {
    pthread_t id;
    void (*body)(void *context);
    void *context;
};

struct mutex {
    pthread_mutex_t lock;
};

struct signal {
    pthread_cond_t condition;
};

static void *thread_main(void *argument)
{
    struct thread *thread = argument;
    thread->body(thread->context);
    return NULL;
}

struct thread *thread_start(void (*body)(void *context), void *context)
{
    struct thread *thread = malloc(sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->body = body;
    thread->context = context;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        free(thread);
        return NULL;
    }
    (void)pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    const bool started = pthread_create(&thread->id, &attributes, thread_main, thread) == 0;
    (void)pthread_attr_destroy(&attributes);
    if (started)
        return thread;
    free(thread);
    return NULL;
}

void thread_join(struct thread *thread)
{
    if (thread == NULL)
        return;
    (void)pthread_join(thread->id, NULL);
    free(thread);
}

struct mutex *mutex_new(void)
{
    struct mutex *mutex = malloc(sizeof *mutex);
    if (mutex != NULL)
        (void)pthread_mutex_init(&mutex->lock, NULL);
    return mutex;
}

void mutex_free(struct mutex *mutex)
{
    if (mutex == NULL)
        return;
    (void)pthread_mutex_destroy(&mutex->lock);
    free(mutex);
}

void mutex_lock(struct mutex *mutex)
{
    (void)pthread_mutex_lock(&mutex->lock);
}

void mutex_unlock(struct mutex *mutex)
{
    (void)pthread_mutex_unlock(&mutex->lock);
}

static pthread_mutex_t global_mutex = PTHREAD_MUTEX_INITIALIZER;

void global_lock(void)
{
    (void)pthread_mutex_lock(&global_mutex);
}

void global_unlock(void)
{
    (void)pthread_mutex_unlock(&global_mutex);
}

struct signal *signal_new(void)
{
    struct signal *signal = malloc(sizeof *signal);
    if (signal != NULL)
        (void)pthread_cond_init(&signal->condition, NULL);
    return signal;
}

void signal_free(struct signal *signal)
{
    if (signal == NULL)
        return;
    (void)pthread_cond_destroy(&signal->condition);
    free(signal);
}

void signal_wait(struct signal *signal, struct mutex *mutex)
{
    (void)pthread_cond_wait(&signal->condition, &mutex->lock);
}

void signal_wake_all(struct signal *signal)
{
    (void)pthread_cond_broadcast(&signal->condition);
}

uint32_t thread_processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

uint32_t thread_overload(void)
{
    static const double most = 16;
    double load = 0;
    if (getloadavg(&load, 1) != 1)
        return 1;
    const double each = load / thread_processors() + 0.5;
    if (each < 1)
        return 1;
    return (uint32_t)(each > most ? most : each);
}

void thread_sleep_ms(uint32_t ms)
{
    const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
    (void)nanosleep(&wait, NULL);
}
