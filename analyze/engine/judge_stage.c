/* Staging folders: see judge.h. */
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "engine/dump.h"
#include "engine/judge.h"
#include "engine/judge_pool.h"
#include "format/pdb/pdb.h"
#include "symbol/symbol_store.h"

static enum status write_staged(const struct judge_stage *stage, const char *name, const void *data,
                                size_t bytes, struct arena *keep, struct fault *fault)
{
    const char *path = path_join(keep, stage->folder, path_base(name));
    if (path == NULL)
        return fault_no_memory(fault, "staging folder");
    return path_is_file(path) ? ERR_NONE : file_write(path, data, bytes, fault);
}

static bool has_images(const struct crash_case *crash)
{
    for (uint32_t i = 0; i < crash->file_count; i++)
        if (crash->files[i].role == ROLE_IMAGE)
            return true;
    return false;
}

/* The folder for module INDEX: a second one of its name gets one of its own, as in
 * judge_stage_put().
 */
static enum status open_place(const struct judge_stage *stage, const struct module *modules,
                              uint32_t index, struct arena *keep, struct judge_stage *out,
                              struct fault *fault)
{
    *out = *stage;
    for (uint32_t i = 0; i < index; i++)
        if (text_equal_nocase(modules[i].name, modules[index].name) &&
            strcmp(modules[i].code_id, modules[index].code_id) != 0)
            out->folder = path_join(keep, stage->folder, modules[index].code_id);
    if (out->folder == NULL)
        return fault_no_memory(fault, "staging folder");
    return out->folder != stage->folder ? folder_make(out->folder, fault) : ERR_NONE;
}

/* An imported case has no images of its own. The images that the symbol store knows by the dump's
 * identities are written out, with their PDBs. */
static enum status stage_from_store(const struct engine_input *in, const struct judge_stage *stage,
                                    struct arena *keep, struct fault *fault)
{
    uint32_t count;
    if (in->symbols == NULL || in->opened->dump == NULL)
        return ERR_NONE;
    const struct module *modules = dump_modules(in->opened->dump, &count);
    enum status status = ERR_NONE;
    for (uint32_t i = 0; i < count && status == ERR_NONE; i++) {
        const struct file_map *image = symbol_store_image(in->symbols, &modules[i]);
        const struct pdb *pdb = image != NULL ? symbol_store_pdb(in->symbols, &modules[i]) : NULL;
        struct judge_stage place = *stage;
        if (image != NULL)
            status = open_place(stage, modules, i, keep, &place, fault);
        if (status == ERR_NONE && image != NULL)
            status = write_staged(&place, modules[i].name, image->data, image->bytes, keep, fault);
        if (status == ERR_NONE && pdb != NULL && modules[i].pdb_name != NULL &&
            msf_unpack(&pdb->msf))
            status = write_staged(&place, modules[i].pdb_name, pdb->msf.data, pdb->msf.bytes, keep,
                                  fault);
    }
    return status;
}

enum status judge_stage_open(const struct engine_input *in, struct arena *keep,
                             struct judge_stage *out, struct fault *fault)
{
    const struct crash_case *crash = in->opened->crash;
    *out = (struct judge_stage){0};
    if (in->judges != NULL && has_images(crash))
        return judge_pool_stage(in->judges, crash, keep, out, fault);
    out->folder = folder_temporary_name("judge", keep);
    if (out->folder == NULL)
        return fault_no_memory(fault, "staging folder");
    enum status status = folder_make(out->folder, fault);
    for (uint32_t i = 0; i < crash->file_count && status == ERR_NONE; i++) {
        const struct case_file *file = &crash->files[i];
        if (file->role != ROLE_DUMP && file->role != ROLE_IMAGE && file->role != ROLE_PDB)
            continue;
        if (file->role == ROLE_DUMP && out->dump != NULL)
            continue; /* a second dump of the case: every engine reads the first one */
        status = judge_stage_put(out, crash, i, keep, fault);
        if (file->role == ROLE_DUMP)
            out->dump = path_base(file->path);
    }
    if (status == ERR_NONE && !has_images(crash))
        status = stage_from_store(in, out, keep, fault);
    if (status != ERR_NONE)
        judge_stage_close(out);
    return status;
}

void judge_stage_close(const struct judge_stage *stage)
{
    struct fault ignored = FAULT_INIT;
    struct arena scratch;
    arena_init(&scratch, 0);
    const char *mine = NULL;
    if (!stage->lasts)
        mine = stage->folder;
    else if (stage->dump != NULL)
        mine = path_join(&scratch, stage->folder, stage->dump);
    if (mine != NULL)
        (void)path_remove(mine, &ignored);
    arena_free(&scratch);
}
