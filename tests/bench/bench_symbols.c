/* Times the symbol reader and the index of one PDB, inside the process. tests/bench/run.py prints
 * the results beside those of other tools.
 *
 *     bench_symbols build PDB INDEX THREADS      builds the index once
 *     bench_symbols lookup PDB INDEX             random function-body addresses, index ready
 *     bench_symbols cold PDB RVA...              opens the PDB, looks up, prints, ends
 *     bench_symbols bulk PDB COUNT               random addresses straight from the PDB, no index
 *     bench_symbols addresses PDB COUNT          prints function-body addresses
 *     bench_symbols procedures PDB 0             prints each procedure's rva and size
 *     bench_symbols frames PDB -                 reads one rva per line, prints its frames
 * lookup reads all names for single_ns, and none for unread_ns.
 * frames prints "name VT file:line TAB" per frame. Other results are "name value" lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "format/pdb/pdb_module.h"
#include "symbol/pdb_lookup.h"
#include "symbol/symbol_index.h"

enum { ADDRESSES = 1000000, ROUNDS = 5 };

static int fail(const struct fault *fault)
{
    char text[1024];
    fault_describe(fault, text, sizeof text);
    (void)fprintf(stderr, "bench_symbols: %s\n", text);
    return 3;
}

/* Processor time depends less on other programs on the machine than wall time. */
static uint64_t cpu_ns(void)
{
    return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC));
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Returns random addresses in the bodies of procedures; each byte is equally likely. */
static uint32_t *function_addresses(const struct pdb *pdb, uint32_t count)
{
    uint32_t room = 1 << 16, used = 0;
    uint64_t total = 0, state = 88172645463325252u;
    struct range {
        uint64_t before; /* bytes of code before it */
        uint32_t rva;
    } *ranges = malloc(room * sizeof *ranges);
    struct arena copies;
    struct pdb_module module;
    arena_init(&copies, 0);
    for (uint32_t i = 0; pdb_module_open(pdb, i, &copies, &module); i++) {
        struct pdb_symbol symbol;
        struct pdb_procedure procedure;
        for (uint32_t soff = 4; pdb_symbol_at(&module, soff, &symbol);
             soff = pdb_symbol_next(&module, &symbol)) {
            uint32_t rva;
            if (!pdb_procedure_read(&module, &symbol, &procedure) || procedure.bytes == 0 ||
                !pdb_rva_of_place(pdb, procedure.start, &rva))
                continue;
            if (used == room)
                ranges = realloc(ranges, (room *= 2) * sizeof *ranges);
            ranges[used].before = total;
            ranges[used++].rva = rva;
            total += procedure.bytes;
        }
        arena_reset(&copies);
    }
    uint32_t *out = malloc(count * sizeof *out);
    for (uint32_t i = 0; i < count && total != 0; i++) {
        const uint64_t at = random_next(&state) % total;
        uint32_t low = 0, high = used;
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (ranges[middle].before <= at)
                low = middle;
            else
                high = middle;
        }
        out[i] = ranges[low].rva + (uint32_t)(at - ranges[low].before);
    }
    free(ranges);
    arena_free(&copies);
    return out;
}

/* Reads every byte of every name, as a program that prints them does. */
static uint64_t read_names(const struct symbol_frame *frames, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += frames[i].function != NULL ? strlen(frames[i].function) : 0;
        bytes += frames[i].file != NULL ? strlen(frames[i].file) : 0;
    }
    return bytes;
}

struct single {
    uint64_t ns, frames, name_bytes;
};

static struct single best_single(const struct symbol_index *index, const uint32_t *rvas,
                                 bool with_names)
{
    static struct symbol_frame out[SYMBOL_FRAMES_MAX];
    struct single best = {UINT64_MAX, 0, 0};
    for (int round = 0; round < ROUNDS; round++) {
        struct single now = {0, 0, 0};
        const uint64_t started = cpu_ns();
        for (uint32_t i = 0; i < ADDRESSES; i++) {
            const uint32_t count = symbol_index_lookup(index, rvas[i], out);
            now.frames += count;
            now.name_bytes += with_names ? read_names(out, count) : 0;
        }
        now.ns = cpu_ns() - started;
        if (now.ns < best.ns)
            best = now;
    }
    return best;
}

/* Returns the time of a load whose address comes from the previous load, in BYTES of memory. A
 * lookup is a few such loads, so its time is compared with this. */
static double dependent_load_ns(uint64_t bytes)
{
    enum { LINE = 64, LOADS = 2000000 };
    const uint32_t lines = (uint32_t)(bytes / LINE) + 1;
    uint64_t state = 88172645463325252u;
    uint32_t *order = malloc(lines * sizeof *order);
    uint8_t *memory = malloc((size_t)lines * LINE);
    for (uint32_t i = 0; i < lines; i++)
        order[i] = i;
    for (uint32_t i = lines - 1; i > 0; i--) {
        const uint32_t j = (uint32_t)(random_next(&state) % (i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (uint32_t i = 0; i < lines; i++)
        memcpy(memory + (size_t)order[i] * LINE, &order[(i + 1) % lines], sizeof *order);
    uint32_t at = 0;
    const uint64_t started = cpu_ns();
    for (uint32_t i = 0; i < LOADS; i++)
        memcpy(&at, memory + (size_t)at * LINE, sizeof at);
    const double took = (double)(cpu_ns() - started) / (double)LOADS;
    free(order);
    free(memory);
    return at < lines ? took : 0;
}

static int run_lookup(const struct pdb *pdb, const struct file_map *map, const char *path)
{
    struct fault fault = FAULT_INIT;
    struct symbol_index *index;
    if (symbol_index_open(path, map, NAMES_SHORT, &index, &fault) != ERR_NONE)
        return fail(&fault);
    uint32_t *rvas = function_addresses(pdb, ADDRESSES);
    const struct single unread = best_single(index, rvas, false);
    const struct single read = best_single(index, rvas, true);
    printf("frames_per_address %.2f\nname_bytes %.1f\n", (double)read.frames / (double)ADDRESSES,
           (double)read.name_bytes / (double)ADDRESSES);
    printf("unread_ns %.1f\nsingle_ns %.1f\n", (double)unread.ns / (double)ADDRESSES,
           (double)read.ns / (double)ADDRESSES);
    printf("load_ns %.1f\n", dependent_load_ns(path_bytes(path)));
    free(rvas);
    symbol_index_close(index);
    return 0;
}

static int run_build(const struct pdb *pdb, const struct file_map *map, const char *path,
                     uint32_t threads)
{
    struct fault fault = FAULT_INIT;
    struct symbol_index_cost cost;
    const uint64_t started = cpu_ns();
    if (symbol_index_build(pdb, map, NAMES_SHORT, threads, path, &cost, &fault) != ERR_NONE)
        return fail(&fault);
    printf("build_cpu_ms %.2f\n", (double)(cpu_ns() - started) / 1e6);
    printf("build_ms %.2f\nindex_bytes %llu\npdb_bytes %zu\nranges %llu\nscopes %llu\n"
           "threads %u\npeak_bytes %llu\n",
           (double)cost.build_ns / 1e6, (unsigned long long)cost.index_bytes, map->bytes,
           (unsigned long long)cost.ranges, (unsigned long long)cost.nodes, cost.threads,
           (unsigned long long)memory_peak_bytes());
    return 0;
}

static int run_cold(const struct pdb *pdb, int count, char **rvas)
{
    static struct symbol_frame out[SYMBOL_FRAMES_MAX];
    struct fault fault = FAULT_INIT;
    struct pdb_lookup *lookup;
    if (pdb_lookup_open(pdb, NAMES_SHORT, &lookup, &fault) != ERR_NONE)
        return fail(&fault);
    for (int i = 0; i < count; i++) {
        const uint32_t frames = pdb_lookup(lookup, (uint32_t)strtoul(rvas[i], NULL, 16), out);
        for (uint32_t j = 0; j < frames; j++)
            printf("%s %s:%u\n", out[j].function != NULL ? out[j].function : "?",
                   out[j].file != NULL ? out[j].file : "?", out[j].line);
    }
    pdb_lookup_close(lookup);
    return 0;
}

/* A module is read at its first address, so only the first pass reads modules. */
static int run_bulk(const struct pdb *pdb, const struct file_map *map, uint32_t count)
{
    static struct symbol_frame out[SYMBOL_FRAMES_MAX];
    struct fault fault = FAULT_INIT;
    struct pdb_lookup *lookup;
    uint32_t *rvas = function_addresses(pdb, count);
    uint64_t frames = 0;
    file_release(map, 0, map->bytes); /* choosing addresses has read it */
    (void)memory_peak_restart();
    if (pdb_lookup_open(pdb, NAMES_SHORT, &lookup, &fault) != ERR_NONE)
        return fail(&fault);
    pdb_lookup_bound(lookup, map, 0);
    pdb_lookup_expect(lookup, count); /* as of a file of addresses */
    for (int pass = 0; pass < 2; pass++) {
        const uint64_t started = cpu_ns();
        for (uint32_t i = 0; i < count; i++)
            frames += pdb_lookup(lookup, rvas[i], out);
        printf("bulk_%s_ns %.0f\n", pass == 0 ? "first" : "warm",
               (double)(cpu_ns() - started) / count);
    }
    printf("bulk_frames %.2f\npeak_bytes %llu\n", (double)frames / 2 / count,
           (unsigned long long)memory_peak_bytes());
    pdb_lookup_close(lookup);
    free(rvas);
    return 0;
}

static int run_procedures(const struct pdb *pdb)
{
    struct arena copies;
    struct pdb_module module;
    arena_init(&copies, 0);
    for (uint32_t i = 0; pdb_module_open(pdb, i, &copies, &module); i++) {
        struct pdb_symbol symbol;
        struct pdb_procedure procedure;
        for (uint32_t soff = 4; pdb_symbol_at(&module, soff, &symbol);
             soff = pdb_symbol_next(&module, &symbol)) {
            uint32_t rva;
            if (pdb_procedure_read(&module, &symbol, &procedure) &&
                procedure.kind == PDB_CODE_PROCEDURE &&
                pdb_rva_of_place(pdb, procedure.start, &rva))
                printf("0x%x %u\n", rva, procedure.bytes);
        }
        arena_reset(&copies);
    }
    arena_free(&copies);
    return 0;
}

static int run_frames(const struct pdb *pdb)
{
    static struct symbol_frame out[SYMBOL_FRAMES_MAX];
    struct fault fault = FAULT_INIT;
    struct pdb_lookup *lookup;
    char line[64];
    if (pdb_lookup_open(pdb, NAMES_SHORT, &lookup, &fault) != ERR_NONE)
        return fail(&fault);
    while (fgets(line, sizeof line, stdin) != NULL) {
        const uint32_t count = pdb_lookup(lookup, (uint32_t)strtoul(line, NULL, 16), out);
        for (uint32_t i = 0; i < count; i++)
            printf("%s\v%s:%u\t", out[i].function != NULL ? out[i].function : "",
                   out[i].file != NULL ? out[i].file : "", out[i].line);
        printf("\n");
    }
    pdb_lookup_close(lookup);
    return 0;
}

int main(int argc, char **argv)
{
    struct fault fault = FAULT_INIT;
    struct file_map map;
    struct pdb pdb;
    if (argc < 4) {
        (void)fputs("usage: bench_symbols build|lookup|cold|addresses PDB ...\n", stderr);
        return 2;
    }
    if (file_map(argv[2], &map, &fault) != ERR_NONE ||
        pdb_open(map.data, map.bytes, &pdb, &fault) != ERR_NONE)
        return fail(&fault);
    int result = 2;
    if (strcmp(argv[1], "build") == 0 && argc == 5) {
        result = run_build(&pdb, &map, argv[3], (uint32_t)atoi(argv[4]));
    } else if (strcmp(argv[1], "lookup") == 0) {
        result = run_lookup(&pdb, &map, argv[3]);
    } else if (strcmp(argv[1], "cold") == 0) {
        result = run_cold(&pdb, argc - 3, argv + 3);
    } else if (strcmp(argv[1], "bulk") == 0) {
        result = run_bulk(&pdb, &map, (uint32_t)atoi(argv[3]));
    } else if (strcmp(argv[1], "procedures") == 0) {
        result = run_procedures(&pdb);
    } else if (strcmp(argv[1], "frames") == 0) {
        result = run_frames(&pdb);
    } else if (strcmp(argv[1], "addresses") == 0) {
        const uint32_t count = (uint32_t)atoi(argv[3]);
        uint32_t *rvas = function_addresses(&pdb, count);
        for (uint32_t i = 0; i < count; i++)
            printf("0x%x\n", rvas[i]);
        free(rvas);
        result = 0;
    }
    pdb_close(&pdb);
    file_unmap(&map);
    return result;
}
