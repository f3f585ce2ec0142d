#include "victims/victim.h"

enum { ROUNDS = 60000, WORKER_ROUNDS = 39900, LAST_ROUNDS = 50 };

typedef int (*plugin_function)(int (*)(int), int);

static int note(int value)
{
    return capture_now("note") + value;
}

static int dive(int depth)
{
    return depth > 0 ? dive(depth - 1) + 1 : capture_now("dive") + 1;
}

static DWORD WINAPI worker(void *argument)
{
    (void)argument;
    for (int i = 0; i < WORKER_ROUNDS; i++)
        capture_now("worker");
    return 0;
}

/* Captures below a plugin's function, and unloads the plugin. */
static HMODULE note_in(const char *plugin, const char *function)
{
    HMODULE module = victim_load(plugin);
    FARPROC back = victim_function(module, function);
    for (int i = 0; i < LAST_ROUNDS; i++)
        victim_zero += ((plugin_function)(void (*)(void))back)(note, 0) - 2;
    victim_zero = 0;
    FreeLibrary(module);
    return module;
}

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(capture_ring, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005, .ring_kb = 4096,
         .sentence = "100,000 stacks on demand from two threads, the last of them through two "
                     "plugins that come to one address: the record holds what the ring kept.")
{
    HANDLE thread = CreateThread(NULL, 0, worker, NULL, 0, NULL);
    for (int i = 0; i < ROUNDS; i++)
        victim_zero += dive(i % 12) - i % 12 - 2;
    WaitForSingleObject(thread, INFINITE);
    victim_zero = 0;
    if (note_in("plugin-base-one", "plugin_back_one") !=
        note_in("plugin-base-two", "plugin_back_two"))
        victim_say("the second plugin went elsewhere");
    return HERE(poke(victim_null)) + 1;
}
