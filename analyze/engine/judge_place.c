/* Places of a case's files in a staging folder. Two plugins of one file name are two images: the
 * first has the place that tools look in, the other one, with its PDB, gets a folder of its own. */
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "engine/judge.h"
#include "format/pe/pe.h"

enum status judge_stage_add(const struct judge_stage *stage, const char *path, struct arena *keep,
                            struct fault *fault)
{
    const char *to = path_join(keep, stage->folder, path_base(path));
    if (to == NULL)
        return fault_no_memory(fault, "staging folder");
    return file_copy(path, to, fault);
}

static const struct case_file *image_before(const struct crash_case *crash, uint32_t index)
{
    while (index-- > 0)
        if (crash->files[index].role == ROLE_IMAGE)
            return &crash->files[index];
    return NULL;
}

/* True when an earlier image of the case has the name of IMAGE and other bytes. */
static bool is_second(const struct crash_case *crash, const struct case_file *image)
{
    for (const struct case_file *file = crash->files; file < image; file++)
        if (file->role == ROLE_IMAGE &&
            text_equal_nocase(path_base(file->path), path_base(image->path)) &&
            strcmp(file->sha256, image->sha256) != 0)
            return true;
    return false;
}

/* "" when the file is no image. */
static void read_code_id(const char *path, char out[CODE_ID_BYTES])
{
    struct fault ignored = FAULT_INIT;
    struct file_map map;
    struct pe pe;

    out[0] = '\0';
    if (path == NULL || file_map(path, &map, &ignored) != ERR_NONE)
        return;
    if (pe_open(map.data, map.bytes, &pe, &ignored) == ERR_NONE)
        pe_code_id(&pe, out);
    file_unmap(&map);
}

/* The folder inside the stage for the case's file, "" for the stage itself. */
static const char *folder_of(const struct crash_case *crash, uint32_t index, struct arena *keep)
{
    const struct case_file *file = &crash->files[index];
    const struct case_file *image = NULL;
    char code_id[CODE_ID_BYTES];

    if (file->role == ROLE_IMAGE)
        image = file;
    else if (file->role == ROLE_PDB)
        image = image_before(crash, index); /* a PDB follows its image */

    if (image == NULL || !is_second(crash, image))
        return "";
    read_code_id(path_join(keep, crash->folder, image->path), code_id);
    return arena_string(keep, code_id);
}

enum status judge_stage_put(const struct judge_stage *stage, const struct crash_case *crash,
                            uint32_t index, struct arena *keep, struct fault *fault)
{
    const char *from = path_join(keep, crash->folder, crash->files[index].path);
    const char *inner = folder_of(crash, index, keep);
    const char *folder = NULL;
    if (inner != NULL)
        folder = inner[0] == '\0' ? stage->folder : path_join(keep, stage->folder, inner);
    const char *to =
        folder != NULL ? path_join(keep, folder, path_base(crash->files[index].path)) : NULL;

    if (from == NULL || to == NULL)
        return fault_no_memory(fault, "staging folder");
    if (inner[0] != '\0' && folder_make(folder, fault) != ERR_NONE)
        return fault->code;
    return file_copy(from, to, fault);
}

const char *judge_staged_image(const struct judge_stage *stage, const char *name,
                               const char *code_id, struct arena *keep)
{
    const char *own = code_id != NULL && code_id[0] != '\0'
                          ? arena_printf(keep, "%s/%s", code_id, path_base(name))
                          : NULL;
    const char *path = own != NULL ? path_join(keep, stage->folder, own) : NULL;

    if (path != NULL && path_is_file(path))
        return own;
    path = path_join(keep, stage->folder, path_base(name));
    return path != NULL && path_is_file(path) ? path_base(name) : NULL;
}
