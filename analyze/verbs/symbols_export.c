/* See symbols_export.h. */
#include "verbs/symbols_export.h"

#include <stdio.h>

#include "format/pe/pe.h"
#include "symbol/breakpad_export.h"
#include "symbol/source.h"
#include "unwind/cfi_export.h"

/* Every slice of a file that --symbols names. */
static uint32_t list_companion(const char *path, struct object_candidate *out, uint32_t room,
                               struct fault *fault)
{
    struct file_map map;
    uint32_t count = 0;
    bool unpacked;

    if (source_map(path, &map, &unpacked, fault) != ERR_NONE)
        return 0;
    while (count < room && object_candidate_read(map.data, map.bytes, count, &out[count], fault)) {
        out[count].path = path;
        out[count].name = path_base(path);
        out[count].slice = count;
        count++;
        if (object_recognize(map.data, map.bytes) != OBJECT_MACHO)
            break;
    }
    if (count > 0)
        fault_clear(fault); /* of the slice after the last */
    source_unmap(&map, unpacked);
    return count;
}

int symbols_export_object(const struct symbol_file *file, const struct option_list *companions,
                          enum symbol_names names)
{
    enum { CANDIDATES_MAX = 256 };
    const struct object_file *image = source_object_of(&file->source);
    const enum object_arch arch = file->source.id.arch;
    struct object_candidate candidates[CANDIDATES_MAX] = {0};
    struct fault fault = FAULT_INIT;
    struct symbol_object *object = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < companions->count && fault.code == ERR_NONE; i++)
        count += list_companion(companions->items[i], candidates + count, CANDIDATES_MAX - count,
                                &fault);
    if (fault.code == ERR_NONE &&
        symbol_object_open(image, file->path, candidates, count, names, &object, &fault) ==
            ERR_NONE &&
        symbol_export_object(object, arch, file->name, stdout, &fault) == ERR_NONE)
        (void)(image->kind == OBJECT_PE ? unwind_export_cfi(&image->as.pe, stdout)
                                        : unwind_export_dwarf(image, arch, stdout));
    symbol_object_close(object);
    if (fault.code == ERR_NONE)
        return EXIT_GOOD;
    fault_set_path(&fault, file->path);
    return verb_fault(&fault);
}
