/* See acceptance.h. */
#include "study/acceptance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "compare/known.h"
#include "store/store.h"

enum { FRAME_BYTES_MAX = 1024 }; /* of a frame's name in JSON; longer ones are cut */

/* "known.txt:4:12", as compilers name a place; TEXT is what was read, or NULL. */
static void place_fault(struct fault *fault, const char *path, const char *text, struct arena *keep)
{
    uint64_t line = 1, column = 1;
    if (text != NULL && fault->code == ERR_MALFORMED && fault->offset != FAULT_NO_OFFSET) {
        for (uint64_t at = 0; at < fault->offset; at++) {
            column = text[at] == '\n' ? 1 : column + 1;
            line += text[at] == '\n';
        }
        path = arena_printf(keep, "%s:%" PRIu64 ":%" PRIu64, path, line, column);
    }
    fault_set_path(fault, path);
}

enum status acceptance_read(const char *path, struct arena *keep, struct acceptance *out,
                            struct fault *fault)
{
    char *text = NULL;
    memset(out, 0, sizeof *out);
    if (path == NULL && !path_is_file(ACCEPTANCE_FILE))
        return ERR_NONE;
    out->path = path != NULL ? path : ACCEPTANCE_FILE;
    if (file_read(out->path, LIMIT_JSON_BYTES, keep, &text, &out->bytes, fault) == ERR_NONE)
        (void)known_parse(text, out->bytes, keep, &out->list, fault);
    out->text = text;
    place_fault(fault, out->path, text, keep);
    return fault->code;
}

enum status acceptance_read_or_new(const char *path, struct arena *keep, struct acceptance *out,
                                   struct fault *fault)
{
    if (path_is_file(path))
        return acceptance_read(path, keep, out, fault);
    memset(out, 0, sizeof *out);
    out->path = path;
    return ERR_NONE;
}

enum status acceptance_parse(const char *text, struct arena *keep, struct acceptance *out,
                             struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->text = text;
    out->path = ACCEPTANCE_FILE;
    out->bytes = text != NULL ? strlen(text) : 0;
    return text == NULL ? ERR_NONE : known_parse(text, out->bytes, keep, &out->list, fault);
}

enum status acceptance_take(struct acceptance *acceptance, struct run_case *c, struct arena *keep,
                            struct fault *fault)
{
    char today[16];
    known_today(today);
    return known_apply(&acceptance->list, c, 1, today, keep, NULL, fault);
}

enum status acceptance_apply(struct acceptance *acceptance, struct store *store,
                             struct run_case *cases, uint32_t count, bool whole, struct arena *keep,
                             struct fault *fault)
{
    char today[16];
    bool *changed = ARENA_ARRAY(keep, (size_t)count + 1, bool);
    if (changed == NULL)
        return fault_no_memory(fault, "known mismatches");
    known_today(today);
    if (known_apply(&acceptance->list, cases, count, today, keep, changed, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count && store != NULL; i++)
        if (changed[i] &&
            store_set_verdict(store, cases[i].id, cases[i].result.verdict, cases[i].result.reason,
                              cases[i].known_id, fault) != ERR_NONE)
            return fault->code;
    acceptance->problems = ARENA_ARRAY(keep, (size_t)acceptance->list.count + 1, const char *);
    if (acceptance->problems == NULL)
        return fault_no_memory(fault, "known mismatches");
    for (uint32_t i = 0; i < acceptance->list.count; i++) {
        const char *problem = known_problem(&acceptance->list.items[i], whole, keep);
        if (problem != NULL)
            acceptance->problems[acceptance->problem_count++] = problem;
    }
    return ERR_NONE;
}

/* Replaces the text of the file with TEXT and reads the list again. */
static enum status replace(struct acceptance *acceptance, const char *text, size_t bytes,
                           struct arena *keep, struct fault *fault)
{
    struct known_list list;
    if (text == NULL)
        return fault_no_memory(fault, "known mismatches");
    if (known_parse(text, bytes, keep, &list, fault) != ERR_NONE)
        return fault->code; /* nothing has changed */
    acceptance->text = text;
    acceptance->bytes = bytes;
    acceptance->list = list;
    return ERR_NONE;
}

enum status acceptance_take_text(struct acceptance *acceptance, const char *text,
                                 struct arena *keep, struct fault *fault)
{
    return replace(acceptance, text, strlen(text), keep, fault);
}

enum status acceptance_add(struct acceptance *acceptance, const struct run_case *c,
                           const struct known_words *words, struct arena *keep, const char **block,
                           struct fault *fault)
{
    const char *text = NULL;
    if (known_add(acceptance->text, &acceptance->list, c, words, keep, &text, block, fault) !=
        ERR_NONE)
        return fault->code;
    return acceptance_take_text(acceptance, text, keep, fault);
}

enum status acceptance_drop(struct acceptance *acceptance, const bool *drop, struct arena *keep,
                            struct fault *fault)
{
    size_t bytes = 0;
    const char *text =
        known_drop(acceptance->text, acceptance->bytes, &acceptance->list, drop, keep, &bytes);
    return replace(acceptance, text, bytes, keep, fault);
}

enum status acceptance_end(struct acceptance *acceptance, const bool *end, const char *day,
                           struct arena *keep, struct fault *fault)
{
    size_t bytes = 0;
    const char *text =
        known_end(acceptance->text, acceptance->bytes, &acceptance->list, end, day, keep, &bytes);
    return replace(acceptance, text, bytes, keep, fault);
}

enum status acceptance_pin(struct acceptance *acceptance, const bool *pin,
                           const struct run_case *cases, uint32_t case_count, struct arena *keep,
                           uint32_t *changed, struct fault *fault)
{
    size_t bytes = 0;
    const char *text = known_pin(acceptance->text, acceptance->bytes, &acceptance->list, pin, cases,
                                 case_count, keep, &bytes, changed);
    return replace(acceptance, text, bytes, keep, fault);
}

enum status acceptance_save(const struct acceptance *acceptance, struct fault *fault)
{
    return file_write(acceptance->path, acceptance->text, acceptance->bytes, fault);
}

void acceptance_today(char out[16])
{
    known_today(out);
}

bool acceptance_is_expired(const struct known *known, const char *today)
{
    return strcmp(known->expires, today) < 0;
}

bool acceptance_is_pinned(const struct known *known)
{
    return known_is_pinned(known);
}

const char *acceptance_pinned_from(void)
{
    return KNOWN_UNPINNED_UNTIL;
}

const struct known *acceptance_match(const struct acceptance *acceptance, const struct run_case *c,
                                     const char *today)
{
    return known_match(&acceptance->list, c, today);
}

void acceptance_write_json(struct json *j, const struct known *known, const char *today)
{
    json_key_string(j, "id", known->id);
    json_key_string(j, "scope", known->scope);
    json_key_string(j, "cause", known->cause);
    json_key_string(j, "reason", known->reason);
    json_key_string(j, "pins", known->pins);
    json_key_bool(j, "pinned", known_is_pinned(known));
    json_key_array(j, "frames");
    for (const char *at = known->frames; at != NULL && *at != '\0';) {
        char frame[FRAME_BYTES_MAX];
        const size_t size = strcspn(at, "\n");
        (void)snprintf(frame, sizeof frame, "%.*s", (int)size, at);
        json_string(j, frame);
        at += size + (at[size] == '\n');
    }
    json_array_end(j);
    json_key_string(j, "issue", known->issue);
    json_key_string(j, "expires", known->expires);
    json_key_bool(j, "expired", acceptance_is_expired(known, today));
    json_key_bool(j, "broad", known->broad != NULL);
}
