/* See symbol_index.h.  Building: workers turn modules into pieces, side by side; then one pass
 * in the order of addresses packs them into buckets. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/thread.h"
#include "symbol/index_pack.h"
#include "symbol/index_pieces.h"
#include "symbol/symbol_index.h"

/* A contribution that may hold code, and where its pieces are. */
struct claim {
    struct pdb_place start;
    uint32_t end, next; /* offsets: of its own end, and of the next claim's start */
    uint32_t module;    /* NO_MODULE: the head of a section */
    uint32_t worker, first_piece, piece_count;
    uint32_t same_module; /* next claim of the same module + 1 */
};

enum { NO_MODULE = UINT16_MAX, THREADS_MAX = 16 };

struct build {
    const struct pdb *pdb;
    enum symbol_names spelling;
    struct public_list publics;
    struct claim *claims;
    uint32_t claim_count;
    uint32_t *first_claim; /* of each module + 1; 0: none */
    struct mutex *lock;
    uint32_t next_module;
    struct piece_worker *workers;
    uint32_t worker_count;
};

struct worker_start {
    struct build *build;
    uint32_t number;
};

static int compare_publics(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Reads the places of all publics.  The linker sorted them; damage is sorted here. */
static bool read_publics(struct build *build)
{
    const struct pdb *pdb = build->pdb;
    const uint32_t count = pdb->address_map_count;
    uint64_t *keys = malloc(((size_t)count + 1) * sizeof *keys);
    uint32_t used = 0;
    bool sorted = true;
    if (keys == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct pdb_public pub;
        if (!pdb_public(pdb, i, NULL, &pub) || pub.place.section == 0 ||
            pub.place.section > pdb->section_count ||
            pub.place.offset >= pdb->sections[pub.place.section - 1].virtual_bytes)
            continue; /* of no place in its section */
        keys[used] = (uint64_t)pdb_source_rva(pdb, pub.place) << 32 | i;
        sorted = sorted && (used == 0 || keys[used - 1] <= keys[used]);
        used++;
    }
    if (!sorted)
        qsort(keys, used, sizeof *keys, compare_publics);
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

/* Claims in the order of the contributions, each section's first one preceded by a head.
 * False when the contributions are not sorted: then searching finds what no index can. */
static bool read_claims(struct build *build, struct fault *fault)
{
    const struct pdb *pdb = build->pdb;
    const uint64_t room = (uint64_t)pdb->contribution_count + 2 * (uint64_t)pdb->section_count + 2;
    struct pdb_place last = {0, 0};
    build->claims = malloc((size_t)room * sizeof *build->claims);
    if (build->claims == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index"), false;
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
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index"), false;
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
    if (claim->module < build->pdb->module_count)
        index_worker_contribution(worker, claim->start, claim->end, claim->next);
    else
        index_worker_head(worker, claim->start, claim->next);
    claim->piece_count = worker->pieces.count - claim->first_piece;
}

static void run_worker(void *context)
{
    const struct worker_start *start = context;
    struct build *build = start->build;
    struct piece_worker *worker = &build->workers[start->number];
    if (!index_worker_open(build->pdb, build->spelling, &build->publics, worker))
        return;
    while (!worker->failed) {
        mutex_lock(build->lock);
        const uint32_t module = build->next_module++;
        mutex_unlock(build->lock);
        if (module >= build->pdb->module_count)
            break;
        uint32_t claim = build->first_claim[module];
        if (claim != 0)
            index_worker_module(worker, module);
        for (; claim != 0 && !worker->failed; claim = build->claims[claim - 1].same_module)
            run_claim(build, start->number, &build->claims[claim - 1]);
    }
}

static bool run_workers(struct build *build)
{
    struct thread *threads[THREADS_MAX];
    struct worker_start starts[THREADS_MAX];
    for (uint32_t i = 0; i < build->worker_count; i++) {
        starts[i] = (struct worker_start){build, i};
        threads[i] = i + 1 < build->worker_count ? thread_start(run_worker, &starts[i]) : NULL;
        if (threads[i] == NULL)
            run_worker(&starts[i]); /* the last, or no thread to be had */
    }
    bool good = true;
    for (uint32_t i = 0; i < build->worker_count; i++) {
        if (threads[i] != NULL)
            thread_join(threads[i]);
        good = good && !build->workers[i].failed;
    }
    for (uint32_t i = 0; good && i < build->claim_count; i++)
        if (build->claims[i].module >= build->pdb->module_count)
            run_claim(build, 0, &build->claims[i]);
    return good && !build->workers[0].failed;
}

/* Sections by address, so that the pieces come in order. */
static void pack_claims(const struct build *build, struct index_packer *packer)
{
    const struct pdb *pdb = build->pdb;
    uint64_t done = 0; /* addresses before are packed */
    for (;;) {
        uint32_t best = 0;
        for (uint32_t i = 1; i <= pdb->section_count; i++)
            if (pdb->sections[i - 1].rva >= done &&
                (best == 0 || pdb->sections[i - 1].rva < pdb->sections[best - 1].rva))
                best = i;
        if (best == 0)
            return;
        const struct pdb_section *section = &pdb->sections[best - 1];
        done = (uint64_t)section->rva + 1;
        bool any = false;
        for (uint32_t i = 0; i < build->claim_count; i++) {
            const struct claim *claim = &build->claims[i];
            if (claim->start.section != best || claim->piece_count == 0)
                continue;
            index_pack_pieces(packer, claim->worker,
                              (const struct piece *)build->workers[claim->worker].pieces.at +
                                  claim->first_piece,
                              claim->piece_count);
            any = true;
        }
        if (any)
            index_pack_end(packer, section->rva + section->virtual_bytes);
    }
}

static void close_build(struct build *build)
{
    for (uint32_t i = 0; build->workers != NULL && i < build->worker_count; i++)
        index_worker_close(&build->workers[i]);
    free(build->workers);
    free(build->claims);
    free(build->first_claim);
    free(build->publics.rvas);
    free(build->publics.numbers);
    if (build->lock != NULL)
        mutex_free(build->lock);
}

/* Buckets cost memory for each byte of code, also where a section only claims to have them. */
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

static enum status make_index(struct build *build, const struct file_map *pdb_file,
                              const char *path, struct symbol_index_cost *cost, struct fault *fault)
{
    struct index_packer packer;
    if (too_much_code(build->pdb))
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "code for a symbol index");
    if (!read_claims(build, fault))
        return fault->code;
    if (!read_publics(build) || !run_workers(build))
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index");
    index_pack_open(&packer, build->pdb, build->workers, build->worker_count);
    pack_claims(build, &packer);
    if (index_pack_write(&packer, build->pdb, pdb_file, build->spelling, path, fault) == ERR_NONE &&
        cost != NULL) {
        cost->index_bytes = packer.file_bytes;
        cost->ranges = packer.piece_count;
        cost->nodes = packer.slot_count;
        cost->threads = build->worker_count;
    }
    index_pack_close(&packer);
    return fault->code;
}

enum status symbol_index_build(const struct pdb *pdb, const struct file_map *pdb_file,
                               enum symbol_names names, uint32_t threads, const char *path,
                               struct symbol_index_cost *cost, struct fault *fault)
{
    const uint64_t started = clock_ns();
    struct build build;
    memset(&build, 0, sizeof build);
    build.pdb = pdb;
    build.spelling = names;
    build.worker_count = threads != 0 ? threads : thread_processors();
    if (build.worker_count > THREADS_MAX)
        build.worker_count = THREADS_MAX;
    build.workers = calloc(build.worker_count, sizeof *build.workers);
    build.lock = mutex_new();
    if (build.workers == NULL || build.lock == NULL)
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbol index");
    else
        (void)make_index(&build, pdb_file, path, cost, fault);
    close_build(&build);
    if (cost != NULL)
        cost->build_ns = clock_ns() - started;
    return fault->code;
}
