// A program that its author links with the capture: it loads a plugin, has pools and threads, and
// dies in the way that it is asked for: stranger FOLDER DEATH.
#include <windows.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <exception>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

#include <capture/capture_port.h>
#include <capture/upload.h>

#include "deaths.h"

static std::wstring next_to_program(const wchar_t *name)
{
    wchar_t path[1024];
    GetModuleFileNameW(nullptr, path, 1024);
    std::wstring text = path;
    return text.substr(0, text.find_last_of(L"\\/") + 1) + name;
}

NOINLINE int break_off(volatile int *page)
{
    *page = 1;
    return *page + 1;
}

// ---- the language ----

NOINLINE static int parse(const std::string &text)
{
    if (text.empty())
        throw std::runtime_error("an empty document");
    return static_cast<int>(text.size());
}

NOINLINE static int read_document()
{
    return parse("") + 1;
}

// Threads of Windows, since Debian's libstdc++ for it has none of its own.
static HANDLE start_thread(std::function<void()> body)
{
    return CreateThread(
        nullptr, 0,
        [](void *context) -> DWORD {
            (*static_cast<std::function<void()> *>(context))();
            return 0;
        },
        new std::function<void()>(std::move(body)), 0, nullptr);
}

NOINLINE static int read_in_thread()
{
    HANDLE reader = start_thread([] { std::printf("%d\n", read_document()); });
    WaitForSingleObject(reader, INFINITE);
    return 0;
}

// A pool as programs have them: a queue of functions, and a thread that calls them.
class pool
{
  public:
    pool()
    {
        worker = start_thread([this] { serve(); });
    }
    void add(std::function<void()> task)
    {
        AcquireSRWLockExclusive(&lock);
        tasks.push(std::move(task));
        ReleaseSRWLockExclusive(&lock);
        WakeConditionVariable(&changed);
    }
    void wait()
    {
        WaitForSingleObject(worker, INFINITE);
    }

  private:
    void serve()
    {
        for (;;) {
            AcquireSRWLockExclusive(&lock);
            while (tasks.empty())
                SleepConditionVariableSRW(&changed, &lock, INFINITE, 0);
            std::function<void()> task = std::move(tasks.front());
            tasks.pop();
            ReleaseSRWLockExclusive(&lock);
            task();
        }
    }
    SRWLOCK lock = SRWLOCK_INIT;
    CONDITION_VARIABLE changed = CONDITION_VARIABLE_INIT;
    std::queue<std::function<void()>> tasks;
    HANDLE worker;
};

NOINLINE static int index_book(int number)
{
    volatile int *none = nullptr;
    return break_off(none + number) + 1;
}

static int index_in_pool()
{
    pool workers;
    for (int i = 0; i < 3; i++)
        workers.add([i] { std::printf("%d\n", index_book(i)); });
    workers.wait();
    return 0;
}

static int throw_in_pool()
{
    pool workers;
    workers.add([] { std::printf("%d\n", read_document()); });
    workers.wait();
    return 0;
}

NOINLINE static int order_books()
{
    volatile std::size_t books = SIZE_MAX / 64;
    return std::vector<double>(books).empty() ? 1 : 2;
}

NOINLINE static int close_book() noexcept
{
    return read_document() + 1;
}

NOINLINE static int give_up()
{
    std::terminate();
}

NOINLINE static int abandon()
{
    std::abort();
}

struct shelf {
    virtual ~shelf() = default;
    virtual int books() = 0;
    NOINLINE int count()
    {
        return books() + 1;
    }
};

struct half_made : shelf {
    half_made();
    int books() override
    {
        return 1;
    }
};

static shelf *made_last;

struct base_shelf : shelf {
    base_shelf()
    {
        made_last = this;
        std::printf("%d\n", made_last->count());
    }
};

struct wide_shelf : base_shelf {
    int books() override
    {
        return 2;
    }
};

NOINLINE static int make_shelf()
{
    wide_shelf made;
    return made.count();
}

NOINLINE static int divide(volatile int books, volatile int readers)
{
    return books / readers + 1;
}

static int divide_by_zero()
{
    return divide(7, 0) + 1;
}

NOINLINE static int unreachable_case()
{
    __builtin_trap();
}

NOINLINE static int descend(volatile int *depth)
{
    volatile int room[32];
    room[0] = *depth + 1;
    if (room[0] < 0)
        return 0;
    return descend(room) + room[0];
}

static int overflow()
{
    volatile int zero = 0;
    return descend(&zero);
}

// ---- the plugin ----

static int in_plugin()
{
    HMODULE plugin = LoadLibraryW(next_to_program(L"plugin.dll").c_str());
    auto translate = reinterpret_cast<int (*)(const wchar_t *)>(
        reinterpret_cast<void *>(GetProcAddress(plugin, "translate")));
    return translate == nullptr ? 5 : translate(nullptr) + 1;
}

// ---- no death ----

static int ends_itself()
{
    std::_Exit(9);
}

static int calm()
{
    return 0;
}

static int crash_handler()
{
    dies_in_handler = true;
    return break_off(nullptr) + 1;
}

static const death deaths[] = {
    {L"null-write", [] { return break_off(nullptr) + 1; }},
    {L"plugin", in_plugin},
    {L"throw", read_document},
    {L"throw-in-thread", read_in_thread},
    {L"throw-in-pool", throw_in_pool},
    {L"pool", index_in_pool},
    {L"bad-alloc", order_books},
    {L"noexcept", close_book},
    {L"terminate", give_up},
    {L"abort", abandon},
    {L"pure-call", make_shelf},
    {L"divide", divide_by_zero},
    {L"trap", unreachable_case},
    {L"overflow", overflow},
    {L"crash-in-handler", crash_handler},
    {L"exit", ends_itself},
    {L"calm", calm},
};

static void last_words()
{
    std::printf("last words\n");
    std::fflush(stdout);
    if (dies_in_handler)
        break_off(nullptr);
}

static int send(const wchar_t *folder, const wchar_t *url, const wchar_t *token)
{
    const std::wstring wide = token;
    const std::string narrow(wide.begin(), wide.end());
    capture_upload_options options{};
    capture_upload_result result{};
    options.size = sizeof options;
    options.folder = folder;
    options.url = url;
    options.token = narrow.c_str();
    options.version = "1.0";
    options.consent = true;
    const bool is_done = capture_upload(&options, &result);
    std::printf("sent %u, status %u\n", static_cast<unsigned>(result.sent),
                static_cast<unsigned>(result.status));
    return is_done ? 0 : 1;
}

static const death *find(const wchar_t *name)
{
    for (const death &row : deaths)
        if (std::wcscmp(row.name, name) == 0)
            return &row;
    for (const death *row = deaths_of_places; row->name != nullptr; row++)
        if (std::wcscmp(row->name, name) == 0)
            return row;
    return nullptr;
}

int wmain(int argc, wchar_t **argv)
{
    if (argc == 5 && std::wcscmp(argv[2], L"send") == 0)
        return send(argv[1], argv[3], argv[4]);
    const death *chosen = argc == 3 ? find(argv[2]) : nullptr;
    if (chosen == nullptr)
        return 2;
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    capture_options options{};
    options.version = CAPTURE_VERSION;
    options.size = sizeof options;
    options.folder = argv[1];
    options.ring_bytes = 1 << 16;
    options.on_crash = last_words;
    if (!capture_install(&options))
        return 3;
    std::set_terminate([] {
        capture_on_terminate();
        std::abort();
    });
    capture_now("started");
    return chosen->die();
}
