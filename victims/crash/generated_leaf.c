#include "victims/generated.h"
#include "victims/victim.h"

#include <string.h>

typedef int (*leaf_function)(void);

SCENARIO(generated_leaf, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence =
             "A crash inside generated code that is a leaf: nothing is known about it, but its "
             "return address is at the top.")
{
    static const unsigned char code[] = {0x31, 0xC0, 0x8B, 0x00, 0xC3}; /* eax = *(int *)0 */
    struct generated made = generated_make();
    memcpy(made.memory, code, sizeof code);
    capture_register_code("generated_leaf", made.memory, sizeof code);
    leaf_function leaf = (leaf_function)(void *)made.memory;
    return HERE_GENERATED(leaf()) + 1;
}
