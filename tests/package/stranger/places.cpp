// Deaths at places where a thread may be: see deaths.h.
#include <windows.h>
#include <winternl.h>

#include <cstdio>

#include "deaths.h"

bool dies_in_handler, dies_at_thread_end;

// ---- threads ----

static struct {
    HANDLE begin;
    int (*body)();
} common;

static DWORD WINAPI thread_of_many(void *)
{
    WaitForSingleObject(common.begin, INFINITE);
    return static_cast<DWORD>(common.body()) + 1;
}

void at_once(int count, int (*body)(), unsigned reserve_bytes)
{
    HANDLE threads[MAXIMUM_WAIT_OBJECTS];
    common.begin = CreateEventW(nullptr, TRUE, FALSE, nullptr);
    common.body = body;
    for (int i = 0; i < count; i++)
        threads[i] = CreateThread(nullptr, reserve_bytes, thread_of_many, nullptr,
                                  STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
    Sleep(100);
    SetEvent(common.begin);
    WaitForMultipleObjects(static_cast<DWORD>(count), threads, TRUE, INFINITE);
}

NOINLINE static int lend()
{
    return break_off(nullptr) + 1;
}

static int many_threads()
{
    at_once(MAXIMUM_WAIT_OBJECTS, lend, 0);
    return 0;
}

NOINLINE static int fall(volatile int *depth)
{
    volatile int room[32];
    room[0] = *depth + 1;
    if (room[0] < 0)
        return 0;
    return fall(room) + room[0];
}

static int begin_to_fall()
{
    volatile int zero = 0;
    return fall(&zero) + 1;
}

static int small_stack()
{
    at_once(1, begin_to_fall, 64 << 10);
    return 0;
}

// ---- memory ----

// The heap takes what the process may have, down to the last bytes.
NOINLINE static int lend_without_memory()
{
    for (SIZE_T bytes = 1 << 20; bytes >= 16; bytes /= 2)
        while (HeapAlloc(GetProcessHeap(), 0, bytes) != nullptr) {
        }
    return break_off(nullptr) + 1;
}

// ---- the end of the program, of a thread ----

struct archive {
    bool is_open = false;
    NOINLINE ~archive()
    {
        if (is_open)
            break_off(nullptr);
        is_open = false;
    }
};

static archive the_archive;

static int static_destructor()
{
    the_archive.is_open = true;
    return 0;
}

NOINLINE static void NTAPI on_thread(void *, DWORD reason, void *)
{
    if (reason != DLL_THREAD_DETACH || !dies_at_thread_end)
        return;
    std::printf("in the callback\n");
    break_off(nullptr);
}

extern "C" {
extern const PIMAGE_TLS_CALLBACK stranger_callback;
__attribute__((section(".CRT$XLY"), used)) const PIMAGE_TLS_CALLBACK stranger_callback = on_thread;
}

static int read_quietly()
{
    return 0;
}

static int tls_callback()
{
    dies_at_thread_end = true;
    at_once(1, read_quietly, 0);
    return 0;
}

// ---- what the system calls ----

NOINLINE static void NTAPI on_apc(ULONG_PTR)
{
    break_off(nullptr);
    dies_at_thread_end = false;
}

static int apc()
{
    QueueUserAPC(on_apc, GetCurrentThread(), 0);
    SleepEx(INFINITE, TRUE);
    return 0;
}

NOINLINE static void CALLBACK on_fiber(void *)
{
    lend();
    dies_at_thread_end = false;
}

static int fiber()
{
    ConvertThreadToFiber(nullptr);
    SwitchToFiber(CreateFiber(0, on_fiber, nullptr));
    return 0;
}

NOINLINE static void CALLBACK on_wait(void *, BOOLEAN)
{
    break_off(nullptr);
    dies_at_thread_end = false;
}

static int pool_wait()
{
    HANDLE event = CreateEventW(nullptr, FALSE, FALSE, nullptr), wait = nullptr;
    RegisterWaitForSingleObject(&wait, event, on_wait, nullptr, INFINITE, WT_EXECUTEONLYONCE);
    SetEvent(event);
    Sleep(INFINITE);
    return 0;
}

NOINLINE static void CALLBACK on_work(PTP_CALLBACK_INSTANCE, void *, PTP_WORK)
{
    break_off(nullptr);
    dies_at_thread_end = false;
}

static int pool_work()
{
    SubmitThreadpoolWork(CreateThreadpoolWork(on_work, nullptr, nullptr));
    Sleep(INFINITE);
    return 0;
}

// ---- a function by hand, without unwind data ----

extern "C" int call_plainly(int (*body)());
__asm__(".globl call_plainly\n"
        "call_plainly:\n"
        "subq $0x128, %rsp\n"
        "callq *%rcx\n"
        "addq $0x128, %rsp\n"
        "retq\n");

NOINLINE static int plain_call()
{
    return call_plainly(lend) + 1;
}

// ---- locks ----

extern "C" LONG NTAPI LdrLockLoaderLock(ULONG flags, ULONG *disposition, ULONG_PTR *cookie);

NOINLINE static int loader_lock()
{
    ULONG_PTR cookie = 0;
    LdrLockLoaderLock(0, nullptr, &cookie);
    return break_off(nullptr) + 1;
}

NOINLINE static int heap_lock()
{
    HeapLock(GetProcessHeap());
    return break_off(nullptr) + 1;
}

const death deaths_of_places[] = {
    {L"many-threads", many_threads},
    {L"small-stack", small_stack},
    {L"no-memory", lend_without_memory},
    {L"static-destructor", static_destructor},
    {L"tls-callback", tls_callback},
    {L"apc", apc},
    {L"fiber", fiber},
    {L"pool-wait", pool_wait},
    {L"pool-work", pool_work},
    {L"plain-call", plain_call},
    {L"loader-lock", loader_lock},
    {L"heap-lock", heap_lock},
    {nullptr, nullptr},
};
