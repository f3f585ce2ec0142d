#include "victims/victim.h"

/* From user32.dll, loaded here so that the other scenarios do without the window system. */
typedef HWND(WINAPI *create_function)(DWORD, LPCWSTR, LPCWSTR, DWORD, int, int, int, int, HWND,
                                      HMENU, HINSTANCE, void *);
typedef LRESULT(WINAPI *send_function)(HWND, UINT, WPARAM, LPARAM);

static HMODULE user;
static HANDLE made;
static HWND window;

/* Makes a window and never looks at its messages. */
static DWORD WINAPI deaf(void *argument)
{
    FARPROC create = victim_function(user, "CreateWindowExW");
    (void)argument;
    truth_thread("deaf", false);
    window = ((create_function)(void (*)(void))create)(0, L"Static", NULL, 0, 0, 0, 0, 0,
                                                       HWND_MESSAGE, NULL, NULL, NULL);
    SetEvent(made);
    return (DWORD)HERE_SYSTEM((Sleep(INFINITE), 1)) + 1;
}

static int send_it(send_function send_message)
{
    return (int)HERE_SYSTEM(send_message(window, WM_USER, 0, 0)) + 1;
}

SCENARIO(send_message, .kind = KIND_HANG, .group = "A5",
         .sentence = "SendMessage to a window whose thread does not listen: two stacks tell it, "
                     "one alone does not.")
{
    user = LoadLibraryW(L"user32.dll");
    made = CreateEventW(NULL, TRUE, FALSE, NULL);
    FARPROC send_message = victim_function(user, "SendMessageW");
    CloseHandle(CreateThread(NULL, 0, deaf, NULL, 0, NULL));
    WaitForSingleObject(made, INFINITE);
    victim_ready();
    return HERE(send_it((send_function)(void (*)(void))send_message)) + 1;
}
