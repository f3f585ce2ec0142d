/* A host program: reports what earlier runs left, then runs with the capture installed.
 *
 *     host FOLDER calm|crash|wait|take [KEEP]
 *
 * `take` has the reported files removed, as a program does that has sent them; `wait` lives until
 * its standard input ends. */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "capture/capture_port.h"

static bool report(const struct capture_report *found, void *is_taken)
{
    printf("%ls %ls %llu bytes\n", found->record != NULL ? found->record : L"-",
           found->dump != NULL ? found->dump : L"-", (unsigned long long)found->bytes);
    return *(const bool *)is_taken;
}

int wmain(int argc, wchar_t **argv)
{
    if (argc < 3)
        return 2;
    bool is_taken = wcscmp(argv[2], L"take") == 0;
    printf("%u pending\n", (unsigned)capture_pending(argv[1], report, &is_taken));
    fflush(stdout);

    struct capture_options options = {.version = CAPTURE_VERSION, .size = sizeof options};
    options.folder = argv[1];
    options.keep_count = argc > 3 ? (uint32_t)wcstoul(argv[3], NULL, 10) : 0;
    if (!capture_install(&options))
        return 3;
    if (wcscmp(argv[2], L"crash") == 0)
        *(volatile int *)NULL = 1;
    if (wcscmp(argv[2], L"wait") == 0)
        (void)getchar();
    capture_uninstall();
    return 0;
}
