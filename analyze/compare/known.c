/* Known mismatches: see known.h. */
#include "compare/known.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "compare/known_words.h"

void known_today(char out[16])
{
    text_utc_date((uint64_t)time(NULL), out);
}

/* ---- reading -------------------------------------------------------------------------- */

static const char *trimmed(struct arena *keep, const char *text, size_t size)
{
    while (size > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        size--;
    }
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t' || text[size - 1] == '\r'))
        size--;
    return arena_text(keep, text, size);
}

static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return text[sizeof form - 1] == 0;
}

static const char **field_of(struct known *k, const char *name)
{
    const struct {
        const char *name;
        const char **field;
    } fields[] = {{"scope", &k->scope},  {"cause", &k->cause},    {"pins", &k->pins},
                  {"frame", &k->frames}, {"reason", &k->reason},  {"issue", &k->issue},
                  {"broad", &k->broad},  {"expires", &k->expires}};
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].field;
    return NULL;
}

/* The lines "frame:" of one acceptance, one after another; "none" is no frame. */
static const char *add_frame(const char *frames, const char *frame, struct arena *keep)
{
    if (strcmp(frame, KNOWN_NO_FRAME) == 0)
        return frames != NULL ? frames : "";
    return frames == NULL || *frames == '\0' ? frame : arena_printf(keep, "%s\n%s", frames, frame);
}

static const char *missing_field(const struct known *k)
{
    if (k->scope == NULL || k->cause == NULL)
        return "acceptance without scope or cause";
    if (k->reason == NULL)
        return "acceptance without a reason";
    if (k->expires == NULL || !is_date(k->expires))
        return "acceptance without a day (YYYY-MM-DD) on which it expires";
    return NULL;
}

/* Pins are separated by blanks or commas. */
static const char *next_pin(const char *at)
{
    return at + strspn(at, " \t,");
}

/* Reads "engine=functions/lines" at AT. Returns what follows it; NULL: it is no pin. */
static const char *read_pin(const char *at, unsigned long *functions, unsigned long *lines)
{
    const char *number = at + strcspn(at, "= \t,");
    char *end = NULL;
    if (number == at || *number != '=' || !isdigit((unsigned char)number[1]))
        return NULL;
    *functions = strtoul(number + 1, &end, 10);
    if (*end != '/' || !isdigit((unsigned char)end[1]))
        return NULL;
    *lines = strtoul(end + 1, &end, 10);
    return *end == '\0' || strchr(" \t,", *end) != NULL ? end : NULL;
}

/* PINS begins at OFFSET. */
static enum status check_pins(const char *pins, uint64_t offset, struct fault *fault)
{
    unsigned long functions = 0, lines = 0;
    if (strcmp(pins, KNOWN_NO_PIN) == 0)
        return ERR_NONE;
    for (const char *at = next_pin(pins); *at != '\0';) {
        const char *end = read_pin(at, &functions, &lines);
        if (end == NULL)
            return fault_set_hint(fault, ERR_MALFORMED, offset + (size_t)(at - pins),
                                  "pins of an acceptance",
                                  "a pin is ENGINE=FUNCTIONS/LINES, as in offset:rtl=2/5");
        at = next_pin(end);
    }
    return ERR_NONE;
}

static enum status take_line(struct known_list *list, const char *line, uint32_t number,
                             uint64_t offset, struct arena *keep, struct fault *fault)
{
    if (line == NULL)
        return fault_set(fault, ERR_MEMORY, offset, "known mismatches");
    const size_t size = strlen(line);
    if (size == 0 || line[0] == '#')
        return ERR_NONE;
    if (line[0] == '[') {
        if (size < 3 || line[size - 1] != ']')
            return fault_set(fault, ERR_MALFORMED, offset, "id of an acceptance");
        struct known *k = &list->items[list->count++];
        k->id = arena_text(keep, line + 1, size - 2);
        k->line = number;
        for (uint32_t i = 0; i + 1 < list->count; i++)
            if (k->id != NULL && strcmp(list->items[i].id, k->id) == 0)
                return fault_set(fault, ERR_MALFORMED, offset, "id of an acceptance, used twice");
        return k->id != NULL ? ERR_NONE : fault_set(fault, ERR_MEMORY, offset, "known mismatches");
    }
    const char *colon = strchr(line, ':');
    if (colon == NULL || list->count == 0)
        return fault_set_hint(fault, ERR_MALFORMED, offset, "line of the known mismatches",
                              "expected [id], or field: value below one");
    const char *name = trimmed(keep, line, (size_t)(colon - line));
    const char **field = name != NULL ? field_of(&list->items[list->count - 1], name) : NULL;
    if (field == NULL)
        return fault_set_hint(
            fault, ERR_MALFORMED, offset, "field of an acceptance",
            "fields are scope, cause, pins, frame, reason, issue, broad, expires");
    const char *value = trimmed(keep, colon + 1, size - (size_t)(colon - line) - 1);
    if (value != NULL && strcmp(name, "frame") == 0)
        value = add_frame(*field, value, keep);
    if (value != NULL && strcmp(name, "scope") == 0 && *field != NULL)
        value = arena_printf(keep, "%s %s", *field, value);
    const size_t column = (size_t)(colon - line) + 1 + strspn(colon + 1, " \t");
    if (value != NULL && strcmp(name, "pins") == 0 &&
        check_pins(value, offset + column, fault) != ERR_NONE)
        return fault->code;
    *field = value;
    return *field != NULL ? ERR_NONE : fault_set(fault, ERR_MEMORY, offset, "known mismatches");
}

enum status known_parse(const char *text, size_t bytes, struct arena *keep, struct known_list *out,
                        struct fault *fault)
{
    size_t rooms = 0;
    for (size_t i = 0; i < bytes; i++)
        rooms += text[i] == '[';
    out->count = 0;
    out->items = ARENA_ARRAY(keep, rooms + 1, struct known);
    if (out->items == NULL)
        return fault_no_memory(fault, "known mismatches");
    uint32_t number = 1;
    for (size_t at = 0; at < bytes; number++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const size_t size = end != NULL ? (size_t)(end - text) - at : bytes - at;
        if (memchr(text + at, 0, size) != NULL)
            return fault_set(fault, ERR_MALFORMED, at, "known mismatches: not a text");
        if (take_line(out, trimmed(keep, text + at, size), number, at, keep, fault) != ERR_NONE)
            return fault->code;
        at += size + 1;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        const char *missing = missing_field(&out->items[i]);
        if (missing != NULL)
            return fault_set_lasting(fault, ERR_MALFORMED, FAULT_NO_OFFSET, missing,
                                     "see `twinstack known --help`");
    }
    return ERR_NONE;
}

/* ---- matching ------------------------------------------------------------------------- */

bool known_covers(const struct known *k, const struct run_case *c)
{
    char name[256];
    (void)snprintf(name, sizeof name, "%.120s.%.120s", c->scenario, c->variant);
    return text_glob(k->scope, name) || known_words_match(k->scope, name); /* a blank in a name */
}

/* True when C is of a build that K's scope names, whatever its scenario. */
static bool is_of_build(const struct known *k, const struct run_case *c)
{
    return known_words_build(k->scope, c->variant);
}

/* True when the acceptance names every failing cause of the case. */
static bool covers(const struct known *k, const struct run_case *c)
{
    char word[256];
    const char *rest = c->result.signature;
    if (rest == NULL || *rest == 0)
        return known_words_match(k->cause,
                                 c->result.verdict == VERDICT_FLAKY ? "flaky" : "verdict");
    while (*rest != 0) {
        const size_t size = strcspn(rest, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)size, rest);
        if (!known_words_match(k->cause, word))
            return false;
        rest += size + strspn(rest + size, " ");
    }
    return true;
}

bool known_accepts(const struct known *k, const struct run_case *c)
{
    return known_covers(k, c) && covers(k, c);
}

uint32_t known_wrong_functions(const struct engine_score *s)
{
    return s->truth_frames - s->right_frames;
}

uint32_t known_wrong_lines(const struct engine_score *s)
{
    return s->lines_judged - s->lines_right;
}

/* The pin of ENGINE among the words; false: none. */
static bool find_pin(const char *pins, const char *engine, unsigned long *functions,
                     unsigned long *lines)
{
    const size_t bytes = strlen(engine);
    for (const char *at = next_pin(pins), *end; *at != '\0'; at = next_pin(end)) {
        end = read_pin(at, functions, lines);
        if (end == NULL)
            return false;
        if (strncmp(at, engine, bytes) == 0 && at[bytes] == '=')
            return true;
    }
    return false;
}

const char *known_frame(const struct finding *f, struct arena *keep)
{
    const char *where = "the whole stack";
    if (f->function != NULL)
        where = f->function;
    else if (f->module != NULL)
        where = f->module;
    return arena_printf(keep, "%s %s %s", f->engine, finding_level_name(f->level), where);
}

/* True when FRAME is one of the lines of FRAMES, which may hold * and ?. */
static bool has_frame(const char *frames, const char *frame, struct arena *keep)
{
    while (*frames != '\0') {
        const size_t size = strcspn(frames, "\n");
        const char *line = arena_text(keep, frames, size);
        if (line != NULL && (strcmp(line, frame) == 0 || text_glob(line, frame)))
            return true;
        frames += size + (frames[size] == '\n');
    }
    return false;
}

/* The first engine that has more wrong than its pin says; NULL: none.  An engine without a pin had
 * nothing wrong when the case was accepted. */
static const char *beyond_pins(const struct known *k, const struct run_case *c, struct arena *keep)
{
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        const struct engine_score *s = &c->result.scores[i];
        unsigned long functions = 0, lines = 0;
        if (!s->subject || !s->judged)
            continue;
        if (!find_pin(k->pins, s->engine, &functions, &lines))
            functions = lines = 0;
        if (known_wrong_functions(s) > functions || known_wrong_lines(s) > lines)
            return arena_printf(
                keep, "%s has %u functions and %u lines wrong, %lu and %lu are accepted", s->engine,
                known_wrong_functions(s), known_wrong_lines(s), functions, lines);
    }
    return NULL;
}

/* How C is worse than what was accepted; NULL: it is not. */
static const char *beyond(const struct known *k, const struct run_case *c, struct arena *keep)
{
    const char *worse = k->pins != NULL ? beyond_pins(k, c, keep) : NULL;
    for (uint32_t i = 0; worse == NULL && k->frames != NULL && i < c->result.finding_count; i++) {
        const struct finding *f = &c->result.findings[i];
        const char *frame = f->fails ? known_frame(f, keep) : NULL;
        if (frame != NULL && !has_frame(k->frames, frame, keep))
            worse = arena_printf(keep, "another difference, %s", frame);
    }
    return worse;
}

bool known_is_pinned(const struct known *k)
{
    return k->pins != NULL && k->frames != NULL;
}

static bool has_expired(const struct known *k, const char *today)
{
    return strcmp(k->expires, today) < 0;
}

/* The number of a day in the calendar of today; years begin in March, so that the day that some
 * years have more is the last one. */
static int64_t day_number(const char *date)
{
    const int64_t month = strtol(date + 5, NULL, 10), day = strtol(date + 8, NULL, 10);
    const int64_t year = strtol(date, NULL, 10) - (month <= 2);
    return year * 365 + year / 4 - year / 100 + year / 400 + (153 * ((month + 9) % 12) + 2) / 5 +
           day;
}

int64_t known_days(const char *day, const char *last)
{
    return day_number(last) - day_number(day);
}

static void judge_by_day(struct known *k, const char *today)
{
    k->overlong = known_days(today, k->expires) > KNOWN_DAYS_MAX;
    k->expired = has_expired(k, today);
    k->ungraced = !known_is_pinned(k) && strcmp(today, KNOWN_UNPINNED_UNTIL) >= 0;
}

static bool may_be_accepted(enum verdict v)
{
    return v == VERDICT_FAIL || v == VERDICT_FLAKY;
}

const struct known *known_match(const struct known_list *list, const struct run_case *c,
                                const char *today)
{
    if (!may_be_accepted(c->result.verdict))
        return NULL;
    for (uint32_t i = 0; i < list->count; i++)
        if (!has_expired(&list->items[i], today) && known_accepts(&list->items[i], c))
            return &list->items[i];
    return NULL;
}

/* The failing finding of C that K does not accept, though it accepts the one that decides C; NULL:
 * that is not so. */
static const struct finding *beside(const struct known *k, const struct run_case *c,
                                    struct arena *keep)
{
    const struct finding *first = finding_deciding(c->result.findings, c->result.finding_count);
    const char *pair =
        first != NULL ? arena_printf(keep, "%s=%s", first->engine, cause_name(first->cause)) : NULL;
    const char *at = pair != NULL && known_covers(k, c) ? strstr(k->cause, pair) : NULL;
    if (at == NULL || (at != k->cause && at[-1] != ' ') ||
        (at[strlen(pair)] != '\0' && at[strlen(pair)] != ' '))
        return NULL;
    for (uint32_t i = 0; i < c->result.finding_count; i++) {
        const struct finding *f = &c->result.findings[i];
        if (f->fails && f->cause != first->cause)
            return f;
    }
    return NULL;
}

/* True when C was accepted by K before: by this run, or by the part of it that is resumed. */
static bool was_accepted_by(const struct run_case *c, const struct known *k)
{
    return c->result.verdict == VERDICT_XFAIL && c->known_id != NULL &&
           strcmp(c->known_id, k->id) == 0;
}

/* True when C was found to go beyond an acceptance before, so that its reason says so already. */
static bool was_beyond(const struct run_case *c)
{
    return c->result.reason != NULL &&
           strncmp(c->result.reason, KNOWN_BEYOND, sizeof KNOWN_BEYOND - 1) == 0;
}

/* Adds to the reason of C, which fails, the acceptance that is for a part of it. */
static bool note_part(const struct known_list *list, struct run_case *c, const char *today,
                      struct arena *keep)
{
    for (uint32_t i = 0; may_be_accepted(c->result.verdict) && !was_beyond(c) && i < list->count;
         i++) {
        const struct known *k = &list->items[i];
        const struct finding *other = has_expired(k, today) ? NULL : beside(k, c, keep);
        if (other == NULL)
            continue;
        c->result.reason =
            arena_printf(keep, KNOWN_BEYOND "%s] accepted: %s=%s; %s", k->id, other->engine,
                         cause_name(other->cause), text_or_empty(c->result.reason));
        return true;
    }
    return false;
}

static bool names_its_cases(const struct known *k)
{
    return strpbrk(k->scope, "*?") == NULL;
}

/* Applied twice, a list changes nothing more. */
static enum status apply_one(struct known_list *list, struct run_case *c, const char *today,
                             struct arena *keep, bool *changed, struct fault *fault)
{
    const struct known *match = known_match(list, c, today);
    const char *worse = match != NULL ? beyond(match, c, keep) : NULL;
    *changed = false;
    for (uint32_t i = 0; i < list->count; i++) {
        struct known *k = &list->items[i];
        k->seen += known_covers(k, c);
        k->of_build += is_of_build(k, c);
        if (!known_covers(k, c) || c->result.verdict == VERDICT_UNSUPPORTED ||
            c->result.verdict == VERDICT_ERROR)
            continue;
        k->in_scope++;
        k->hits += k == match || was_accepted_by(c, k);
        k->others += match == NULL && may_be_accepted(c->result.verdict);
        if (match == NULL && c->result.verdict == VERDICT_PASS && names_its_cases(k) &&
            !k->expired) {
            c->result.verdict = VERDICT_XPASS;
            c->result.reason = arena_printf(
                keep, "passes, though [%s] accepts that it fails: take that out", k->id);
            c->known_id = k->id;
            *changed = true;
        }
    }
    if (worse != NULL && was_beyond(c))
        return ERR_NONE;
    if (worse != NULL) {
        c->result.reason = arena_printf(keep, KNOWN_BEYOND "%s] accepted: %s; %s", match->id, worse,
                                        c->result.reason != NULL ? c->result.reason : "");
        *changed = true;
    } else if (match != NULL) {
        c->result.verdict = VERDICT_XFAIL;
        c->result.reason = arena_printf(keep, "known [%s]%s: %s", match->id,
                                        known_is_pinned(match) ? "" : ", unpinned", match->reason);
        c->known_id = match->id;
        *changed = true;
    } else if (note_part(list, c, today, keep)) {
        *changed = true;
    }
    return c->result.reason != NULL || !*changed ? ERR_NONE
                                                 : fault_no_memory(fault, "known mismatches");
}

enum status known_apply(struct known_list *list, struct run_case *cases, uint32_t count,
                        const char *today, struct arena *keep, bool *changed, struct fault *fault)
{
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].seen = list->items[i].of_build = 0;
        list->items[i].in_scope = list->items[i].hits = list->items[i].others = 0;
        judge_by_day(&list->items[i], today);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool is_changed = false;
        if (apply_one(list, &cases[i], today, keep, &is_changed, fault) != ERR_NONE)
            return fault->code;
        if (changed != NULL)
            changed[i] = is_changed;
    }
    return ERR_NONE;
}

const char *known_problem(const struct known *k, bool whole, struct arena *keep)
{
    if (k->expired)
        return arena_printf(keep, "[%s] in line %u expired on %s", k->id, k->line, k->expires);
    if (k->ungraced)
        return arena_printf(keep,
                            "[%s] in line %u is unpinned, which fails since " KNOWN_UNPINNED_UNTIL
                            ": `twinstack accept --update %s` pins it",
                            k->id, k->line, k->id);
    /* A build that this machine cannot run says nothing about the acceptance. */
    if (whole && k->seen == 0 && k->of_build > 0)
        return arena_printf(keep, "[%s] in line %u is not needed: there is no case %s", k->id,
                            k->line, k->scope);
    /* What fails there in another way may hide it, and is reported by itself. */
    if (k->in_scope > 0 && k->hits == 0 && k->others == 0)
        return arena_printf(keep, "[%s] in line %u is not needed: nothing in %s fails for %s",
                            k->id, k->line, k->scope, k->cause);
    if (k->broad == NULL && known_is_wide(k->scope))
        return arena_printf(keep,
                            "[%s] in line %u covers more than one scenario, %s: it needs the line "
                            "`broad: yes`",
                            k->id, k->line, k->scope);
    if (k->broad == NULL && k->overlong)
        return arena_printf(keep,
                            "[%s] in line %u holds for more than %d days, until %s: it needs the "
                            "line `broad: yes`",
                            k->id, k->line, KNOWN_DAYS_MAX, k->expires);
    return NULL;
}

static bool took_all(const struct run_info *run)
{
    return run_has_run_label(run) && run_selection_is_all(&run->selection);
}

void known_uses_add(struct known_uses *uses, const struct run_case *c)
{
    const enum verdict v = c->result.verdict;
    for (uint32_t i = 0; i < uses->list.count; i++) {
        struct known *k = &uses->list.items[i];
        k->of_build += is_of_build(k, c);
        if (!known_covers(k, c))
            continue;
        k->seen++;
        if (v == VERDICT_UNSUPPORTED || v == VERDICT_ERROR)
            continue;
        k->in_scope++;
        k->others += may_be_accepted(v);
        k->hits += was_accepted_by(c, k);
    }
}

enum status known_uses_begin(struct known_uses *uses, const struct run_info *run,
                             struct arena *keep, struct fault *fault)
{
    *uses = (struct known_uses){.run = run};
    if (run->known_text == NULL || run->state != RUN_COMPLETE)
        return ERR_NONE;
    return known_parse(run->known_text, strlen(run->known_text), keep, &uses->list, fault);
}

enum status known_uses_end(struct known_uses *uses, struct arena *keep, const char ***out,
                           uint32_t *out_count, struct fault *fault)
{
    const struct run_info *run = uses->run;
    const uint64_t ended_ns = run->finished_ns != 0 ? run->finished_ns : run->started_ns;
    char day[16];
    *out_count = 0;
    *out = ARENA_ARRAY(keep, (size_t)uses->list.count + 1, const char *);
    if (*out == NULL)
        return fault_no_memory(fault, "known mismatches");
    text_utc_date(ended_ns / 1000000000U, day);
    for (uint32_t i = 0; i < uses->list.count; i++) {
        judge_by_day(&uses->list.items[i], day);
        const char *problem = known_problem(&uses->list.items[i], took_all(run), keep);
        if (problem != NULL)
            (*out)[(*out_count)++] = problem;
    }
    return ERR_NONE;
}
