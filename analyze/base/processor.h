/* Which processor a program runs on.
 *
 * A Windows program under Wine asks its server for every piece of memory that a dump reads, and
 * each waits while the other works. On one processor such a question costs half of what it costs on
 * two (measured: 0.55 instead of 0.9 s of processor time for a crash with both its dumps), because
 * no other processor has to be woken for it. Linux has it (processor_linux.c); elsewhere
 * nothing happens (processor_none.c). */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include <stdint.h>

/* The system's number of the N-th processor that this process may use, from 1, counted round. The
 * first differs from process to process, so that several runs of one job do not all take the same.
 * -1: N is 0, which means any, or the system does not say. */
int processor_number(uint32_t n);

/* This thread, and what it starts from now on, runs only on NUMBER; nothing if that is negative.
 * Safe between fork and exec. */
void processor_stay(int number);

/* The same for the process ID, with every thread that it has now. */
void processor_move(uint64_t id, int number);

#endif
