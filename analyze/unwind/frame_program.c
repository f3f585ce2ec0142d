/* See frame_program.h. */
#include "unwind/frame_program.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

static void set_name(struct program_item *item, const char *name)
{
    size_t i = 0;
    if (name[0] == '$')
        name++;
    for (; i + 1 < PROGRAM_WORD_MAX && name[i] != '\0'; i++)
        item->name[i] = name[i];
    item->name[i] = '\0';
}

/* The registers of x86 also have CodeView numbers. */
static const char *by_number(const char *name)
{
    static const char *const numbered[] = {"$20",  "$ebx", "$21",  "$esp", "$22",
                                           "$ebp", "$23",  "$esi", "$24",  "$edi"};
    for (size_t i = 0; i < COUNT_OF(numbered); i += 2)
        if (strcmp(name, numbered[i]) == 0)
            return numbered[i + 1];
    return name;
}

static uint32_t variable(const struct frame_program *p, const char *name)
{
    uint32_t i = 0;
    if (name[0] == '$')
        name++;
    while (i < p->variable_count && strcmp(p->variables[i].name, name) != 0)
        i++;
    return i;
}

static uint64_t narrow(const struct frame_program *p, uint64_t value)
{
    return p->word_bytes == 4 ? (uint32_t)value : value;
}

bool program_set(struct frame_program *p, const char *name, uint64_t value)
{
    const uint32_t at = variable(p, name);
    if (at == PROGRAM_VARIABLES_MAX)
        return false;
    if (at == p->variable_count) {
        p->variable_count++;
        set_name(&p->variables[at], name);
    }
    p->variables[at].value = narrow(p, value);
    return true;
}

bool program_get(const struct frame_program *p, const char *name, uint64_t *out)
{
    const uint32_t at = variable(p, name);
    if (at == p->variable_count)
        return false;
    *out = p->variables[at].value;
    return true;
}

static bool push(struct frame_program *p, const char *name, uint64_t value)
{
    if (p->depth == PROGRAM_STACK_MAX)
        return false;
    struct program_item *top = &p->stack[p->depth++];
    set_name(top, name != NULL ? name : "");
    top->value = narrow(p, value);
    top->unknown = false;
    return true;
}

static bool push_unknown(struct frame_program *p)
{
    const bool pushed = push(p, NULL, 0);
    if (pushed)
        p->stack[p->depth - 1].unknown = true;
    return pushed;
}

/* Sets *unknown, and never resets it. */
static bool pop(struct frame_program *p, uint64_t *out, bool *unknown)
{
    if (p->depth == 0)
        return false;
    const struct program_item *top = &p->stack[--p->depth];
    *out = top->value;
    *unknown |= top->unknown;
    return top->name[0] == '\0' || variable(p, top->name) < p->variable_count;
}

static bool binary(struct frame_program *p, char operation)
{
    bool unknown = false;
    uint64_t a, b;
    if (!pop(p, &b, &unknown) || !pop(p, &a, &unknown))
        return false;
    if (unknown)
        return push_unknown(p);
    switch (operation) {
    case '+':
        return push(p, NULL, a + b);
    case '-':
        return push(p, NULL, a - b);
    case '*':
        return push(p, NULL, a * b);
    case '/':
        return b != 0 && push(p, NULL, a / b);
    case '%':
        return b != 0 && push(p, NULL, a % b);
    default: /* '@': align down */
        return b != 0 && (b & (b - 1)) == 0 && push(p, NULL, a & ~(b - 1));
    }
}

static bool read_word(struct frame_program *p)
{
    uint64_t va, value;
    uint32_t half = 0;
    bool unknown = false;
    if (!pop(p, &va, &unknown))
        return false;
    if (p->word_bytes == 4) {
        unknown = unknown || !unwind_read_u32(p->process, va, &half);
        value = half;
    } else {
        unknown = unknown || !unwind_read_u64(p->process, va, &value);
    }
    return unknown ? push_unknown(p) : push(p, NULL, value);
}

static bool assign(struct frame_program *p)
{
    bool unknown = false;
    uint64_t value;
    if (!pop(p, &value, &unknown) || p->depth == 0)
        return false;
    const char *name = p->stack[--p->depth].name;
    return name[0] != '\0' && name[0] != '.' && (unknown || program_set(p, name, value));
}

static bool is_name(const char *word)
{
    return word[0] == '$' || word[0] == '.' || (word[0] >= 'a' && word[0] <= 'z');
}

static bool run_word(struct frame_program *p, const char *word)
{
    uint64_t value;
    if (word[0] != '\0' && word[1] == '\0' && strchr("+-*/%@", word[0]) != NULL)
        return binary(p, word[0]);
    if (strcmp(word, "^") == 0)
        return read_word(p);
    if (strcmp(word, "=") == 0)
        return assign(p);
    if (is_name(word)) {
        word = by_number(word);
        const uint32_t known = variable(p, word);
        return push(p, word, known < p->variable_count ? p->variables[known].value : 0);
    }
    const bool negative = word[0] == '-';
    if (!text_parse_uint(word + negative, strlen(word + negative), &value))
        return false;
    return push(p, NULL, negative ? 0u - value : value);
}

static bool is_in(const char *set, char c)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Bytes of the word at TEXT, of LEFT > 0. Operators need no blanks around them: "+ =$eip" occurs.
 */
static size_t word_bytes(const char *text, size_t left)
{
    static const char operators[] = "+-*/%@^=";
    size_t bytes = 1;
    if (is_in(operators, text[0]) &&
        !(text[0] == '-' && left > 1 && text[1] >= '0' && text[1] <= '9'))
        return 1;
    while (bytes < left && text[bytes] != '\0' && !is_in(" \t+-*/%@^=", text[bytes]))
        bytes++;
    return bytes;
}

bool program_run(struct frame_program *p, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    char word[PROGRAM_WORD_MAX];
    for (uint32_t words = 0; words <= PROGRAM_WORDS_MAX; words++) {
        while (text < end && (*text == ' ' || *text == '\t'))
            text++;
        if (text == end)
            return true;
        const size_t size = word_bytes(text, (size_t)(end - text));
        if (size >= PROGRAM_WORD_MAX)
            return false;
        memcpy(word, text, size);
        word[size] = '\0';
        if (!run_word(p, word))
            return false;
        text += size;
    }
    return false;
}

bool program_value(struct frame_program *p, const char *text, size_t bytes, uint64_t *out)
{
    bool unknown = false;
    p->depth = 0;
    return program_run(p, text, bytes) && p->depth == 1 && pop(p, out, &unknown) && !unknown;
}
