/* Oopses, warnings and traces of tasks in the log of Linux, of dmesg, syslog or journalctl:
 *
 *     [   27.100001] RIP: 0010:oops_init+0x1a/0x1000 [oops]
 *     [   27.100020] Call Trace:
 *     [   27.100021]  <TASK>
 *     [   27.100022]  ? page_fault_oops+0xd2/0x2b0
 *     [   27.100024]  do_one_initcall+0x56/0x210
 *     [   27.100030] ---[ end trace 0000000000000000 ]---
 *
 * A symbol, its offset and its size, and a module in brackets where it is not the kernel itself.
 * What is marked "?" or "(unreliable)" was found on the stack and need not be a caller: it is
 * left out. A place of code that the kernel's decode_stacktrace put after a name is read. Every
 * other line of such a report is no frame.
 *
 * Facts: Documentation/admin-guide/bug-hunting.rst and Documentation/arch/x86/kernel-stacks.rst,
 * "Printing backtraces on x86"; what x86, arm, arm64, powerpc and riscv print. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

/* Where the lines are, of input->kernel. */
enum { OUTSIDE, IN_REPORT, IN_TRACE, AFTER_TRACE };

static bool is_digits(struct pattern_text text, const char *more)
{
    for (const char *at = text.at; at < text.end; at++)
        if ((*at < '0' || *at > '9') && (*at == '\0' || strchr(more, *at) == NULL))
            return false;
    return pattern_length(text) > 0;
}

/* Takes "<4>", "[   27.100001]" and "[  T123]" off. */
static bool take_mark(struct pattern_text *r)
{
    const bool level = pattern_starts(*r, "<");
    const char *close =
        level || pattern_starts(*r, "[") ? pattern_find(*r, level ? '>' : ']') : NULL;
    if (close == NULL)
        return false;
    struct pattern_text in = {r->at + 1, close};
    pattern_skip_blanks(&in);
    if (!level && pattern_length(in) > 1 && (*in.at == 'T' || *in.at == 'C'))
        in.at++;
    if (!is_digits(in, level ? "" : "."))
        return false;
    r->at = close + 1;
    pattern_skip_blanks(r);
    return true;
}

/* The message of a line of a log, without what says when and from where it is. */
static struct pattern_text message_of(struct pattern_text r)
{
    enum { BEFORE = 100 }; /* a date, a host */
    static const char source[] = "kernel: ";
    const char *end = pattern_length(r) > BEFORE ? r.at + BEFORE : r.end;
    const char *at = pattern_find_last((struct pattern_text){r.at, end}, source);
    if (at != NULL)
        r.at = at + sizeof source - 1;
    pattern_skip_blanks(&r);
    while (take_mark(&r))
        continue;
    return r;
}

/* Lines after which a stack is that of another report or task. */
static bool is_heading(struct pattern_text r)
{
    static const char *const words[] = {"BUG: ",
                                        "Oops: ",
                                        "Oops[#",
                                        "Oops [#",
                                        "Internal error: ",
                                        "Unable to handle kernel ",
                                        "general protection fault",
                                        "Kernel panic - not syncing",
                                        "kernel BUG at ",
                                        "NMI backtrace for cpu ",
                                        "------------[ cut here ]",
                                        "INFO: task "};
    static const char *const patterns[] = {"task:%* state:%* pid:%*", "WARNING: CPU: %n PID: %*"};
    struct pattern_match found;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (pattern_starts(r, words[i]))
            return true;
    return pattern_matches_any(patterns, COUNT_OF(patterns), r, &found);
}

/* The same where the stack follows at once, as of the memory that KASAN names. */
static bool is_owner(struct pattern_text r)
{
    return pattern_starts(r, "Allocated by task ") || pattern_starts(r, "Freed by task ");
}

static bool is_trace(struct pattern_text r)
{
    return pattern_starts(r, "Call Trace:") || pattern_starts(r, "Call trace:") ||
           pattern_starts(r, "Backtrace:");
}

/* The registers of a fault, some of which are the place of it. */
static bool takes_place(struct pattern_text *r)
{
    static const char *const words[] = {
        "RIP: ", "RIP ", "EIP: ", "EIP is at ", "pc : ", "epc : ", "PC is at ", "NIP [", "PC: "};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (pattern_starts(*r, words[i])) {
            r->at += strlen(words[i]);
            return true;
        }
    return false;
}

/* Finds NAME+0xOFFSET/0xSIZE in R; *REST is what follows it. */
static bool find_symbol(struct pattern_text r, struct pattern_match *out, struct pattern_text *rest)
{
    for (const char *plus = r.at; (plus = pattern_find((struct pattern_text){plus, r.end}, '+'));
         plus++) {
        const char *name = plus, *end = plus;
        while (name > r.at && strchr(" (]:", name[-1]) == NULL)
            name--;
        while (end < r.end && strchr(" )", *end) == NULL)
            end++;
        const struct pattern_text numbers = {plus + 1, end};
        const char *slash = pattern_find(numbers, '/');
        uint64_t size;
        if (name == plus || slash == NULL ||
            !text_parse_hex(numbers.at, (size_t)(slash - numbers.at), &out->distance) ||
            !text_parse_hex(slash + 1, (size_t)(end - slash - 1), &size))
            continue;
        out->function = (struct pattern_text){name, plus};
        *rest = (struct pattern_text){end, r.end};
        return true;
    }
    return false;
}

/* "[oops]", or with its build id "[oops 1234...]". */
static struct pattern_text module_in(struct pattern_text rest)
{
    static const char kernel[] = "vmlinux";
    while (rest.at < rest.end && strchr(" )", *rest.at) != NULL)
        rest.at++;
    const char *close = pattern_starts(rest, "[") ? pattern_find(rest, ']') : NULL;
    if (close == NULL)
        return (struct pattern_text){kernel, kernel + sizeof kernel - 1};
    rest = (struct pattern_text){rest.at + 1, close};
    return pattern_next_word(&rest);
}

/* What is before the symbol of a line of a trace: addresses in brackets. */
static struct pattern_text after_addresses(struct pattern_text r)
{
    while (pattern_starts(r, "[") && pattern_find(r, ']') != NULL) {
        struct pattern_text in = {r.at + 1, pattern_find(r, ']')};
        r.at = in.end + 1;
        pattern_skip_blanks(&r);
    }
    return r;
}

/* Traces of arm64 and riscv begin with the place that the registers state. */
static bool is_last(struct stack_input *input, const struct pattern_match *found)
{
    const struct frame *last = builder_last(&input->builder);
    return input->builder.count == 1 && last != NULL && last->kind == PC_INTERRUPTED &&
           last->symbol_distance == found->distance && last->function != NULL &&
           strlen(last->function) == pattern_length(found->function) &&
           pattern_starts(found->function, last->function);
}

static bool read_frame(struct stack_input *input, struct pattern_text r, bool is_place,
                       struct frame *out)
{
    static const char *const decoded[] = {"%f (%s{ (%*)}){ %*}"};
    static const char from[] = " from ";
    struct pattern_text rest = {r.end, r.end};
    struct pattern_match found = {0};
    r = after_addresses(r);
    const bool is_stale = pattern_starts(r, "? ");
    const char *caller = pattern_find_last(r, from);
    if (is_stale)
        r.at += 2;
    else if (caller != NULL)
        r.at = caller + sizeof from - 1;
    r = is_place ? r : after_addresses(r);
    if (find_symbol(r, &found, &rest)) {
        if (!is_place && found.function.at != r.at && !pattern_starts(r, "("))
            return false;
    } else if (!pattern_matches_any(decoded, COUNT_OF(decoded), r, &found)) {
        return false;
    }
    if (is_stale || pattern_find_last(rest, "(unreliable)") != NULL ||
        (!is_place && is_last(input, &found)) ||
        !spelled_named(input, module_in(rest), found.function, out))
        return false;
    out->symbol_distance = found.distance;
    out->file = spelled_keep(input, found.file);
    out->line = found.line <= UINT32_MAX ? (uint32_t)found.line : 0;
    if (is_place)
        out->kind = PC_INTERRUPTED;
    return true;
}

/* What begins a report, where the lines before it are not there. */
static bool is_inside(struct pattern_text r)
{
    static const char *const patterns[] = {"CPU: %n {UID: %n }PID: %n Comm: %*"};
    struct pattern_match found;
    return pattern_starts(r, "RIP: 0010:") ||
           pattern_matches_any(patterns, COUNT_OF(patterns), r, &found);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text line,
                              struct frame *out)
{
    if (input->kernel == OUTSIDE && line.at < line.end && strchr("#0123456789", *line.at) != NULL)
        return LINE_UNKNOWN; /* frames of other tools, which cost nothing here */
    struct pattern_text r = message_of(line);
    if (is_heading(r) || (input->kernel == OUTSIDE && is_inside(r)))
        input->kernel = IN_REPORT;
    else if (is_owner(r) || (is_trace(r) && (input->kernel != OUTSIDE || r.at != line.at)))
        input->kernel = IN_TRACE;
    else if (input->kernel == OUTSIDE)
        return LINE_UNKNOWN;
    else if (pattern_starts(r, "---[ end "))
        input->kernel = AFTER_TRACE;
    const bool is_place = takes_place(&r);
    const bool may_be = is_place ? input->kernel != AFTER_TRACE : input->kernel == IN_TRACE;
    return may_be && read_frame(input, r, is_place, out) ? LINE_FRAME : LINE_NO_FRAME;
}

static bool starts(const struct stack_input *input, struct pattern_text line, uint64_t *thread)
{
    *thread = NO_THREAD;
    if (input->builder.count == 0 || input->kernel == OUTSIDE)
        return false;
    const struct pattern_text r = message_of(line);
    return is_heading(r) || is_owner(r) || (is_trace(r) && input->kernel != IN_REPORT);
}

const struct notation notation_kernel = {
    .name = "a log of Linux", .line = read_line, .starts = starts};
