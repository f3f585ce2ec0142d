/* See expression.h. */
#include "base/expression.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { EXPR_DEPTH_MAX = 64, WORD_BYTES = 256 };

struct parser {
    const char *at, *start;
    expression_word_fn *is_true;
    const void *context;
    struct fault *fault;
    int depth;
};

static void fail(struct parser *p, const char *hint)
{
    fault_set_lasting(p->fault, ERR_USAGE, (uint64_t)(p->at - p->start), "selection (-k)", hint);
}

/* Length of the word at the cursor; 0 at a parenthesis or the end. */
static size_t word_length(struct parser *p)
{
    p->at += strspn(p->at, " \t");
    return strcspn(p->at, " \t()");
}

static bool take_word(struct parser *p, const char *word)
{
    const size_t length = word_length(p);
    if (length != strlen(word) || strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static bool take_char(struct parser *p, char c)
{
    p->at += strspn(p->at, " \t");
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static bool parse_or(struct parser *p);

static bool parse_unit(struct parser *p)
{
    char word[WORD_BYTES];

    if (p->fault->code != ERR_NONE)
        return false;
    if (++p->depth > EXPR_DEPTH_MAX) {
        fail(p, "nested too deeply");
        return false;
    }
    bool value = false;
    if (take_word(p, "not")) {
        value = !parse_unit(p);
    } else if (take_char(p, '(')) {
        value = parse_or(p);
        if (!take_char(p, ')'))
            fail(p, "a ')' is missing");
    } else {
        const size_t length = word_length(p);
        if (length >= sizeof word) {
            fail(p, "a word is too long");
            return false;
        }
        (void)snprintf(word, sizeof word, "%.*s", (int)length, p->at);
        if (length == 0 || strcmp(word, "and") == 0 || strcmp(word, "or") == 0) {
            fail(p, "a word is missing, e.g. 'crash and not stack_overflow'");
            return false;
        }
        p->at += length;
        value = p->is_true(p->context, word);
    }
    p->depth--;
    return value;
}

static bool parse_and(struct parser *p)
{
    bool value = parse_unit(p);
    while (take_word(p, "and")) {
        const bool right = parse_unit(p); /* parsed even when the left says no */
        value = value && right;
    }
    return value;
}

static bool parse_or(struct parser *p)
{
    bool value = parse_and(p);
    while (take_word(p, "or")) {
        const bool right = parse_and(p);
        value = value || right;
    }
    return value;
}

enum status expression_of(const char *expr, expression_word_fn *word, const void *context,
                          bool *value, struct fault *fault)
{
    struct parser p = {expr, expr, word, context, fault, 0};

    *value = true;
    if (expr == NULL)
        return ERR_NONE;
    const bool result = parse_or(&p);
    p.at += strspn(p.at, " \t");
    if (*p.at != '\0')
        fail(&p, "words are joined by 'and' or 'or'");
    *value = fault->code == ERR_NONE && result;
    return fault->code;
}
