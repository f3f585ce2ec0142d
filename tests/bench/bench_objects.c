/* Times the symbol index of one image without a PDB, inside the process:
 *
 *     bench_objects build IMAGE INDEX      opens the image, builds its index once
 *     bench_objects lookup IMAGE INDEX     looks up random addresses in the index and in the image
 *     bench_objects cold IMAGE INDEX RVA   opens the index, looks up one address
 *
 * lookup also compares all answers. With INDEX "-", cold looks the address up in the image itself.
 * Results are "name value" lines; times are processor time, but cold_us is wall time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "symbol/image_names.h"
#include "symbol/symbol_index.h"

enum { ADDRESSES = 200000 };

static int fail(const struct fault *fault)
{
    char text[1024];
    fault_describe(fault, text, sizeof text);
    (void)fprintf(stderr, "bench_objects: %s\n", text);
    return 3;
}

static uint64_t cpu_ns(void)
{
    return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC));
}

struct opened {
    struct file_map map;
    struct object_file file;
    struct symbol_object *object; /* NULL until it is opened */
    struct symbol_index_key key;
};

static bool open_object(struct opened *o, const char *path, struct fault *fault)
{
    return o->object != NULL ||
           symbol_object_open(&o->file, path, NULL, 0, NAMES_SHORT, &o->object, fault) == ERR_NONE;
}

static int run_build(struct opened *o, const char *path, const char *index, struct fault *fault)
{
    struct symbol_index_cost cost;
    struct code_pieces pieces;
    const uint64_t start = cpu_ns();
    if (!open_object(o, path, fault))
        return fail(fault);
    symbol_object_pieces(o->object, &pieces);
    if (symbol_index_build_pieces(&pieces, &o->key, index, &cost, fault) != ERR_NONE)
        return fail(fault);
    printf("build_ms %.2f\nindex_bytes %llu\npieces %llu\nscopes %llu\npeak_bytes %llu\n",
           (double)(cpu_ns() - start) / 1e6, (unsigned long long)cost.index_bytes,
           (unsigned long long)cost.ranges, (unsigned long long)cost.nodes,
           (unsigned long long)memory_peak_bytes());
    return 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_frames(const struct symbol_frame *a, const struct symbol_frame *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!same_text(a[i].function, b[i].function) || !same_text(a[i].file, b[i].file) ||
            a[i].line != b[i].line || a[i].distance != b[i].distance || a[i].from != b[i].from ||
            a[i].inlined != b[i].inlined)
            return false;
    return true;
}

static int run_lookup(struct opened *o, const char *path, const char *index_path,
                      struct fault *fault)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX], others[SYMBOL_FRAMES_MAX];
    static uint32_t rvas[ADDRESSES];
    struct symbol_index *index;
    uint64_t state = 88172645463325252u, sum = 0, differ = 0;
    if (symbol_index_open_key(index_path, &o->key, &index, fault) != ERR_NONE ||
        !open_object(o, path, fault))
        return fail(fault);
    uint32_t first;
    uint64_t end;
    symbol_index_range(index, &first, &end);
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        rvas[i] = first + (uint32_t)(state % (end - first));
    }
    uint64_t start = cpu_ns();
    for (uint32_t i = 0; i < ADDRESSES; i++)
        sum += symbol_index_lookup(index, rvas[i], frames);
    printf("index_ns %.0f\nframes %.2f\n", (double)(cpu_ns() - start) / (double)ADDRESSES,
           (double)sum / (double)ADDRESSES);
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        const uint32_t count = symbol_index_lookup(index, rvas[i], frames);
        differ += symbol_object_lookup(o->object, rvas[i], others) != count ||
                  !same_frames(frames, others, count);
    }
    printf("differ %llu\n", (unsigned long long)differ);
    start = cpu_ns();
    for (uint32_t i = 0; i < ADDRESSES; i++)
        sum += symbol_object_lookup(o->object, rvas[i], frames);
    printf("image_ns %.0f\n", (double)(cpu_ns() - start) / (double)ADDRESSES);
    symbol_index_close(index);
    return differ != 0;
}

static int run_cold(struct opened *o, const char *path, const char *index_path, const char *rva,
                    struct fault *fault)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const uint32_t at = (uint32_t)strtoul(rva, NULL, 0);
    const uint64_t start = clock_ns();
    struct symbol_index *index = NULL;
    uint32_t count;
    if (strcmp(index_path, "-") == 0) {
        if (!open_object(o, path, fault))
            return fail(fault);
        count = symbol_object_lookup(o->object, at, frames);
    } else {
        if (symbol_index_open_key(index_path, &o->key, &index, fault) != ERR_NONE)
            return fail(fault);
        count = symbol_index_lookup(index, at, frames);
    }
    printf("cold_us %.1f\n", (double)(clock_ns() - start) / 1e3);
    for (uint32_t i = 0; i < count; i++)
        printf("%s %s:%u\n", frames[i].function != NULL ? frames[i].function : "?",
               frames[i].file != NULL ? frames[i].file : "?", frames[i].line);
    symbol_index_close(index);
    return 0;
}

int main(int argc, char **argv)
{
    struct fault fault = FAULT_INIT;
    struct opened o = {.object = NULL};
    int result = 2;
    if (argc < 4) {
        (void)fputs("usage: bench_objects build|lookup|cold IMAGE INDEX [RVA]\n", stderr);
        return 2;
    }
    if (file_map(argv[2], &o.map, &fault) != ERR_NONE ||
        object_file_open(o.map.data, o.map.bytes, 0, &o.file, &fault) != ERR_NONE)
        return fail(&fault);
    o.key = symbol_index_key(&o.map, NAMES_SHORT);
    o.key.is_image = true;
    if (strcmp(argv[1], "build") == 0)
        result = run_build(&o, argv[2], argv[3], &fault);
    else if (strcmp(argv[1], "lookup") == 0)
        result = run_lookup(&o, argv[2], argv[3], &fault);
    else if (strcmp(argv[1], "cold") == 0 && argc == 5)
        result = run_cold(&o, argv[2], argv[3], argv[4], &fault);
    symbol_object_close(o.object);
    file_unmap(&o.map);
    return result;
}
