/* processor.h on Linux. */
#define _GNU_SOURCE
#include "base/processor.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

int processor_number(uint32_t n)
{
    cpu_set_t ours;
    if (n == 0 || sched_getaffinity(0, sizeof ours, &ours) != 0 || CPU_COUNT(&ours) == 0)
        return -1;
    uint32_t left = (n - 1 + (uint32_t)getpid()) % (uint32_t)CPU_COUNT(&ours);
    for (size_t number = 0; number < CPU_SETSIZE; number++)
        if (CPU_ISSET(number, &ours) && left-- == 0)
            return (int)number;
    return -1;
}

static void keep(pid_t id, int number)
{
    cpu_set_t one;
    if (number < 0 || number >= CPU_SETSIZE)
        return;
    CPU_ZERO(&one);
    CPU_SET((size_t)number, &one);
    (void)sched_setaffinity(id, sizeof one, &one); /* refused: it runs on, only slower */
}

void processor_stay(int number)
{
    keep(0, number);
}

void processor_move(uint64_t id, int number)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/task", id);
    DIR *tasks = number >= 0 ? opendir(path) : NULL;
    if (tasks == NULL)
        return;
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        const long task = strtol(entry->d_name, NULL, 10);
        if (task > 0)
            keep((pid_t)task, number);
    }
    (void)closedir(tasks);
}
