/* The right frames, each written in a wrong way: one formula gives every offset of the given stack
 * from the true one. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "model/stack.h"
#include "reporter/recognise.h"

enum { GRANULE = 0x10000 }; /* bases are multiples of it */

/* What FORMULA writes for a frame; false: it cannot write one. */
typedef bool formula_fn(const struct recognition *in, const struct place *truth, uint64_t *out);

/* True when every frame is as FORMULA writes it, and at least one is not as it should be. */
static bool all_by(const struct recognition *in, formula_fn *formula, struct recognised *out)
{
    bool differs = false;
    if (in->given.count != in->truth.count)
        return false;
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i], *truth = &in->truth.at[i];
        uint64_t offset;
        if (truth->image == NULL) {
            if (!place_same(in, given, truth))
                return false;
            continue;
        }
        if (given->no_offset || !formula(in, truth, &offset) || given->offset != offset ||
            (given->module != NULL && !module_names_equal(given->module, truth->module)))
            return false;
        if (!differs && given->offset != truth->offset)
            out->first = i;
        differs |= given->offset != truth->offset;
    }
    return differs;
}

/* ---- where an address is looked up -------------------------------------------------------- */

static bool is_stepped(const struct recognition *in, uint32_t step, bool returns, bool interrupted)
{
    bool any = false;
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i], *truth = &in->truth.at[i];
        const bool stepped = truth->interrupted ? interrupted : returns;
        if (given->no_offset || given->interrupted != truth->interrupted ||
            given->offset + (stepped ? step : 0) != truth->offset ||
            !module_names_equal(given->module, truth->module))
            return false;
        any |= stepped;
    }
    return any;
}

/* The addresses themselves are lower. */
static bool is_stepped_back(const struct recognition *in, struct recognised *out)
{
    static const struct {
        bool returns, interrupted;
        const char *words;
    } ways[] = {
        {true, false, "return addresses are lower by one call, and will be stepped back again"},
        {false, true, "the interrupted address was stepped back as if it were a return address"},
        {true, true, "all addresses were stepped back, the interrupted one too"},
    };
    static const uint32_t steps[] = {1, 2, 4}; /* x86 and x64; Thumb; arm64 */
    for (size_t w = 0; w < COUNT_OF(ways); w++)
        for (size_t s = 0; s < COUNT_OF(steps); s++)
            if (is_stepped(in, steps[s], ways[w].returns, ways[w].interrupted)) {
                out->words = ways[w].words;
                out->first = ways[w].interrupted ? 0 : 1;
                return true;
            }
    return false;
}

/* The addresses are right, and the stack says to look them up elsewhere. The first frame is
 * interrupted unless it says otherwise, so that alone proves nothing. */
static bool is_marked_wrongly(const struct recognition *in, struct recognised *out)
{
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i], *truth = &in->truth.at[i];
        if (given->no_offset || given->offset != truth->offset ||
            given->interrupted == truth->interrupted || (i == 0 && given->interrupted))
            continue;
        out->first = i;
        out->words = given->interrupted ? "a return address is looked up without the step back"
                                        : "the interrupted address is looked up one byte too early";
        return true;
    }
    return false;
}

/* Names are those of the address without the step back. */
static bool is_named_without_step(const struct recognition *in, struct recognised *out)
{
    bool any = false;
    for (uint32_t i = 0; in->world->named != NULL && i < in->given.count; i++) {
        const struct place *given = &in->given.at[i], *truth = &in->truth.at[i];
        if (given->function == NULL)
            continue;
        const enum named_as as = in->world->named(in->world->self, truth, given->function);
        if (as == NAMED_OTHERWISE)
            return false;
        if (as == NAMED_WITHOUT_STEP && !any)
            out->first = i;
        any |= as == NAMED_WITHOUT_STEP;
    }
    if (any)
        out->words = "a function is that of the return address, one byte after the call";
    return any;
}

static bool same_but_names(const struct recognition *in)
{
    if (in->given.count != in->truth.count)
        return false;
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i];
        if (!(given->no_offset ? module_names_equal(given->module, in->truth.at[i].module)
                               : place_same(in, given, &in->truth.at[i])))
            return false;
    }
    return true;
}

bool recognise_lookup(const struct recognition *in, struct recognised *out)
{
    if (in->given.count != in->truth.count)
        return false;
    return is_stepped_back(in, out) ||
           (same_but_names(in) && (is_marked_wrongly(in, out) || is_named_without_step(in, out)));
}

bool recognise_other_symbols(const struct recognition *in, struct recognised *out)
{
    if (in->world->named == NULL || !same_but_names(in))
        return false;
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i];
        if (given->function == NULL ||
            in->world->named(in->world->self, &in->truth.at[i], given->function) != NAMED_OTHERWISE)
            continue;
        out->first = i;
        out->words = arena_printf(in->keep, "%s is no name of that address", given->function);
        return true;
    }
    return false;
}

bool recognise_wrong_build(const struct recognition *in, struct recognised *out)
{
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i];
        if (given->image == NULL ||
            (given->image->debug_id[0] == '\0' && given->image->code_id[0] == '\0'))
            continue;
        for (uint32_t m = 0; m < in->world->module_count; m++) {
            const struct module *module = in->world->modules[m];
            if (!module_names_equal(given->module, module->name))
                continue;
            if (module_same(given->image, module))
                break;
            out->first = i;
            out->words = arena_printf(
                in->keep, "%s is stated as %s, and %s ran", module->name,
                given->image->debug_id[0] != '\0' ? given->image->debug_id : given->image->code_id,
                given->image->debug_id[0] != '\0' ? module->debug_id : module->code_id);
            return true;
        }
    }
    return false;
}

/* ---- what is subtracted ------------------------------------------------------------------- */

static bool absolute(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    (void)in;
    *out = truth->va;
    return true;
}

bool recognise_absolute(const struct recognition *in, struct recognised *out)
{
    return all_by(in, absolute, out);
}

static bool preferred_of(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    return in->world->preferred_base != NULL &&
           in->world->preferred_base(in->world->self, truth->image, out);
}

static bool less_preferred(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    if (!preferred_of(in, truth, out))
        return false;
    *out = truth->va - *out;
    return true;
}

static bool less_preferred_32(const struct recognition *in, const struct place *truth,
                              uint64_t *out)
{
    if (!less_preferred(in, truth, out))
        return false;
    *out &= UINT32_MAX;
    return true;
}

static bool on_preferred(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    if (!preferred_of(in, truth, out))
        return false;
    *out += truth->offset;
    return true;
}

bool recognise_preferred(const struct recognition *in, struct recognised *out)
{
    if (all_by(in, less_preferred, out) || all_by(in, less_preferred_32, out))
        out->words = "the preferred base was subtracted from addresses of the loaded image";
    else if (all_by(in, on_preferred, out))
        out->words = "addresses are those of an image at its preferred base";
    return out->words != NULL;
}

static bool low_32(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    (void)in;
    *out = truth->va & UINT32_MAX;
    return true;
}

static bool extended_32(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    const uint64_t low = truth->va & UINT32_MAX;
    (void)in;
    *out = low >> 31 != 0 ? low | ~(uint64_t)UINT32_MAX : low;
    return true;
}

bool recognise_low_32(const struct recognition *in, struct recognised *out)
{
    if (all_by(in, low_32, out))
        return true;
    if (!all_by(in, extended_32, out))
        return false;
    out->words = "the low 32 bits of addresses are there, with the sign in the upper half";
    return true;
}

static bool file_offset(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    uint32_t rva, foff;
    if (in->world->section == NULL ||
        !in->world->section(in->world->self, truth->image, truth->offset, &rva, &foff))
        return false;
    *out = truth->offset - rva + foff;
    return true;
}

static bool section_offset(const struct recognition *in, const struct place *truth, uint64_t *out)
{
    uint32_t rva, foff;
    if (in->world->section == NULL ||
        !in->world->section(in->world->self, truth->image, truth->offset, &rva, &foff))
        return false;
    *out = truth->offset - rva;
    return true;
}

/* The constant by which the offsets of a module's frames are too high, modulo 2^64: false where
 * they differ, or where fewer than two frames show it. */
static bool shift_of(const struct recognition *in, const struct module *image, uint64_t *shift)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i], *truth = &in->truth.at[i];
        if (image != NULL && truth->image != image)
            continue;
        const uint64_t now = given->offset - truth->offset;
        if (count > 0 && now != *shift)
            return false;
        *shift = now;
        count++;
    }
    return count >= 2 || (count == 1 && *shift == 0);
}

/* Frames of the same modules in the same order, each with an offset. */
static bool same_modules(const struct recognition *in)
{
    if (in->given.count != in->truth.count)
        return false;
    for (uint32_t i = 0; i < in->given.count; i++)
        if (in->given.at[i].no_offset || in->truth.at[i].image == NULL ||
            !module_names_equal(in->given.at[i].module, in->truth.at[i].module))
            return false;
    return true;
}

/* Each module's frames are shifted by a constant of their own. FIRST: a frame that is shifted;
 * GRANULAR: by multiples of GRANULE. */
static bool shifts_by_module(const struct recognition *in, uint32_t *first, uint64_t *at_first,
                             bool *granular)
{
    bool any = false;
    *granular = true;
    for (uint32_t i = 0; i < in->given.count; i++) {
        uint64_t shift = 0;
        if (!shift_of(in, in->truth.at[i].image, &shift))
            return false;
        if (shift == 0)
            continue;
        *granular &= shift % GRANULE == 0;
        if (!any) {
            *first = i;
            *at_first = shift;
        }
        any = true;
    }
    return any;
}

static const char *signed_hex(const struct recognition *in, uint64_t shift)
{
    return shift >> 63 != 0 ? arena_printf(in->keep, "-0x%" PRIx64, 0 - shift)
                            : arena_printf(in->keep, "+0x%" PRIx64, shift);
}

bool recognise_shifted(const struct recognition *in, struct recognised *out)
{
    uint64_t shift = 0;
    bool granular;
    if (all_by(in, file_offset, out)) {
        out->variant = "offsets in the file";
    } else if (all_by(in, section_offset, out)) {
        out->variant = "offsets in the section";
    } else if (same_modules(in) && shift_of(in, NULL, &shift) && shift != 0) {
        out->variant = arena_printf(in->keep, "by %s", signed_hex(in, shift));
    } else if (same_modules(in) && shifts_by_module(in, &out->first, &shift, &granular)) {
        out->variant = arena_printf(in->keep, "by %s in %s", signed_hex(in, shift),
                                    in->truth.at[out->first].module);
    }
    out->words = out->variant;
    return out->variant != NULL;
}

/* ---- the list of modules ------------------------------------------------------------------ */

/* The module of GIVEN's name that would put it where TRUTH is; NULL: none. */
static const struct module *module_that_explains(const struct recognition *in,
                                                 const struct place *given,
                                                 const struct place *truth)
{
    for (uint32_t m = 0; m < in->world->module_count; m++) {
        const struct module *module = in->world->modules[m];
        if (module_names_equal(given->module, module->name) &&
            module->base_va + given->offset == truth->va)
            return module;
    }
    return NULL;
}

/* Addresses are right if another entry of the dump's own lists is taken. */
static bool is_of_another_entry(const struct recognition *in, struct recognised *out)
{
    bool any = false;
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i], *truth = &in->truth.at[i];
        if (place_same(in, given, truth))
            continue;
        const struct module *module =
            given->no_offset || truth->va == 0 ? NULL : module_that_explains(in, given, truth);
        if (module == NULL)
            return false;
        if (!any) {
            out->first = i;
            out->words = arena_printf(
                in->keep, "frame %u is in %s; it counts from %s at 0x%" PRIx64, i,
                truth->module != NULL ? truth->module : "no module", module->name, module->base_va);
        }
        any = true;
    }
    return any;
}

/* Offsets are right, and each module is always written as the same other one. */
static bool is_swapped(const struct recognition *in, struct recognised *out)
{
    bool any = false;
    for (uint32_t i = 0; i < in->given.count; i++) {
        const struct place *given = &in->given.at[i], *truth = &in->truth.at[i];
        if (given->no_offset || truth->image == NULL || given->offset != truth->offset)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (in->truth.at[k].image == truth->image &&
                !module_names_equal(in->given.at[k].module, given->module))
                return false;
        if (module_names_equal(given->module, truth->module))
            continue;
        if (!any) {
            out->first = i;
            out->words =
                arena_printf(in->keep, "frames of %s are written as frames of %s", truth->module,
                             given->module != NULL ? given->module : "no module");
        }
        any = true;
    }
    return any;
}

/* A module's frames are off by a multiple of 64 KiB, as bases are: another base was subtracted.
 * Where all modules are off by the same, no base explains it. */
static bool is_of_another_base(const struct recognition *in, struct recognised *out)
{
    uint64_t shift = 0, all = 0;
    bool granular = false, several = false;
    if (!same_modules(in) || !shifts_by_module(in, &out->first, &shift, &granular) || !granular)
        return false;
    for (uint32_t i = 1; i < in->given.count; i++)
        several |= in->truth.at[i].image != in->truth.at[0].image;
    if (several && shift_of(in, NULL, &all))
        return false;
    const struct place *truth = &in->truth.at[out->first];
    out->words =
        arena_printf(in->keep, "%s was taken to be at 0x%" PRIx64 ", and was at 0x%" PRIx64,
                     truth->module, truth->image->base_va - shift, truth->image->base_va);
    return true;
}

bool recognise_modules(const struct recognition *in, struct recognised *out)
{
    return in->given.count == in->truth.count &&
           (is_of_another_entry(in, out) || is_swapped(in, out) || is_of_another_base(in, out));
}
