/* Itanium C++ names, as gcc, clang, mingw and rustc's older form have them; see
 * undecorate_itanium.h.
 *
 * LLVM's demangler prints whole declarations. The short form is a part of that text, so this file
 * reads the spelling of LLVM: "void ns::f<int>(char)::'lambda'(int) const". */
#include "symbol/undecorate_itanium.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#ifdef TWINSTACK_LIBIBERTY
#include <libiberty/demangle.h>
#endif

#include "base/array.h"

#ifdef TWINSTACK_CXXABI
/* LLVM's demangler recurses for each level of a name and has no limit of its own. */
enum { LLVM_BYTES_MAX = 4096 };

/* The C++ ABI, 3.4: a C function that only C++ has a header for. */
extern char *
__cxa_demangle(const char *name, char *buffer,
               size_t *bytes, /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
               int *status);
#endif

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || ((unsigned char)c & 0x80) != 0;
}

static const char *after(const char *text, const char *word)
{
    if (*text != *word) /* mostly: names are searched letter by letter */
        return NULL;
    const size_t bytes = strlen(word);
    return strncmp(text, word, bytes) == 0 ? text + bytes : NULL;
}

/* AT follows "operator". Where the operator ends; NULL: it is a conversion, and a type follows. */
static const char *skip_operator(const char *at)
{
    static const char *const words[] = {" new[]", " delete[]", " new", " delete", " co_await"};
    static const char *const signs[] = {
        "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=",
        "&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",
        ">",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "=",  ","};
    const char *end;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if ((end = after(at, words[i])) != NULL && !is_word(*end))
            return end;
    if ((end = after(at, "\"\"")) != NULL)
        return end + (*end == ' ');
    for (size_t i = 0; i < COUNT_OF(signs); i++) /* "operator<<int>" is "<" with an argument */
        if ((end = after(at, signs[i])) != NULL && (*end == '\0' || strchr("(<[,>) .", *end)))
            return end;
    return NULL;
}

/* " > ", " <= ", " << " in an expression: no bracket. */
static bool is_comparison(const char *at)
{
    return (*at == '<' || *at == '>') && at[-1] == ' ' &&
           (at[1] == ' ' || (at[1] != '\0' && strchr("<>=", at[1]) != NULL && at[2] == ' '));
}

/* 1: C opens a bracket, UINT32_MAX (-1): it closes one, 0: neither. */
static uint32_t nesting(char c)
{
    switch (c) {
    case '(':
    case '<':
    case '[':
    case '{':
        return 1;
    case ')':
    case '>':
    case ']':
    case '}':
        return UINT32_MAX;
    default:
        return 0;
    }
}

/* AT opens a bracket. Where what it encloses ends; the end of the text if nothing closes it. */
static const char *skip_group(const char *at)
{
    uint32_t depth = 0;
    const char *start = at;
    do {
        const char *sign = at > start && !is_word(at[-1]) ? after(at, "operator") : NULL;
        if (sign != NULL && !is_word(*sign) && (sign = skip_operator(sign)) != NULL) {
            at = sign;
            continue;
        }
        if ((*at == '-' && at[1] == '>') || (at > start && is_comparison(at)))
            at++;
        else
            depth += nesting(*at);
        if (*at != '\0')
            at++;
    } while (depth > 0 && *at != '\0');
    return at;
}

/* Past the qualifiers of a member function. */
static const char *skip_qualifiers(const char *at)
{
    static const char *const words[] = {" const", " volatile", " restrict", " &&", " &"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        const char *end = after(at, words[i]);
        if (end != NULL)
            at = end;
    }
    return at;
}

/* AT opens a parenthesis that starts the declarator of a function that returns a pointer or
 * reference to a function or an array: "(*f(int))(char)", "(A::*f(int))(char)". Where the
 * declarator starts. */
static const char *enter_declarator(const char *at)
{
    const char *end = skip_group(at), *sign = at + 1;
    if (*sign != '*' && *sign != '&') {
        while (sign < end && (is_word(*sign) || *sign == ':' || *sign == '<'))
            sign = *sign == '<' ? skip_group(sign) : sign + 1;
        if (*sign != '*' || sign - at < 3 || sign[-1] != ':')
            return NULL;
    }
    while (*sign == '*' || *sign == '&' || *sign == ' ')
        sign++;
    sign = after(sign, "const ") != NULL ? sign + strlen("const ") : sign;
    return *sign == ')' ? NULL : sign;
}

/* Where the parameters of a conversion operator start: the last "()" outside of brackets. */
static const char *conversion_end(const char *at)
{
    const char *last = at + strlen(at);
    while (*at != '\0') {
        if (at[0] == '(' && at[1] == ')')
            last = at;
        at = strchr("(<[{", *at) != NULL ? skip_group(at) : at + 1;
    }
    return last;
}

/* The name within the text of a declaration: without what comes before it (*start) and its
 * parameters (the result). */
static const char *find_name(const char *at, const char **start)
{
    const char *const first = at, *next;
    *start = at;
    while (*at != '\0' && *at != ')') {
        if ((next = after(at, "(anonymous namespace)")) != NULL) {
            at = next;
        } else if ((at == *start || !is_word(at[-1])) &&
                   ((next = after(at, "operator")) != NULL && !is_word(*next))) {
            at = skip_operator(next);
            if (at == NULL)
                return conversion_end(next);
        } else if ((at == *start || !is_word(at[-1])) && (next = after(at, "decltype(")) != NULL) {
            at = skip_group(next - 1);
        } else if (*at == '\'' && (next = strchr(at + 1, '\'')) != NULL) {
            const bool is_unnamed = after(at, "'unnamed") != NULL;
            at = next + 1; /* 'lambda0'<typename $T>($T) */
            if (*at == '<')
                at = skip_group(at);
            if (after(at, " requires ") != NULL && strstr(at, " (") != NULL)
                at = strstr(at, " (") + 1;
            if (*at == '(' && !is_unnamed)
                at = skip_group(at);
        } else if (*at == '(') {
            const char *inner = enter_declarator(at);
            next = skip_qualifiers(skip_group(at));
            for (; inner != NULL && (*next == '(' || after(next, " [") != NULL);)
                next = skip_group(next + (*next == ' '));
            if (next[0] != ':' || next[1] != ':')
                return inner != NULL ? find_name(inner, start) : at;
            at = next; /* the function encloses what is named */
            *start = inner != NULL ? first : *start;
        } else if (*at == ' ' && at[1] == '(' && at[2] == '.') {
            return at; /* the suffix of a part: "x (.cold)" */
        } else if (*at == ' ') {
            at++;
            if (at - *start < 9 || memcmp(at - 9, "::friend ", 9) != 0)
                *start = at;
        } else {
            at = *at == '<' || *at == '[' || *at == '{' ? skip_group(at) : at + 1;
        }
    }
    return at;
}

/* "vtable for A", "typeinfo name for void (int)", "initializer for module M": no entity with
 * parameters. */
static bool names_type(const char *name)
{
    return name[3] != '\0' && ((name[2] == 'T' && strchr("VTISCA", name[3]) != NULL) ||
                               (name[2] == 'G' && name[3] == 'I'));
}

/* What LLVM prints before the entity: "guard variable for f()::x", "virtual thunk to A::f()". */
static size_t prefix_bytes(const char *name, const char *text)
{
    const char *entity = strstr(text, " for ");
    if (name[2] != 'T' && name[2] != 'G')
        return 0;
    if (entity != NULL)
        return (size_t)(entity - text) + strlen(" for ");
    entity = strstr(text, " to ");
    return entity != NULL ? (size_t)(entity - text) + strlen(" to ") : 0;
}

/* The short form of TEXT, which LLVM made of NAME. */
static size_t write_short(const char *name, const char *text, char *out, size_t out_bytes)
{
    const char *start = text, *end = text + strlen(text);
    const size_t prefix = names_type(name) ? 0 : prefix_bytes(name, text);
    if (!names_type(name))
        end = find_name(text + prefix, &start);
    const size_t bytes = (size_t)(end - start);
    if (bytes == 0 || prefix + bytes >= out_bytes)
        return 0;
    memcpy(out, text, prefix);
    memcpy(out + prefix, start, bytes);
    out[prefix + bytes] = '\0';
    return prefix + bytes;
}

#ifdef TWINSTACK_CXXABI
/* "_ZN4core3fmt5Write17h0123456789abcdefE", which libiberty reads as Rust's; a suffix may follow.
 */
static bool is_rust(const char *name)
{
    const char *hash = strstr(name, "17h");
    for (; hash != NULL; hash = strstr(hash + 1, "17h"))
        if (strspn(hash + 3, "0123456789abcdef") == 16 && hash[19] == 'E' &&
            (hash[20] == '\0' || hash[20] == '.'))
            return true;
    return false;
}

static size_t by_llvm(const char *name, enum symbol_names names, char *out, size_t out_bytes)
{
    size_t bytes = 0;
    if (name[1] != 'Z' || is_rust(name) || strlen(name) > LLVM_BYTES_MAX)
        return 0;
    char *text = __cxa_demangle(name, NULL, NULL, NULL);
    if (text == NULL)
        return 0;
    if (names == NAMES_SHORT) {
        bytes = write_short(name, text, out, out_bytes);
    } else if (strlen(text) < out_bytes) {
        bytes = strlen(text);
        memcpy(out, text, bytes + 1);
    }
    free(text);
    return bytes;
}
#endif

#ifdef TWINSTACK_LIBIBERTY
static size_t by_libiberty(const char *name, enum symbol_names names, char *out, size_t out_bytes)
{
    const int options = DMGL_AUTO | (names == NAMES_FULL ? DMGL_PARAMS | DMGL_ANSI : 0);
    char *text = cplus_demangle(name, options);
    size_t bytes = text != NULL ? strlen(text) : 0;
    bytes = bytes < out_bytes ? bytes : 0;
    if (bytes > 0)
        memcpy(out, text, bytes + 1);
    free(text);
    return bytes;
}
#endif

size_t undecorate_itanium(const char *name, enum symbol_names names, char *out, size_t out_bytes)
{
    size_t bytes = 0;
#ifdef TWINSTACK_CXXABI
    bytes = by_llvm(name, names, out, out_bytes);
#endif
#ifdef TWINSTACK_LIBIBERTY
    if (bytes == 0)
        bytes = by_libiberty(name, names, out, out_bytes);
#endif
    (void)name, (void)names, (void)out, (void)out_bytes;
    return bytes;
}
