/* See windows.h. */
#ifndef TESTS_WINTERNL_H
#define TESTS_WINTERNL_H

typedef struct {
    void *unused;
} IO_STATUS_BLOCK, *PIO_STATUS_BLOCK;

#endif
