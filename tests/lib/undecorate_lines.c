/* Undecorates each line of standard input.  The first argument is "short" or "full".  Prints "-"
 * for names that stay unchanged.  tests/e2e compares the output with that of llvm-undname. */
#include <stdio.h>
#include <string.h>

#include "symbol/undecorate.h"

int main(int argc, char **argv)
{
    static char line[1 << 16], text[UNDECORATED_BYTES];
    const bool full = argc > 1 && strcmp(argv[1], "full") == 0;

    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        const size_t bytes =
            undecorate(line, full ? NAMES_FULL : NAMES_SHORT, false, text, sizeof text);
        (void)puts(bytes > 0 ? text : "-");
    }
    return 0;
}
