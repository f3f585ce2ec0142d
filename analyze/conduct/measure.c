/* See measure.h. */
#include "conduct/measure.h"

#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "engine/dump_engine.h"
#include "engine/offset.h"
#include "symbol/symbol_store.h"

static const enum opened_role file_of[WAY_COUNT] = {
    [WAY_DUMP] = OPENED_DUMP, [WAY_TUNED] = OPENED_TUNED, [WAY_OFFSET] = OPENED_RECORD};

/* Opens and reads the way's file, and takes the stack. */
static enum status take_stack(const struct measure_request *request, const struct engine_input *in,
                              struct arena *work, struct stack *stack, uint64_t *read_ns,
                              struct fault *fault)
{
    const char *path = in->opened->files[file_of[request->way]].path;
    const uint64_t start_ns = clock_ns();
    struct dump_session *session;
    struct record record;

    if (path == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "file of the case");
    if (request->way == WAY_OFFSET) {
        (void)record_read_file(path, work, &record, fault);
        *read_ns = clock_ns() - start_ns;
        return fault->code != ERR_NONE
                   ? fault->code
                   : offset_suspect_stack(in, &record, request->own_only, work, stack, fault);
    }
    if (dump_open(path, in->symbols, work, &session, fault) != ERR_NONE)
        return fault->code;
    *read_ns = clock_ns() - start_ns;
    (void)dump_suspect_stack(in, session, request->own_only, work, stack, fault);
    dump_close(session);
    return fault->code;
}

enum status measure_once(const struct measure_request *request, struct arena *work,
                         struct way_parts *out, struct stack *stack, struct fault *fault)
{
    struct engine_input in = *request->in;
    struct symbol_store *fresh = NULL;
    struct fault ignored = FAULT_INIT;
    struct stack own = {0};
    uint64_t read_ns = 0;
    const bool cold = request->cold || request->first;
    const char *cache = request->first ? folder_temporary_name("first", work) : NULL;
    const uint64_t start_ns = clock_ns();
    if (request->first && cache == NULL)
        return fault_no_memory(fault, "folder of a measurement");
    if (cold && symbol_store_open_again(in.symbols, cache, &fresh, fault) != ERR_NONE)
        return fault->code;
    const uint64_t opened_ns = clock_ns() - start_ns;
    if (cold)
        in.symbols = fresh;
    if (take_stack(request, &in, work, &own, &read_ns, fault) == ERR_NONE) {
        *out = (struct way_parts){.whole_ns = clock_ns() - start_ns,
                                  .open_ns = read_ns,
                                  .unwind_ns = own.cost.unwind_ns,
                                  .load_ns = own.cost.load_ns + opened_ns,
                                  .resolve_ns = own.cost.resolve_ns};
        if (stack != NULL)
            *stack = own;
    }
    symbol_store_close(fresh);
    if (cache != NULL)
        (void)path_remove(cache, &ignored);
    return fault->code;
}

/* ---- the same frames -------------------------------------------------------------------- */

/* The physical frames of a stack, innermost first. */
struct physical {
    uint32_t thread_id, count;
    uint64_t *offsets; /* in the module; else the address */
    const char **modules;
};

static enum status take_physical(const struct stack *stack, struct arena *keep,
                                 struct physical *out, struct fault *fault)
{
    out->thread_id = stack->thread_id;
    out->count = 0;
    out->offsets = ARENA_ARRAY(keep, (size_t)stack->frame_count + 1, uint64_t);
    out->modules = ARENA_ARRAY(keep, (size_t)stack->frame_count + 1, const char *);
    if (out->offsets == NULL || out->modules == NULL)
        return fault_no_memory(fault, "frames to compare");
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *f = &stack->frames[i];
        if (f->inline_depth > 0)
            continue;
        const char *name = f->module != NULL ? f->module->name : f->module_name;
        out->offsets[out->count] = name != NULL || f->pc_va == 0 ? f->offset : f->pc_va;
        out->modules[out->count++] = name != NULL ? arena_string(keep, name) : "";
    }
    return ERR_NONE;
}

static bool are_same(const struct physical *a, const struct physical *b)
{
    if (a->count != b->count || a->thread_id != b->thread_id)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->offsets[i] != b->offsets[i] || a->modules[i] == NULL || b->modules[i] == NULL ||
            !text_equal_nocase(a->modules[i], b->modules[i]))
            return false;
    return true;
}

/* ---- one case ------------------------------------------------------------------------- */

struct measuring {
    const struct engine_input *in;
    struct arena *keep;
    struct way_cost *out;
    struct physical stacks[WAY_COUNT];
    uint32_t round; /* from 1; 0: what is only asked whether it gives a stack */
    struct fault *fault;
};

static void keep_faster(struct way_parts *best, const struct way_parts *now)
{
    const struct way_parts before = *best;
    if (best->whole_ns == 0 || now->whole_ns < best->whole_ns)
        *best = *now;
    best->own_ns = before.own_ns;
    best->even_ns = before.even_ns;
    best->odd_ns = before.odd_ns;
}

static void keep_least(uint64_t *least, uint64_t now)
{
    *least = *least == 0 || now < *least ? now : *least;
}

enum start { WARM, COLD };
enum named { ALL_MODULES, OWN_MODULES };

/* Times WAY once. Returns false when it gives no stack. */
static bool time_once(struct measuring *m, enum case_way way, enum start start, enum named named)
{
    const bool own_only = named == OWN_MODULES;
    const struct measure_request request = {
        .in = m->in, .way = way, .cold = start == COLD, .own_only = own_only};
    struct way_cost *cost = &m->out[way];
    struct way_parts *best = start == COLD ? &cost->cold : &cost->warm, parts;
    struct fault own = FAULT_INIT;
    struct stack stack = {0};
    struct arena work;
    arena_init(&work, 0);
    bool ok = measure_once(&request, &work, &parts, &stack, &own) == ERR_NONE &&
              (own_only || (stack.state == STACK_OK && stack.frame_count > 0));
    if (ok && own_only) {
        keep_least(&best->own_ns, parts.whole_ns);
    } else if (ok) {
        keep_faster(best, &parts);
        if (m->round > 0)
            keep_least(m->round % 2 == 0 ? &best->odd_ns : &best->even_ns, parts.whole_ns);
    }
    if (ok && !own_only && cost->frames == 0)
        ok = take_physical(&stack, m->keep, &m->stacks[way], m->fault) == ERR_NONE;
    if (!own_only)
        cost->frames = ok ? m->stacks[way].count : 0;
    arena_free(&work);
    return ok;
}

static uint64_t number_of(const struct crash_case *crash)
{
    return hash_text(hash_text(HASH_START, text_or_empty(crash->scenario)),
                     text_or_empty(crash->variant));
}

/* Times WAY once while no index exists. */
static void time_first(struct measuring *m, enum case_way way, uint32_t round)
{
    const struct measure_request request = {.in = m->in, .way = way, .first = true};
    struct way_first *best = &m->out[way].first;
    struct fault own = FAULT_INIT;
    struct way_parts parts;
    struct stack stack = {0};
    struct arena work;
    arena_init(&work, 0);
    if (measure_once(&request, &work, &parts, &stack, &own) == ERR_NONE && stack.frame_count > 0) {
        keep_least(&best->whole_ns, parts.whole_ns);
        keep_least(round % 2 == 0 ? &best->even_ns : &best->odd_ns, parts.whole_ns);
    }
    arena_free(&work);
}

static void take_ours(struct measuring *m)
{
    static const enum case_way ours[] = {WAY_DUMP, WAY_TUNED, WAY_OFFSET};
    enum case_way ways[COUNT_OF(ours)];
    uint32_t count = 0;
    const uint64_t number = number_of(m->in->opened->crash);
    for (size_t i = 0; i < COUNT_OF(ours); i++)
        if (m->in->opened->files[file_of[ours[i]]].path != NULL &&
            time_once(m, ours[i], WARM, ALL_MODULES))
            ways[count++] = ours[i];
    for (uint32_t round = 0; round < MEASURE_ROUNDS && m->fault->code == ERR_NONE; round++) {
        m->round = round + 1;
        for (uint32_t i = 0; i < count; i++) {
            const enum case_way way = ways[(i + round + number) % count];
            (void)(time_once(m, way, COLD, ALL_MODULES) && time_once(m, way, COLD, OWN_MODULES) &&
                   time_once(m, way, WARM, ALL_MODULES) && time_once(m, way, WARM, OWN_MODULES));
        }
    }
    const bool first = number % MEASURE_FIRST_EVERY == 0;
    for (uint32_t round = 0; first && round < MEASURE_FIRST_ROUNDS; round++)
        for (uint32_t i = 0; i < count && !process_interrupted(); i++)
            time_first(m, ways[(i + round) % count], round);
}

/* What the claim of a foreign program spent on THREAD_ID alone; false: it does not say. */
static bool thread_cost(const struct engine_claim *claim, const struct stack *stack,
                        struct way_parts *out)
{
    uint64_t others_ns = 0;
    bool stated = claim->stack_count == 1;
    for (uint32_t i = 0; i < claim->stack_count; i++) {
        const struct engine_cost *cost = &claim->stacks[i].cost;
        stated = stated || cost->unwind_ns + cost->resolve_ns > 0;
        others_ns += &claim->stacks[i] != stack ? cost->unwind_ns + cost->resolve_ns : 0;
    }
    if (!stated || others_ns > claim->cost.total_ns)
        return false;
    *out = (struct way_parts){.whole_ns = claim->cost.total_ns - others_ns,
                              .open_ns = claim->cost.open_ns,
                              .load_ns = claim->cost.load_ns,
                              .unwind_ns = stack->cost.unwind_ns,
                              .resolve_ns = stack->cost.resolve_ns};
    if (stack->cost.resolve_ns > 0)
        out->own_ns = out->whole_ns - stack->cost.system_ns;
    return true;
}

/* The first foreign program that gave a stack of that thread. */
static void take_foreign(struct measuring *m, const struct engine_claim *claims, uint32_t count,
                         uint32_t thread_id)
{
    struct way_cost *out = &m->out[WAY_FOREIGN];
    for (size_t n = 0; engine_dump_readers[n] != NULL; n++)
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(claims[i].engine, engine_dump_readers[n]) != 0)
                continue;
            for (uint32_t s = 0; s < claims[i].stack_count; s++) {
                const struct stack *stack = &claims[i].stacks[s];
                struct way_parts parts;
                if (stack->thread_id != thread_id || stack->state != STACK_OK ||
                    stack->frame_count == 0 || !thread_cost(&claims[i], stack, &parts) ||
                    take_physical(stack, m->keep, &m->stacks[WAY_FOREIGN], m->fault) != ERR_NONE)
                    continue;
                *(claims[i].cost.cold_ns != 0 ? &out->cold : &out->warm) = parts;
                out->frames = m->stacks[WAY_FOREIGN].count;
                return;
            }
        }
}

enum status measure_case(const struct engine_input *in, const struct engine_claim *claims,
                         uint32_t claim_count, struct arena *keep, struct way_cost **out,
                         struct fault *fault)
{
    struct measuring m = {.in = in, .keep = keep, .fault = fault};
    *out = m.out = ARENA_ARRAY(keep, WAY_COUNT, struct way_cost);
    if (m.out == NULL)
        return fault_no_memory(fault, "costs of a case");
    memset(m.out, 0, WAY_COUNT * sizeof *m.out);
    take_ours(&m);
    const struct physical *reference =
        &m.stacks[m.out[WAY_OFFSET].frames > 0 ? WAY_OFFSET : WAY_DUMP];
    if (reference->count > 0)
        take_foreign(&m, claims, claim_count, reference->thread_id);
    for (int way = 0; way < WAY_COUNT; way++)
        m.out[way].same = m.out[way].frames > 0 && are_same(&m.stacks[way], reference);
    return fault->code;
}
