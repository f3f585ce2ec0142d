/* What the parts of the reader of compiled code share; see precompiled.h. */
#ifndef FORMAT_PORTABLE_PDB_PRECOMPILED_READ_H
#define FORMAT_PORTABLE_PDB_PRECOMPILED_READ_H

#include "format/portable_pdb/metadata.h"
#include "format/portable_pdb/precompiled.h"

enum { PRECOMPILED_TOKEN = 0x06000000 }; /* of table MethodDef */

/* A number at *AT, which moves on. False: it is not within the section. */
bool precompiled_number(const struct precompiled_array *in, uint32_t *at, uint32_t *out);
bool precompiled_signed(const struct precompiled_array *in, uint32_t *at, int32_t *out);

/* Element NUMBER of a list at START. */
bool precompiled_index(const struct precompiled_array *in, uint32_t start, uint32_t number,
                       uint32_t *out);

/* Where the entry of NUMBER starts; false: it has none. */
bool precompiled_array_at(const struct precompiled_array *in, uint32_t number, uint32_t *out);

/* Moves *BLOB past the signature of a method. *TOKEN: 0 if this image does not define it. */
bool precompiled_method_signature(struct metadata_bytes *blob, uint32_t *token);

/* The offset in IL of the code at OFFSET from its method's begin, by the entry at AT of
 * CODE->debug; above PRECOMPILED_IL_LAST: none. */
uint32_t precompiled_il(const struct precompiled *code, uint32_t at, uint32_t offset);

#endif
