/* Frames as other tools print them; the grammar is in stack_input.h. Only lines that are not a
 * frame of our own form get here, so our own form keeps its meaning. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/stack_reader.h"
#include "stacks/stack_pattern.h"

enum { MACHINE_FIELDS = 8 };

static uint32_t split(struct pattern_text r, struct pattern_text fields[MACHINE_FIELDS])
{
    uint32_t count = 0;
    while (count < MACHINE_FIELDS) {
        const char *bar = pattern_find(r, '|');
        fields[count++] = (struct pattern_text){r.at, bar != NULL ? bar : r.end};
        if (bar == NULL)
            return count;
        r.at = bar + 1;
    }
    return count + 1;
}

/* minidump_stackwalk -m: "thread|frame|module|function|file|line|offset", "Module|...". */
static enum spelled read_machine(struct stack_input *input, struct pattern_text r,
                                 struct frame *out)
{
    static const char *const passed[] = {"OS|", "CPU|", "GPU|", "Crash|", "Assertion|"};
    struct pattern_text f[MACHINE_FIELDS];
    const uint32_t count = split(r, f);
    uint64_t thread, index, offset, line;

    for (size_t i = 0; i < COUNT_OF(passed); i++)
        if (pattern_starts(r, passed[i]))
            return SPELLED_NOTHING;
    if (count == 8 && pattern_starts(r, "Module|")) {
        (void)input_state_module(input, f[1].at, pattern_length(f[1]), NULL, 0, f[4].at,
                                 pattern_length(f[4]));
        return SPELLED_NOTHING;
    }
    if (count != 7 || !text_parse_uint(f[0].at, pattern_length(f[0]), &thread) ||
        !text_parse_uint(f[1].at, pattern_length(f[1]), &index) ||
        !text_parse_hex(f[6].at, pattern_length(f[6]), &offset))
        return SPELLED_UNKNOWN;
    out->kind = index == 0 ? PC_INTERRUPTED : PC_RETURN;
    if (pattern_length(f[3]) > 0) {
        out->file = spelled_keep(input, f[4]);
        out->line = text_parse_uint(f[5].at, pattern_length(f[5]), &line) && line <= INT32_MAX
                        ? (uint32_t)line
                        : 0;
        return spelled_named(input, f[2], f[3], out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
    }
    if (pattern_length(f[2]) > 0)
        return spelled_offset(input, f[2], offset, out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
    out->offset = out->pc_va = offset;
    return SPELLED_FRAME;
}

/* A pattern of a line, and what the line means. */
enum { PLAIN, INSIDE };
static const struct {
    const char *pattern;
    int address; /* INSIDE: of the call instruction, so not to be stepped back once more */
} frame_rows[] = {
    /* sanitizers: a module's offset with or without the function */
    {"#%n 0x%a in %f (%m+0x%o){ (BuildId: %i)}", INSIDE},
    {"#%n 0x%a (%m+0x%o){ (BuildId: %i)}", INSIDE},
    /* debuggerd's tombstones of Android */
    {"#%n pc %o %m{ (offset 0x%*)}{ (%f+%D)}{ (BuildId: %i)}", INSIDE},
    /* gdb */
    {"#%n 0x%a in %f (%*) at %s", PLAIN},
    {"#%n 0x%a in %f (%*) from %m", PLAIN},
    {"#%n 0x%a in %f (%*)", PLAIN},
    {"#%n %f (%*) at %s", PLAIN},
    {"#%n %f (%*) from %m", PLAIN},
    /* systemd-coredump */
    {"#%n 0x%a %f (%m + 0x%o)", PLAIN},
    /* sanitizers with symbols; Chromium on Linux */
    {"#%n 0x%a in %f %s", INSIDE},
    {"#%n 0x%a in %f", INSIDE},
    {"#%n 0x%a %f", PLAIN},
    /* lldb */
    {"{* }frame #%n: 0x%a %m`%f{ + %D}{ at %s}", PLAIN},
    {"{* }frame #%n: 0x%a %m", PLAIN},
    {"{* }frame #%n: 0x%a", PLAIN},
    /* crash reports of macOS and iOS, and backtrace_symbols() there */
    {"%n %m 0x%a 0x%a + %d", PLAIN},
    {"%n %m 0x%a %f + %D{ (%s)}", PLAIN},
    /* minidump_stackwalk */
    {"%n %m!%f [%F : %L + 0x%*]", PLAIN},
    {"%n %m!%f + %X", PLAIN},
    {"%n %m + 0x%o", PLAIN},
    {"%n 0x%a", PLAIN},
    /* Rust with RUST_BACKTRACE=full, Node */
    {"%n: 0x%a - %f", PLAIN},
    {"%n: 0x%a %f [%m]", PLAIN},
    {"%n: %a %f+%D", PLAIN},
    /* winedbg */
    {"{=>}%n 0x%a in %m (+0x%o){ (%*)}", PLAIN},
    {"{=>}%n 0x%a %f{+%X}(%*) [%s] in %m{ (%*)}", PLAIN},
    {"{=>}%n 0x%a %f{+%X}{(%*)} in %m{ (%*)}", PLAIN},
    /* Boost.Stacktrace */
    {"%n# 0x%a in %m", PLAIN},
    {"%n# %f in %m", PLAIN},
    {"%n# %f at %s", PLAIN},
    /* backtrace_symbols() of glibc */
    {"%m(+0x%o){ }[0x%a]", PLAIN},
    {"%m(%f+%X){ }[0x%a]", PLAIN},
    {"%m() [0x%a]", PLAIN},
    /* Chromium on Windows, HotSpot's hs_err */
    {"(No symbol) [0x%a]", PLAIN},
    {"%f [0x%a+%D]{ (%s)}", PLAIN},
    {"{%* }[%m+0x%o]{ %*}", PLAIN},
};

/* Lines that begin the stack of another thread. */
static const char *const start_rows[] = {
    "{* }thread #%n{,%*}{:%*}",      "Thread %n{ (%*}{ Crashed%*}", "Thread %n:%*",
    "{. }{# }%n Id: %* Suspend: %*", "Stack trace of thread %n:",   "{%*, }tid: %n, %*",
};

/* Lines that belong to a listing and hold no frame. */
static const char *const passed_rows[] = {
    "WARNING:%*",
    "*** %*",
    "Child-SP%*",
    "ChildEBP%*",
    "Memory %*",
    "Found by: %*",
    "No locals.",
    "No symbol table info available.",
    "(lldb)%*",
    "(gdb)%*",
    "Thread %n name:%*",
    "Thread %n %* received signal %*",
    "backtrace:",
    "Backtrace:",
    "stack backtrace:",
    "Thread %n crashed with %*",
    "(More stack frames follow...)",
    "%w = %*",
};

static bool any_matches(const char *const *rows, size_t count, struct pattern_text r,
                        struct pattern_match *found)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_matches(rows[i], r, found))
            return true;
    return false;
}

static bool is_one_of(struct pattern_text text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_length(text) == strlen(words[i]) && pattern_starts(text, words[i]))
            return true;
    return false;
}

/* The frame that a matching line states. */
static bool set_matched(struct stack_input *input, const struct pattern_match *found,
                        struct frame *out)
{
    static const char *const nameless[] = {"??", "???", "n/a", "<unknown>"};
    struct pattern_text module = spelled_base_name(found->module), function = found->function;
    const char *bang = pattern_find_last(module, ".apk!"); /* of a library inside a package */
    if (bang != NULL)
        module.at = bang + 5;
    if (is_one_of(module, nameless, COUNT_OF(nameless)))
        module.end = module.at;
    if (is_one_of(function, nameless, COUNT_OF(nameless)))
        function.end = function.at;
    out->pc_va = found->address;
    if (found->has_offset && pattern_length(module) > 0) {
        if (pattern_length(found->identity) == 0)
            return spelled_offset(input, module, found->offset, out);
        out->module = input_identified(input, module.at, pattern_length(module), found->identity.at,
                                       pattern_length(found->identity), NULL, 0);
        out->module_name = out->module != NULL ? out->module->name : NULL;
        out->offset = found->offset;
        return out->module != NULL || spelled_offset(input, module, found->offset, out);
    }
    if (pattern_length(function) > 0) {
        out->file = spelled_keep(input, found->file);
        out->line = (uint32_t)found->line;
        out->symbol_distance = found->distance;
        return spelled_named(input, module, function, out);
    }
    out->offset = found->address;
    return found->has_address;
}

static bool read_pattern(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_match found;
    for (size_t i = 0; i < COUNT_OF(frame_rows); i++) {
        if (!pattern_matches(frame_rows[i].pattern, r, &found))
            continue;
        if (frame_rows[i].address == INSIDE)
            out->kind = PC_INTERRUPTED;
        return set_matched(input, &found, out);
    }
    return false;
}

/* Windows' event log and error reports: the module and the offset are on separate lines. */
static enum spelled read_event(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const modules[] = {"{Message : }Faulting module name: %m, %*",
                                          "Faulting module name: %m",
                                          "Fault Module Name: %m",
                                          "P4: %m",
                                          "{%*}<Data Name=\"ModuleName\">%m</Data>{%*}",
                                          "Sig[3].Value=%m"};
    static const char *const offsets[] = {"Fault offset: %o", "Exception Offset: %o", "P8: %o",
                                          "{%*}<Data Name=\"FaultingOffset\">%o</Data>{%*}",
                                          "Sig[7].Value=%o"};
    static const char *const passed[] = {"{Message : }Faulting %*",
                                         "Exception %*",
                                         "Report Id: %*",
                                         "Problem %*",
                                         "Application %*",
                                         "Fault %*",
                                         "P%n: %*",
                                         "Sig[%n].%*",
                                         "{%*}<Data%*"};
    struct pattern_match found;
    if (any_matches(modules, COUNT_OF(modules), r, &found)) {
        input->fault_module =
            arena_text(&input->arena, found.module.at, pattern_length(found.module));
        if (input->fault_module == NULL)
            return SPELLED_UNKNOWN;
    }
    if (any_matches(offsets, COUNT_OF(offsets), r, &found)) {
        const char *name = input->fault_module;
        out->kind = PC_INTERRUPTED;
        return name != NULL &&
                       spelled_offset(input, (struct pattern_text){name, name + strlen(name)},
                                      found.offset, out)
                   ? SPELLED_FRAME
                   : SPELLED_UNKNOWN;
    }
    return any_matches(passed, COUNT_OF(passed), r, &found) ? SPELLED_NOTHING : SPELLED_UNKNOWN;
}

bool spelled_start(const struct stack_input *input, const struct stack_line *line, uint64_t *thread)
{
    const struct pattern_text r = {line->at, line->at + line->bytes};
    struct pattern_text f[MACHINE_FIELDS];
    struct pattern_match found;
    uint64_t index;
    *thread = SPELLED_NO_THREAD;
    if (pattern_starts(r, "Faulting application name:"))
        return input->builder.count > 0;
    if (pattern_matches("Thread %n name:%*", r, &found) ||
        pattern_matches("Thread %n crashed with %*", r, &found))
        return false;
    if (any_matches(start_rows, COUNT_OF(start_rows), r, &found)) {
        *thread = found.number;
        return true;
    }
    return split(r, f) == 7 && text_parse_uint(f[0].at, pattern_length(f[0]), thread) &&
           text_parse_uint(f[1].at, pattern_length(f[1]), &index) && index == 0;
}

/* "at FILE:LINE" on the line after a function. */
static bool read_where(struct stack_input *input, struct pattern_text r)
{
    struct frame *last = builder_last(&input->builder);
    struct pattern_match found;
    if (!pattern_matches("at %s", r, &found))
        return false;
    if (last != NULL && last->note == NOTE_NAMED_BY_INPUT && last->file == NULL) {
        last->file = spelled_keep(input, found.file);
        last->line = (uint32_t)found.line;
    }
    return true;
}

static void clear(const struct stack_input *input, struct frame *out)
{
    memset(out, 0, sizeof *out);
    out->found_by = FOUND_GIVEN;
    out->identity = IDENTITY_UNCHECKED;
    out->kind = input->builder.count == 0 || input->after_signal ? PC_INTERRUPTED : PC_RETURN;
}

static enum spelled read_frame(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    if (r.at[0] != '#' && pattern_find(r, '|') != NULL) {
        const enum spelled machine = read_machine(input, r, out);
        if (machine != SPELLED_UNKNOWN)
            return machine;
        clear(input, out);
    }
    if (r.at[0] != '#' && spelled_windbg(input, r, out))
        return SPELLED_FRAME;
    clear(input, out);
    if (read_pattern(input, r, out))
        return SPELLED_FRAME;
    clear(input, out);
    return r.at[0] != '#' && spelled_plus(input, r, out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
}

/* With a load map, the address says more than the printed name. */
static void map_frame(const struct stack_input *input, struct frame *out)
{
    input_map_frame(input, out);
    if (out->module == NULL)
        return;
    out->function = out->file = NULL;
    out->line = 0;
    out->symbol_distance = 0;
    out->note = NOTE_NONE;
}

enum spelled spelled_read(struct stack_input *input, const struct stack_line *line,
                          struct frame *out)
{
    const struct pattern_text r = {line->at, line->at + line->bytes};
    struct pattern_match found;
    uint64_t thread;
    if (line->bytes == 0 || memchr(line->at, '\0', line->bytes) != NULL)
        return SPELLED_UNKNOWN;
    clear(input, out);
    if (input->in_parameters) {
        if (spelled_windbg(input, r, out))
            return SPELLED_FRAME;
        spelled_parameters(input, r);
        return SPELLED_NOTHING;
    }
    if (pattern_matches("#%n <signal handler called>", r, &found)) {
        input->after_signal = true;
        return SPELLED_NOTHING;
    }
    const enum spelled frame = read_frame(input, r, out);
    if (frame == SPELLED_FRAME)
        input->after_signal = false;
    if (frame != SPELLED_UNKNOWN || r.at[0] == '#') {
        if (input->addresses && frame == SPELLED_FRAME && out->module == NULL && out->pc_va != 0)
            map_frame(input, out);
        return frame;
    }
    clear(input, out);
    const enum spelled event = read_event(input, r, out);
    if (event != SPELLED_UNKNOWN)
        return event;
    return read_where(input, r) || any_matches(passed_rows, COUNT_OF(passed_rows), r, &found) ||
                   spelled_start(input, line, &thread)
               ? SPELLED_NOTHING
               : SPELLED_UNKNOWN;
}
