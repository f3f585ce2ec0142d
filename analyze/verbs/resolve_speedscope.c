/* Resolved stacks as a speedscope document: samples of one profile, outermost frame first, and a
 * table of frames behind them; see resolve_write.h.
 *
 * Format: https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "verbs/resolve_write.h"

enum { SPEEDSCOPE_SLOTS = 1 << 16 };

struct speedscope_frame {
    const char *name, *file; /* owned by the arena */
    uint32_t line, index;
    struct speedscope_frame *next; /* of the same slot */
};

struct speedscope {
    struct json json;
    struct arena arena;
    struct speedscope_frame **slots, **frames; /* owned; frames in order of their index */
    uint32_t frame_count, frame_room;
    uint64_t sample_count;
    bool failed;
};

struct speedscope *speedscope_start(FILE *out)
{
    struct speedscope *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    arena_init(&s->arena, 0);
    s->slots = ARENA_ARRAY(&s->arena, SPEEDSCOPE_SLOTS, struct speedscope_frame *);
    if (s->slots == NULL) {
        free(s);
        return NULL;
    }
    json_to_stream(&s->json, out, false);
    json_object(&s->json);
    json_key_string(&s->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_key_string(&s->json, "exporter", "twinstack");
    json_key(&s->json, "profiles");
    json_array(&s->json);
    json_object(&s->json);
    json_key_string(&s->json, "type", "sampled");
    json_key_string(&s->json, "name", "stacks");
    json_key_string(&s->json, "unit", "none");
    json_key_uint(&s->json, "startValue", 0);
    json_key(&s->json, "samples");
    json_array(&s->json);
    return s;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool add_to_table(struct speedscope *s, struct speedscope_frame *frame)
{
    if (s->frame_count == s->frame_room) {
        const uint32_t room = s->frame_room * 2 + 1024;
        struct speedscope_frame **wider = realloc(s->frames, room * sizeof(*wider));
        if (wider == NULL)
            return false;
        s->frames = wider;
        s->frame_room = room;
    }
    frame->index = s->frame_count;
    s->frames[s->frame_count++] = frame;
    return true;
}

/* The frame's number in the table, which it is added to; UINT32_MAX when out of memory. */
static uint32_t frame_index(struct speedscope *s, const struct frame *frame)
{
    const char *module = frame->module_name != NULL ? frame->module_name : "?";
    char place[300];
    const char *name = frame->function;
    uint32_t hash = 2166136261U;

    if (name == NULL) {
        (void)snprintf(place, sizeof place, "%.256s!0x%llx", module,
                       (unsigned long long)frame->offset);
        name = place;
    }
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619U;
    hash ^= frame->line * 2654435761U;
    struct speedscope_frame **slot = &s->slots[(hash ^ hash >> 16) % SPEEDSCOPE_SLOTS];
    for (const struct speedscope_frame *at = *slot; at != NULL; at = at->next)
        if (at->line == frame->line && strcmp(at->name, name) == 0 &&
            same_text(at->file, frame->file))
            return at->index;
    struct speedscope_frame *added = ARENA_NEW(&s->arena, struct speedscope_frame);
    if (added == NULL || (added->name = arena_string(&s->arena, name)) == NULL)
        return UINT32_MAX;
    added->file = arena_string(&s->arena, frame->file);
    added->line = frame->line;
    if (!add_to_table(s, added))
        return UINT32_MAX;
    added->next = *slot;
    *slot = added;
    return added->index;
}

bool speedscope_add(struct speedscope *s, const struct stack *stack)
{
    json_array(&s->json);
    for (uint32_t i = stack->frame_count; i > 0; i--) {
        const uint32_t index = frame_index(s, &stack->frames[i - 1]);
        if (index == UINT32_MAX)
            s->failed = true;
        else
            json_uint(&s->json, index);
    }
    json_array_end(&s->json);
    s->sample_count++;
    return !s->failed && !s->json.failed;
}

bool speedscope_end(struct speedscope *s)
{
    json_array_end(&s->json);
    json_key(&s->json, "weights");
    json_array(&s->json);
    for (uint64_t i = 0; i < s->sample_count; i++)
        json_uint(&s->json, 1);
    json_array_end(&s->json);
    json_key_uint(&s->json, "endValue", s->sample_count);
    json_object_end(&s->json);
    json_array_end(&s->json);
    json_key(&s->json, "shared");
    json_object(&s->json);
    json_key(&s->json, "frames");
    json_array(&s->json);
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
    free(s->frames);
    arena_free(&s->arena);
    free(s);
    return good;
}
