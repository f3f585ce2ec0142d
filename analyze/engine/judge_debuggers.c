/* judge:winedbg and judge:lldb: two debuggers that open the dump and print a backtrace.
 *
 *   winedbg  "=>0 0xADDR name+0xOFF(arguments) [folder\file:line] in module (0xframe)"; inline
 *            frames share the address.  It looks up return addresses without the -1, so lines and
 *            inline frames of callers are often those of the next statement: only a second
 *            opinion.
 *   lldb     asked for one form: F|index|address|module|function|file|line, with
 *            "outer [inlined] inner" as the function of an inline frame.
 *
 * Both print addresses; the dump's module list turns them into module + offset. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "engine/dump.h"
#include "engine/judge_stage_dump.h"
#include "engine/judges.h"

struct backtrace {
    struct dump_session *session;
    struct arena *keep;
    struct frame *frames;
    uint32_t count, group; /* frames of the physical frame being read start at `group` */
    uint32_t index;
    uint64_t pc_va;
};

#define WINEDBG_DUMP "winedbg.dmp" /* the staged dump; its modules are in the staging folder */
enum { BACKTRACE_FRAMES_MAX = LIMIT_FRAMES * 4 };

/* Ends the group: its last frame is the physical one, the others were inlined into it. */
static void close_group(struct backtrace *b)
{
    uint32_t modules;
    const struct module *all = dump_modules(b->session, &modules), *module = NULL;
    for (uint32_t i = 0; i < modules; i++)
        if (b->pc_va >= all[i].base_va && b->pc_va - all[i].base_va < all[i].image_bytes)
            module = &all[i];
    for (uint32_t i = b->group; i < b->count; i++) {
        struct frame *frame = &b->frames[i];
        frame->index = b->index;
        frame->inline_depth = (uint16_t)(b->count - 1 - i);
        frame->kind = b->index == 0 ? PC_INTERRUPTED : PC_RETURN;
        frame->found_by = frame->inline_depth > 0 ? FOUND_INLINED : FOUND_GIVEN;
        frame->identity = IDENTITY_UNCHECKED;
        frame->pc_va = b->pc_va;
        frame->module = module;
        frame->module_name = module != NULL ? module->name : NULL;
        frame->offset = module != NULL ? b->pc_va - module->base_va : b->pc_va;
        frame->symbols = frame->function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE;
    }
    if (b->count > b->group)
        b->index++;
    b->group = b->count;
}

static void add_frame(struct backtrace *b, const char *function, const char *file, uint64_t line)
{
    if (b->count == BACKTRACE_FRAMES_MAX)
        return;
    struct frame *frame = &b->frames[b->count++];
    frame->function = function != NULL && function[0] != '\0' ? function : NULL;
    frame->file = file != NULL && file[0] != '\0' ? file : NULL;
    frame->line = line <= UINT32_MAX && frame->file != NULL ? (uint32_t)line : 0;
}

/* True when FUNCTION is already in the group: the next frame of a recursion begins. */
static bool repeats(const struct backtrace *b, const char *function)
{
    for (uint32_t i = b->group; i < b->count; i++)
        if (function == NULL || b->frames[i].function == NULL ||
            strcmp(function, b->frames[i].function) == 0)
            return true;
    return false;
}

/* "[Z:\folder\of\stage\victims\a.c:12] in module": the file as the PDB spells it. */
static char *winedbg_file(char *text, const char *folder, uint64_t *line)
{
    char *close = strstr(text, "] in "), *open = NULL;
    for (char *at = text; close != NULL && at < close; at++)
        if (at[0] == ' ' && at[1] == '[' && strncmp(at + 2, "<", 1) != 0)
            open = at + 2;
    if (open == NULL)
        return NULL;
    *close = '\0';
    char *colon = strrchr(open, ':');
    if (colon == NULL || !text_parse_uint(colon + 1, strlen(colon + 1), line))
        return NULL;
    *colon = '\0';
    char *staged = strstr(open, folder); /* the debugger puts its folder before relative names */
    return staged != NULL ? staged + strlen(folder) + 1 : open;
}

static void read_winedbg_line(struct backtrace *b, char *text, const char *folder)
{
    char *number = text + strspn(text, "=> "), *address = number + strspn(number, "0123456789");
    char *after;
    uint64_t line = 0;
    uint64_t pc_va = strtoull(address, &after, 16); /* address 0 is printed without 0x */
    if (address == number || after == address)
        return;
    char *name = after + strspn(after, " "), *function = NULL;
    char *offset = strstr(name, "+0x");
    if (offset == NULL)
        offset = strchr(name, '('); /* at the function's first byte no offset is printed */
    if (strncmp(name, "in ", 3) != 0 && offset != NULL)
        function = arena_text(b->keep, name, (size_t)(offset - name));
    char *file = winedbg_file(name, folder, &line);
    if (b->count > b->group && (pc_va != b->pc_va || repeats(b, function)))
        close_group(b);
    b->pc_va = pc_va;
    add_frame(b, function, arena_string(b->keep, file), line);
}

static void read_winedbg(struct backtrace *b, char *text, const char *folder)
{
    char *line = strstr(text, "Backtrace:");
    for (line = line != NULL ? strchr(line, '\n') : NULL; line != NULL;) {
        line++;
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        bool frame = strncmp(line, "=>", 2) == 0 || strncmp(line, "  ", 2) == 0;
        if (!frame)
            break; /* only the first backtrace counts; it is printed again at the end */
        read_winedbg_line(b, line, folder);
        line = end;
    }
}

static void read_lldb_line(struct backtrace *b, char *line)
{
    char *fields[7];
    uint64_t number = 0;
    for (size_t i = 0; i < 7; i++) {
        fields[i] = line;
        line = strchr(line, '|');
        if (line == NULL && i < 6)
            return;
        if (line != NULL)
            *line++ = '\0';
    }
    char *inlined = strstr(fields[4], " [inlined] ");
    if (b->count == b->group)
        b->pc_va = strtoull(fields[2], NULL, 16); /* outer ones carry the call site's address */
    (void)text_parse_uint(fields[6], strcspn(fields[6], "\r\n"), &number);
    add_frame(b, arena_string(b->keep, inlined != NULL ? inlined + 11 : fields[4]),
              arena_string(b->keep, fields[5]), number);
    if (inlined == NULL)
        close_group(b);
}

static void read_lldb(struct backtrace *b, char *text, const char *folder)
{
    (void)folder;
    for (char *line = text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        char *mark = strstr(line, "F|");
        if (mark != NULL && mark - line <= 6)
            read_lldb_line(b, mark);
        line = end;
    }
}

typedef void reader_fn(struct backtrace *b, char *text, const char *folder);

static enum status read_backtrace(const struct judge_work *w, char *text, reader_fn *read)
{
    struct backtrace b = {.keep = w->keep};
    struct engine_result *out = w->out;
    const char *path = case_path(w->in->crash, ROLE_DUMP, w->keep), *why;
    b.frames = ARENA_ARRAY(w->keep, BACKTRACE_FRAMES_MAX, struct frame);
    out->stacks = ARENA_NEW(w->keep, struct stack);
    if (path == NULL || b.frames == NULL || out->stacks == NULL)
        return fault_set(w->fault, ERR_MEMORY, FAULT_NO_OFFSET, "frames");
    if (dump_open(path, NULL, w->keep, &b.session, w->fault) != ERR_NONE)
        return w->fault->code;
    read(&b, text, path_base(w->stage->folder));
    close_group(&b);
    out->stacks[0] = (struct stack){.engine = w->judge->engine.name,
                                    .role = THREAD_ROLE_SUSPECT,
                                    .stop = STOP_DEBUGGER_END,
                                    .thread_id = dump_suspect(b.session, &why),
                                    .frames = b.frames,
                                    .frame_count = b.count};
    if (b.count == 0)
        out->stacks[0].state = STACK_FAILED;
    out->stack_count = 1;
    dump_close(b.session);
    return ERR_NONE;
}

static enum status write_commands(const struct judge_work *w, const char *commands)
{
    const char *path = path_join(w->keep, w->stage->folder, "commands");
    if (path == NULL || commands == NULL)
        return fault_set(w->fault, ERR_MEMORY, FAULT_NO_OFFSET, "judge");
    return file_write(path, commands, strlen(commands), w->fault);
}

static enum status prepare_winedbg(const struct judge_work *w, struct judge_question *out)
{
    (void)out;
    return write_commands(w, "bt\nquit\n") == ERR_NONE
               ? judge_stage_dump(w->stage, WINEDBG_DUMP, w->keep, w->fault)
               : w->fault->code;
}

static enum status take_winedbg(const struct judge_work *w, const struct judge_question *question,
                                char *answer, size_t bytes)
{
    (void)question;
    (void)bytes;
    return read_backtrace(w, answer, read_winedbg);
}

static enum status prepare_lldb(const struct judge_work *w, struct judge_question *out)
{
    (void)out;
    return write_commands(
        w, arena_printf(w->keep,
                        "settings set frame-format \"F|${frame.index}|${frame.pc}|{${module.file."
                        "basename}}|{${function.name-without-args}}|{${line.file.fullpath}}|{${"
                        "line.number}}\\n\"\n"
                        "settings set target.exec-search-paths .\n"
                        "target create -c %s\nthread backtrace\n",
                        w->stage->dump));
}

static enum status take_lldb(const struct judge_work *w, const struct judge_question *question,
                             char *answer, size_t bytes)
{
    (void)question;
    (void)bytes;
    return read_backtrace(w, answer, read_lldb);
}

static const char *const winedbg_programs[] = {"winedbg", NULL};
static const char *const winedbg_words[] = {"--file", "commands", WINEDBG_DUMP, NULL};
static const char *const lldb_programs[] = {"lldb-19", "lldb", NULL};
static const char *const lldb_words[] = {"--no-lldbinit", "-b", "-s", "commands", NULL};

const struct judge judge_winedbg = {
    .engine = {JUDGE_ENGINE, .name = "judge:winedbg", .reads_dump = true,
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
    .engine = {JUDGE_ENGINE, .name = "judge:lldb", .reads_dump = true,
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
