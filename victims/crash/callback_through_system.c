#include "victims/victim.h"

static BOOL CALLBACK on_locale(LPWSTR name)
{
    return HERE(*victim_null = name[0]) + 1;
}

SCENARIO(callback_through_system, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A system DLL calls the function that crashes: frames of ours above and below "
                     "frames without any symbols.")
{
    return HERE_SYSTEM(EnumSystemLocalesW(on_locale, LCID_INSTALLED)) + 1;
}
