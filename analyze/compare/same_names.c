/* Equality of function names and of source files, as compare.h states it. Names come from PDBs,
 * other tools and the victim's own __func__, each with its own spelling. A cursor reads them in one
 * common spelling, so nothing is copied and there is no length limit. */
#include "compare/same_names.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/hash.h"

struct name_cursor {
    const char *at, *end;
    const char *start;
    const char *pending; /* rest of a replacement for a word with another spelling */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || ((unsigned char)c & 0x80) != 0;
}

static bool has_at(const char *at, const char *end, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0;
}

/* The end of a name without its parameter list and what follows that ("const", "&"). */
static const char *without_parameters(const char *name)
{
    const char *end = name + strlen(name);
    const char *close = end;
    while (close > name && close[-1] != ')')
        close--;
    if (close == name)
        return end;
    for (const char *tail = close; tail < end; tail++)
        if (!is_word(*tail) && *tail != ' ' && *tail != '&')
            return end; /* "(anonymous namespace)::f": the bracket belongs to the name */
    if (close < end && is_word(*close))
        return end;
    int depth = 0;
    const char *open = close;
    while (open > name) {
        open--;
        if (*open == ')')
            depth++;
        else if (*open == '(' && --depth == 0)
            break;
    }
    if (depth != 0 || open == name)
        return end;
    const char *before = open;
    while (before > name && before[-1] == ' ')
        before--;
    if (before - name >= 8 && memcmp(before - 8, "operator", 8) == 0 && close - open == 2)
        return close; /* operator() itself */
    return open;
}

static struct name_cursor cursor_over(const char *name)
{
    return (struct name_cursor){name, without_parameters(name), name, NULL};
}

/* The next character of the shared spelling; 0 at the end. */
static char cursor_next(struct name_cursor *c)
{
    static const char *const dropped[] = {"class ", "struct ", "enum ", "union "};

    while (c->at < c->end || c->pending != NULL) {
        if (c->pending != NULL) {
            if (*c->pending != 0)
                return *c->pending++;
            c->pending = NULL;
            continue;
        }
        if (*c->at == ' ') {
            c->at++;
            continue;
        }
        if (has_at(c->at, c->end, "`anonymous namespace'") ||
            has_at(c->at, c->end, "`anonymous-namespace'") ||
            has_at(c->at, c->end, "(anonymous namespace)")) {
            c->at += 21;
            c->pending = "{anonymous}";
            continue;
        }
        bool skipped = false;
        if (c->at == c->start || !is_word(c->at[-1]))
            for (size_t i = 0; i < COUNT_OF(dropped) && !skipped; i++)
                if (has_at(c->at, c->end, dropped[i])) {
                    c->at += strlen(dropped[i]);
                    skipped = true;
                }
        if (skipped)
            continue;
        return *c->at++;
    }
    return 0;
}

static bool cursors_equal(struct name_cursor a, struct name_cursor b)
{
    for (;;) {
        const char x = cursor_next(&a);
        if (x != cursor_next(&b))
            return false;
        if (x == 0)
            return true;
    }
}

/* Where the last component starts: after the last "::" outside of brackets. */
static const char *last_component(const char *name, const char *end)
{
    int depth = 0;
    const char *last = name;
    for (const char *at = name; at + 1 < end; at++) {
        if (has_at(at, end, "operator") && (at == name || !is_word(at[-1])))
            break; /* the brackets of operator< and similar names open nothing */
        if (*at == '<' || *at == '(' || *at == '`')
            depth++;
        else if (*at == '>' || *at == ')' || *at == '\'')
            depth--;
        else if (*at == ':' && at[1] == ':' && depth <= 0) {
            last = at + 2;
            depth = 0;
        }
    }
    return last;
}

static bool is_unqualified(const char *name)
{
    return strstr(name, "::") == NULL;
}

/* The last component without template arguments, as __func__ gives it. */
static struct name_cursor cursor_over_last(const char *name)
{
    struct name_cursor c = cursor_over(name);
    c.at = last_component(name, c.end);
    c.start = c.at;
    const char *open = c.at < c.end ? memchr(c.at, '<', (size_t)(c.end - c.at)) : NULL;
    if (open != NULL && open > c.at && !has_at(c.at, c.end, "operator"))
        c.end = open;
    return c;
}

bool compare_names(const char *truth, const char *name)
{
    if (truth == NULL || name == NULL)
        return false;
    if (cursors_equal(cursor_over(truth), cursor_over(name)))
        return true;
    return is_unqualified(truth) && cursors_equal(cursor_over(truth), cursor_over_last(name));
}

static uint64_t cursor_hash(struct name_cursor c)
{
    uint64_t hash = HASH_START;
    char x = 0;
    while ((x = cursor_next(&c)) != 0)
        hash = hash_byte(hash, (uint8_t)x);
    return hash == 0 ? 1 : hash;
}

uint64_t compare_name_hash(const char *name)
{
    return name == NULL ? 0 : cursor_hash(cursor_over(name));
}

uint64_t compare_last_name_hash(const char *name)
{
    return name == NULL ? 0 : cursor_hash(cursor_over_last(name));
}

/* One character of a path, normalized for comparison. */
static char path_char(char c)
{
    return c == '\\' ? '/' : (char)tolower((unsigned char)c);
}

/* PATH relative to ROOT when it is inside ROOT, else PATH. */
static const char *below_root(const char *path, const char *root)
{
    if (root == NULL || root[0] == 0)
        return path;
    size_t i = 0;
    for (; root[i] != 0; i++)
        if (path_char(path[i]) != path_char(root[i]))
            return path;
    if (path_char(path[i]) == '/')
        return path + i + 1;
    return i > 0 && path_char(root[i - 1]) == '/' ? path + i : path;
}

static const char *without_dot(const char *path)
{
    while (path[0] == '.' && path_char(path[1]) == '/')
        path += 2;
    return path;
}

bool compare_files(const char *truth, const char *file, const char *root, bool bare)
{
    if (truth == NULL || file == NULL)
        return false;
    const char *a = without_dot(below_root(truth, root));
    const char *b = without_dot(below_root(file, root));
    if (bare && (path_base(a) == a || path_base(b) == b)) {
        a = path_base(a);
        b = path_base(b);
    }
    for (; path_char(*a) == path_char(*b); a++, b++)
        if (*a == 0)
            return true;
    return false;
}
