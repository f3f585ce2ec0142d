/* What LLVM's demangler wants of a C++ runtime, for archives.sh: no exception passes through it,
 * nothing asks for the types of its classes, and it frees what it allocated itself. So neither
 * libgcc_s nor the rest of libc++abi is needed. */
#include <stdlib.h>

void *_ZTVN10__cxxabiv117__class_type_infoE[8], *_ZTVN10__cxxabiv120__si_class_type_infoE[8];

void _Unwind_Resume(void *exception)
{
    (void)exception;
    abort();
}

void *__cxa_begin_catch(void *exception)
{
    (void)exception;
    abort();
}

int __gxx_personality_v0(void)
{
    abort();
}

void _ZSt9terminatev(void) /* std::terminate: memory is out */
{
    abort();
}

void abort_message(const char *format, ...)
{
    (void)format;
    abort();
}

void _ZdlPvm(void *memory, size_t bytes) /* operator delete */
{
    (void)bytes;
    free(memory);
}
