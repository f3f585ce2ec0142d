/* Frames as other tools print them; the grammar is in stack_input.h. Only lines that are not a
 * frame of our own form get here, so our own form keeps its meaning. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "symbol/stack_input_parts.h"

enum { MACHINE_FIELDS = 8 };

/* Text that has not been parsed yet. */
struct rest {
    const char *at, *end;
};

static size_t left(struct rest r)
{
    return (size_t)(r.end - r.at);
}

static bool starts(struct rest r, const char *word)
{
    const size_t bytes = strlen(word);
    return left(r) >= bytes && memcmp(r.at, word, bytes) == 0;
}

static void skip_blanks(struct rest *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
}

static struct rest next_word(struct rest *r)
{
    skip_blanks(r);
    struct rest word = {r->at, r->at};
    while (r->at < r->end && *r->at != ' ' && *r->at != '\t')
        r->at++;
    word.end = r->at;
    return word;
}

/* The last place of WORD in R; NULL: none. */
static const char *find_last(struct rest r, const char *word)
{
    const size_t bytes = strlen(word);
    for (size_t n = left(r) >= bytes ? left(r) - bytes + 1 : 0; n-- > 0;)
        if (memcmp(r.at + n, word, bytes) == 0)
            return r.at + n;
    return NULL;
}

static const char *find_first(struct rest r, char c)
{
    return left(r) > 0 ? memchr(r.at, c, left(r)) : NULL;
}

static bool hex_of(struct rest r, uint64_t *out)
{
    return text_parse_hex(r.at, left(r), out);
}

static struct rest base_name(struct rest path)
{
    for (const char *at = path.end; at > path.at; at--)
        if (at[-1] == '\\' || at[-1] == '/')
            return (struct rest){at, path.end};
    return path;
}

/* Eight or more digits of an address, with WinDbg's ` between the halves. */
static bool is_address(struct rest word)
{
    uint32_t digits = 0;
    for (const char *at = word.at; at < word.end; at++) {
        if (*at == '`' || *at == '-')
            continue;
        if (strchr("0123456789abcdefABCDEF", *at) == NULL)
            return false;
        digits++;
    }
    return left(word) >= 8 && (digits >= 8 || digits == 0);
}

/* An offset in a module. */
static bool set_offset(struct stack_input *input, struct rest name, uint64_t offset,
                       struct frame *out)
{
    name = base_name(name);
    out->module = left(name) > 0 ? input_module(input, name.at, left(name)) : NULL;
    out->module_name = out->module != NULL ? out->module->name : NULL;
    out->offset = offset;
    return out->module != NULL;
}

static const char *keep(struct stack_input *input, struct rest text)
{
    return left(text) > 0 ? arena_text(&input->scratch, text.at, left(text)) : NULL;
}

/* A function without a stated offset in its module. */
static bool set_named(struct stack_input *input, struct rest module, struct rest function,
                      struct frame *out)
{
    out->module_name = keep(input, base_name(module));
    out->function = keep(input, function);
    out->note = NOTE_NAMED_BY_INPUT;
    out->offset = 0;
    return out->function != NULL;
}

/* "FILE:LINE" or "FILE:LINE:COLUMN". */
static void set_where(struct stack_input *input, struct rest where, struct frame *out)
{
    uint64_t numbers[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const char *colon = find_last(where, ":");
        if (colon == NULL ||
            !text_parse_uint(colon + 1, (size_t)(where.end - colon - 1), &numbers[i]))
            break;
        where.end = colon;
        out->line = numbers[i] <= INT32_MAX ? (uint32_t)numbers[i] : 0;
    }
    out->file = keep(input, where);
}

/* "app+0x12", the place in a module. */
static bool read_plus(struct stack_input *input, struct rest r, struct frame *out)
{
    const char *plus = find_last(r, "+0x");
    uint64_t offset;
    if (plus == NULL || plus == r.at || find_first((struct rest){r.at, plus}, '!') != NULL ||
        find_first((struct rest){r.at, plus}, '`') != NULL ||
        !hex_of((struct rest){plus + 1, r.end}, &offset))
        return false;
    return set_offset(input, (struct rest){r.at, plus}, offset, out);
}

/* "module!function+0x12 [file @ line]", "module+0x12", or an address. */
static bool read_call_site(struct stack_input *input, struct rest r, struct frame *out)
{
    const char *bracket = find_last(r, " [");
    const char *at = find_last(r, " @ ");
    uint64_t line, address;
    if (bracket != NULL && at != NULL && at > bracket && r.end[-1] == ']') {
        if (text_parse_uint(at + 3, (size_t)(r.end - 1 - (at + 3)), &line) && line <= INT32_MAX)
            out->line = (uint32_t)line;
        out->file = keep(input, (struct rest){bracket + 2, at});
        r.end = bracket;
    }
    while (r.end > r.at && r.end[-1] == ' ')
        r.end--;
    const char *bang = find_first(r, '!');
    if (bang == NULL) {
        if (read_plus(input, r, out))
            return true;
        out->offset = out->pc_va = is_address(r) && hex_of(r, &address) ? address : 0;
        return out->pc_va != 0;
    }
    const char *plus = find_last(r, "+0x");
    if (plus != NULL && plus > bang)
        (void)hex_of((struct rest){plus + 1, r.end}, &out->symbol_distance);
    else
        plus = r.end;
    return set_named(input, (struct rest){r.at, bang}, (struct rest){bang + 1, plus}, out);
}

/* WinDbg: "[00] CHILD-SP RETURN-ADDRESS [: ARGUMENTS :] CALL-SITE", also of inlined functions. */
static bool read_windbg(struct stack_input *input, struct rest r, struct frame *out)
{
    struct rest number = r;
    uint64_t index;
    const struct rest word = next_word(&number);
    if (left(word) >= 2 && left(word) <= 4 && hex_of(word, &index))
        r = number;
    skip_blanks(&r);
    if (starts(r, "(Inline")) {
        (void)next_word(&r);
        (void)next_word(&r);
    } else if (!is_address(next_word(&r))) {
        return false;
    }
    if (!is_address(next_word(&r)))
        return false;
    skip_blanks(&r);
    if (starts(r, ": ")) {
        const char *colon = find_last(r, " : ");
        if (colon == NULL)
            return false;
        r.at = colon + 3;
    }
    skip_blanks(&r);
    return left(r) > 0 && read_call_site(input, r, out);
}

/* gdb: "#1  0xADDRESS in function (arguments) at FILE:LINE" or "... from LIBRARY". */
static bool read_gdb(struct stack_input *input, struct rest r, struct frame *out)
{
    uint64_t number;
    r.at++; /* the '#' */
    const struct rest word = next_word(&r);
    if (!text_parse_uint(word.at, left(word), &number))
        return false;
    skip_blanks(&r);
    const bool addressed = starts(r, "0x");
    if (addressed) {
        if (!hex_of(next_word(&r), &out->pc_va) || !starts(r, " in "))
            return false;
        r.at += 4;
        out->offset = out->pc_va;
    }
    const char *open = find_last(r, " ("), *close = find_last(r, ")");
    const char *at = find_last(r, " at "), *from = find_last(r, " from ");
    if (open == NULL || close == NULL || (!addressed && at == NULL && from == NULL))
        return false;
    for (const char *c = r.at; c + 1 < open; c++) /* the first " (" ends the name */
        if (c[0] == ' ' && c[1] == '(' && c > r.at)
            open = c;
    if (at != NULL && at >= close)
        set_where(input, (struct rest){at + 4, r.end}, out);
    const struct rest library =
        from != NULL && from >= close ? (struct rest){from + 6, r.end} : (struct rest){r.at, r.at};
    const struct rest function = {r.at, open};
    if (left(function) == 2 && memcmp(function.at, "??", 2) == 0) {
        return addressed;
    }
    return set_named(input, library, function, out);
}

/* lldb: "[* ]frame #1: 0xADDRESS module`function(arguments) + 12 at FILE:LINE:COLUMN". */
static bool read_lldb(struct stack_input *input, struct rest r, struct frame *out)
{
    const char *colon = find_first(r, ':');
    if (colon == NULL)
        return false;
    r.at = colon + 1;
    if (!hex_of(next_word(&r), &out->pc_va))
        return false;
    out->offset = out->pc_va;
    skip_blanks(&r);
    const char *tick = find_first(r, '`');
    if (tick == NULL) {
        return true;
    }
    const char *at = find_last(r, " at ");
    const struct rest module = {r.at, tick};
    if (at != NULL && at > tick) {
        set_where(input, (struct rest){at + 4, r.end}, out);
        r.end = at;
    }
    const char *plus = find_last(r, " + ");
    if (plus != NULL && plus > tick &&
        text_parse_uint(plus + 3, (size_t)(r.end - plus - 3), &out->symbol_distance))
        r.end = plus;
    return set_named(input, module, (struct rest){tick + 1, r.end}, out);
}

/* Windows' event log: the module and the offset are on separate lines. */
static enum spelled read_event(struct stack_input *input, struct rest r, struct frame *out)
{
    static const char *const passed[] = {"Faulting ", "Exception code:", "Report Id:"};
    static const char module[] = "Faulting module name:", offset[] = "Fault offset:";
    uint64_t value;
    if (starts(r, module)) {
        const char *comma = find_first(r, ',');
        r.at += sizeof module - 1;
        skip_blanks(&r);
        const struct rest name = {r.at, comma != NULL ? comma : r.end};
        input->fault_module = arena_text(&input->arena, name.at, left(name));
        return input->fault_module != NULL ? SPELLED_NOTHING : SPELLED_UNKNOWN;
    }
    if (starts(r, offset)) {
        r.at += sizeof offset - 1;
        skip_blanks(&r);
        const char *name = input->fault_module;
        if (name == NULL || !hex_of(next_word(&r), &value) ||
            !set_offset(input, (struct rest){name, name + strlen(name)}, value, out))
            return SPELLED_UNKNOWN;
        return SPELLED_FRAME;
    }
    for (size_t i = 0; i < COUNT_OF(passed); i++)
        if (starts(r, passed[i]))
            return SPELLED_NOTHING;
    return SPELLED_UNKNOWN;
}

static uint32_t split(struct rest r, struct rest fields[MACHINE_FIELDS])
{
    uint32_t count = 0;
    while (count < MACHINE_FIELDS) {
        const char *bar = find_first(r, '|');
        fields[count++] = (struct rest){r.at, bar != NULL ? bar : r.end};
        if (bar == NULL)
            return count;
        r.at = bar + 1;
    }
    return count + 1;
}

/* minidump_stackwalk -m: "thread|frame|module|function|file|line|offset", "Module|...". */
static enum spelled read_machine(struct stack_input *input, struct rest r, struct frame *out)
{
    static const char *const passed[] = {"OS|", "CPU|", "GPU|", "Crash|", "Assertion|"};
    struct rest f[MACHINE_FIELDS];
    const uint32_t count = split(r, f);
    uint64_t thread, index, offset, line;

    for (size_t i = 0; i < COUNT_OF(passed); i++)
        if (starts(r, passed[i]))
            return SPELLED_NOTHING;
    if (count == 8 && starts(r, "Module|")) {
        (void)input_state_module(input, f[1].at, left(f[1]), NULL, 0, f[4].at, left(f[4]));
        return SPELLED_NOTHING;
    }
    if (count != 7 || !text_parse_uint(f[0].at, left(f[0]), &thread) ||
        !text_parse_uint(f[1].at, left(f[1]), &index) || !hex_of(f[6], &offset))
        return SPELLED_UNKNOWN;
    out->kind = index == 0 ? PC_INTERRUPTED : PC_RETURN;
    if (left(f[3]) > 0) {
        out->file = keep(input, f[4]);
        out->line =
            text_parse_uint(f[5].at, left(f[5]), &line) && line <= INT32_MAX ? (uint32_t)line : 0;
        return set_named(input, f[2], f[3], out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
    }
    offset += index > 0 ? 1 : 0; /* a caller is printed one byte before the return address */
    if (left(f[2]) > 0)
        return set_offset(input, f[2], offset, out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
    out->offset = out->pc_va = offset;
    return SPELLED_FRAME;
}

bool spelled_start(const struct stack_line *line, uint64_t *thread)
{
    struct rest r = {line->at, line->at + line->bytes};
    struct rest f[MACHINE_FIELDS];
    uint64_t index;
    if (starts(r, "* "))
        r.at += 2;
    if (starts(r, "thread #")) {
        struct rest number = {r.at + 8, r.at + 8};
        while (number.end < r.end && *number.end >= '0' && *number.end <= '9')
            number.end++;
        return text_parse_uint(number.at, left(number), thread);
    }
    return split(r, f) == 7 && text_parse_uint(f[0].at, left(f[0]), thread) &&
           text_parse_uint(f[1].at, left(f[1]), &index) && index == 0;
}

bool spelled_gdb(const struct stack_line *line)
{
    return line->bytes > 2 && line->at[0] == '#' && line->at[1] >= '0' && line->at[1] <= '9';
}

enum spelled spelled_read(struct stack_input *input, const struct stack_line *line,
                          struct frame *out)
{
    static const char *const passed[] = {"WARNING:", "Child-SP", "ChildEBP"};
    struct rest r = {line->at, line->at + line->bytes};
    if (memchr(line->at, '\0', line->bytes) != NULL)
        return SPELLED_UNKNOWN;
    memset(out, 0, sizeof *out);
    out->found_by = FOUND_GIVEN;
    out->identity = IDENTITY_UNCHECKED;
    out->kind = input->builder.count == 0 ? PC_INTERRUPTED : PC_RETURN;
    if (line->at[0] == '#')
        return read_gdb(input, r, out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
    for (size_t i = 0; i < COUNT_OF(passed); i++)
        if (starts(r, passed[i]))
            return SPELLED_NOTHING;
    if (find_first(r, '|') != NULL)
        return read_machine(input, r, out);
    const struct rest whole = r;
    if (starts(r, "* "))
        r.at += 2;
    if (starts(r, "thread #"))
        return SPELLED_NOTHING;
    if (starts(r, "frame #"))
        return read_lldb(input, r, out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
    const enum spelled event = read_event(input, whole, out);
    if (event != SPELLED_UNKNOWN)
        return event;
    if (read_windbg(input, whole, out))
        return SPELLED_FRAME;
    memset(out, 0, sizeof *out);
    out->found_by = FOUND_GIVEN;
    out->identity = IDENTITY_UNCHECKED;
    out->kind = input->builder.count == 0 ? PC_INTERRUPTED : PC_RETURN;
    return read_plus(input, whole, out) ? SPELLED_FRAME : SPELLED_UNKNOWN;
}
