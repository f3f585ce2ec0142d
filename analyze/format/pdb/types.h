/* Types and ids of a PDB (TPI and IPI streams), read one record at a time: names of inlined
 * functions, and parameter lists.
 *
 * Source: https://llvm.org/docs/PDB/TpiStream.html, cvinfo.h of microsoft-pdb. */
#ifndef FORMAT_PDB_TYPES_H
#define FORMAT_PDB_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/pdb/pdb.h"

struct pdb_types {
    struct msf_stream stream;
    uint32_t first, end; /* type indexes */
    uint32_t records_soff, records_bytes;
    struct msf_stream hash; /* holds the sparse table of offsets */
    uint32_t offsets_soff;  /* pairs: type index, offset of its record */
    uint32_t offsets_count;
    const uint32_t *all; /* offset of every record, once pdb_types_index() made it */
    uint32_t *noted;     /* offset + 1 of every eighth record; 0: not passed yet; see below */
};

enum { PDB_STREAM_TPI = 2, PDB_STREAM_IPI = 4 };

/* Opens TPI or IPI; false (and an empty table) when absent or in an unsupported form (VS 2003). */
bool pdb_types_open(const struct pdb *pdb, uint32_t stream, struct pdb_types *out);

/* Records the offset of every record, for callers that need most of them. Out of memory or with a
 * damaged stream, nothing changes. */
void pdb_types_index(struct pdb_types *types, struct arena *keep);

/* Makes pdb_type() note the offsets of records that it passes, for callers that need many records
 * but not most of them. TYPES may then be used by one thread only. Out of memory, nothing changes.
 */
void pdb_types_note(struct pdb_types *types, struct arena *keep);

struct pdb_type {
    uint16_t kind;
    struct byte_view data; /* after the kind */
};

/* A record by its index.  COPIES: see msf_view. */
bool pdb_type(const struct pdb_types *types, uint32_t index, struct arena *copies,
              struct pdb_type *out);

struct pdb_id_name {
    const char *scope; /* namespace or class; "" when none */
    const char *name;
    uint32_t function_type; /* in TPI */
};

/* The function that an id of IPI names.  False: no such id, or not a function. */
bool pdb_id_function(const struct pdb_types *ids, const struct pdb_types *types, uint32_t id,
                     struct arena *copies, struct pdb_id_name *out);

/* Writes "(int, const char *)" and, for a const member function, " const" to OUT, as Visual Studio
 * spells them. Returns its length; 0 when the type is not a function or cannot be read (OUT is then
 * ""). */
size_t pdb_type_parameters(const struct pdb_types *types, uint32_t function_type,
                           struct arena *scratch, char *out, size_t out_bytes);

#endif
