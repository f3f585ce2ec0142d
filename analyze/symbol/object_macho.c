/* The debug map of a Mach-O image: where each function of each object file lies. The objects and
 * archives are searched among the named files by the end of their paths; see image_names.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/symbol_object.h"

/* A path of the debug map: "/b/lib.a(x.o)" has a member. */
struct map_path {
    char file[1024], member[256];
};

static bool split_path(const char *path, struct map_path *out)
{
    const size_t bytes = strlen(path);
    const char *open = bytes > 0 && path[bytes - 1] == ')' ? strrchr(path, '(') : NULL;
    const size_t file_bytes = open != NULL ? (size_t)(open - path) : bytes;
    const size_t member_bytes = open != NULL ? bytes - file_bytes - 2 : 0;

    if (file_bytes >= sizeof out->file || member_bytes >= sizeof out->member)
        return false;
    memcpy(out->file, path, file_bytes);
    out->file[file_bytes] = '\0';
    memcpy(out->member, open != NULL ? open + 1 : path, member_bytes);
    out->member[member_bytes] = '\0';
    return true;
}

/* The length of the common suffix of two paths. */
static size_t common_end(const char *a, const char *b)
{
    const size_t x = strlen(a), y = strlen(b);
    size_t n = 0;
    while (n < x && n < y && a[x - 1 - n] == b[y - 1 - n])
        n++;
    return n;
}

/* The candidate whose path ends most like PATH, with the same name; NULL: none. */
static const struct object_candidate *find_file(const char *path, enum object_kind kind,
                                                enum object_arch arch,
                                                const struct object_candidate *candidates,
                                                uint32_t count)
{
    const struct object_candidate *best = NULL;
    size_t most = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct object_candidate *c = &candidates[i];
        if (c->kind != kind || strcmp(c->name, path_base(path)) != 0 ||
            (kind == OBJECT_MACHO && (c->is_code || c->arch != arch)))
            continue;
        const size_t end = common_end(c->path, path);
        if (end > most) {
            best = c;
            most = end;
        }
    }
    return best;
}

static bool find_member(const struct object_file *archive, const char *name, uint32_t cpu,
                        struct macho *out)
{
    struct archive_member member;
    uint64_t at = 0;

    while (archive_next(archive->bytes.data, archive->bytes.bytes, &at, &member)) {
        struct fault fault = FAULT_INIT;
        if (strcmp(member.name, name) == 0 &&
            macho_open(member.data.data, member.data.bytes, out, &fault) == ERR_NONE &&
            out->cpu == cpu)
            return true;
    }
    return false;
}

/* The object file of a path in the debug map. */
static bool open_object(struct symbol_object *object, const char *path,
                        const struct object_candidate *candidates, uint32_t count,
                        struct macho *out)
{
    const struct macho *image = &object->image.as.macho;
    enum object_arch arch = macho_arch(image);
    struct object_file file;
    struct map_path parts;

    if (!split_path(path, &parts))
        return false;
    if (parts.member[0] == '\0') {
        const struct object_candidate *c = find_file(path, OBJECT_MACHO, arch, candidates, count);
        if (c == NULL || !object_map(object, c, &file))
            return false;
        *out = file.as.macho;
        return true;
    }
    for (uint32_t i = 0; i < count; i++) { /* each slice of a fat archive is a candidate */
        if (candidates[i].kind == OBJECT_ARCHIVE &&
            strcmp(candidates[i].name, path_base(parts.file)) == 0 &&
            object_map(object, &candidates[i], &file) &&
            find_member(&file, parts.member, image->cpu, out))
            return true;
    }
    const struct object_candidate *c =
        find_file(parts.member, OBJECT_MACHO, arch, candidates, count);
    if (c == NULL || !object_map(object, c, &file))
        return false;
    *out = file.as.macho;
    return true;
}

static bool find_name(const struct macho_name *names, uint32_t count, const char *name,
                      uint64_t *va)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = strcmp(names[middle].name, name);
        *va = names[middle].va;
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Reads one object file, and adds the pieces of the functions in MAPPED, all of which are from that
 * file. */
static void add_object(struct symbol_object *object, const struct macho *file,
                       const struct macho_mapped *mapped, uint32_t count)
{
    struct object_debug *debug = ARENA_NEW(&object->arena, struct object_debug);
    struct fault fault = FAULT_INIT;
    struct macho_name *names;
    uint32_t name_count;

    if (debug == NULL || !macho_debug(file, &object->arena, debug, &fault) ||
        macho_names(file, &object->arena, &names, &name_count, &fault) != ERR_NONE)
        return;
    const struct dwarf_input input = {.debug = debug};
    const uint32_t part = object->part_count;
    if (object_add_part(object, &input) == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t va = 0;
        if (find_name(names, name_count, mapped[i].name, &va) && va <= UINT32_MAX &&
            mapped[i].bytes <= UINT32_MAX - va)
            object->pieces[object->piece_count++] =
                (struct object_piece){mapped[i].offset, mapped[i].bytes, part, (uint32_t)va};
    }
}

static int compare_objects(const void *left, const void *right)
{
    const struct macho_mapped *a = left, *b = right;
    const int order = strcmp(a->object, b->object);
    if (order != 0)
        return order;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

ARRAY_ORDER(compare_pieces, struct object_piece, start)

void object_read_debug_map(struct symbol_object *object, const struct object_candidate *candidates,
                           uint32_t count)
{
    struct fault fault = FAULT_INIT;
    struct macho_mapped *mapped;
    struct macho file;
    uint32_t mapped_count, end;

    if (macho_debug_map(&object->image.as.macho, &object->arena, &mapped, &mapped_count, &fault) !=
            ERR_NONE ||
        mapped_count == 0)
        return;
    object->pieces = ARENA_ARRAY(&object->arena, mapped_count, struct object_piece);
    if (object->pieces == NULL)
        return;
    array_sort(mapped, mapped_count, sizeof *mapped, compare_objects);
    for (uint32_t start = 0; start < mapped_count; start = end) {
        end = start + 1;
        while (end < mapped_count && strcmp(mapped[end].object, mapped[start].object) == 0)
            end++;
        if (open_object(object, mapped[start].object, candidates, count, &file))
            add_object(object, &file, mapped + start, end - start);
    }
    if (object->piece_count > 0)
        array_sort(object->pieces, object->piece_count, sizeof *object->pieces, compare_pieces);
}
