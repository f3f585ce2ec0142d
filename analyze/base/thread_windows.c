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

static SRWLOCK global_mutex = SRWLOCK_INIT;

void global_lock(void)
{
    AcquireSRWLockExclusive(&global_mutex);
}

void global_unlock(void)
{
    ReleaseSRWLockExclusive(&global_mutex);
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

/* In units of 100 ns. */
static uint64_t file_time(FILETIME time)
{
    return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

uint32_t thread_processors(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors > 0 ? (uint32_t)info.dwNumberOfProcessors : 1;
}

/* Windows has no load average: measures how long a loop takes that needs 20 ms of processor time.
 * The answer is kept for some seconds. */
uint32_t thread_overload(void)
{
    enum { NEEDED_MS = 20, MOST = 16, MOST_MS = MOST * NEEDED_MS, KEPT_MS = 5000 };
    static volatile LONG kept, kept_until_ms; /* 0: nothing yet */
    const DWORD start_ms = GetTickCount();
    FILETIME made, ended, kernel, user;
    if (kept > 0 && (LONG)(start_ms - (DWORD)kept_until_ms) < 0)
        return (uint32_t)kept;
    uint64_t first = 0, used = 0;
    do {
        if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user))
            return 1;
        used = file_time(kernel) + file_time(user);
        first = first == 0 ? used + 1 : first; /* never 0 */
    } while (used + 1 - first < NEEDED_MS * 10000U && GetTickCount() - start_ms < MOST_MS);
    const DWORD took_ms = GetTickCount() - start_ms;
    uint32_t overload = (took_ms + NEEDED_MS / 2) / NEEDED_MS;
    if (overload < 1)
        overload = 1;
    else if (overload > MOST)
        overload = MOST;
    (void)InterlockedExchange(&kept_until_ms, (LONG)(start_ms + KEPT_MS));
    (void)InterlockedExchange(&kept, (LONG)overload);
    return overload;
}

void thread_sleep_ms(uint32_t ms)
{
    Sleep(ms);
}
