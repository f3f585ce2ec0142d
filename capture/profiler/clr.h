/* What the profiler uses of .NET's profiling interfaces, in C: positions in their tables of
 * functions.
 *
 * Spec: the profiling interfaces of .NET Core 3.1,
 * https://github.com/dotnet/coreclr/blob/v3.1.0/src/inc/corprof.idl.  Later versions only add
 * functions at the end of a table. */
#ifndef CAPTURE_PROFILER_CLR_H
#define CAPTURE_PROFILER_CLR_H

#include <stdint.h>

#include <windows.h>

/* ICorProfilerInfo10 and those it extends. */
enum clr_info {
    CLR_INFO_GET_FUNCTION_FROM_IP = 7,
    CLR_INFO_IS_ARRAY_CLASS = 11,
    CLR_INFO_GET_FUNCTION_INFO = 15,
    CLR_INFO_SET_EVENT_MASK = 16,
    CLR_INFO_GET_MODULE_INFO = 20,
    CLR_INFO_GET_MODULE_METADATA = 21,
    CLR_INFO_GET_IL_TO_NATIVE_MAPPING = 35,
    CLR_INFO_DO_STACK_SNAPSHOT = 36,
    CLR_INFO_GET_FUNCTION_INFO2 = 38,
    CLR_INFO_GET_CLASS_ID_INFO2 = 41,
    CLR_INFO_GET_CODE_INFO2 = 42,
    CLR_INFO_GET_DYNAMIC_FUNCTION_INFO = 89,
};

/* ICorProfilerCallback9 and those it extends. */
enum clr_callback {
    CLR_CALLBACK_INITIALIZE = 3,
    CLR_CALLBACK_JIT_FINISHED = 24,
    CLR_CALLBACK_JIT_INLINING = 28,
    CLR_CALLBACK_THREAD_DESTROYED = 30,
    CLR_CALLBACK_THREAD_ASSIGNED = 31,
    CLR_CALLBACK_GC_STARTED = 73,
    CLR_CALLBACK_GC_FINISHED = 75,
    CLR_CALLBACK_DYNAMIC_JIT_FINISHED = 93,
    CLR_CALLBACK_COUNT = 95,
};

/* IMetaDataImport. */
enum clr_metadata {
    CLR_METADATA_GET_SCOPE_PROPS = 10,
    CLR_METADATA_GET_TYPE_DEF_PROPS = 12,
    CLR_METADATA_GET_NESTED_CLASS_PROPS = 62,
};

enum clr_event {
    CLR_EVENT_MODULE_LOADS = 0x4,
    CLR_EVENT_JIT = 0x20,
    CLR_EVENT_GC = 0x80, /* also makes collections run in the foreground */
    CLR_EVENT_THREADS = 0x200,
    CLR_EVENT_NO_INLINING = 0x200000,
    CLR_EVENT_STACK_SNAPSHOT = 0x10000000,
};

enum clr_hresult {
    CLR_E_STACKSNAPSHOT_UNMANAGED_CTX = (int)0x8013135F,
    CLR_E_STACKSNAPSHOT_UNSAFE = (int)0x80131360,
    CLR_E_STACKSNAPSHOT_ABORTED = (int)0x80131361,
    CLR_E_UNSUPPORTED_CALL_SEQUENCE = (int)0x80131363,
    CLR_E_ASYNCHRONOUS_UNSAFE = (int)0x80131388,
};

/* A function of an interface: the first word of an object is its table. */
#define CLR_CALL(object, slot, ...)                                                                \
    (((HRESULT(STDMETHODCALLTYPE *)(void *, ...))(*(void ***)(object))[slot])((object),            \
                                                                              __VA_ARGS__))

struct clr_il_map {
    uint32_t il_offset, native_start, native_end;
};

struct clr_code {
    uintptr_t start;
    size_t bytes;
};

/* FUNCTION 0: a run of native frames, of which CONTEXT has the registers. */
typedef HRESULT STDMETHODCALLTYPE clr_frame_fn(uintptr_t function, uintptr_t ip,
                                               uintptr_t frame_info, uint32_t context_bytes,
                                               uint8_t *context, void *data);

#endif
