/* See speedscope.h. */
#include "report/speedscope.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

enum { SLOTS = 1 << 16 };

struct named_frame {
    const char *name, *file; /* in the arena */
    uint32_t line, index;
    struct named_frame *next; /* of the same slot */
};

struct speedscope {
    struct json json;
    struct arena arena;
    struct named_frame **slots, **frames; /* frames: in order of their index; owned */
    uint32_t frame_count, frame_room;
    uint64_t *weights; /* of the samples; owned */
    uint32_t sample_count, sample_room;
    uint64_t total;
    bool failed;
};

struct speedscope *speedscope_start(FILE *out, const char *name)
{
    struct speedscope *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    arena_init(&s->arena, 0);
    s->slots = ARENA_ARRAY(&s->arena, SLOTS, struct named_frame *);
    if (s->slots == NULL) {
        free(s);
        return NULL;
    }
    json_to_stream(&s->json, out, false);
    json_object(&s->json);
    json_key_string(&s->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_key_string(&s->json, "exporter", "twinstack");
    json_key_array(&s->json, "profiles");
    json_object(&s->json);
    json_key_string(&s->json, "type", "sampled");
    json_key_string(&s->json, "name", name);
    json_key_string(&s->json, "unit", "none");
    json_key_uint(&s->json, "startValue", 0);
    json_key_array(&s->json, "samples");
    return s;
}

static bool add_to_table(struct speedscope *s, struct named_frame *frame)
{
    if (!ARRAY_ROOM(s->frames, s->frame_room, (uint64_t)s->frame_count + 1))
        return false;
    frame->index = s->frame_count;
    s->frames[s->frame_count++] = frame;
    return true;
}

/* The frame's number in the table, which it is added to; UINT32_MAX when out of memory. */
static uint32_t frame_index(struct speedscope *s, const struct speedscope_frame *frame)
{
    const char *module = frame->module != NULL ? frame->module : "?";
    char place[300];
    const char *name = frame->function;

    if (name == NULL) {
        (void)snprintf(place, sizeof place, "%.256s!0x%llx", module,
                       (unsigned long long)frame->offset);
        name = place;
    }
    const uint64_t hash = hash_bytes(hash_text(HASH_START, name), &frame->line, sizeof frame->line);
    struct named_frame **slot = &s->slots[hash_fold(hash) % SLOTS];
    for (const struct named_frame *at = *slot; at != NULL; at = at->next)
        if (at->line == frame->line && strcmp(at->name, name) == 0 &&
            text_equal(at->file, frame->file))
            return at->index;
    struct named_frame *added = ARENA_NEW(&s->arena, struct named_frame);
    if (added == NULL || (added->name = arena_string(&s->arena, name)) == NULL)
        return UINT32_MAX;
    added->file = frame->file != NULL ? arena_string(&s->arena, frame->file) : NULL;
    added->line = frame->line;
    if (!add_to_table(s, added))
        return UINT32_MAX;
    added->next = *slot;
    *slot = added;
    return added->index;
}

void speedscope_stack(struct speedscope *s, uint64_t count)
{
    if (!ARRAY_ROOM(s->weights, s->sample_room, (uint64_t)s->sample_count + 1)) {
        s->failed = true;
    } else {
        s->weights[s->sample_count++] = count;
        s->total += count;
    }
    json_array(&s->json);
}

void speedscope_frame(struct speedscope *s, const struct speedscope_frame *frame)
{
    const uint32_t index = frame_index(s, frame);
    if (index == UINT32_MAX)
        s->failed = true;
    else
        json_uint(&s->json, index);
}

bool speedscope_stack_end(struct speedscope *s)
{
    json_array_end(&s->json);
    return !s->failed && !s->json.failed;
}

bool speedscope_end(struct speedscope *s)
{
    json_array_end(&s->json);
    json_key_array(&s->json, "weights");
    for (uint32_t i = 0; i < s->sample_count; i++)
        json_uint(&s->json, s->weights[i]);
    json_array_end(&s->json);
    json_key_uint(&s->json, "endValue", s->total);
    json_object_end(&s->json);
    json_array_end(&s->json);
    json_key_object(&s->json, "shared");
    json_key_array(&s->json, "frames");
    for (uint32_t i = 0; i < s->frame_count; i++) {
        json_object(&s->json);
        json_key_string(&s->json, "name", s->frames[i]->name);
        if (s->frames[i]->file != NULL)
            json_key_string(&s->json, "file", s->frames[i]->file);
        if (s->frames[i]->line != 0)
            json_key_uint(&s->json, "line", s->frames[i]->line);
        json_object_end(&s->json);
    }
    json_array_end(&s->json);
    json_object_end(&s->json);
    json_object_end(&s->json);
    json_newline(&s->json);
    const bool good = !s->failed && !s->json.failed;
    free((void *)s->frames);
    free(s->weights);
    arena_free(&s->arena);
    free(s);
    return good;
}
