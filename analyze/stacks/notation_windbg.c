/* Stacks as WinDbg's k, kb, kc, kn, kv, kf and kP print them; the grammar is in stack_input.h. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

static bool hex_of(struct pattern_text r, uint64_t *out)
{
    return text_parse_hex(r.at, pattern_length(r), out);
}

/* Eight or more digits of an address, with WinDbg's ` between the halves. */
static bool is_address(struct pattern_text word)
{
    uint32_t digits = 0;
    for (const char *at = word.at; at < word.end; at++) {
        if (*at == '`' || *at == '-')
            continue;
        if (strchr("0123456789abcdefABCDEF", *at) == NULL)
            return false;
        digits++;
    }
    return pattern_length(word) >= 8 && (digits >= 8 || digits == 0);
}

/* The value of such a word, also after 0x. */
static bool address_of(struct pattern_text word, uint64_t *out)
{
    char digits[2 * sizeof *out + 1];
    size_t count = 0;
    if (pattern_starts(word, "0x"))
        word.at += 2;
    else if (!is_address(word) || *word.at == '-')
        return false;
    for (const char *at = word.at; at < word.end; at++) {
        if (*at == '`')
            continue;
        if (count == sizeof digits - 1)
            return false;
        digits[count++] = *at;
    }
    return text_parse_hex(digits, count, out);
}

/* Removes what `kv` adds after the call site of x86: "(FPO: ...)", "(CONV: cdecl)", "(TrapFrame @
 * ...)". */
static void drop_notes(struct pattern_text *r)
{
    static const char *const notes[] = {" (FPO: ", " (CONV: ", " (TrapFrame @ "};
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        const char *at = pattern_find_last(*r, notes[i]);
        if (at != NULL)
            r->end = at;
    }
}

/* "[file @ line]" at the end of R. */
static void take_source(struct stack_input *input, struct pattern_text *r, struct frame *out)
{
    const char *bracket = pattern_find_last(*r, " [");
    const char *at = pattern_find_last(*r, " @ ");
    uint64_t line;
    if (bracket == NULL || at == NULL || at <= bracket || r->end[-1] != ']')
        return;
    if (text_parse_uint(at + 3, (size_t)(r->end - 1 - (at + 3)), &line) && line <= INT32_MAX)
        out->line = (uint32_t)line;
    out->file = spelled_keep(input, (struct pattern_text){bracket + 2, at});
    r->end = bracket;
}

/* SOS's clrstack: "[HelperMethodFrame: ADDRESS] Namespace.Type.Method(parameters)". */
static bool read_method(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const char *bracket = r.at < r.end && *r.at == '[' ? pattern_find(r, ']') : NULL;
    r.at = bracket != NULL ? bracket + 1 : r.at;
    pattern_skip_blanks(&r);
    const char *open = pattern_find(r, '(');
    if (open == NULL || r.end[-1] != ')' ||
        pattern_find((struct pattern_text){r.at, open}, '.') == NULL)
        return false;
    return spelled_named(input, (struct pattern_text){r.at, r.at},
                         (struct pattern_text){r.at, open}, out);
}

/* "module!function+0x12 [file @ line]", "module+0x12", a managed method, or an address. */
static bool read_call_site(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    uint64_t address;
    take_source(input, &r, out);
    drop_notes(&r);
    while (r.end > r.at && r.end[-1] == ' ')
        r.end--;
    const char *bang = pattern_find(r, '!');
    if (bang == NULL) {
        if (spelled_plus(input, r, out))
            return true;
        if (!address_of(r, &address))
            return read_method(input, r, out);
        spelled_at(address, out);
        return address != 0;
    }
    const struct pattern_text function = {bang + 1, r.end};
    if (pattern_starts(function, "0x") && address_of(function, &address)) { /* OBS has no symbols */
        spelled_at(address, out);
        return true;
    }
    struct pattern_text rest = function;
    const struct pattern_text place = pattern_next_word(&rest);
    if (pattern_starts(place, "0x") && hex_of(place, &address)) /* Dr. Mingw: the nearest export */
        return spelled_offset(input, (struct pattern_text){r.at, bang}, address, out);
    input->in_parameters = r.end[-1] == '(';
    const char *plus = pattern_find_last(r, "+0x");
    if (plus != NULL && plus > bang)
        (void)hex_of((struct pattern_text){plus + 1, r.end}, &out->symbol_distance);
    else
        plus = r.end;
    const struct pattern_text whole = {bang + 1, plus}; /* kp and kP print parameters */
    return spelled_named(input, (struct pattern_text){r.at, bang},
                         (struct pattern_text){whole.at, pattern_parameters(whole)}, out);
}

/* A line of parameters after a call site of kP; the last one is ")+0x12 [file @ line]". */
static void read_parameters(struct stack_input *input, struct pattern_text r)
{
    struct frame *last = builder_last(&input->builder);
    const char *close = pattern_find_last(r, ")+0x");
    if (close == NULL && r.end[-1] != ')' && r.end[-1] != ']')
        return;
    input->in_parameters = false;
    if (last == NULL || close == NULL)
        return;
    take_source(input, &r, last);
    (void)hex_of((struct pattern_text){close + 2, r.end}, &last->symbol_distance);
}

/* Skips the arguments of a frame: ": A B C D : " on x64, three addresses on x86, and however many
 * other tools print. What comes last is the call site, even where it is an address. */
static bool skip_arguments(struct pattern_text *r)
{
    pattern_skip_blanks(r);
    if (pattern_starts(*r, ": ")) {
        const char *colon = pattern_find_last(*r, " : ");
        if (colon == NULL)
            return false;
        r->at = colon + 3;
        return true;
    }
    for (struct pattern_text rest = *r; is_address(pattern_next_word(&rest));) {
        pattern_skip_blanks(&rest);
        if (pattern_length(rest) == 0)
            break;
        *r = rest;
    }
    return true;
}

/* WinDbg: "[00] [BYTES] CHILD-SP RETURN-ADDRESS [ARGUMENTS] CALL-SITE", also of inlined
 * functions. */
static bool read_frame(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_text number = r;
    uint64_t index;
    const struct pattern_text word = pattern_next_word(&number);
    const bool numbered =
        pattern_length(word) >= 2 && pattern_length(word) <= 4 && hex_of(word, &index);
    if (numbered)
        r = number;
    pattern_skip_blanks(&r);
    struct pattern_text bytes = r;
    const struct pattern_text size = pattern_next_word(&bytes);
    if (numbered && pattern_length(size) <= 7 && hex_of(size, &index)) /* kf: bytes of the frame */
        r = bytes;
    pattern_skip_blanks(&r);
    if (pattern_starts(r, "(Inline Function)")) {
        r.at += sizeof "(Inline Function)" - 1;
    } else if (pattern_starts(r, "(Inline)")) {
        r.at += sizeof "(Inline)" - 1;
    } else if (!is_address(pattern_next_word(&r))) {
        return false;
    }
    pattern_skip_blanks(&r); /* kb of x64 has return addresses alone */
    if (input->block != BLOCK_RETURNS &&
        ((!pattern_starts(r, ": ") && !is_address(pattern_next_word(&r))) || !skip_arguments(&r)))
        return false;
    pattern_skip_blanks(&r);
    return pattern_length(r) > 0 && read_call_site(input, r, out);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const names[] = {"%n %m!%f", "%a %m!%f", "%m!%f"}; /* kc, kcn */
    const bool in_parameters = input->in_parameters;
    struct pattern_match found;
    if ((in_parameters || r.at[0] != '#') && read_frame(input, r, out))
        return LINE_FRAME;
    if (pattern_matches("{# }Call Site", r, &found)) {
        input->block = BLOCK_NAMES;
        return LINE_NO_FRAME;
    }
    if (pattern_matches("RetAddr Call Site", r, &found)) {
        input->block = BLOCK_RETURNS;
        return LINE_NO_FRAME;
    }
    if (input->block == BLOCK_NAMES && pattern_matches_any(names, COUNT_OF(names), r, &found))
        return spelled_named(input, found.module, found.function, out) ? LINE_FRAME : LINE_UNKNOWN;
    if (!in_parameters)
        return LINE_UNKNOWN;
    read_parameters(input, r);
    return LINE_NO_FRAME;
}

const struct notation notation_windbg = {.name = "WinDbg", .line = read_line};
