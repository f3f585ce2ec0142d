/* See pair_judge.h. */
#include "reporter/pair_judge.h"

#include <inttypes.h>

#include "base/text.h"
#include "symbol/symbol_store.h"

enum { SIDES_MAX = 12 };

/* ---- what can be compared ----------------------------------------------------------------- */

static bool is_system(const struct place *place)
{
    return place->module != NULL && symbol_is_system_module(place->module);
}

/* The certain part of the true stack equals the front of the given one, whose other frames are all
 * in system modules: nothing of the program's own was left unseen. */
static bool is_sound_so_far(const struct crash_facts *f, struct recognition *in)
{
    struct recognised found;
    const struct recognition whole = *in;
    if (in->given.count < f->certain)
        return false;
    in->given.count = in->truth.count = f->certain;
    bool sound = recognise(in, &found) && found.mechanism == MECHANISM_SOUND;
    for (uint32_t i = f->certain; sound && i < whole.given.count; i++)
        sound = is_system(&whole.given.at[i]);
    *in = whole;
    return sound;
}

/* Asks once more without the outermost frames of both, which are not certain. */
static void recognise_certain(const struct crash_facts *f, struct recognition *in,
                              struct recognised *out)
{
    const struct recognition whole = *in;
    struct recognised cut;
    uint32_t weak = f->truth.count - f->certain;
    while (weak > 0 && in->given.count > 1 && is_system(&in->given.at[in->given.count - 1])) {
        in->given.count--;
        weak--;
    }
    in->truth.count = f->certain;
    if (recognise(in, &cut) && cut.mechanism != MECHANISM_UNEXPLAINED)
        *out = cut;
    *in = whole;
}

static void find(const struct crash_facts *f, struct recognition *in, struct recognised *out)
{
    (void)recognise(in, out);
    if (out->mechanism == MECHANISM_SOUND || f->complete)
        return;
    if (is_sound_so_far(f, in))
        *out = (struct recognised){.mechanism = MECHANISM_SOUND};
    else if (out->mechanism == MECHANISM_UNEXPLAINED)
        recognise_certain(f, in, out);
}

/* ---- both stacks side by side ------------------------------------------------------------- */

static const char *spelled(const struct place *place, struct arena *keep)
{
    if (place->no_offset)
        return arena_printf(keep, "%s!%s", place->module != NULL ? place->module : "?",
                            text_or_empty(place->function));
    return arena_printf(keep, "%s!0x%" PRIx64, place->module != NULL ? place->module : "?",
                        place->offset);
}

static const char *sides_of(const struct recognition *in, uint32_t common, struct arena *keep)
{
    const char *text = "";
    const uint32_t from = common > 0 ? common - 1 : 0;
    for (uint32_t i = from;
         i < from + SIDES_MAX && text != NULL && (i < in->given.count || i < in->truth.count); i++)
        text = arena_printf(keep, "%s%3u  %-40s %s\n", text, i,
                            i < in->given.count ? spelled(&in->given.at[i], keep) : "-",
                            i < in->truth.count ? spelled(&in->truth.at[i], keep) : "-");
    return text;
}

/* ---- the verdict -------------------------------------------------------------------------- */

static struct places copy_places(struct places from, struct arena *keep)
{
    struct place *at = ARENA_ARRAY(keep, (size_t)from.count + 1, struct place);
    for (uint32_t i = 0; at != NULL && i < from.count; i++)
        at[i] = (struct place){.module = arena_string(keep, from.at[i].module),
                               .offset = from.at[i].offset,
                               .va = from.at[i].va};
    return (struct places){at, at != NULL ? from.count : 0};
}

static const struct module *copy_module(const struct module *from, struct arena *keep)
{
    struct module *copy = from != NULL ? ARENA_NEW(keep, struct module) : NULL;
    if (copy == NULL)
        return NULL;
    *copy = *from;
    copy->name = arena_string(keep, from->name);
    copy->pdb_name = arena_string(keep, from->pdb_name);
    copy->path = copy->build_id = NULL;
    return copy;
}

/* Frames that are only names, of a module without symbols. */
static const struct module *nameless(const struct crash_facts *f, const struct recognition *in)
{
    bool named = false;
    for (uint32_t i = 0; i < in->given.count; i++)
        named |= in->given.at[i].no_offset;
    for (uint32_t i = 0; named && i < in->truth.count; i++)
        if (in->truth.at[i].image != NULL && !is_system(&in->truth.at[i]) &&
            !symbol_has_names(symbol_store_module(f->symbols, in->truth.at[i].image)))
            return in->truth.at[i].image;
    return NULL;
}

static void decide(const struct crash_facts *f, const struct recognition *in,
                   const struct recognised *found, struct reporter_row *row, struct judged *out)
{
    const bool wrong = found->mechanism != MECHANISM_SOUND;
    const struct module *names = nameless(f, in);
    row->verdict = wrong ? REPORTER_WRONG : REPORTER_SOUND;
    out->lacking = names != NULL ? names : f->lacking;
    out->lacks_pdb = names != NULL || f->lacks_pdb;
    out->lacks_system = out->lacking != NULL && symbol_is_system_module(out->lacking->name);
    if (out->lacking != NULL && (!out->lacks_system || (wrong && found->first >= f->certain))) {
        row->verdict = REPORTER_NOT_JUDGED;
        row->words = arena_printf(in->keep, "%s of %s is missing",
                                  out->lacks_pdb ? "the PDB" : "the image", out->lacking->name);
    } else if (wrong && !f->complete && found->first >= f->certain) {
        row->verdict = REPORTER_NOT_JUDGED;
        row->words = arena_printf(in->keep, "the dump's own stack is certain up to frame %u only",
                                  f->certain - 1);
    }
}

static void keep_texts(struct reporter_row *row, struct arena *keep)
{
    row->words = arena_string(keep, row->words);
    row->variant = arena_string(keep, row->variant);
    row->sides = arena_string(keep, row->sides);
}

/* Another dump may explain the whole stack, the place of the crash too, which proves more than
 * frames that are too many or missing. */
static bool may_be_of_another(const struct recognition *in, const struct recognised *found)
{
    return found->mechanism == MECHANISM_UNEXPLAINED || found->mechanism == MECHANISM_INVENTED ||
           found->mechanism == MECHANISM_HANDLER ||
           (found->mechanism == MECHANISM_DROPPED &&
            !place_same(in, &in->given.at[0], &in->truth.at[0]));
}

static void compare(const struct crash_facts *f, struct places given, struct arena *keep,
                    struct arena *scratch, struct reporter_row *row, struct judged *out)
{
    struct recognition in = {&f->world, scratch, given, f->truth};
    struct recognised found;
    row->given = given.count;
    row->frames = f->truth.count;
    row->certain = f->certain;
    find(f, &in, &found);
    row->mechanism = found.mechanism;
    row->words = found.words;
    row->variant = found.variant;
    row->first = found.first;
    decide(f, &in, &found, row, out);
    const bool unexplained = found.mechanism == MECHANISM_UNEXPLAINED;
    if (row->verdict == REPORTER_WRONG && unexplained)
        row->sides = sides_of(&in, found.first, scratch);
    if (row->verdict == REPORTER_WRONG && may_be_of_another(&in, &found))
        out->given = copy_places(given, keep);
    if (row->verdict != REPORTER_WRONG)
        row->mechanism = MECHANISM_SOUND;
    out->truth = copy_places(f->truth, keep);
    out->lacking = copy_module(out->lacking, keep);
    keep_texts(row, keep);
}

bool judge_given(const struct pair *pair, struct arena *keep, struct places *out,
                 struct reporter_row *row, struct fault *fault)
{
    struct given_file file;
    *out = (struct places){NULL, 0};
    row->verdict = REPORTER_CAPTURE_FAILED;
    row->mechanism = MECHANISM_EMPTY;
    row->words = "there is no stack";
    if (pair->given != NULL) {
        *out = pair->given->places;
    } else if (pair->stack != NULL) {
        if (given_read(pair->stack, keep, &file, fault) != ERR_NONE)
            return false;
        if (file.unreadable == NULL && file.count > 0)
            *out = file.stacks[file.suspect].places;
        row->words = file.unreadable;
    } else {
        return false;
    }
    if (out->count == 0 && row->words == NULL)
        row->words = "the stack is empty";
    if (pair->given != NULL && out->count == 0)
        row->words = "the stack is empty";
    return out->count > 0;
}

static void mark_used(const struct crash_facts *f, bool *used)
{
    const char *path;
    for (uint32_t k = 0;
         f->symbols != NULL && (path = symbol_store_named_file(f->symbols, k)) != NULL; k++)
        for (uint32_t i = 0; !used[k] && i < f->world.module_count; i++)
            used[k] = symbol_store_file_fits(f->symbols, path, f->world.modules[i]);
}

enum status judge_pair(const struct pair *pair, struct symbol_store *symbols, struct arena *keep,
                       struct arena *scratch, bool *used, struct reporter_row *row,
                       struct judged *out, struct fault *fault)
{
    struct crash_facts facts;
    struct places given;
    struct fault bad = FAULT_INIT;
    *row = (struct reporter_row){.name = pair->name, .dump = pair->dump, .stack = pair->stack};
    *out = (struct judged){.lacking = NULL};
    if (pair->dump == NULL) {
        row->verdict = REPORTER_ALONE;
        return ERR_NONE;
    }
    const bool is_given = judge_given(pair, scratch, &given, row, fault);
    if (facts_open(pair->dump, symbols, pair->thread, scratch, &facts, &bad) != ERR_NONE) {
        char text[FAULT_PATH_BYTES + 256];
        if (bad.code == ERR_MEMORY)
            return (*fault = bad).code;
        fault_describe(&bad, text, sizeof text);
        row->verdict = REPORTER_UNREADABLE;
        row->words = arena_string(keep, text);
        return fault->code;
    }
    mark_used(&facts, used);
    if (is_given) {
        compare(&facts, given, keep, scratch, row, out);
    } else { /* its stack may be beside another dump */
        out->truth = copy_places(facts.truth, keep);
        keep_texts(row, keep);
    }
    facts_close(&facts);
    return fault->code;
}
