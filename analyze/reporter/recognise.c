/* Which ways are asked for, and in which order; see recognise.h. */
#include "reporter/recognise.h"

#include "base/array.h"

static bool is_sound(const struct recognition *in)
{
    return in->given.count == in->truth.count && places_common(in) == in->given.count;
}

bool recognise(const struct recognition *in, struct recognised *out)
{
    /* What does not change where the frames are, then how each frame is written, then which frames
     * there are. */
    static const struct {
        enum reporter_mechanism mechanism;
        recognise_fn *is;
    } ways[] = {
        {MECHANISM_WRONG_BUILD, recognise_wrong_build},
        {MECHANISM_LOOKUP_ADDRESS, recognise_lookup},
        {MECHANISM_OTHER_SYMBOLS, recognise_other_symbols},
        {MECHANISM_SOUND, NULL},
        {MECHANISM_ABSOLUTE, recognise_absolute},
        {MECHANISM_PREFERRED_BASE, recognise_preferred},
        {MECHANISM_LOW_32_BITS, recognise_low_32},
        {MECHANISM_WRONG_MODULES, recognise_modules},
        {MECHANISM_SHIFTED, recognise_shifted},
        {MECHANISM_OTHER_THREAD, recognise_thread},
        {MECHANISM_REVERSED, recognise_reversed},
        {MECHANISM_INLINES, recognise_inlines},
        {MECHANISM_DUPLICATED, recognise_duplicated},
        {MECHANISM_FRAME_POINTERS, recognise_chain},
        {MECHANISM_DROPPED, recognise_missing}, /* or truncated, as it says */
        {MECHANISM_HANDLER, recognise_handler},
        {MECHANISM_INVENTED, recognise_invented},
    };
    *out = (struct recognised){.mechanism = MECHANISM_EMPTY};
    if (in->given.count == 0)
        return true;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        *out = (struct recognised){.mechanism = ways[i].mechanism};
        if (ways[i].is == NULL ? is_sound(in) : ways[i].is(in, out))
            return true;
    }
    *out = (struct recognised){.mechanism = MECHANISM_UNEXPLAINED, .first = places_common(in)};
    return true;
}
