// A C++ program that reports its crashes: `host FOLDER` crashes, and the next start prints what was
// left.
#include <cstdio>
#include <stdexcept>

#include "capture/capture_port.h"

static bool print(const capture_report *found, void *)
{
    std::printf("left: %ls\n", found->record != nullptr ? found->record : L"no record");
    return true; // taken: the files are removed
}

static int parse(const char *text)
{
    if (text[0] != '{')
        throw std::runtime_error("not a document");
    return 0;
}

int wmain(int argc, wchar_t **argv)
{
    capture_options options{};
    if (argc < 2)
        return 2;
    if (capture_pending(argv[1], print, nullptr) != 0)
        return 0;
    options.version = CAPTURE_VERSION;
    options.size = sizeof options;
    options.folder = argv[1];
    return capture_install(&options) ? parse("no braces") : 3;
}
