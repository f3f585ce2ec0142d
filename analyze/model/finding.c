/* Words for findings: see finding.h.  They are printed, stored and used in URLs. */
#include "model/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/known.h"

static const char *const level_names[] = {"physical", "function", "line"};

static const char *const cause_names[CAUSE_COUNT] = {
    [CAUSE_NONE] = "none",
    [CAUSE_TRUNCATED] = "truncated",
    [CAUSE_EXTRA_SCAN] = "extra_scan",
    [CAUSE_TAIL_CALL] = "tail_call",
    [CAUSE_LOOKUP_ADDRESS] = "lookup_address",
    [CAUSE_INLINE_ONLY] = "inline_only",
    [CAUSE_FOLDED] = "folded",
    [CAUSE_HANDLER_CONTEXT] = "handler_context",
    [CAUSE_MODULE_UNLOADED] = "module_unloaded",
    [CAUSE_SYMBOLS_MISSING] = "symbols_missing",
    [CAUSE_SYMBOLS_MISMATCH] = "symbols_mismatch",
    [CAUSE_EXPORT_ONLY] = "export_only",
    [CAUSE_GENERATED_CODE] = "generated_code",
    [CAUSE_RECURSION_ELIDED] = "recursion_elided",
    [CAUSE_FRAME_POINTER] = "frame_pointer",
    [CAUSE_NOT_CAPTURED] = "not_captured",
    [CAUSE_UNSUPPORTED_HERE] = "unsupported_here",
    [CAUSE_UNEXPLAINED] = "unexplained",
    [CAUSE_LINE_TABLE] = "line_table",
    [CAUSE_BEYOND_TRUTH] = "beyond_truth",
    [CAUSE_WRONG_STEP] = "wrong_step",
    [CAUSE_RECORD_WRONG] = "record_wrong",
    [CAUSE_INLINED_BY_JIT] = "inlined_by_jit",
    [CAUSE_HIJACKED] = "hijacked",
    [CAUSE_NO_TOKEN] = "no_token",
    [CAUSE_SNAPSHOT_REFUSED] = "snapshot_refused",
};

static const char *const verdict_names[VERDICT_COUNT] = {
#define VERDICT_WORD(NAME, WORD, FAILS, CAPTURES) WORD,
    VERDICTS(VERDICT_WORD)};

static const char *const blame_texts[BLAME_COUNT] = {
    [BLAME_UNKNOWN] = "",
    [BLAME_WALK] = "walk of ",
    [BLAME_SYMBOLS] = "symbols of ",
    [BLAME_SYMBOLS_SHARED] = "symbols of both ways",
    [BLAME_DUMP_READER] = "dump reader",
    [BLAME_RECORD] = "record",
    [BLAME_TRUTH] = "truth suspect",
    [BLAME_ALIGNMENT] = "alignment",
    [BLAME_EVEN] = "none: the votes are even",
};

#define STORED_SHARED "symbols (shared)" /* BLAME_SYMBOLS_SHARED in databases */

static bool names_engine(enum blame blame)
{
    return blame == BLAME_WALK || blame == BLAME_SYMBOLS;
}

const char *finding_blame_text(const struct finding *f, char out[BLAME_TEXT_BYTES])
{
    if (!names_engine(f->blame))
        return blame_texts[f->blame];
    (void)snprintf(out, BLAME_TEXT_BYTES, "%s%s", blame_texts[f->blame],
                   f->blame_engine != NULL ? f->blame_engine : "?");
    return out;
}

const char *finding_fault_text(const struct finding *f, char out[BLAME_TEXT_BYTES])
{
    static const char *const parts[FINDING_PARTS] = {
        [PART_UNDECIDED] = ": the file or our reader",
        [PART_READER] = ": our reader",
        [PART_FILE] = ": the file",
    };
    char blame[BLAME_TEXT_BYTES];
    const char *part = f->facts.part < FINDING_PARTS ? parts[f->facts.part] : NULL;
    const bool of_symbols = f->blame == BLAME_SYMBOLS || f->blame == BLAME_SYMBOLS_SHARED;
    if (part == NULL || !of_symbols)
        return finding_blame_text(f, out);
    (void)snprintf(out, BLAME_TEXT_BYTES, "%.90s%s", finding_blame_text(f, blame), part);
    return out;
}

const char *finding_blame_stored(const struct finding *f, char out[BLAME_TEXT_BYTES])
{
    return f->blame == BLAME_SYMBOLS_SHARED ? STORED_SHARED : finding_blame_text(f, out);
}

void finding_blame_parse(const char *text, struct finding *f)
{
    f->blame = text_equal(text, STORED_SHARED) ? BLAME_SYMBOLS_SHARED : BLAME_UNKNOWN;
    f->blame_engine = NULL;
    for (int i = BLAME_UNKNOWN + 1; text != NULL && i < BLAME_COUNT; i++) {
        const size_t bytes = strlen(blame_texts[i]);
        const bool named = names_engine((enum blame)i);
        if (named ? strncmp(text, blame_texts[i], bytes) != 0 : strcmp(text, blame_texts[i]) != 0)
            continue;
        f->blame = (enum blame)i;
        f->blame_engine = named ? text + bytes : NULL;
    }
}

const struct finding *finding_deciding(const struct finding *findings, uint32_t count)
{
    const struct finding *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct finding *f = &findings[i];
        if (f->fails &&
            (first == NULL || (f->thread_id == first->thread_id && f->row < first->row)))
            first = f;
    }
    return first;
}

static bool is_of_symbols(const struct finding *f)
{
    return f->blame == BLAME_SYMBOLS_SHARED && f->cause != CAUSE_SYMBOLS_MISSING &&
           f->cause != CAUSE_SYMBOLS_MISMATCH && f->frame_a >= 0 && f->level != LEVEL_PHYSICAL;
}

static bool is_of_step(const struct finding *f)
{
    return f->blame == BLAME_WALK && f->cause == CAUSE_WRONG_STEP;
}

static const struct finding *second_of(const struct finding *findings, uint32_t count,
                                       const struct finding *first)
{
    const struct finding *second = NULL;
    if (first == NULL || (!is_of_symbols(first) && !is_of_step(first)))
        return NULL;
    const bool of_step = is_of_symbols(first);
    for (uint32_t i = 0; i < count; i++) {
        const struct finding *f = &findings[i];
        if (f->fails && f->thread_id == first->thread_id &&
            (of_step ? is_of_step(f) : is_of_symbols(f)) &&
            (second == NULL || f->row < second->row))
            second = f;
    }
    return second;
}

void findings_deciding(const struct finding *findings, uint32_t count, const char *reason,
                       const struct finding *out[FINDINGS_DECIDING])
{
    const struct finding *first = finding_deciding(findings, count), *beyond = NULL;
    const bool accepted =
        reason != NULL && strncmp(reason, KNOWN_BEYOND, strlen(KNOWN_BEYOND)) == 0;
    for (uint32_t i = 0; accepted && first != NULL && i < count && beyond == NULL; i++)
        if (findings[i].fails && findings[i].cause != first->cause)
            beyond = &findings[i];
    out[0] = beyond != NULL ? beyond : first;
    out[1] = beyond != NULL ? NULL : second_of(findings, count, first);
}

/* The rows that a finding covers, as numbers that no other thread has. */
struct rows {
    uint64_t first, end;
};

static int by_first(const void *a, const void *b)
{
    const uint64_t x = ((const struct rows *)a)->first, y = ((const struct rows *)b)->first;
    return (x > y) - (x < y);
}

uint32_t finding_places(const struct finding *findings, uint32_t count, finding_kind_fn *kinds,
                        const void *context)
{
    struct rows *rows = calloc((size_t)count + 1, sizeof *rows);
    uint32_t failing = 0, places = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; rows != NULL && i < count; i++) {
        const struct finding *f = &findings[i];
        const uint64_t first = (uint64_t)f->thread_id << 32 | f->row;
        if (f->fails && (kinds == NULL || kinds(context, f)))
            rows[failing++] = (struct rows){first, first + 1 + f->facts.more};
    }
    array_sort(rows, failing, sizeof *rows, by_first);
    for (uint32_t i = 0; i < failing; i++) {
        const uint64_t first = rows[i].first > end ? rows[i].first : end;
        if (rows[i].end > first)
            places += (uint32_t)(rows[i].end - first);
        end = rows[i].end > end ? rows[i].end : end;
    }
    free(rows);
    return places;
}

struct finding finding_copy(const struct finding *f, finding_text_fn *copy, void *context)
{
    struct finding out = *f;
#define COPY_TEXT(NAME) out.NAME = copy(context, f->NAME);
#define COPY_FACT(NAME) out.facts.NAME = copy(context, f->facts.NAME);
#define COPY_NUMBER(TYPE, NAME)
    FINDING_TEXTS(COPY_TEXT)
    FINDING_FACTS(COPY_FACT, COPY_NUMBER)
#undef COPY_TEXT
#undef COPY_FACT
#undef COPY_NUMBER
    return out;
}

const char *finding_level_name(enum finding_level level)
{
    return level_names[level];
}

const char *cause_name(enum cause cause)
{
    return cause_names[cause];
}

const char *verdict_name(enum verdict verdict)
{
    return verdict_names[verdict];
}
