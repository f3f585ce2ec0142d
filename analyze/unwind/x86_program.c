/* Evaluates frame programs; see the header for the language. */
#include "unwind/x86_program.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { STACK_MAX = 32, VARIABLES_MAX = 24, WORD_MAX = 24, WORDS_MAX = 512 };

/* A value on the stack is a number, or the name of a variable that may be assigned to. */
struct item {
    char name[WORD_MAX]; /* "": a number */
    uint32_t value;
};

struct machine {
    const struct unwind_process *process;
    struct item stack[STACK_MAX];
    uint32_t depth;
    struct item variables[VARIABLES_MAX];
    uint32_t variable_count;
};

static void set_name(struct item *item, const char *name)
{
    size_t i = 0;
    for (; i + 1 < WORD_MAX && name[i] != '\0'; i++)
        item->name[i] = name[i];
    item->name[i] = '\0';
}

/* The registers also have CodeView numbers. */
static const char *by_number(const char *name)
{
    static const char *const numbered[] = {"$20",  "$ebx", "$21",  "$esp", "$22",
                                           "$ebp", "$23",  "$esi", "$24",  "$edi"};
    for (size_t i = 0; i < COUNT_OF(numbered); i += 2)
        if (strcmp(name, numbered[i]) == 0)
            return numbered[i + 1];
    return name;
}

static struct item *variable(struct machine *m, const char *name)
{
    for (uint32_t i = 0; i < m->variable_count; i++)
        if (strcmp(m->variables[i].name, name) == 0)
            return &m->variables[i];
    return NULL;
}

static bool assign(struct machine *m, const char *name, uint32_t value)
{
    struct item *slot = variable(m, name);
    if (slot == NULL) {
        if (m->variable_count == VARIABLES_MAX)
            return false;
        slot = &m->variables[m->variable_count++];
        set_name(slot, name);
    }
    slot->value = value;
    return true;
}

static bool push(struct machine *m, const char *name, uint32_t value)
{
    if (m->depth == STACK_MAX)
        return false;
    struct item *top = &m->stack[m->depth++];
    set_name(top, name != NULL ? name : "");
    top->value = value;
    return true;
}

static bool pop(struct machine *m, uint32_t *out)
{
    if (m->depth == 0)
        return false;
    const struct item *top = &m->stack[--m->depth];
    *out = top->value;
    return top->name[0] == '\0' || variable(m, top->name) != NULL;
}

static bool binary(struct machine *m, char operation)
{
    uint32_t a, b;
    if (!pop(m, &b) || !pop(m, &a))
        return false;
    switch (operation) {
    case '+':
        return push(m, NULL, a + b);
    case '-':
        return push(m, NULL, a - b);
    case '*':
        return push(m, NULL, a * b);
    case '/':
        return b != 0 && push(m, NULL, a / b);
    case '%':
        return b != 0 && push(m, NULL, a % b);
    default: /* '@': align down */
        return b != 0 && (b & (b - 1)) == 0 && push(m, NULL, a & ~(b - 1));
    }
}

static bool run_word(struct machine *m, const char *word)
{
    uint32_t value;
    uint64_t number;
    if (word[0] != '\0' && word[1] == '\0' && strchr("+-*/%@", word[0]) != NULL)
        return binary(m, word[0]);
    if (strcmp(word, "^") == 0)
        return pop(m, &value) && unwind_read_u32(m->process, value, &value) && push(m, NULL, value);
    if (strcmp(word, "=") == 0) {
        if (!pop(m, &value) || m->depth == 0 || m->stack[m->depth - 1].name[0] != '$')
            return false;
        return assign(m, m->stack[--m->depth].name, value);
    }
    if (word[0] == '$' || word[0] == '.') {
        word = by_number(word);
        const struct item *known = variable(m, word);
        return push(m, word, known != NULL ? known->value : 0);
    }
    bool negative = word[0] == '-';
    if (!text_parse_uint(word + negative, strlen(word + negative), &number))
        return false;
    return push(m, NULL, negative ? 0u - (uint32_t)number : (uint32_t)number);
}

/* Where the word at TEXT ends. Operators need no blanks around them: "+ =$eip" occurs. */
static size_t word_bytes(const char *text)
{
    static const char operators[] = "+-*/%@^=";
    if (strchr(operators, text[0]) != NULL && !(text[0] == '-' && text[1] >= '0' && text[1] <= '9'))
        return 1;
    return 1 + strcspn(text + 1, " \t+-*/%@^=");
}

static bool run_words(struct machine *m, const char *program)
{
    char word[WORD_MAX];
    for (uint32_t words = 0;; words++) {
        program += strspn(program, " \t");
        if (*program == '\0')
            return true;
        size_t bytes = word_bytes(program);
        if (bytes >= WORD_MAX || words == WORDS_MAX)
            return false;
        memcpy(word, program, bytes);
        word[bytes] = '\0';
        if (!run_word(m, word))
            return false;
        program += bytes;
    }
}

static const struct {
    const char *name;
    uint32_t number;
} general[] = {
    {"$ebp", REG_X86_EBP}, {"$ebx", REG_X86_EBX}, {"$esi", REG_X86_ESI}, {"$edi", REG_X86_EDI}};

enum stop_reason x86_program_run(const struct unwind_process *process, const char *program,
                                 const struct x86_frame_constants *constants,
                                 struct registers *regs)
{
    struct machine m = {.process = process};
    for (size_t i = 0; i < COUNT_OF(general); i++)
        (void)assign(&m, general[i].name, (uint32_t)regs->r[general[i].number]);
    (void)assign(&m, "$esp", (uint32_t)regs->sp);
    (void)assign(&m, ".raSearch", constants->ra_search_va);
    (void)assign(&m, ".raSearchStart", constants->ra_search_va);
    (void)assign(&m, ".cbLocals", constants->locals_bytes);
    (void)assign(&m, ".cbSavedRegs", constants->saved_bytes);
    (void)assign(&m, ".cbParams", constants->params_bytes);
    if (!run_words(&m, program))
        return STOP_PROGRAM_FAILED;
    const struct item *eip = variable(&m, "$eip"), *esp = variable(&m, "$esp");
    if (eip == NULL || esp->value <= (uint32_t)regs->sp)
        return STOP_PROGRAM_NO_CALLER;
    for (size_t i = 0; i < COUNT_OF(general); i++)
        regs->r[general[i].number] = variable(&m, general[i].name)->value;
    regs->pc = eip->value;
    regs->sp = esp->value;
    return STOP_NONE;
}
