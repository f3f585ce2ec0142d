/* See managed_samples.h. */
#include "model/managed_samples.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

static const char prefix[] = "managed stacks: ";

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

const char *managed_cell_text(const struct managed_count *count, char out[MANAGED_CELL_BYTES])
{
    size_t at = (size_t)snprintf(out, MANAGED_CELL_BYTES, "%u", (unsigned)count->right);
    const char *before = " (";
    if (count->samples == 0)
        return "-";
    for (int end = 0; end < MANAGED_ENDS; end++) {
        if (count->ends[end] == 0)
            continue;
        at += (size_t)snprintf(out + at, MANAGED_CELL_BYTES - at, "%s%u%c", before,
                               (unsigned)count->ends[end], end_names[end][0]);
        before = " ";
    }
    if (before[1] == '\0')
        (void)snprintf(out + at, MANAGED_CELL_BYTES - at, ")");
    return out;
}

bool managed_phase_note(const struct managed_phase *phase, struct arena *keep,
                        struct named_version *out)
{
    const char *text = arena_string(keep, "");
    for (int mode = 0; mode < MANAGED_MODES && text != NULL; mode++) {
        const struct managed_count *count = &phase->modes[mode];
        char cell[MANAGED_CELL_BYTES];
        const char *words = managed_cell_text(count, cell);
        const char *rest = strchr(words, ' ');
        if (count->samples > 0)
            text = arena_printf(keep, "%s%s%s %u/%u%s", text, text[0] != '\0' ? ", " : "",
                                mode_names[mode], (unsigned)count->right, (unsigned)count->samples,
                                text_or_empty(rest));
    }
    if (text != NULL && phase->measured != NULL)
        text = arena_printf(keep, "%s, measured %s", text, phase->measured);
    out->name = arena_printf(keep, "%s%s", prefix, phase->name);
    out->version = text;
    return out->name != NULL && text != NULL;
}

static const char missing[] = "managed stacks";

void managed_missing_note(struct named_version *out)
{
    out->name = missing;
    out->version = "not measured before this run; bench_managed.py --keep measures them";
}

const char *managed_missing(const struct run_info *run)
{
    for (uint32_t i = 0; i < run->environment_count; i++)
        if (strcmp(run->environment[i].name, missing) == 0)
            return run->environment[i].version;
    return NULL;
}

/* Reads a number at *AT and moves past it. */
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
    if (strncmp(*at, " (", 2) != 0)
        return true;
    for (*at += 1; **at == ' ' || **at == '(';) {
        uint32_t value = 0;
        int end = 0;
        ++*at;
        if (!read_count(at, &value))
            return false;
        while (end < MANAGED_ENDS && end_names[end][0] != **at)
            end++;
        if (end == MANAGED_ENDS)
            return false;
        count->ends[end] = value;
        ++*at;
    }
    return *(*at)++ == ')';
}

static bool read_phase(const char *text, struct managed_phase *out)
{
    static const char measured[] = "measured ";
    for (const char *at = text; *at != '\0';) {
        if (strncmp(at, measured, sizeof measured - 1) == 0) {
            out->measured = at + sizeof measured - 1;
            return true;
        }
        const size_t name = strcspn(at, " ");
        const enum managed_mode mode = managed_mode_parse(at, name);
        if (mode == MANAGED_MODES || at[name] == '\0')
            return false;
        struct managed_count *count = &out->modes[mode];
        at += name + 1;
        if (!read_count(&at, &count->right) || *at++ != '/' || !read_count(&at, &count->samples) ||
            !read_ends(&at, count))
            return false;
        if (strncmp(at, ", ", 2) == 0)
            at += 2;
        else if (*at != '\0')
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
        if (strncmp(row->name, prefix, sizeof prefix - 1) != 0 || row->version == NULL)
            continue;
        memset(&out[count], 0, sizeof out[count]);
        out[count].name = row->name + sizeof prefix - 1;
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
