/* Writing cases: see store.h. A case is written whole or not at all. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "store/statements.h"

/* Row ids of this case's texts and modules, by pointer: most strings repeat and none moves. */
enum { MEMO_SLOTS = 1024 };

struct memo {
    const void *pointer[MEMO_SLOTS];
    uint64_t id[MEMO_SLOTS];
};

struct writer {
    struct store *store;
    struct fault *fault;
    uint64_t case_id;
    struct memo texts, modules;
};

static size_t memo_slot(const void *pointer)
{
    return (size_t)(((uintptr_t)pointer >> 3) * 2654435761u >> 7) % MEMO_SLOTS;
}

static uint64_t find_id(struct query *q)
{
    const uint64_t id = query_row(q) ? query_get(q) : 0;
    (void)query_end(q);
    return id;
}

static uint64_t text_id(struct writer *w, const char *text)
{
    const size_t slot = memo_slot(text);
    if (text == NULL || w->texts.pointer[slot] != text) {
        w->texts.id[slot] = store_text_id(w->store, text, w->fault);
        w->texts.pointer[slot] = text;
    }
    return w->texts.id[slot];
}

static void bind_module(struct query *q, const struct module *m)
{
    query_int(q, m->index);
    query_text(q, text_or_empty(m->name));
    query_text(q, text_or_empty(m->path));
    query_text(q, text_or_empty(m->pdb_name));
    query_text(q, m->code_id);
    query_text(q, m->debug_id);
    query_text(q, m->mvid);
    query_int(q, m->base_va);
    query_int(q, m->image_bytes);
    query_int(q, m->loaded_at_ns);
    query_int(q, m->unloaded_at_ns);
}

static uint64_t module_id(struct writer *w, const struct module *module)
{
    if (module == NULL)
        return 0;
    const size_t slot = memo_slot(module);
    if (w->modules.pointer[slot] == module)
        return w->modules.id[slot];
    struct query add = query_begin(w->store, SQL_ADD_MODULE, NULL, w->fault);
    bind_module(&add, module);
    (void)query_run(&add);
    struct query find = query_begin(w->store, SQL_FIND_MODULE, NULL, w->fault);
    bind_module(&find, module);
    const uint64_t id = find_id(&find);
    w->modules.pointer[slot] = module;
    w->modules.id[slot] = id;
    return id;
}

static void bind_cost(struct query *q, const struct engine_cost *c)
{
    query_int(q, c->open_ns);
    query_int(q, c->unwind_ns);
    query_int(q, c->load_ns);
    query_int(q, c->resolve_ns);
    query_int(q, c->total_ns);
    query_int(q, c->peak_bytes);
}

/* NOLINTBEGIN(bugprone-macro-parentheses) names of members */
#define BIND_BOOL(NAME) query_int(q, s->NAME);
#define BIND_U32(NAME) query_int(q, s->NAME);
#define BIND_U64(NAME) query_int(q, s->NAME);
#define BIND_ROW(NAME) query_signed(q, s->NAME);
#define BIND_FIELD(KIND, NAME, SUM) BIND_##KIND(NAME)
/* NOLINTEND(bugprone-macro-parentheses) */

static void bind_timing(struct query *q, const struct case_timing *s)
{
    CASE_TIMING_FIELDS(BIND_FIELD)
}

static void bind_score(struct query *q, const struct engine_score *s)
{
    ENGINE_SCORE_FIELDS(BIND_FIELD)
}

static void put_head(struct writer *w, uint64_t run_id, const struct run_case *c)
{
    char expected[HOOKS_TEXT_BYTES], got[HOOKS_TEXT_BYTES];
    struct query q = query_with(w->store, SQL_ADD_CASE, run_id, NULL, w->fault);
    query_text(&q, c->scenario);
    query_text(&q, c->variant);
    query_text(&q, cpu_name(c->arch));
    query_text(&q, case_kind_name(c->kind));
    query_int(&q, c->repeat);
    query_text(&q, c->folder);
    query_text(&q, c->case_sha256);
    query_text(&q, hooks_text(c->expected_hooks, expected));
    query_text(&q, hooks_text(c->got_hooks, got));
    query_int(&q, c->expected_code);
    query_int(&q, c->got_code);
    query_int(&q, c->expected_exit_code);
    query_int(&q, c->got_exit_code);
    query_int(&q, c->wall_ms);
    bind_timing(&q, &c->timing);
    query_text(&q, verdict_name(c->result.verdict));
    query_text(&q, c->result.reason);
    query_text(&q, c->result.right);
    query_text(&q, c->result.signature);
    query_text(&q, c->known_id);
    query_int(&q, c->truth != NULL);
    (void)query_run(&q);
    w->case_id = database_added(&w->store->database);
}

static void bind_parts(struct query *q, const struct way_parts *parts)
{
    query_int(q, parts->whole_ns);
    query_int(q, parts->open_ns);
    query_int(q, parts->unwind_ns);
    query_int(q, parts->load_ns);
    query_int(q, parts->resolve_ns);
    query_int(q, parts->own_ns);
    query_int(q, parts->even_ns);
    query_int(q, parts->odd_ns);
}

static void put_way(struct writer *w, enum case_way way, const struct way_cost *cost)
{
    struct query q = query_with(w->store, SQL_ADD_WAY, w->case_id, NULL, w->fault);
    query_text(&q, case_way_name(way));
    query_int(&q, cost->frames);
    query_int(&q, cost->same);
    bind_parts(&q, &cost->cold);
    bind_parts(&q, &cost->warm);
    query_int(&q, cost->first.whole_ns);
    query_int(&q, cost->first.even_ns);
    query_int(&q, cost->first.odd_ns);
    (void)query_run(&q);
}

static void put_claim(struct writer *w, const struct run_case *c, uint32_t i)
{
    static const struct engine_score none = {.state = STACK_SKIPPED, .first_divergence = -1};
    const struct engine_claim *k = &c->claims[i];
    const struct engine_score *s = i < c->result.score_count ? &c->result.scores[i] : &none;
    const uint64_t shares = text_id(w, k->shares);
    struct query q = query_with(w->store, SQL_ADD_CLAIM, w->case_id, NULL, w->fault);
    query_int(&q, i);
    query_text(&q, k->engine);
    query_text(&q, NULL); /* see SHARES in sql.c */
    query_text(&q, k->version);
    query_int(&q, k->subject);
    query_int(&q, k->skipped);
    query_text(&q, k->why);
    bind_cost(&q, &k->cost);
    query_int(&q, s->state);
    query_text(&q, s->reason);
    bind_score(&q, s);
    query_int(&q, k->cost.cold_ns);
    query_id(&q, shares);
    (void)query_run(&q);
}

/* The place of a stack in the alignment: the thread, and the cell of each frame. */
struct placed {
    int32_t thread; /* -1: the stack is not shown in any table */
    uint32_t column;
};

static struct placed place_of(const struct case_result *r, uint32_t claim,
                              const struct stack *stack)
{
    for (uint32_t t = 0; t < r->thread_count; t++)
        if (r->threads[t].stacks != NULL && r->threads[t].stacks[claim] == stack)
            return (struct placed){(int32_t)t, claim + 1};
    return (struct placed){-1, 0};
}

/* What frames of many stacks have in common: see version_11 in schema.c. */
struct site {
    uint64_t module_name, function, file, compiland, note; /* ids of texts; 0: none */
};

static void bind_site(struct query *q, const struct frame *f, const struct site *site)
{
    query_int(q, f->inline_depth);
    query_int(q, f->kind);
    query_int(q, f->found_by);
    query_int(q, f->symbols);
    query_int(q, f->frame_class);
    query_int(q, f->identity);
    query_int(q, site->module_name);
    query_int(q, FRAME_METHOD(f->method_token) | f->offset); /* see read_frames() */
    query_int(q, site->function);
    query_int(q, site->file);
    query_int(q, f->line);
    query_int(q, f->symbol_distance);
    query_int(q, site->compiland);
    query_int(q, site->note);
}

static uint64_t site_id(struct writer *w, const struct frame *f, bool has_module)
{
    char note[FRAME_NOTE_BYTES];
    const struct site site = {
        .module_name = has_module ? 0 : text_id(w, f->module_name),
        .function = text_id(w, f->function),
        .file = text_id(w, f->file),
        .compiland = text_id(w, f->compiland),
        /* By content: the words may be in NOTE, which is the same place for every frame. */
        .note = store_text_id(w->store, frame_note_text(f, note), w->fault)};
    struct query find = query_begin(w->store, SQL_FIND_SITE, NULL, w->fault);
    bind_site(&find, f, &site);
    const uint64_t known = find_id(&find);
    if (known != 0 || w->fault->code != ERR_NONE)
        return known;
    struct query add = query_begin(w->store, SQL_ADD_SITE, NULL, w->fault);
    bind_site(&add, f, &site);
    (void)query_run(&add);
    return database_added(&w->store->database);
}

/* True where the database can add module and offset to the address, in signed numbers. */
static bool is_pc_known(const struct frame *f)
{
    return f->module != NULL && f->method_token == 0 && f->offset <= UINT32_MAX &&
           f->module->base_va <= UINT64_C(0x7fff000000000000) &&
           f->pc_va == f->module->base_va + f->offset;
}

static void put_frame(struct writer *w, uint64_t stack_id, uint32_t position, const struct frame *f,
                      int64_t row, const struct align_cell *cell)
{
    const uint64_t module = module_id(w, f->module);
    const uint64_t site = site_id(w, f, module != 0);
    struct query q = query_with(w->store, SQL_ADD_FRAME, stack_id, NULL, w->fault);
    query_int(&q, position);
    query_int(&q, f->index);
    query_int(&q, site);
    query_id(&q, module);
    is_pc_known(f) ? query_id(&q, 0) : query_int(&q, f->pc_va);
    query_signed(&q, row);
    query_int(&q, cell != NULL ? cell->mark : CELL_UNJUDGED);
    query_int(&q, cell != NULL ? cell->cause : CAUSE_NONE);
    (void)query_run(&q);
}

static void put_stack(struct writer *w, const struct run_case *c, uint32_t claim, uint32_t position)
{
    const struct stack *s = &c->claims[claim].stacks[position];
    const struct placed placed = place_of(&c->result, claim, s);
    struct query q = query_with(w->store, SQL_ADD_STACK, w->case_id, NULL, w->fault);
    query_int(&q, claim);
    query_int(&q, position);
    query_signed(&q, placed.thread);
    query_text(&q, s->label);
    query_int(&q, s->thread_id);
    query_text(&q, s->thread_name);
    query_text(&q, stack_role_text(s));
    query_int(&q, s->state);
    query_text(&q, stack_stop_text(s));
    query_int(&q, s->left_out);
    query_int(&q, s->sample);
    query_int(&q, s->walk_ns);
    query_int(&q, s->stopped_ns);
    bind_cost(&q, &s->cost);
    query_int(&q, s->frame_count);
    (void)query_run(&q);
    const uint64_t id = database_added(&w->store->database);

    store_put_evidence(w->store, id, s, w->fault);
    uint32_t row = 0;
    const struct thread_result *t = placed.thread < 0 ? NULL : &c->result.threads[placed.thread];
    for (uint32_t i = 0; i < s->frame_count && w->fault->code == ERR_NONE; i++) {
        const struct align_cell *cell = NULL;
        if (t != NULL)
            while (row < t->row_count &&
                   thread_result_cell(t, row, placed.column)->frame < (int32_t)i)
                row++;
        if (t != NULL && row < t->row_count)
            cell = thread_result_cell(t, row, placed.column);
        put_frame(w, id, i, &s->frames[i], cell != NULL ? (int64_t)row : -1, cell);
    }
}

static void put_gaps(struct writer *w, const struct thread_result *t, uint32_t position)
{
    for (uint32_t row = 0; row < t->row_count; row++)
        for (uint32_t side = 0; side < t->column_count; side++) {
            const struct align_cell *cell = thread_result_cell(t, row, side);
            if (cell->frame >= 0 || (cell->mark == CELL_GAP && cell->cause == CAUSE_NONE))
                continue;
            struct query q = query_with(w->store, SQL_ADD_GAP, w->case_id, NULL, w->fault);
            query_int(&q, position);
            query_int(&q, row);
            query_int(&q, side);
            query_int(&q, cell->mark);
            query_int(&q, cell->cause);
            (void)query_run(&q);
        }
}

static int64_t truth_position(const struct run_case *c, const struct truth_thread *thread)
{
    for (uint32_t i = 0; c->truth != NULL && i < c->truth->thread_count; i++)
        if (&c->truth->threads[i] == thread)
            return (int64_t)i;
    return -1;
}

static void put_thread(struct writer *w, const struct run_case *c, uint32_t i)
{
    const struct thread_result *t = &c->result.threads[i];
    struct query q = query_with(w->store, SQL_ADD_THREAD, w->case_id, NULL, w->fault);
    query_int(&q, i);
    query_int(&q, t->thread_id);
    query_text(&q, t->name);
    query_text(&q, thread_role_name(t->role, t->role_word));
    query_signed(&q, truth_position(c, t->truth));
    query_int(&q, t->reference);
    query_int(&q, t->row_count);
    (void)query_run(&q);
    put_gaps(w, t, i);
}

/* The row of a truth frame in its thread's table; -1: that thread has none. */
static int64_t truth_row(const struct run_case *c, const struct truth_thread *thread,
                         uint32_t frame, uint32_t *from)
{
    for (uint32_t i = 0; i < c->result.thread_count; i++) {
        const struct thread_result *t = &c->result.threads[i];
        if (t->truth != thread)
            continue;
        for (; *from < t->row_count; (*from)++)
            if (thread_result_cell(t, *from, 0)->frame == (int32_t)frame)
                return (int64_t)*from;
    }
    return -1;
}

static void put_truth(struct writer *w, const struct run_case *c, uint32_t i)
{
    const struct truth_thread *t = &c->truth->threads[i];
    struct query q = query_with(w->store, SQL_ADD_TRUTH_THREAD, w->case_id, NULL, w->fault);
    query_int(&q, i);
    query_int(&q, t->id);
    query_text(&q, thread_role_name(t->role, t->role_word));
    (void)query_run(&q);
    uint32_t row = 0;
    for (uint32_t f = 0; f < t->frame_count && w->fault->code == ERR_NONE; f++) {
        const struct truth_frame *frame = &t->frames[f];
        struct query add = query_with(w->store, SQL_ADD_TRUTH_FRAME, w->case_id, NULL, w->fault);
        query_int(&add, i);
        query_int(&add, f);
        query_id(&add, text_id(w, frame->function));
        query_id(&add, text_id(w, frame->file));
        query_int(&add, frame->line);
        query_int(&add, frame->tail);
        query_text(&add, truth_gap_name(frame->gap));
        query_int(&add, frame->gap_count);
        query_signed(&add, truth_row(c, t, f, &row));
        (void)query_run(&add);
    }
}

static void put_finding(struct writer *w, const struct finding *f, uint32_t position)
{
    char blame[BLAME_TEXT_BYTES];
    const uint64_t evidence = store_text_id(w->store, f->evidence, w->fault);
    struct query q = query_with(w->store, SQL_ADD_FINDING, w->case_id, NULL, w->fault);
    query_int(&q, position);
    query_int(&q, f->level);
    const char *const texts[] = {cause_name(f->cause), f->engine, f->against, f->wrong};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        query_text(&q, texts[i]);
    query_signed(&q, f->frame_a);
    query_signed(&q, f->frame_b);
    query_int(&q, f->thread_id);
    query_int(&q, f->row);
    query_int(&q, f->fails);
    query_text(&q, NULL); /* see EVIDENCE in sql.c */
    query_text(&q, finding_blame_stored(f, blame));
    query_text(&q, f->witnesses);
    query_text(&q, f->module);
    query_text(&q, f->function);
    query_id(&q, evidence);
#define PUT_FACT(NAME) query_text(&q, f->facts.NAME);
#define PUT_NUMBER(TYPE, NAME) query_int(&q, (uint64_t)f->facts.NAME);
    FINDING_FACTS(PUT_FACT, PUT_NUMBER)
#undef PUT_FACT
#undef PUT_NUMBER
    (void)query_run(&q);
}

enum status store_put_case(struct store *store, uint64_t run_id, struct run_case *c,
                           struct fault *fault)
{
    struct writer w = {.store = store, .fault = fault};
    if (store_demand_running(store, run_id, fault) != ERR_NONE ||
        database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    put_head(&w, run_id, c);
    for (int way = 0; c->ways != NULL && way < WAY_COUNT && fault->code == ERR_NONE; way++)
        if (c->ways[way].frames > 0)
            put_way(&w, (enum case_way)way, &c->ways[way]);
    for (uint32_t i = 0; i < c->claim_count && fault->code == ERR_NONE; i++) {
        put_claim(&w, c, i);
        for (uint32_t s = 0; s < c->claims[i].stack_count && fault->code == ERR_NONE; s++)
            put_stack(&w, c, i, s);
    }
    for (uint32_t i = 0; i < c->result.thread_count && fault->code == ERR_NONE; i++)
        put_thread(&w, c, i);
    for (uint32_t i = 0; c->truth != NULL && i < c->truth->thread_count; i++)
        put_truth(&w, c, i);
    for (uint32_t i = 0; i < c->result.finding_count && fault->code == ERR_NONE; i++)
        put_finding(&w, &c->result.findings[i], i);
    store_put_artifacts(store, w.case_id, c, fault);
    (void)store_count_verdict(store, run_id, verdict_name(c->result.verdict), 1, fault);
    const enum status status = database_end(&store->database, fault->code, fault);
    if (status == ERR_NONE) {
        c->id = w.case_id;
        c->run_id = run_id;
    }
    return status;
}
