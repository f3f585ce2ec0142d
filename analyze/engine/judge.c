/* What all judges have in common: see judge.h. */
#include "engine/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "engine/judge_pool.h"

enum { WORDS_BYTES_MAX = 300 }; /* of what a program that failed printed */

static const struct judge *judge_of(const struct engine *self)
{
    return (const struct judge *)self; /* its first member */
}

/* ---- is it there? ----------------------------------------------------------------------- */

bool judge_has_dump(const struct engine_input *in, const char **why)
{
    if (case_file(in->opened->crash, ROLE_DUMP) != NULL)
        return true;
    *why = case_declares(in->opened->crash, "dump") ? "the case has no dump"
                                                    : "its program writes no dump";
    return false;
}

static bool is_in(const char *folder, const char *name, struct arena *scratch)
{
    const char *path = folder != NULL ? path_join(scratch, folder, name) : NULL;
    return path != NULL && path_is_file(path);
}

/* The name of the program that judges the case; NULL: it is not there. Wine's dbghelp gives no
 * names for the other bitness. That of Windows does, so either program works there. */
static const char *program_of(const struct judge *judge, const struct engine_input *in,
                              struct arena *scratch)
{
    if (judge->program_x86 != NULL && in->opened->crash->arch == CPU_X86 &&
        is_in(in->judge_folder, judge->program_x86, scratch))
        return judge->program_x86;
    for (const char *const *name = judge->programs; name != NULL && *name != NULL; name++)
        if (judge->home == JUDGE_OF_WINDOWS ? is_in(in->judge_folder, *name, scratch)
                                            : process_find(*name, scratch) != NULL)
            return *name;
    return NULL;
}

static bool is_wanted(const struct judge *judge)
{
    const char *wanted = getenv("TWINSTACK_JUDGES");
    return judge->word == NULL ||
           (wanted != NULL && (strcmp(wanted, "all") == 0 || text_list_has(wanted, judge->word)));
}

/* That of the system does without msdia140.dll. */
static bool needs(enum microsoft_file file)
{
    return file != MICROSOFT_MSDIA || !microsoft_is_system();
}

/* What is missing; NULL: nothing. */
static const char *missing(const struct judge *judge, const struct engine_input *in,
                           struct arena *scratch)
{
#if defined(_WIN32)
    const bool needs_launcher = judge->home == JUDGE_OF_LAUNCHER;
#else
    const bool needs_launcher = judge->home != JUDGE_OF_HOST;
#endif
    if (needs_launcher && in->launcher == NULL)
        return judge->home == JUDGE_OF_WINDOWS ? "a Windows program, and no launcher was named"
                                               : "a program of Wine, and no launcher was named";
    for (uint32_t i = 0; i < judge->file_count; i++)
        if (needs(judge->files[i]) && microsoft_path(judge->files[i], CPU_X64, scratch) == NULL)
            return microsoft_why_not;
    if (judge->home == JUDGE_OF_WINDOWS && in->judge_folder == NULL)
        return "no folder of judges was named";
    if (judge->programs != NULL && program_of(judge, in, scratch) == NULL)
        return judge->absent;
    return is_wanted(judge) ? NULL : "asked only when TWINSTACK_JUDGES names it";
}

bool judge_available(const struct engine *self, const struct engine_input *in, const char **why)
{
    const struct judge *judge = judge_of(self);
    struct arena scratch;
    arena_init(&scratch, 0);
    *why = missing(judge, in, &scratch);
    arena_free(&scratch);
    return *why == NULL && (judge->concerns != NULL ? judge->concerns : judge_has_dump)(in, why);
}

/* ---- its program ------------------------------------------------------------------------ */

struct words {
    const char **argv;
    uint32_t count;
    bool failed;
};

static void add_word(struct words *words, const char *word)
{
    words->failed |= word == NULL || words->count == JUDGE_WORDS_MAX;
    if (!words->failed)
        words->argv[words->count++] = word;
}

/* The launcher's words, with the row's overrides before the last of them, which is Wine itself;
 * then PROGRAM and ARGUMENTS. NULL: too many words. */
static const char *const *argv_of(const struct judge_work *w, const char *program,
                                  const char *const *arguments)
{
    const struct judge *judge = w->judge;
    struct words words = {ARENA_ARRAY(w->keep, JUDGE_WORDS_MAX + 1, const char *), 0, false};
    const char *const *launcher = judge->home != JUDGE_OF_HOST ? w->in->launcher : NULL;

    words.failed = words.argv == NULL;
    for (; launcher != NULL && *launcher != NULL; launcher++) {
        if (judge->overrides != NULL && launcher[1] == NULL) {
            add_word(&words, "env");
            add_word(&words, arena_printf(w->keep, "WINEDLLOVERRIDES=%s", judge->overrides));
        }
        add_word(&words, *launcher);
    }
    add_word(&words, judge->folder != NULL ? arena_printf(w->keep, "%s/%s", judge->folder, program)
                                           : program);
    for (; *arguments != NULL; arguments++)
        add_word(&words, strcmp(*arguments, "{dump}") == 0 ? w->stage->dump : *arguments);
    if (words.failed)
        return NULL;
    words.argv[words.count] = NULL;
    return words.argv;
}

/* Puts a program of ours, and the files that it loads, into FOLDER (the stage, or the pool's)
 * unless it is there: Windows and Wine look for DLLs beside the program first. */
static enum status place_program(const struct judge_work *w, const char *program,
                                 const char *folder)
{
    const struct judge *judge = w->judge;
    const struct judge_stage place = {
        .folder = judge->folder != NULL ? path_join(w->keep, folder, judge->folder) : folder};
    const char *from = path_join(w->keep, w->in->judge_folder, program);
    const char *made = place.folder != NULL ? path_join(w->keep, place.folder, program) : NULL;

    if (from == NULL || made == NULL)
        return fault_no_memory(w->fault, "judge");
    if (path_is_file(made))
        return ERR_NONE;
    if (judge->folder != NULL && folder_make(place.folder, w->fault) != ERR_NONE)
        return w->fault->code;
    for (uint32_t i = 0; i < judge->file_count; i++) {
        const char *path = microsoft_path(judge->files[i], CPU_X64, w->keep);
        if (path == NULL && needs(judge->files[i]))
            return fault_set(w->fault, ERR_ABSENT, FAULT_NO_OFFSET, "Microsoft's debugger");
        if (path != NULL && judge_stage_add(&place, path, w->keep, w->fault) != ERR_NONE)
            return w->fault->code;
    }
    return judge_stage_add(&place, from, w->keep, w->fault); /* last: then all is there */
}

/* The last line that a program printed on standard error, capped; "": none. */
static const char *last_words(const struct process_result *answer, struct arena *keep)
{
    const char *text = answer->errors, *end = text + answer->errors_bytes;
    while (end > text && ((unsigned char)end[-1] <= ' '))
        end--;
    const char *start = end;
    while (start > text && start[-1] != '\n')
        start--;
    const size_t bytes = (size_t)(end - start);
    const char *words = arena_text(keep, start, bytes < WORDS_BYTES_MAX ? bytes : WORDS_BYTES_MAX);
    return words != NULL ? words : "";
}

/* Asked once per pool. A judge that comes with the launcher has the version of its last word. */
static const char *version_of(const struct judge_work *w, const char *program)
{
    const char *const *launcher = w->judge->home == JUDGE_OF_LAUNCHER ? w->in->launcher : NULL;
    for (; launcher != NULL && *launcher != NULL; launcher++)
        program = *launcher;
    const char *known = w->in->judges != NULL ? judge_pool_version(w->in->judges, program) : NULL;
    if (known == NULL) {
        /* a launcher may be a script that starts one of several Wines */
        known = judge_version(program, w->judge->home == JUDGE_OF_HOST ? w->in->symbols : NULL,
                              w->keep);
        if (w->in->judges != NULL && known != NULL)
            judge_pool_set_version(w->in->judges, program, known);
    }
    return known;
}

/* ---- question and answer ---------------------------------------------------------------- */

static enum status read_answer(const struct judge_work *w, const struct judge_question *question,
                               char *answer, size_t bytes)
{
    return w->judge->read != NULL
               ? w->judge->read(w, question, answer, bytes)
               : judge_read_answer(answer, bytes, w->judge->engine.name, w->keep, w->out, w->fault);
}

/* Starts the program for this question alone, under JUDGE_LIMIT_MS. Fails: ERR_IO for any exit code
 * but 0, ERR_TIMEOUT, ERR_LIMIT a longer answer than is kept, all with out->why; else like
 * process_run(). */
static enum status ask_once(const struct judge_work *w, const char *program,
                            const struct judge_question *question)
{
    const struct process_request request = {
        .argv = question->argv != NULL ? question->argv : argv_of(w, program, w->judge->arguments),
        .folder = w->stage->folder,
        .input = question->input,
        .input_bytes = question->input != NULL ? strlen(question->input) : 0,
        .limit_ms = JUDGE_LIMIT_MS};
    struct engine_result *out = w->out;
    struct process_result answer;

    if (request.argv == NULL)
        return fault_no_memory(w->fault, "judge");
    const char *key = judge_answer_key(w, &request);
    char *kept = judge_answer_kept(w, key);
    if (kept != NULL && read_answer(w, question, kept, strlen(kept)) == ERR_NONE)
        return ERR_NONE;
    fault_clear(w->fault);
    if ((w->judge->home == JUDGE_OF_WINDOWS &&
         place_program(w, program, w->stage->folder) != ERR_NONE) ||
        process_run(&request, w->keep, &answer, w->fault) != ERR_NONE)
        return w->fault->code;
    const char *words = last_words(&answer, w->keep), *colon = words[0] != '\0' ? ": " : "";
    out->cost.total_ns = answer.wall_ns;
    out->cost.peak_bytes = answer.peak_bytes;
    if (answer.timed_out || answer.exit_code != 0) {
        out->why = answer.timed_out
                       ? arena_printf(w->keep, "its program did not end within %d s%s%s",
                                      JUDGE_LIMIT_MS / 1000, colon, words)
                       : arena_printf(w->keep, "its program ended with status %d%s%s",
                                      answer.exit_code, colon, words);
        return fault_set(w->fault, answer.timed_out ? ERR_TIMEOUT : ERR_IO, FAULT_NO_OFFSET,
                         "judge");
    }
    if (answer.output_cut) {
        out->why = "its program printed more than 64 MiB, and the rest is cut";
        return fault_set(w->fault, ERR_LIMIT, FAULT_NO_OFFSET, "judge");
    }
    if (read_answer(w, question, answer.output, answer.output_bytes) != ERR_NONE &&
        out->why == NULL && words[0] != '\0')
        out->why = arena_printf(w->keep, "its answer cannot be read, and it printed: %s", words);
    if (w->fault->code == ERR_NONE)
        judge_answer_keep(w, key, answer.output);
    return w->fault->code;
}

/* Asks the program that keeps running, in the pool's folder: "DUMP<tab>FOLDER" in, relative to
 * that, and the document in one line out; or the question's own lines. */
static enum status ask_pool(const struct judge_work *w, const char *program,
                            const struct judge_question *question)
{
    struct judge_pool *pool = w->in->judges;
    const char *const *argv = argv_of(w, program, w->judge->serves);
    const char *folder = path_base(w->stage->folder);
    const char *text = question->input != NULL
                           ? question->input
                           : arena_printf(w->keep, "%s/%s\t%s\n", folder, w->stage->dump, folder);
    char *answer = NULL;

    if (argv == NULL || text == NULL)
        return fault_no_memory(w->fault, "judge");
    if ((w->judge->home == JUDGE_OF_WINDOWS &&
         place_program(w, program, judge_pool_folder(pool)) != ERR_NONE) ||
        judge_pool_ask(pool, argv, text, question->input != NULL ? question->lines : 1, w->keep,
                       &answer, w->out, w->fault) != ERR_NONE)
        return w->fault->code;
    return read_answer(w, question, answer, strlen(answer));
}

/* The program ended badly or printed what cannot be read, before it said who it is. */
static bool misunderstood(const struct judge_work *w)
{
    return w->out->version == NULL && (w->fault->code == ERR_IO || w->fault->code == ERR_MALFORMED);
}

/* Of those that read the dump, the cost with nothing loaded is measured as well: see
 * judge_pool_takes_sample(). */
static enum status ask(const struct judge_work *w)
{
    const struct judge *judge = w->judge;
    const char *program = program_of(judge, w->in, w->keep);
    struct judge_question question = {0};

    if (judge->prepare != NULL && judge->prepare(w, &question) != ERR_NONE)
        return w->fault->code;
    const bool stays = w->stage->lasts && judge->serves != NULL &&
                       !(engine_reads_dump(judge->engine.name) &&
                         judge_pool_takes_sample(w->in->judges, judge->engine.name));
    (void)(stays ? ask_pool : ask_once)(w, program, &question);
    if (question.again != NULL && misunderstood(w)) {
        question.input = question.again;
        fault_clear(w->fault);
        *w->out = (struct engine_result){0};
        (void)ask_once(w, program, &question);
    }
    if (w->fault->code == ERR_NONE && judge->asks_version)
        w->out->version = version_of(w, program);
    return w->fault->code;
}

enum status judge_run(const struct engine *self, const struct engine_input *in, struct arena *keep,
                      struct engine_result *out, struct fault *fault)
{
    struct judge_stage stage;
    const struct judge_work w = {judge_of(self), in, &stage, keep, out, fault};

    *out = (struct engine_result){0};
    if (judge_stage_open(in, keep, &stage, fault) != ERR_NONE)
        return fault->code;
    const enum status status = ask(&w);
    judge_stage_close(&stage);
    if (status == ERR_NONE)
        judge_classify(in, out);
    return status;
}

/* Without a question the program ends at once, after the system has loaded its DLLs. */
enum status judge_starts(const struct engine *self, const struct engine_input *in,
                         struct arena *keep, struct fault *fault)
{
    enum { START_LIMIT_MS = 30000 };
    const struct judge_stage none = {.folder = NULL};
    const struct judge_work w = {
        .judge = judge_of(self), .in = in, .stage = &none, .keep = keep, .fault = fault};
    const char *program = program_of(w.judge, in, keep);
    const char *path = program != NULL ? path_join(keep, in->judge_folder, program) : NULL;
    const struct process_request request = {
        .argv = path != NULL ? argv_of(&w, path, w.judge->serves) : NULL,
        .limit_ms = START_LIMIT_MS,
    };
    struct process_result result;

    if (request.argv == NULL)
        return fault_no_memory(fault, "judge");
    if (process_run(&request, keep, &result, fault) != ERR_NONE)
        return fault->code;
    if (result.exit_code != 0 || result.timed_out)
        return fault_set_lasting(fault, ERR_IO, FAULT_NO_OFFSET, "twinstack-dbghelp.exe",
                                 result.timed_out ? "it does not end" : "it does not run here");
    return ERR_NONE;
}
