// The deaths of the stranger's program: main.cpp has those of the language, places.cpp those that
// depend on the place where the thread is.
#ifndef STRANGER_DEATHS_H
#define STRANGER_DEATHS_H

#define NOINLINE __attribute__((noinline))

struct death {
    const wchar_t *name;
    int (*die)(); // returns only if the program survived
};

extern const death deaths_of_places[];

// The innermost place of most deaths; the callers differ. The sum keeps the call from being a tail
// call.
NOINLINE int break_off(volatile int *page);

// Starts COUNT threads that all call BODY at the same moment, and waits for them.
void at_once(int count, int (*body)(), unsigned reserve_bytes);

extern bool dies_in_handler, dies_at_thread_end;

#endif
