/* See failures_words.h. */
#include "study/failures_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

/* What a stack does wrong at the first place where it is wrong. */
enum shape {
    SHAPE_LACKS,
    SHAPE_EXTRA,
    SHAPE_ADDRESS,
    SHAPE_RETURN, /* the same address, of another kind */
    SHAPE_INTERRUPTED,
    SHAPE_FUNCTION,
    SHAPE_LINE,
    SHAPES
};

/* After the name of an engine; EITHER: which of two is right is not known. */
static const struct {
    const char *truth, *before, *after, *either; /* BEFORE and AFTER: around the name of another */
} words[SHAPES] = {
    [SHAPE_LACKS] = {"lacks a frame that ran", "lacks a frame that ", " has",
                     "only one has a frame"},
    [SHAPE_EXTRA] = {"has a frame that did not run", "has a frame that ", " has not",
                     "only one has a frame"},
    [SHAPE_ADDRESS] = {"has another address than ran", "has another address than ", "",
                       "their addresses differ"},
    [SHAPE_RETURN] = {"has a return address, not an interrupted one",
                      "has a return address, not the interrupted one that ", " has",
                      "only one has a return address"},
    [SHAPE_INTERRUPTED] = {"has an interrupted address, not a return address",
                           "has an interrupted address, not the return address that ", " has",
                           "only one has a return address"},
    [SHAPE_FUNCTION] = {"names another function than ran", "names another function than ", "",
                        "their functions differ"},
    [SHAPE_LINE] = {"gives another line than ran", "gives another line than ", "",
                    "their lines differ"},
};

static enum shape shape_of(const struct finding *f, bool swapped)
{
    static const enum shape levels[] = {SHAPE_ADDRESS, SHAPE_FUNCTION, SHAPE_LINE};
    if (f->frame_a < 0)
        return swapped ? SHAPE_EXTRA : SHAPE_LACKS;
    if (f->frame_b < 0)
        return swapped ? SHAPE_LACKS : SHAPE_EXTRA;
    if (f->facts.kinds != KINDS_ALIKE)
        return (f->facts.kinds == KINDS_RETURN) != swapped ? SHAPE_RETURN : SHAPE_INTERRUPTED;
    return levels[f->level];
}

/* What a walk was given is wrong, not the walk. */
bool failure_is_of_input(const struct finding *f)
{
    return f->blame == BLAME_RECORD || f->blame == BLAME_DUMP_READER;
}

/* " (truncated)": the cause, where one is known; of a wrong step also the unwind code. */
static const char *cause_text(const struct finding *f, struct arena *keep)
{
    if (f->cause == CAUSE_UNEXPLAINED || f->cause == CAUSE_NONE)
        return "";
    const char *code = f->cause == CAUSE_WRONG_STEP ? f->facts.left_by : NULL;
    if (code != NULL && failure_is_of_input(f))
        return ""; /* the walks part since they were given different stacks */
    if (code != NULL)
        return arena_printf(keep, " (wrong step by %.*s)", (int)strcspn(code, ","), code);
    char *text = arena_printf(keep, " (%s)", cause_name(f->cause));
    for (char *c = text; c != NULL && *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    return text;
}

/* A module's identity is wrong in what an engine was given. */
static bool is_of_identity(const struct finding *f)
{
    return f->cause == CAUSE_SYMBOLS_MISMATCH && failure_is_of_input(f);
}

const char *failure_module(const struct finding *f)
{
    const bool of_symbols = f->cause == CAUSE_SYMBOLS_MISSING || f->cause == CAUSE_SYMBOLS_MISMATCH;
    const bool stated = is_of_identity(f) || (of_symbols && f->facts.file != NULL);
    return stated && f->facts.module != NULL ? f->facts.module : f->module;
}

const char *failure_file(const struct finding *f, struct arena *keep)
{
    if (f->facts.file == NULL || f->facts.sought == NULL)
        return f->facts.flaw != NULL ? f->facts.file : NULL;
    return arena_printf(keep, "%s, looked for in %s", f->facts.file, f->facts.sought);
}

/* Walks and names are only as good as the places of modules. */
static const char *sentence_of_places(const struct finding *f, const char *input,
                                      struct arena *keep)
{
    static const char so[] = "so walks end early and names are wrong";
    const int64_t shift = f->facts.shift;
    if (shift == 0)
        return arena_printf(keep, "%s has modules at other addresses than the process had, %s",
                            input, so);
    return arena_printf(keep, "%s has modules 0x%" PRIx64 " bytes too %s, %s", input,
                        (uint64_t)(shift > 0 ? shift : -shift), shift > 0 ? "high" : "low", so);
}

static const char *sentence_of_finding(const struct finding *f, const char *place,
                                       struct arena *keep)
{
    const char *against = f->against_truth ? NULL : text_or_empty(f->against);
    const bool swapped = against != NULL && text_equal(f->wrong, against);
    const char *engine = swapped ? against : text_or_empty(f->engine);
    const char *other = swapped ? f->engine : against;
    const char *cause = cause_text(f, keep), *in = place != NULL ? ", in " : "";
    const enum shape shape = shape_of(f, swapped);
    const char *input = f->blame == BLAME_RECORD ? "the record" : "the dump reader";
    if (f->cause == CAUSE_RECORD_WRONG)
        return "the record contradicts itself";
    if (is_of_identity(f))
        return arena_printf(keep,
                            "%s is wrong: it states another PDB (GUID, age) for %s than that "
                            "image itself, which is the one that ran (same code id)",
                            input, place != NULL ? place : "a module");
    if (failure_is_of_input(f) && f->facts.input == INPUT_PLACES)
        return sentence_of_places(f, input, keep);
    if (f->facts.file != NULL && place != NULL)
        return arena_printf(keep, "%s has no symbols%s%s%s", place,
                            f->facts.flaw != NULL ? ": " : "", text_or_empty(f->facts.flaw),
                            text_or_empty(cause));
    if (f->frame_a < 0 && f->frame_b < 0)
        return arena_printf(keep, "%s has no stack%s", engine, text_or_empty(cause));
    if (against == NULL && failure_is_of_lines(f))
        return arena_printf(keep, "symbols give another line than ran%s%s", in,
                            text_or_empty(place));
    if (against == NULL)
        return arena_printf(keep, "%s %s%s%s%s", engine, words[shape].truth, in,
                            text_or_empty(place), text_or_empty(cause));
    if (f->wrong == NULL)
        return arena_printf(keep, "%s and %s disagree where the truth is silent: %s%s%s%s", engine,
                            text_or_empty(other), words[shape].either, in, text_or_empty(place),
                            text_or_empty(cause));
    return arena_printf(keep, "%s %s%s%s, where the truth is silent%s%s%s",
                        f->facts.kinds != KINDS_ALIKE && failure_is_of_input(f) ? input : engine,
                        words[shape].before, text_or_empty(other), words[shape].after, in,
                        text_or_empty(place), text_or_empty(cause));
}

const char *failure_place(const char *module, const char *variant, struct arena *keep)
{
    char *out = module != NULL ? arena_string(keep, module) : NULL;
    const size_t bytes = strlen(variant);
    for (char *c = out; c != NULL && *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    for (char *at = out; at != NULL && bytes > 0 && *at != '\0'; at++)
        if ((*at == '-' || *at == '_') && strncmp(at + 1, variant, bytes) == 0 &&
            (at[1 + bytes] == '.' || at[1 + bytes] == '\0')) {
            at[1] = '*';
            memmove(at + 2, at + 1 + bytes, strlen(at + 1 + bytes) + 1);
            break;
        }
    return out;
}

bool failure_is_of_lines(const struct finding *f)
{
    return f->level == LEVEL_LINE &&
           (f->blame == BLAME_SYMBOLS || f->blame == BLAME_SYMBOLS_SHARED);
}

/* Of another program's stack the reason says in words what is wrong, and this is its group. */
bool failure_is_by_finding(const struct diff_case *c)
{
    const bool other = c->finding != NULL && c->reason != NULL &&
                       engine_kind_of(c->finding->engine) == ENGINE_KIND_OTHER;
    return c->finding != NULL && !other && c->verdict != VERDICT_ERROR &&
           c->verdict != VERDICT_XPASS;
}

const char *failure_sentence(const struct diff_case *c, const char *place, struct arena *keep)
{
    if (c->verdict == VERDICT_XPASS)
        return "right, although accepted as wrong";
    if (failure_is_by_finding(c))
        return sentence_of_finding(c->finding, place, keep);
    return c->reason != NULL ? c->reason : "no reason was stored";
}

/* What is broken, as far as F shows: cases with the same mechanism are one problem, wherever and
 * however it shows. */
const char *failure_mechanism(const struct finding *f, const char *sentence, const char *place,
                              struct arena *keep)
{
    char blame[BLAME_TEXT_BYTES];
    const char *cause = cause_text(f, keep);
    const char *module = place != NULL ? place : "";
    if (f->cause == CAUSE_RECORD_WRONG || (f->frame_a < 0 && f->frame_b < 0))
        return sentence;
    if (f->cause == CAUSE_LOOKUP_ADDRESS)
        return cause;
    if (failure_is_of_input(f))
        return arena_string(keep, finding_blame_text(f, blame));
    if (f->cause == CAUSE_SYMBOLS_MISSING || f->cause == CAUSE_SYMBOLS_MISMATCH)
        return cause;
    if (failure_is_of_lines(f))
        return arena_printf(keep, "lines, in %s", module);
    if (f->blame == BLAME_SYMBOLS || f->blame == BLAME_SYMBOLS_SHARED)
        return arena_printf(keep, "names%s, in %s", text_or_empty(cause), module);
    if (f->cause == CAUSE_WRONG_STEP)
        return cause;
    return sentence;
}

const char *failure_since_text(const struct case_history *since, struct arena *keep)
{
    const char *commit = text_or_empty(since->failing_commit);
    if (since->failing_run == 0)
        return NULL;
    const char *text =
        arena_printf(keep, "run %" PRIu64 "%s%.12s%s", since->failing_run,
                     commit[0] != '\0' ? " (" : "", commit, commit[0] != '\0' ? ")" : "");
    if (text == NULL || since->good_run == 0 || since->good_elsewhere)
        return text;
    return arena_printf(keep, "%s, run %" PRIu64 " was good", text, since->good_run);
}
