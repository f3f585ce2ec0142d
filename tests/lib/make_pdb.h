/* PDB files made by hand, for records that no fixture has: one section of code at
 * rva 0x1000, two modules, publics, ids, OMAP.  Everything lives until make_pdb_free(). */
#ifndef TESTS_MAKE_PDB_H
#define TESTS_MAKE_PDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing array of bytes. */
struct bag {
    uint8_t *at;
    uint32_t bytes, room;
};
void bag_u8(struct bag *bag, uint32_t value);
void bag_u16(struct bag *bag, uint32_t value);
void bag_u32(struct bag *bag, uint32_t value);
void bag_text(struct bag *bag, const char *text);   /* with its NUL          */
void bag_pascal(struct bag *bag, const char *text); /* with its length first */
void bag_put(struct bag *bag, const void *bytes, uint32_t count);
void bag_align(struct bag *bag);                                  /* to 4, with zeros */
void bag_patch_u32(struct bag *bag, uint32_t at, uint32_t value); /* over existing bytes */

enum { MAKE_CODE_RVA = 0x1000, MAKE_CODE_BYTES = 0x1000, MAKE_MODULES = 2, MAKE_SOURCE_LINKS = 3 };

struct make_pdb {
    struct bag symbols[MAKE_MODULES]; /* starts with its signature */
    struct bag c11[MAKE_MODULES], c13[MAKE_MODULES];
    struct bag ids; /* records of the IPI stream, from 0x1000 on */
    uint32_t id_count;
    struct bag names;         /* the buffer of "/names"; starts with an empty string */
    struct bag contributions; /* sorted by the code that adds them */
    struct bag publics, public_map;
    struct bag jumps;                  /* of an incremental link: the rva of each one's target */
    uint32_t jumps_offset, jump_bytes; /* where the first one is; bytes of each */
    struct bag omap_to_source, omap_from_source; /* empty: none */
    struct {
        const char *stream, *json; /* NULL: none */
    } source_links[MAKE_SOURCE_LINKS];
    bool without_sections, without_contributions, without_names;
    uint32_t block_bytes;
    uint32_t more_sections; /* after the code section */
    struct bag file;        /* once it is made */
};

/* Starts an empty file with blocks of 4 KiB. */
void make_pdb_start(struct make_pdb *m);
void make_pdb_free(struct make_pdb *m);

/* BYTES of code at OFFSET belong to MODULE. */
void make_contribution(struct make_pdb *m, uint32_t module, uint32_t offset, uint32_t bytes);
/* Publics are added in the order of their addresses. */
void make_public(struct make_pdb *m, uint32_t offset, const char *name);
/* The offset of NAME in "/names". */
uint32_t make_name(struct make_pdb *m, const char *name);

/* Starts a symbol record of KIND and returns its offset.  Its contents are appended to the module's
 * bag `symbols` before make_record_end(). */
uint32_t make_record(struct make_pdb *m, uint32_t module, uint32_t kind);
void make_record_end(struct make_pdb *m, uint32_t module, uint32_t record);

/* A procedure (any kind that pdb_procedure_read() knows) at OFFSET, still open. */
uint32_t make_procedure(struct make_pdb *m, uint32_t module, uint32_t kind, uint32_t offset,
                        uint32_t bytes, const char *name);
/* Closes a scope that RECORD opened, with a record of KIND (0x0006: S_END). */
void make_scope_end(struct make_pdb *m, uint32_t module, uint32_t record, uint32_t kind);

/* A C13 subsection of lines: ROWS pairs of offset and line from OFFSET on, of the file whose
 * checksum is at FILE. */
void make_lines(struct make_pdb *m, uint32_t module, uint32_t offset, uint32_t bytes, uint32_t file,
                const uint32_t (*rows)[2], uint32_t row_count);
/* Adds the subsection of checksums for one file; the file's checksum is then at 0. */
void make_checksum(struct make_pdb *m, uint32_t module, const char *file);

/* The file; lives until make_pdb_free(). */
const uint8_t *make_pdb_file(struct make_pdb *m, size_t *bytes);

#endif
