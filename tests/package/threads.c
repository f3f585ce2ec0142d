/* Several threads resolve the same address with the same symbols: threads SYMBOLS MODULE OFFSET. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinstack.h>

enum { THREADS = 8, TIMES = 200 };

static struct twinstack_symbols *symbols;
static struct twinstack_address address = {.size = sizeof address};

/* The function's name as a copy; NULL: the answers differ. */
static void *ask(void *unused)
{
    char first[256] = "";

    (void)unused;
    for (int i = 0; i < TIMES; i++) {
        struct twinstack_stack *stack;
        if (twinstack_resolve(symbols, &address, 1, &stack, NULL) != TWINSTACK_OK)
            return NULL;
        const char *name = twinstack_function(stack, 0);
        if (i == 0)
            (void)snprintf(first, sizeof first, "%s", name != NULL ? name : "?");
        const int same = strcmp(first, name != NULL ? name : "?") == 0;
        twinstack_stack_free(stack);
        if (!same)
            return NULL;
    }
    return strdup(first);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    char *first = NULL;

    if (argc != 4)
        return 2;
    const char *paths[] = {argv[1]};
    const struct twinstack_options options = {
        .size = sizeof options, .paths = paths, .path_count = 1};
    address.module = argv[2];
    address.offset = strtoull(argv[3], NULL, 0);
    if (twinstack_open(&options, &symbols, NULL) != TWINSTACK_OK)
        return 3;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, ask, NULL) != 0)
            return 3;
    int alike = 1;
    for (int i = 0; i < THREADS; i++) {
        void *name = NULL;
        pthread_join(threads[i], &name);
        alike = alike && name != NULL && strcmp(name, "?") != 0 &&
                (first == NULL || strcmp(first, name) == 0);
        if (first == NULL)
            first = name;
        else
            free(name);
    }
    free(first);
    twinstack_close(symbols);
    puts(alike ? "all alike" : "they differ");
    return alike ? 0 : 1;
}
