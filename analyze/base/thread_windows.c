/* thread.h on Windows. */
#include "base/thread.h"

#include <stdlib.h>
#include <windows.h>

struct thread {
    HANDLE handle;
    void (*body)(void *context);
    void *context;
};

struct mutex {
    SRWLOCK lock;
};

struct signal {
    CONDITION_VARIABLE condition;
};

static DWORD WINAPI thread_main(void *argument)
{
    struct thread *thread = argument;
    thread->body(thread->context);
    return 0;
}

struct thread *thread_start(void (*body)(void *context), void *context)
{
    struct thread *thread = malloc(sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->body = body;
    thread->context = context;
    thread->handle = CreateThread(NULL, THREAD_STACK_BYTES, thread_main, thread,
                                  STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (thread->handle == NULL) {
        free(thread);
        return NULL;
    }
    return thread;
}

void thread_join(struct thread *thread)
{
    if (thread == NULL)
        return;
    (void)WaitForSingleObject(thread->handle, INFINITE);
    (void)CloseHandle(thread->handle);
    free(thread);
}

struct mutex *mutex_new(void)
{
    struct mutex *mutex = malloc(sizeof *mutex);
    if (mutex != NULL)
        InitializeSRWLock(&mutex->lock);
    return mutex;
}

void mutex_free(struct mutex *mutex)
{
    free(mutex);
}

void mutex_lock(struct mutex *mutex)
{
    AcquireSRWLockExclusive(&mutex->lock);
}

void mutex_unlock(struct mutex *mutex)
{
    ReleaseSRWLockExclusive(&mutex->lock);
}

struct signal *signal_new(void)
{
    struct signal *signal = malloc(sizeof *signal);
    if (signal != NULL)
        InitializeConditionVariable(&signal->condition);
    return signal;
}

void signal_free(struct signal *signal)
{
    free(signal);
}

void signal_wait(struct signal *signal, struct mutex *mutex)
{
    (void)SleepConditionVariableSRW(&signal->condition, &mutex->lock, INFINITE, 0);
}

void signal_wake_all(struct signal *signal)
{
    WakeAllConditionVariable(&signal->condition);
}

uint32_t thread_processors(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors > 0 ? (uint32_t)info.dwNumberOfProcessors : 1;
}

uint32_t thread_overload(void)
{
    return 1;
}

void thread_sleep_ms(uint32_t ms)
{
    Sleep(ms);
}
