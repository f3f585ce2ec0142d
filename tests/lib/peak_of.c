/* Runs a program with its words, its output thrown away, and prints its exit status and the most
 * memory that it had, in KB.
 *
 *     peak_of PROGRAM [WORD]...
 *
 * Linux counts for a process also what its parent had when it started it: started by Python, every
 * small program seems to have 20 MB. This program has less than any that it measures. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage used;
    int status = 0;

    if (argc < 2)
        return 2;
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);
        (void)dup2(nothing, STDOUT_FILENO);
        (void)dup2(nothing, STDERR_FILENO);
        (void)execv(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        getrusage(RUSAGE_CHILDREN, &used) != 0)
        return 1;
    (void)printf("%d %ld\n", WEXITSTATUS(status), used.ru_maxrss);
    return 0;
}
