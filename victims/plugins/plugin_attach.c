/* plugin-attach: crashes or sleeps in its DllMain, as an environment variable says. */
#include "victims/plugins/plugin_attach.h"
#include "victims/plugins/slot.h"

static int poke(volatile int *p)
{
    return *p + 1;
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, void *reserved)
{
    wchar_t what[16];
    (void)instance, (void)reserved;
    if (GetEnvironmentVariableW(L"PLUGIN_ATTACH", what, 16) == 0)
        return TRUE;
    if (reason == DLL_PROCESS_DETACH && what[0] == L'd')
        Sleep(INFINITE);
    if (reason == DLL_PROCESS_ATTACH && what[0] == L's')
        Sleep(INFINITE);
    _Static_assert(PLUGIN_ATTACH_SLEEP_LINE == __LINE__ - 1, "the line of Sleep has moved");
    _Static_assert(PLUGIN_DETACH_SLEEP_LINE == __LINE__ - 4, "the line of Sleep has moved");
    if (reason == DLL_PROCESS_ATTACH && what[0] == L'c')
        return poke(NULL) != 0;
    return TRUE;
}
