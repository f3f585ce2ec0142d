/* plugin-static: a global object whose constructor crashes, when an environment variable says so.
 */
#include <windows.h>

namespace
{
struct global {
    volatile int *nothing = nullptr;
    global()
    {
        wchar_t what[16];
        if (GetEnvironmentVariableW(L"PLUGIN_STATIC", what, 16) != 0)
            *nothing = 1;
    }
};

global object;
} // namespace
