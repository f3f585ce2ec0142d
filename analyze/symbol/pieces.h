/* The code of a source in pieces: what applies, from where, until where. Indexes and exports are
 * made of them, so each has the answer of a lookup for all bytes of a piece. */
#ifndef SYMBOL_PIECES_H
#define SYMBOL_PIECES_H

#include "symbol/symbol_store.h"

/* Offsets from the image's base. */
struct code_piece {
    uint32_t start;
    uint64_t end;
    struct symbol_frame *frames; /* innermost first; room for SYMBOL_FRAMES_MAX */
    uint32_t count;
    bool has_start; /* the outermost frame's distance is known */
    bool partial;   /* what applies here is not all readable, or a file of it is missing */
    bool cut;       /* there are more frames than that */
};

struct code_pieces {
    void *self;
    /* Range NUMBER of code, in ascending order. False: there are no more. */
    bool (*range)(const void *self, uint32_t number, uint64_t *from, uint64_t *to);
    /* Fills *PIECE, whose START is set. False: the answers cost more than the file is worth. */
    bool (*at)(void *self, struct code_piece *piece);
    void (*close)(void *self); /* NULL: nothing is owned */
};

/* Calls EACH with every piece from FROM on, the last one cut at TO, until it returns false. Fails:
 * ERR_LIMIT, as at(). */
typedef bool code_piece_fn(void *context, const struct code_piece *piece);
enum status code_pieces_walk(const struct code_pieces *pieces, uint64_t from, uint64_t to,
                             code_piece_fn *each, void *context, struct fault *fault);

#endif
