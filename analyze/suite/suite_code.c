/* See suite_code.h. */
#include "suite/suite_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "format/pe/pe.h"

enum { IMAGES_MAX = 256, FUNCTION_BYTES_MAX = 16 << 10 };

struct image {
    const char *path; /* below the suite's folder */
    struct file_map map;
    struct pe pe;
    bool is_open;
};

struct suite_images {
    const struct suite *suite;
    struct arena keep;
    struct image images[IMAGES_MAX];
    uint32_t count;
};

struct suite_images *suite_images_open(const struct suite *suite)
{
    struct suite_images *images = calloc(1, sizeof *images);
    if (images != NULL) {
        images->suite = suite;
        arena_init(&images->keep, 0);
    }
    return images;
}

void suite_images_close(struct suite_images *images)
{
    if (images == NULL)
        return;
    for (uint32_t i = 0; i < images->count; i++)
        file_unmap(&images->images[i].map);
    arena_free(&images->keep);
    free(images);
}

/* A path of a case leads to a file below the folder. */
static bool is_below(const char *path)
{
    return path[0] != '/' && strstr(path, "..") == NULL && strpbrk(path, "\\:") == NULL;
}

/* NULL: it is no PE file that can be read. */
static const struct pe *image_of(struct suite_images *images, const char *path)
{
    struct fault ignored = FAULT_INIT;
    if (path == NULL || !is_below(path))
        return NULL;
    for (uint32_t i = 0; i < images->count; i++)
        if (strcmp(images->images[i].path, path) == 0)
            return images->images[i].is_open ? &images->images[i].pe : NULL;
    if (images->count == IMAGES_MAX)
        return NULL;
    struct image *image = &images->images[images->count];
    const char *whole = path_join(&images->keep, images->suite->folder, path);
    image->path = arena_string(&images->keep, path);
    if (whole == NULL || image->path == NULL)
        return NULL;
    images->count++;
    image->is_open = file_map(whole, &image->map, &ignored) == ERR_NONE &&
                     pe_open(image->map.data, image->map.bytes, &image->pe, &ignored) == ERR_NONE;
    return image->is_open ? &image->pe : NULL;
}

static uint32_t word_at(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Where code that has RVA begins and ends: at the last begin or end of a function in the table that
 * is not after it, and the next one (code that no row has, such as a leaf, lies between two);
 * without such rows, with the section. Where all instructions have one size, any multiple of it is
 * a begin. */
static bool code_around(const struct pe *pe, enum cpu cpu, uint32_t rva, uint32_t *begin,
                        uint32_t *end)
{
    enum { ROW = 12 };
    const struct pe_directory *table = &pe->directories[PE_DIR_EXCEPTION];
    const uint8_t *rows =
        cpu == CPU_X64 && table->bytes > 0 ? pe_at(pe, table->rva, table->bytes) : NULL;
    struct pe_section section;
    if (!pe_section_of_rva(pe, rva, &section))
        return false;
    *begin = section.rva;
    *end = UINT32_MAX;
    if (cpu == CPU_ARM64 && rva - section.rva > CODE_SHOWN_MAX)
        *begin = (rva & ~3U) - CODE_SHOWN_MAX;
    for (uint32_t i = 0; rows != NULL && i + ROW <= table->bytes; i += ROW)
        for (uint32_t k = 0; k < 8; k += 4) {
            const uint32_t at = word_at(rows + i + k);
            if (at <= rva && at > *begin)
                *begin = at;
            if (at > rva && at < *end)
                *end = at;
        }
    return rva - *begin <= FUNCTION_BYTES_MAX;
}

static enum status list(const struct pe *pe, uint32_t rva, uint64_t base_va, enum pc_kind kind,
                        struct arena *keep, struct code_listing *out, const char **why,
                        struct fault *fault)
{
    const enum cpu cpu = pe_cpu(pe->machine);
    struct code_bytes code = {.cpu = cpu, .kind = kind};
    const uint32_t within = kind == PC_RETURN && rva > 0 ? rva - 1 : rva; /* of the call */
    uint32_t begin = 0, end = 0, left = 0, start = 0;
    if (!code_around(pe, cpu, within, &begin, &end)) {
        *why = "it is in no section of the image, or far from all that is known to be code";
        return ERR_NONE;
    }
    code.bytes = pe_tail(pe, begin, &left);
    code.pc = rva - begin;
    code.count = left < code.pc + CODE_SHOWN_MAX ? left : code.pc + CODE_SHOWN_MAX;
    if (end - begin < code.count)
        code.count = end - begin;
    if (code.bytes == NULL || !code_align(&code, &start)) {
        *why = "no chain of instructions leads from where code begins to it";
        return ERR_NONE;
    }
    code.bytes += start;
    code.count -= start;
    code.pc -= start;
    code.at = base_va + begin + start;
    return code_list(&code, keep, out, fault);
}

/* The address that FRAME of the truth is at; the state is known without a truth, too. */
static bool address_of(const struct suite_case *c, const cJSON *given, uint32_t frame,
                       uint64_t *out)
{
    static const char *const names[] = {"rip", "pc", "eip"};
    const cJSON *registers = cJSON_GetObjectItemCaseSensitive(given, "registers");
    if (c->walk_count > 0 && frame < c->walks[0].count) {
        *out = c->walks[0].frames[frame].ip;
        return true;
    }
    for (size_t i = 0; frame == 0 && i < COUNT_OF(names); i++) {
        struct fault ignored = FAULT_INIT;
        *out = json_get_hex(registers, names[i], 0, &ignored);
        if (*out != 0)
            return true;
    }
    return false;
}

static enum status list_moment(struct suite_images *images, const cJSON *given, uint64_t va,
                               enum pc_kind kind, struct arena *keep, struct code_listing *out,
                               const char **why, struct fault *fault)
{
    const cJSON *module;
    *why = "it is in no image of the suite";
    cJSON_ArrayForEach(module, cJSON_GetObjectItemCaseSensitive(given, "modules"))
    {
        struct fault ignored = FAULT_INIT;
        const uint64_t base = json_get_hex(module, "base", 0, &ignored);
        const uint64_t bytes = json_get_hex(module, "size", 0, &ignored);
        if (va < base || va - base >= bytes || va - base > UINT32_MAX)
            continue;
        const struct pe *pe = image_of(
            images, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(module, "path")));
        if (pe == NULL)
            continue;
        *why = NULL;
        return list(pe, (uint32_t)(va - base), base, kind, keep, out, why, fault);
    }
    return ERR_NONE;
}

static enum status list_address(struct suite_images *images, const cJSON *given, struct arena *keep,
                                struct code_listing *out, const char **why, struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    const char *lookup = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(given, "lookup"));
    const uint64_t rva = json_get_hex(given, "rva", 0, &ignored);
    const struct pe *pe =
        image_of(images, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(given, "image")));
    *why = NULL;
    if (pe == NULL || rva > UINT32_MAX) {
        *why = "its image is no PE file";
        return ERR_NONE;
    }
    return list(pe, (uint32_t)rva, 0,
                lookup != NULL && strcmp(lookup, "return") == 0 ? PC_RETURN : PC_INTERRUPTED, keep,
                out, why, fault);
}

enum status suite_code_list(struct suite_images *images, const struct suite_case *c, uint32_t frame,
                            struct arena *keep, struct code_listing *out, const char **why,
                            struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    cJSON *question = NULL;
    uint64_t va = 0;
    *out = (struct code_listing){0};
    *why = "the case has no frame";
    if (json_parse(c->question, strlen(c->question), &question, &ignored) != ERR_NONE)
        return ERR_NONE;
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(question, "given");
    if (c->kind == SUITE_ADDRESS)
        (void)list_address(images, given, keep, out, why, fault);
    else if (c->kind == SUITE_DUMP)
        *why = "its image is known by the dump alone";
    else if (address_of(c, given, frame, &va))
        (void)list_moment(images, given, va, frame == 0 ? PC_INTERRUPTED : PC_RETURN, keep, out,
                          why, fault);
    cJSON_Delete(question);
    return fault->code;
}
