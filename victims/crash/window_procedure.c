#include "victims/victim.h"

/* From user32.dll, loaded here so that the other scenarios do without the window system. */
static struct {
    HMODULE dll;
    ATOM(WINAPI *register_class)(const WNDCLASSW *);
    HWND(WINAPI *create)(DWORD, LPCWSTR, LPCWSTR, DWORD, int, int, int, int, HWND, HMENU, HINSTANCE,
                         void *);
    LRESULT(WINAPI *send)(HWND, UINT, WPARAM, LPARAM);
    LRESULT(WINAPI *other)(HWND, UINT, WPARAM, LPARAM);
} user;

#define TAKE(member, name)                                                                         \
    (*(void (**)(void)) &user.member = (void (*)(void))victim_function(user.dll, name))

static LRESULT CALLBACK on_message(HWND window, UINT message, WPARAM w, LPARAM l)
{
    if (message == WM_USER)
        HERE_DO(*victim_null = 1);
    return user.other(window, message, w, l);
}

static int send_it(HWND window)
{
    return (int)HERE_SYSTEM(user.send(window, WM_USER, 0, 0)) + 1;
}

SCENARIO(window_procedure, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "A window procedure crashes: the window system called it, on Windows by way "
                     "of the kernel.")
{
    WNDCLASSW class = {.lpfnWndProc = on_message, .lpszClassName = L"twinstack"};
    user.dll = LoadLibraryW(L"user32.dll");
    TAKE(register_class, "RegisterClassW");
    TAKE(create, "CreateWindowExW");
    TAKE(send, "SendMessageW");
    TAKE(other, "DefWindowProcW");
    user.register_class(&class);
    HWND window = user.create(0, L"twinstack", NULL, 0, 0, 0, 0, 0, HWND_MESSAGE, NULL, NULL, NULL);
    return HERE(send_it(window)) + 1;
}
