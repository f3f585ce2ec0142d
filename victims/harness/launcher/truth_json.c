/* Turns shadow stacks into truth.json; elides as every stack does (768 + 256). */
#include "victims/harness/launcher/truth_json.h"

#include <stdbool.h>
#include <string.h>

#include "capture/record.h"

enum { TEXT_LIMIT = 1024 };

void json_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text != 0; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

/* The literal at VA, from the copies of the images, newest first, because an image may have been
 * loaded where another one was. NULL: no image holds VA. */
static const char *literal(const struct truth_map *truth, uint64_t va)
{
    const int count = truth->image_count < TRUTH_IMAGES ? truth->image_count : TRUTH_IMAGES;
    for (int i = count - 1; i >= 0; i--) {
        const struct truth_image *image = &truth->images[i];
        if (va < image->va || va - image->va >= image->bytes ||
            image->text_offset > TRUTH_TEXT_BYTES ||
            image->bytes > TRUTH_TEXT_BYTES - image->text_offset)
            continue;
        const char *text = truth->text + image->text_offset + (va - image->va);
        uint64_t left = image->bytes - (va - image->va);
        if (memchr(text, 0, left < TEXT_LIMIT ? (size_t)left : TEXT_LIMIT) != NULL)
            return text;
    }
    return NULL;
}

static void print_literal(FILE *to, const struct truth_map *truth, uint64_t va)
{
    const char *text = literal(truth, va);
    if (text != NULL)
        json_text(to, text);
    else
        fputs("null", to);
}

static const char *gap_of(uint32_t flags)
{
    return (flags & TRUTH_FLAG_SYSTEM) != 0         ? "system"
           : (flags & TRUTH_FLAG_THREAD_START) != 0 ? "thread_start"
           : (flags & TRUTH_FLAG_GENERATED) != 0    ? "generated"
           : (flags & TRUTH_FLAG_LOST) != 0         ? "lost"
                                                    : NULL;
}

static void print_mark(FILE *to, const char *gap, uint32_t count)
{
    fprintf(to,
            "{\"function\":null,\"file\":null,\"line\":null,\"tail\":false,\"gap\":\"%s\","
            "\"gap_count\":%u}",
            gap, count);
}

static void print_entry(FILE *to, const struct truth_map *truth, const struct truth_entry *entry)
{
    const char *gap = gap_of(entry->flags);
    if (gap != NULL) {
        print_mark(to, gap, 0);
        return;
    }
    fprintf(to, "{\"function\":");
    print_literal(to, truth, entry->function);
    fprintf(to, ",\"file\":");
    print_literal(to, truth, entry->file);
    fprintf(to, ",\"line\":");
    if (entry->line != 0)
        fprintf(to, "%u", (unsigned)entry->line);
    else
        fprintf(to, "null");
    fprintf(to, ",\"tail\":%s,\"gap\":null,\"gap_count\":0}",
            (entry->flags & TRUTH_FLAG_TAIL) != 0 ? "true" : "false");
}

static void print_frames(FILE *to, const struct truth_map *truth, const struct truth_stack *stack)
{
    const uint32_t depth = stack->depth < TRUTH_DEPTH ? stack->depth : TRUTH_DEPTH;
    const uint32_t limit = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL;
    for (uint32_t i = 0; i < depth; i++) {
        if (depth > limit && i == RECORD_FRAMES_HEAD) {
            fputs(",\n", to);
            print_mark(to, "elided", depth - limit);
            i = depth - RECORD_FRAMES_TAIL;
        }
        fputs(i == 0 ? "\n" : ",\n", to);
        print_entry(to, truth, &stack->entries[depth - 1 - i]);
        if ((stack->entries[depth - 1 - i].flags & TRUTH_FLAG_LOST) != 0)
            break;
    }
}

void truth_print(FILE *to, const struct truth_map *truth)
{
    const bool usable = truth->magic == TRUTH_MAGIC;
    const int count = !usable                              ? 0
                      : truth->stack_count < TRUTH_THREADS ? truth->stack_count
                                                           : TRUTH_THREADS;
    const struct truth_stack *suspect = NULL;
    for (int i = 0; i < count; i++)
        if (truth->stacks[i].suspect)
            suspect = &truth->stacks[i];
    if (suspect == NULL && count > 0)
        suspect = &truth->stacks[0];

    fputs("{\"schema_version\":1,\"threads\":[", to);
    for (int pass = 0, printed = 0; pass < 2; pass++) { /* the suspect comes first */
        for (int i = 0; i < count; i++) {
            const struct truth_stack *stack = &truth->stacks[i];
            char role[TRUTH_ROLE_BYTES];
            if (stack->left || (stack == suspect) != (pass == 0))
                continue;
            memcpy(role, stack->role, sizeof role);
            role[sizeof role - 1] = 0;
            fprintf(to, "%s\n{\"id\":%u,\"role\":", printed++ > 0 ? "," : "", stack->thread_id);
            json_text(to, stack == suspect ? "suspect" : role);
            fputs(",\"frames\":[", to);
            print_frames(to, truth, stack);
            fputs("]}", to);
        }
    }
    fputs("]}\n", to);
}
