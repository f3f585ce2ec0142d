/* Windows' event log, also as XML, and Windows Error Reporting: the module and the offset are on
 * separate lines, and each event is a stack. */
#include <string.h>

#include "base/array.h"
#include "stacks/notation.h"

enum { LEAST_CODE = 0x40000000 }; /* of an exception; an offset is smaller */

/* A frame at OFFSET in the module that was named before; false: none was. */
static bool set_fault(struct stack_input *input, uint64_t offset, struct frame *out)
{
    const char *name = input->fault_module;
    out->kind = PC_INTERRUPTED;
    return name != NULL && spelled_fault(input, name, offset, out);
}

/* As Chinese and Japanese have them, in UTF-8. */
#define COMMA "\xEF\xBC\x8C"
#define COLON "\xEF\xBC\x9A"

/* The line of a record that names a file, in any language: name, version and time of link, between
 * commas and colons of two kinds. */
static bool names_file(struct pattern_text r, struct pattern_match *found)
{
    static const char *const rows[] = {
        "%*: %m, %*: %n.%*, %*: 0x%a", "%*: %m" COMMA "%*: %n.%*" COMMA "%*: 0x%a",
        "%*" COLON "%m" COMMA "%*" COLON "%n.%*" COMMA "%*" COLON "0x%a"};
    return pattern_matches_any(rows, COUNT_OF(rows), r, found);
}

/* A record in any language: a line for the program, one for the module, then a code and an offset.
 */
static enum line_is read_any_language(struct stack_input *input, struct pattern_text r,
                                      struct frame *out)
{
    struct pattern_match found;
    static const char *const numbers[] = {"%*: 0x%o", "%*" COLON "0x%o"};
    if (names_file(r, &found)) {
        input->fault_module =
            arena_text(&input->arena, found.module.at, pattern_length(found.module));
        input->fault_codes = 1;
        return LINE_NO_FRAME;
    }
    if (input->fault_codes == 0 || !pattern_matches_any(numbers, COUNT_OF(numbers), r, &found))
        return LINE_UNKNOWN;
    if (++input->fault_codes == 2 && found.offset < LEAST_CODE) {
        input->fault_codes = 0;
        return LINE_UNKNOWN;
    }
    return input->fault_codes == 3 && set_fault(input, found.offset, out) ? LINE_FRAME
                                                                          : LINE_NO_FRAME;
}

/* The seventh and the eighth parameter of an error report. Of most events they are the code and the
 * offset of the exception; of the kind BEX, of a check that failed, the other way around; and of
 * CLR20r3 the row of a method and an offset in its IL. True for the line that completes a frame. */
static bool read_parameter(struct stack_input *input, struct pattern_text r,
                           struct pattern_match *found, struct frame *out)
{
    static const char *const managed[] = {"%*: CLR20r3", "EventType=CLR20r3"};
    static const char *const seventh[] = {"P7: %o", "Sig[6].Value=%o", "Problem Signature 07: %o"};
    static const char *const eighth[] = {"P8: %o", "Sig[7].Value=%o", "Problem Signature 08: %o"};
    enum { METHOD_DEF = 0x06000000, ROWS = 0x1000000 };
    if (pattern_matches_any(managed, COUNT_OF(managed), r, found))
        input->fault_managed = true;
    if (pattern_matches_any(seventh, COUNT_OF(seventh), r, found))
        input->fault_seventh = found->offset;
    if (!pattern_matches_any(eighth, COUNT_OF(eighth), r, found))
        return false;
    if (input->fault_managed && input->fault_seventh < ROWS)
        out->method_token = METHOD_DEF | (uint32_t)input->fault_seventh;
    else if (found->offset >= LEAST_CODE && input->fault_seventh < LEAST_CODE)
        found->offset = input->fault_seventh;
    input->fault_managed = false;
    return true;
}

/* The event as XML before Windows 11: data without names, on a line each or on one line. The fourth
 * is the module, then follow its version, its time, the code and the offset. True for the line that
 * completes a frame. */
static bool read_data(struct stack_input *input, struct pattern_text r, struct pattern_match *found)
{
    enum { MODULE = 4, CODE = 7, OFFSET = 8 };
    static const char whole[] = "{%*}<EventData><Data>%*</Data><Data>%*</Data><Data>%*</Data>"
                                "<Data>%m</Data><Data>%*</Data><Data>%*</Data><Data>%a</Data>"
                                "<Data>%o</Data>%*";
    struct pattern_match number;
    if (pattern_find_last(r, "<EventData>") != NULL)
        input->fault_data = 0;
    const bool is_whole = pattern_matches(whole, r, found) && found->address >= LEAST_CODE;
    if (!is_whole && !pattern_matches("<Data>%m</Data>", r, found))
        return false;
    const uint32_t place = ++input->fault_data;
    if (is_whole || place == MODULE)
        input->fault_module =
            arena_text(&input->arena, found->module.at, pattern_length(found->module));
    if (place == CODE &&
        (!pattern_matches("<Data>%a</Data>", r, &number) || number.address < LEAST_CODE))
        input->fault_data = OFFSET; /* another event */
    return is_whole || (place == OFFSET && pattern_matches("<Data>%o</Data>", r, found));
}

/* An event of which a list shows all on one line, and those before Windows 7. */
static bool read_event(struct pattern_text r, struct pattern_match *found)
{
    static const char *const rows[] = {
        "{%*}Faulting module name: %m, version: %*Fault offset: 0x%o{ %*}",
        "{%*}Faulting application %*, faulting module %m, version %*, fault address 0x%o{.}{ %*}",
        "{%*}Faulting application %*, faulting module %m, version %*, fault offset 0x%o,%*"};
    return pattern_matches_any(rows, COUNT_OF(rows), r, found);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const modules[] = {"{Message : }Faulting module name: %m, %*",
                                          "Faulting module name: %m",
                                          "Fault Module Name: %m",
                                          "P4: %m",
                                          "Problem Signature 04: %m",
                                          "{%*}<Data Name=\"ModuleName\">%m</Data>{%*}",
                                          "Sig[3].Value=%m"};
    static const char *const offsets[] = {"Fault offset: %o", "Exception Offset: %o",
                                          "{%*}<Data Name=\"FaultingOffset\">%o</Data>{%*}"};
    static const char *const passed[] = {"{Message : }Faulting %*",
                                         "Exception %*",
                                         "Report Id: %*",
                                         "Problem %*",
                                         "Application %*",
                                         "Fault %*",
                                         "P%n: %*",
                                         "Sig[%n].%*",
                                         "Event Name: %*",
                                         "EventType=%*",
                                         "Fault bucket %*",
                                         "Response: %*",
                                         "Cab Id: %*",
                                         "{%*}<Data%*"};
    struct pattern_match found;
    if (r.at[0] == '#')
        return LINE_UNKNOWN;
    if (read_event(r, &found)) {
        out->kind = PC_INTERRUPTED;
        return spelled_offset(input, found.module, found.offset, out) ? LINE_FRAME : LINE_UNKNOWN;
    }
    if (pattern_matches_any(modules, COUNT_OF(modules), r, &found)) {
        input->fault_module =
            arena_text(&input->arena, found.module.at, pattern_length(found.module));
        input->fault_codes = 0;
        if (input->fault_module == NULL)
            return LINE_UNKNOWN;
    }
    if (read_parameter(input, r, &found, out) || read_data(input, r, &found) ||
        pattern_matches_any(offsets, COUNT_OF(offsets), r, &found))
        return set_fault(input, found.offset, out) ? LINE_FRAME : LINE_UNKNOWN;
    return pattern_matches_any(passed, COUNT_OF(passed), r, &found)
               ? LINE_NO_FRAME
               : read_any_language(input, r, out);
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    struct pattern_match found;
    *thread = NO_THREAD;
    return input->builder.count > 0 && (pattern_starts(r, "Faulting application ") ||
                                        (input->fault_codes >= 3 && names_file(r, &found)));
}

const struct notation notation_event = {
    .name = "Windows' event log", .line = read_line, .starts = starts};
