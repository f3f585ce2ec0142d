/* On Linux, `twinstack` is two programs made of the same rooms. The one in bin/ is linked
 * statically: without a dynamic linker, a short `resolve` takes a fifth less time. But it cannot
 * load libraries (libcurl, libnats), and libc needs some to look up names of hosts. The whole
 * program, in libexec/, can; it runs in place of the other one, with the same words, where that may
 * be necessary. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stdbool.h>

/* Becomes the whole program if a word or a symbol path in the environment names a server, or if the
 * verb is `serve`. Called before anything is read or written. Returns when this program is enough,
 * and also when the whole one cannot be started: its absence is reported when a library is to be
 * loaded, since a symbol path of the environment is no reason to stop. False: nothing works without
 * it; reported on stderr. */
bool whole_become(int argc, char **argv);

#endif
