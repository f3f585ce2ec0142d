// A plugin of the stranger's program; it has no capture of its own.
#include <string>

__attribute__((noinline)) static int spell(const wchar_t *word, volatile int *place)
{
    *place = static_cast<int>(word == nullptr ? 1 : word[0]);
    return *place + 1;
}

extern "C" __declspec(dllexport) int translate(const wchar_t *word)
{
    return spell(word, reinterpret_cast<volatile int *>(16)) + 1;
}
