/* See run_lists.h. */
#include "study/run_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "store/archive.h"

/* ---- what named the frames ------------------------------------------------------------ */

/* Best first: full names and lines, then names alone, then none. */
static const enum symbols_from best_first[] = {
    SYMBOLS_PDB,    SYMBOLS_PPDB,       SYMBOLS_DWARF,           SYMBOLS_BREAKPAD, SYMBOLS_CSV,
    SYMBOLS_JIT,    SYMBOLS_PDB_PUBLIC, SYMBOLS_BREAKPAD_PUBLIC, SYMBOLS_SYMTAB,   SYMBOLS_COFF,
    SYMBOLS_EXPORT, SYMBOLS_NEAREST,    SYMBOLS_MISMATCH,        SYMBOLS_NONE};
_Static_assert(COUNT_OF(best_first) == SYMBOLS_COUNT, "each kind of symbols has its place");

static size_t place_of(enum symbols_from symbols)
{
    size_t at = 0;
    while (at < COUNT_OF(best_first) && best_first[at] != symbols)
        at++;
    return at;
}

static int by_quality(const void *a, const void *b)
{
    const size_t x = place_of(((const struct symbol_row *)a)->symbols);
    const size_t y = place_of(((const struct symbol_row *)b)->symbols);
    return (x > y) - (x < y);
}

static bool is_of(const struct named_module *module, const struct symbol_row *row)
{
    return text_equal(module->module, row->module) && text_equal(module->code_id, row->code_id) &&
           text_equal(module->debug_id, row->debug_id);
}

static bool is_listed(const struct named_module *modules, uint32_t count,
                      const struct symbol_row *row)
{
    uint32_t at = 0;
    while (at < count && !is_of(&modules[at], row))
        at++;
    return at < count;
}

enum status named_modules_make(const struct symbol_row *rows, uint32_t count, struct arena *keep,
                               struct named_module **out, uint32_t *out_count, struct fault *fault)
{
    struct named_module *list = ARENA_ARRAY(keep, (size_t)count + 1, struct named_module);
    struct symbol_row *sources = ARENA_ARRAY(keep, (size_t)count + 1, struct symbol_row);
    uint32_t modules = 0;
    if (list == NULL || sources == NULL)
        return fault_no_memory(fault, "lists of a run");
    for (uint32_t i = 0; i < count; i++) {
        struct named_module m = {.module = rows[i].module,
                                 .code_id = rows[i].code_id,
                                 .debug_id = rows[i].debug_id,
                                 .sources = sources};
        if (is_listed(list, modules, &rows[i]))
            continue;
        for (uint32_t k = i; k < count; k++) {
            if (!is_of(&m, &rows[k]))
                continue;
            m.frames += rows[k].frames;
            m.inlined += rows[k].inlined;
            sources[m.source_count++] = rows[k];
        }
        array_sort(sources, m.source_count, sizeof *sources, by_quality);
        sources += m.source_count;
        list[modules++] = m;
    }
    *out = list;
    *out_count = modules;
    return ERR_NONE;
}

void named_modules_write_json(struct json *j, const struct named_module *modules, uint32_t count)
{
    json_array(j);
    for (uint32_t i = 0; i < count; i++) {
        const struct named_module *m = &modules[i];
        json_object(j);
        json_key_string(j, "module", m->module);
        json_key_string(j, "code_id", m->code_id);
        json_key_string(j, "debug_id", m->debug_id);
        json_key_uint(j, "frames", m->frames);
        json_key_uint(j, "inlined", m->inlined);
        json_key_array(j, "sources");
        for (uint32_t k = 0; k < m->source_count; k++) {
            json_object(j);
            json_key_string(j, "symbols", symbols_from_name(m->sources[k].symbols));
            json_key_uint(j, "frames", m->sources[k].frames);
            json_key_uint(j, "inlined", m->sources[k].inlined);
            json_object_end(j);
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static int by_frames(const void *a, const void *b)
{
    const struct symbol_row *x = a, *y = b;
    if (x->frames != y->frames)
        return x->frames < y->frames ? 1 : -1;
    const int order = strcmp(x->module, y->module);
    return order != 0 ? order
                      : strcmp(symbols_from_name(x->symbols), symbols_from_name(y->symbols));
}

enum status symbol_rows_sum(const struct symbol_row *rows, uint32_t count, struct arena *keep,
                            struct symbol_row **out, uint32_t *out_count, struct fault *fault)
{
    *out_count = 0;
    *out = ARENA_ARRAY(keep, (size_t)count + 1, struct symbol_row);
    if (*out == NULL)
        return fault_no_memory(fault, "lists of a run");
    for (uint32_t i = 0; i < count; i++) {
        const char *module = rows[i].module != NULL ? rows[i].module : "(no module)";
        uint32_t at = 0;
        while (at < *out_count &&
               (strcmp((*out)[at].module, module) != 0 || (*out)[at].symbols != rows[i].symbols))
            at++;
        if (at == *out_count)
            (*out)[(*out_count)++] =
                (struct symbol_row){.module = module, .symbols = rows[i].symbols};
        (*out)[at].frames += rows[i].frames;
        (*out)[at].inlined += rows[i].inlined;
    }
    array_sort(*out, *out_count, sizeof **out, by_frames);
    return ERR_NONE;
}

/* ---- signatures ----------------------------------------------------------------------- */

ARRAY_ORDER_TEXT(by_signature, struct run_case, result.signature)

static int by_cases(const void *a, const void *b)
{
    const struct case_signature *x = a, *y = b;
    if (x->case_count != y->case_count)
        return x->case_count < y->case_count ? 1 : -1;
    return by_signature(x->cases, y->cases);
}

static int is_signature(const void *text, const void *row)
{
    return strcmp(text, ((const struct signature_row *)row)->signature);
}

static enum status group(struct run_case *cases, uint32_t count, struct arena *keep,
                         struct case_signature **out, uint32_t *groups, struct fault *fault)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].result.signature != NULL)
            cases[kept++] = cases[i];
    array_sort(cases, kept, sizeof *cases, by_signature);
    *groups = 0;
    *out = ARENA_ARRAY(keep, (size_t)kept + 1, struct case_signature);
    if (*out == NULL)
        return fault_no_memory(fault, "lists of a run");
    for (uint32_t i = 0; i < kept; i++) {
        if (i == 0 || by_signature(&cases[i - 1], &cases[i]) != 0)
            (*out)[(*groups)++].cases = &cases[i];
        (*out)[*groups - 1].case_count++;
    }
    array_sort(*out, *groups, sizeof **out, by_cases);
    return ERR_NONE;
}

enum status case_signatures_make(struct store *store, uint64_t run_id, struct arena *keep,
                                 struct case_signature **out, uint32_t *count, struct fault *fault)
{
    struct run_case *cases = NULL;
    struct signature_row *rows = NULL;
    uint32_t case_count = 0, row_count = 0;
    if (store_read_outcomes(store, run_id, keep, &cases, &case_count, fault) != ERR_NONE ||
        store_read_signatures(store, run_id, keep, &rows, &row_count, fault) != ERR_NONE ||
        group(cases, case_count, keep, out, count, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < *count && row_count > 0; i++) {
        struct case_signature *s = &(*out)[i];
        const struct signature_row *row =
            bsearch(s->cases->result.signature, rows, row_count, sizeof *rows, is_signature);
        s->first_run = row != NULL ? row->first_run_id : 0; /* a run was stored between two reads */
        s->rank_before = row != NULL ? row->rank_before : 0;
    }
    return ERR_NONE;
}

/* ---- acceptances ---------------------------------------------------------------------- */

enum status acceptance_hits(struct store *store, uint64_t run_id, const struct known_list *list,
                            struct arena *keep, uint32_t **out, struct fault *fault)
{
    struct run_case *cases = NULL;
    uint32_t count = 0;
    *out = ARENA_ARRAY(keep, (size_t)list->count + 1, uint32_t);
    if (*out == NULL)
        return fault_no_memory(fault, "lists of a run");
    if (list->count == 0)
        return ERR_NONE;
    if (store_read_outcomes(store, run_id, keep, &cases, &count, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < list->count && cases[i].result.verdict == VERDICT_XFAIL; k++)
            (*out)[k] += text_equal(cases[i].known_id, list->items[k].id);
    return ERR_NONE;
}
