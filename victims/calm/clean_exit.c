#include "victims/victim.h"

SCENARIO(clean_exit, .kind = KIND_CALM, .group = "calm",
         .sentence = "Does its work and leaves: nothing may be captured.")
{
    return 0;
}
