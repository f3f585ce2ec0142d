/* Frames that are written rightly: some are missing, some are too many, or they are of another
 * stack. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "reporter/recognise.h"

enum { HANDLER_FRAMES_MAX = 24, THREADS_MAX = 4096 };

/* COUNT frames of the given stack from GIVEN on are the first ones of the true one; both have as
 * many. */
static bool begins_as_truth(const struct recognition *in, uint32_t given, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!place_same(in, &in->given.at[given + i], &in->truth.at[i]))
            return false;
    return true;
}

bool recognise_reversed(const struct recognition *in, struct recognised *out)
{
    const uint32_t count = in->given.count;
    (void)out;
    if (count != in->truth.count || count < 2)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!place_same(in, &in->given.at[i], &in->truth.at[count - 1 - i]))
            return false;
    return true;
}

bool recognise_inlines(const struct recognition *in, struct recognised *out)
{
    uint32_t at = 0;
    bool any = false;
    for (uint32_t i = 0; in->world->inlines != NULL && i < in->truth.count; i++) {
        const struct place *truth = &in->truth.at[i];
        const uint32_t inlines = in->world->inlines(in->world->self, truth);
        for (uint32_t k = 0; k <= inlines; k++)
            if (at + k >= in->given.count || !place_same(in, &in->given.at[at + k], truth))
                return false;
        if (inlines > 0 && !any)
            out->first = at;
        any |= inlines > 0;
        at += inlines + 1;
    }
    return any && at == in->given.count;
}

/* Runs of the same frame are longer than they should be. */
static bool has_longer_runs(const struct recognition *in, struct recognised *out)
{
    uint32_t at = 0;
    bool any = false;
    for (uint32_t i = 0; i < in->truth.count;) {
        const struct place *truth = &in->truth.at[i];
        uint32_t should = 0, is = 0;
        while (i + should < in->truth.count && in->truth.at[i + should].va == truth->va)
            should++;
        while (at + is < in->given.count && place_same(in, &in->given.at[at + is], truth))
            is++;
        if (is < should)
            return false;
        if (is > should && !any) {
            out->first = at + should;
            out->words =
                arena_printf(in->keep, "frame %u is there %u times in place of %u", at, is, should);
        }
        any |= is > should;
        at += is;
        i += should;
    }
    return any && at == in->given.count;
}

bool recognise_duplicated(const struct recognition *in, struct recognised *out)
{
    const uint32_t whole = in->truth.count;
    if (has_longer_runs(in, out))
        return true;
    if (whole == 0 || in->given.count <= whole || in->given.count % whole != 0)
        return false;
    for (uint32_t at = 0; at < in->given.count; at += whole)
        if (!begins_as_truth(in, at, whole))
            return false;
    out->first = whole;
    out->words =
        arena_printf(in->keep, "the whole stack is there %u times", in->given.count / whole);
    return true;
}

bool recognise_chain(const struct recognition *in, struct recognised *out)
{
    if (in->world->chain == NULL || places_common(in) == in->given.count)
        return false; /* the front of the true stack skips no caller */
    const struct places chain = in->world->chain(in->world->self);
    if (chain.count != in->given.count || chain.count < 2)
        return false;
    for (uint32_t i = 0; i < chain.count; i++)
        if (!place_same(in, &in->given.at[i], &chain.at[i]))
            return false;
    out->first = places_common(in);
    return true;
}

/* ---- missing frames ----------------------------------------------------------------------- */

static bool is_a_limit(uint32_t count)
{
    static const uint32_t usual[] = {16, 20, 32, 50, 62, 63, 64, 100, 127, 128, 255, 256, 512};
    for (size_t i = 0; i < COUNT_OF(usual); i++)
        if (usual[i] == count)
            return true;
    return false;
}

static void say_truncated(const struct recognition *in, uint32_t frames, struct recognised *out)
{
    out->mechanism = MECHANISM_TRUNCATED;
    out->first = frames;
    out->variant =
        is_a_limit(frames) ? arena_printf(in->keep, "at a limit of %u frames", frames) : NULL;
    out->words = arena_printf(in->keep, "after %u of %u frames", frames, in->truth.count);
}

/* The positions of the true stack that the given one lacks, in MISSING; their number, 0 when the
 * given stack is no part of the true one. */
static uint32_t find_missing(const struct recognition *in, uint32_t *missing)
{
    uint32_t at = 0, count = 0;
    for (uint32_t i = 0; i < in->truth.count; i++)
        if (at < in->given.count && place_same(in, &in->given.at[at], &in->truth.at[i]))
            at++;
        else
            missing[count++] = i;
    return at == in->given.count ? count : 0;
}

/* Missing are all positions START, START + STEP, ... */
static bool is_every(const uint32_t *missing, uint32_t count, uint32_t whole)
{
    if (count < 2)
        return false;
    const uint32_t step = missing[1] - missing[0];
    if (step < 2 || (count == 2 && step > 4) || missing[0] >= step ||
        missing[count - 1] + step < whole)
        return false;
    for (uint32_t i = 1; i < count; i++)
        if (missing[i] - missing[i - 1] != step)
            return false;
    return true;
}

static const char *missing_words(const struct recognition *in, const uint32_t *missing,
                                 uint32_t count)
{
    const uint32_t whole = in->truth.count;
    if (missing[count - 1] == count - 1)
        return count == 1 ? "the first frame"
                          : arena_printf(in->keep, "the first %u frames", count);
    if (is_every(missing, count, whole))
        return arena_printf(in->keep, "one in every %u frames", missing[1] - missing[0]);
    if (count == 1)
        return missing[0] == whole - 1
                   ? "the last frame"
                   : arena_printf(in->keep, "frame %u of %u", missing[0], whole);
    return arena_printf(in->keep, "%u of %u frames, first frame %u", count, whole, missing[0]);
}

bool recognise_missing(const struct recognition *in, struct recognised *out)
{
    const uint32_t common = places_common(in);
    if (in->given.count >= in->truth.count)
        return false;
    uint32_t *missing = ARENA_ARRAY(in->keep, in->truth.count, uint32_t);
    const uint32_t count = missing != NULL ? find_missing(in, missing) : 0;
    if (count == 0)
        return false;
    if (common == in->given.count && (count > 1 || is_a_limit(common))) {
        say_truncated(in, common, out);
        return true;
    }
    out->first = missing[0] < in->given.count ? missing[0] : in->given.count;
    out->words = missing_words(in, missing, count);
    return true;
}

/* ---- frames too many ---------------------------------------------------------------------- */

/* The address of a given frame in the dump; false: its module is not loaded. */
static bool va_of(const struct recognition *in, const struct place *given, uint64_t *out)
{
    for (uint32_t m = 0; given->module != NULL && m < in->world->module_count; m++) {
        const struct module *module = in->world->modules[m];
        if (!module_names_equal(given->module, module->name) ||
            given->offset >= module->image_bytes)
            continue;
        *out = module->base_va + given->offset;
        return true;
    }
    *out = given->offset;
    return given->module == NULL && !given->no_offset;
}

enum extra_kind { EXTRA_CODE, EXTRA_STALE, EXTRA_NO_CODE };

/* What a frame is that the true stack does not have. */
static enum extra_kind extra_of(const struct recognition *in, const struct place *given,
                                uint64_t *slot)
{
    const struct crash_world *w = in->world;
    uint64_t va;
    *slot = 0;
    if (!va_of(in, given, &va))
        return EXTRA_NO_CODE;
    *slot = w->stack_slot != NULL ? w->stack_slot(w->self, va) : 0;
    if (*slot != 0)
        return EXTRA_STALE;
    return given->module != NULL && (w->is_code == NULL || w->is_code(w->self, va)) ? EXTRA_CODE
                                                                                    : EXTRA_NO_CODE;
}

/* After the handler's frames the true stack follows, to its end or to a limit. */
bool recognise_handler(const struct recognition *in, struct recognised *out)
{
    uint64_t slot;
    for (uint32_t top = 1; top <= HANDLER_FRAMES_MAX && top < in->given.count; top++) {
        const uint32_t rest = in->given.count - top;
        if (extra_of(in, &in->given.at[top - 1], &slot) != EXTRA_CODE)
            return false;
        if ((rest != in->truth.count && (rest < 2 || rest > in->truth.count)) ||
            !begins_as_truth(in, top, rest))
            continue;
        out->words =
            rest == in->truth.count
                ? arena_printf(in->keep, "the crash begins at frame %u", top)
                : arena_printf(in->keep, "the crash begins at frame %u, and ends after %u frames",
                               top, in->given.count);
        return true;
    }
    return false;
}

static void say_extra(const struct recognition *in, uint32_t at, uint32_t extras,
                      struct recognised *out)
{
    const struct place *given = &in->given.at[at];
    uint64_t slot;
    const enum extra_kind kind = extra_of(in, given, &slot);
    const char *more = extras > 1 ? arena_printf(in->keep, ", and %u more", extras - 1) : "";
    out->first = at;
    out->variant = kind == EXTRA_STALE ? "left on the stack" : NULL;
    out->words =
        kind == EXTRA_STALE
            ? arena_printf(in->keep, "frame %u is a value left on the stack at 0x%" PRIx64 "%s", at,
                           slot, more)
            : arena_printf(in->keep, "frame %u is %s%s", at,
                           kind == EXTRA_CODE ? "code, and nothing on the stack returns to it"
                                              : "no code",
                           more);
}

/* The true stack with frames added: the number of these, *FIRST is one. 0: it is not. */
static uint32_t added(const struct recognition *in, uint32_t *first)
{
    uint32_t at = 0, extras = 0;
    for (uint32_t i = 0; i < in->given.count; i++) {
        if (at < in->truth.count && place_same(in, &in->given.at[i], &in->truth.at[at])) {
            at++;
            continue;
        }
        if (extras++ == 0)
            *first = i;
    }
    return at == in->truth.count && at >= 1 ? extras : 0;
}

/* The true stack with at most a third of its frames replaced. */
static uint32_t replaced(const struct recognition *in, uint32_t *first)
{
    uint32_t extras = 0;
    if (in->given.count != in->truth.count || in->given.count < 2)
        return 0;
    for (uint32_t i = 0; i < in->given.count; i++)
        if (!place_same(in, &in->given.at[i], &in->truth.at[i]) && extras++ == 0)
            *first = i;
    return extras == 1 || extras <= in->given.count / 3 ? extras : 0;
}

bool recognise_invented(const struct recognition *in, struct recognised *out)
{
    uint32_t first = 0, extras = added(in, &first);
    if (extras == 0)
        extras = replaced(in, &first);
    if (extras > 0)
        say_extra(in, first, extras, out);
    return extras > 0;
}

/* ---- other stacks ------------------------------------------------------------------------- */

bool recognise_thread(const struct recognition *in, struct recognised *out)
{
    struct recognition other = *in;
    uint32_t id = 0;
    for (uint32_t t = 0; in->world->thread != NULL && t < THREADS_MAX &&
                         in->world->thread(in->world->self, t, &id, &other.truth);
         t++) {
        const uint32_t common = places_common(&other);
        if (common == 0 || common != in->given.count || common != other.truth.count)
            continue;
        out->first = places_common(in);
        out->words = arena_printf(in->keep, "it is thread %u", id);
        return true;
    }
    return false;
}
