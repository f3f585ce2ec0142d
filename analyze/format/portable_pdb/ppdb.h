/* Portable PDBs: the lines of methods, by token and offset in their IL.
 *
 * Source: https://github.com/dotnet/runtime/blob/main/docs/design/specs/PortablePdb-Metadata.md */
#ifndef FORMAT_PPDB_H
#define FORMAT_PPDB_H

#include "base/arena.h"
#include "format/object/object.h"
#include "format/portable_pdb/metadata.h"
#include "model/module.h"

enum { PPDB_ID_BYTES = 20 };

struct ppdb {
    struct metadata md;
    uint8_t id[PPDB_ID_BYTES]; /* a GUID, and the timestamp of the image's debug directory */
};

/* True for a portable PDB file. */
bool ppdb_recognize(const void *data, size_t bytes);

/* DATA is borrowed. Fails: as metadata_open(); ERR_MALFORMED without "#Pdb". */
enum status ppdb_open(const void *data, size_t bytes, struct ppdb *out, struct fault *fault);

/* The debug_id that an image states for it: the GUID, and age 1, which all compilers write. */
void ppdb_debug_id(const struct ppdb *pdb, char out[DEBUG_ID_BYTES]);

struct ppdb_place {
    uint32_t document; /* its number; 0: no line is known */
    uint32_t line, column;
    bool hidden; /* the code itself has no line; this is the one before it, as .NET answers */
};

/* The place of offset IL of the method with TOKEN. False: the PDB has no such method. */
bool ppdb_place(const struct ppdb *pdb, uint32_t token, uint32_t il, struct ppdb_place *out);

/* The method whose state machine TOKEN is a part of, as the user wrote it; 0: it is no MoveNext. */
uint32_t ppdb_kickoff(const struct ppdb *pdb, uint32_t token);
/* True for the MoveNext of an async method, false for an iterator's. */
bool ppdb_is_async(const struct ppdb *pdb, uint32_t token);

/* Documents count from 1. The name is in KEEP; NULL: there is none. */
const char *ppdb_document(const struct ppdb *pdb, uint32_t number, struct arena *keep);
/* The source text that the PDB has of a document, in KEEP if it was packed. False: none. Fails:
 * *fault is set when it is damaged. */
bool ppdb_source(const struct ppdb *pdb, uint32_t number, struct arena *keep, struct byte_view *out,
                 struct fault *fault);
/* SourceLink: JSON that says where the documents are; empty: there is none. */
struct metadata_bytes ppdb_source_link(const struct ppdb *pdb);

#endif
