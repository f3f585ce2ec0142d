#include "victims/victim.h"

typedef BOOL(WINAPI *get_message)(MSG *, HWND, UINT, UINT);

static int wait_for_message(get_message get, MSG *message)
{
    return HERE_SYSTEM(get(message, NULL, 0, 0)) + 1;
}

SCENARIO(message_loop, .kind = KIND_HANG, .group = "A5",
         .sentence = "A message loop that gets no messages and beats only when it does.")
{
    MSG message;
    /* Loaded here, so that the other scenarios do without the window system. */
    FARPROC get = victim_function(LoadLibraryW(L"user32.dll"), "GetMessageW");
    victim_ready();
    return HERE(wait_for_message((get_message)(void (*)(void))get, &message)) + 1;
}
