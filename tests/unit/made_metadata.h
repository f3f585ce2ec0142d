/* Metadata of .NET made by a test: heaps, "#Pdb" and rows of tables. All of these end the test when
 * there is no room. */
#ifndef TESTS_UNIT_MADE_METADATA_H
#define TESTS_UNIT_MADE_METADATA_H

#include "format/portable_pdb/metadata.h"

enum { MADE_BYTES = 8192, STREAMS_AT = 128, ROW_CELLS_MAX = 9 };

/* Bytes to hand over as metadata; the heaps come first, the tables last. */
struct made_metadata {
    uint8_t data[MADE_BYTES];
    size_t bytes;
    size_t header; /* where the next header of a stream goes */
};

/* Rows of "#~", in the order of the tables. WIDTHS: a digit for the bytes of each cell. */
struct made_row {
    int table;
    const char *widths;
    uint32_t cells[ROW_CELLS_MAX];
};

void made_begin(struct made_metadata *m);
/* A heap: "#Strings", "#Blob", "#GUID". */
void made_stream(struct made_metadata *m, const char *name, const void *data, size_t bytes);
/* "#Pdb" with an image whose tables 0 to 0x2C have COUNTS rows. */
void made_foreign(struct made_metadata *m, const uint32_t counts[TABLE_DOCUMENT]);
/* "#~"; HEAPS: the bits of wide heaps. */
void made_tables(struct made_metadata *m, uint8_t heaps, const struct made_row *rows, size_t count);
void made_open(const struct made_metadata *m, struct metadata *md);

#endif
