/* Threads, mutexes and condition variables. One implementation per system: thread_posix.c,
 * thread_windows.c. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread;
struct mutex;
struct signal; /* a condition variable */

/* The stack size of each thread, regardless of the system's default: enough for every bounded
 * recursion of the analyser (base/limits.h). Unused pages cost nothing. */
#define THREAD_STACK_BYTES ((size_t)8 << 20)

/* Runs BODY(CONTEXT) in a new thread; NULL when the system refuses. Owned by the caller until
 * thread_join(). */
struct thread *thread_start(void (*body)(void *context), void *context);
void thread_join(struct thread *thread);

/* Owned by the caller; NULL when out of memory. */
struct mutex *mutex_new(void);
void mutex_free(struct mutex *mutex);
void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

/* The one mutex of the process: for libraries with state of their own. */
void global_lock(void);
void global_unlock(void);

struct signal *signal_new(void);
void signal_free(struct signal *signal);
/* Waits with MUTEX held by the caller; wakeups may be spurious, so wait in a loop. */
void signal_wait(struct signal *signal, struct mutex *mutex);
void signal_wake_all(struct signal *signal);

void thread_sleep_ms(uint32_t ms);

/* Processors that this process may use, at least 1. */
uint32_t thread_processors(void);

/* How many programs share each processor now, at least 1 and at most 16: what a limit that is meant
 * for a quiet machine is multiplied by. 1 where the system does not say. */
uint32_t thread_overload(void);

#endif
