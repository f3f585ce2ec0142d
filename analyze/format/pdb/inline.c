/* See lines.h. The annotations of an inline site: a byte code that describes the site's ranges and
 * lines.
 *
 * State: code offset, file, line. A row begins where an operation moves the offset (0x03, 0x0b,
 * 0x0c) and ends at the next such operation or at a stated length. Only 0x04 advances the offset by
 * its length. This is the only interpretation that fits MSVC, clang and rustc alike (conpty.pdb,
 * WriteArgument.pdb and the rustc file of the fixtures).
 *
 * 0x02 states the part of the function that the rows belong to: 0 is the part of the site's scope,
 * others are separated parts (cvinfo.h of microsoft-pdb: "nth separated code chunk"). Offsets in
 * those have another base, so their rows are left out. */
#include "base/bytes.h"
#include "format/pdb/lines.h"

enum annotation {
    ANNOTATION_END = 0x00,
    ANNOTATION_CODE_OFFSET = 0x01,
    ANNOTATION_CHUNK = 0x02,
    ANNOTATION_MOVE = 0x03,
    ANNOTATION_LENGTH = 0x04,
    ANNOTATION_FILE = 0x05,
    ANNOTATION_LINE = 0x06,
    ANNOTATION_MOVE_LINE = 0x0b,
    ANNOTATION_LENGTH_MOVE = 0x0c,
    ANNOTATION_LAST = 0x0d,
};

/* 14 bits in two bytes, 29 in four, most significant first. *BYTES: how many; 0: it is cut. */
static uint32_t long_operand(const uint8_t *p, const uint8_t *end, uint32_t *bytes)
{
    const size_t left = (size_t)(end - p);
    *bytes = 0;
    if (left >= 2 && (p[0] & 0xc0) == 0x80) {
        *bytes = 2;
        return (uint32_t)(p[0] & 0x3f) << 8 | p[1];
    }
    if (left >= 4 && (p[0] & 0xe0) == 0xc0) {
        *bytes = 4;
        return (uint32_t)(p[0] & 0x1f) << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    return 0;
}

/* Nearly all have 7 bits, in one byte. Returns what follows the operand; NULL: it is cut. */
static inline const uint8_t *read_operand(const uint8_t *at, const uint8_t *end, uint32_t *value)
{
    uint32_t bytes;
    if (at < end && *at < 0x80) {
        *value = *at;
        return at + 1;
    }
    *value = long_operand(at, end, &bytes);
    return bytes != 0 ? at + bytes : NULL;
}

static int32_t signed_operand(uint32_t value)
{
    const int32_t magnitude = (int32_t)(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
}

struct row_writer {
    struct pdb_inline_row *next; /* an open row is here: it has no end yet */
    bool open;
    uint32_t chunk, offset, file, line;
};

static inline void close_row(struct row_writer *w, uint32_t end)
{
    if (w->open && end > w->next->start)
        (w->next++)->end = end;
    w->open = false;
}

static inline void open_row(struct row_writer *w)
{
    if (w->chunk != 0)
        return;
    close_row(w, w->offset);
    *w->next = (struct pdb_inline_row){w->offset, w->offset, w->file, (int32_t)w->line};
    w->open = true;
}

static inline void apply_rare(struct row_writer *w, uint32_t op, uint32_t value, uint32_t move)
{
    switch (op) {
    case ANNOTATION_CODE_OFFSET:
        w->offset = value;
        open_row(w);
        break;
    case ANNOTATION_CHUNK:
        w->chunk = value;
        break;
    case ANNOTATION_MOVE:
        w->offset += value;
        open_row(w);
        break;
    case ANNOTATION_FILE:
        w->file = value;
        break;
    case ANNOTATION_LINE:
        w->line += (uint32_t)signed_operand(value);
        break;
    case ANNOTATION_LENGTH_MOVE:
        w->offset += move;
        open_row(w);
        if (w->chunk == 0)
            close_row(w, w->offset + value);
        break;
    default: /* columns, line ends, kinds of range: not needed */
        break;
    }
}

/* Most operations are of two kinds: to ask for these first is guessed better than a jump table. */
static inline void apply(struct row_writer *w, uint32_t op, uint32_t value, uint32_t move)
{
    if (op == ANNOTATION_MOVE_LINE) {
        w->offset += value & 0xf;
        w->line += (uint32_t)signed_operand(value >> 4);
        open_row(w);
    } else if (op == ANNOTATION_LENGTH) {
        if (w->chunk == 0)
            close_row(w, w->offset + value);
        w->offset += value;
    } else {
        apply_rare(w, op, value, move);
    }
}

uint32_t pdb_inline_rows(const uint8_t *annotations, uint32_t bytes, uint32_t file,
                         uint32_t end_default, struct pdb_inline_row *out)
{
    const uint8_t *at = annotations, *const end = annotations + bytes;
    struct row_writer w = {.next = out, .file = file};
    uint32_t op, value, move = 0;
    while (at < end) {
        at = read_operand(at, end, &op);
        if (at == NULL || op == ANNOTATION_END || op > ANNOTATION_LAST)
            break;
        at = read_operand(at, end, &value);
        if (at != NULL && op == ANNOTATION_LENGTH_MOVE)
            at = read_operand(at, end, &move);
        if (at == NULL)
            break;
        apply(&w, op, value, move);
    }
    close_row(&w, end_default);
    return (uint32_t)(w.next - out);
}

/* S_INLINESITE: parent, end, inlinee, annotations.  S_INLINESITE2 has a count before them. */
bool pdb_inline_site(const struct pdb_symbol *symbol, uint32_t *inlinee,
                     const uint8_t **annotations, uint32_t *bytes)
{
    const uint32_t at = symbol->kind == PDB_INLINESITE2 ? 16 : 12;
    if ((symbol->kind != PDB_INLINESITE && symbol->kind != PDB_INLINESITE2) ||
        symbol->data.bytes < at)
        return false;
    *inlinee = view_u32(symbol->data, 8);
    *annotations = symbol->data.data + at;
    *bytes = (uint32_t)symbol->data.bytes - at;
    return true;
}
