/* See blame_evidence.h. */
#include "compare/blame_evidence.h"

#include "compare/mismatch.h"
#include "compare/same_names.h"

enum {
    ROWS_APART_MAX = 16, /* the two frames of one place are in different rows, but close together */
};

/* ---- modules -------------------------------------------------------------------------- */

static bool holds_place(const struct column *column, const struct frame_key *key)
{
    for (uint32_t i = 0; i < column->count; i++)
        if (keys_same_place(&column->keys[i], key))
            return true;
    return false;
}

/* The walks, as bits, that take no frames from the record and have KEY's place. */
static uint32_t witnesses_of(const struct table *t, const struct frame_key *key)
{
    uint32_t witnesses = 0;
    for (uint32_t c = 1; c < t->column_count; c++)
        if (t->columns[c].claim->kind != ENGINE_KIND_OFFSET &&
            (engine_claim_parts(t->columns[c].claim) & ENGINE_SHARES_RECORD_FRAMES) == 0 &&
            holds_place(&t->columns[c], key))
            witnesses |= 1U << c;
    return witnesses;
}

static bool lies_in_module(const struct frame *frame)
{
    const struct module *module = frame->module;
    return module != NULL && frame->pc_va >= module->base_va &&
           frame->pc_va - module->base_va < module->image_bytes;
}

/* True when the dump's frame in ROW of column DUMP is the one that MINE is meant to be. */
static bool is_same_in_dump(const struct table *t, uint32_t column, uint32_t dump, uint32_t row,
                            const struct frame *mine, const struct frame_key *key)
{
    const struct frame *theirs = table_frame(t, row, dump);
    const struct frame_key *other = table_key(t, row, dump);
    return theirs != NULL && other->inline_depth == 0 && other->offset == key->offset &&
           other->module != key->module && theirs->kind == mine->kind && lies_in_module(theirs) &&
           theirs->pc_va != mine->pc_va && !compare_names(mine->function, theirs->function) &&
           witnesses_of(t, key) == 0 && !holds_place(&t->columns[column], other);
}

uint32_t evidence_of_modules(const struct table *t, uint32_t column)
{
    uint32_t witnesses = 0;
    if (column == 0 || t->columns[column].claim->kind != ENGINE_KIND_OFFSET)
        return 0;
    for (uint32_t row = 0; row < t->row_count; row++) {
        const struct frame *mine = table_frame(t, row, column);
        const struct frame_key *key = table_key(t, row, column);
        if (mine == NULL || key->inline_depth != 0 || mine->module == NULL || mine->pc_va == 0)
            continue;
        const uint32_t start = row > ROWS_APART_MAX ? row - ROWS_APART_MAX : 0;
        for (uint32_t c = 1; c < t->column_count; c++)
            for (uint32_t r = start; t->columns[c].claim->kind == ENGINE_KIND_DUMP &&
                                     r < t->row_count && r <= row + ROWS_APART_MAX;
                 r++)
                if (is_same_in_dump(t, column, c, r, mine, key))
                    witnesses |= witnesses_of(t, table_key(t, r, c));
    }
    return witnesses;
}

/* ---- lookups -------------------------------------------------------------------------- */

static bool is_truths(const struct compare_input *in, const struct truth_frame *truth,
                      const struct frame *frame)
{
    const char *root = in->crash != NULL ? in->crash->own.source_root : NULL;
    return compare_names(truth->function, frame->function) &&
           (truth->line == 0 || truth->line == frame->line) &&
           (truth->file == NULL || compare_files(truth->file, frame->file, root, true));
}

bool evidence_of_late_lookup(const struct compare_input *in, const struct table *t, uint32_t row,
                             uint32_t column)
{
    const struct truth_frame *truth = table_truth(t, row);
    const struct frame *host = NULL;
    const struct frame_key *place = NULL;
    struct frame asked[SYMBOLS_ASKED_MAX];
    if (column == 0 || truth == NULL || truth->gap != TRUTH_GAP_NONE || truth->tail ||
        in->symbols == NULL || in->symbols->at == NULL ||
        (engine_claim_parts(t->columns[column].claim) & ENGINE_SHARES_SYMBOLS) == 0)
        return false;
    for (uint32_t r = row; r < t->row_count && host == NULL; r++) {
        host = table_frame(t, r, column);
        place = table_key(t, r, column);
    }
    if (host == NULL || host->kind != PC_RETURN || host->module == NULL || host->offset == 0 ||
        host->method_token != 0)
        return false;
    const struct column *c = &t->columns[column];
    for (uint32_t i = 0; i < c->count; i++)
        if (keys_same_place(&c->keys[i], place) && is_truths(in, truth, &c->stack->frames[i]))
            return false;
    const uint32_t count = in->symbols->at(in->symbols->context, host, rule_lookup_offset(host),
                                           asked, SYMBOLS_ASKED_MAX);
    for (uint32_t i = 0; i < count; i++)
        if (is_truths(in, truth, &asked[i]))
            return true;
    return false;
}

/* ---- walks ---------------------------------------------------------------------------- */

uint32_t evidence_of_stray_walk(const struct table *t, uint32_t row, uint32_t column)
{
    const struct column *mine = &t->columns[column];
    const struct truth_frame *truth = table_truth(t, row);
    if (column == 0 || mine->stack == NULL || mine->count == 0 ||
        !rule_is_made_up(&mine->stack->frames[mine->count - 1]))
        return 0;
    for (uint32_t r = row; r < t->row_count; r++) {
        const struct frame *frame = table_frame(t, r, column);
        if (frame != NULL && !rule_is_made_up(frame))
            return 0;
    }
    uint32_t witnesses = truth != NULL && truth->gap == TRUTH_GAP_NONE && !truth->tail ? 1U : 0;
    for (uint32_t c = 1; c < t->column_count; c++) {
        const struct frame *frame = table_frame(t, row, c);
        if (c != column && frame != NULL && frame->module != NULL)
            witnesses |= 1U << c;
    }
    return witnesses;
}

bool evidence_of_first_kind(const struct crash_case *crash, enum pc_kind *kind)
{
    const uint32_t faults = HOOK_BIT(CASE_HOOK_VECTORED) | HOOK_BIT(CASE_HOOK_UNHANDLED);
    const uint32_t calls = HOOK_BIT(CASE_HOOK_SIGABRT) | HOOK_BIT(CASE_HOOK_INVALID_PARAMETER) |
                           HOOK_BIT(CASE_HOOK_PURE_CALL) | HOOK_BIT(CASE_HOOK_TERMINATE);
    const uint32_t hooks = crash != NULL && crash->kind == CASE_KIND_CRASH ? crash->got.hooks : 0;
    *kind = (hooks & calls) != 0 ? PC_RETURN : PC_INTERRUPTED;
    return hooks != 0 && (hooks & ~(faults | calls)) == 0 &&
           ((hooks & faults) == 0) != ((hooks & calls) == 0);
}

bool evidence_of_its_file(const struct crash_case *crash, const struct engine_claim *claim)
{
    const enum case_role role = claim->kind == ENGINE_KIND_DUMP ? ROLE_DUMP : ROLE_RECORD;
    const struct case_file *file =
        crash != NULL && claim->kind != ENGINE_KIND_JUDGE ? case_file(crash, role) : NULL;
    return file != NULL && file->bytes > 0;
}

bool evidence_of_misalignment(const struct table *t, uint32_t a, uint32_t b)
{
    const struct column *x = &t->columns[a], *y = &t->columns[b];
    if (a == 0 || b == 0 || x->count != y->count || x->count == 0)
        return false;
    for (uint32_t i = 0; i < x->count; i++)
        if (!keys_same_place(&x->keys[i], &y->keys[i]) ||
            x->stack->frames[i].kind != y->stack->frames[i].kind ||
            x->keys[i].inline_depth != y->keys[i].inline_depth)
            return false;
    return true;
}

/* ---- symbols -------------------------------------------------------------------------- */

bool evidence_states_no_symbols(const struct frame *frame)
{
    const enum frame_note note = frame->note;
    return note == NOTE_NO_SYMBOL_FILE || note == NOTE_PDB_UNSUPPORTED ||
           note == NOTE_PDB_DAMAGED || note == NOTE_SYM_DAMAGED || note == NOTE_SEVERAL_BUILDS ||
           note == NOTE_SEVERAL_SYM_BUILDS ||
           ((frame->symbols == SYMBOLS_MISMATCH || frame_note_is_other_build(note)) &&
            note != NOTE_IMAGE_OTHER_PDB);
}

static bool is_named(const struct frame *frame)
{
    return frame->function != NULL && frame->symbols != SYMBOLS_EXPORT &&
           frame->symbols != SYMBOLS_NEAREST && frame->symbols != SYMBOLS_COFF;
}

static bool module_has_names(const struct column *column, const struct frame *of)
{
    for (uint32_t i = 0; i < column->count; i++)
        if (is_named(&column->stack->frames[i]) &&
            frames_same_module(&column->stack->frames[i], of))
            return true;
    return false;
}

const struct frame *evidence_of_no_symbols(const struct compare_input *in, const struct table *t,
                                           uint32_t column, struct arena *keep, const char **places)
{
    const struct column *c = &t->columns[column];
    const struct frame *missing = NULL;
    *places = NULL;
    for (uint32_t i = 0; column != 0 && i < c->count; i++) {
        const struct frame *frame = &c->stack->frames[i];
        const bool wrong = evidence_states_no_symbols(frame) && frame->note != NOTE_NO_SYMBOL_FILE;
        if (frame->module == NULL || is_named(frame) || !frame_in_own_image(in->crash, frame) ||
            (missing != NULL && !wrong))
            continue;
        if (frame->note == NOTE_IMAGE_OTHER_PDB)
            continue; /* the file is not missing: another one was asked for than the image names */
        const char *sought = NULL;
        if (in->symbols != NULL && in->symbols->sought != NULL)
            sought = in->symbols->sought(in->symbols->context, frame, keep);
        if ((sought == NULL && !evidence_states_no_symbols(frame)) || module_has_names(c, frame))
            continue;
        missing = frame;
        *places = sought;
        if (wrong) /* a file that is there and wrong says more than one that never was */
            break;
    }
    return missing;
}
