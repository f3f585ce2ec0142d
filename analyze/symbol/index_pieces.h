/* From one module to pieces of code: "from here on: this scope, this line". Every piece gives the
 * answer of pdb_lookup() for each of its bytes. */
#ifndef SYMBOL_INDEX_PIECES_H
#define SYMBOL_INDEX_PIECES_H

#include <stdint.h>

#include "base/array.h"
#include "model/stack.h"
#include "symbol/index_layout.h"
#include "symbol/pdb_names.h"
#include "symbol/pdb_unit.h"

/* u10 bytes of code since the previous piece (a longer distance takes several pieces), u24 line,
 * u30 scope of the worker; scope 0: nothing is known. */
struct piece {
    uint64_t packed;
};

enum { PIECE_STEP_BITS = 10, PIECE_LINE_BITS = 24, PIECE_STEP_MAX = (1 << PIECE_STEP_BITS) - 1 };

static inline uint32_t piece_step(struct piece piece)
{
    return piece.packed & PIECE_STEP_MAX;
}

static inline uint32_t piece_line(struct piece piece)
{
    return (uint32_t)(piece.packed >> PIECE_STEP_BITS) & ((1U << PIECE_LINE_BITS) - 1);
}

static inline uint32_t piece_scope(struct piece piece)
{
    return (uint32_t)(piece.packed >> (PIECE_STEP_BITS + PIECE_LINE_BITS));
}

struct index_text {
    const char *at;
    uint32_t hash;   /* once written: the first equal text, as text_number() */
    uint32_t offset; /* before: that text; then of a first text: among its worker's strings */
};

/* A function around code: inlined into another scope, or a procedure.  Names and files are the
 * worker's numbers of texts and of files. */
struct scope_slot {
    uint32_t name;   /* once written: the number of its slot among those of the worker */
    uint32_t parent; /* an earlier slot; 0: this is a procedure */
    uint32_t file;   /* 0: none */
    uint32_t line;   /* of the call; of a procedure: its number among the roots */
};

struct scope_root { /* fields that only a procedure has */
    uint32_t start_rva, compiland;
    uint32_t from; /* enum symbols_from, or one of INDEX_FROM_DAMAGED */
};

/* Publics by address, made once and shared by all workers. */
struct public_list {
    uint32_t *rvas;    /* sorted, in the symbols' address space */
    uint32_t *numbers; /* for pdb_public() */
    uint32_t count;
};

struct inlinee_slot {
    uint32_t id, stamp;  /* valid when stamp is that of the module */
    uint32_t file, line; /* checksum offset; line 0: the module does not say */
    uint32_t name;       /* text; UINT32_MAX: not asked for yet */
};

struct known_text {
    uint64_t key;
    uint32_t text;
};

struct scope_memo {
    uint32_t parent, name, file, line, slot;
};

/* Something that applies from start to end, except where something that starts later applies. */
struct event {
    uint32_t start, end;
    uint32_t line, file;
    union {
        uint32_t site;  /* of inline events */
        uint32_t block; /* of lines: see struct pdb_line_row */
    };
    uint32_t below; /* the event that it covers; see index_procedure.c */
};

struct inline_site {
    uint32_t parent; /* UINT32_MAX: the procedure itself */
    uint32_t depth, name;
};

struct span {                   /* a code or a line table of the module, by address */
    uint32_t start, end, reach; /* reach: the largest end up to here */
    uint32_t number;
    uint16_t section;
};

struct buffer {
    void *at;
    uint32_t count, room;
};

/* What is read of a module before its procedures. The buffers are owned: index_module_free(). */
struct piece_module {
    struct pdb_unit unit;
    uint32_t compiland; /* text */
    struct inlinee_slot *inlinees;
    uint32_t inlinee_count, inlinee_room, stamp;
    struct buffer codes, ranges; /* struct span */
};

struct piece_worker {
    const struct pdb *pdb;
    const struct public_list *publics;
    struct pdb_names names;
    bool failed; /* out of memory: the contents are invalid */

    struct buffer pieces, scopes, roots; /* struct piece, struct scope_slot, struct scope_root */
    struct buffer texts, files;          /* struct index_text; the text of each file */
    uint32_t piece_rva;                  /* where the next piece counts from */
    uint32_t *id_texts;                  /* the text of each id's name + 1; 0: not asked for yet */
    uint32_t id_count;
    struct known_text *known; /* texts of files and publics */
    uint32_t known_count, known_room;
    struct scope_memo *memo;
    uint32_t memo_slots;
    bool copies_texts; /* those in the file, whose memory is given back */
    bool one_by_one;   /* index_worker_restart() is called for each procedure */

    struct arena keep; /* of the current module, when index_worker_module() opened it */
    struct piece_module now;
    struct pdb_marks marks; /* of the unit that was read last */

    /* Of the current procedure. */
    struct buffer inlines, lines, sites, rows, keys, spare;
};

bool index_worker_open(const struct pdb *pdb, enum symbol_names spelling,
                       const struct public_list *publics, struct piece_worker *out);
/* Without a PDB: for what index_piece() and the functions that make numbers for it need. */
bool index_worker_open_empty(struct piece_worker *out);
/* The second half of index_worker_open(), where only the names are open. */
bool index_worker_ready(const struct pdb *pdb, struct piece_worker *out);
/* Forgets pieces and scopes. */
void index_worker_restart(struct piece_worker *worker);
void index_worker_close(struct piece_worker *worker);

/* Fills the tables of the current module, whose unit is read. */
void index_module_sort(struct piece_worker *worker);
void index_module_free(struct piece_module *module);
void index_module_shrink(struct piece_module *module);          /* keeps only the codes */
uint64_t index_module_bytes(const struct piece_module *module); /* of memory, for its tables */

/* Opens module NUMBER for index_worker_contribution(). */
void index_worker_module(struct piece_worker *worker, uint32_t number);

/* Appends the pieces of a contribution of that module, from its start to END, and of the code
 * between END and NEXT (offsets in its section). */
void index_worker_contribution(struct piece_worker *worker, struct pdb_place start, uint32_t end,
                               uint32_t next);

/* Appends the pieces of the code before the first contribution of a section. */
void index_worker_head(struct piece_worker *worker, struct pdb_place start, uint32_t end);

/* For the files index_*.c. */
static inline void *index_more(struct piece_worker *worker, struct buffer *buffer, uint32_t want,
                               size_t each)
{
    void *grown = array_reserve(buffer->at, &buffer->room, want, each);
    if (grown == NULL)
        worker->failed = true;
    else
        buffer->at = grown;
    return grown;
}
uint32_t index_text(struct piece_worker *worker, const char *text);
uint32_t index_file(struct piece_worker *worker, struct pdb_file file);
uint32_t index_public(struct piece_worker *worker, const struct pdb_public *pub);

/* The number of a text that stays at its address, made once for each address; 0 for NULL. */
uint32_t index_constant(struct piece_worker *worker, const char *text);

/* The number of a file by its name; equal names have one number, except by a rare chance. */
uint32_t index_file_text(struct piece_worker *worker, const char *name);

/* What the current module's procedures, or publics in its code, are known from. */
uint32_t index_pdb_from(const struct piece_worker *worker, bool is_public);

/* Appends pieces: index_claim() where a claim starts, and then each at or after the last one. */
void index_claim(struct piece_worker *worker, uint32_t start_rva);
/* For index_piece() alone: a step that takes several pieces. */
void index_far_piece(struct piece_worker *worker, uint32_t start_rva, struct piece piece);
static inline void index_piece(struct piece_worker *worker, uint32_t start_rva, uint32_t scope,
                               uint32_t line)
{
    struct piece piece = {(uint64_t)line << PIECE_STEP_BITS |
                          (uint64_t)scope << (PIECE_STEP_BITS + PIECE_LINE_BITS)};
    const uint32_t step = start_rva - worker->piece_rva;
    if (line >> PIECE_LINE_BITS != 0 || scope >> (64 - PIECE_STEP_BITS - PIECE_LINE_BITS) != 0)
        worker->failed = true;
    if (step > PIECE_STEP_MAX) {
        index_far_piece(worker, start_rva, piece);
        return;
    }
    struct piece *pieces =
        index_more(worker, &worker->pieces, worker->pieces.count + 1, sizeof *pieces);
    if (pieces == NULL)
        return;
    piece.packed |= step;
    pieces[worker->pieces.count++] = piece;
    worker->piece_rva = start_rva;
}
uint32_t index_root(struct piece_worker *worker, uint32_t name, uint32_t file, uint32_t from,
                    uint32_t start_rva, uint32_t compiland);
uint32_t index_inlined(struct piece_worker *worker, uint32_t parent, uint32_t name, uint32_t file,
                       uint32_t line);
struct inlinee_slot *index_inlinee(struct piece_worker *worker, uint32_t id);
uint32_t index_inlinee_name(struct piece_worker *worker, struct inlinee_slot *slot);

/* Reads the line rows between FROM and END into worker->lines, sorted. */
void index_read_lines(struct piece_worker *worker, uint16_t section, uint32_t from, uint32_t end);

/* The first span that can reach FROM, among those sorted by (section, start). */
uint32_t index_first_span(const struct buffer *spans, uint16_t section, uint32_t from);

/* Appends the pieces of PROCEDURE between FROM and END; returns its last root scope. */
uint32_t index_procedure(struct piece_worker *worker, const struct pdb_procedure *procedure,
                         uint32_t name, uint32_t from, uint32_t end);

#endif
