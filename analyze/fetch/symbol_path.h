/* A symbol path, as debuggers of Windows read it: elements between ';', each of them
 *
 *   FOLDER or FILE
 *   srv*PLACE*PLACE...          a chain of places, each a folder or http(s)://...; nearest first
 *   symsrv*DLL*PLACE*...        the same; the DLL is ignored
 *   cache*FOLDER                downloads of all later elements go there
 *   debuginfod*PLACE*...        a chain whose URLs are debuginfod servers
 *   http(s)://...               srv* with the usual cache
 *
 * Downloads of a chain go into its first folder, if one comes before its first URL; an empty place
 * is the usual cache. A file that is found in a later folder is copied there as well.
 * Source: https://learn.microsoft.com/windows-hardware/drivers/debugger/symbol-path */
#ifndef FETCH_SYMBOL_PATH_H
#define FETCH_SYMBOL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

enum { SYMBOL_PATH_ELEMENTS_MAX = 64, SYMBOL_PATH_PLACES_MAX = 10 };

struct symbol_path_element {
    bool chain;        /* false: folders[0] is a plain folder or file */
    bool debuginfod;   /* what the URLs are */
    const char *cache; /* where downloads go; NULL: the usual cache */
    const char *folders[SYMBOL_PATH_PLACES_MAX];
    uint32_t folder_count;
    const char *urls[SYMBOL_PATH_PLACES_MAX]; /* without a '/' at the end */
    uint32_t url_count;
};

struct symbol_path {
    struct symbol_path_element *elements; /* in KEEP of the reader, like all texts */
    uint32_t count;
};

/* True when TEXT is more than the path of one file or folder. */
bool symbol_path_is_chain(const char *text);

/* Fails: ERR_MALFORMED; ERR_UNSUPPORTED a URL other than HTTP; ERR_LIMIT; ERR_MEMORY. */
enum status symbol_path_read(const char *text, struct arena *keep, struct symbol_path *out,
                             struct fault *fault);

#endif
