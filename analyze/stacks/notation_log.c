/* A frame in the line of a log: after an index, a time, a level, a source, an address, and before
 * an address.
 *
 *     00 app.exe+0x1537              #0 app.exe!main+0x12             [0] app.exe + 0x1537
 *     Frame 0: app.exe!0x1537        2024-05-01 12:34:56.789 ERROR app.exe+0x1537 (0x7ff612341537)
 *
 * Only whole words are taken off, and only as long as a frame remains; so a module's name may have
 * blanks. An offset after a function's name is one in the function. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

/* Takes "(0x...)", "[0x...]", "@ 0x..." or "0x..." from the end. */
static void take_address(struct pattern_text *r)
{
    const char *blank = pattern_find_last(*r, " ");
    struct pattern_text last = {blank != NULL ? blank + 1 : r->at, r->end};
    if (blank == NULL || blank == r->at || blank[-1] == '+') /* "a.exe + 0x1537" */
        return;
    if (pattern_length(last) > 2 && strchr("([", *last.at) != NULL &&
        strchr(")]", last.end[-1]) != NULL)
        last = (struct pattern_text){last.at + 1, last.end - 1};
    if (!spelled_address(last))
        return;
    r->end = blank;
    while (r->end > r->at && strchr(" \t@", r->end[-1]) != NULL)
        r->end--;
}

/* "module+0x12", "module + 0x12", "module!0x12", "module!name+0x12", "module!name"; the same with
 * the base between module and offset, with a folder or a note after it; and offsets without 0x of
 * what is named like an image. */
static bool read_place(struct stack_input *input, struct pattern_text r, bool in_comment,
                       struct frame *out)
{
    static const char *const rows[] = {
        "%m!0x%o", "%m!{ }+{ }0x%o", "%m!%f + %X %F(%L){ + %*}", "%m!%f{ }+{ }%X{ [%s]}",
        "%m!%f()[%s]", "%m!%f [%s]", "%m!%f Line %L{ + 0x%* bytes}{ %*}", "%m!%f(){ %*}",
        "%m{ }(0x%*){ }+{ }0x%o", "%m{ }[0x%*]{ }+{ }0x%o", "%m @ 0x%*{ }+{ }0x%o",
        "%m 0x%* + 0x%o", "%m{ }(+0x%o)", "%e %f+%X", "%m{ }+{ }0x%o", "%m{ }+{ }0x%o [%*]",
        "{%* }%w@0x%o{ %*}", "Caused By Address : %e+%o", "%m(+0x%o) [0x%a] (%*)",
        "%m(%f+%X) [0x%a] (%*)", "{(}%e+%o{)}", "{%*: }%e+%oh", "\"%e\"+%o", "%e+%o -> %*",
        /* Visual Studio */
        "%m!%f(%*) C++{ %*}", "%m!%f(%*) C#{ %*}", "%m!%f(%*) Unknown{ %*}", "%e!%f(%*)",
        "%f() Unknown{ %*}", "%f(%*) Line %L{ + 0x%* bytes} C++{ %*}",
        "%f(%*) Line %L{ + 0x%* bytes} C#{ %*}"};
    struct pattern_match found;
    const char *quote =
        pattern_find(r, '`'); /* "a!`anonymous namespace'::f"; else another tool's */
    if ((quote != NULL && (quote == r.at || strchr("!:", quote[-1]) == NULL)) ||
        !pattern_matches_any(rows, COUNT_OF(rows), r, &found) ||
        (in_comment && pattern_find(found.module, ' ') != NULL))
        return false;
    const char *colon = pattern_find_last(found.module, ": "); /* a source; of no name of a file */
    if (colon != NULL)
        found.module = spelled_after_prefix((struct pattern_text){colon + 2, found.module.end});
    found.module = spelled_after_address(found.module);
    /* "a.dll!0x0a000001+0x5" is a damaged place of managed code */
    if (pattern_length(found.function) >= 2 && memcmp(found.function.at, "0x", 2) == 0)
        return false;
    if (pattern_length(found.function) == 0) {
        const char *bang = pattern_find_last(found.module, "!"); /* of a function, then */
        return (bang == NULL || pattern_find((struct pattern_text){bang, found.module.end}, '.')) &&
               spelled_offset(input, found.module, found.offset, out);
    }
    if (spelled_address(found.function) && /* Visual Studio, without symbols */
        text_parse_hex(found.function.at, pattern_length(found.function), &out->pc_va)) {
        spelled_at(out->pc_va, out);
        return true;
    }
    out->symbol_distance = found.distance;
    out->file = spelled_keep(input, found.file);
    out->line = pattern_length(found.file) > 0 ? (uint32_t)found.line : 0;
    return spelled_named(input, found.module, found.function, out);
}

/* Sysmon's "[CallTrace: ]PATH+OFFSET|PATH+OFFSET|UNKNOWN(ADDRESS)", a whole stack in a line; the
 * last frame is returned, the others are added. False, and nothing added: it is none. */
static bool read_trace(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const struct frame first = *out;
    struct pattern_match found;
    if (pattern_starts(r, "CallTrace: "))
        r.at += sizeof "CallTrace: " - 1;
    struct pattern_text rest = r;
    for (int pass = 0; pass < 2; pass++, rest = r)
        for (uint64_t i = 0; rest.at <= rest.end; i++) {
            const char *bar = pattern_find(rest, '|');
            const struct pattern_text place = {rest.at, bar != NULL ? bar : rest.end};
            if ((pass == 0 && i == 0 && bar == NULL) ||
                !(pattern_matches("%e+%o", place, &found) ||
                  pattern_matches("UNKNOWN(%a)", place, &found)))
                return false;
            rest.at = bar != NULL ? bar + 1 : rest.end + 1;
            if (pass == 0)
                continue;
            *out = first;
            out->kind = i == 0 ? first.kind : PC_RETURN;
            if (found.has_offset && !spelled_offset(input, found.module, found.offset, out))
                return false;
            if (found.has_address)
                out->pc_va = out->offset = found.address;
            if (bar != NULL)
                builder_add(&input->builder, *out);
        }
    return true;
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const bool in_comment = *r.at == '#'; /* "#3 see a.exe+0x12" */
    if (read_trace(input, r, out))
        return LINE_FRAME;
    take_address(&r);
    r = spelled_after_prefix(r);
    return read_place(input, r, in_comment, out) ? LINE_FRAME : LINE_UNKNOWN;
}

const struct notation notation_log = {.name = "lines of a log", .line = read_line};
