/* The exception of a minidump, and the names of its codes.
 *
 *   EXCEPTION (168)
 *   thread id          0
 *   code               8
 *   flags             12
 *   nested record     16
 *   address           24
 *   parameter count   32
 *   parameters        40
 *   context place    160
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/minidump/streams.h"

void minidump_read_exception(struct minidump_reader *m, struct bytes r)
{
    struct minidump_exception *out = &m->out->exception;
    out->thread_id = bytes_u32(&r);
    bytes_skip(&r, 4);
    out->code = bytes_u32(&r);
    out->flags = bytes_u32(&r);
    out->record_va = bytes_u64(&r);
    out->address_va = bytes_u64(&r);
    out->info_count = bytes_u32(&r);
    bytes_skip(&r, 4);
    for (size_t i = 0; i < 15; i++)
        out->info[i] = bytes_u64(&r);
    if (out->info_count > 15) {
        (void)fault_set(m->damage, ERR_MALFORMED, r.offset, "number of exception parameters");
        out->info_count = 15;
    }
    out->context = minidump_location(m, &r, "context of the exception");
    out->present = !bytes_failed(&r);
}

struct number_name {
    uint32_t number;
    const char *name;
};

static const struct number_name codes[] = {
    {0x40000015, "STATUS_FATAL_APP_EXIT"},
    {0x40010005, "DBG_CONTROL_C"},
    {0x40010006, "DBG_PRINTEXCEPTION_C"},
    {0x406d1388, "MSVC_SET_THREAD_NAME"},
    {0x80000001, "EXCEPTION_GUARD_PAGE"},
    {0x80000002, "EXCEPTION_DATATYPE_MISALIGNMENT"},
    {0x80000003, "EXCEPTION_BREAKPOINT"},
    {0x80000004, "EXCEPTION_SINGLE_STEP"},
    {0xc0000005, "EXCEPTION_ACCESS_VIOLATION"},
    {0xc0000006, "EXCEPTION_IN_PAGE_ERROR"},
    {0xc0000008, "EXCEPTION_INVALID_HANDLE"},
    {0xc000000d, "STATUS_INVALID_PARAMETER"},
    {0xc0000017, "STATUS_NO_MEMORY"},
    {0xc000001d, "EXCEPTION_ILLEGAL_INSTRUCTION"},
    {0xc0000025, "EXCEPTION_NONCONTINUABLE_EXCEPTION"},
    {0xc0000026, "EXCEPTION_INVALID_DISPOSITION"},
    {0xc000008c, "EXCEPTION_ARRAY_BOUNDS_EXCEEDED"},
    {0xc000008d, "EXCEPTION_FLT_DENORMAL_OPERAND"},
    {0xc000008e, "EXCEPTION_FLT_DIVIDE_BY_ZERO"},
    {0xc000008f, "EXCEPTION_FLT_INEXACT_RESULT"},
    {0xc0000090, "EXCEPTION_FLT_INVALID_OPERATION"},
    {0xc0000091, "EXCEPTION_FLT_OVERFLOW"},
    {0xc0000092, "EXCEPTION_FLT_STACK_CHECK"},
    {0xc0000093, "EXCEPTION_FLT_UNDERFLOW"},
    {0xc0000094, "EXCEPTION_INT_DIVIDE_BY_ZERO"},
    {0xc0000095, "EXCEPTION_INT_OVERFLOW"},
    {0xc0000096, "EXCEPTION_PRIV_INSTRUCTION"},
    {0xc00000aa, "STATUS_INSTRUCTION_MISALIGNMENT"},
    {0xc00000fd, "EXCEPTION_STACK_OVERFLOW"},
    {0xc000013a, "STATUS_CONTROL_C_EXIT"},
    {0xc0000135, "STATUS_DLL_NOT_FOUND"},
    {0xc0000138, "STATUS_ORDINAL_NOT_FOUND"},
    {0xc0000139, "STATUS_ENTRYPOINT_NOT_FOUND"},
    {0xc0000142, "STATUS_DLL_INIT_FAILED"},
    {0xc000014b, "STATUS_PIPE_BROKEN"},
    {0xc0000194, "EXCEPTION_POSSIBLE_DEADLOCK"},
    {0xc0000374, "STATUS_HEAP_CORRUPTION"},
    {0xc0000409, "STATUS_STACK_BUFFER_OVERRUN"},
    {0xc0000417, "STATUS_INVALID_CRUNTIME_PARAMETER"},
    {0xc000041d, "STATUS_FATAL_USER_CALLBACK_EXCEPTION"},
    {0xc0000420, "STATUS_ASSERTION_FAILURE"},
    {0xc0000602, "STATUS_FAIL_FAST_EXCEPTION"},
    {0xc0000710, "STATUS_THREADPOOL_HANDLE_EXCEPTION"},
    {0xc06d007e, "DELAY_LOAD_MODULE_NOT_FOUND"},
    {0xc06d007f, "DELAY_LOAD_PROCEDURE_NOT_FOUND"},
    {0xe0434352, "CLR_EXCEPTION"},
    {0x0eedfade, "DELPHI_EXCEPTION"},
    {0xe06d7363, "CPP_EXCEPTION"},
    {0x0517a7ed, "CRASHPAD_SIMULATED"},
};

static const struct number_name signals[] = {
    {4, "SIGILL"}, {5, "SIGTRAP"},  {6, "SIGABRT"}, {7, "SIGBUS"},
    {8, "SIGFPE"}, {11, "SIGSEGV"}, {31, "SIGSYS"}, {0xffffffff, "DUMP_REQUESTED"},
};

static const struct number_name mach_exceptions[] = {
    {1, "EXC_BAD_ACCESS"},
    {2, "EXC_BAD_INSTRUCTION"},
    {3, "EXC_ARITHMETIC"},
    {4, "EXC_EMULATION"},
    {5, "EXC_SOFTWARE"},
    {6, "EXC_BREAKPOINT"},
    {7, "EXC_SYSCALL"},
    {8, "EXC_MACH_SYSCALL"},
    {9, "EXC_RPC_ALERT"},
    {10, "EXC_CRASH"},
    {11, "EXC_RESOURCE"},
    {12, "EXC_GUARD"},
    {13, "EXC_CORPSE_NOTIFY"},
    {0x43507378, "CRASHPAD_SIMULATED"},
    {0x43506e78, "CRASHPAD_NSEXCEPTION"},
};

static const struct number_name fast_fails[] = {
    {0, "FAST_FAIL_LEGACY_GS_VIOLATION"},
    {1, "FAST_FAIL_VTGUARD_CHECK_FAILURE"},
    {2, "FAST_FAIL_STACK_COOKIE_CHECK_FAILURE"},
    {3, "FAST_FAIL_CORRUPT_LIST_ENTRY"},
    {4, "FAST_FAIL_INCORRECT_STACK"},
    {5, "FAST_FAIL_INVALID_ARG"},
    {6, "FAST_FAIL_GS_COOKIE_INIT"},
    {7, "FAST_FAIL_FATAL_APP_EXIT"},
    {8, "FAST_FAIL_RANGE_CHECK_FAILURE"},
    {9, "FAST_FAIL_UNSAFE_REGISTRY_ACCESS"},
    {10, "FAST_FAIL_GUARD_ICALL_CHECK_FAILURE"},
    {11, "FAST_FAIL_GUARD_WRITE_CHECK_FAILURE"},
    {12, "FAST_FAIL_INVALID_FIBER_SWITCH"},
    {13, "FAST_FAIL_INVALID_SET_OF_CONTEXT"},
    {14, "FAST_FAIL_INVALID_REFERENCE_COUNT"},
    {18, "FAST_FAIL_INVALID_JUMP_BUFFER"},
    {19, "FAST_FAIL_MRDATA_MODIFIED"},
    {20, "FAST_FAIL_CERTIFICATION_FAILURE"},
    {21, "FAST_FAIL_INVALID_EXCEPTION_CHAIN"},
    {22, "FAST_FAIL_CRYPTO_LIBRARY"},
    {23, "FAST_FAIL_INVALID_CALL_IN_DLL_CALLOUT"},
    {24, "FAST_FAIL_INVALID_IMAGE_BASE"},
    {25, "FAST_FAIL_DLOAD_PROTECTION_FAILURE"},
    {26, "FAST_FAIL_UNSAFE_EXTENSION_CALL"},
    {27, "FAST_FAIL_DEPRECATED_SERVICE_INVOKED"},
    {28, "FAST_FAIL_UNEXPECTED_EXCEPTION_HANDLER"},
    {29, "FAST_FAIL_INVALID_BALANCED_TREE"},
    {30, "FAST_FAIL_INVALID_NEXT_THREAD"},
    {31, "FAST_FAIL_GUARD_ICALL_CHECK_SUPPRESSED"},
    {32, "FAST_FAIL_APCS_DISABLED"},
    {33, "FAST_FAIL_INVALID_IDLE_STATE"},
    {34, "FAST_FAIL_MRDATA_PROTECTION_FAILURE"},
    {35, "FAST_FAIL_UNEXPECTED_HEAP_EXCEPTION"},
    {36, "FAST_FAIL_INVALID_LOCK_STATE"},
    {37, "FAST_FAIL_GUARD_JUMPTABLE"},
    {38, "FAST_FAIL_INVALID_LONGJUMP_TARGET"},
    {39, "FAST_FAIL_INVALID_DISPATCH_CONTEXT"},
    {40, "FAST_FAIL_INVALID_THREAD"},
    {41, "FAST_FAIL_INVALID_SYSCALL_NUMBER"},
    {42, "FAST_FAIL_INVALID_FILE_OPERATION"},
    {43, "FAST_FAIL_LPAC_ACCESS_DENIED"},
    {44, "FAST_FAIL_GUARD_SS_FAILURE"},
    {45, "FAST_FAIL_LOADER_CONTINUITY_FAILURE"},
    {46, "FAST_FAIL_GUARD_EXPORT_SUPPRESSION_FAILURE"},
    {47, "FAST_FAIL_INVALID_CONTROL_STACK"},
    {48, "FAST_FAIL_SET_CONTEXT_DENIED"},
    {49, "FAST_FAIL_INVALID_IAT"},
    {50, "FAST_FAIL_HEAP_METADATA_CORRUPTION"},
    {51, "FAST_FAIL_PAYLOAD_RESTRICTION_VIOLATION"},
    {52, "FAST_FAIL_LOW_LABEL_ACCESS_DENIED"},
    {53, "FAST_FAIL_ENCLAVE_CALL_FAILURE"},
    {54, "FAST_FAIL_UNHANDLED_LSS_EXCEPTON"},
    {55, "FAST_FAIL_ADMINLESS_ACCESS_DENIED"},
    {56, "FAST_FAIL_UNEXPECTED_CALL"},
    {57, "FAST_FAIL_CONTROL_INVALID_RETURN_ADDRESS"},
    {58, "FAST_FAIL_UNEXPECTED_HOST_BEHAVIOR"},
    {59, "FAST_FAIL_FLAGS_CORRUPTION"},
    {60, "FAST_FAIL_VEH_CORRUPTION"},
    {61, "FAST_FAIL_ETW_CORRUPTION"},
    {62, "FAST_FAIL_RIO_ABORT"},
    {63, "FAST_FAIL_INVALID_PFN"},
    {64, "FAST_FAIL_GUARD_ICALL_CHECK_FAILURE_XFG"},
    {65, "FAST_FAIL_CAST_GUARD"},
    {66, "FAST_FAIL_HOST_VISIBILITY_CHANGE"},
    {67, "FAST_FAIL_KERNEL_CET_SHADOW_STACK_ASSIST"},
    {68, "FAST_FAIL_PATCH_CALLBACK_FAILED"},
    {69, "FAST_FAIL_NTDLL_PATCH_FAILED"},
    {70, "FAST_FAIL_INVALID_FLS_DATA"},
};

static const char *find(const struct number_name *rows, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].number == number)
            return rows[i].name;
    return NULL;
}

/* Crash reporters on other systems store signals or Mach exceptions in the code. */
const char *minidump_code_name(const struct minidump *dump)
{
    const uint32_t platform = dump->system.platform, code = dump->exception.code;
    if (minidump_is_windows(dump))
        return find(codes, COUNT_OF(codes), code);
    if (platform == PLATFORM_MACOS || platform == PLATFORM_IOS)
        return find(mach_exceptions, COUNT_OF(mach_exceptions), code);
    if (platform == PLATFORM_LINUX || platform == PLATFORM_ANDROID)
        return find(signals, COUNT_OF(signals), code);
    return NULL;
}

/* "FAST_FAIL_FATAL_APP_EXIT"; NULL: unknown. */
static const char *minidump_fast_fail_name(uint64_t subcode)
{
    return find(fast_fails, COUNT_OF(fast_fails), subcode);
}

static bool is_access(const struct minidump_exception *exception)
{
    return (exception->code == 0xc0000005 || exception->code == 0xc0000006) &&
           exception->info_count >= 2;
}

static const char *access_word(uint64_t access)
{
    static const char *const words[] = {"READ", "WRITE"};
    return access < COUNT_OF(words) ? words[access] : "EXEC";
}

const char *minidump_reason(const struct minidump *dump, struct arena *keep)
{
    const struct minidump_exception *exception = &dump->exception;
    if (!exception->present)
        return "no exception";
    const char *name = minidump_code_name(dump), *text = NULL;
    const bool windows = minidump_is_windows(dump);
    if (windows && exception->code == 0xc0000409 && exception->info_count >= 1) {
        const char *sub = minidump_fast_fail_name(exception->info[0]);
        return sub != NULL ? sub : name;
    }
    if (windows && is_access(exception))
        text = arena_printf(keep, "%s_%s", name, access_word(exception->info[0]));
    else if (name == NULL)
        text = arena_printf(keep, "0x%08" PRIx32, exception->code);
    if (text == NULL)
        text = name;
    return text != NULL ? text : "exception";
}

uint64_t minidump_crash_va(const struct minidump *dump)
{
    const struct minidump_exception *exception = &dump->exception;
    uint64_t va = is_access(exception) ? exception->info[1] : exception->address_va;
    /* some 32-bit writers sign-extend addresses */
    return cpu_pointer_bytes(dump->cpu) == 4 ? va & UINT32_MAX : va;
}
