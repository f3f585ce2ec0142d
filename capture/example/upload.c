/* A host program that sends what earlier runs left, then crashes if it is asked to.
 *
 *     upload FOLDER URL TOKEN send|ask-first|crash [TRIES WAIT_MS ANSWER_MS LIMIT_MS]
 *
 * `ask-first` has no consent: nothing is sent. A real program calls capture_upload() on a thread of
 * its own, since it waits for the network. */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "capture/capture_port.h"
#include "capture/upload.h"

static uint32_t number(int argc, wchar_t **argv, int at)
{
    return argc > at ? (uint32_t)wcstoul(argv[at], NULL, 10) : 0;
}

int wmain(int argc, wchar_t **argv)
{
    char token[128] = "";
    if (argc < 5)
        return 2;
    snprintf(token, sizeof token, "%ls", argv[3]);
    if (wcscmp(argv[4], L"crash") == 0) {
        const struct capture_options options = {
            .version = CAPTURE_VERSION, .size = sizeof options, .folder = argv[1]};
        if (!capture_install(&options))
            return 3;
        *(volatile int *)NULL = 1;
    }
    const struct capture_upload_options options = {
        .size = sizeof options,
        .folder = argv[1],
        .url = argv[2],
        .token = token,
        .version = "1.0",
        .consent = wcscmp(argv[4], L"send") == 0,
        .tries = number(argc, argv, 5),
        .wait_ms = number(argc, argv, 6),
        .answer_ms = number(argc, argv, 7),
        .limit_ms = number(argc, argv, 8),
    };
    struct capture_upload_result result;
    const bool is_done = capture_upload(&options, &result);
    printf("sent %u refused %u left %u status %u end %u no_dump %u\n", (unsigned)result.sent,
           (unsigned)result.refused, (unsigned)result.left, (unsigned)result.status,
           (unsigned)result.end, (unsigned)result.no_dump);
    return is_done ? 0 : 1;
}
