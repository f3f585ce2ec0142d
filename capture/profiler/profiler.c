/* See profiler.h.
 *
 * Who may do what, by the rules of the runtime's documentation:
 *   callbacks       run on managed threads: functions are asked about there, and nowhere else
 *   snapshots       from a thread that never runs managed code, or by a thread of itself; one at
 *                   a time; never of a thread that is being destroyed
 *   locks           no thread asks the runtime anything, and so starts or awaits no collection,
 *                   while it holds a lock of ours, but for the snapshot itself, which neither
 *                   allocates nor collects.  `walking` is taken by a snapshot and while a thread is
 *                   destroyed.  A snapshot never waits for it, since a suspended thread may hold
 *                   it: it is refused.  `publishing` is held while an assembly is registered
 * That these rules are kept is counted: see struct profiler_counts. */
#include "capture/profiler/profiler.h"

#include "capture/profiler/clr.h"
#include "capture/profiler/type_arguments.h"

enum {
    THREADS = 512,
    MAP_ENTRIES = 4096,
    PATH_UNITS = 1024,
    ASSEMBLIES = 64,
    NAME_BYTES = 64,
    MAP_ROOMS = 16,
    HEAP_TEST_BYTES = 100000, /* too large for the heap's lock-free lists */
};

/* Wine's GetThreadContext never sets the answer to the question CONTEXT_EXCEPTION_REQUEST. */
enum { CONTEXT_ASKS = 0x40000000, CONTEXT_ANSWERS = (int)0x80000000 };

struct managed_thread {
    volatile LONG os_id;   /* 0: no thread */
    volatile uintptr_t id; /* ThreadID of the runtime */
};

static struct profiler_capture host;
static void *info;
static struct managed_thread threads[THREADS];
static struct {
    uintptr_t module;
    uint32_t number; /* of the capture */
} assemblies[ASSEMBLIES];
static volatile LONG assembly_count; /* those below it are complete */

/* ---- locks and counts ---- */

/* A lock that knows its owner. */
struct owned_lock {
    SRWLOCK lock;
    volatile LONG owner; /* thread id; 0: none */
};

static struct owned_lock walking = {.lock = SRWLOCK_INIT}; /* over snapshots and ends of threads */
static struct owned_lock publishing = {.lock = SRWLOCK_INIT}; /* over `assemblies` */
static volatile LONG runtime_calls, calls_under_lock, collections, collections_by_us, snapshots,
    snapshots_now, snapshots_at_once, snapshots_not_tried, threads_ended, ended_when_walked,
    freed_when_walked;
static volatile uintptr_t walked; /* the thread whose snapshot is being taken; 0: none */

static void take_lock(struct owned_lock *lock)
{
    AcquireSRWLockExclusive(&lock->lock);
    InterlockedExchange(&lock->owner, (LONG)GetCurrentThreadId());
}

static bool try_to_take_lock(struct owned_lock *lock)
{
    if (!TryAcquireSRWLockExclusive(&lock->lock))
        return false;
    InterlockedExchange(&lock->owner, (LONG)GetCurrentThreadId());
    return true;
}

static void release(struct owned_lock *lock)
{
    InterlockedExchange(&lock->owner, 0);
    ReleaseSRWLockExclusive(&lock->lock);
}

static bool holds_lock(void)
{
    const LONG self = (LONG)GetCurrentThreadId();
    return walking.owner == self || publishing.owner == self;
}

void profiler_asked(void)
{
    InterlockedIncrement(&runtime_calls);
    if (holds_lock())
        InterlockedIncrement(&calls_under_lock);
}

#define ASK PROFILER_ASK

/* Runs on the thread that collects. */
static HRESULT STDMETHODCALLTYPE on_collection(void *self, int count, BOOL *generations, int reason)
{
    (void)self, (void)count, (void)generations, (void)reason;
    InterlockedIncrement(&collections);
    if (holds_lock())
        InterlockedIncrement(&collections_by_us);
    return S_OK;
}

/* ---- threads ---- */

static HRESULT STDMETHODCALLTYPE on_thread_assigned(void *self, uintptr_t thread, DWORD os_id)
{
    (void)self;
    for (int i = 0; i < THREADS; i++)
        if (InterlockedCompareExchange(&threads[i].os_id, (LONG)os_id, 0) == 0) {
            threads[i].id = thread;
            break;
        }
    return S_OK;
}

/* Returns after a snapshot of the thread has ended: the runtime frees it next. */
static HRESULT STDMETHODCALLTYPE on_thread_destroyed(void *self, uintptr_t thread)
{
    (void)self;
    InterlockedIncrement(&threads_ended);
    if (walked == thread)
        InterlockedIncrement(&ended_when_walked);
    take_lock(&walking);
    if (walked == thread)
        InterlockedIncrement(&freed_when_walked);
    for (int i = 0; i < THREADS; i++)
        if (threads[i].id == thread && threads[i].os_id != 0) {
            threads[i].id = 0;
            InterlockedExchange(&threads[i].os_id, 0);
        }
    release(&walking);
    return S_OK;
}

static uintptr_t thread_of(uint32_t os_id)
{
    for (int i = 0; i < THREADS; i++)
        if (threads[i].os_id == (LONG)os_id)
            return threads[i].id;
    return 0;
}

/* ---- snapshots ---- */

struct walk {
    capture_frame_fn *add;
    void *data;
};

static HRESULT STDMETHODCALLTYPE on_frame(uintptr_t function, uintptr_t ip, uintptr_t frame_info,
                                          uint32_t context_bytes, uint8_t *context, void *data)
{
    const struct walk *walk = data;
    (void)frame_info, (void)context_bytes;
    if (host.needs_heap)
        HeapFree(GetProcessHeap(), 0, HeapAlloc(GetProcessHeap(), 0, HEAP_TEST_BYTES));
    const bool go_on = function != 0 ? walk->add(walk->data, (const void *)ip, NULL)
                                     : context == NULL || walk->add(walk->data, NULL, context);
    return go_on ? S_OK : S_FALSE;
}

/* Under the lock. */
static int32_t take_snapshot(uint32_t os_id, const void *seed, uint32_t seed_bytes,
                             struct walk *walk)
{
    const bool self = os_id == GetCurrentThreadId();
    const uintptr_t thread = thread_of(os_id);
    if (thread == 0)
        return CLR_E_STACKSNAPSHOT_UNMANAGED_CTX;
    InterlockedIncrement(&snapshots);
    const LONG now = InterlockedIncrement(&snapshots_now);
    if (now > snapshots_at_once)
        InterlockedExchange(&snapshots_at_once, now);
    walked = thread;
    if (host.pause_ms > 0 && !self)
        Sleep(host.pause_ms);
    const int32_t result = CLR_CALL(info, CLR_INFO_DO_STACK_SNAPSHOT, self ? (uintptr_t)0 : thread,
                                    on_frame, 1u, walk, seed, seed != NULL ? seed_bytes : 0u);
    walked = 0;
    InterlockedDecrement(&snapshots_now);
    return result;
}

static int32_t snapshot(uint32_t os_id, const void *seed, uint32_t seed_bytes,
                        capture_frame_fn *add, void *data)
{
    struct walk walk = {add, data};
    if (!try_to_take_lock(&walking)) {
        InterlockedIncrement(&snapshots_not_tried);
        return CLR_E_ASYNCHRONOUS_UNSAFE;
    }
    const int32_t result = take_snapshot(os_id, seed, seed_bytes, &walk);
    release(&walking);
    return result;
}

/* ---- the code map ---- */

static uint32_t listed_number(uintptr_t module)
{
    const LONG count = assembly_count;
    for (LONG i = 0; i < count; i++)
        if (assemblies[i].module == module)
            return assemblies[i].number;
    return 0;
}

/* Asks nothing of the runtime. Two threads may want the same module at once. */
static uint32_t publish_assembly(uintptr_t module, const WCHAR *path, const void *base,
                                 const GUID *mvid)
{
    take_lock(&publishing);
    uint32_t number = listed_number(module);
    if (number == 0) {
        number = host.register_assembly(path, base, (const uint8_t *)mvid);
        if (number != 0 && assembly_count < ASSEMBLIES) {
            assemblies[assembly_count].module = module;
            assemblies[assembly_count].number = number;
            InterlockedIncrement(&assembly_count);
        }
    }
    release(&publishing);
    return number;
}

/* The capture's number of a module; 0: none. */
static uint32_t assembly_of(uintptr_t module)
{
    WCHAR path[PATH_UNITS];
    const void *base = NULL;
    GUID mvid = {0};
    ULONG units = 0;
    const uint32_t number = listed_number(module);
    if (number != 0)
        return number;
    path[0] = 0;
    if (ASK(info, CLR_INFO_GET_MODULE_INFO, module, &base, (ULONG)PATH_UNITS, &units, path, NULL) !=
            S_OK ||
        path[0] == 0)
        return 0;
    void *metadata = profiler_metadata(info, module);
    if (metadata != NULL) {
        (void)ASK(metadata, CLR_METADATA_GET_SCOPE_PROPS, NULL, 0u, NULL, &mvid);
        profiler_release(metadata);
    }
    return publish_assembly(module, path, base, &mvid);
}

/* Where a function's code is: with the handlers of its exceptions, which come after it. */
static bool code_of(uintptr_t function, struct clr_code *out)
{
    uint32_t count = 0;
    return ASK(info, CLR_INFO_GET_CODE_INFO2, function, 1u, &count, out) == S_OK && count >= 1;
}

struct il_map {
    struct clr_il_map asked[MAP_ENTRIES];
    struct capture_il il[MAP_ENTRIES];
};

/* MAP: room; NULL: the method is registered without a map. */
static void add_method(uintptr_t function, struct il_map *map)
{
    struct clr_code code = {0};
    struct capture_method method = {.size = sizeof method};
    uintptr_t class = 0, module = 0;
    uint32_t count = 0;
    if (!code_of(function, &code) ||
        ASK(info, CLR_INFO_GET_FUNCTION_INFO, function, &class, &module, &method.token) != S_OK)
        return;
    if (map == NULL || ASK(info, CLR_INFO_GET_IL_TO_NATIVE_MAPPING, function, (uint32_t)MAP_ENTRIES,
                           &count, map->asked) != S_OK)
        count = 0;
    if (count > MAP_ENTRIES)
        count = MAP_ENTRIES;
    for (uint32_t i = 0; i < count; i++)
        map->il[i] = (struct capture_il){map->asked[i].native_start, map->asked[i].il_offset};
    method.assembly = assembly_of(module);
    method.start = (const void *)code.start;
    method.bytes = code.bytes;
    method.map = map != NULL ? map->il : NULL;
    method.map_count = count;
    struct profiler_types types;
    method.type_arguments = profiler_type_arguments(info, function, class, &types);
    (void)host.register_method(&method);
}

/* Several threads may compile at once: each takes a room.  None is allocated, since a thread that
 * is suspended in the heap cannot be walked.  Where no room is left, a method has no map. */
static struct {
    volatile LONG taken;
    struct il_map map;
} rooms[MAP_ROOMS];

static HRESULT STDMETHODCALLTYPE on_compiled(void *self, uintptr_t function, HRESULT status,
                                             BOOL may_block)
{
    (void)self, (void)may_block;
    if (status != S_OK)
        return S_OK;
    for (int i = 0; i < MAP_ROOMS; i++)
        if (InterlockedCompareExchange(&rooms[i].taken, 1, 0) == 0) {
            add_method(function, &rooms[i].map);
            InterlockedExchange(&rooms[i].taken, 0);
            return S_OK;
        }
    add_method(function, NULL);
    return S_OK;
}

/* Dynamic methods and the runtime's own stubs have a name and no token. */
static HRESULT STDMETHODCALLTYPE on_dynamic_compiled(void *self, uintptr_t function, HRESULT status,
                                                     BOOL may_block)
{
    WCHAR wide[NAME_BYTES] = {0};
    char name[NAME_BYTES] = {0};
    uintptr_t module = 0;
    const void *signature = NULL;
    ULONG signature_bytes = 0, units = 0;
    struct clr_code code = {0};
    (void)self, (void)may_block;
    if (status != S_OK || !code_of(function, &code))
        return S_OK;
    (void)ASK(info, CLR_INFO_GET_DYNAMIC_FUNCTION_INFO, function, &module, &signature,
              &signature_bytes, (ULONG)NAME_BYTES, &units, wide);
    for (int i = 0; i < NAME_BYTES - 1 && wide[i] != 0; i++)
        name[i] = wide[i] < 0x80 ? (char)wide[i] : '?';
    (void)host.register_code(name[0] != 0 ? name : "dynamic method", (const void *)code.start,
                             code.bytes);
    return S_OK;
}

/* The runtime does not set the answer beforehand. */
static HRESULT STDMETHODCALLTYPE on_inlining(void *self, uintptr_t caller, uintptr_t callee,
                                             BOOL *may_inline)
{
    (void)self, (void)caller, (void)callee;
    *may_inline = !host.no_inlining;
    return S_OK;
}

/* ---- Wine ---- */

/* Gives Windows' answer "this context is of no trap", without which the runtime refuses
 * every snapshot of managed code. It proves nothing about Windows; reports say that it was there.
 */
static BOOL WINAPI answering_context(HANDLE thread, CONTEXT *context)
{
    const DWORD asked = context->ContextFlags;
    context->ContextFlags &= ~(DWORD)CONTEXT_ASKS;
    const BOOL ok = GetThreadContext(thread, context);
    if ((asked & CONTEXT_ASKS) != 0)
        context->ContextFlags = asked | (DWORD)CONTEXT_ANSWERS;
    return ok;
}

static void replace_import(uint8_t *image, const char *name, void (*by)(void))
{
    const IMAGE_NT_HEADERS *nt =
        (const IMAGE_NT_HEADERS *)(image + ((const IMAGE_DOS_HEADER *)image)->e_lfanew);
    const IMAGE_IMPORT_DESCRIPTOR *from =
        (const IMAGE_IMPORT_DESCRIPTOR *)(image +
                                          nt->OptionalHeader.DataDirectory[1].VirtualAddress);
    for (; from->Name != 0; from++) {
        const uint64_t *names = (const uint64_t *)(image + from->OriginalFirstThunk);
        uint64_t *slots = (uint64_t *)(image + from->FirstThunk);
        for (; *names != 0; names++, slots++) {
            DWORD old = 0;
            if ((int64_t)*names < 0 || lstrcmpA((const char *)image + *names + 2, name) != 0 ||
                !VirtualProtect(slots, sizeof *slots, PAGE_READWRITE, &old))
                continue;
            *slots = (uint64_t)(uintptr_t)by;
            VirtualProtect(slots, sizeof *slots, old, &old);
        }
    }
}

static void answer_for_wine(void)
{
    HMODULE runtime = GetModuleHandleW(L"coreclr.dll");
    if (runtime != NULL &&
        GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL)
        replace_import((uint8_t *)runtime, "GetThreadContext", (void (*)(void))answering_context);
}

/* ---- the class that the runtime makes ---- */

static HRESULT STDMETHODCALLTYPE on_anything(void)
{
    return S_OK;
}

static ULONG STDMETHODCALLTYPE count_one(void *self)
{
    (void)self;
    return 1;
}

static HRESULT STDMETHODCALLTYPE query(void *self, const GUID *wanted, void **out)
{
    (void)wanted;
    *out = self;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE on_initialize(void *self, void *runtime)
{
    static const GUID info_10 = {
        0x2f1b5152, 0xc869, 0x40c9, {0xaa, 0x5f, 0x3a, 0xbe, 0x02, 0x6b, 0xd7, 0x20}};
    (void)self;
    if (host.size == 0 || CLR_CALL(runtime, 0, &info_10, &info) != S_OK)
        return E_FAIL;
    DWORD events =
        CLR_EVENT_STACK_SNAPSHOT | CLR_EVENT_JIT | CLR_EVENT_THREADS | CLR_EVENT_MODULE_LOADS;
    if (host.no_inlining)
        events |= CLR_EVENT_NO_INLINING;
    if (host.watch_collections)
        events |= CLR_EVENT_GC;
    const HRESULT result = CLR_CALL(info, CLR_INFO_SET_EVENT_MASK, events);
    if (result != S_OK)
        return result;
    if (!host.no_answer)
        answer_for_wine();
    host.use_snapshots(snapshot);
    return S_OK;
}

static void *callbacks[CLR_CALLBACK_COUNT], *factory[5];
static void *callback_object = callbacks, *factory_object = factory;

static HRESULT STDMETHODCALLTYPE create(void *self, void *outer, const GUID *wanted, void **out)
{
    (void)self, (void)outer, (void)wanted;
    *out = &callback_object;
    return S_OK;
}

/* Exported by profiler.def. */
profiler_attach_fn profiler_attach;
profiler_counts_fn profiler_counts;
HRESULT STDMETHODCALLTYPE DllGetClassObject(const GUID *class, const GUID *wanted, void **out);

#define SLOT(function) ((void *)(uintptr_t)(function))

void profiler_attach(const struct profiler_capture *capture)
{
    if (capture->size == sizeof host)
        host = *capture;
}

void profiler_counts(struct profiler_counts *out)
{
    *out = (struct profiler_counts){
        .runtime_calls = (uint32_t)runtime_calls,
        .calls_under_lock = (uint32_t)calls_under_lock,
        .collections = (uint32_t)collections,
        .collections_by_us = (uint32_t)collections_by_us,
        .snapshots = (uint32_t)snapshots,
        .snapshots_at_once = (uint32_t)snapshots_at_once,
        .snapshots_not_tried = (uint32_t)snapshots_not_tried,
        .threads_ended = (uint32_t)threads_ended,
        .ended_when_walked = (uint32_t)ended_when_walked,
        .freed_when_walked = (uint32_t)freed_when_walked,
    };
}

/* x64 alone: there one function without parameters serves in every place of a table. */
HRESULT STDMETHODCALLTYPE DllGetClassObject(const GUID *class, const GUID *wanted, void **out)
{
    (void)class, (void)wanted;
    for (int i = 0; i < CLR_CALLBACK_COUNT; i++)
        callbacks[i] = SLOT(on_anything);
    callbacks[0] = SLOT(query);
    callbacks[1] = callbacks[2] = SLOT(count_one);
    callbacks[CLR_CALLBACK_INITIALIZE] = SLOT(on_initialize);
    callbacks[CLR_CALLBACK_JIT_FINISHED] = SLOT(on_compiled);
    callbacks[CLR_CALLBACK_JIT_INLINING] = SLOT(on_inlining);
    callbacks[CLR_CALLBACK_DYNAMIC_JIT_FINISHED] = SLOT(on_dynamic_compiled);
    callbacks[CLR_CALLBACK_GC_STARTED] = SLOT(on_collection);
    callbacks[CLR_CALLBACK_THREAD_ASSIGNED] = SLOT(on_thread_assigned);
    callbacks[CLR_CALLBACK_THREAD_DESTROYED] = SLOT(on_thread_destroyed);
    factory[0] = SLOT(query);
    factory[1] = factory[2] = SLOT(count_one);
    factory[3] = SLOT(create);
    factory[4] = SLOT(on_anything);
    *out = &factory_object;
    return S_OK;
}
