#include "victims/victim.h"

SCENARIO(debug_output, .kind = KIND_CALM, .group = "calm",
         .sentence = "Debug output is an exception inside, seen by the vectored handler first: no "
                     "case.")
{
    OutputDebugStringA("only talking");
    OutputDebugStringW(L"still only talking");
    return 0;
}
