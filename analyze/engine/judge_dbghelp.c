/* judge:dbghelp, the traditional way: Windows's own library opens the dump, walks it and names the
 * frames. The program that calls it is ours (capture/judge). It is a Windows program, so on other
 * systems it needs a launcher (Wine). */
#include "engine/judge.h"

#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "engine/judge_pool.h"
#include "format/context/registers.h"

/* Wine's dbghelp gives no names for the other bitness. That of Windows does, so either program
 * works there. */
static const char program_x64[] = "twinstack-dbghelp.exe";
static const char program_x86[] = "twinstack-dbghelp-x86.exe";

static const char *program_for(const struct engine_input *in, struct arena *scratch)
{
    const char *path = path_join(scratch, in->judge_folder, program_x86);
    bool narrow = in->crash->arch == CPU_X86 && path != NULL && path_is_file(path);
    return narrow ? program_x86 : program_x64;
}

static bool available(const struct engine_input *in, const char **why)
{
    struct arena scratch;
#if !defined(_WIN32)
    if (in->launcher == NULL) {
        *why = "a Windows program, and no launcher was named";
        return false;
    }
#endif
    if (in->judge_folder == NULL) {
        *why = "no folder of judges was named";
        return false;
    }
    arena_init(&scratch, 0);
    const char *path = path_join(&scratch, in->judge_folder, program_for(in, &scratch));
    bool there = path != NULL && path_is_file(path);
    arena_free(&scratch);
    if (!there) {
        *why = "twinstack-dbghelp.exe is not in the folder of judges";
        return false;
    }
    return judge_has_dump(in, why);
}

/* Without a question the program ends at once, after the system has loaded dbghelp for it. */
static enum status starts(const struct engine_input *in, struct arena *keep, struct fault *fault)
{
    enum { START_LIMIT_MS = 30000 };
    static const char *const arguments[] = {"--serve", NULL};
    const char *path = path_join(keep, in->judge_folder, program_for(in, keep));
    const struct process_request request = {
        .argv = path != NULL ? judge_windows_argv(in, path, arguments, keep) : NULL,
        .limit_ms = START_LIMIT_MS,
    };
    struct process_result result;

    if (request.argv == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "judge");
    if (process_run(&request, keep, &result, fault) != ERR_NONE)
        return fault->code;
    if (result.exit_code != 0 || result.timed_out)
        return fault_set_lasting(fault, ERR_IO, FAULT_NO_OFFSET, "twinstack-dbghelp.exe",
                                 result.timed_out ? "it does not end" : "it does not run here");
    return ERR_NONE;
}

/* Starts a program for this question alone. */
static enum status ask_once(const struct engine *self, const struct engine_input *in,
                            const struct judge_stage *stage, struct arena *keep,
                            struct engine_result *out, struct fault *fault)
{
    const char *const arguments[] = {stage->dump, ".", NULL};
    struct process_result result;
    const char *program = program_for(in, keep);
    const char *path = path_join(keep, in->judge_folder, program);
    const char *const *argv = judge_windows_argv(in, program, arguments, keep);
    if (path == NULL || argv == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "judge");
    if (judge_stage_add(stage, path, keep, fault) != ERR_NONE ||
        judge_run(stage, argv, NULL, 0, keep, &result, out, fault) != ERR_NONE)
        return fault->code;
    return judge_read_answer(result.output, result.output_bytes, self->name, keep, out, fault);
}

/* Asks the program that keeps running: "DUMP<tab>FOLDER" in, the document in one line out.  It runs
 * in the pool's folder, so DUMP and FOLDER are relative to that. */
static enum status ask_pool(const struct engine *self, const struct engine_input *in,
                            const struct judge_stage *stage, struct arena *keep,
                            struct engine_result *out, struct fault *fault)
{
    static const char *const arguments[] = {"--serve", NULL};
    const struct judge_stage pool = {.folder = judge_pool_folder(in->judges)};
    const char *program = program_for(in, keep);
    const char *path = path_join(keep, in->judge_folder, program);
    const char *here = path_join(keep, pool.folder, program);
    const char *const *argv = judge_windows_argv(in, program, arguments, keep);
    const char *folder = path_base(stage->folder); /* it is one in the pool's */
    const char *question = arena_printf(keep, "%s/%s\t%s\n", folder, stage->dump, folder);
    char *answer = NULL;

    if (path == NULL || here == NULL || argv == NULL || question == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "judge");
    if (!path_is_file(here) && judge_stage_add(&pool, path, keep, fault) != ERR_NONE)
        return fault->code;
    if (judge_pool_ask(in->judges, argv, question, 1, keep, &answer, out, fault) != ERR_NONE)
        return fault->code;
    return judge_read_answer(answer, strlen(answer), self->name, keep, out, fault);
}

static enum status ask(const struct engine *self, const struct engine_input *in,
                       const struct judge_stage *stage, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    return stage->lasts && !judge_pool_takes_sample(in->judges, self->name)
               ? ask_pool(self, in, stage, keep, out, fault)
               : ask_once(self, in, stage, keep, out, fault);
}

static enum status run(const struct engine *self, const struct engine_input *in, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    return judge_run_staged(self, in, ask, keep, out, fault);
}

const struct engine engine_judge_dbghelp = {
    .name = "judge:dbghelp",
    .kind = ENGINE_KIND_JUDGE,
    .reads_dump = true,
    .shares = "nothing: dbghelp reads, walks and names by itself",
    .available = available,
    .starts = starts,
    .run = run,
};
