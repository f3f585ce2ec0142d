/* As much of Windows as the capture's code map and its writer of records need, so that both are
 * tested on any system, under sanitizers too. Functions are defined by use_code_map.c. */
#ifndef TESTS_WINDOWS_H
#define TESTS_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINAPI
#define NTAPI
#define CALLBACK
#define TRUE 1
#define FALSE 0
#define FILE_BEGIN 0
#define IMAGE_FILE_MACHINE_AMD64 0x8664

typedef int32_t LONG, BOOL, NTSTATUS;
typedef uint32_t DWORD, ULONG, ACCESS_MASK;
typedef int64_t LONG64;
typedef uint64_t DWORD64;
typedef void *HANDLE, *PVOID;
typedef int FILE_INFORMATION_CLASS;

typedef union {
    int64_t QuadPart;
} LARGE_INTEGER;

typedef struct {
    uint32_t dwLowDateTime, dwHighDateTime;
} FILETIME;

typedef struct {
    DWORD Offset, OffsetHigh;
} OVERLAPPED;

typedef struct {
    BOOL DeleteFile;
} FILE_DISPOSITION_INFO;

typedef struct {
    DWORD BeginAddress, EndAddress, UnwindData;
} RUNTIME_FUNCTION;

typedef struct {
    uint8_t bytes[1232];
} CONTEXT;

typedef struct {
    DWORD ExceptionCode, ExceptionFlags, NumberParameters;
    void *ExceptionAddress;
    uint64_t ExceptionInformation[15];
} EXCEPTION_RECORD;

typedef struct {
    EXCEPTION_RECORD *ExceptionRecord;
    CONTEXT *ContextRecord;
} EXCEPTION_POINTERS;

static inline LONG InterlockedIncrement(volatile LONG *at)
{
    return ++*at;
}

static inline LONG InterlockedExchange(volatile LONG *at, LONG value)
{
    const LONG before = *at;
    *at = value;
    return before;
}

static inline LONG InterlockedCompareExchange(volatile LONG *at, LONG value, LONG expected)
{
    const LONG before = *at;
    if (before == expected)
        *at = value;
    return before;
}

void GetSystemTimeAsFileTime(FILETIME *out);
BOOL WriteFile(HANDLE file, const void *from, DWORD bytes, DWORD *done, OVERLAPPED *at);
DWORD SetFilePointer(HANDLE file, LONG offset, LONG *high, DWORD from);
BOOL SetEndOfFile(HANDLE file);
const RUNTIME_FUNCTION *RtlLookupFunctionEntry(DWORD64 va, DWORD64 *base, void *history);

#endif
