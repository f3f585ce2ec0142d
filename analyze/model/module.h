/* A module: an image that was loaded in the dead process, and its identity.
 *
 * code_id  "%08X%x" of the PE timestamp and image size, as symbol servers spell it.
 * debug_id 32 upper-case hex digits of the PDB's GUID (as Windows prints it) followed
 *          by the DBI age in hex; for NB10 the 8-digit signature and the age.
 * mvid     of managed code: "D6FDA5EC-8D44-4036-BDB6-8B5593DB3E94", a GUID that compilers put into
 *          the metadata of each build. A portable PDB does not have it, only the image has.
 * Each is "" when not known.  Nothing is matched by name alone if an identity is known: a PDB
 * with a wrong age gives plausible but wrong names. */
#ifndef MODEL_MODULE_H
#define MODEL_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_ID_BYTES = 24, DEBUG_ID_BYTES = 48, MVID_BYTES = 37 };

struct module {
    uint32_t index;
    const char *name;     /* file name without folder, UTF-8                          */
    const char *path;     /* as the dead process saw it; NULL: unknown                */
    const char *pdb_name; /* file name of the PDB as the image states it; NULL: unknown */
    const char *build_id; /* of ELF, lower-case hex digits; NULL: unknown               */
    char code_id[CODE_ID_BYTES];
    char debug_id[DEBUG_ID_BYTES];
    char mvid[MVID_BYTES];
    uint64_t base_va;
    uint64_t image_bytes;
    uint64_t loaded_at_ns;   /* since the record began; 0: before that */
    uint64_t unloaded_at_ns; /* UINT64_MAX: still there                             */
};

#define MODULE_STILL_LOADED UINT64_MAX

void module_code_id(uint32_t timestamp, uint32_t image_bytes, char out[CODE_ID_BYTES]);

/* GUID is the 16 bytes as stored in RSDS records and PDB files. */
void module_debug_id(const uint8_t guid[16], uint32_t age, char out[DEBUG_ID_BYTES]);
/* True for a GUID of zeros, which writers of dumps put where they do not know the image's. */
bool module_debug_id_is_none(const char *debug_id);

/* GUID is the 16 bytes as stored in metadata and records. */
void module_mvid(const uint8_t guid[16], char out[MVID_BYTES]);
/* Reads an MVID in either case, with or without dashes and braces. False: it is none. */
bool module_mvid_parse(const char *text, size_t bytes, char out[MVID_BYTES]);

/* The debug_id of an ELF build id (lower-case hex digits): its first 16 bytes as a GUID, and age 0.
 * Source: Breakpad's description of its symbol files, "MODULE records". */
void module_build_debug_id(const char *build_id, char out[DEBUG_ID_BYTES]);

/* True when the ids that both sides know say that it is the same image; by name (case folded) only
 * if no id is known on both sides. */
bool module_same(const struct module *a, const struct module *b);

#endif
