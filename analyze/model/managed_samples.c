/* See managed_samples.h. The text of a phase, with only the modes that were measured:
 *
 *     phase  =  [ mode { ", " mode } ] [ ", measured " day ]
 *     mode   =  name " " right "/" samples [ ends ]
 *     ends   =  " (" count letter { " " count letter } ")"
 *
 * The letter of an end is the first one of its name. */
#include "model/managed_samples.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

static const char row_missing[] = "managed stacks";  /* the row of a run that measured nothing */
static const char row_prefix[] = "managed stacks: "; /* a row of a phase, whose name follows */
static const char between_modes[] = ", ";
static const char before_day[] = "measured ";
static const char before_ends[] = " (";

static const char *const mode_names[MANAGED_MODES] = {"plain", "seeded", "copy", "in-place"};
static const char *const end_names[MANAGED_ENDS] = {"refused", "hijacked", "ended", "wrong",
                                                    "blocked"};

const char *managed_mode_name(enum managed_mode mode)
{
    return mode_names[mode];
}

enum managed_mode managed_mode_parse(const char *text, size_t bytes)
{
    int mode = 0;
    while (mode < MANAGED_MODES &&
           (strlen(mode_names[mode]) != bytes || memcmp(mode_names[mode], text, bytes) != 0))
        mode++;
    return (enum managed_mode)mode;
}

const char *managed_end_name(enum managed_end end)
{
    return end_names[end];
}

const char *managed_phase_words(const char *phase)
{
    static const struct {
        const char *phase, *words;
    } rows[] = {{"PhaseSpin", "computes"},          {"PhasePInvoke", "is in native code"},
                {"PhaseCopy", "is in the runtime"}, {"PhaseAllocate", "allocates"},
                {"PhaseThrow", "throws"},           {"PhaseJit", "compiles"},
                {"PhaseCollect", "collects"},       {"PhaseCollected", "another one collects"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].phase, phase) == 0)
            return rows[i].words;
    return phase;
}

static char letter_of(int end)
{
    return end_names[end][0];
}

/* " (66r 1h)", or "" when all are right. */
static const char *ends_text(const struct managed_count *count, char out[MANAGED_CELL_BYTES])
{
    size_t at = 0;
    for (int end = 0; end < MANAGED_ENDS; end++)
        if (count->ends[end] > 0)
            at += (size_t)snprintf(out + at, MANAGED_CELL_BYTES - at, "%s%u%c",
                                   at == 0 ? before_ends : " ", (unsigned)count->ends[end],
                                   letter_of(end));
    (void)snprintf(out + at, MANAGED_CELL_BYTES - at, "%s", at > 0 ? ")" : "");
    return out;
}

const char *managed_cell_text(const struct managed_count *count, char out[MANAGED_CELL_BYTES])
{
    char ends[MANAGED_CELL_BYTES];
    if (count->samples == 0)
        return "-";
    (void)snprintf(out, MANAGED_CELL_BYTES, "%u%s", (unsigned)count->right, ends_text(count, ends));
    return out;
}

bool managed_phase_note(const struct managed_phase *phase, struct arena *keep,
                        struct named_version *out)
{
    const char *text = arena_string(keep, "");
    for (int mode = 0; mode < MANAGED_MODES && text != NULL; mode++) {
        const struct managed_count *count = &phase->modes[mode];
        char ends[MANAGED_CELL_BYTES];
        if (count->samples > 0)
            text = arena_printf(keep, "%s%s%s %u/%u%s", text, text[0] != '\0' ? between_modes : "",
                                mode_names[mode], (unsigned)count->right, (unsigned)count->samples,
                                ends_text(count, ends));
    }
    if (text != NULL && phase->measured != NULL)
        text = arena_printf(keep, "%s%s%s%s", text, between_modes, before_day, phase->measured);
    out->name = arena_printf(keep, "%s%s", row_prefix, phase->name);
    out->version = text;
    return out->name != NULL && text != NULL;
}

void managed_missing_note(struct named_version *out)
{
    out->name = row_missing;
    out->version = "not measured before this run; bench_managed.py --keep measures them";
}

const char *managed_missing(const struct run_info *run)
{
    for (uint32_t i = 0; i < run->environment_count; i++)
        if (strcmp(run->environment[i].name, row_missing) == 0)
            return run->environment[i].version;
    return NULL;
}

/* Moves *AT past WORD; false: something else is there. */
static bool skip(const char **at, const char *word)
{
    const size_t bytes = strlen(word);
    if (strncmp(*at, word, bytes) != 0)
        return false;
    *at += bytes;
    return true;
}

static bool read_count(const char **at, uint32_t *out)
{
    const size_t digits = strspn(*at, "0123456789");
    uint64_t value = 0;
    if (!text_parse_uint(*at, digits, &value) || value > UINT32_MAX)
        return false;
    *at += digits;
    *out = (uint32_t)value;
    return true;
}

/* " (66r 1h)", or nothing. */
static bool read_ends(const char **at, struct managed_count *count)
{
    if (!skip(at, before_ends))
        return true;
    do {
        uint32_t value = 0;
        int end = 0;
        if (!read_count(at, &value))
            return false;
        while (end < MANAGED_ENDS && letter_of(end) != **at)
            end++;
        if (end == MANAGED_ENDS)
            return false;
        count->ends[end] = value;
        ++*at;
    } while (skip(at, " "));
    return skip(at, ")");
}

/* "plain 934/1000 (66r)" */
static bool read_mode(const char **at, struct managed_phase *out)
{
    const size_t bytes = strcspn(*at, " ");
    const enum managed_mode mode = managed_mode_parse(*at, bytes);
    if (mode == MANAGED_MODES)
        return false;
    struct managed_count *count = &out->modes[mode];
    *at += bytes;
    return skip(at, " ") && read_count(at, &count->right) && skip(at, "/") &&
           read_count(at, &count->samples) && read_ends(at, count);
}

static bool read_phase(const char *text, struct managed_phase *out)
{
    for (const char *at = text; *at != '\0';) {
        if (skip(&at, before_day)) {
            out->measured = at;
            return true;
        }
        if (!read_mode(&at, out) || (*at != '\0' && !skip(&at, between_modes)))
            return false;
    }
    return true;
}

uint32_t managed_phases_read(const struct run_info *run,
                             struct managed_phase out[MANAGED_PHASES_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->environment_count && count < MANAGED_PHASES_MAX; i++) {
        const struct named_version *row = &run->environment[i];
        if (strncmp(row->name, row_prefix, sizeof row_prefix - 1) != 0 || row->version == NULL)
            continue;
        memset(&out[count], 0, sizeof out[count]);
        out[count].name = row->name + sizeof row_prefix - 1;
        count += read_phase(row->version, &out[count]);
    }
    return count;
}

void managed_phases_write_json(struct json *j, const struct run_info *run)
{
    struct managed_phase phases[MANAGED_PHASES_MAX];
    const uint32_t count = managed_phases_read(run, phases);
    json_array(j);
    for (uint32_t i = 0; i < count; i++) {
        json_object(j);
        json_key_string(j, "phase", phases[i].name);
        json_key_string(j, "measured", phases[i].measured);
        for (int mode = 0; mode < MANAGED_MODES; mode++) {
            const struct managed_count *c = &phases[i].modes[mode];
            json_key(j, mode == MANAGED_IN_PLACE ? "in_place" : mode_names[mode]);
            if (c->samples == 0) {
                json_null(j);
                continue;
            }
            json_object(j);
            json_key_uint(j, "right", c->right);
            json_key_uint(j, "samples", c->samples);
            for (int end = 0; end < MANAGED_ENDS; end++)
                json_key_uint(j, end_names[end], c->ends[end]);
            json_object_end(j);
        }
        json_object_end(j);
    }
    json_array_end(j);
}
