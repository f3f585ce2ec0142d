/* See samples.h. */
#include "study/samples.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"
#include "model/metric.h"

#define COLUMN_BYTES ((uint64_t)SAMPLE_CHUNK * sizeof(uint64_t))

/* Between columns, so that those of a full chunk are not at one place of the processor's cache. */
enum { COLUMN_GAP = 8 };

_Static_assert(sizeof(struct figure_sample) % sizeof(uint64_t) == 0, "a sample is whole words");

void sample_set_init(struct sample_set *set, size_t words)
{
    *set = (struct sample_set){.words = words};
}

void sample_set_free(struct sample_set *set)
{
    if (set->spill != NULL)
        (void)fclose(set->spill);
    free(set->numbers);
    free(set->used);
    free(set->places);
    sample_set_init(set, set->words);
}

static enum status spill_fault(struct fault *fault)
{
    return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file for the times of a run");
}

static uint64_t *column_of(const struct sample_set *set, size_t word)
{
    return &set->numbers[word * ((size_t)set->room + COLUMN_GAP)];
}

/* Writes the columns that are not all 0, which are all 0 afterwards. */
static bool write_chunk(struct sample_set *set)
{
    const size_t chunk = (set->count - set->row_count) / SAMPLE_CHUNK;
    bool ok = ARRAY_ROOM(set->places, set->place_room, (chunk + 1) * set->words) &&
              fseek(set->spill, 0, SEEK_END) == 0;
    for (size_t word = 0; ok && word < set->words; word++) {
        uint64_t *column = column_of(set, word);
        set->places[chunk * set->words + word] = set->used[word] ? ++set->written : 0;
        if (!set->used[word])
            continue;
        ok = fwrite(column, sizeof *column, SAMPLE_CHUNK, set->spill) == SAMPLE_CHUNK;
        memset(column, 0, COLUMN_BYTES);
        set->used[word] = false;
    }
    return ok;
}

static enum status spill(struct sample_set *set, struct fault *fault)
{
    if (set->spill == NULL && !set->no_spill) {
        set->spill = tmpfile();
        set->no_spill = set->spill == NULL;
    }
    if (set->spill == NULL)
        return ERR_NONE;
    if (!write_chunk(set))
        return spill_fault(fault);
    set->row_count = 0;
    return ERR_NONE;
}

/* Room for one more row. */
static bool widen(struct sample_set *set)
{
    const size_t row = set->words * sizeof *set->numbers;
    const size_t room = array_next_room(set->room, (size_t)set->row_count + 1, row);
    struct sample_set wider = *set;
    if (room == 0 || set->words == 0 || room >= UINT32_MAX - COLUMN_GAP ||
        (set->used == NULL && (set->used = calloc(set->words, sizeof *set->used)) == NULL))
        return false;
    wider.room = (uint32_t)room;
    wider.numbers = calloc(room + COLUMN_GAP, row);
    for (size_t word = 0; wider.numbers != NULL && word < set->words; word++)
        if (set->used[word])
            memcpy(column_of(&wider, word), column_of(set, word),
                   set->row_count * sizeof *set->numbers);
    if (wider.numbers == NULL)
        return false;
    free(set->numbers);
    set->numbers = wider.numbers;
    set->room = wider.room;
    return true;
}

enum status sample_set_add(struct sample_set *set, const void *row, struct fault *fault)
{
    const uint64_t *numbers = row;
    if (set->row_count >= SAMPLE_CHUNK && spill(set, fault) != ERR_NONE)
        return fault->code;
    if (set->row_count == set->room && !widen(set))
        return fault_no_memory(fault, "times of a run");
    for (size_t word = 0; word < set->words; word++)
        if (numbers[word] != 0) {
            column_of(set, word)[set->row_count] = numbers[word];
            set->used[word] = true;
        }
    set->row_count++;
    set->count++;
    return ERR_NONE;
}

/* Reads COUNT numbers of a spilled chunk's column, from number FIRST on. */
static enum status read_spilled(struct sample_set *set, uint32_t chunk, size_t word, uint32_t first,
                                uint32_t count, uint64_t *out, struct fault *fault)
{
    const uint32_t place = set->places[chunk * set->words + word];
    const uint64_t at = (place - 1) * COLUMN_BYTES + first * sizeof *out;
    if (place == 0)
        memset(out, 0, count * sizeof *out);
    else if (at > LONG_MAX || fseek(set->spill, (long)at, SEEK_SET) != 0 ||
             fread(out, sizeof *out, count, set->spill) != count)
        return spill_fault(fault);
    return ERR_NONE;
}

enum status sample_set_column(struct sample_set *set, int offset, uint64_t *out,
                              struct fault *fault)
{
    const size_t word = (size_t)offset / sizeof(uint64_t);
    const uint32_t spilled = set->count - set->row_count;
    for (uint32_t at = 0; at < spilled; at += SAMPLE_CHUNK)
        if (read_spilled(set, at / SAMPLE_CHUNK, word, 0, SAMPLE_CHUNK, &out[at], fault) !=
            ERR_NONE)
            return fault->code;
    if (set->row_count > 0)
        memcpy(&out[spilled], column_of(set, word), set->row_count * sizeof *out);
    return ERR_NONE;
}

bool sample_columns_open(struct sample_set *set, struct arena *keep, struct sample_columns *out)
{
    uint64_t **const columns[] = {&out->units, &out->scenarios, &out->strata,
                                  &out->raw,   &out->other,     &out->distinct};
    const size_t room = (size_t)set->count + 1;
    *out = (struct sample_columns){.set = set, .fault = FAULT_INIT};
    out->numbers = ARENA_ARRAY(keep, room, double);
    bool has_room = out->numbers != NULL;
    for (size_t i = 0; i < COUNT_OF(columns) && has_room; i++)
        has_room = (*columns[i] = ARENA_ARRAY(keep, room, uint64_t)) != NULL;
    return has_room && sample_set_column(set, SAMPLE_UNIT, out->units, &out->fault) == ERR_NONE &&
           sample_set_column(set, SAMPLE_SCENARIO, out->scenarios, &out->fault) == ERR_NONE &&
           sample_set_column(set, SAMPLE_STRATUM, out->strata, &out->fault) == ERR_NONE;
}

enum status sample_set_number(struct sample_set *set, uint32_t at, int offset, uint64_t *out,
                              struct fault *fault)
{
    const size_t word = (size_t)offset / sizeof(uint64_t);
    const uint32_t spilled = set->count - set->row_count;
    if (at < spilled)
        return read_spilled(set, at / SAMPLE_CHUNK, word, at % SAMPLE_CHUNK, 1, out, fault);
    *out = column_of(set, word)[at - spilled];
    return ERR_NONE;
}

void sample_sort(uint64_t *numbers, size_t count)
{
    array_sort_numbers(numbers, count, sizeof *numbers);
}

static size_t distinct_when_sorted(uint64_t *numbers, size_t count)
{
    size_t found = 0;
    sample_sort(numbers, count);
    for (size_t i = 0; i < count; i++)
        found += i == 0 || numbers[i - 1] != numbers[i];
    return found;
}

/* A sort moves all numbers several times; there are few different ones. */
size_t sample_distinct(uint64_t *numbers, size_t count)
{
    struct slots slots = {0};
    bool whole = count < UINT32_MAX;
    for (uint32_t i = 0; whole && i < count; i++) {
        const uint32_t hash = hash_fold(hash_bytes(HASH_START, &numbers[i], sizeof *numbers));
        uint32_t at = hash;
        struct slot *slot = NULL;
        whole = slots_reserve(&slots, 256);
        while (whole && (slot = slots_next(&slots, hash, &at))->row != 0 &&
               numbers[slot->row - 1] != numbers[i])
            continue;
        if (whole && slot->row == 0)
            slots_take(&slots, slot, hash, i + 1);
    }
    const size_t found = slots.used;
    free(slots.at);
    return whole ? found : distinct_when_sorted(numbers, count);
}

/* Builds are of one kind that have the same before the optimisation in their name: "managed10-". */
void sample_name(const char *scenario, const char *variant, enum cpu arch, enum case_kind kind,
                 struct figure_sample *out)
{
    const char *optimised = strstr(variant, "ob");
    const size_t length = optimised != NULL ? (size_t)(optimised - variant) : strlen(variant);
    out->scenario = hash_text(HASH_START, scenario);
    out->unit = hash_text(hash_byte(out->scenario, 0), variant);
    out->stratum = sample_stratum(arch, kind, hash_fold(hash_bytes(HASH_START, variant, length)));
}

enum sample_state sample_state(size_t cases, size_t scenarios)
{
    if (cases == 0)
        return SAMPLE_NONE;
    if (cases < MEASUREMENT_LEAST)
        return SAMPLE_FEW_CASES;
    return scenarios < MEASUREMENT_LEAST ? SAMPLE_FEW_SCENARIOS : SAMPLE_ENOUGH;
}

const char *sample_state_name(enum sample_state state)
{
    static const char *const names[] = {"not measured", "too few", "few scenarios", "measured"};
    return names[state];
}

const char *sample_few_text(size_t cases, size_t scenarios, struct arena *keep)
{
    const enum sample_state state = sample_state(cases, scenarios);
    const char *name = sample_state_name(state);
    const char *text = state == SAMPLE_NONE
                           ? name
                           : arena_printf(keep, "%s (%zu)", name,
                                          state == SAMPLE_FEW_SCENARIOS ? scenarios : cases);
    return text != NULL ? text : name;
}
