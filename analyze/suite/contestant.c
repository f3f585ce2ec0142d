/* See contestant.h. */
#include "suite/contestant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/process.h"
#include "base/text.h"

enum { WORDS_MAX = 64, CAN_MAX = 64, SIGNALS = 128, START_LIMIT_MS = 60000 };

struct contestant {
    struct contestant_request request;
    const char *argv[WORDS_MAX + 1];
    const char *hello;
    struct process *process; /* NULL: it is started again for the next question */
    uint64_t peak_bytes;
    struct arena keep;
};

static enum status split(struct contestant *c, struct fault *fault)
{
    char *text = arena_string(&c->keep, c->request.command);
    uint32_t count = 0;
    char *word;
    if (text == NULL)
        return fault_no_memory(fault, "contestant");
    while ((word = text_next_word(&text)) != NULL && count < WORDS_MAX)
        c->argv[count++] = word;
    if (count == 0 || word != NULL)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "contestant",
                              "a program and at most 63 words");
    return ERR_NONE;
}

/* "signal 11", "exit 1: the last line that it wrote to stderr". */
static const char *end_text(const struct process_ended *ended, const char *what, struct arena *keep)
{
    const char *words = ended->words;
    size_t length = strlen(words);
    while (length > 0 && (words[length - 1] == '\n' || words[length - 1] == '\r'))
        length--;
    size_t from = length;
    while (from > 0 && words[from - 1] != '\n')
        from--;
    const char *end = "it was stopped";
    if (ended->exit_code > SIGNALS)
        end = arena_printf(keep, "signal %d", ended->exit_code - SIGNALS);
    else if (ended->exit_code >= 0)
        end = arena_printf(keep, "exit %d", ended->exit_code);
    return arena_printf(keep, "%s, %s%s%.*s", what, end != NULL ? end : "",
                        length > from ? ": " : "", (int)(length - from), words + from);
}

static const char *stop(struct contestant *c, const char *what, struct arena *keep)
{
    struct process_ended ended;
    process_end(c->process, &ended);
    c->process = NULL;
    if (ended.peak_bytes > c->peak_bytes)
        c->peak_bytes = ended.peak_bytes;
    return end_text(&ended, what, keep);
}

static enum status read_welcome(const char *line, struct arena *keep, struct contestant_name *out,
                                struct fault *fault)
{
    cJSON *tree = NULL;
    const cJSON *item;
    uint32_t count = 0;
    if (json_parse(line, strlen(line), &tree, fault) == ERR_NONE) {
        const cJSON *can = json_get_array(tree, "can", fault);
        const char **names = ARENA_ARRAY(keep, CAN_MAX + 1, const char *);
        out->name = json_get_string(tree, "name", keep, fault);
        out->version = json_get_string(tree, "version", keep, fault);
        out->bugs = json_get_string(tree, "bugs", keep, fault);
        cJSON_ArrayForEach(item, can)
        {
            const char *text = cJSON_GetStringValue(item);
            if (names != NULL && text != NULL && count < CAN_MAX)
                names[count++] = arena_string(keep, text);
        }
        out->can = names;
        if (fault->code == ERR_NONE && names == NULL)
            (void)fault_no_memory(fault, "contestant");
        if (fault->code == ERR_NONE && (can == NULL || out->name == NULL || out->version == NULL))
            (void)fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "welcome of the contestant",
                                 "name, version or can is missing");
    }
    cJSON_Delete(tree);
    return fault->code;
}

/* Starts it. SCRATCH: for its welcome and its last words. */
static enum status start(struct contestant *c, struct arena *scratch, struct contestant_name *name,
                         struct fault *fault)
{
    const struct process_request request = {.argv = c->argv,
                                            .memory_max_bytes = c->request.memory_max_bytes};
    char *line = NULL;
    if (process_open(&request, &c->process, fault) != ERR_NONE)
        return fault->code;
    if (process_ask(c->process, c->hello, 1, START_LIMIT_MS, scratch, &line, fault) == ERR_NONE)
        return read_welcome(line, scratch, name, fault);
    const enum status code = fault->code;
    if (code == ERR_INTERRUPTED || code == ERR_MEMORY)
        return code;
    const char *words = stop(c, "no welcome", scratch);
    fault_clear(fault);
    (void)fault_set_hint(fault, code, FAULT_NO_OFFSET, "contestant",
                         "it does not answer the first line of the protocol");
    fault_set_path(fault, arena_printf(scratch, "%s: %s", c->argv[0], words != NULL ? words : ""));
    return code;
}

static const char *hello_of(const struct suite *suite, struct arena *keep)
{
    struct json j;
    size_t bytes;
    json_to_text(&j, false);
    json_object(&j);
    json_key_uint(&j, "hello", 1);
    json_key_string(&j, "suite", suite->folder);
    json_key_string(&j, "edition", suite->edition);
    json_object_end(&j);
    json_newline(&j);
    char *text = json_take(&j, &bytes);
    const char *kept = text != NULL ? arena_string(keep, text) : NULL;
    free(text);
    return kept;
}

enum status contestant_open(const struct contestant_request *request, struct arena *keep,
                            struct contestant **out, struct contestant_name *name,
                            struct fault *fault)
{
    struct contestant *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL)
        return fault_no_memory(fault, "contestant");
    c->request = *request;
    arena_init(&c->keep, 0);
    c->hello = hello_of(request->suite, &c->keep);
    if (c->hello == NULL)
        return fault_no_memory(fault, "contestant");
    if (split(c, fault) == ERR_NONE)
        (void)start(c, keep, name, fault);
    return fault->code;
}

/* The case costs its contestant, which is started again for the next one. */
static void give_up(struct contestant *c, enum suite_outcome outcome, const char *what,
                    struct arena *keep, struct suite_answer *out)
{
    *out = (struct suite_answer){.outcome = outcome, .words = stop(c, what, keep)};
}

enum status contestant_ask(struct contestant *c, const struct suite_case *question,
                           struct arena *keep, struct suite_answer *out, const char **printed,
                           struct fault *fault)
{
    struct fault bad = FAULT_INIT;
    struct contestant_name again;
    char *line = NULL;

    *printed = NULL;
    memset(out, 0, sizeof *out);
    if (c->process == NULL && start(c, keep, &again, fault) != ERR_NONE)
        return fault->code;
    (void)process_ask(c->process, question->question, 1, c->request.limit_ms, keep, &line, &bad);
    *printed = bad.code == ERR_NONE ? line : NULL;
    if (bad.code == ERR_NONE)
        (void)suite_answer_judge(question, line, keep, out, &bad);
    else if (bad.code == ERR_TIMEOUT)
        give_up(c, SUITE_TIMEOUT, "no answer in time", keep, out);
    else if (bad.code == ERR_LIMIT)
        give_up(c, SUITE_GARBAGE, "an answer of more than 64 MiB", keep, out);
    else if (bad.code == ERR_IO)
        give_up(c, SUITE_CRASHED, "it ended", keep, out);
    if (bad.code == ERR_INTERRUPTED || bad.code == ERR_MEMORY)
        return fault_set(fault, bad.code, FAULT_NO_OFFSET, "contestant");
    /* What is out of step would answer the next question with this one's answer. */
    if (bad.code == ERR_NONE && out->outcome == SUITE_GARBAGE) {
        const char *words = out->words;
        give_up(c, SUITE_GARBAGE, words != NULL ? words : "no answer", keep, out);
        out->words = words;
    }
    return ERR_NONE;
}

uint64_t contestant_close(struct contestant *c)
{
    if (c == NULL)
        return 0;
    struct process_ended ended = {.peak_bytes = 0};
    process_end(c->process, &ended);
    const uint64_t peak_bytes = ended.peak_bytes > c->peak_bytes ? ended.peak_bytes : c->peak_bytes;
    arena_free(&c->keep);
    free(c);
    return peak_bytes;
}

bool contestant_can(const struct contestant_name *name, const char *capability)
{
    for (const char *const *at = name->can; at != NULL && *at != NULL; at++)
        if (strcmp(*at, capability) == 0)
            return true;
    return false;
}
