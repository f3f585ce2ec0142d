/* Reads cases, with everything that was written: see store.h. */
#include <string.h>

#include "base/array.h"
#include "store/statements.h"

enum { MODULE_SLOTS = 256 };

struct reader {
    struct store *store;
    struct arena *keep;
    struct fault *fault;
    struct run_case *c;
    uint64_t module_ids[MODULE_SLOTS]; /* one struct per module, however many frames name it */
    const struct module *modules[MODULE_SLOTS];
};

static void bind_case_filter(struct query *q, const struct case_query *query)
{
    query_id(q, query->run_id);
    query_text(q, query->scenario);
    query_text(q, query->variant);
    query_text(q, case_kind_name(query->kind));
    query_text(q, query->verdict != NULL ? verdict_name(*query->verdict) : NULL);
    query_text(q, query->cause != NULL ? cause_name(*query->cause) : NULL);
    query_text(q, query->search);
}

enum status store_list_cases(struct store *store, const struct case_query *query,
                             struct arena *keep, struct case_page *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    uint32_t limit = query->limit == 0 ? STORE_PAGE_DEFAULT : query->limit;
    if (limit > STORE_PAGE_MAX)
        limit = STORE_PAGE_MAX;
    out->cases = ARENA_ARRAY(keep, (size_t)limit + 1, struct run_case);
    if (out->cases == NULL)
        return fault_no_memory(fault, "cases");
    struct text_pool own, *texts = query->texts != NULL ? query->texts : &own;
    text_pool_init(&own, keep);
    struct query q =
        query_begin(store, query->newest_first ? SQL_LIST_CASES_DOWN : SQL_LIST_CASES, keep, fault);
    q.texts = texts;
    bind_case_filter(&q, query);
    query_int(&q, query->after);
    query_int(&q, (uint64_t)limit + 1);
    while (out->count <= limit && query_row(&q))
        store_read_head(&q, &out->cases[out->count++]);
    (void)query_end(&q);
    if (out->count > limit) {
        out->count = limit;
        out->next = out->cases[limit - 1].id;
    }
    for (uint32_t i = 0; i < out->count && fault->code == ERR_NONE; i++) {
        struct run_case *const one = &out->cases[i];
        const struct case_set set = {store, &one, 1, keep, texts, fault};
        if (!query->without_scores)
            store_read_scores(&set);
        if (!query->without_findings)
            store_read_findings(&set);
    }
    struct query count = query_begin(store, SQL_COUNT_CASES, keep, fault);
    bind_case_filter(&count, query);
    if (query_row(&count))
        out->total = query_get(&count);
    return query_end(&count);
}

enum status store_list_all_cases(struct store *store, const struct case_query *query,
                                 struct arena *keep, struct run_case **cases, uint32_t *count,
                                 struct fault *fault)
{
    struct text_pool texts;
    struct case_query now = *query;
    uint32_t room = 0;
    text_pool_init(&texts, keep);
    now.limit = STORE_PAGE_MAX;
    now.texts = &texts;
    *cases = NULL;
    *count = 0;
    do {
        struct case_page page;
        if (store_list_cases(store, &now, keep, &page, fault) != ERR_NONE)
            return fault->code;
        if (*count == 0 && page.next == 0) { /* no copy of what is one page */
            *cases = page.cases;
            *count = page.count;
            return ERR_NONE;
        }
        const uint64_t wanted = (uint64_t)*count + page.count;
        if (!ARENA_ROOM(keep, *cases, room, wanted > page.total ? wanted : page.total + 1))
            return fault_no_memory(fault, "cases of a run");
        if (*cases != NULL)
            memcpy(*cases + *count, page.cases, page.count * sizeof **cases);
        *count += page.count;
        now.after = page.next;
    } while (now.after != 0);
    return ERR_NONE;
}

/* ---- one case whole ------------------------------------------------------------------- */

/* An id that is too long is none. */
static void read_id(struct query *q, char *out, size_t room)
{
    const char *id = query_get_text(q);
    if (id != NULL && strlen(id) < room)
        memcpy(out, id, strlen(id) + 1);
}

static const struct module *read_module(struct reader *r, struct query *q)
{
    const uint64_t id = query_get(q);
    const size_t slot = (size_t)(id % MODULE_SLOTS);
    if (id == 0)
        return NULL;
    if (r->module_ids[slot] == id)
        return r->modules[slot];
    struct module *m = ARENA_NEW(r->keep, struct module);
    if (m == NULL) {
        (void)fault_no_memory(r->fault, "case from the database");
        return NULL;
    }
    m->index = (uint32_t)query_get(q);
    m->name = query_get_text(q);
    m->path = query_get_text(q);
    m->pdb_name = query_get_text(q);
    read_id(q, m->code_id, sizeof m->code_id);
    read_id(q, m->debug_id, sizeof m->debug_id);
    read_id(q, m->mvid, sizeof m->mvid);
    m->path = m->path != NULL && m->path[0] != 0 ? m->path : NULL;
    m->pdb_name = m->pdb_name != NULL && m->pdb_name[0] != 0 ? m->pdb_name : NULL;
    m->base_va = query_get(q);
    m->image_bytes = query_get(q);
    m->loaded_at_ns = query_get(q);
    m->unloaded_at_ns = query_get(q);
    r->module_ids[slot] = id;
    r->modules[slot] = m;
    return m;
}

static struct align_cell *cell_at(struct thread_result *t, int64_t row, uint32_t column)
{
    if (t == NULL || row < 0 || row >= (int64_t)t->row_count || column >= t->column_count)
        return NULL;
    return &t->cells[(size_t)row * t->column_count + column];
}

static enum cell_mark as_mark(uint64_t number)
{
    return number < CELL_MARK_COUNT ? (enum cell_mark)number : CELL_UNJUDGED;
}

static enum cause as_cause(uint64_t number)
{
    return number < CAUSE_COUNT ? (enum cause)number : CAUSE_UNEXPLAINED;
}

/* Managed code: the method's token is kept in the upper half of the offset. */
static void split_method(struct frame *frame)
{
    enum { TABLE_SHIFT = 56, METHOD_TABLE = 6 };
    if (frame->module_name == NULL || frame->offset >> TABLE_SHIFT != METHOD_TABLE)
        return;
    frame->method_token = (uint32_t)(frame->offset >> 32);
    frame->offset &= UINT32_MAX;
}

static void read_frames(struct reader *r, uint64_t stack_id, struct stack *s,
                        struct thread_result *thread, uint32_t column)
{
    struct query q = query_with(r->store, SQL_READ_FRAMES, stack_id, r->keep, r->fault);
    uint32_t i = 0;
    for (; i < s->frame_count && query_row(&q); i++) {
        struct frame *f = &s->frames[i];
        f->index = (uint32_t)query_get(&q);
        f->inline_depth = (uint16_t)query_get(&q);
        f->kind = query_get(&q) == PC_INTERRUPTED ? PC_INTERRUPTED : PC_RETURN;
        const uint64_t found_by = query_get(&q), symbols = query_get(&q), class_ = query_get(&q);
        const uint64_t identity = query_get(&q);
        f->found_by = found_by <= FOUND_CFI ? (enum found_by)found_by : FOUND_GIVEN;
        f->symbols = symbols < SYMBOLS_COUNT ? (enum symbols_from)symbols : SYMBOLS_NONE;
        f->frame_class = class_ <= CLASS_GENERATED ? (enum frame_class)class_ : CLASS_NONE;
        f->identity =
            identity <= IDENTITY_AMBIGUOUS ? (enum identity_state)identity : IDENTITY_UNCHECKED;
        f->pc_va = query_get(&q);
        f->offset = query_get(&q);
        f->function = query_get_text(&q);
        f->file = query_get_text(&q);
        f->line = (uint32_t)query_get(&q);
        f->symbol_distance = query_get(&q);
        f->compiland = query_get_text(&q);
        const char *note = query_get_text(&q);
        f->module_name = query_get_text(&q);
        struct align_cell *cell = cell_at(thread, query_get_signed(&q), column);
        const uint64_t mark = query_get(&q), cause = query_get(&q);
        if (cell != NULL)
            *cell = (struct align_cell){(int32_t)i, as_mark(mark), as_cause(cause)};
        f->module = read_module(r, &q);
        if (f->module != NULL)
            f->module_name = f->module->name;
        split_method(f);
        frame_set_note_text(f, note);
    }
    s->frame_count = i;
    (void)query_end(&q);
}

/* Counts first, so that the stacks of each claim are in one array. */
struct stack_row {
    uint64_t id;
    int64_t thread;
    struct stack stack;
};

static void read_stack_row(struct query *q, struct stack_row *row, uint32_t *claim)
{
    struct stack *s = &row->stack;
    row->id = query_get(q);
    *claim = (uint32_t)query_get(q);
    row->thread = query_get_signed(q);
    s->label = query_get_text(q);
    s->thread_id = (uint32_t)query_get(q);
    s->thread_name = query_get_text(q);
    stack_set_role_text(s, query_get_text(q));
    s->state = store_stack_state(query_get(q));
    stack_set_stop_text(s, query_get_text(q));
    s->left_out = (uint32_t)query_get(q);
    s->sample = (uint32_t)query_get(q);
    s->walk_ns = query_get(q);
    s->stopped_ns = query_get(q);
    store_read_cost(q, &s->cost);
    s->frame_count = (uint32_t)query_get(q);
}

static bool claim_add_stack(struct reader *r, struct engine_claim *k, struct stack_row **rows,
                            uint32_t *room, const struct stack_row *row)
{
    if (!store_grow(rows, k->stack_count, room, sizeof **rows, r->keep, r->fault))
        return false;
    (*rows)[k->stack_count++] = *row;
    return true;
}

static void read_stacks(struct reader *r)
{
    struct run_case *c = r->c;
    struct stack_row *rows[CLAIMS_MAX] = {NULL};
    uint32_t room[CLAIMS_MAX] = {0};
    struct query q = query_with(r->store, SQL_READ_STACKS, c->id, r->keep, r->fault);
    while (query_row(&q)) {
        struct stack_row row = {.id = 0};
        uint32_t claim = 0;
        read_stack_row(&q, &row, &claim);
        if (claim < c->claim_count &&
            !claim_add_stack(r, &c->claims[claim], &rows[claim], &room[claim], &row))
            break;
    }
    (void)query_end(&q);
    for (uint32_t k = 0; k < c->claim_count && r->fault->code == ERR_NONE; k++) {
        struct engine_claim *claim = &c->claims[k];
        claim->stacks = ARENA_ARRAY(r->keep, (size_t)claim->stack_count + 1, struct stack);
        for (uint32_t i = 0; rows[k] != NULL && claim->stacks != NULL && i < claim->stack_count;
             i++) {
            struct stack *s = &claim->stacks[i];
            *s = rows[k][i].stack;
            s->engine = claim->engine;
            s->frames = ARENA_ARRAY(r->keep, (size_t)s->frame_count + 1, struct frame);
            struct thread_result *thread = NULL;
            if (rows[k][i].thread >= 0 && rows[k][i].thread < (int64_t)c->result.thread_count)
                thread = &c->result.threads[rows[k][i].thread];
            if (s->frames == NULL) {
                (void)fault_no_memory(r->fault, "case from the database");
                return;
            }
            if (thread != NULL)
                thread->stacks[k] = s;
            read_frames(r, rows[k][i].id, s, thread, k + 1);
            store_read_evidence(r->store, rows[k][i].id, s, r->keep, r->fault);
        }
        if (claim->stacks == NULL)
            (void)fault_no_memory(r->fault, "case from the database");
    }
}

static void read_truth_frames(struct reader *r, struct truth_thread *t, uint32_t position,
                              struct thread_result *thread)
{
    t->frames = ARENA_ARRAY(r->keep, (size_t)t->frame_count + 1, struct truth_frame);
    if (t->frames == NULL) {
        (void)fault_no_memory(r->fault, "case from the database");
        return;
    }
    struct query q = query_with(r->store, SQL_READ_TRUTH_FRAMES, r->c->id, r->keep, r->fault);
    query_int(&q, position);
    for (uint32_t i = 0; i < t->frame_count && query_row(&q); i++) {
        struct truth_frame *f = &t->frames[i];
        f->function = query_get_text(&q);
        f->file = query_get_text(&q);
        f->line = (uint32_t)query_get(&q);
        f->tail = query_get(&q) != 0;
        f->gap = truth_gap_parse(query_get_text(&q));
        f->gap_count = (uint32_t)query_get(&q);
        struct align_cell *cell = cell_at(thread, query_get_signed(&q), 0);
        if (cell != NULL)
            *cell = (struct align_cell){(int32_t)i, CELL_UNJUDGED, CAUSE_NONE};
    }
    (void)query_end(&q);
}

static void read_truth(struct reader *r, const int32_t *truth_of_thread)
{
    struct truth *truth = ARENA_NEW(r->keep, struct truth);
    if (truth == NULL) {
        (void)fault_no_memory(r->fault, "case from the database");
        return;
    }
    struct query q = query_with(r->store, SQL_READ_TRUTH_THREADS, r->c->id, r->keep, r->fault);
    struct truth_thread *t;
    while ((t = query_row_of(&q, &truth->threads, &truth->thread_count, sizeof *t)) != NULL) {
        t->id = (uint32_t)query_get(&q);
        t->role = thread_role_parse(query_get_text(&q), &t->role_word);
        t->frame_count = (uint32_t)query_get(&q);
    }
    (void)query_end(&q);
    for (uint32_t i = 0; i < truth->thread_count && r->fault->code == ERR_NONE; i++) {
        struct thread_result *thread = NULL;
        for (uint32_t k = 0; k < r->c->result.thread_count; k++)
            if (truth_of_thread[k] == (int32_t)i)
                thread = &r->c->result.threads[k];
        read_truth_frames(r, &truth->threads[i], i, thread);
        if (thread != NULL)
            thread->truth = &truth->threads[i];
    }
    r->c->truth = truth;
}

static int32_t *read_threads(struct reader *r)
{
    struct case_result *out = &r->c->result;
    int32_t *truths = NULL;
    uint32_t room = 0;
    struct query q = query_with(r->store, SQL_READ_THREADS, r->c->id, r->keep, r->fault);
    struct thread_result *t;
    while ((t = query_row_of(&q, &out->threads, &out->thread_count, sizeof *t)) != NULL &&
           store_grow(&truths, out->thread_count, &room, sizeof *truths, r->keep, r->fault)) {
        t->thread_id = (uint32_t)query_get(&q);
        t->name = query_get_text(&q);
        t->role = thread_role_parse(query_get_text(&q), &t->role_word);
        truths[out->thread_count - 1] = (int32_t)query_get_signed(&q);
        t->reference = (uint32_t)query_get(&q);
        t->row_count = (uint32_t)query_get(&q);
        t->column_count = r->c->claim_count + 1;
        t->stacks = ARENA_ARRAY(r->keep, t->column_count, const struct stack *);
        t->cells =
            ARENA_ARRAY(r->keep, (size_t)t->row_count * t->column_count + 1, struct align_cell);
        if (t->stacks == NULL || t->cells == NULL) {
            (void)fault_no_memory(r->fault, "case from the database");
            break;
        }
        for (size_t i = 0; i < (size_t)t->row_count * t->column_count; i++)
            t->cells[i].frame = -1;
    }
    (void)query_end(&q);
    return truths;
}

static void read_gaps(struct reader *r)
{
    for (uint32_t i = 0; i < r->c->result.thread_count; i++) {
        struct query q = query_with(r->store, SQL_READ_GAPS, r->c->id, r->keep, r->fault);
        query_int(&q, i);
        while (query_row(&q)) {
            const int64_t row = query_get_signed(&q);
            struct align_cell *cell =
                cell_at(&r->c->result.threads[i], row, (uint32_t)query_get(&q));
            const uint64_t mark = query_get(&q), cause = query_get(&q);
            if (cell != NULL)
                *cell = (struct align_cell){-1, as_mark(mark), as_cause(cause)};
        }
        (void)query_end(&q);
    }
}

enum status store_read_case(struct store *store, uint64_t case_id, struct arena *keep,
                            struct run_case *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    bool has_truth = false;
    struct query q = store_begin_range(store, SQL_READ_CASE, case_id, case_id, keep, fault);
    if (query_row(&q)) {
        store_read_head(&q, out);
        has_truth = query_get(&q) != 0;
    }
    if (query_end(&q) != ERR_NONE)
        return fault->code;
    if (out->id == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "case");
    struct reader r = {.store = store, .keep = keep, .fault = fault, .c = out};
    const struct case_set set = {store, &out, 1, keep, NULL, fault};
    store_read_scores(&set);
    store_read_findings(&set);
    if (fault->code != ERR_NONE)
        return fault->code;
    const int32_t *truths = read_threads(&r);
    if (fault->code == ERR_NONE)
        read_stacks(&r);
    if (fault->code == ERR_NONE && has_truth)
        read_truth(&r, truths);
    read_gaps(&r);
    return store_read_files(store, out, keep, fault);
}

enum status store_read_parts(struct store *store, uint64_t case_id, unsigned parts,
                             struct arena *keep, struct run_case *out, struct fault *fault)
{
    return (parts & CASE_STACKS) != 0
               ? store_read_case(store, case_id, keep, out, fault)
               : store_read_batch(store, &case_id, 1, parts, keep, out, fault);
}

enum status store_list_case_ids(struct store *store, uint64_t run_id, struct arena *keep,
                                uint64_t **out, uint32_t *count, struct fault *fault)
{
    struct row {
        uint64_t repeat, id;
    } *rows, *row;
    struct arena scratch;
    uint32_t row_count;
    *out = NULL;
    *count = 0;
    arena_init(&scratch, 0);
    struct query q = query_with(store, SQL_LIST_CASE_IDS, run_id, &scratch, fault);
    while ((row = query_row_of(&q, &rows, &row_count, sizeof *row)) != NULL) {
        row->repeat = query_get(&q);
        row->id = query_get(&q);
    }
    if (query_end(&q) == ERR_NONE) {
        /* The index has the names in order, which equal numbers keep. */
        array_sort_numbers(rows, row_count, sizeof *rows);
        *out = ARENA_ARRAY(keep, (size_t)row_count + 1, uint64_t);
        *count = *out != NULL ? row_count : 0;
        if (*out == NULL)
            (void)fault_no_memory(fault, "cases of a run");
        for (uint32_t i = 0; i < *count; i++)
            (*out)[i] = rows[i].id;
    }
    arena_free(&scratch);
    return fault->code;
}

enum status store_find_case(struct store *store, uint64_t run_id, const char *scenario,
                            const char *variant, uint32_t repeat, uint64_t *case_id,
                            struct fault *fault)
{
    struct query q = query_with(store, SQL_FIND_CASE, run_id, NULL, fault);
    query_text(&q, scenario);
    query_text(&q, variant);
    query_int(&q, repeat);
    *case_id = query_row(&q) ? query_get(&q) : 0;
    if (query_end(&q) != ERR_NONE)
        return fault->code;
    return *case_id != 0 ? ERR_NONE : fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "case");
}
