/* What a line of another tool says, as a frame: shared by notation_spellings.c and
 * notation_windbg.c. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

struct pattern_text spelled_base_name(struct pattern_text path)
{
    for (const char *at = path.end; at > path.at; at--)
        if (at[-1] == '\\' || at[-1] == '/')
            return (struct pattern_text){at, path.end};
    return path;
}

struct pattern_text spelled_trimmed(struct pattern_text text)
{
    while (text.end > text.at && strchr(" \t", text.end[-1]) != NULL)
        text.end--;
    return text;
}

void spelled_at(uint64_t address, struct frame *out)
{
    out->offset = out->pc_va = address;
}

/* WinDbg's name of a module that was unloaded: "<Unloaded_foo.dll>". */
static bool take_unloaded(struct pattern_text *name)
{
    static const char before[] = "<Unloaded_";
    if (!pattern_starts(*name, before) || name->end[-1] != '>')
        return false;
    name->at += sizeof before - 1;
    name->end--;
    return true;
}

bool spelled_offset(struct stack_input *input, struct pattern_text name, uint64_t offset,
                    struct frame *out)
{
    name = spelled_base_name(name);
    if (pattern_length(name) > 2 && *name.at == '(' && name.end[-1] == ')')
        name = (struct pattern_text){name.at + 1, name.end - 1};
    if (take_unloaded(&name))
        out->module_state = MODULE_STATE_UNLOADED;
    out->module =
        pattern_length(name) > 0 ? input_module(input, name.at, pattern_length(name)) : NULL;
    out->module_name = out->module != NULL ? out->module->name : NULL;
    out->offset = offset;
    return out->module != NULL;
}

bool spelled_fault(struct stack_input *input, const char *name, uint64_t offset, struct frame *out)
{
    static const char stack_hash[] = "StackHash_";
    const struct pattern_text module = {name, name + strlen(name)};
    if (strcmp(name, "unknown") != 0 && !pattern_starts(module, stack_hash))
        return spelled_offset(input, module, offset, out);
    out->pc_va = out->offset = offset;
    return true;
}

struct pattern_text spelled_after_address(struct pattern_text name)
{
    for (struct pattern_text rest = name; pattern_find(rest, ' ') != NULL;) {
        const struct pattern_text word = pattern_next_word(&rest);
        pattern_skip_blanks(&rest);
        if (spelled_address(word) && pattern_length(rest) > 0)
            name = rest;
    }
    return name;
}

const char *spelled_keep(struct stack_input *input, struct pattern_text text)
{
    return pattern_length(text) > 0 ? arena_text(&input->scratch, text.at, pattern_length(text))
                                    : NULL;
}

bool spelled_named(struct stack_input *input, struct pattern_text module,
                   struct pattern_text function, struct frame *out)
{
    out->module_name = spelled_keep(input, spelled_base_name(module));
    out->function = spelled_keep(input, function);
    out->note = NOTE_NAMED_BY_INPUT;
    out->offset = 0;
    return out->function != NULL;
}

bool spelled_plus(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const char *plus = pattern_find_last(r, "+0x");
    uint64_t offset;
    if (plus == NULL || plus == r.at ||
        pattern_find((struct pattern_text){r.at, plus}, '!') != NULL ||
        pattern_find((struct pattern_text){r.at, plus}, '`') != NULL ||
        !text_parse_hex(plus + 1, (size_t)(r.end - plus - 1), &offset))
        return false;
    return spelled_offset(input, (struct pattern_text){r.at, plus}, offset, out);
}

const struct module *spelled_image(struct stack_input *input, const char *name, const char *code_id,
                                   const char *debug_id)
{
    const struct module *module =
        input_identified(input, name, strlen(name), code_id, code_id != NULL ? strlen(code_id) : 0,
                         debug_id, debug_id != NULL ? strlen(debug_id) : 0);
    return module != NULL ? module : input_module(input, name, strlen(name));
}

static bool holds_only(struct pattern_text word, const char *characters)
{
    for (const char *at = word.at; at < word.end; at++)
        if (*at == '\0' || strchr(characters, *at) == NULL)
            return false;
    return pattern_length(word) > 0;
}

/* What logs write before a frame; the last two also begin one. */
static const char *const level_words[] = {"TRACE",    "DEBUG",   "INFO",  "NOTICE",
                                          "WARN",     "WARNING", "ERROR", "FATAL",
                                          "CRITICAL", "CRASH",   "FRAME", "AT"};
enum { FRAME_WORDS = 2 };

static bool is_level(struct pattern_text word, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < pattern_length(word) && level_words[i][k] != '\0' &&
               (word.at[k] & ~32) == level_words[i][k])
            k++;
        if (k == pattern_length(word) && level_words[i][k] == '\0')
            return true;
    }
    return false;
}

bool spelled_address(struct pattern_text word)
{
    const bool marked = pattern_length(word) >= 6 && pattern_starts(word, "0x");
    const size_t bytes = pattern_length(word);
    if (marked)
        word.at += 2;
    return (marked || bytes == 8 || bytes == 12 || bytes == 16) &&
           holds_only(word, "0123456789abcdefABCDEF`");
}

/* True for a word that comes before a frame and is none of its own. */
static bool is_prefix(struct pattern_text word)
{
    while (pattern_length(word) > 1 && strchr(":|,;)#-", word.end[-1]) != NULL)
        word.end--;
    if (pattern_length(word) > 1 && *word.at == '#')
        word.at++;
    if (pattern_length(word) == 1 && strchr("|-:>*", *word.at) != NULL)
        return true;
    return holds_only(word, "0123456789") || is_level(word, COUNT_OF(level_words)) ||
           spelled_address(word) ||
           (*word.at >= '0' && *word.at <= '9' && holds_only(word, "0123456789:.,-/+TZ"));
}

/* True for a date or a time: digits with two separators of a kind. */
static bool is_time(struct pattern_text word)
{
    uint32_t colons = 0, dashes = 0, others = 0;
    while (pattern_length(word) > 0 && strchr(":,|", word.end[-1]) != NULL)
        word.end--;
    for (const char *at = word.at; at < word.end; at++) {
        colons += *at == ':';
        dashes += *at == '-';
        others += *at == '.' || *at == '/';
    }
    return pattern_length(word) >= 8 && *word.at >= '0' && *word.at <= '9' &&
           holds_only(word, "0123456789:.,-/+TZ") && (colons >= 2 || dashes >= 2 || others == 2);
}

/* True for "name:" or "name[77]:", what wrote the line, and for a separator. */
static bool is_source(struct pattern_text word)
{
    bool has_letter = false;
    if (pattern_length(word) == 1)
        return strchr("|-:", *word.at) != NULL;
    if (word.end[-1] != ':' || pattern_length(word) < 3)
        return false;
    for (const char *at = word.at; at < word.end - 1; at++) {
        has_letter = has_letter || (*at | 32) >= 'a';
        if (strchr("(\\/!+`@<", *at) != NULL || *at == ':')
            return false;
    }
    return has_letter;
}

/* What follows the time, level and source of a log's line; LINE where it begins with no time. */
struct pattern_text spelled_after_time(struct pattern_text line)
{
    struct pattern_text rest = line;
    for (bool is_first = true;; is_first = false) {
        pattern_skip_blanks(&rest);
        struct pattern_text next = rest;
        const char *close = pattern_starts(rest, "[") ? pattern_find(rest, ']') : NULL;
        struct pattern_text word = pattern_next_word(&next);
        if (close != NULL) {
            word = spelled_trimmed((struct pattern_text){rest.at + 1, close});
            next.at = close + 1 + (close + 1 < line.end && close[1] == ':');
        }
        if (pattern_length(word) == 0 || next.at >= line.end ||
            !(is_time(word) || (!is_first && (is_level(word, COUNT_OF(level_words) - FRAME_WORDS) ||
                                              (close == NULL && is_source(word))))))
            break;
        rest = next;
    }
    return pattern_starts(rest, ">") || pattern_starts(rest, "# ") ? line : rest;
}

/* Takes one prefix from the front of R: a word, or text in brackets. */
static bool take_prefix(struct pattern_text *r)
{
    struct pattern_text rest = *r;
    const bool bracket = pattern_starts(*r, "[");
    const char *close = bracket ? pattern_find(*r, ']') : NULL;
    struct pattern_text word = pattern_next_word(&rest);
    if (bracket && close == NULL)
        return false;
    if (bracket)
        rest.at = close + 1;
    else if (!is_prefix(word) && (word.end[-1] != ':' || pattern_length(word) < 3))
        return false; /* "source:", but not a drive */
    while (rest.at < rest.end && strchr(" \t:", *rest.at) != NULL)
        rest.at++;
    if (pattern_length(rest) == 0)
        return false;
    *r = rest;
    return true;
}

struct pattern_text spelled_after_prefix(struct pattern_text line)
{
    while (take_prefix(&line))
        continue;
    return line;
}

bool spelled_start(const char *const *rows, size_t count, struct pattern_text line,
                   uint64_t *thread)
{
    struct pattern_match found = {0};
    const bool starts = pattern_matches_any(rows, count, line, &found);
    *thread = starts && found.has_number ? found.number : NO_THREAD;
    return starts;
}
