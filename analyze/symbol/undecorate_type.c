/* Types in MSVC's decoration; see undecorate_msvc.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "symbol/undecorate_msvc.h"

static struct msvc_type plain(const char *text)
{
    return (struct msvc_type){text, "", false};
}

static struct msvc_type fail_type(struct msvc *d)
{
    return plain(msvc_fail(d));
}

const char *msvc_qualifiers(struct msvc *d)
{
    switch (*d->at) {
    case 'A':
        d->at++;
        return "";
    case 'B':
        d->at++;
        return " const";
    case 'C':
        d->at++;
        return " volatile";
    case 'D':
        d->at++;
        return " const volatile";
    default:
        return msvc_fail(d);
    }
}

/* Qualifies a type, once. */
static const char *qualify(struct msvc *d, const char *before, const char *qualifiers)
{
    const size_t bytes = strlen(before), more = strlen(qualifiers);
    if (more == 0 || (bytes >= more && strcmp(before + bytes - more + 1, qualifiers + 1) == 0 &&
                      strchr(" *", before[bytes - more]) != NULL))
        return before;
    return msvc_join(d, before, qualifiers, NULL);
}

/* E: 64-bit, not shown; I: restrict; F: unaligned; $A: managed memory. */
static const char *pointer_extras(struct msvc *d, bool *managed)
{
    const char *text = "";
    *managed = false;
    for (;;) {
        if (msvc_take(d, 'E'))
            continue;
        if (msvc_take_text(d, "$A")) {
            *managed = true;
            continue;
        }
        if (msvc_take(d, 'I'))
            text = msvc_join(d, text, " __restrict", NULL);
        else if (msvc_take(d, 'F'))
            text = msvc_join(d, text, " __unaligned", NULL);
        else
            return text;
    }
}

const char *msvc_this_qualifiers(struct msvc *d)
{
    const char *reference = "";
    bool managed;
    const char *extras = pointer_extras(d, &managed);
    if (msvc_take(d, 'G'))
        reference = " &";
    else if (msvc_take(d, 'H'))
        reference = " &&";
    if (*extras == '\0')
        extras = pointer_extras(d, &managed);
    const char *qualifiers = msvc_qualifiers(d);
    return msvc_join(d, qualifiers, extras, reference, NULL);
}

const char *msvc_convention(struct msvc *d)
{
    static const char *const words[] = {
        ['A'] = "__cdecl",    ['B'] = "__cdecl",    ['C'] = "__pascal",     ['D'] = "__pascal",
        ['E'] = "__thiscall", ['F'] = "__thiscall", ['G'] = "__stdcall",    ['H'] = "__stdcall",
        ['I'] = "__fastcall", ['J'] = "__fastcall", ['M'] = "__clrcall",    ['N'] = "__clrcall",
        ['O'] = "__eabi",     ['P'] = "__eabi",     ['Q'] = "__vectorcall",
    };
    const unsigned char c = (unsigned char)*d->at;
    if (c >= COUNT_OF(words) || words[c] == NULL)
        return msvc_fail(d);
    d->at++;
    return d->full ? "" : words[c];
}

struct msvc_type msvc_result(struct msvc *d)
{
    if (msvc_take(d, '@'))
        return plain("");
    if (!msvc_take(d, '?'))
        return msvc_read_type(d);
    const char *qualifiers = msvc_qualifiers(d);
    struct msvc_type type = msvc_read_type(d);
    type.before = qualify(d, type.before, qualifiers);
    return type;
}

static struct msvc_type parameter(struct msvc *d)
{
    const char *start = d->at;

    if (*d->at >= '0' && *d->at <= '9') {
        const uint32_t index = (uint32_t)(*d->at++ - '0');
        return index < d->type_count ? d->types[index] : fail_type(d);
    }
    const struct msvc_type type = msvc_read_type(d);
    if (d->at - start > 1 && d->type_count < MSVC_BACK_REFERENCES)
        d->types[d->type_count++] = type;
    return type;
}

const char *msvc_parameters(struct msvc *d)
{
    const char *list = "";

    if (msvc_take(d, 'X')) {
        list = "void";
    } else {
        while (!d->failed && *d->at != '@' && *d->at != 'Z' && *d->at != '\0') {
            const struct msvc_type type = parameter(d);
            list = msvc_join(d, list, *list != '\0' ? "," : "", type.before, type.after, NULL);
        }
        if (msvc_take(d, 'Z'))
            list = msvc_join(d, list, *list != '\0' ? ",..." : "...", NULL);
        else if (!msvc_take(d, '@'))
            return msvc_fail(d);
    }
    const char *exceptions = msvc_take_text(d, "_E") ? " noexcept" : "";
    if (*exceptions == '\0' && !msvc_take(d, 'Z'))
        return msvc_fail(d);
    return msvc_join(d, "(", list, ")", exceptions, NULL);
}

/* The pointer goes between a function type's result and its parameters. */
static struct msvc_type function_pointer(struct msvc *d, const char *scope, const char *mark)
{
    const char *this_qualifiers = scope != NULL ? msvc_this_qualifiers(d) : "";
    const char *convention = msvc_convention(d);
    const struct msvc_type result = msvc_result(d);
    const char *parameters = msvc_parameters(d);
    if (scope != NULL)
        scope = msvc_join(d, *convention != '\0' ? " " : "", scope, "::", NULL);
    return (struct msvc_type){
        msvc_join(d, result.before, " (", convention, scope != NULL ? scope : "", mark, NULL),
        msvc_join(d, ")", parameters, this_qualifiers, result.after, NULL), false};
}

static struct msvc_type function_type(struct msvc *d)
{
    const char *convention = msvc_convention(d);
    const struct msvc_type result = msvc_result(d);
    const char *parameters = msvc_parameters(d);
    return (struct msvc_type){msvc_join(d, result.before, " ", convention, NULL),
                              msvc_join(d, parameters, result.after, NULL), true};
}

static struct msvc_type array_type(struct msvc *d)
{
    const int64_t dimensions = msvc_number(d);
    const char *bounds = "";
    char text[32];

    if (dimensions < 1 || dimensions > 32)
        return fail_type(d);
    for (int64_t i = 0; i < dimensions && !d->failed; i++) {
        const int64_t bound = msvc_number(d);
        (void)snprintf(text, sizeof text, "[%" PRId64 "]", bound);
        bounds = msvc_join(d, bounds, text, NULL);
    }
    const char *qualifiers = msvc_take_text(d, "$$C") ? msvc_qualifiers(d) : "";
    const struct msvc_type item = msvc_read_type(d);
    return (struct msvc_type){
        msvc_join(d, item.before, qualifiers, *item.after != '\0' ? "" : " ", NULL),
        msvc_join(d, bounds, item.after, NULL), true};
}

/* A pointer or reference, after its letter; MARK is "*", "&" or "&&" with its own qualifiers. */
static struct msvc_type pointer(struct msvc *d, const char *mark)
{
    if (*d->at == '6' || *d->at == '8') /* "*const": in these Microsoft writes no blank */
        mark = mark[0] == '*' && mark[1] == ' ' ? msvc_join(d, "*", mark + 2, NULL) : mark;
    if (msvc_take(d, '6'))
        return function_pointer(d, NULL, mark);
    if (msvc_take(d, '8')) {
        const char *scope = d->type_name(d);
        return function_pointer(d, scope, mark);
    }
    bool managed;
    const char *extras = pointer_extras(d, &managed);
    if (managed) /* C++/CLI: a handle or a tracking reference */
        mark = msvc_join(d, *mark == '*' ? "^" : "%", mark + 1, NULL);
    mark = msvc_join(d, mark, extras, NULL);
    if (*d->at >= 'Q' && *d->at <= 'T') { /* to a data member */
        static const char *const words[] = {"", " const", " volatile", " const volatile"};
        const char *qualifiers = words[*d->at++ - 'Q'];
        const char *scope = d->type_name(d);
        const struct msvc_type type = msvc_read_type(d);
        return (struct msvc_type){
            msvc_join(d, qualify(d, type.before, qualifiers), " ", scope, "::", mark, NULL),
            type.after, false};
    }
    const char *qualifiers = msvc_qualifiers(d);
    const struct msvc_type type = msvc_read_type(d);
    const char *before = qualify(d, type.before, qualifiers);
    const size_t bytes = strlen(before);
    const char last = bytes > 0 ? before[bytes - 1] : '\0';
    /* "(**" but "(** *": so Microsoft writes pointers to pointers to functions */
    const bool second =
        last == '*' && *type.after == ')' && strchr(" *", before[bytes - 2]) == NULL;
    const char *blank = last == ' ' || second ? "" : " ";
    return (struct msvc_type){msvc_join(d, before, blank, type.wraps ? "(" : "", mark, NULL),
                              msvc_join(d, type.wraps ? ")" : "", type.after, NULL), false};
}

/* After "P$": C++/CLI's handle of an array, whose rank two digits state. */
static struct msvc_type managed_array(struct msvc *d)
{
    char rank[16] = "";
    bool managed;

    if (d->at[0] < '0' || d->at[0] > '9' || d->at[1] < '1' || d->at[1] > '9')
        return fail_type(d);
    if (d->at[0] != '0' || d->at[1] != '1')
        (void)snprintf(rank, sizeof rank, ",%.2s", d->at[0] == '0' ? d->at + 1 : d->at);
    if (d->at[0] == '0' && rank[0] != '\0')
        rank[2] = '\0';
    d->at += 2;
    (void)pointer_extras(d, &managed);
    const char *qualifiers = msvc_qualifiers(d);
    const struct msvc_type item = msvc_read_type(d);
    return (struct msvc_type){
        msvc_join(d, "cli::array<", item.before, item.after, qualifiers, " ", rank, ">^", NULL), "",
        false};
}

/* Types after '_'. */
static struct msvc_type extended(struct msvc *d)
{
    static const struct {
        char letter;
        const char *word;
    } words[] = {
        {'D', "__int8"},   {'E', "unsigned __int8"},   {'F', "__int16"}, {'G', "unsigned __int16"},
        {'H', "__int32"},  {'I', "unsigned __int32"},  {'J', "__int64"}, {'K', "unsigned __int64"},
        {'L', "__int128"}, {'M', "unsigned __int128"}, {'N', "bool"},    {'Q', "char8_t"},
        {'S', "char16_t"}, {'U', "char32_t"},          {'W', "wchar_t"},
    };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (msvc_take(d, words[i].letter))
            return plain(words[i].word);
    if (msvc_take_text(d, "_Z")) /* C++/CLI: a value type in a box */
        return msvc_read_type(d);
    return fail_type(d);
}

/* Types after "$$". */
static struct msvc_type special(struct msvc *d)
{
    if (msvc_take(d, 'Q'))
        return pointer(d, "&&");
    if (msvc_take(d, 'R'))
        return pointer(d, "&& volatile");
    if (msvc_take(d, 'T'))
        return plain("std::nullptr_t");
    if (msvc_take_text(d, "A6"))
        return function_type(d);
    if (msvc_take_text(d, "BY"))
        return array_type(d);
    if (msvc_take(d, 'B'))
        return msvc_read_type(d);
    if (msvc_take(d, 'C')) { /* compilers write a blank after it, too */
        const char *qualifiers = msvc_qualifiers(d);
        struct msvc_type type = msvc_read_type(d);
        type.before = msvc_join(d, qualify(d, type.before, qualifiers),
                                *qualifiers != '\0' && *type.after == '\0' ? " " : "", NULL);
        return type;
    }
    return fail_type(d);
}

static const char *simple_word(char c)
{
    static const char *const words[] = {
        ['C'] = "signed char",    ['D'] = "char",  ['E'] = "unsigned char", ['F'] = "short",
        ['G'] = "unsigned short", ['H'] = "int",   ['I'] = "unsigned int",  ['J'] = "long",
        ['K'] = "unsigned long",  ['M'] = "float", ['N'] = "double",        ['O'] = "long double",
        ['X'] = "void",
    };
    const unsigned char index = (unsigned char)c;
    return index < COUNT_OF(words) ? words[index] : NULL;
}

static struct msvc_type read_type(struct msvc *d)
{
    const char c = *d->at;
    const char *word = simple_word(c);

    if (c == '\0')
        return fail_type(d);
    d->at++;
    if (word != NULL)
        return plain(word);
    switch (c) {
    case 'A':
        return pointer(d, "&");
    case 'B':
        return pointer(d, "& volatile");
    case 'P':
        if (d->at[0] == '$' && d->at[1] >= '0' && d->at[1] <= '9') {
            d->at++;
            return managed_array(d);
        }
        return pointer(d, "*");
    case 'Q':
        return pointer(d, "* const");
    case 'R':
        return pointer(d, "* volatile");
    case 'S':
        return pointer(d, "* const volatile");
    case 'T':
    case 'U':
    case 'V':
        return plain(d->type_name(d));
    case 'W':
        return msvc_take(d, '4')
                   ? plain(msvc_join(d, d->full ? "" : "enum ", d->type_name(d), NULL))
                   : fail_type(d);
    case 'Y':
        return array_type(d);
    case '_':
        return extended(d);
    case '$':
        return msvc_take(d, '$') ? special(d) : fail_type(d);
    case '?': {
        if (*d->at == '<') /* "<auto>", "<decltype-auto>" */
            return plain(d->type_name(d));
        const char *qualifiers = msvc_qualifiers(d);
        struct msvc_type type = msvc_read_type(d);
        type.before = qualify(d, type.before, qualifiers);
        return type;
    }
    default:
        return fail_type(d);
    }
}

struct msvc_type msvc_read_type(struct msvc *d)
{
    if (d->failed || ++d->depth > MSVC_DEPTH_MAX)
        return fail_type(d);
    const struct msvc_type type = read_type(d);
    d->depth--;
    return type;
}
