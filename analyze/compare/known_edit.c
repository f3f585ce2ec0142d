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
    if (!words->broad && words->scope != NULL && known_is_wide(words->scope))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "a scope of more than one scenario needs --broad");
    if (!words->broad && known_days(today, words->expires) > KNOWN_DAYS_MAX)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "more than 180 days need --broad");
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

/* What is wrong in several cases together: the maximum of each engine, and every frame once. */
struct pinned {
    const char *engines[CLAIMS_MAX];
    uint32_t functions[CLAIMS_MAX], lines[CLAIMS_MAX], count;
    const char *frames; /* as the lines "frame: ...\n"; NULL: out of memory, or too many engines */
};

static void pin_score(struct pinned *p, const struct engine_score *s)
{
    const uint32_t functions = known_wrong_functions(s), lines = known_wrong_lines(s);
    uint32_t at = 0;
    while (at < p->count && strcmp(p->engines[at], s->engine) != 0)
        at++;
    if (at == CLAIMS_MAX) {
        p->frames = NULL;
        return;
    }
    if (at == p->count) {
        p->engines[p->count++] = s->engine;
        p->functions[at] = p->lines[at] = 0;
    }
    p->functions[at] = functions > p->functions[at] ? functions : p->functions[at];
    p->lines[at] = lines > p->lines[at] ? lines : p->lines[at];
}

static void pin_case(struct pinned *p, const struct run_case *c, struct arena *keep)
{
    for (uint32_t i = 0; i < c->result.score_count; i++)
        if (c->result.scores[i].subject && c->result.scores[i].judged)
            pin_score(p, &c->result.scores[i]);
    for (uint32_t i = 0; p->frames != NULL && i < c->result.finding_count; i++) {
        if (!c->result.findings[i].fails)
            continue;
        const char *frame = known_frame(&c->result.findings[i], keep);
        const char *line = frame != NULL ? arena_printf(keep, "frame: %s\n", frame) : NULL;
        if (line == NULL || strstr(p->frames, line) == NULL)
            p->frames = line != NULL ? arena_printf(keep, "%s%s", p->frames, line) : NULL;
    }
}

/* "pins: offset:rtl=2/5 dump=0/1\nframe: dump line middle\n"; NULL: out of memory. */
static const char *pins_text(const struct pinned *p, struct arena *keep)
{
    const char *text = "";
    if (p->frames == NULL)
        return NULL;
    for (uint32_t i = 0; text != NULL && i < p->count; i++)
        text = arena_printf(keep, "%s %s=%u/%u", text, p->engines[i], p->functions[i], p->lines[i]);
    if (text == NULL)
        return NULL;
    return arena_printf(keep, "pins:%s\n%s", *text != '\0' ? text : " none",
                        *p->frames != '\0' ? p->frames : "frame: " KNOWN_NO_FRAME "\n");
}

static const char *make_pins(const struct run_case *c, struct arena *keep)
{
    struct pinned p = {.frames = ""};
    pin_case(&p, c, keep);
    return pins_text(&p, keep);
}

/* The pins of K in a run; "": no case of it needs K; NULL: out of memory. */
static const char *pins_in_run(const struct known *k, const struct run_case *cases, uint32_t count,
                               struct arena *keep)
{
    struct pinned p = {.frames = ""};
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct run_case *c = &cases[i];
        const enum verdict v = c->result.verdict;
        const bool fails =
            v == VERDICT_FAIL || v == VERDICT_FLAKY ||
            (v == VERDICT_XFAIL && c->known_id != NULL && strcmp(c->known_id, k->id) == 0);
        if (!fails || !known_accepts(k, c))
            continue;
        any = true;
        pin_case(&p, c, keep);
    }
    return any ? pins_text(&p, keep) : "";
}

static bool is_field(const char *line, const char *name)
{
    const size_t bytes = strlen(name);
    line += strspn(line, " \t");
    return strncmp(line, name, bytes) == 0 && line[bytes + strspn(line + bytes, " \t")] == ':';
}

char *known_pin(const char *text, size_t bytes, const struct known_list *list, const bool *pin,
                const struct run_case *cases, uint32_t case_count, struct arena *keep,
                size_t *out_bytes, uint32_t *changed)
{
    const char *pins = "", *whole = "";
    uint32_t line = 0;
    *changed = 0;
    for (size_t at = 0; whole != NULL && at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const size_t size = end != NULL ? (size_t)(end - text) - at : bytes - at;
        const char *row = arena_text(keep, text + at, size);
        at += size + 1;
        line++;
        for (uint32_t i = 0; i < list->count && row != NULL; i++)
            if (list->items[i].line == line) {
                pins = pin[i] ? pins_in_run(&list->items[i], cases, case_count, keep) : "";
                *changed += pins != NULL && *pins != '\0';
            }
        if (row == NULL || pins == NULL)
            return NULL;
        if (*pins != '\0' && (is_field(row, "pins") || is_field(row, "frame")))
            continue;
        whole = arena_printf(keep, "%s%s\n%s", whole, row, is_field(row, "cause") ? pins : "");
    }
    *out_bytes = whole != NULL ? strlen(whole) : 0;
    return whole != NULL ? arena_text(keep, whole, *out_bytes) : NULL;
}

/* What one block accepts. */
struct block {
    const char *name, *scope, *cause,
        *pins; /* NAME: what its id begins with; any NULL: no memory */
};

/* TEXT followed by B; the result must still be a valid file. */
static enum status add_block(const char *text, const struct known_list *list, const struct block *b,
                             const struct known_words *words, struct arena *keep, const char **out,
                             const char **block, struct fault *fault)
{
    const char *head = text != NULL ? text : "# Known mismatches: see `twinstack known --help`\n";
    const char *id = b->name != NULL ? free_id(list, b->name, keep) : NULL;
    const bool issue = words->issue != NULL && words->issue[0] != '\0';
    struct known_list again;
    if (id == NULL || b->scope == NULL || b->cause == NULL || b->pins == NULL)
        return fault_no_memory(fault, "known mismatches");
    const char *whole =
        arena_printf(keep, "%s\n[%s]\nscope: %s\ncause: %s\n%sreason: %s\n%s%s%s%sexpires: %s\n",
                     head, id, b->scope, b->cause, b->pins, words->reason, issue ? "issue: " : "",
                     issue ? words->issue : "", issue ? "\n" : "",
                     words->broad ? "broad: yes\n" : "", words->expires);
    if (whole == NULL)
        return fault_no_memory(fault, "known mismatches");
    *out = whole;
    *block = whole + strlen(head);
    return known_parse(whole, strlen(whole), keep, &again, fault);
}

static const char *cause_of(const struct run_case *c)
{
    if (c->result.signature != NULL)
        return c->result.signature;
    return c->result.verdict == VERDICT_FLAKY ? "flaky" : "verdict";
}

static enum status refuse_again(struct fault *fault)
{
    return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                          "the same is accepted already: let that one end first");
}

enum status known_add(const char *text, const struct known_list *list, const struct run_case *c,
                      const struct known_words *words, struct arena *keep, const char **out,
                      const char **block, struct fault *fault)
{
    if (check_words(c, words, fault) != ERR_NONE)
        return fault->code;
    const char *name = arena_printf(keep, "%s.%s", c->scenario, c->variant);
    const struct known scope = {.scope = words->scope};
    if (words->scope != NULL && !known_covers(&scope, c))
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                              "the scope does not hold the case that it is for");
    const struct block b = {name, words->scope != NULL ? words->scope : name, cause_of(c),
                            make_pins(c, keep)};
    if (name != NULL && is_there(list, b.scope, b.cause))
        return refuse_again(fault);
    return add_block(text, list, &b, words, keep, out, block, fault);
}

/* WORDS with those of MORE that it lacks. NULL: out of memory. */
static const char *add_words(const char *words, const char *more, struct arena *keep)
{
    while (words != NULL && *more != '\0') {
        const size_t size = strcspn(more, " ");
        const char *word = arena_text(keep, more, size);
        bool there = word == NULL;
        for (const char *at = words; !there && (at = strstr(at, word)) != NULL; at += size)
            there = (at == words || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0');
        if (word == NULL || (!there && size > 0))
            words =
                word == NULL ? NULL : arena_printf(keep, "%s%s%s", words, *words ? " " : "", word);
        more += size + strspn(more + size, " ");
    }
    return words;
}

/* The cases by name, each once, several in a line of the file. */
static const char *list_names(const struct run_case *const *cases, uint32_t count,
                              struct arena *keep)
{
    enum { WIDTH = 90 };
    size_t room = 1, used = 0, column = 0;
    for (uint32_t i = 0; i < count; i++)
        room += strlen(cases[i]->scenario) + strlen(cases[i]->variant) + sizeof "\nscope: .";
    char *text = arena_alloc(keep, room);
    for (uint32_t i = 0; text != NULL && i < count; i++) {
        const struct run_case *c = cases[i], *last = i > 0 ? cases[i - 1] : NULL;
        if (last != NULL && strcmp(last->scenario, c->scenario) == 0 &&
            strcmp(last->variant, c->variant) == 0)
            continue; /* another repeat */
        const size_t size = strlen(c->scenario) + 1 + strlen(c->variant);
        const bool wraps = column > 0 && column + 1 + size > WIDTH;
        const char *before = wraps ? "\nscope: " : " ";
        used += (size_t)snprintf(text + used, room - used, "%s%s.%s", used > 0 ? before : "",
                                 c->scenario, c->variant);
        column = wraps ? size : column + 1 + size;
    }
    return text;
}

/* SCOPE as known_parse() reads it: one line. */
static const char *one_line(const char *scope, struct arena *keep)
{
    static const char next[] = "\nscope: ";
    char *line = scope != NULL ? arena_text(keep, scope, strlen(scope)) : NULL, *to = line;
    for (const char *at = line; at != NULL && *at != '\0';) {
        const bool wraps = strncmp(at, next, sizeof next - 1) == 0;
        *to++ = wraps ? ' ' : *at;
        at += wraps ? sizeof next - 1 : 1;
    }
    if (to != NULL)
        *to = '\0';
    return line;
}

enum status known_add_cases(const char *text, const struct known_list *list, const char *name,
                            const struct run_case *const *cases, uint32_t count,
                            const struct known_words *words, struct arena *keep, const char **out,
                            const char **block, struct fault *fault)
{
    struct pinned pins = {.frames = ""};
    struct block b = {name, list_names(cases, count, keep), "", NULL};
    for (uint32_t i = 0; i < count && b.cause != NULL; i++) {
        if (check_words(cases[i], words, fault) != ERR_NONE)
            return fault->code;
        if (strchr(cases[i]->scenario, ' ') != NULL || strchr(cases[i]->variant, ' ') != NULL)
            return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "acceptance",
                                  "a case with a blank in its name is accepted by itself");
        pin_case(&pins, cases[i], keep);
        b.cause = add_words(b.cause, cause_of(cases[i]), keep);
    }
    b.pins = pins_text(&pins, keep);
    const char *scope = one_line(b.scope, keep);
    if (scope != NULL && b.cause != NULL && is_there(list, scope, b.cause))
        return refuse_again(fault);
    return add_block(text, list, &b, words, keep, out, block, fault);
}

/* True when nothing but comments and blank lines is between AT and the next item or the END. */
static bool is_before_item(const char *at, const char *end)
{
    while (at < end && (*at == '#' || *at == '\n')) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop != NULL ? stop + 1 : end;
    }
    return at == end || *at == '[';
}

/* TEXT with the lines of the marked items, and only those, left out; or, with a DAY, with that day
 * in place of a later one on which they expire. Comments before an item are not of the one before
 * it. */
static char *rewritten(const char *text, size_t bytes, const struct known_list *list,
                       const bool *marked, const char *day, struct arena *keep, size_t *out_bytes)
{
    static const char field[] = "expires";
    const size_t more = day != NULL ? list->count * (sizeof field + strlen(day) + 3) : 0;
    char *out = arena_alloc(keep, bytes + more + 1);
    const struct known *item = NULL; /* the marked one whose line it is */
    uint32_t line = 0;
    *out_bytes = 0;
    for (size_t at = 0; out != NULL && at < bytes;) {
        const char *start = text + at;
        const char *stop = memchr(start, '\n', bytes - at);
        const size_t size = stop != NULL ? (size_t)(stop - start) + 1 : bytes - at;
        const size_t left = bytes + more + 1 - *out_bytes;
        line++;
        for (uint32_t i = 0; i < list->count; i++)
            if (list->items[i].line == line)
                item = marked[i] ? &list->items[i] : NULL;
        if (*start == '#' && is_before_item(start, text + bytes))
            item = NULL;
        if (item == NULL ||
            (day != NULL && (!is_field(start, field) || strcmp(item->expires, day) <= 0))) {
            memcpy(out + *out_bytes, start, size);
            *out_bytes += size;
        } else if (day != NULL) {
            *out_bytes += (size_t)snprintf(out + *out_bytes, left, "%s: %s\n", field, day);
        }
        at += size;
    }
    if (out != NULL)
        out[*out_bytes] = '\0';
    return out;
}

char *known_drop(const char *text, size_t bytes, const struct known_list *list, const bool *drop,
                 struct arena *keep, size_t *out_bytes)
{
    return rewritten(text, bytes, list, drop, NULL, keep, out_bytes);
}

char *known_end(const char *text, size_t bytes, const struct known_list *list, const bool *end,
                const char *day, struct arena *keep, size_t *out_bytes)
{
    return rewritten(text, bytes, list, end, day, keep, out_bytes);
}
