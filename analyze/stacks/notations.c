#include "stacks/notation.h"

#define NOTATION_ROW(NAME) &notation_##NAME,
const struct notation *const notations[] = {NOTATIONS(NOTATION_ROW) NULL};
