/* judge:winedbg and judge:lldb: two debuggers that open the dump and print a backtrace, which the
 * notations of stacks/ read.
 *
 *   winedbg  inline frames share the address.  It looks up return addresses without the -1, so
 * lines and inline frames of callers are often those of the next statement: only a second opinion.
 *   lldb     "outer [inlined] inner" is the function of an inline frame.
 *
 * Both print addresses; the dump's module list turns them into module + offset. */
#include <string.h>

#include "base/files.h"
#include "engine/dump.h"
#include "engine/judge_stage_dump.h"
#include "engine/judges.h"
#include "stacks/stack_raw.h"

#define WINEDBG_DUMP "winedbg.dmp" /* the staged dump; its modules are in the staging folder */

/* A function that is already in the group: the next frame of a recursion begins. */
static bool winedbg_begins(const struct frame *frames, uint32_t first, uint32_t next)
{
    bool repeats = false;
    for (uint32_t i = first; i < next; i++)
        repeats = repeats || frames[next].function == NULL || frames[i].function == NULL ||
                  strcmp(frames[next].function, frames[i].function) == 0;
    return repeats || frames[next].pc_va != frames[first].pc_va;
}

#define LLDB_INLINED " [inlined] "

/* Of a group, outer frames carry the address of the call site. */
static bool lldb_begins(const struct frame *frames, uint32_t first, uint32_t next)
{
    (void)first;
    return frames[next - 1].function == NULL ||
           strstr(frames[next - 1].function, LLDB_INLINED) == NULL;
}

/* The file as the PDB spells it: winedbg puts its folder before relative names. */
static void strip_folder(struct frame *frame, const char *folder)
{
    const char *staged = frame->file != NULL ? strstr(frame->file, folder) : NULL;
    if (staged != NULL)
        frame->file = staged + strlen(folder) + 1;
}

/* The innermost function of an inline frame. */
static void strip_outer(struct frame *frame)
{
    const char *inlined = frame->function != NULL ? strstr(frame->function, LLDB_INLINED) : NULL;
    if (inlined != NULL)
        frame->function = inlined + sizeof LLDB_INLINED - 1;
}

/* The first stack of TEXT. Lines that are no frames do not matter. */
static enum status read_first(const char *text, struct arena *keep, struct stack *out,
                              struct fault *fault)
{
    struct stack_input *input;
    struct stack_item item;
    if (stack_input_open_bytes(text, strlen(text), &input, fault) != ERR_NONE)
        return fault->code;
    while (stack_input_next(input, keep, &item))
        if (item.fault.code == ERR_NONE && item.stack.frame_count > 0) {
            *out = item.stack;
            break;
        }
    stack_input_close(input);
    return ERR_NONE;
}

static enum status read_backtrace(const struct judge_work *w, const char *text, const char *folder)
{
    const struct opened_case *c = w->in->opened;
    struct engine_result *out = w->out;
    struct stack stack = {0};
    const char *why;
    out->stacks = ARENA_NEW(w->keep, struct stack);
    if (out->stacks == NULL)
        return fault_no_memory(w->fault, "frames");
    if (c->dump == NULL) {
        *w->fault = c->files[OPENED_DUMP].fault;
        return w->fault->code;
    }
    if (read_first(text, w->keep, &stack, w->fault) != ERR_NONE)
        return w->fault->code;
    for (uint32_t i = 0; folder != NULL && i < stack.frame_count; i++)
        strip_folder(&stack.frames[i], folder);
    judge_place_frames(&stack, folder != NULL ? winedbg_begins : lldb_begins, c->dump);
    for (uint32_t i = 0; folder == NULL && i < stack.frame_count; i++)
        strip_outer(&stack.frames[i]);
    out->stacks[0] = (struct stack){.engine = w->judge->engine.name,
                                    .role = THREAD_ROLE_SUSPECT,
                                    .state = stack.frame_count > 0 ? STACK_OK : STACK_FAILED,
                                    .stop = STOP_DEBUGGER_END,
                                    .thread_id = dump_suspect(c->dump, &why),
                                    .frames = stack.frames,
                                    .frame_count = stack.frame_count,
                                    .left_out = stack.left_out};
    out->stack_count = 1;
    return ERR_NONE;
}

static enum status write_commands(const struct judge_work *w, const char *commands)
{
    const char *path = path_join(w->keep, w->stage->folder, "commands");
    if (path == NULL || commands == NULL)
        return fault_no_memory(w->fault, "judge");
    return file_write(path, commands, strlen(commands), w->fault);
}

static enum status prepare_winedbg(const struct judge_work *w, struct judge_question *out)
{
    (void)out;
    return write_commands(w, "bt\nquit\n") == ERR_NONE
               ? judge_stage_dump(w->stage, WINEDBG_DUMP, w->keep, w->fault)
               : w->fault->code;
}

/* Only the first backtrace counts; it is printed again at the end. */
static const char *first_backtrace(char *text)
{
    char *start = strstr(text, "Backtrace:"), *line = start;
    while (line != NULL && (line = strchr(line, '\n')) != NULL) {
        line++;
        if (strncmp(line, "=>", 2) != 0 && strncmp(line, "  ", 2) != 0) {
            *line = '\0';
            break;
        }
    }
    return start != NULL ? start : "";
}

static enum status take_winedbg(const struct judge_work *w, const struct judge_question *question,
                                char *answer, size_t bytes)
{
    (void)question;
    (void)bytes;
    return read_backtrace(w, first_backtrace(answer), path_base(w->stage->folder));
}

static enum status prepare_lldb(const struct judge_work *w, struct judge_question *out)
{
    (void)out;
    return write_commands(
        w, arena_printf(w->keep,
                        "settings set frame-format \"frame #${frame.index}: ${frame.pc}{ ${module."
                        "file.basename}{`${function.name-without-args}}}{ at "
                        "${line.file.fullpath}:${line.number}}\\n\"\n"
                        "settings set target.exec-search-paths .\n"
                        "target create -c %s\nthread backtrace\n",
                        w->stage->dump));
}

static enum status take_lldb(const struct judge_work *w, const struct judge_question *question,
                             char *answer, size_t bytes)
{
    (void)question;
    (void)bytes;
    return read_backtrace(w, answer, NULL);
}

static const char *const winedbg_programs[] = {"winedbg", NULL};
static const char *const winedbg_words[] = {"--file", "commands", WINEDBG_DUMP, NULL};
static const char *const lldb_programs[] = {"lldb-19", "lldb", NULL};
static const char *const lldb_words[] = {"--no-lldbinit", "-b", "-s", "commands", NULL};

const struct judge judge_winedbg = {
    .engine = {JUDGE_ENGINE, .name = "judge:winedbg",
               .shares = "module list of our minidump reader; walk and names are Wine's",
               .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_DUMP_READER |
                        ENGINE_SHARES_SYSTEM_DBGHELP | ENGINE_SHARES_SYMBOL_FILES},
    .home = JUDGE_OF_LAUNCHER,
    .programs = winedbg_programs,
    .absent = "winedbg is not installed",
    .arguments = winedbg_words,
    .overrides = "mscoree,mshtml=", /* those of the launcher keep it from starting */
    .word = "winedbg",
    .asks_version = true,
    .prepare = prepare_winedbg,
    .read = take_winedbg,
};

const struct judge judge_lldb = {
    .engine = {JUDGE_ENGINE, .name = "judge:lldb",
               .shares = "module list of our minidump reader; walk and names are LLDB's",
               .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_DUMP_READER | ENGINE_SHARES_LLVM |
                        ENGINE_SHARES_SYMBOL_FILES},
    .programs = lldb_programs,
    .absent = "lldb-19 is not installed",
    .arguments = lldb_words,
    .word = "lldb",
    .asks_version = true,
    .prepare = prepare_lldb,
    .read = take_lldb,
};
