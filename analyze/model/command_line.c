/* See command_line.h. */
#include "model/command_line.h"

#include <stdbool.h>
#include <string.h>

/* Quotes a word so that a POSIX shell, and command_line_words(), read it back. */
static const char *quoted(const char *word, struct arena *keep)
{
    static const char special[] = " \t\r\n'\"\\()[]{}<>|&;*?$`#~!";
    char *out = arena_alloc(keep, strlen(word) * 4 + 3), *at = out;

    if (out == NULL || (word[0] != '\0' && strpbrk(word, special) == NULL))
        return out != NULL ? word : NULL;
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\'", 3);
            at += 3;
        }
        *at++ = *word;
    }
    *at++ = '\'';
    *at = '\0';
    return out;
}

const char *command_line_join(int argc, char *const *argv, const char *label, struct arena *keep)
{
    const char *text = arena_printf(keep, "twinstack %s", label);
    for (int i = 0; i < argc && text != NULL; i++) {
        const char *word = quoted(argv[i], keep);
        text = word != NULL ? arena_printf(keep, "%s %s", text, word) : NULL;
    }
    return text;
}

/* Takes one word off *AT into OUT, which has room for all of it. */
static bool take_word(const char **at, char *out)
{
    bool inside = false;
    for (; **at != '\0' && (inside || **at != ' '); (*at)++) {
        if (**at == '\'')
            inside = !inside;
        else if (!inside && **at == '\\' && (*at)[1] != '\0')
            *out++ = *++*at;
        else
            *out++ = **at;
    }
    *out = '\0';
    return !inside;
}

enum status command_line_words(const char *command, struct arena *keep, int *argc, char ***argv,
                               struct fault *fault)
{
    const size_t size = command != NULL ? strlen(command) : 0;
    char **words = ARENA_ARRAY(keep, size + 1, char *);
    int count = 0;

    *argc = 0;
    if (words == NULL)
        return fault_no_memory(fault, "command line");
    for (const char *at = command; size > 0 && *at != '\0'; at += *at == ' ') {
        words[count] = arena_alloc(keep, strlen(at) + 1);
        if (words[count] == NULL)
            return fault_no_memory(fault, "command line");
        if (!take_word(&at, words[count++]))
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "the run's command line");
    }
    if (count < 2)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "the run's command line");
    *argc = count - 2; /* after "twinstack run" */
    *argv = words + 2;
    return ERR_NONE;
}

const char *command_line_value(const char *name, int argc, char *const *argv, int *i)
{
    const size_t length = strlen(name);
    const char *word = argv[*i];
    if (strncmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '\0')
        return *i + 1 < argc ? argv[++*i] : NULL;
    if (name[1] != '-')
        return word + length;
    return word[length] == '=' ? word + length + 1 : NULL;
}
