/* Reads the output of rust-minidump (JSON) and Breakpad (`minidump_stackwalk -m`).
 *
 * Breakpad's lines: header rows (OS|, CPU|, GPU|, Crash|reason|address|thread, Module|...), an
 * empty line, then thread|frame|module|function|file|line|offset, where the offset counts from the
 * line, otherwise from the function, otherwise from the module. So the address is known only for
 * frames without a function. */
#include "stacks/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "model/names.h"

const char *const foreign_rust_cpus[CPU_COUNT] = {
    [CPU_UNKNOWN] = "unknown", [CPU_X86] = "x86", [CPU_X64] = "amd64",
    [CPU_ARM64] = "arm64",     [CPU_ARM] = "arm",
};

static bool holds(const char *text, size_t bytes, const char *mark)
{
    size_t length = strlen(mark);
    for (size_t i = 0; i + length <= bytes; i++)
        if (text[i] == mark[0] && memcmp(text + i, mark, length) == 0)
            return true;
    return false;
}

enum foreign_form foreign_stack_form(const char *text, size_t bytes)
{
    static const char machine[] = "OS|";
    size_t at = 0;
    while (at < bytes &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
        at++;
    if (bytes - at >= 3 && memcmp(text + at, machine, 3) == 0)
        return FOREIGN_BREAKPAD_MACHINE;
    if (at == bytes || (text[at] != '{' && text[at] != '['))
        return FOREIGN_NONE;
    if (holds(text + at, bytes - at, "\"inline_depth\""))
        return FOREIGN_RESOLVED;
    return holds(text + at, bytes - at, "\"crash_info\"") ? FOREIGN_RUST_MINIDUMP : FOREIGN_NONE;
}

static enum found_by found_of(const char *trust)
{
    static const struct {
        const char *word;
        enum found_by found;
    } rows[] = {{"context", FOUND_CONTEXT}, {"cfi", FOUND_UNWIND},
                {"cfi_scan", FOUND_SCAN},   {"frame_pointer", FOUND_FRAME_POINTER},
                {"scan", FOUND_SCAN},       {"prewalked", FOUND_GIVEN},
                {"inline", FOUND_INLINED}};
    for (size_t i = 0; trust != NULL && i < COUNT_OF(rows); i++)
        if (strcmp(trust, rows[i].word) == 0)
            return rows[i].found;
    return FOUND_GIVEN;
}

/* A growing stack; the arena keeps the outgrown arrays. */
struct growing {
    struct arena *keep;
    struct frame *frames;
    uint32_t count, room;
    enum cpu cpu;
};

static struct frame *grow(struct growing *g)
{
    struct frame *frames =
        arena_reserve(g->keep, g->frames, &g->room, (uint64_t)g->count + 1, sizeof(*frames));
    if (frames == NULL)
        return NULL;
    g->frames = frames;
    return &g->frames[g->count++];
}

static enum status read_rust_inlines(const cJSON *from, const struct frame *physical,
                                     struct growing *g, struct fault *fault)
{
    const cJSON *list = json_get_array(from, "inlines", fault), *row;
    int depth = list != NULL ? cJSON_GetArraySize(list) : 0;
    if (depth > LIMIT_INLINE_DEPTH)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "inline frames");
    cJSON_ArrayForEach(row, list)
    {
        struct frame *frame = grow(g);
        if (frame == NULL)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "frames");
        *frame = *physical;
        frame->inline_depth = (uint16_t)depth--;
        frame->found_by = FOUND_INLINED;
        frame->function = json_get_string(row, "function", g->keep, fault);
        frame->file = json_get_string(row, "file", g->keep, fault);
        frame->line = (uint32_t)json_get_uint(row, "line", 0, fault);
        frame->symbols = frame->function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE;
    }
    return fault->code;
}

static enum status read_rust_frame(const cJSON *from, uint32_t index, struct growing *g,
                                   struct fault *fault)
{
    struct frame frame = {.index = index, .identity = IDENTITY_UNCHECKED};
    const char *trust = json_get_string(from, "trust", g->keep, fault);
    frame.found_by = found_of(trust);
    frame.kind = index == 0 ? PC_INTERRUPTED : PC_RETURN;
    frame.module_name = json_get_string(from, "module", g->keep, fault);
    frame.function = json_get_string(from, "function", g->keep, fault);
    frame.file = json_get_string(from, "file", g->keep, fault);
    frame.line = (uint32_t)json_get_uint(from, "line", 0, fault);
    frame.symbol_distance = json_get_hex(from, "function_offset", 0, fault);
    frame.symbols = frame.function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE;
    /* the tool prints return addresses minus one, inside the call */
    uint64_t back = frame.kind == PC_RETURN ? foreign_rust_back(g->cpu) : 0;
    frame.pc_va = json_get_hex(from, "offset", 0, fault) + back;
    frame.offset = frame.module_name != NULL ? json_get_hex(from, "module_offset", 0, fault) + back
                                             : frame.pc_va;
    enum status status = read_rust_inlines(from, &frame, g, fault);
    struct frame *out = status == ERR_NONE ? grow(g) : NULL;
    if (out == NULL)
        return status != ERR_NONE ? status
                                  : fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "frames");
    *out = frame;
    return ERR_NONE;
}

static enum status read_rust_thread(const cJSON *from, enum cpu cpu, struct arena *keep,
                                    struct stack *out, struct fault *fault)
{
    struct growing g = {.keep = keep, .cpu = cpu};
    const cJSON *frames = json_get_array(from, "frames", fault), *row;
    uint32_t index = 0;
    *out = (struct stack){.thread_id = (uint32_t)json_get_uint(from, "thread_id", 0, fault)};
    out->thread_name = json_get_string(from, "thread_name", keep, fault);
    cJSON_ArrayForEach(row, frames)
    {
        if (read_rust_frame(row, index++, &g, fault) != ERR_NONE)
            return fault->code;
    }
    out->frames = g.frames;
    out->frame_count = g.count;
    return fault->code;
}

static void move_to_front(struct stack *stacks, uint32_t count, uint64_t crashed)
{
    if (crashed >= count)
        return;
    struct stack first = stacks[crashed];
    memmove(stacks + 1, stacks, (size_t)crashed * sizeof(*stacks));
    first.role = THREAD_ROLE_SUSPECT;
    stacks[0] = first;
}

static enum status read_rust(const char *text, size_t bytes, struct arena *keep, struct stack **out,
                             uint32_t *count, struct fault *fault)
{
    cJSON *root;
    if (json_parse(text, bytes, &root, fault) != ERR_NONE)
        return fault->code;
    const cJSON *threads = json_get_array(root, "threads", fault), *row;
    const cJSON *crash = json_get_object(root, "crash_info", fault);
    uint64_t crashed =
        crash != NULL ? json_get_uint(crash, "crashing_thread", UINT64_MAX, fault) : UINT64_MAX;
    const cJSON *system = json_get_object(root, "system_info", fault);
    const int known =
        name_index(foreign_rust_cpus, CPU_COUNT,
                   system != NULL ? json_get_string(system, "cpu_arch", keep, fault) : NULL);
    const enum cpu cpu = known >= 0 ? (enum cpu)known : CPU_UNKNOWN;
    int most = threads != NULL ? cJSON_GetArraySize(threads) : 0;
    *count = 0;
    *out = ARENA_ARRAY(keep, (size_t)most + 1, struct stack);
    if (*out == NULL)
        (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stacks");
    else if (threads == NULL)
        (void)fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "threads of rust-minidump's JSON");
    else
        cJSON_ArrayForEach(row, threads)
        {
            if (read_rust_thread(row, cpu, keep, &(*out)[*count], fault) != ERR_NONE)
                break;
            (*count)++;
        }
    cJSON_Delete(root);
    if (fault->code == ERR_NONE)
        move_to_front(*out, *count, crashed);
    return fault->code;
}

enum { FIELDS = 7 };

/* Splits a line at '|'; returns how many fields there were, FIELDS + 1 for too many. */
static uint32_t split(char *line, char *fields[FIELDS])
{
    uint32_t count = 0;
    for (;;) {
        if (count == FIELDS)
            return FIELDS + 1;
        fields[count++] = line;
        line = strchr(line, '|');
        if (line == NULL)
            return count;
        *line++ = '\0';
    }
}

static const char *known(const char *field)
{
    return field[0] != '\0' ? field : NULL;
}

static bool read_machine_frame(char *fields[FIELDS], struct growing *g, uint64_t *thread)
{
    uint64_t index, line = 0, offset = 0;
    if (!text_parse_uint(fields[0], strlen(fields[0]), thread) ||
        !text_parse_uint(fields[1], strlen(fields[1]), &index) || index > UINT32_MAX)
        return false;
    if ((fields[5][0] != '\0' && !text_parse_uint(fields[5], strlen(fields[5]), &line)) ||
        (fields[6][0] != '\0' && !text_parse_hex(fields[6], strlen(fields[6]), &offset)))
        return false;
    struct frame *frame = grow(g);
    if (frame == NULL)
        return false;
    *frame = (struct frame){.index = (uint32_t)index,
                            .kind = index == 0 ? PC_INTERRUPTED : PC_RETURN,
                            .found_by = FOUND_GIVEN,
                            .identity = IDENTITY_UNCHECKED,
                            .module_name = known(fields[2]),
                            .function = known(fields[3]),
                            .file = known(fields[4]),
                            .line = (uint32_t)line};
    frame->symbols = frame->function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE;
    if (frame->function == NULL)
        frame->offset = offset;
    else
        frame->note = NOTE_BREAKPAD_NO_ADDRESS;
    return true;
}

struct machine_reader {
    struct arena *keep;
    struct stack *stacks;
    uint32_t count, room;
    struct growing frames;
    uint64_t thread, crashed;
    bool open;
};

static bool close_thread(struct machine_reader *m)
{
    if (!m->open)
        return true;
    struct stack *stacks =
        arena_reserve(m->keep, m->stacks, &m->room, (uint64_t)m->count + 1, sizeof(*stacks));
    if (stacks == NULL)
        return false;
    m->stacks = stacks;
    m->stacks[m->count++] = (struct stack){.thread_id = (uint32_t)m->thread,
                                           .frames = m->frames.frames,
                                           .frame_count = m->frames.count};
    m->frames = (struct growing){.keep = m->keep};
    m->open = false;
    return true;
}

static bool read_machine_line(struct machine_reader *m, char *line)
{
    char *fields[FIELDS] = {0};
    uint64_t thread;
    uint32_t count = split(line, fields);
    if (strcmp(fields[0], "Crash") == 0 && count >= 4) {
        (void)text_parse_uint(fields[3], strlen(fields[3]), &m->crashed);
        return true;
    }
    if (count != FIELDS || fields[0][0] < '0' || fields[0][0] > '9')
        return true; /* header rows, empty lines */
    struct growing before = m->frames;
    if (!read_machine_frame(fields, &m->frames, &thread))
        return false;
    if (m->open && thread != m->thread) { /* this frame begins the next thread */
        struct frame first = m->frames.frames[m->frames.count - 1];
        m->frames = before;
        if (!close_thread(m))
            return false;
        struct frame *frame = grow(&m->frames);
        if (frame == NULL)
            return false;
        *frame = first;
    }
    m->thread = thread;
    m->open = true;
    return true;
}

static enum status read_machine(const char *text, size_t bytes, struct arena *keep,
                                struct stack **out, uint32_t *count, struct fault *fault)
{
    char *copy = arena_text(keep, text, bytes);
    struct machine_reader m = {.keep = keep, .frames = {.keep = keep}, .crashed = UINT64_MAX};
    if (copy == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stacks");
    for (char *line = copy; line != NULL;) {
        char *end = strchr(line, '\n'), *cr;
        if (end != NULL)
            *end = '\0';
        cr = strchr(line, '\r');
        if (cr != NULL)
            *cr = '\0';
        uint64_t offset = (uint64_t)(line - copy);
        if (!read_machine_line(&m, line))
            return fault_set(fault, ERR_MALFORMED, offset, "frame of minidump_stackwalk -m");
        line = end != NULL ? end + 1 : NULL;
    }
    if (!close_thread(&m))
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stacks");
    /* the crashed thread is printed first, whatever its number */
    uint64_t crashed = UINT64_MAX;
    for (uint32_t i = 0; i < m.count; i++)
        if (m.stacks[i].thread_id == m.crashed)
            crashed = i;
    move_to_front(m.stacks, m.count, crashed);
    if (crashed < m.count)
        m.stacks[0].thread_id =
            0; /* the tool prints a position, not an id; this thread is the suspect */
    *out = m.stacks;
    *count = m.count;
    return ERR_NONE;
}

enum status foreign_stack_read(const char *text, size_t bytes, struct arena *keep,
                               struct stack **out, uint32_t *count, struct fault *fault)
{
    *out = NULL;
    *count = 0;
    switch (foreign_stack_form(text, bytes)) {
    case FOREIGN_RUST_MINIDUMP:
        return read_rust(text, bytes, keep, out, count, fault);
    case FOREIGN_RESOLVED:
        return resolved_stack_read(text, bytes, keep, out, count, fault);
    case FOREIGN_BREAKPAD_MACHINE:
        return read_machine(text, bytes, keep, out, count, fault);
    case FOREIGN_NONE:
        break;
    }
    return fault_set_hint(fault, ERR_UNSUPPORTED, 0, "form of the stacks",
                          "rust-minidump's JSON and Breakpad's minidump_stackwalk -m are read");
}
