/* See stack_pattern.h. A matcher with backtracking, whose work on one line has a limit. */
#include "stacks/stack_pattern.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { STEPS_MAX = 20000, MATCH_DEPTH_MAX = 64 };

struct matcher {
    struct pattern_match found;
    uint32_t steps, depth;
};

static bool match(struct matcher *m, const char *p, struct pattern_text r);

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c, bool hex)
{
    return (c >= '0' && c <= '9') || (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

size_t pattern_length(struct pattern_text r)
{
    return (size_t)(r.end - r.at);
}

bool pattern_starts(struct pattern_text r, const char *word)
{
    const size_t bytes = strlen(word);
    return pattern_length(r) >= bytes && memcmp(r.at, word, bytes) == 0;
}

void pattern_skip_blanks(struct pattern_text *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
}

struct pattern_text pattern_next_word(struct pattern_text *r)
{
    pattern_skip_blanks(r);
    struct pattern_text word = {r->at, r->at};
    while (r->at < r->end && *r->at != ' ' && *r->at != '\t')
        r->at++;
    word.end = r->at;
    return word;
}

/* The last place of WORD in R; NULL: none. */
const char *pattern_find_last(struct pattern_text r, const char *word)
{
    const size_t bytes = strlen(word);
    for (size_t n = pattern_length(r) >= bytes ? pattern_length(r) - bytes + 1 : 0; n-- > 0;)
        if (r.at[n] == *word && memcmp(r.at + n, word, bytes) == 0)
            return r.at + n;
    return NULL;
}

const char *pattern_find(struct pattern_text r, char c)
{
    return pattern_length(r) > 0 ? memchr(r.at, c, pattern_length(r)) : NULL;
}

/* Takes ":LINE" or ":LINE:COLUMN" from the end of *FILE. 0: there is none. */
static uint32_t pattern_take_line(struct pattern_text *file)
{
    uint64_t line = 0;
    for (int i = 0; i < 2; i++) {
        const char *colon = file->end;
        uint64_t number;
        while (colon > file->at && colon[-1] != ':')
            colon--;
        if (colon == file->at || !text_parse_uint(colon, (size_t)(file->end - colon), &number))
            break;
        line = number;
        file->end = colon - 1;
    }
    return line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Takes a number of R; false: there is none, or it does not fit. */
static bool take_number(char kind, struct pattern_text *r, uint64_t *out)
{
    const bool hex = strchr("aboX", kind) != NULL;
    struct pattern_text digits = *r;
    if (hex && pattern_length(digits) > 2 && digits.at[0] == '0' && (digits.at[1] | 32) == 'x')
        digits.at += 2;
    else if (kind == 'X')
        return false;
    r->at = digits.at;
    while (r->at < r->end && is_digit(*r->at, hex))
        r->at++;
    digits.end = r->at;
    return pattern_length(digits) > 0 &&
           (hex ? text_parse_hex(digits.at, pattern_length(digits), out)
                : text_parse_uint(digits.at, pattern_length(digits), out));
}

static bool set_number(struct pattern_match *found, char kind, uint64_t value)
{
    switch (kind) {
    case 'n':
        found->number = value;
        found->has_number = true;
        break;
    case 'a':
        found->address = found->has_address ? found->address : value;
        found->has_address = true;
        break;
    case 'b':
        found->offset = found->address - value;
        found->has_offset = found->has_address && found->address >= value;
        return found->has_offset;
    case 'o':
    case 'd':
        found->offset = value;
        found->has_offset = true;
        break;
    case 'L':
        found->line = value <= INT32_MAX ? value : 0;
        break;
    default:
        found->distance = value;
    }
    return true;
}

/* True for a name that ends as images of code do. */
static bool is_image_name(struct pattern_text name)
{
    static const char *const ends[] = {".exe", ".dll",   ".sys", ".node", ".pyd", ".ocx",
                                       ".so",  ".dylib", ".drv", ".cpl",  ".scr", ".ax"};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        const size_t bytes = strlen(ends[i]);
        size_t k = 0;
        while (k < bytes && pattern_length(name) > bytes &&
               (name.end[(ptrdiff_t)k - (ptrdiff_t)bytes] | 32) == (ends[i][k] | 32))
            k++;
        if (k == bytes)
            return true;
    }
    return false;
}

/* True where no word of a function comes before the file, as in "const /src/a.h". */
static bool is_path(struct pattern_text text)
{
    const struct pattern_text word = pattern_next_word(&text);
    return pattern_length(text) == 0 ||
           ((pattern_find(word, '/') != NULL || pattern_find(word, '\\') != NULL) &&
            pattern_find(word, '(') == NULL);
}

static bool set_text(struct pattern_match *found, char kind, struct pattern_text text)
{
    switch (kind) {
    case 'e':
        if (!is_image_name(text))
            return false;
        found->module = text;
        break;
    case 'm':
    case 'w':
        found->module = text;
        break;
    case 'f':
        found->function = text;
        break;
    case 'i':
        found->identity = text;
        break;
    case 's':
    case 'p':
        found->line = pattern_take_line(&text);
        found->file = text;
        return found->line != 0 && pattern_find_last(text, " at ") == NULL &&
               (kind == 's' || is_path(text));
    case 'F':
        found->file = text;
        break;
    default:
        return true;
    }
    return pattern_length(text) > 0;
}

static bool is_part(char kind, char c)
{
    return kind == 'w' ? !is_blank(c) : kind != 'i' || is_digit(c, true) || c == '-';
}

static bool is_same(char of_pattern, char c)
{
    return of_pattern == c || (of_pattern == 'x' && c == 'X');
}

/* False: REST cannot match P. Most places fail at once, because the next character of the pattern
 * is another one. */
static bool may_match(const char *p, struct pattern_text rest)
{
    if (*p == '\0')
        return rest.at == rest.end;
    if (*p == '%' || *p == '{')
        return true;
    if (rest.at == rest.end)
        return false;
    return *p == ' ' ? is_blank(*rest.at) : is_same(*p, *rest.at);
}

/* Counts in *OPEN the parentheses and brackets that are open after C; false: C closes one of
 * another part. */
static bool count_open(char c, size_t *open)
{
    if (c == '(' || c == '[')
        ++*open;
    else if (c == ')' || c == ']')
        return (*open)-- > 0;
    return true;
}

/* True where TEXT ends with WORD. */
static bool ends_with(struct pattern_text text, const char *word)
{
    const size_t bytes = strlen(word);
    return pattern_length(text) >= bytes && memcmp(text.end - bytes, word, bytes) == 0;
}

/* Counts in *OPEN the lists of template arguments that are open after C, which follows TEXT. */
static void count_lists(struct pattern_text text, char c, size_t *open)
{
    if (c == '<' && !ends_with(text, "operator") && !ends_with(text, "operator<"))
        ++*open;
    else if (c == '>' && *open > 0 && !ends_with(text, "-") && !ends_with(text, "="))
        --*open;
}

const char *pattern_parameters(struct pattern_text function)
{
    size_t lists = 0;
    for (struct pattern_text name = {function.at, function.at}; name.end < function.end;
         name.end++) {
        if (*name.end == '(' && lists == 0 && pattern_length(name) > 0 && name.end[-1] != ':' &&
            !ends_with(name, "operator"))
            return name.end;
        count_lists(name, *name.end, &lists);
    }
    return function.end;
}

/* A text field of KIND at R, then the rest P of the pattern. A name that opens or closes a
 * parenthesis of another part would begin inside of the function before it; a function ends neither
 * in its template arguments nor in "operator()". */
static bool match_text(struct matcher *m, char kind, const char *p, struct pattern_text r)
{
    const struct pattern_match before = m->found;
    const bool is_name = strchr("mwesp", kind) != NULL;
    struct pattern_text text = {r.at, r.at};
    size_t open = 0, lists = 0;
    while (*p == '}')
        p++;
    for (;;) {
        if (++m->steps > STEPS_MAX)
            return false;
        const struct pattern_text rest = {text.end, r.end};
        if ((!is_name || open == 0) && lists == 0 && may_match(p, rest) &&
            !(kind == 'f' && pattern_starts(rest, "(") && ends_with(text, "operator"))) {
            if (set_text(&m->found, kind, text) && match(m, p, rest))
                return true;
            m->found = before;
        }
        if (text.end == r.end || !is_part(kind, *text.end) ||
            (is_name && !count_open(*text.end, &open)))
            return false;
        if (kind == 'f')
            count_lists(text, *text.end, &lists);
        text.end++;
    }
}

/* The part in braces at P, which may be missing. */
static bool match_optional(struct matcher *m, const char *p, struct pattern_text r)
{
    const struct pattern_match before = m->found;
    if (match(m, p + 1, r))
        return true;
    m->found = before;
    return match(m, strchr(p, '}') + 1, r);
}

static bool match_here(struct matcher *m, const char *p, struct pattern_text r)
{
    for (; *p != '\0'; p++) {
        if (++m->steps > STEPS_MAX)
            return false;
        if (*p == '}')
            continue;
        if (*p == '{')
            return match_optional(m, p, r);
        if (*p == ' ') {
            if (r.at == r.end || !is_blank(*r.at))
                return false;
            while (r.at < r.end && is_blank(*r.at))
                r.at++;
        } else if (*p != '%') {
            if (r.at == r.end || !is_same(*p, *r.at++))
                return false;
        } else if (p[1] == '{' || p[1] == '}') {
            if (r.at == r.end || *r.at++ != *++p)
                return false;
        } else if (p[1] == '1') {
            p++;
            if (pattern_length(r) < 2 || !is_blank(r.at[0]) || is_blank(r.at[1]))
                return false;
            r.at++;
        } else if (strchr("nabodDXL", *++p) != NULL) {
            uint64_t value;
            if (!take_number(*p, &r, &value) || !set_number(&m->found, *p, value))
                return false;
        } else {
            return match_text(m, *p, p + 1, r);
        }
    }
    return r.at == r.end;
}

static bool match(struct matcher *m, const char *p, struct pattern_text r)
{
    if (m->depth == MATCH_DEPTH_MAX)
        return false;
    m->depth++;
    const bool matches = match_here(m, p, r);
    m->depth--;
    return matches;
}

bool pattern_matches(const char *pattern, struct pattern_text line, struct pattern_match *out)
{
    struct matcher m = {.steps = 0};
    const bool matches = match(&m, pattern, line);
    *out = m.found;
    return matches;
}

/* The bit of a character; 0: it has none. Letters of either case have the same one, since x in a
 * pattern is X, too. */
static uint64_t mark_of(char c)
{
    enum { LETTERS = 32, BRACKETS = LETTERS + 26 };
    const char letter = (char)(c | 32);
    if (c >= '!' && c <= '@')
        return (uint64_t)1 << (c - '!');
    if (letter >= 'a' && letter <= 'z')
        return (uint64_t)1 << (LETTERS + letter - 'a');
    return c >= '[' && c <= '`' ? (uint64_t)1 << (BRACKETS + c - '[') : 0;
}

uint64_t pattern_marks(struct pattern_text line)
{
    uint64_t marks = 0;
    for (const char *at = line.at; at < line.end; at++)
        marks |= mark_of(*at);
    return marks;
}

/* The '}' after P. */
static const char *optional_end(const char *p)
{
    while (*p != '}')
        p++;
    return p;
}

uint64_t pattern_needs(const char *pattern)
{
    uint64_t needs = 0;
    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p == '{')
            p = optional_end(p);
        else if (*p == '%')
            p++;
        else
            needs |= mark_of(*p);
    }
    return needs;
}

/* False at the first character that PATTERN needs and a line of MARKS has not. */
static bool may_have(const char *pattern, uint64_t marks)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p == '{')
            p = optional_end(p);
        else if (*p == '%')
            p++;
        else if ((mark_of(*p) & ~marks) != 0)
            return false;
    }
    return true;
}

bool pattern_matches_any(const char *const *patterns, size_t count, struct pattern_text line,
                         struct pattern_match *out)
{
    uint64_t marks = 0; /* until a row begins as the line does */
    for (size_t i = 0; i < count; i++) {
        if (!may_match(patterns[i], line))
            continue;
        if (marks == 0)
            marks = pattern_marks(line);
        if (may_have(patterns[i], marks) && pattern_matches(patterns[i], line, out))
            return true;
    }
    return false;
}
