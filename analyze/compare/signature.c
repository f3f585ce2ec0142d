/* Signatures: see signature.h. */
#include "compare/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/names.h"

enum action { ACTION_SKIP, ACTION_JOIN, ACTION_KEEP, ACTION_FORGET };
enum subject { SUBJECT_FUNCTION, SUBJECT_MODULE, SUBJECT_CLASS };
enum { DEPTH_DEFAULT = 3, DEPTH_MAX = 64, ACTIONS = 4, SUBJECTS = 3, HANDLER_FRAMES = 16 };

struct rule {
    enum action action;
    enum subject subject;
    const char *pattern;
};

struct signature_rules {
    struct rule *rules;
    uint32_t count, depth;
};

const char signature_default_rules[] =
    "# What every stack has says nothing about its trouble.\n"
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
    "# How a C++ runtime gives up, and the handlers that it calls.\n"
    "forget function std::terminate*\n"
    "forget function __std_terminate*\n"
    "forget function terminate\n"
    "forget function __cxxabiv1::__terminate*\n"
    "forget function __cxxabiv1::__unexpected*\n"
    "forget function __cxa_throw*\n"
    "forget function __cxa_rethrow*\n"
    "forget function __cxa_pure_virtual\n"
    "forget function __cxa_deleted_virtual\n"
    "forget function __cxa_call_*\n"
    "forget function __cxa_bad_*\n"
    "forget function _Unwind_RaiseException*\n"
    "forget function _Unwind_Resume*\n"
    "forget function _GCC_specific_handler\n"
    "forget function __gxx_personality_*\n"
    "forget function __clang_call_terminate\n"
    "forget function _CxxThrowException\n"
    "skip function capture_on_terminate\n"
    "# The C++ library, and what calls a function object.\n"
    "skip function std::*\n"
    "skip function __gnu_cxx::*\n"
    "skip function operator new*\n"
    "skip function operator delete*\n"
    "skip function __invoke_impl<*\n"
    "skip function __invoke_r<*\n"
    "skip function __invoke<*\n"
    "skip function *>::__invoke\n"
    "skip function *::_FUN\n"
    "skip function _FUN\n"
    "skip function _M_invoke\n"
    "skip function *::<lambda_invoker_cdecl>*\n"
    "skip function __tmainCRTStartup\n"
    "join function *assert*\n"
    "join function abort*\n"
    "depth 3\n";

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
    static const char *const actions[ACTIONS] = {"skip", "join", "keep", "forget"};
    static const char *const subjects[SUBJECTS] = {"function", "module", "class"};
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
    const int action = name_index(actions, ACTIONS, first);
    const int subject = name_index(subjects, SUBJECTS, second);
    if (action < 0 || subject < 0 || pattern == NULL)
        return fault_set_hint(fault, ERR_MALFORMED, offset, "signature rule",
                              "skip|join|keep|forget function|module|class PATTERN, or depth N");
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
        return fault_no_memory(fault, "signature rules");
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

/* The first rule that matches a function's name. */
struct known_function {
    const char *name;
    uint32_t rule; /* the number of rules: none matches */
};

enum { KNOWN_FUNCTIONS = 1 << 13 };

struct signature_builder {
    const struct signature_rules *rules;
    struct text_buffer text;
    uint32_t kept;
    uint32_t handlers;            /* frames that may still be those of a handler; 0: none may be */
    const char *last;             /* the name that was added last */
    struct known_function *known; /* owned; KNOWN_FUNCTIONS of them, or NULL */
};

struct signature_builder *signature_builder_new(const struct signature_rules *rules)
{
    struct signature_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return NULL;
    builder->rules = rules;
    builder->known = calloc(KNOWN_FUNCTIONS, sizeof *builder->known);
    return builder; /* without `known` it is slower */
}

void signature_builder_free(struct signature_builder *builder)
{
    if (builder == NULL)
        return;
    free(builder->text.text);
    free(builder->known);
    free(builder);
}

static void forget(struct signature_builder *builder)
{
    builder->text.bytes = 0;
    builder->kept = 0;
    builder->last = NULL;
}

void signature_builder_start(struct signature_builder *builder)
{
    forget(builder);
    builder->handlers = 0;
    builder->text.failed = false;
}

static uint32_t match_function(const struct signature_rules *rules, const struct frame *frame)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (rules->rules[i].subject == SUBJECT_FUNCTION && rule_matches(&rules->rules[i], frame))
            return i;
    return rules->count;
}

static uint32_t function_rule(struct signature_builder *builder, const struct frame *frame,
                              bool stable)
{
    if (!stable || builder->known == NULL)
        return match_function(builder->rules, frame);
    const uintptr_t at = (uintptr_t)frame->function;
    struct known_function *known = &builder->known[(at ^ at >> 13) % KNOWN_FUNCTIONS];
    if (known->name != frame->function)
        *known = (struct known_function){frame->function, match_function(builder->rules, frame)};
    return known->rule;
}

static enum action action_for(struct signature_builder *builder, const struct frame *frame,
                              bool stable)
{
    const struct signature_rules *rules = builder->rules;
    const uint32_t function =
        frame->function != NULL ? function_rule(builder, frame, stable) : rules->count;

    for (uint32_t i = 0; i < function; i++)
        if (rules->rules[i].subject != SUBJECT_FUNCTION && rule_matches(&rules->rules[i], frame))
            return rules->rules[i].action;
    if (function < rules->count)
        return rules->rules[function].action;
    return frame->function != NULL ? ACTION_KEEP : ACTION_SKIP;
}

bool signature_builder_add(struct signature_builder *builder, const struct frame *frame,
                           bool stable)
{
    const bool is_full = builder->kept >= builder->rules->depth;
    if (builder->text.failed || (is_full && builder->handlers == 0))
        return false;
    const enum action action = action_for(builder, frame, stable);
    const char *name = frame->function != NULL ? frame->function : frame->module_name;
    /* A hook of the capture is called at the end of what a runtime does when it gives up. */
    const bool is_handler = builder->handlers > 0;
    if (frame->frame_class == CLASS_CAPTURE || (is_handler && action == ACTION_FORGET))
        builder->handlers = HANDLER_FRAMES;
    else if (is_handler)
        builder->handlers--;
    if (is_handler && action == ACTION_FORGET)
        forget(builder);
    if (action == ACTION_SKIP || action == ACTION_FORGET || is_full || name == NULL)
        return true;
    if (builder->last != NULL && strcmp(builder->last, name) == 0)
        return true; /* a recursion becomes one word, however deep it is */
    if (builder->last != NULL)
        text_buffer_put(&builder->text, " | ", 3);
    text_buffer_put(&builder->text, name, strlen(name));
    builder->last = name;
    builder->kept += action == ACTION_KEEP;
    return !builder->text.failed &&
           (builder->kept < builder->rules->depth || builder->handlers > 0);
}

const char *signature_builder_text(struct signature_builder *builder, bool *failed)
{
    *failed = builder->text.failed;
    return *failed || builder->last == NULL ? NULL : builder->text.text;
}

const char *signature_of_none(const struct stack *stack, struct arena *keep)
{
    uint32_t i = 0;
    if (stack->frame_count == 0)
        return "(no frames)";
    while (i < stack->frame_count && (stack->frames[i].frame_class == CLASS_SYSTEM ||
                                      stack->frames[i].frame_class == CLASS_CAPTURE))
        i++;
    const struct frame *top = &stack->frames[i < stack->frame_count ? i : 0];
    return arena_printf(keep, "%s!0x%" PRIx64, top->module_name != NULL ? top->module_name : "?",
                        top->offset);
}

const char *signature_of(const struct signature_rules *rules, const struct stack *stack,
                         struct arena *keep)
{
    struct signature_builder builder = {.rules = rules};
    bool failed = false;
    for (uint32_t i = 0; i < stack->frame_count; i++)
        if (!signature_builder_add(&builder, &stack->frames[i], false))
            break;
    const char *text = signature_builder_text(&builder, &failed);
    if (!failed)
        text = text != NULL ? arena_string(keep, text) : signature_of_none(stack, keep);
    free(builder.text.text);
    return text;
}
