/* See known_words.h. */
#include "compare/known_words.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "compare/known.h"

/* The next word at *AT, which is moved to its end; its size; 0: there is none. */
static size_t next_word(const char **at, const char **word)
{
    *word = *at + strspn(*at, " ");
    const size_t size = strcspn(*word, " ");
    *at = *word + size;
    return size;
}

static bool has_wildcard(const char *word, size_t size)
{
    return memchr(word, '*', size) != NULL || memchr(word, '?', size) != NULL;
}

/* Lists of plain names may be long, so these are not copied. */
static bool word_matches(const char *word, size_t size, const char *name)
{
    char pattern[256];
    if (!has_wildcard(word, size))
        return strncmp(word, name, size) == 0 && name[size] == '\0';
    (void)snprintf(pattern, sizeof pattern, "%.*s", (int)size, word);
    return size < sizeof pattern && text_glob(pattern, name);
}

bool known_words_match(const char *patterns, const char *name)
{
    const char *word = NULL;
    for (size_t size; (size = next_word(&patterns, &word)) > 0;)
        if (word_matches(word, size, name))
            return true;
    return false;
}

/* The last dot of a word, NULL: it has none. */
static const char *last_dot(const char *word, size_t size)
{
    while (size > 0 && word[size - 1] != '.')
        size--;
    return size > 0 ? word + size - 1 : NULL;
}

bool known_words_build(const char *scope, const char *variant)
{
    const char *word = NULL;
    for (size_t size; (size = next_word(&scope, &word)) > 0;) {
        const char *dot = last_dot(word, size);
        if (dot == NULL || word_matches(dot + 1, (size_t)(scope - dot) - 1, variant))
            return true;
    }
    return false;
}

bool known_is_wide(const char *scope)
{
    const char *word = NULL;
    for (size_t size; (size = next_word(&scope, &word)) > 0;) {
        const char *dot = last_dot(word, size);
        if (has_wildcard(word, dot != NULL ? (size_t)(dot - word) : size))
            return true;
    }
    return false;
}
