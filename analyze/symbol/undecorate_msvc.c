/* Symbols and names in MSVC's C++ decoration; see undecorate_msvc.h. */
#include "symbol/undecorate_msvc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* All texts of one name; back references can make a short name long. */
enum { MSVC_ARENA_BYTES = 1 << 20 };

/* A whole symbol, '?' and all; as a scope or a template argument, or at the top. */
static const char *msvc_symbol(struct msvc *d);

/* Operators after "?"; those after "?_" and "?__" come next. */
static const char *const operators[] = {
    ['2'] = "operator new", ['3'] = "operator delete", ['4'] = "operator=",  ['5'] = "operator>>",
    ['6'] = "operator<<",   ['7'] = "operator!",       ['8'] = "operator==", ['9'] = "operator!=",
    ['A'] = "operator[]",   ['C'] = "operator->",      ['D'] = "operator*",  ['E'] = "operator++",
    ['F'] = "operator--",   ['G'] = "operator-",       ['H'] = "operator+",  ['I'] = "operator&",
    ['J'] = "operator->*",  ['K'] = "operator/",       ['L'] = "operator%",  ['M'] = "operator<",
    ['N'] = "operator<=",   ['O'] = "operator>",       ['P'] = "operator>=", ['Q'] = "operator,",
    ['R'] = "operator()",   ['S'] = "operator~",       ['T'] = "operator^",  ['U'] = "operator|",
    ['V'] = "operator&&",   ['W'] = "operator||",      ['X'] = "operator*=", ['Y'] = "operator+=",
    ['Z'] = "operator-=",
};

static const char *const operators_1[] = {
    ['0'] = "operator/=",
    ['1'] = "operator%=",
    ['2'] = "operator>>=",
    ['3'] = "operator<<=",
    ['4'] = "operator&=",
    ['5'] = "operator|=",
    ['6'] = "operator^=",
    ['7'] = "`vftable'",
    ['8'] = "`vbtable'",
    ['9'] = "`vcall'",
    ['B'] = "`local static guard'",
    ['D'] = "`vbase destructor'",
    ['E'] = "`vector deleting destructor'",
    ['F'] = "`default constructor closure'",
    ['G'] = "`scalar deleting destructor'",
    ['H'] = "`vector constructor iterator'",
    ['I'] = "`vector destructor iterator'",
    ['J'] = "`vector vbase constructor iterator'",
    ['K'] = "`virtual displacement map'",
    ['L'] = "`eh vector constructor iterator'",
    ['M'] = "`eh vector destructor iterator'",
    ['N'] = "`eh vector vbase constructor iterator'",
    ['O'] = "`copy constructor closure'",
    ['S'] = "`local vftable'",
    ['T'] = "`local vftable constructor closure'",
    ['U'] = "operator new[]",
    ['V'] = "operator delete[]",
    ['X'] = "`placement delete closure'",
    ['Y'] = "`placement delete[] closure'",
};

static const char *const operators_2[] = {
    ['A'] = "`managed vector constructor iterator'",
    ['B'] = "`managed vector destructor iterator'",
    ['C'] = "`eh vector copy constructor iterator'",
    ['D'] = "`eh vector vbase copy constructor iterator'",
    ['G'] = "`vector copy constructor iterator'",
    ['H'] = "`vector vbase copy constructor iterator'",
    ['I'] = "`managed vector copy constructor iterator'",
    ['J'] = "`local static thread guard'",
    ['L'] = "operator co_await",
    ['M'] = "operator<=>",
};

/* What kind of name a symbol has, beyond its text. */
struct symbol_name {
    const char *text;
    bool constructor, destructor, conversion, table, nested;
    const char *initializes; /* "dynamic initializer for" and such; NULL */
};

static void remember_name(struct msvc *d, const char *name)
{
    for (uint32_t i = 0; i < d->name_count; i++)
        if (strcmp(d->names[i], name) == 0)
            return;
    if (d->name_count < MSVC_BACK_REFERENCES)
        d->names[d->name_count++] = name;
}

static const char *back_reference(struct msvc *d)
{
    const uint32_t index = (uint32_t)(*d->at++ - '0');
    return index < d->name_count ? d->names[index] : msvc_fail(d);
}

/* Reads letters up to '@'. */
static const char *simple_name(struct msvc *d)
{
    const char *end = strchr(d->at, '@');
    if (d->failed || end == NULL || end == d->at)
        return msvc_fail(d);
    const char *name = arena_text(d->arena, d->at, (size_t)(end - d->at));
    if (name == NULL)
        return msvc_fail(d);
    d->at = end + 1;
    remember_name(d, name);
    return name;
}

static struct symbol_name own_name(struct msvc *d);

/* After '$', or after the type of an argument that is `auto`: a number or an address. */
static const char *template_value(struct msvc *d)
{
    char text[32];

    if (msvc_take(d, '0')) {
        (void)snprintf(text, sizeof text, "%" PRId64, msvc_number(d));
        return msvc_join(d, text, NULL);
    }
    const bool address = d->at[0] == '1';
    if ((!address && d->at[0] != 'E') || d->at[1] != '?')
        return msvc_fail(d);
    d->at++;
    return msvc_join(d, address ? "&" : "", msvc_symbol(d), NULL);
}

/* One template argument; *skip: it is an empty pack. */
static const char *template_argument(struct msvc *d, bool *skip)
{
    *skip = false;
    if (msvc_take_text(d, "$$$V") || msvc_take_text(d, "$$V") || msvc_take_text(d, "$$Z") ||
        msvc_take_text(d, "$S")) {
        *skip = true;
        return "";
    }
    if (msvc_take_text(d, "$M")) {
        (void)msvc_read_type(d);
        return template_value(d);
    }
    if (d->at[0] == '$' && d->at[1] != '$') {
        d->at++;
        return template_value(d);
    }
    const struct msvc_type type = msvc_read_type(d);
    return msvc_join(d, type.before, type.after, NULL);
}

/* After "?$": a name and its arguments, with back references of their own. */
static const char *template_name(struct msvc *d, bool remember, struct symbol_name *own)
{
    struct msvc outer = *d;
    struct symbol_name name;
    const char *list = "";

    if (++d->depth > MSVC_DEPTH_MAX)
        return msvc_fail(d);
    d->name_count = d->type_count = 0;
    name = own_name(d);
    while (!d->failed && !msvc_take(d, '@')) {
        bool skip;
        const char *argument = template_argument(d, &skip);
        if (!skip)
            list = msvc_join(d, list, *list != '\0' ? "," : "", argument, NULL);
    }
    memcpy(d->names, outer.names, sizeof d->names);
    memcpy(d->types, outer.types, sizeof d->types);
    d->name_count = outer.name_count;
    d->type_count = outer.type_count;
    d->depth--;
    const size_t bytes = strlen(list);
    const char *arguments =
        msvc_join(d, "<", list, bytes > 0 && list[bytes - 1] == '>' ? " >" : ">", NULL);
    const char *text = msvc_join(d, name.text, arguments, NULL);
    if (own != NULL) {
        *own = name;
        own->text = text;
    } else if (name.constructor || name.destructor || name.conversion) {
        return msvc_fail(d);
    }
    if (remember)
        remember_name(d, text);
    return text;
}

static const char *operator_word(const char *const *words, size_t count, char c)
{
    const unsigned char index = (unsigned char)c;
    return index < count ? words[index] : NULL;
}

/* After "?__". */
static struct symbol_name special_name(struct msvc *d)
{
    struct symbol_name name = {0};
    const char c = *d->at;

    if (c == 'E' || c == 'F') {
        d->at++;
        name.initializes =
            c == 'E' ? "`dynamic initializer for '" : "`dynamic atexit destructor for '";
        /* a plain variable is named in place; a member has its whole symbol here */
        if (*d->at == '?') {
            name.text = msvc_symbol(d);
            if (!msvc_take(d, '@'))
                (void)msvc_fail(d);
        } else {
            name.text = simple_name(d);
        }
        return name;
    }
    if (msvc_take(d, 'K')) {
        name.text = msvc_join(d, "operator \"\"", simple_name(d), NULL);
        return name;
    }
    name.text = operator_word(operators_2, COUNT_OF(operators_2), c);
    if (name.text == NULL)
        name.text = msvc_fail(d);
    else
        d->at++;
    return name;
}

/* After "?_R": what describes a class at run time. */
static const char *rtti_name(struct msvc *d)
{
    char text[128];
    int64_t numbers[4];

    switch (*d->at++) {
    case '0': {
        const struct msvc_type type = msvc_read_type(d);
        return msvc_join(d, type.before, type.after, " `RTTI Type Descriptor'", NULL);
    }
    case '1':
        for (size_t i = 0; i < COUNT_OF(numbers); i++)
            numbers[i] = msvc_number(d);
        (void)snprintf(text, sizeof text,
                       "`RTTI Base Class Descriptor at (%" PRId64 ",%" PRId64 ",%" PRId64
                       ",%" PRId64 ")'",
                       numbers[0], numbers[1], numbers[2], numbers[3]);
        return msvc_join(d, text, NULL);
    case '2':
        return "`RTTI Base Class Array'";
    case '3':
        return "`RTTI Class Hierarchy Descriptor'";
    case '4':
        return "`RTTI Complete Object Locator'";
    default:
        d->at--;
        return msvc_fail(d);
    }
}

/* After "?". */
static struct symbol_name operator_name(struct msvc *d)
{
    struct symbol_name name = {0};

    if (msvc_take_text(d, "__"))
        return special_name(d);
    if (msvc_take_text(d, "_R")) {
        name.text = rtti_name(d);
        name.table = true;
        return name;
    }
    if (msvc_take(d, '_')) {
        name.text = operator_word(operators_1, COUNT_OF(operators_1), *d->at);
        name.table = *d->at == '7' || *d->at == '8' || *d->at == 'S';
    } else if (*d->at == '0' || *d->at == '1' || *d->at == 'B') {
        name.constructor = *d->at == '0';
        name.destructor = *d->at == '1';
        name.conversion = *d->at == 'B';
        name.text = "operator";
    } else {
        name.text = operator_word(operators, COUNT_OF(operators), *d->at);
    }
    if (name.text == NULL)
        name.text = msvc_fail(d);
    else
        d->at++;
    return name;
}

/* The unqualified name of a symbol. */
static struct symbol_name own_name(struct msvc *d)
{
    struct symbol_name name = {0};

    if (*d->at >= '0' && *d->at <= '9') {
        name.text = back_reference(d);
    } else if (msvc_take_text(d, "?$")) {
        (void)template_name(d, false, &name);
    } else if (strncmp(d->at, "??__", 4) == 0) { /* managed code: a whole symbol as a name */
        name.text = msvc_symbol(d);
        name.nested = true;
        if (!msvc_take(d, '@'))
            (void)msvc_fail(d);
    } else if (msvc_take(d, '?')) {
        name = operator_name(d);
    } else {
        name.text = simple_name(d);
    }
    return name;
}

/* "?1??": a scope inside a function. */
static bool at_local_scope(const struct msvc *d)
{
    const char *at = d->at;
    if (*at++ != '?')
        return false;
    if (*at >= '0' && *at <= '9')
        return at[1] == '?';
    if (*at == '@')
        return at[1] == '?';
    if (*at < 'B' || *at > 'P')
        return false;
    while (*at >= 'A' && *at <= 'P')
        at++;
    return at[0] == '@' && at[1] == '?';
}

/* "?catch$3@?0?f@4HA": clang writes a function of C up to the '@' that ends the scopes. */
static const char *c_function(struct msvc *d)
{
    const size_t bytes = strcspn(d->at, "@");
    const char *name = bytes > 0 ? arena_text(d->arena, d->at, bytes) : NULL;
    d->at += bytes;
    return name != NULL ? name : msvc_fail(d);
}

static const char *scope_name(struct msvc *d)
{
    char text[32];

    if (*d->at >= '0' && *d->at <= '9')
        return back_reference(d);
    if (msvc_take_text(d, "?$"))
        return template_name(d, true, NULL);
    if (msvc_take_text(d, "?A")) {
        const char *end = strchr(d->at, '@');
        if (end == NULL)
            return msvc_fail(d);
        d->at = end + 1;
        remember_name(d, "`anonymous namespace'");
        return "`anonymous namespace'";
    }
    if (at_local_scope(d)) {
        d->at++;
        const int64_t number = msvc_take(d, '@') ? 0 : msvc_number(d);
        if (!msvc_take(d, '?'))
            return msvc_fail(d);
        const char *function = *d->at == '?' ? msvc_symbol(d) : c_function(d);
        (void)snprintf(text, sizeof text, "'::`%" PRId64 "'", number);
        return msvc_join(d, "`", function, text, NULL);
    }
    if (*d->at == '?')
        return msvc_fail(d);
    return simple_name(d);
}

/* The scopes up to '@', outermost first, each followed by "::"; *innermost is the last alone. */
static const char *scopes(struct msvc *d, const char **innermost)
{
    const char *text = "";

    *innermost = "";
    while (!d->failed && !msvc_take(d, '@')) {
        const char *scope = scope_name(d);
        if (**innermost == '\0')
            *innermost = scope;
        text = msvc_join(d, scope, "::", text, NULL);
    }
    return text;
}

static const char *type_name(struct msvc *d)
{
    const char *innermost, *name;

    if (*d->at >= '0' && *d->at <= '9')
        name = back_reference(d);
    else if (msvc_take_text(d, "?$"))
        name = template_name(d, true, NULL);
    else if (*d->at == '?')
        return msvc_fail(d);
    else
        name = simple_name(d);
    return msvc_join(d, scopes(d, &innermost), name, NULL);
}

/* After the class letter of a function: everything to its end. */
static const char *function_rest(struct msvc *d, const char *name, const struct symbol_name *own,
                                 bool member, const char *adjust)
{
    const char *qualifiers = member ? msvc_this_qualifiers(d) : "";
    (void)msvc_convention(d);
    const struct msvc_type result = msvc_result(d);
    const char *parameters = msvc_parameters(d);

    if (own->conversion)
        name = msvc_join(d, name, " ", result.before, result.after, NULL);
    if (*adjust != '\0')
        name = msvc_join(d, "[thunk]:", name, adjust, d->full ? " " : "", NULL);
    return d->full && !own->nested ? msvc_join(d, name, parameters, qualifiers, NULL) : name;
}

static const char *function_symbol(struct msvc *d, const char *name, const struct symbol_name *own)
{
    char adjust[64] = "";
    const char c = *d->at++;
    const char kind = c == 'Y' || c == 'Z' ? 'Y' : (char)('A' + (c - 'A') % 8);

    if (kind == 'G' || kind == 'H') {
        const int64_t bytes = msvc_number(d);
        (void)snprintf(adjust, sizeof adjust, "`adjustor{%" PRId64 "}'", bytes);
    }
    const bool member = kind != 'Y' && kind != 'C' && kind != 'D';
    return function_rest(d, name, own, member, adjust);
}

/* "$4": vtordisp thunks; "$B": vcall thunks. */
static const char *thunk_symbol(struct msvc *d, const char *name, const struct symbol_name *own)
{
    char adjust[96];

    if (msvc_take(d, 'B')) {
        const int64_t bytes = msvc_number(d);
        if (!msvc_take(d, 'A'))
            return msvc_fail(d);
        (void)msvc_convention(d);
        (void)snprintf(adjust, sizeof adjust, "{%" PRId64 ",{flat}}", bytes);
        return msvc_join(d, "[thunk]:", name, adjust, NULL);
    }
    if (*d->at < '0' || *d->at > '5')
        return msvc_fail(d);
    d->at++;
    const int64_t displacement = (int32_t)(uint32_t)msvc_number(d); /* below the object: negative */
    const int64_t bytes = msvc_number(d);
    (void)snprintf(adjust, sizeof adjust, "`vtordisp{%" PRId64 ",%" PRId64 "}'", displacement,
                   bytes);
    return function_rest(d, name, own, true, adjust);
}

static const char *variable_symbol(struct msvc *d, const char *name)
{
    d->at++;
    (void)msvc_read_type(d);
    (void)msvc_this_qualifiers(d);
    return name;
}

/* A guard of static variables: which of the function's. */
static const char *guard_symbol(struct msvc *d, const char *name)
{
    char text[32];

    d->at++;
    const int64_t number = msvc_number(d);
    (void)snprintf(text, sizeof text, "{%" PRId64 "}'", number);
    return d->full ? msvc_join(d, name, text, NULL) : name;
}

/* vftable and vbtable: qualifiers, then the bases that the table is for. */
static const char *table_symbol(struct msvc *d, const char *name)
{
    const char *bases = "";

    d->at++;
    (void)msvc_qualifiers(d);
    while (!d->failed && !msvc_take(d, '@'))
        bases = msvc_join(d, bases, *bases != '\0' ? "s " : "", "`", type_name(d), "'", NULL);
    return *bases != '\0' ? msvc_join(d, name, "{for ", bases, "}", NULL) : name;
}

static const char *read_symbol(struct msvc *d)
{
    const char *innermost;
    struct symbol_name own = own_name(d);
    const char *scope = scopes(d, &innermost);
    const char *name = NULL;

    if (d->failed)
        return "";
    if (own.constructor || own.destructor) {
        const char *arguments = own.text + strlen("operator"); /* of a template, or "" */
        name = msvc_join(d, scope, own.destructor ? "~" : "", innermost, arguments, NULL);
    } else if (own.initializes != NULL) {
        name = msvc_join(d, own.initializes, scope, own.text, "''", NULL);
    } else if (own.nested) { /* states its scopes itself */
        name = own.text;
    } else {
        name = msvc_join(d, scope, own.text, NULL);
    }
    /* managed code, or a processor kind: not shown to people */
    (void)(msvc_take_text(d, "$$F") || msvc_take_text(d, "$$H") || msvc_take_text(d, "$$h") ||
           msvc_take_text(d, "$$J0") || msvc_take_text(d, "$$Q"));
    const char c = *d->at;
    if (c >= 'A' && c <= 'Z')
        return function_symbol(d, name, &own);
    if (c >= '0' && c <= '4' && !own.table)
        return variable_symbol(d, name);
    if ((c == '6' || c == '7') && own.table)
        return table_symbol(d, name);
    if (c == '5' && !own.table)
        return guard_symbol(d, name);
    if (c == '9' || (c == '8' && own.table)) {
        d->at++;
        return name;
    }
    if (msvc_take(d, '$'))
        return thunk_symbol(d, name, &own);
    return msvc_fail(d);
}

static const char *msvc_symbol(struct msvc *d)
{
    if (d->failed || ++d->depth > MSVC_DEPTH_MAX || !msvc_take(d, '?'))
        return msvc_fail(d);
    const char *text = read_symbol(d);
    d->depth--;
    return text;
}

/* "?filt$0@0@f@ns@@": an exception filter, or "?fin$0@...", the code of a __finally, as clang names
 * them; spelled as MSVC's. */
static const char *handler_symbol(struct msvc *d)
{
    const char *innermost, *handler;

    d->at++;
    handler = simple_name(d);
    d->name_count = 0;
    if (!msvc_take_text(d, "0@"))
        return msvc_fail(d);
    const struct symbol_name function = own_name(d);
    const char *scope = scopes(d, &innermost);
    if (function.constructor || function.destructor || function.conversion)
        return msvc_fail(d);
    return msvc_join(d, "`", scope, function.text, "'::`1'::", handler, NULL);
}

size_t undecorate_msvc(const char *name, enum symbol_names names, char *out, size_t out_bytes)
{
    struct arena arena;
    struct msvc d = {
        .at = name, .full = names == NAMES_FULL, .type_name = type_name, .arena = &arena};
    size_t bytes = 0;

    arena_init(&arena, MSVC_ARENA_BYTES);
    const bool literal =
        strncmp(name, "??_C@_", 6) == 0; /* its text may be truncated: name only the kind */
    const bool handler = strncmp(name, "?filt$", 6) == 0 || strncmp(name, "?fin$", 5) == 0;
    const char *text = "`string'";
    if (!literal)
        text = handler ? handler_symbol(&d) : msvc_symbol(&d);
    if (literal || (!d.failed && *d.at == '\0'))
        bytes = strlen(text);
    if (bytes >= out_bytes)
        bytes = 0;
    if (bytes > 0)
        memcpy(out, text, bytes + 1);
    arena_free(&arena);
    return bytes;
}
