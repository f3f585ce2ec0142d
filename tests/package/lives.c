/* A host program that does to the capture what programs do: lives FOLDER MODE [NUMBER|FUNCTION].
 * The modes are the rows below; test_capture_lives.py states what each must leave. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <windows.h>

#include "capture/capture_port.h"
#include "moment.h"

enum { THREADS = 64, CHURNERS = 4, HANG_MS = 200, SURVIVED = 77 };
enum { DUMP_LIMIT_MS = 120000 }; /* where the locks are meant, not the load of the machine */

static struct capture_options options = {.version = CAPTURE_VERSION, .size = sizeof options};
static int number;
static char step[64]; /* the function of the system whose call is meant */
static HANDLE begin;

static bool install(void)
{
    return capture_install(&options);
}

static void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

static int fail(const char *text)
{
    say(text);
    return SURVIVED;
}

static int crash(void)
{
    *(volatile int *)NULL = 1;
    return SURVIVED;
}

/* Starts COUNT threads that wait for `begin`, and lets all of them go at once. */
static void start(int count, LPTHREAD_START_ROUTINE routine, DWORD reserve_bytes)
{
    static HANDLE threads[THREADS];
    begin = CreateEventW(NULL, TRUE, FALSE, NULL);
    for (int i = 0; i < count; i++)
        threads[i] = CreateThread(NULL, reserve_bytes, routine, (void *)(intptr_t)i,
                                  STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    Sleep(100);
    SetEvent(begin);
    WaitForMultipleObjects((DWORD)count, threads, TRUE, INFINITE);
}

/* ---- installing and uninstalling ---- */

static int reinstall(void)
{
    if (!install())
        return fail("the first installation failed");
    capture_uninstall();
    return install() ? crash() : fail("the second installation failed");
}

static int bad_folder(void)
{
    const wchar_t *good = options.folder;
    options.folder = L"C:\\no such folder\\at all";
    if (install())
        return fail("installed into no folder");
    options.folder = good;
    return install() ? crash() : fail("no installation after one that failed");
}

static DWORD WINAPI churner(void *argument)
{
    uint32_t seed = (uint32_t)(uintptr_t)argument * 2654435761u + 1;
    WaitForSingleObject(begin, INFINITE);
    for (int i = 0; i < number / CHURNERS; i++) {
        seed = seed * 1664525u + 1013904223u;
        if ((seed >> 16 & 1) != 0)
            (void)install();
        else
            capture_uninstall();
        (void)capture_now("churn");
        capture_heartbeat();
    }
    return 0;
}

static DWORD handle_count(void)
{
    DWORD count = 0;
    GetProcessHandleCount(GetCurrentProcess(), &count);
    return count;
}

static int churn(void)
{
    options.ring_bytes = 1 << 16;
    (void)install();
    capture_uninstall();
    const DWORD before = handle_count();
    start(CHURNERS, churner, 0);
    capture_uninstall();
    printf("%lu more handles\n", handle_count() - before);
    fflush(stdout);
    return install() ? crash() : fail("no installation after all of it");
}

static DWORD WINAPI crasher(void *argument)
{
    (void)argument;
    WaitForSingleObject(begin, INFINITE);
    return (DWORD)crash();
}

static DWORD WINAPI crasher_between(void *argument)
{
    if (argument != NULL)
        return churner(argument);
    WaitForSingleObject(begin, INFINITE);
    Sleep((DWORD)(number % 50));
    return (DWORD)crash();
}

/* A crash while other threads install and uninstall: captured or not, the process ends. */
static int crash_between(void)
{
    number += 100000;
    start(CHURNERS, crasher_between, 0);
    return SURVIVED;
}

/* ---- a crash between two steps ---- */

static DWORD WINAPI act(void *action)
{
    WaitForSingleObject(moment, INFINITE);
    ((void (*)(void))action)();
    SetEvent(acted);
    return 0;
}

static void crash_now(void)
{
    (void)crash();
}

static void reinstall_now(void)
{
    capture_uninstall();
    (void)install();
}

/* A crash does not come back; an uninstallation may wait for the thread that is held here. */
static int at_step(void (*action)(void))
{
    enum { UNINSTALLED_MS = 5000 };
    moment_ms = action == crash_now ? INFINITE : UNINSTALLED_MS;
    if (!moment_is_before(step))
        return fail("the program does not import that function");
    CloseHandle(CreateThread(NULL, 0, act, (void *)action, 0, NULL));
    return 0;
}

/* Another thread crashes where the capture is being installed. */
static int crash_at_install(void)
{
    if (at_step(crash_now) != 0)
        return SURVIVED;
    moment_comes();
    (void)install();
    return fail("the step was not reached");
}

static int crash_at_uninstall(void)
{
    if (at_step(crash_now) != 0 || !install())
        return fail("not installed");
    moment_comes();
    capture_uninstall();
    return fail("the step was not reached");
}

/* The thread that crashes is in the hooks of the capture when another uninstalls it. */
static int uninstall_at_crash(void)
{
    if (at_step(capture_uninstall) != 0 || !install())
        return fail("not installed");
    (void)AddVectoredExceptionHandler(0, moment_comes_now); /* after that of the capture */
    return crash();
}

static int reinstall_at_crash(void)
{
    if (at_step(reinstall_now) != 0 || !install())
        return fail("not installed");
    (void)AddVectoredExceptionHandler(0, moment_comes_now);
    return crash();
}

/* ---- hangs ---- */

/* How many records hold something. */
static int count_records(void)
{
    wchar_t pattern[MAX_PATH];
    WIN32_FIND_DATAW found;
    int count = 0;
    swprintf(pattern, MAX_PATH, L"%ls\\capture-*.rec", options.folder);
    HANDLE search = FindFirstFileW(pattern, &found);
    for (BOOL more = search != INVALID_HANDLE_VALUE; more; more = FindNextFileW(search, &found))
        count += found.nFileSizeLow > 0;
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    return count;
}

/* On a busy machine the monitor may come late: a hang that is captured lasts until it is. */
static void hang(bool is_captured)
{
    enum { LOOK_MS = 100, LOOKS = 600 };
    const int before = count_records();
    capture_heartbeat();
    Sleep(HANG_MS * 4);
    for (int i = 0; is_captured && i < LOOKS && count_records() == before; i++)
        Sleep(LOOK_MS);
    capture_heartbeat();
}

static int hangs_and_crash(void)
{
    options.hang_ms = HANG_MS;
    if (!install())
        return fail("not installed");
    for (int i = 0; i < number; i++)
        hang(options.hangs_per_hour == 0 || i < (int)options.hangs_per_hour);
    return crash();
}

static int two_hangs_an_hour(void)
{
    options.hangs_per_hour = 2;
    return hangs_and_crash();
}

static int long_hang_and_crash(void)
{
    options.hang_ms = HANG_MS;
    if (!install())
        return fail("not installed");
    capture_heartbeat();
    Sleep(HANG_MS * 15);
    return crash();
}

static int beat_first(void)
{
    capture_heartbeat();
    capture_heartbeat_pause();
    options.hang_ms = HANG_MS;
    if (!install())
        return fail("not installed");
    hang(true);
    return crash();
}

/* ---- several threads at once ---- */

static DWORD WINAPI aborter(void *argument)
{
    WaitForSingleObject(begin, INFINITE);
    Sleep((DWORD)(number * (int)(intptr_t)argument));
    abort();
}

static int two_aborts(void)
{
    if (!install())
        return fail("not installed");
    start(2, aborter, 0);
    return SURVIVED;
}

static int many_aborts(void)
{
    if (!install())
        return fail("not installed");
    start(THREADS, aborter, 0);
    return SURVIVED;
}

static int many_crashes(void)
{
    if (!install())
        return fail("not installed");
    start(THREADS, crasher, 0);
    return SURVIVED;
}

static int deeper(volatile int *out)
{
    volatile int room[64];
    room[0] = *out + 1;
    if (room[0] < 0)
        return 0;
    return deeper(room) + room[0];
}

static DWORD WINAPI overflower(void *argument)
{
    volatile int zero = 0;
    (void)argument;
    WaitForSingleObject(begin, INFINITE);
    return (DWORD)deeper(&zero);
}

static int overflows(void)
{
    if (!install())
        return fail("not installed");
    start(number, overflower, 0);
    return SURVIVED;
}

/* Each frame is larger than a page, so the compiler calls the stack probe. */
static int deeper_by_pages(volatile int *out)
{
    volatile int room[3000];
    room[0] = *out + 1;
    if (room[0] < 0)
        return 0;
    return deeper_by_pages(room) + room[0];
}

static int probe_overflow(void)
{
    volatile int zero = 0;
    return install() ? deeper_by_pages(&zero) : fail("not installed");
}

/* ---- floating point ---- */

/* Neither result is exact. */
static void compute(void)
{
    volatile double one = 1, three = 3;
    volatile long double one_x87 = 1, three_x87 = 3;
    volatile double sum = one / three + (double)(one_x87 / three_x87);
    (void)sum;
    say("computed");
}

static int floating_point(void)
{
    const unsigned sse = 0;
    const unsigned short x87 = 0x240;
    options.on_crash = compute;
    if (!install())
        return fail("not installed");
    __asm__ volatile("fldcw %0\n\tldmxcsr %1" : : "m"(x87), "m"(sse)); /* exceptions are raised */
    return crash();
}

static int floating_point_abort(void)
{
    const unsigned sse = 0;
    const unsigned short x87 = 0x240;
    options.on_crash = compute;
    if (!install())
        return fail("not installed");
    __asm__ volatile("fldcw %0\n\tldmxcsr %1" : : "m"(x87), "m"(sse));
    abort();
}

static int small_overflow(void)
{
    if (!install())
        return fail("not installed");
    start(1, overflower, 16 << 10);
    return SURVIVED;
}

/* ---- a busy program hangs ---- */

static DWORD WINAPI loads(void *argument)
{
    (void)argument;
    for (;;) {
        HMODULE module = LoadLibraryW(L"version.dll");
        FreeLibrary(module);
    }
}

/* The system holds a lock over the search path while it asks the heap for memory. */
static DWORD WINAPI searches(void *is_over)
{
    while (is_over == NULL || *(volatile LONG *)is_over == 0) {
        HMODULE module = LoadLibraryW(L"kernel32.dll"); /* is there already */
        FreeLibrary(module);
    }
    return 0;
}

static DWORD WINAPI allocates(void *argument)
{
    (void)argument;
    for (;;)
        HeapFree(GetProcessHeap(), 0, HeapAlloc(GetProcessHeap(), 0, 100000));
}

static int busy(LPTHREAD_START_ROUTINE routine)
{
    options.hang_ms = HANG_MS;
    options.end_after_hang = true;
    options.walkers = 2;
    options.dump_limit_ms = DUMP_LIMIT_MS;
    if (!install())
        return fail("not installed");
    CloseHandle(CreateThread(NULL, 0, routine, NULL, 0, NULL));
    capture_heartbeat();
    Sleep(INFINITE);
    return SURVIVED;
}

/* The program goes on after the hang, so it needs its heap back. */
static int search_and_crash(void)
{
    static volatile LONG is_over;
    options.hang_ms = HANG_MS;
    options.walkers = 2;
    options.dump_limit_ms = DUMP_LIMIT_MS;
    if (!install())
        return fail("not installed");
    const HANDLE thread = CreateThread(NULL, 0, searches, (void *)&is_over, 0, NULL);
    hang(true);
    is_over = 1;
    WaitForSingleObject(thread, INFINITE);
    return crash();
}

/* DLLs come and go while the crash is captured. */
static int load_and_crash(void)
{
    options.walkers = 2;
    options.dump_limit_ms = DUMP_LIMIT_MS;
    if (!install())
        return fail("not installed");
    CloseHandle(CreateThread(NULL, 0, loads, NULL, 0, NULL));
    Sleep(50);
    return crash();
}

/* What the heap gives out next is not zero. Wine's dbghelp frees what it never set, after it has
 * written a dump of a program that names no PDB. */
static int used_heap_and_crash(void)
{
    enum { SIZES = 256, STEP_BYTES = 16, EACH = 8 };
    static void *blocks[SIZES * EACH];
    options.walkers = 2; /* nothing of dbghelp is called before the dump */
    options.dump_limit_ms = DUMP_LIMIT_MS;
    if (!install())
        return fail("not installed");
    for (size_t i = 0; i < SIZES * EACH; i++) {
        const size_t bytes = (i / EACH + 1) * STEP_BYTES;
        blocks[i] = HeapAlloc(GetProcessHeap(), 0, bytes);
        if (blocks[i] != NULL)
            memset(blocks[i], 0x11, bytes);
    }
    for (size_t i = 0; i < SIZES * EACH; i += 2)
        HeapFree(GetProcessHeap(), 0, blocks[i]);
    return crash();
}

static int busy_loader(void)
{
    return busy(loads);
}

static int busy_search(void)
{
    return busy(searches);
}

static int busy_heap(void)
{
    return busy(allocates);
}

/* ---- where a thread may be when it crashes ---- */

static int heap_held(void)
{
    if (!install())
        return fail("not installed");
    HeapLock(GetProcessHeap());
    return crash();
}

extern LONG NTAPI LdrLockLoaderLock(ULONG flags, ULONG *disposition, ULONG_PTR *cookie);

static void lock_loader(void)
{
    ULONG_PTR cookie = 0;
    LdrLockLoaderLock(0, NULL, &cookie);
}

static DWORD WINAPI holder(void *is_loader)
{
    if (is_loader != NULL)
        lock_loader();
    else
        HeapLock(GetProcessHeap());
    SetEvent(begin);
    Sleep(INFINITE);
    return 0;
}

static int held_by_another(bool is_loader)
{
    if (!install())
        return fail("not installed");
    begin = CreateEventW(NULL, TRUE, FALSE, NULL);
    CloseHandle(CreateThread(NULL, 0, holder, is_loader ? &options : NULL, 0, NULL));
    WaitForSingleObject(begin, INFINITE);
    return crash();
}

static int heap_held_by_another(void)
{
    return held_by_another(false);
}

static int loader_held_by_another(void)
{
    return held_by_another(true);
}

static int loader_held(void)
{
    if (!install())
        return fail("not installed");
    lock_loader();
    return crash();
}

static const struct {
    const wchar_t *name;
    int (*run)(void);
} modes[] = {
    {L"reinstall", reinstall},
    {L"bad-folder", bad_folder},
    {L"churn", churn},
    {L"crash-between", crash_between},
    {L"crash-at-install", crash_at_install},
    {L"crash-at-uninstall", crash_at_uninstall},
    {L"uninstall-at-crash", uninstall_at_crash},
    {L"reinstall-at-crash", reinstall_at_crash},
    {L"hangs-and-crash", hangs_and_crash},
    {L"two-hangs-an-hour", two_hangs_an_hour},
    {L"long-hang-and-crash", long_hang_and_crash},
    {L"beat-first", beat_first},
    {L"two-aborts", two_aborts},
    {L"many-aborts", many_aborts},
    {L"many-crashes", many_crashes},
    {L"overflows", overflows},
    {L"small-overflow", small_overflow},
    {L"probe-overflow", probe_overflow},
    {L"floating-point", floating_point},
    {L"floating-point-abort", floating_point_abort},
    {L"search-and-crash", search_and_crash},
    {L"load-and-crash", load_and_crash},
    {L"used-heap-and-crash", used_heap_and_crash},
    {L"busy-loader", busy_loader},
    {L"busy-search", busy_search},
    {L"busy-heap", busy_heap},
    {L"heap-held", heap_held},
    {L"heap-held-by-another", heap_held_by_another},
    {L"loader-held", loader_held},
    {L"loader-held-by-another", loader_held_by_another},
};

int wmain(int argc, wchar_t **argv)
{
    if (argc < 3)
        return 2;
    options.folder = argv[1];
    number = argc > 3 ? (int)wcstol(argv[3], NULL, 10) : 0;
    snprintf(step, sizeof step, "%ls", argc > 3 ? argv[3] : L"");
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (wcscmp(argv[2], modes[i].name) == 0)
            return modes[i].run();
    return 2;
}
