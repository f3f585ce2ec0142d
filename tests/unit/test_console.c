/* A console of Windows shows UTF-8 and a terminal's codes once the program has prepared it. */
#include <stdlib.h>
#include <windows.h>

#include "base/process.h"
#include "test.h"

/* The screen of our console, or of a new one. */
static HANDLE open_screen(void)
{
    const HANDLE console =
        CreateFileW(L"CONOUT$", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                    NULL, OPEN_EXISTING, 0, NULL);
    if (console != INVALID_HANDLE_VALUE || !AllocConsole())
        return console;
    return CreateFileW(L"CONOUT$", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                       NULL, OPEN_EXISTING, 0, NULL);
}

TEST(a_console_is_prepared_for_utf8_and_terminal_codes)
{
    const HANDLE console = open_screen();
    DWORD mode = 0;

    const bool answers = console != INVALID_HANDLE_VALUE && GetConsoleOutputCP() != 0;
    if (!answers && getenv("TWINSTACK_TEST_CONSOLE") == NULL)
        SKIP("no console: tests/e2e/test_windows_units.py runs this in a terminal");
    REQUIRE(answers);
    CHECK(SetStdHandle(STD_OUTPUT_HANDLE, console));
    CHECK(SetStdHandle(STD_ERROR_HANDLE, console));
    CHECK(SetConsoleMode(console, ENABLE_PROCESSED_OUTPUT));
    CHECK(SetConsoleOutputCP(437));
    CHECK_EQ(GetConsoleOutputCP(), 437);
    process_prepare();
    CHECK(GetConsoleMode(console, &mode));
    CHECK_HEX(mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING, ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    CHECK_EQ(GetConsoleOutputCP(), CP_UTF8);
}
