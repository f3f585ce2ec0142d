/* What all judges need: a folder to work in, a way to run a program, and a way to read its
 * answer. */
#include "engine/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "engine/dump.h"
#include "engine/frame_class.h"
#include "engine/judge_pool.h"
#include "format/pdb/pdb.h"
#include "format/stack/foreign.h"
#include "symbol/store.h"

enum { WORDS_BYTES_MAX = 300 }; /* of what a program that failed printed */

bool judge_has_dump(const struct engine_input *in, const char **why)
{
    if (case_file(in->crash, ROLE_DUMP) != NULL)
        return true;
    *why = "the case has no dump";
    return false;
}

bool judge_is_wanted(const char *name, const char **why)
{
    const char *wanted = getenv("TWINSTACK_JUDGES");
    if (wanted != NULL && (strcmp(wanted, "all") == 0 || text_list_has(wanted, name)))
        return true;
    *why = "asked only when TWINSTACK_JUDGES names it";
    return false;
}

enum status judge_stage_add(const struct judge_stage *stage, const char *path, struct arena *keep,
                            struct fault *fault)
{
    const char *to = path_join(keep, stage->folder, path_base(path));
    if (to == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "staging folder");
    return file_copy(path, to, fault);
}

static enum status write_staged(const struct judge_stage *stage, const char *name, const void *data,
                                size_t bytes, struct arena *keep, struct fault *fault)
{
    const char *path = path_join(keep, stage->folder, path_base(name));
    if (path == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "staging folder");
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
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "staging folder");
    return out->folder != stage->folder ? folder_make(out->folder, fault) : ERR_NONE;
}

/* An imported case has no images of its own. The images that the symbol store knows by the dump's
 * identities are written out, with their PDBs. */
static enum status stage_from_store(const struct engine_input *in, const struct judge_stage *stage,
                                    struct arena *keep, struct fault *fault)
{
    struct dump_session *session;
    struct fault ignored = FAULT_INIT;
    const char *path = case_path(in->crash, ROLE_DUMP, keep);
    uint32_t count;
    if (path == NULL || in->symbols == NULL ||
        dump_open(path, NULL, keep, &session, &ignored) != ERR_NONE)
        return ERR_NONE;
    const struct module *modules = dump_modules(session, &count);
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
    dump_close(session);
    return status;
}

/* Creates the folder and links the case's files into it, or takes the folder of IN->judges that has
 * them. Fails: ERR_IO, ERR_MEMORY. */
static enum status judge_stage_open(const struct engine_input *in, struct arena *keep,
                                    struct judge_stage *out, struct fault *fault)
{
    const struct crash_case *crash = in->crash;
    *out = (struct judge_stage){0};
    if (in->judges != NULL && has_images(crash))
        return judge_pool_stage(in->judges, crash, keep, out, fault);
    out->folder = folder_temporary_name("judge", keep);
    if (out->folder == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "staging folder");
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
    const char *mine = !stage->lasts         ? stage->folder
                       : stage->dump != NULL ? path_join(&scratch, stage->folder, stage->dump)
                                             : NULL;
    if (mine != NULL)
        (void)path_remove(mine, &ignored);
    arena_free(&scratch);
}

const char *judge_last_words(const struct process_result *answer, struct arena *keep)
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

enum status judge_run(const struct judge_stage *stage, const char *const *argv, const void *input,
                      size_t input_bytes, struct arena *keep, struct process_result *answer,
                      struct engine_result *out, struct fault *fault)
{
    const struct process_request request = {.argv = argv,
                                            .folder = stage->folder,
                                            .input = input,
                                            .input_bytes = input_bytes,
                                            .limit_ms = JUDGE_LIMIT_MS};
    if (process_run(&request, keep, answer, fault) != ERR_NONE)
        return fault->code;
    out->cost.total_ns = answer->wall_ns;
    out->cost.peak_bytes = answer->peak_bytes;
    if (!answer->timed_out && answer->exit_code == 0)
        return ERR_NONE;
    const char *words = judge_last_words(answer, keep), *colon = words[0] != '\0' ? ": " : "";
    out->why = answer->timed_out ? arena_printf(keep, "its program did not end within %d s%s%s",
                                                JUDGE_LIMIT_MS / 1000, colon, words)
                                 : arena_printf(keep, "its program ended with status %d%s%s",
                                                answer->exit_code, colon, words);
    return fault_set(fault, answer->timed_out ? ERR_TIMEOUT : ERR_IO, FAULT_NO_OFFSET, "judge");
}

const char *const *judge_windows_argv(const struct engine_input *in, const char *program,
                                      const char *const *arguments, struct arena *keep)
{
    const char **argv = ARENA_ARRAY(keep, JUDGE_WORDS_MAX + 1, const char *);
    uint32_t count = 0;
    for (uint32_t i = 0; argv != NULL && in->launcher != NULL && in->launcher[i] != NULL; i++) {
        if (count == JUDGE_WORDS_MAX)
            return NULL;
        argv[count++] = in->launcher[i];
    }
    if (argv == NULL || count == JUDGE_WORDS_MAX)
        return NULL;
    argv[count++] = program;
    for (uint32_t i = 0; arguments[i] != NULL; i++) {
        if (count == JUDGE_WORDS_MAX)
            return NULL;
        argv[count++] = arguments[i];
    }
    return argv;
}

static enum status read_own_form(const char *text, size_t bytes, struct arena *keep,
                                 struct engine_result *out, struct fault *fault)
{
    cJSON *root;
    if (json_parse(text, bytes, &root, fault) != ERR_NONE)
        return fault->code;
    if (cJSON_GetObjectItemCaseSensitive(root, "error") != NULL) {
        out->why = json_get_string(root, "error", keep, fault);
        cJSON_Delete(root);
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "judge");
    }
    const cJSON *times = json_get_object(root, "times", fault);
    out->version = json_get_string(root, "version", keep, fault);
    if (times != NULL) {
        out->cost.open_ns = json_get_uint(times, "open_ns", 0, fault);
        out->cost.load_ns = json_get_uint(times, "load_ns", 0, fault);
        out->cost.unwind_ns = json_get_uint(times, "unwind_ns", 0, fault);
        out->cost.resolve_ns = json_get_uint(times, "resolve_ns", 0, fault);
    }
    cJSON_Delete(root);
    if (fault->code == ERR_NONE)
        (void)resolved_stack_read(text, bytes, keep, &out->stacks, &out->stack_count, fault);
    for (uint32_t i = 0; i < out->stack_count; i++)
        if (out->stacks[i].stop == STOP_NONE)
            out->stacks[i].stop = STOP_JUDGE_END;
    return fault->code;
}

enum status judge_read_answer(const char *text, size_t bytes, const char *engine,
                              struct arena *keep, struct engine_result *out, struct fault *fault)
{
    enum status status;
    enum foreign_form form = foreign_stack_form(text, bytes);
    if (form == FOREIGN_RUST_MINIDUMP || form == FOREIGN_BREAKPAD_MACHINE)
        status = foreign_stack_read(text, bytes, keep, &out->stacks, &out->stack_count, fault);
    else
        status = read_own_form(text, bytes, keep, out, fault);
    for (uint32_t i = 0; status == ERR_NONE && i < out->stack_count; i++)
        out->stacks[i].engine = engine;
    if (status == ERR_NONE && out->stack_count > 0 && out->stacks[0].role == THREAD_ROLE_NONE)
        out->stacks[0].role = THREAD_ROLE_SUSPECT;
    return status;
}

static const char *read_version(const char *program, struct arena *keep)
{
    const char *const argv[] = {program, "--version", NULL};
    const struct process_request request = {.argv = argv, .limit_ms = 10000};
    struct process_result result;
    struct fault ignored = FAULT_INIT;
    if (process_run(&request, keep, &result, &ignored) != ERR_NONE || result.exit_code != 0)
        return NULL;
    for (char *line = result.output; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        if (strstr(line, "version") != NULL || strstr(line, "wine-") != NULL)
            return line + strspn(line, " ");
        line = end != NULL ? end + 1 : NULL;
    }
    return NULL;
}

const char *judge_version(const struct engine_input *in, const char *program, struct arena *keep)
{
    const char *known = in->judges != NULL ? judge_pool_version(in->judges, program) : NULL;
    if (known == NULL) {
        known = read_version(program, keep);
        if (in->judges != NULL && known != NULL)
            judge_pool_set_version(in->judges, program, known);
    }
    return known;
}

/* The physical function of FRAME, as our symbols know it; 0 frames: none. */
static uint32_t ask_symbols(const struct engine_input *in, const struct frame *frame,
                            struct symbol_frame frames[SYMBOL_FRAMES_MAX])
{
    if (in->symbols == NULL || frame->module == NULL)
        return 0;
    return symbol_lookup(symbol_store_module(in->symbols, frame->module),
                         frame_lookup_offset(frame), frames);
}

/* The object file that holds the physical function. */
static const char *compiland_of(const struct engine_input *in, const struct frame *frame)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const uint32_t count = ask_symbols(in, frame, frames);
    return count > 0 ? frames[count - 1].compiland : NULL;
}

/* True when MODULE has FRAME's function at FRAME's offset. */
static bool has_function(const struct engine_input *in, const struct frame *frame,
                         const struct module *module)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct frame there = *frame;
    there.module = module;
    const uint32_t count = ask_symbols(in, &there, frames);
    for (uint32_t i = 0; i < count && frame->function != NULL; i++)
        if (frames[i].function != NULL && strcmp(frames[i].function, frame->function) == 0)
            return true;
    return false;
}

/* The module that FRAME names.  Of several with that name it is the one that has the function;
 * NULL: that does not decide, or there is none. */
static const struct module *module_of(const struct engine_input *in, const struct frame *frame,
                                      const struct module *modules, uint32_t count)
{
    const struct module *found = NULL, *fits = NULL;
    uint32_t named = 0, fitting = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!text_equal_nocase(modules[i].name, path_base(frame->module_name)) ||
            (found != NULL && strcmp(found->code_id, modules[i].code_id) == 0))
            continue;
        found = &modules[i];
        named++;
        if (has_function(in, frame, found)) {
            fits = found;
            fitting++;
        }
    }
    return named <= 1 ? found : fitting == 1 ? fits : NULL;
}

/* Tools number threads differently. An id that is not in the dump is a position in its list
 * (Breakpad). The crashed thread's id becomes 0. */
static void settle_thread(const struct minidump *dump, struct stack *stack)
{
    if (minidump_thread_find(dump, stack->thread_id) != NULL)
        return;
    if (stack->role == THREAD_ROLE_SUSPECT)
        stack->thread_id = 0;
    else if (stack->thread_id < dump->thread_count)
        stack->thread_id = dump->threads[stack->thread_id].id;
}

/* Sets each frame's class (whose code it is) by our own symbols: a judge's answer is scored by the
 * functions of the case's own code, and no judge knows which those are. Frames that name a module
 * get its identity from the dump's module list. */
static void judge_classify(const struct engine_input *in, struct arena *keep,
                           struct engine_result *out)
{
    struct dump_session *session = NULL;
    struct fault ignored = FAULT_INIT;
    const char *path = case_path(in->crash, ROLE_DUMP, keep);
    const struct module *modules = NULL;
    uint32_t count = 0;
    if (path != NULL && dump_open(path, NULL, keep, &session, &ignored) == ERR_NONE)
        modules = dump_modules(session, &count);
    for (uint32_t s = 0; s < out->stack_count; s++) {
        if (session != NULL)
            settle_thread(dump_minidump(session), &out->stacks[s]);
        for (uint32_t i = 0; i < out->stacks[s].frame_count; i++) {
            struct frame *frame = &out->stacks[s].frames[i];
            if (frame->module == NULL && frame->module_name != NULL)
                frame->module = module_of(in, frame, modules, count);
            frame->compiland = compiland_of(in, frame);
        }
        frame_class_assign(in->crash, &out->stacks[s]);
    }
    dump_close(session);
}

enum status judge_run_staged(const struct engine *self, const struct engine_input *in,
                             judge_ask_fn *ask, struct arena *keep, struct engine_result *out,
                             struct fault *fault)
{
    struct judge_stage stage;
    *out = (struct engine_result){0};
    if (judge_stage_open(in, keep, &stage, fault) != ERR_NONE)
        return fault->code;
    enum status status = ask(self, in, &stage, keep, out, fault);
    judge_stage_close(&stage);
    if (status == ERR_NONE)
        judge_classify(in, keep, out);
    return status;
}
