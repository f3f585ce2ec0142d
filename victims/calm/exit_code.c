#include "victims/victim.h"

SCENARIO(exit_code, .kind = KIND_CALM, .group = "calm", .exit_code = 5,
         .sentence = "Leaves by exit(5): an error for its parent, not for a crash reporter.")
{
    capture_uninstall();
    victim_stayed_calm();
    exit(5);
}
