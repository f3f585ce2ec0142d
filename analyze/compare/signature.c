/* Signatures: see signature.h. */
#include "compare/signature.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum action { ACTION_SKIP, ACTION_JOIN, ACTION_KEEP };
enum subject { SUBJECT_FUNCTION, SUBJECT_MODULE, SUBJECT_CLASS };
enum { DEPTH_DEFAULT = 3, DEPTH_MAX = 64, WORDS = 3 };

struct rule {
    enum action action;
    enum subject subject;
    const char *pattern;
};

struct signature_rules {
    struct rule *rules;
    uint32_t count, depth;
};

const char signature_default_rules[] = "# What every stack has says nothing about its trouble.\n"
                                       "skip class system\n"
                                       "skip class runtime\n"
                                       "skip class capture\n"
                                       "skip function truth_thread\n"
                                       "skip function *chkstk*\n"
                                       "skip function mainCRTStartup\n"
                                       "skip function *__scrt_common_main*\n"
                                       "skip function invoke_main\n"
                                       "skip function BaseThreadInitThunk\n"
                                       "skip function RtlUserThreadStart\n"
                                       "join function *assert*\n"
                                       "join function abort*\n"
                                       "depth 3\n";

static int word_index(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* The next word of the line, or NULL; the last one takes the rest of the line. */
static const char *next_word(const char **at, const char *end, bool last, struct arena *keep)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        (*at)++;
    const char *start = *at;
    while (*at < end && (last || (**at != ' ' && **at != '\t')))
        (*at)++;
    const char *stop = *at;
    while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
        stop--;
    return stop > start ? arena_text(keep, start, (size_t)(stop - start)) : NULL;
}

static enum status read_line(struct signature_rules *rules, const char *line, const char *end,
                             uint64_t offset, struct arena *keep, struct fault *fault)
{
    static const char *const actions[] = {"skip", "join", "keep"};
    static const char *const subjects[] = {"function", "module", "class"};
    const char *first = next_word(&line, end, false, keep);
    if (first == NULL || first[0] == '#')
        return ERR_NONE;
    const char *second = next_word(&line, end, false, keep);
    uint64_t depth = 0;
    if (strcmp(first, "depth") == 0 && second != NULL &&
        text_parse_uint(second, strlen(second), &depth) && depth >= 1 && depth <= DEPTH_MAX) {
        rules->depth = (uint32_t)depth;
        return ERR_NONE;
    }
    const char *pattern = next_word(&line, end, true, keep);
    const int action = word_index(first, actions, WORDS);
    const int subject = second != NULL ? word_index(second, subjects, WORDS) : -1;
    if (action < 0 || subject < 0 || pattern == NULL)
        return fault_set_hint(fault, ERR_MALFORMED, offset, "signature rule",
                              "skip|join|keep function|module|class PATTERN, or depth N");
    rules->rules[rules->count++] =
        (struct rule){(enum action)action, (enum subject)subject, pattern};
    return ERR_NONE;
}

enum status signature_read_rules(const char *text, size_t bytes, struct arena *keep,
                                 struct signature_rules **out, struct fault *fault)
{
    size_t lines = 1;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    struct signature_rules *rules = ARENA_NEW(keep, struct signature_rules);
    if (rules == NULL || (rules->rules = ARENA_ARRAY(keep, lines, struct rule)) == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "signature rules");
    rules->depth = DEPTH_DEFAULT;
    for (size_t at = 0; at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const char *stop = end != NULL ? end : text + bytes;
        if (read_line(rules, text + at, stop, at, keep, fault) != ERR_NONE)
            return fault->code;
        at = (size_t)(stop - text) + 1;
    }
    *out = rules;
    return ERR_NONE;
}

static bool rule_matches(const struct rule *rule, const struct frame *frame)
{
    switch (rule->subject) {
    case SUBJECT_FUNCTION:
        return frame->function != NULL && text_glob(rule->pattern, frame->function);
    case SUBJECT_MODULE:
        return frame->module_name != NULL && text_glob(rule->pattern, frame->module_name);
    case SUBJECT_CLASS:
        return strcmp(rule->pattern, frame_class_name(frame->frame_class)) == 0;
    }
    return false;
}

static enum action action_for(const struct signature_rules *rules, const struct frame *frame)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (rule_matches(&rules->rules[i], frame))
            return rules->rules[i].action;
    return frame->function != NULL ? ACTION_KEEP : ACTION_SKIP;
}

const char *signature_of(const struct signature_rules *rules, const struct stack *stack,
                         struct arena *keep)
{
    const char *text = NULL, *last = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stack->frame_count && kept < rules->depth; i++) {
        const struct frame *frame = &stack->frames[i];
        const enum action action = action_for(rules, frame);
        const char *name = frame->function != NULL ? frame->function : frame->module_name;
        if (action == ACTION_SKIP || name == NULL)
            continue;
        if (last != NULL && strcmp(last, name) == 0)
            continue; /* a recursion becomes one word, however deep it is */
        text = text == NULL ? name : arena_printf(keep, "%s | %s", text, name);
        if (text == NULL)
            return NULL;
        last = name;
        kept += action == ACTION_KEEP;
    }
    if (text != NULL)
        return text;
    if (stack->frame_count == 0)
        return "(no frames)";
    const struct frame *top = &stack->frames[0];
    return arena_printf(keep, "%s!0x%" PRIx64, top->module_name != NULL ? top->module_name : "?",
                        top->offset);
}
