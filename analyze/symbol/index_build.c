/* See symbol_index.h. Builds an index in steps, each of which runs in parallel: workers turn
 * modules into pieces; the shared tables are made; each worker packs the pieces of one address
 * range into buckets.
 *
 * The number of workers, and the modules of each, depend on the PDB alone. Threads take one worker
 * after the other, so the bytes of an index do not depend on the number of threads. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/thread.h"
#include "symbol/index_pieces.h"
#include "symbol/index_write.h"
#include "symbol/symbol_index.h"

/* A contribution that may hold code, and where its pieces are. */
struct claim {
    struct pdb_place start;
    uint32_t end, next; /* offsets: of its own end, and of the next claim's start */
    uint32_t module;    /* NO_MODULE: the head of a section */
    uint32_t worker, first_piece, piece_count;
    uint64_t rva, end_rva; /* its pieces, and those of the code after it */
    uint32_t same_module;  /* next claim of the same module + 1 */
};

enum { NO_MODULE = UINT16_MAX, GROW_BYTES = 32 << 20 };

/* A worker reads names of its own, so more of them cost more in all; four keep four threads busy. A
 * small PDB is not worth a second one. */
enum { WORKERS_MAX = 4, WORKER_SHIFT = 21 };

/* Of a larger file, the memory of modules that are done is given back, each time after so many. */
#define LARGE_FILE_BYTES ((size_t)96 << 20)
enum { MODULES_HELD = 32 };

struct build {
    const struct pdb *pdb;
    enum symbol_names spelling;
    struct public_list publics;
    uint64_t *public_keys; /* rva << 32 | number; each share has a range, whose end may be unused */
    uint32_t share_publics[WORKERS_MAX];
    struct claim *claims;
    uint32_t claim_count;
    uint32_t *first_claim; /* of each module + 1; 0: none */
    struct mutex *lock;
    uint32_t next_worker; /* that no thread has taken in this step */
    void (*step)(struct build *build, uint32_t worker);
    uint32_t first_module[WORKERS_MAX + 1]; /* of each worker, and the end */
    struct piece_worker *workers;
    uint32_t worker_count, thread_count;
    const struct file_map *large; /* the file, if its memory is given back; else NULL */
    struct index_tables tables;
    struct index_part *parts;
    uint32_t part_count;
    const struct index_source *source;
    const char *path;
    uint64_t index_bytes;
    struct fault *fault;
};

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static struct claim *add_claim(struct build *build, uint16_t section, uint32_t offset, uint32_t end,
                               uint32_t module)
{
    struct claim *claim = &build->claims[build->claim_count++];
    memset(claim, 0, sizeof *claim);
    claim->start = (struct pdb_place){section, offset};
    claim->end = end;
    claim->next = end;
    claim->module = module;
    return claim;
}

/* Claims in the order of the contributions, each section's first one preceded by a head. False when
 * the contributions are not sorted: an index could not reproduce what a search then finds. */
static bool read_claims(struct build *build, struct fault *fault)
{
    const struct pdb *pdb = build->pdb;
    const uint64_t room = (uint64_t)pdb->contribution_count + 2 * (uint64_t)pdb->section_count + 2;
    struct pdb_place last = {0, 0};
    build->claims = malloc((size_t)room * sizeof *build->claims);
    if (build->claims == NULL)
        return fault_no_memory(fault, "symbol index"), false;
    uint32_t at = 0;
    for (uint32_t section = 1; section <= pdb->section_count; section++) {
        const struct pdb_place zero = {(uint16_t)section, 0};
        const uint32_t bytes = pdb->sections[section - 1].virtual_bytes;
        const bool code = pdb_is_code(pdb, zero);
        struct claim *open = code ? add_claim(build, zero.section, 0, bytes, NO_MODULE) : NULL;
        struct pdb_contribution c;
        for (; pdb_contribution(pdb, at, &c) && c.start.section <= section; at++) {
            if (c.start.section < last.section ||
                (c.start.section == last.section && c.start.offset < last.offset))
                return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET,
                                 "order of section contributions"),
                       false;
            last = c.start;
            if (!code || c.start.section != section || c.bytes == 0 || c.start.offset >= bytes)
                continue;
            open->next = c.start.offset;
            open->end = least(open->end, c.start.offset);
            open = add_claim(build, zero.section, c.start.offset,
                             c.bytes < bytes - c.start.offset ? c.start.offset + c.bytes : bytes,
                             c.module);
            open->next = bytes;
        }
    }
    build->first_claim = calloc((size_t)pdb->module_count + 1, sizeof *build->first_claim);
    if (build->first_claim == NULL)
        return fault_no_memory(fault, "symbol index"), false;
    for (uint32_t i = build->claim_count; i-- > 0;) {
        if (build->claims[i].module >= pdb->module_count)
            continue;
        build->claims[i].same_module = build->first_claim[build->claims[i].module];
        build->first_claim[build->claims[i].module] = i + 1;
    }
    return true;
}

static void run_claim(struct build *build, uint32_t number, struct claim *claim)
{
    struct piece_worker *worker = &build->workers[number];
    claim->worker = number;
    claim->first_piece = worker->pieces.count;
    index_claim(worker, pdb_source_rva(build->pdb, claim->start));
    if (claim->module < build->pdb->module_count)
        index_worker_contribution(worker, claim->start, claim->end, claim->next);
    else
        index_worker_head(worker, claim->start, claim->next);
    claim->piece_count = worker->pieces.count - claim->first_piece;
}

static void run_worker(struct build *build, uint32_t number)
{
    struct piece_worker *worker = &build->workers[number];
    if (!index_worker_open(build->pdb, build->spelling, &build->publics, worker))
        return;
    worker->copies_texts = build->large != NULL;
    for (uint32_t module = build->first_module[number];
         module < build->first_module[number + 1] && !worker->failed; module++) {
        if (build->large != NULL && module % MODULES_HELD == 0)
            file_release(build->large, 0, build->large->bytes);
        uint32_t claim = build->first_claim[module];
        if (claim != 0)
            index_worker_module(worker, module);
        for (; claim != 0 && !worker->failed; claim = build->claims[claim - 1].same_module)
            run_claim(build, number, &build->claims[claim - 1]);
    }
}

/* Gives each worker a row of modules with about as many bytes of symbols. */
static void share_modules(struct build *build)
{
    const uint32_t count = build->pdb->module_count;
    struct pdb_module info;
    uint64_t all = 0, before = 0;
    uint32_t worker = 1;
    for (uint32_t i = 0; i < count; i++)
        all += pdb_module_info(build->pdb, i, &info) ? info.symbol_bytes + 1U : 1U;
    for (uint32_t i = 0; i < count; i++) {
        while (worker < build->worker_count && before >= all * worker / build->worker_count)
            build->first_module[worker++] = i;
        before += pdb_module_info(build->pdb, i, &info) ? info.symbol_bytes + 1U : 1U;
    }
    while (worker <= build->worker_count)
        build->first_module[worker++] = count;
}

static void run_thread(void *context)
{
    struct build *build = context;
    for (;;) {
        mutex_lock(build->lock);
        const uint32_t worker = build->next_worker++;
        mutex_unlock(build->lock);
        if (worker >= build->worker_count)
            return;
        build->step(build, worker);
    }
}

/* Runs STEP once per worker, in parallel. */
static void run_side_by_side(struct build *build, void (*step)(struct build *, uint32_t))
{
    struct thread *threads[WORKERS_MAX] = {NULL};
    build->step = step;
    build->next_worker = 0;
    for (uint32_t i = 1; i < build->thread_count; i++)
        threads[i] = thread_start(run_thread, build);
    run_thread(build);
    for (uint32_t i = 1; i < build->thread_count; i++)
        if (threads[i] != NULL)
            thread_join(threads[i]);
}

/* Notes the addresses of a share of the publics in build->public_keys. */
static void run_publics(struct build *build, uint32_t share)
{
    const struct pdb *pdb = build->pdb;
    const uint64_t count = pdb->address_map_count;
    const uint32_t from = (uint32_t)(count * share / build->worker_count),
                   end = (uint32_t)(count * (share + 1) / build->worker_count);
    uint32_t used = from;
    for (uint32_t i = from; i < end; i++) {
        struct pdb_public pub;
        if (!pdb_public(pdb, i, NULL, &pub) || pub.place.section == 0 ||
            pub.place.section > pdb->section_count ||
            pub.place.offset >= pdb->sections[pub.place.section - 1].virtual_bytes)
            continue; /* not at an address of its section */
        build->public_keys[used++] = (uint64_t)pdb_source_rva(pdb, pub.place) << 32 | i;
    }
    build->share_publics[share] = used - from;
}

/* Moves the shares of the publics together; returns how many there are. */
static uint32_t join_publics(struct build *build)
{
    const uint64_t count = build->pdb->address_map_count;
    uint32_t used = 0;
    for (uint32_t i = 0; i < build->worker_count; i++) {
        const uint32_t from = (uint32_t)(count * i / build->worker_count);
        memmove(build->public_keys + used, build->public_keys + from,
                build->share_publics[i] * sizeof *build->public_keys);
        used += build->share_publics[i];
    }
    return used;
}

/* Reads the addresses of all publics. The linker sorted them; a damaged list is sorted here. */
static bool read_publics(struct build *build)
{
    uint64_t *keys = malloc(((size_t)build->pdb->address_map_count + 1) * sizeof *keys);
    bool sorted = true;
    if (keys == NULL)
        return false;
    build->public_keys = keys;
    run_side_by_side(build, run_publics);
    const uint32_t used = join_publics(build);
    for (uint32_t i = 1; i < used && sorted; i++)
        sorted = keys[i - 1] <= keys[i];
    if (!sorted)
        qsort(keys, used, sizeof *keys, compare_numbers);
    build->publics.rvas = malloc(((size_t)used + 1) * sizeof(uint32_t));
    build->publics.numbers = malloc(((size_t)used + 1) * sizeof(uint32_t));
    if (build->publics.rvas != NULL && build->publics.numbers != NULL) {
        for (uint32_t i = 0; i < used; i++) {
            build->publics.rvas[i] = (uint32_t)(keys[i] >> 32);
            build->publics.numbers[i] = (uint32_t)keys[i];
        }
        build->publics.count = used;
    }
    free(keys);
    return build->publics.rvas != NULL && build->publics.numbers != NULL;
}

static bool run_workers(struct build *build)
{
    bool good = true;
    run_side_by_side(build, run_worker);
    for (uint32_t i = 0; i < build->worker_count; i++)
        good = good && !build->workers[i].failed;
    for (uint32_t i = 0; good && i < build->claim_count; i++)
        if (build->claims[i].module >= build->pdb->module_count)
            run_claim(build, 0, &build->claims[i]);
    return good && !build->workers[0].failed;
}

/* Claims by address: sections need not be in that order. */
static bool sort_claims(struct build *build)
{
    const uint32_t count = build->claim_count;
    bool sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        struct claim *claim = &build->claims[i];
        claim->rva = pdb_source_rva(build->pdb, claim->start);
        claim->end_rva = claim->rva + (claim->next - claim->start.offset);
        sorted = sorted && (i == 0 || claim[-1].rva <= claim->rva);
    }
    if (sorted)
        return true;
    uint64_t *keys = malloc((size_t)count * sizeof *keys);
    struct claim *claims = malloc((size_t)count * sizeof *claims);
    const bool good = keys != NULL && claims != NULL;
    for (uint32_t i = 0; good && i < count; i++)
        keys[i] = build->claims[i].rva << 32 | i;
    if (good)
        qsort(keys, count, sizeof *keys, compare_numbers);
    for (uint32_t i = 0; good && i < count; i++)
        claims[i] = build->claims[(uint32_t)keys[i]];
    if (good)
        memcpy(build->claims, claims, (size_t)count * sizeof *claims);
    free(keys);
    free(claims);
    return good;
}

/* Splits the buckets into parts, at claims that start at a group, and opens the parts. */
static bool open_parts(struct build *build)
{
    const struct claim *claims = build->claims;
    uint64_t end = 0;
    for (uint32_t i = 0; i < build->claim_count; i++)
        end = claims[i].end_rva > end ? claims[i].end_rva : end;
    const uint32_t first_rva =
        build->claim_count != 0 ? (uint32_t)claims[0].rva >> BUCKET_SHIFT << BUCKET_SHIFT : 0;
    const uint32_t buckets = (uint32_t)((end - first_rva + BUCKET_BYTES - 1) >> BUCKET_SHIFT);
    build->parts = calloc(build->worker_count, sizeof *build->parts);
    if (build->parts == NULL)
        return false;
    build->parts[0].first_rva = first_rva;
    for (uint32_t i = 0; i < build->claim_count && build->part_count + 1 < build->worker_count;
         i++) {
        const uint64_t from = claims[i].rva - first_rva;
        const uint64_t want = (uint64_t)buckets * (build->part_count + 1) / build->worker_count;
        if (from >> BUCKET_SHIFT < want || from % GROUP_CODE_BYTES != 0)
            continue;
        build->parts[build->part_count++].end = (uint32_t)(from >> BUCKET_SHIFT);
        build->parts[build->part_count].first = (uint32_t)(from >> BUCKET_SHIFT);
        build->parts[build->part_count].first_rva = first_rva;
    }
    build->parts[build->part_count++].end = buckets;
    for (uint32_t i = 0; i < build->part_count; i++)
        index_pack_open(&build->parts[i]);
    return true;
}

static void run_part(struct build *build, uint32_t number)
{
    struct index_part *part = &build->parts[number];
    if (number >= build->part_count)
        return;
    for (uint32_t i = 0; i < build->claim_count; i++) {
        const struct claim *claim = &build->claims[i];
        const struct piece_worker *worker = &build->workers[claim->worker];
        const uint64_t bucket = (claim->rva - part->first_rva) >> BUCKET_SHIFT;
        if (bucket < part->first || bucket >= part->end)
            continue;
        if (claim->piece_count != 0)
            index_pack_pieces(
                part, claim->rva, worker->scopes.at, build->tables.slots[claim->worker].first,
                (const struct piece *)worker->pieces.at + claim->first_piece, claim->piece_count);
        if (i + 1 == build->claim_count || claim[1].rva != claim->end_rva)
            index_pack_gap(part, claim->end_rva);
    }
    index_pack_end(part);
}

static void close_build(struct build *build)
{
    for (uint32_t i = 0; build->workers != NULL && i < build->worker_count; i++)
        index_worker_close(&build->workers[i]);
    for (uint32_t i = 0; i < build->part_count; i++)
        index_pack_close(&build->parts[i]);
    index_tables_close(&build->tables);
    free(build->workers);
    free(build->parts);
    free(build->claims);
    free(build->first_claim);
    free(build->publics.rvas);
    free(build->publics.numbers);
    mutex_free(build->lock);
}

/* Buckets need memory for each byte of code, even of a section that only claims to have that
 * size. */
static bool too_much_code(const struct pdb *pdb)
{
    uint64_t first = UINT64_MAX, end = 0;
    for (uint32_t i = 1; i <= pdb->section_count; i++) {
        const struct pdb_section *section = &pdb->sections[i - 1];
        if (!pdb_is_code(pdb, (struct pdb_place){(uint16_t)i, 0}))
            continue;
        if (section->rva < first)
            first = section->rva;
        if ((uint64_t)section->rva + section->virtual_bytes > end)
            end = (uint64_t)section->rva + section->virtual_bytes;
    }
    return first < end && end - first > LIMIT_INDEX_CODE_BYTES;
}

static void run_equal(struct build *build, uint32_t number)
{
    index_tables_equal(&build->tables, number);
}

static void run_strings(struct build *build, uint32_t number)
{
    index_tables_strings(&build->tables, number);
}

static void run_scopes(struct build *build, uint32_t number)
{
    index_tables_scopes(&build->tables, number);
}

static void run_narrow(struct build *build, uint32_t number)
{
    index_tables_narrow(&build->tables, number);
}

static bool fill_tables(struct build *build)
{
    index_tables_open(&build->tables, build->workers, build->worker_count);
    run_side_by_side(build, run_equal);
    run_side_by_side(build, run_strings);
    if (!index_tables_files(&build->tables))
        return false;
    run_side_by_side(build, run_scopes);
    if (!index_tables_number(&build->tables))
        return false;
    run_side_by_side(build, run_narrow);
    return true;
}

static bool pack_parts(struct build *build)
{
    bool good = sort_claims(build) && open_parts(build);
    if (good)
        run_side_by_side(build, run_part);
    for (uint32_t i = 0; good && i < build->part_count; i++)
        good = !build->parts[i].failed;
    return good;
}

/* Frees what a worker holds. */
static void clear_worker(struct build *build, uint32_t number)
{
    index_worker_close(&build->workers[number]);
    memset(&build->workers[number], 0, sizeof build->workers[number]);
}

/* Writes the index and, on the other threads, frees the workers. */
static void run_finish(struct build *build, uint32_t number)
{
    if (number == 0)
        (void)index_write(build->source, &build->tables, build->parts, build->part_count,
                          build->path, &build->index_bytes, build->fault);
    else
        clear_worker(build, number);
    if (number == 1)
        clear_worker(build, 0);
}

static enum status make_index(struct build *build, const struct file_map *pdb_file,
                              const char *path, struct symbol_index_cost *cost, struct fault *fault)
{
    struct index_source source = {symbol_index_key(pdb_file, build->spelling),
                                  build->pdb->omap_to_source,
                                  {0},
                                  build->pdb->age};
    memcpy(source.guid, build->pdb->guid, sizeof source.guid);
    if (too_much_code(build->pdb))
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code for a symbol index");
    if (!read_claims(build, fault))
        return fault->code;
    share_modules(build);
    if (!read_publics(build) || !run_workers(build) || !fill_tables(build) || !pack_parts(build))
        return fault_no_memory(fault, "symbol index");
    for (uint32_t i = 0; i < build->part_count; i++)
        cost->ranges += build->parts[i].piece_count;
    cost->nodes = build->tables.slot_count;
    cost->threads = build->thread_count;
    build->source = &source;
    build->path = path;
    build->fault = fault;
    run_side_by_side(build, run_finish);
    cost->index_bytes = build->index_bytes;
    return fault->code;
}

enum status symbol_index_build(const struct pdb *pdb, const struct file_map *pdb_file,
                               enum symbol_names names, uint32_t threads, const char *path,
                               struct symbol_index_cost *cost, struct fault *fault)
{
    const uint64_t started = clock_ns();
    memory_grow_by(GROW_BYTES);
    struct build build;
    struct symbol_index_cost own;
    if (cost == NULL)
        cost = &own;
    memset(cost, 0, sizeof *cost);
    memset(&build, 0, sizeof build);
    build.pdb = pdb;
    build.spelling = names;
    if (pdb_file->data == pdb->msf.data && pdb_file->bytes > LARGE_FILE_BYTES)
        build.large = pdb_file;
    build.worker_count = least((uint32_t)(pdb->msf.bytes >> WORKER_SHIFT) + 1, WORKERS_MAX);
    build.thread_count = least(threads != 0 ? threads : thread_processors(), build.worker_count);
    build.workers = calloc(build.worker_count, sizeof *build.workers);
    build.lock = mutex_new();
    if (build.workers == NULL || build.lock == NULL)
        fault_no_memory(fault, "symbol index");
    else
        (void)make_index(&build, pdb_file, path, cost, fault);
    close_build(&build);
    memory_grow_by(0);
    cost->build_ns = clock_ns() - started;
    return fault->code;
}
