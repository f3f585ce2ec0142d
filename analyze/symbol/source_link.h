/* SourceLink: where the sources of a build are on the web.
 *
 * Source: https://github.com/dotnet/designs/blob/main/accepted/2020/diagnostics/source-link.md */
#ifndef SYMBOL_SOURCE_LINK_H
#define SYMBOL_SOURCE_LINK_H

#include <stddef.h>

struct arena;

/* The URL of FILE by the SourceLink document JSON of BYTES bytes, as in a PDB; in KEEP.  The
 * longest key that fits wins; case and the direction of slashes do not matter.  NULL: the document
 * is damaged, or it has no http or https address for the file. */
const char *symbol_source_link(const char *json, size_t bytes, const char *file,
                               struct arena *keep);

#endif
