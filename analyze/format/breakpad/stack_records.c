/* Looks up the STACK records that hold at one address; see breakpad.h. The rules are those of
 * Breakpad's BasicSourceLineResolver: FindCFIFrameInfo and FindWindowsFrameInfo. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "format/breakpad/breakpad.h"

/* Limits per lookup, far above what compilers emit. */
enum { NESTED_MAX = 64, RULE_BYTES_MAX = 1 << 20 };

/* Position after the last record of KIND that starts at or before RVA. */
static uint32_t after_last(const struct breakpad *file, enum breakpad_stack_kind kind, uint64_t rva)
{
    uint32_t low = file->stack_starts[kind], high = file->stack_starts[kind + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (file->stacks[middle].rva <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The innermost record of KIND around RVA; NULL: none. */
static const struct breakpad_stack *record_at(const struct breakpad *file,
                                              enum breakpad_stack_kind kind, uint64_t rva)
{
    uint32_t at = after_last(file, kind, rva);
    if (at == file->stack_starts[kind])
        return NULL;
    for (int i = 0; i < NESTED_MAX && at != 0; i++, at = file->stacks[at - 1].around)
        if (file->stacks[at - 1].end > rva)
            return &file->stacks[at - 1];
    return NULL;
}

/* The rest of a record's text. */
struct rest {
    const char *at, *end;
};

static bool next_word(struct rest *r, const char **word, uint32_t *bytes)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
    *word = r->at;
    while (r->at < r->end && *r->at != ' ' && *r->at != '\t')
        r->at++;
    *bytes = (uint32_t)(r->at - *word);
    return *bytes > 0;
}

static struct breakpad_rule *rule_of(struct breakpad_rules *rules, const char *name, uint32_t bytes)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (rules->rules[i].name_bytes == bytes && memcmp(rules->rules[i].name, name, bytes) == 0)
            return &rules->rules[i];
    return rules->count < BREAKPAD_RULES_MAX ? &rules->rules[rules->count++] : NULL;
}

/* Adds the rules of one record; those of registers that have one already are replaced. False: it
 * does not start with a register, or there are too many. */
static bool add_rules(const struct breakpad_stack *record, struct breakpad_rules *out)
{
    struct rest r = {record->text, record->text + record->bytes};
    struct breakpad_rule *rule = NULL;
    const char *word;
    uint32_t bytes;
    while (next_word(&r, &word, &bytes)) {
        if (word[bytes - 1] == ':') {
            if (bytes == 1 || (rule = rule_of(out, word, bytes - 1)) == NULL)
                return false;
            *rule = (struct breakpad_rule){word, r.at, bytes - 1, 0};
        } else if (rule == NULL) {
            return false;
        } else {
            rule->text_bytes = (uint32_t)(r.at - rule->text);
        }
    }
    return true;
}

bool breakpad_cfi_at(const struct breakpad *file, uint64_t rva, struct breakpad_rules *out)
{
    const struct breakpad_stack *initial = record_at(file, STACK_CFI_INIT, rva);
    *out = (struct breakpad_rules){0};
    if (initial == NULL || !add_rules(initial, out))
        return false;
    out->rva = initial->rva;
    out->end = initial->end;
    const uint32_t end = after_last(file, STACK_CFI_NEXT, rva);
    uint32_t at = file->stack_starts[STACK_CFI_NEXT], bytes = 0;
    if (initial->rva > 0)
        at = after_last(file, STACK_CFI_NEXT, initial->rva - 1);
    for (; at < end; at++) {
        bytes += file->stacks[at].bytes;
        if (bytes > RULE_BYTES_MAX || !add_rules(&file->stacks[at], out))
            return false;
    }
    return true;
}

/* prologue epilogue parameters saved locals stack_max has_program, then the program or uses_ebp.
 * Of frame data without a program, only the sizes are known. */
static bool read_win(const struct breakpad_stack *record, struct breakpad_win *out)
{
    struct rest r = {record->text, record->text + record->bytes};
    uint64_t numbers[7] = {0};
    const char *word;
    uint32_t bytes;
    for (int i = 0; i < 7; i++)
        if (!next_word(&r, &word, &bytes) || !text_parse_hex(word, bytes, &numbers[i]))
            return false;
    *out = (struct breakpad_win){.rva = record->rva,
                                 .end = record->end,
                                 .prolog_bytes = (uint32_t)numbers[0],
                                 .params_bytes = (uint32_t)numbers[2],
                                 .saved_bytes = (uint32_t)numbers[3],
                                 .locals_bytes = (uint32_t)numbers[4]};
    while (r.at < r.end && *r.at == ' ')
        r.at++;
    if (numbers[6] != 0) {
        out->program = r.at;
        out->program_bytes = (uint32_t)(r.end - r.at);
    } else {
        out->uses_ebp = r.at < r.end && *r.at == '1';
    }
    return numbers[6] == 0 || out->program_bytes > 0;
}

bool breakpad_win_at(const struct breakpad *file, uint64_t rva, struct breakpad_win *out)
{
    static const enum breakpad_stack_kind kinds[] = {STACK_WIN_PROGRAM, STACK_WIN_FPO};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct breakpad_stack *record = record_at(file, kinds[i], rva);
        if (record != NULL && read_win(record, out))
            return true;
    }
    return false;
}
