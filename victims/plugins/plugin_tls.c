/* plugin-tls: a thread-local storage callback that crashes in every new thread, once armed. */
#include "victims/plugins/slot.h"

PLUGIN_EXPORT extern volatile LONG plugin_armed;
volatile LONG plugin_armed;

static int poke(volatile LONG *p)
{
    return *p + 1;
}

static void NTAPI on_thread(void *module, DWORD reason, void *reserved)
{
    (void)module, (void)reserved;
    if (plugin_armed != 0 && reason == DLL_THREAD_ATTACH)
        plugin_armed = poke(NULL);
}

/* The C runtime's table of callbacks lies between .CRT$XLA and .CRT$XLZ. */
#if defined(_MSC_VER)
#pragma comment(linker, "/INCLUDE:_tls_used")
#pragma const_seg(".CRT$XLT")
extern const PIMAGE_TLS_CALLBACK plugin_tls_callback;
const PIMAGE_TLS_CALLBACK plugin_tls_callback = on_thread;
#pragma const_seg()
#else
extern const PIMAGE_TLS_CALLBACK plugin_tls_callback;
IN_SECTION(".CRT$XLT") const PIMAGE_TLS_CALLBACK plugin_tls_callback = on_thread;
#endif
