/* judge:dbghelp-microsoft and judge:dbgeng: Microsoft's own code reads the dump, also under Wine.
 * The programs are ours (capture/judge); the DLLs are the user's, and are linked into a temporary
 * folder beside the program, because Windows and Wine look there first. */
#include "engine/judge.h"

#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "engine/judge_pool.h"
#include "engine/judges.h"
#include "engine/microsoft.h"

/* Wine takes its own DLLs unless it must take those of the program's folder; and the
 * launcher's environment, which this replaces, keeps Wine's debugger from starting. */
static const char overrides[] = "WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe=;"
                                "dbghelp,dbgcore,msdia140,dbgeng,dbgmodel=n";

/* What a judge runs, and the folder that it runs in. Both programs are for x64, and so are the
 * DLLs: these read dumps of any processor. */
struct recipe {
    const char *program, *folder;
    enum microsoft_file files[MICROSOFT_FILE_COUNT];
    uint32_t file_count;
};

static const struct recipe of_dbghelp = {"twinstack-dbghelp.exe",
                                         "microsoft",
                                         {MICROSOFT_DBGHELP, MICROSOFT_DBGCORE, MICROSOFT_MSDIA},
                                         3};

static const struct recipe of_dbgeng = {
    "twinstack-dbgeng.exe",
    "microsoft-engine",
    {MICROSOFT_DBGHELP, MICROSOFT_DBGCORE, MICROSOFT_MSDIA, MICROSOFT_DBGENG, MICROSOFT_DBGMODEL},
    5};

static const struct recipe *recipe_of(const struct engine *self)
{
    return self == &engine_judge_dbgeng ? &of_dbgeng : &of_dbghelp;
}

static bool has_files(const struct recipe *recipe, const struct engine_input *in,
                      struct arena *scratch, const char **why)
{
    for (uint32_t i = 0; i < recipe->file_count; i++)
        if (microsoft_path(recipe->files[i], CPU_X64, scratch) == NULL) {
            *why = microsoft_why_not;
            return false;
        }
    const char *path =
        in->judge_folder != NULL ? path_join(scratch, in->judge_folder, recipe->program) : NULL;
    *why = "its program is not in the folder of judges";
    return path != NULL && path_is_file(path);
}

static bool available(const struct recipe *recipe, const struct engine_input *in, const char **why)
{
    struct arena scratch;
#if !defined(_WIN32)
    if (in->launcher == NULL) {
        *why = "a Windows program, and no launcher was named";
        return false;
    }
#endif
    arena_init(&scratch, 0);
    const bool there = has_files(recipe, in, &scratch, why);
    arena_free(&scratch);
    return there && judge_has_dump(in, why);
}

static bool dbghelp_available(const struct engine_input *in, const char **why)
{
    return available(&of_dbghelp, in, why);
}

static bool dbgeng_available(const struct engine_input *in, const char **why)
{
    return available(&of_dbgeng, in, why);
}

/* Makes FOLDER/recipe->folder with the program and the DLLs, unless it is there. */
static enum status make_folder(const struct recipe *recipe, const struct engine_input *in,
                               const char *folder, struct arena *keep, struct fault *fault)
{
    const struct judge_stage place = {.folder = path_join(keep, folder, recipe->folder)};
    const char *program = path_join(keep, in->judge_folder, recipe->program);

    if (place.folder == NULL || program == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "judge");
    const char *made = path_join(keep, place.folder, recipe->program);
    if (made != NULL && path_is_file(made))
        return ERR_NONE;
    if (folder_make(place.folder, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < recipe->file_count; i++) {
        const char *path = microsoft_path(recipe->files[i], CPU_X64, keep);
        if (path == NULL)
            return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "Microsoft's debugger");
        if (judge_stage_add(&place, path, keep, fault) != ERR_NONE)
            return fault->code;
    }
    return judge_stage_add(&place, program, keep, fault); /* last: its presence means complete */
}

/* The launcher's words with the overrides before the last of them, which is Wine itself; then the
 * program and its arguments. NULL: too many words. */
static const char *const *words_of(const struct recipe *recipe, const struct engine_input *in,
                                   const char *const *arguments, struct arena *keep)
{
    const char *words[JUDGE_WORDS_MAX + 3];
    struct engine_input there = *in;
    uint32_t count = 0;

    for (; in->launcher != NULL && in->launcher[count] != NULL; count++) {
        if (count == JUDGE_WORDS_MAX)
            return NULL;
        words[count] = in->launcher[count];
    }
    if (count > 0) {
        words[count + 1] = words[count - 1];
        words[count - 1] = "env";
        words[count] = overrides;
        words[count + 2] = NULL;
        there.launcher = words;
    }
    const char *program = arena_printf(keep, "%s/%s", recipe->folder, recipe->program);
    return program != NULL ? judge_windows_argv(&there, program, arguments, keep) : NULL;
}

static enum status ask_once(const struct recipe *recipe, const struct engine *self,
                            const struct engine_input *in, const struct judge_stage *stage,
                            struct arena *keep, struct engine_result *out, struct fault *fault)
{
    const char *const arguments[] = {stage->dump, ".", NULL};
    const char *const *argv = words_of(recipe, in, arguments, keep);
    struct process_result result;

    if (argv == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "judge");
    if (make_folder(recipe, in, stage->folder, keep, fault) != ERR_NONE ||
        judge_run(stage, argv, NULL, 0, keep, &result, out, fault) != ERR_NONE)
        return fault->code;
    return judge_read_answer(result.output, result.output_bytes, self->name, keep, out, fault);
}

/* As judge:dbghelp does: "DUMP<tab>FOLDER" in, the document in one line out. */
static enum status ask_pool(const struct recipe *recipe, const struct engine *self,
                            const struct engine_input *in, const struct judge_stage *stage,
                            struct arena *keep, struct engine_result *out, struct fault *fault)
{
    static const char *const arguments[] = {"--serve", NULL};
    const char *const *argv = words_of(recipe, in, arguments, keep);
    const char *folder = path_base(stage->folder); /* it is one in the pool's */
    const char *question = arena_printf(keep, "%s/%s\t%s\n", folder, stage->dump, folder);
    char *answer = NULL;

    if (argv == NULL || question == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "judge");
    if (make_folder(recipe, in, judge_pool_folder(in->judges), keep, fault) != ERR_NONE ||
        judge_pool_ask(in->judges, argv, question, 1, keep, &answer, out, fault) != ERR_NONE)
        return fault->code;
    return judge_read_answer(answer, strlen(answer), self->name, keep, out, fault);
}

static enum status ask(const struct engine *self, const struct engine_input *in,
                       const struct judge_stage *stage, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    return stage->lasts && !judge_pool_takes_sample(in->judges, self->name)
               ? ask_pool(recipe_of(self), self, in, stage, keep, out, fault)
               : ask_once(recipe_of(self), self, in, stage, keep, out, fault);
}

static enum status run(const struct engine *self, const struct engine_input *in, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    return judge_run_staged(self, in, ask, keep, out, fault);
}

const struct engine engine_judge_dbghelp_microsoft = {
    .name = "judge:dbghelp-microsoft",
    .kind = ENGINE_KIND_JUDGE,
    .reads_dump = true,
    .shares = "nothing: Microsoft's dbghelp reads, walks and names by itself",
    .available = dbghelp_available,
    .run = run,
};

const struct engine engine_judge_dbgeng = {
    .name = "judge:dbgeng",
    .kind = ENGINE_KIND_JUDGE,
    .reads_dump = true,
    .shares = "nothing of ours; dbghelp and its PDB reader with judge:dbghelp-microsoft",
    .available = dbgeng_available,
    .run = run,
};
