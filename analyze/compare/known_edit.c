/* Changing the file of known mismatches, by `accept`, `known prune` and the pages: see known.h. */
#include <stdio.h>
#include <string.h>

#include "compare/known.h"

static bool is_one_line(const char *text)
{
    return text == NULL || strpbrk(text, "\r\n") == NULL;
}

static const char *free_id(const struct known_list *list, const char *name, struct arena *keep)
{
    const char *id = name;
    for (unsigned n = 2; id != NULL; n++) {
        bool taken = false;
        for (uint32_t i = 0; i < list->count && !taken; i++)
            taken = strcmp(list->items[i].id, id) == 0;
        if (!taken)
            break;
        id = arena_printf(keep, "%s-%u", name, n);
    }
    return id;
}

static enum status check_words(const struct run_case *c, const struct known_words *words,
                               struct fault *fault)
{
    if (c->result.verdict != VERDICT_FAIL && c->result.verdict != VERDICT_FLAKY)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "the case does not fail: there is nothing to accept (an ERROR never "
                              "is)");
    if (words->reason == NULL || words->reason[0] == '\0' || words->expires == NULL)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "a reason and the last day (YYYY-MM-DD) must be given");
    if (!is_one_line(words->scope) || !is_one_line(words->reason) || !is_one_line(words->issue) ||
        !is_one_line(words->expires))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "scope, reason, issue and expires are one line each");
    char today[16];
    known_today(today);
    if (strcmp(words->expires, today) < 0)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "its last day is past: it would accept nothing");
    return ERR_NONE;
}

static bool is_there(const struct known_list *list, const char *scope, const char *cause)
{
    char today[16];
    known_today(today);
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].scope, scope) == 0 && strcmp(list->items[i].cause, cause) == 0 &&
            strcmp(list->items[i].expires, today) >= 0)
            return true;
    return false;
}

/* "pins: offset:rtl=2/5 dump=0/1\n" for what is wrong in C now; "": nothing could be judged. */
static const char *make_pins(const struct run_case *c, struct arena *keep)
{
    const char *text = "";
    for (uint32_t i = 0; text != NULL && i < c->result.score_count; i++) {
        const struct engine_score *s = &c->result.scores[i];
        if (s->subject && s->judged)
            text = arena_printf(keep, "%s%s%s=%u/%u", text, *text == '\0' ? "pins: " : " ",
                                s->engine, known_wrong_functions(s), known_wrong_lines(s));
    }
    return text != NULL && *text != '\0' ? arena_printf(keep, "%s\n", text) : text;
}

enum status known_add(const char *text, const struct known_list *list, const struct run_case *c,
                      const struct known_words *words, struct arena *keep, const char **out,
                      const char **block, struct fault *fault)
{
    if (check_words(c, words, fault) != ERR_NONE)
        return fault->code;
    const char *head = text != NULL ? text : "# Known mismatches: see `twinstack known --help`\n";
    const char *cause = c->result.signature != NULL          ? c->result.signature
                        : c->result.verdict == VERDICT_FLAKY ? "flaky"
                                                             : "verdict";
    const bool issue = words->issue != NULL && words->issue[0] != '\0';
    const char *name = arena_printf(keep, "%s.%s", c->scenario, c->variant);
    const char *id = name != NULL ? free_id(list, name, keep) : NULL;
    const struct known scope = {.scope = words->scope};
    if (words->scope != NULL && !known_covers(&scope, c))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "the scope does not hold the case that it is for");
    const char *pins = make_pins(c, keep);
    if (name != NULL && is_there(list, words->scope != NULL ? words->scope : name, cause))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "the same is accepted already: let that one end first");
    const char *whole =
        id == NULL || pins == NULL
            ? NULL
            : arena_printf(keep,
                           "%s\n[%s]\nscope: %s\ncause: %s\n%sreason: %s\n%s%s%sexpires: %s\n",
                           head, id, words->scope != NULL ? words->scope : name, cause, pins,
                           words->reason, issue ? "issue: " : "", issue ? words->issue : "",
                           issue ? "\n" : "", words->expires);
    struct known_list again; /* the result must still be a valid file */
    if (whole == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "known mismatches");
    *out = whole;
    *block = whole + strlen(head);
    return known_parse(whole, strlen(whole), keep, &again, fault);
}

char *known_drop(const char *text, size_t bytes, const struct known_list *list, const bool *drop,
                 struct arena *keep, size_t *out_bytes)
{
    char *out = arena_alloc(keep, bytes + 1);
    uint32_t line = 0;
    bool dropping = false;
    *out_bytes = 0;
    for (size_t at = 0; out != NULL && at < bytes;) {
        const char *start = text + at;
        const char *end = memchr(start, '\n', bytes - at);
        const size_t size = end != NULL ? (size_t)(end - start) + 1 : bytes - at;
        line++;
        for (uint32_t i = 0; i < list->count; i++)
            if (list->items[i].line == line)
                dropping = drop[i];
        if (!dropping) {
            memcpy(out + *out_bytes, start, size);
            *out_bytes += size;
        }
        at += size;
    }
    if (out != NULL)
        out[*out_bytes] = '\0';
    return out;
}

char *known_end(const char *text, size_t bytes, const struct known_list *list, const bool *end,
                const char *day, struct arena *keep, size_t *out_bytes)
{
    static const char field[] = "expires";
    const size_t room = bytes + list->count * (sizeof field + strlen(day) + 3) + 1;
    char *out = arena_alloc(keep, room);
    uint32_t line = 0;
    bool ending = false;
    *out_bytes = 0;
    for (size_t at = 0; out != NULL && at < bytes;) {
        const char *start = text + at;
        const char *stop = memchr(start, '\n', bytes - at);
        const size_t size = stop != NULL ? (size_t)(stop - start) + 1 : bytes - at;
        line++;
        for (uint32_t i = 0; i < list->count; i++)
            if (list->items[i].line == line)
                ending = end[i];
        if (ending && strncmp(start + strspn(start, " \t"), field, sizeof field - 1) == 0) {
            *out_bytes +=
                (size_t)snprintf(out + *out_bytes, room - *out_bytes, "%s: %s\n", field, day);
        } else {
            memcpy(out + *out_bytes, start, size);
            *out_bytes += size;
        }
        at += size;
    }
    if (out != NULL)
        out[*out_bytes] = '\0';
    return out;
}
