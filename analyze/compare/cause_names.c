/* Rules about the name of a frame: whether the module at its address is certain, which symbols gave
 * the name, which address was looked up, and which of several names is meant. */
#include "compare/cause_names.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "compare/blame_evidence.h"
#include "compare/blame_voters.h"
#include "compare/same_names.h"

enum {
    LINES_ASKED_MAX = 64,
    LOWEST_CODE_VA = 0x10000, /* nothing is ever mapped below this address: a call through null */
};

static bool is_ambiguous(const struct frame *frame)
{
    return frame->identity == IDENTITY_AMBIGUOUS || frame_module_is_unloaded(frame);
}

static bool is_generated(const struct frame *frame)
{
    return frame->frame_class == CLASS_GENERATED || frame->symbols == SYMBOLS_JIT ||
           (frame->module == NULL && frame->module_name == NULL &&
            frame->offset >= LOWEST_CODE_VA && !rule_is_made_up(frame));
}

typedef bool frame_test(const struct frame *frame);

/* The frame of either column that passes TEST.  Searches the row itself; where a frame is missing
 * or extra, also the whole block and the next frame inside it. */
static const struct frame *block_find(const struct difference *d, frame_test *test,
                                      uint32_t *column)
{
    /* A frame that the truth demands and this stack lacks may exist in the reference. */
    const uint32_t columns[2] = {d->column, d->against != 0 ? d->against : d->table->reference};
    for (int i = 0; i < 2; i++) {
        if (columns[i] == 0)
            continue;
        *column = columns[i];
        const bool wide = d->mark != CELL_FUNCTION && d->mark != CELL_LINE;
        const uint32_t start = wide ? rule_block_start(d) : d->row;
        const uint32_t end = wide ? rule_block_end(d) : d->row + 1;
        for (uint32_t row = start; row < end; row++) {
            const struct frame *frame = table_frame(d->table, row, columns[i]);
            if (frame != NULL && test(frame))
                return frame;
        }
        const struct frame *inside = wide ? rule_previous_frame(d, start, columns[i]) : NULL;
        if (inside != NULL && test(inside))
            return inside;
    }
    return NULL;
}

bool because_module_unloaded(const struct difference *d, struct arena *keep,
                             struct explanation *out)
{
    uint32_t column = 0;
    const struct frame *frame = block_find(d, is_ambiguous, &column);
    if (frame == NULL)
        return false;
    const bool of_name = d->mark == CELL_FUNCTION || d->mark == CELL_LINE;
    if (of_name && because_lookup_address(d, keep, out))
        return true; /* its symbols are there, and prove it */
    const char *what = frame->identity == IDENTITY_AMBIGUOUS
                           ? "more than one module matches this address"
                           : "its module was unloaded";
    return rule_explain(
        out, CAUSE_MODULE_UNLOADED, d->against == 0 ? d->column : 0,
        arena_printf(keep, "%s at %s: %s", rule_engine(d, column), rule_where(frame, keep), what));
}

const struct frame *rule_generated(const struct difference *d, uint32_t *column)
{
    return block_find(d, is_generated, column);
}

/* Both have a frame at one address, to which one says that a call returns. */
static bool differ_in_kind(const struct difference *d)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    return d->mark == CELL_PHYSICAL && own != NULL && other != NULL && own->kind != other->kind &&
           own->offset == other->offset && own->module == other->module;
}

bool because_generated_code(const struct difference *d, struct arena *keep, struct explanation *out)
{
    uint32_t column = 0;
    const struct frame *frame = rule_generated(d, &column);
    if (frame == NULL || differ_in_kind(d))
        return false;
    return rule_explain(out, CAUSE_GENERATED_CODE, d->against == 0 ? d->column : 0,
                        arena_printf(keep, "%s at %s: generated code, which is in no image",
                                     rule_engine(d, column), rule_where(frame, keep)));
}

static bool is_in_block(const struct difference *d, const struct frame *frame)
{
    for (uint32_t row = rule_block_start(d); row < rule_block_end(d); row++) {
        const struct frame *own = table_frame(d->table, row, d->column);
        if (own != NULL && frames_same_module(own, frame))
            return true;
    }
    return false;
}

static const char *file_name(const struct module *module)
{
    return module->pdb_name != NULL ? module->pdb_name : "its PDB";
}

/* "app.pdb 0123...1": the file of symbols that a module asks for. */
static const char *file_asked(const struct module *module, struct arena *keep)
{
    return arena_printf(keep, "%s %s", file_name(module),
                        module->debug_id[0] != '\0' ? module->debug_id : "(unknown identity)");
}

/* An engine with the same symbols names the truth's function here. */
static bool is_named_by_same(const struct difference *d)
{
    const struct table *t = d->table;
    const struct truth_frame *truth = table_truth(t, d->row);
    for (uint32_t c = 1; truth != NULL && c < t->column_count; c++) {
        const struct frame *frame = table_frame(t, d->row, c);
        if (c != d->column && frame != NULL && voter_of_name(t, c) == voter_of_name(t, d->column) &&
            compare_names(truth->function, frame->function))
            return true;
    }
    return false;
}

bool because_own_symbols(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const char *places = NULL;
    const struct frame *mine = rule_mine(d);
    const bool has_line = d->mark == CELL_LINE && mine != NULL && mine->line != 0;
    if (d->against != 0 || d->mark == CELL_PHYSICAL || has_line ||
        (d->mark != CELL_LINE && is_named_by_same(d)))
        return false;
    /* A method has its name from metadata, and only its line from a file. */
    const bool managed = d->mark == CELL_LINE && mine != NULL && mine->method_token != 0 &&
                         mine->module != NULL && d->in->symbols != NULL &&
                         d->in->symbols->sought != NULL;
    const struct frame *frame =
        managed ? mine : evidence_of_no_symbols(d->in, d->table, d->column, keep, &places);
    if (frame == NULL || !is_in_block(d, frame))
        return false;
    if (managed)
        places = d->in->symbols->sought(d->in->symbols->context, frame, keep);
    const bool other = frame->symbols == SYMBOLS_MISMATCH || frame_note_is_other_build(frame->note);
    const bool known = evidence_states_no_symbols(frame) && frame->note != NOTE_NO_SYMBOL_FILE &&
                       frame_note_name(frame->note) != NULL;
    const char *flaw = known ? frame_note_name(frame->note) : "no such file was found";
    out->facts.module = arena_string(keep, frame->module->name);
    out->facts.file = arena_string(keep, file_name(frame->module));
    out->facts.sought = places;
    out->facts.flaw = flaw;
    return rule_explain(out, other ? CAUSE_SYMBOLS_MISMATCH : CAUSE_SYMBOLS_MISSING, d->column,
                        arena_printf(keep, "%s has no symbols: %s: %s%s%s", frame->module->name,
                                     file_asked(frame->module, keep), flaw,
                                     places != NULL ? "; looked for in " : "",
                                     places != NULL ? places : ""));
}

/* The difference is a physical frame that one side lacks. Symbols name frames, they do not make
 * them: only on x86 is a walk lost where a module has none. */
static bool is_lost_frame(const struct difference *d)
{
    const struct frame *have = rule_mine(d) != NULL ? rule_mine(d) : rule_theirs(d);
    if (!rule_is_gap(d))
        return false;
    if (have != NULL)
        return have->inline_depth == 0 && (d->in->crash == NULL || d->in->crash->arch != CPU_X86);
    for (uint32_t c = 1; c < d->table->column_count; c++) { /* the truth's: was it inlined there? */
        const struct frame_key *key = table_key(d->table, d->row, c);
        if (c != d->column && key != NULL && key->inline_depth == 0)
            return true;
    }
    return false;
}

/* The name of FRAME's module, which is closed before reports; NULL: it is in none. */
static const char *module_of(const struct frame *frame, struct arena *keep)
{
    return arena_string(keep, frame->module != NULL ? frame->module->name : frame->module_name);
}

/* Looks at what produced the name, the line or the inline frames in question. */
static bool because_symbols(const struct difference *d, struct arena *keep, struct explanation *out,
                            enum cause cause, unsigned answered, const char *words)
{
    if (d->mark == CELL_PHYSICAL || is_lost_frame(d))
        return false;
    const uint32_t columns[2] = {d->column, d->against};
    for (int i = 0; i < 2; i++) {
        const struct frame *frame = rule_host(d, columns[i]);
        if (frame == NULL || (answered & (1u << frame->symbols)) == 0)
            continue;
        char buffer[FRAME_NOTE_BYTES];
        const char *note = frame_note_text(frame, buffer);
        out->facts.module = module_of(frame, keep);
        return rule_explain(out, cause, columns[i],
                            arena_printf(keep, "%s at %s: %s%s%s", rule_engine(d, columns[i]),
                                         rule_where(frame, keep), words, note != NULL ? ": " : "",
                                         note != NULL ? note : ""));
    }
    return false;
}

static bool asked_holds(const struct frame *asked, uint32_t count, const char *function,
                        uint32_t line)
{
    for (uint32_t i = 0; i < count; i++)
        if (compare_names(function, asked[i].function) && (line == 0 || asked[i].line == line))
            return true;
    return false;
}

/* Another module of the case with FRAME's module's name; NULL: none. */
static const struct module *namesake(const struct difference *d, const struct frame *frame)
{
    const char *name = frame->module != NULL ? frame->module->name : frame->module_name;
    for (uint32_t c = 1; name != NULL && c < d->table->column_count; c++) {
        const struct column *column = &d->table->columns[c];
        for (uint32_t i = 0; i < column->count; i++) {
            const struct module *module = column->stack->frames[i].module;
            if (module != NULL && module != frame->module &&
                text_equal_nocase(module->name, name) &&
                (frame->module == NULL || strcmp(module->debug_id, frame->module->debug_id) != 0))
                return module;
        }
    }
    return NULL;
}

/* A judge named a frame by the symbols of another module with the same name. */
static bool because_namesake(const struct difference *d, struct arena *keep,
                             struct explanation *out)
{
    const struct frame *judged = rule_mine(d);
    const struct compare_symbols *symbols = d->in->symbols;
    const struct module *other = judged != NULL ? namesake(d, judged) : NULL;
    if (other == NULL || symbols == NULL || symbols->at == NULL ||
        d->table->columns[d->column].claim->kind != ENGINE_KIND_JUDGE)
        return false;
    struct frame asked[SYMBOLS_ASKED_MAX], there = *judged;
    there.module = other;
    const uint32_t frames = symbols->at(symbols->context, &there, frame_lookup_offset(&there),
                                        asked, SYMBOLS_ASKED_MAX);
    if (!asked_holds(asked, frames, judged->function, judged->line))
        return false;
    out->facts.module = module_of(judged, keep);
    return rule_explain(out, CAUSE_SYMBOLS_MISMATCH, d->column,
                        arena_printf(keep, "%s at %s: it has %s from another module with this name",
                                     rule_engine(d, d->column), rule_where(judged, keep),
                                     judged->function));
}

/* Without a name, or with one of the image's own symbols. */
static bool is_of_other_pdb(const struct frame *frame)
{
    return frame->note == NOTE_IMAGE_OTHER_PDB;
}

bool because_symbols_mismatch(const struct difference *d, struct arena *keep,
                              struct explanation *out)
{
    if (because_namesake(d, keep, out))
        return true;
    uint32_t column = 0;
    const struct frame *unnamed = block_find(d, is_of_other_pdb, &column);
    if (unnamed != NULL)
        out->facts.module = module_of(unnamed, keep);
    if (unnamed != NULL)
        return rule_explain(out, CAUSE_SYMBOLS_MISMATCH, d->against == 0 ? d->column : 0,
                            arena_printf(keep, "%s at %s: %s", rule_engine(d, column),
                                         rule_where(unnamed, keep),
                                         frame_note_name(unnamed->note)));
    return because_symbols(d, keep, out, CAUSE_SYMBOLS_MISMATCH, 1u << SYMBOLS_MISMATCH,
                           "the symbols are of another build and were not used");
}

bool because_symbols_missing(const struct difference *d, struct arena *keep,
                             struct explanation *out)
{
    return because_symbols(d, keep, out, CAUSE_SYMBOLS_MISSING, 1u << SYMBOLS_NONE, "no symbols") ||
           because_symbols(d, keep, out, CAUSE_SYMBOLS_MISSING,
                           (1u << SYMBOLS_PDB_PUBLIC) | (1u << SYMBOLS_COFF),
                           "public symbols only, without lines and inlined functions");
}

bool because_export_only(const struct difference *d, struct arena *keep, struct explanation *out)
{
    return because_symbols(d, keep, out, CAUSE_EXPORT_ONLY, 1u << SYMBOLS_EXPORT,
                           "only the nearest export gives it a name");
}

/* True when the symbols give FUNCTION at LINE one byte away from the lookup address, but not at the
 * lookup address itself. */
static bool named_one_off(const struct difference *d, const struct frame *host,
                          const char *function, uint32_t line)
{
    const struct compare_symbols *symbols = d->in->symbols;
    if (symbols == NULL || symbols->at == NULL || function == NULL || host->offset == 0)
        return false;
    struct frame right[SYMBOLS_ASKED_MAX], off[SYMBOLS_ASKED_MAX];
    const uint64_t offset = rule_lookup_offset(host);
    const uint64_t other = host->kind == PC_RETURN ? host->offset : host->offset - 1;
    const uint32_t rights = symbols->at(symbols->context, host, offset, right, SYMBOLS_ASKED_MAX);
    const uint32_t offs = symbols->at(symbols->context, host, other, off, SYMBOLS_ASKED_MAX);
    return asked_holds(off, offs, function, line) && !asked_holds(right, rights, function, line);
}

bool because_lookup_address(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    if (d->mark == CELL_PHYSICAL) {
        if (own == NULL || other == NULL || !(frames_same_module(own, other) || differ_in_kind(d)))
            return false;
        /* Of managed code the offset is one in IL, which the byte before may be far from. */
        const bool by_pc = own->method_token != 0 && own->method_token == other->method_token &&
                           own->kind != other->kind && own->pc_va != 0;
        const uint64_t mine = by_pc ? own->pc_va : own->offset;
        const uint64_t theirs = by_pc ? other->pc_va : other->offset;
        if ((mine > theirs ? mine - theirs : theirs - mine) > 1)
            return false;
        if (own->kind != other->kind)
            out->facts.kinds = own->kind == PC_RETURN ? KINDS_RETURN : KINDS_INTERRUPTED;
        return rule_explain(out, CAUSE_LOOKUP_ADDRESS, 0,
                            arena_printf(keep, "%s reports %s (%s), %s reports %s (%s)",
                                         rule_engine(d, d->column), rule_where(own, keep),
                                         pc_kind_name(own->kind), rule_engine(d, d->against),
                                         rule_where(other, keep), pc_kind_name(other->kind)));
    }
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    const struct {
        const char *function;
        uint32_t line;
        uint32_t column;
    } claims[3] = {
        {own != NULL ? own->function : NULL, own != NULL ? own->line : 0, d->column},
        {other != NULL ? other->function : NULL, other != NULL ? other->line : 0, d->against},
        {truth != NULL ? truth->function : NULL, truth != NULL ? truth->line : 0, d->column},
    };
    const struct frame *host = rule_host(d, d->column);
    if (host == NULL)
        host = rule_host(d, d->against);
    for (int i = 0; host != NULL && i < 3; i++)
        if (named_one_off(d, host, claims[i].function, claims[i].line))
            return rule_explain(out, CAUSE_LOOKUP_ADDRESS, claims[i].column,
                                arena_printf(keep, "%s %s: one byte %s is %s line %u",
                                             pc_kind_name(host->kind), rule_where(host, keep),
                                             host->kind == PC_RETURN ? "later" : "earlier",
                                             claims[i].function, claims[i].line));
    return false;
}

bool because_folded(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d);
    const struct truth_frame *truth = d->against == 0 ? table_truth(d->table, d->row) : NULL;
    if (d->mark != CELL_FUNCTION || own == NULL || own->inline_depth > 0)
        return false;
    const char *want = other != NULL ? other->function : NULL;
    if (truth != NULL)
        want = truth->function;
    const struct compare_symbols *symbols = d->in->symbols;
    if (want != NULL && symbols != NULL && symbols->alias != NULL &&
        symbols->alias(symbols->context, own, want))
        return rule_explain(out, CAUSE_FOLDED, 0,
                            arena_printf(keep, "%s and %s are one function at %s",
                                         rule_name(own->function), want, rule_where(own, keep)));
    if (other == NULL || own->function == NULL || other->function == NULL ||
        other->inline_depth > 0 || own->symbol_distance == 0 ||
        own->symbol_distance != other->symbol_distance || own->symbols == SYMBOLS_EXPORT)
        return false;
    return rule_explain(
        out, CAUSE_FOLDED, 0,
        arena_printf(keep, "%s and %s start at the same address, 0x%" PRIx64 " before %s",
                     own->function, other->function, own->symbol_distance, rule_where(own, keep)));
}

static bool has_line(const uint32_t *lines, uint32_t count, uint32_t line)
{
    for (uint32_t i = 0; i < count; i++)
        if (lines[i] == line)
            return true;
    return false;
}

/* How far before and after a place a reader may have taken its row from. */
enum { ROWS_BEFORE_BYTES = 2048, ROWS_AFTER_BYTES = 64 };

/* The place nearest to HOST's lookup address where our symbols give FUNCTION that line; false:
 * there is none in reach.  *APART: bytes from the lookup address. */
static bool find_near(const struct compare_symbols *symbols, const struct frame *host,
                      const char *function, uint32_t line, int64_t *apart)
{
    struct frame asked[SYMBOLS_ASKED_MAX];
    const uint64_t offset = frame_lookup_offset(host);
    for (int64_t step = 1; step <= ROWS_BEFORE_BYTES; step++)
        for (int sign = -1; sign <= 1; sign += 2) {
            if ((sign < 0 && (uint64_t)step > offset) || (sign > 0 && step > ROWS_AFTER_BYTES))
                continue;
            *apart = sign * step;
            const uint32_t frames = symbols->at(symbols->context, host, offset + (uint64_t)*apart,
                                                asked, SYMBOLS_ASKED_MAX);
            for (uint32_t i = 0; i < frames; i++)
                if (asked[i].line == line && compare_names(asked[frames - 1].function, function))
                    return true;
        }
    return false;
}

/* A judge shows the line of another row: of the one before or after the address, or of one before
 * the code of a function that was inlined there, where its call has a line of its own. */
static bool takes_other_row(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const struct frame *judged = rule_mine(d), *host = rule_host(d, d->column);
    const struct engine_claim *claim = d->table->columns[d->column].claim;
    const struct compare_symbols *symbols = d->in->symbols;
    struct frame asked[SYMBOLS_ASKED_MAX];
    uint32_t lines[LINES_ASKED_MAX];
    int64_t apart = 0;
    if (claim->kind != ENGINE_KIND_JUDGE || judged == NULL || judged->line == 0 || host == NULL ||
        symbols == NULL || symbols->at == NULL)
        return false;
    const uint32_t frames =
        symbols->at(symbols->context, host, frame_lookup_offset(host), asked, SYMBOLS_ASKED_MAX);
    if (frames == 0 || asked_holds(asked, frames, judged->function, judged->line))
        return false;
    const uint32_t count =
        symbols->lines != NULL ? symbols->lines(symbols->context, host, lines, LINES_ASKED_MAX) : 0;
    if (count > 1 && has_line(lines, count, judged->line))
        return rule_explain(out, CAUSE_LINE_TABLE, d->against == 0 ? d->column : 0,
                            arena_printf(keep,
                                         "%s: its line table has %" PRIu32
                                         " rows for one address; %s shows line %" PRIu32,
                                         rule_where(host, keep), count, claim->engine,
                                         judged->line));
    if (!find_near(symbols, host, asked[frames - 1].function, judged->line, &apart))
        return false;
    return rule_explain(
        out, CAUSE_LINE_TABLE, d->against == 0 ? d->column : 0,
        arena_printf(
            keep, "%s: %s shows line %" PRIu32 " for %s, which its line table has %d bytes %s",
            rule_where(host, keep), claim->engine, judged->line, rule_name(judged->function),
            (int)(apart < 0 ? -apart : apart), apart < 0 ? "earlier" : "later"));
}

/* DWARF's tables may give one address several lines.  The last one counts; some readers keep the
 * first one, and use it for the caller of an inlined function as well. */
bool because_line_table(const struct difference *d, struct arena *keep, struct explanation *out)
{
    const struct frame *own = rule_mine(d), *other = rule_theirs(d),
                       *host = rule_host(d, d->column);
    const struct compare_symbols *symbols = d->in->symbols;
    uint32_t lines[LINES_ASKED_MAX];
    if (d->mark != CELL_LINE)
        return false;
    if (own == NULL || other == NULL || host == NULL || symbols == NULL || symbols->lines == NULL ||
        symbols->at == NULL || own->line == 0 || other->line == 0)
        return takes_other_row(d, keep, out);
    const uint32_t count = symbols->lines(symbols->context, host, lines, LINES_ASKED_MAX);
    struct frame asked[SYMBOLS_ASKED_MAX];
    const uint32_t frames =
        symbols->at(symbols->context, host, frame_lookup_offset(host), asked, SYMBOLS_ASKED_MAX);
    const bool own_counts = asked_holds(asked, frames, own->function, own->line);
    const struct frame *odd = own_counts ? other : own;
    if (count < 2 || own_counts == asked_holds(asked, frames, other->function, other->line) ||
        !has_line(lines, count, odd->line))
        return takes_other_row(d, keep, out);
    return rule_explain(out, CAUSE_LINE_TABLE, 0,
                        arena_printf(keep,
                                     "%s: its line table has %" PRIu32
                                     " rows for one address; %s has line %" PRIu32
                                     ", %s line %" PRIu32,
                                     rule_where(host, keep), count, rule_engine(d, d->column),
                                     own->line, rule_engine(d, d->against), other->line));
}
