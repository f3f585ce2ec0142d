/* See breakpad_export.h. The numbered lists of files and inlined functions precede the functions
 * that refer to them, so the functions are written to memory first. */
#include "symbol/breakpad_export.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"
#include "base/text.h"

/* Texts with numbers, each once. */
struct numbered {
    const char **texts; /* by number; they live as long as the lookup that gave them */
    uint32_t count, room;
    struct slots slots;
};

/* An inlined call that may continue in the next segment. */
struct open_call {
    const char *name, *file; /* of the callee; of the call */
    uint32_t line, start_rva;
    bool open;
};

/* An INLINE record. */
struct written_call {
    uint32_t level, start_rva, end_rva, line, file, origin;
};

struct breakpad_writer {
    struct numbered files, origins;
    struct text_buffer text;
    struct written_call *calls; /* owned: of the current function */
    struct text_buffer lines;   /* its line records */
    uint32_t call_count, call_room;
    struct open_call open[SYMBOL_FRAMES_MAX];
    uint32_t open_count;
    const char *line_file;
    uint32_t line, line_start;
    bool failed;
};

/* The number of TEXT; a new one if TEXT is new. */
static uint32_t number_of(struct breakpad_writer *w, struct numbered *list, const char *text)
{
    const uint32_t hash = hash_fold(hash_text(HASH_START, text));
    uint32_t at = hash;
    struct slot *slot;
    if (!ARRAY_ROOM(list->texts, list->room, (uint64_t)list->count + 1) ||
        !slots_reserve(&list->slots, 1024)) {
        w->failed = true;
        return 0;
    }
    while ((slot = slots_next(&list->slots, hash, &at))->row != 0)
        if (strcmp(list->texts[slot->row - 1], text) == 0)
            return slot->row - 1;
    list->texts[list->count++] = text;
    slots_take(&list->slots, slot, hash, list->count);
    return list->count - 1;
}

void breakpad_put(struct breakpad_writer *w, const char *format, ...)
{
    char text[128];
    va_list list;
    va_start(list, format);
    const int bytes = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (bytes > 0 && (size_t)bytes < sizeof text)
        text_buffer_put(&w->text, text, (size_t)bytes);
}

static const char *text_or(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

static void close_call(struct breakpad_writer *w, uint32_t level, uint32_t end_rva)
{
    struct open_call *call = &w->open[level];
    if (!call->open || end_rva <= call->start_rva)
        return;
    if (!ARRAY_ROOM(w->calls, w->call_room, (uint64_t)w->call_count + 1)) {
        w->failed = true;
        return;
    }
    w->calls[w->call_count++] =
        (struct written_call){level,
                              call->start_rva,
                              end_rva,
                              call->line,
                              number_of(w, &w->files, text_or(call->file, "")),
                              number_of(w, &w->origins, text_or(call->name, "?"))};
    call->open = false;
}

ARRAY_ORDER_2(by_level, struct written_call, level, start_rva)

/* The outer call goes first: if two have the same range, Breakpad's processor treats the later one
 * as the inner. */
static void put_calls(struct breakpad_writer *w)
{
    if (w->call_count > 1)
        array_sort(w->calls, w->call_count, sizeof *w->calls, by_level);
    for (uint32_t i = 0; i < w->call_count; i++) {
        const struct written_call *call = &w->calls[i];
        breakpad_put(
            w, "INLINE %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIx32 " %" PRIx32 "\n",
            call->level, call->line, call->file, call->origin, call->start_rva,
            call->end_rva - call->start_rva);
    }
}

/* Closes the calls from LEVEL inwards. */
static void close_calls(struct breakpad_writer *w, uint32_t level, uint32_t end_rva)
{
    for (uint32_t i = level; i < w->open_count; i++)
        close_call(w, i, end_rva);
    if (w->open_count > level)
        w->open_count = level;
}

static void close_line(struct breakpad_writer *w, uint32_t end_rva)
{
    char text[96];
    if (w->line == 0 || end_rva <= w->line_start)
        return;
    const uint32_t file = number_of(w, &w->files, text_or(w->line_file, ""));
    const int bytes =
        snprintf(text, sizeof text, "%" PRIx32 " %" PRIx32 " %" PRIu32 " %" PRIu32 "\n",
                 w->line_start, end_rva - w->line_start, w->line, file);
    text_buffer_put(&w->lines, text, (size_t)bytes);
}

/* Continues the open calls that match, closes the others and opens new ones. */
void breakpad_segment(struct breakpad_writer *w, const struct symbol_frame *frames, uint32_t count,
                      uint32_t at)
{
    const uint32_t depth = count > 0 ? count - 1 : 0;
    uint32_t same = 0;
    while (same < depth && same < w->open_count) {
        const struct symbol_frame *callee = &frames[depth - 1 - same], *caller = callee + 1;
        const struct open_call *call = &w->open[same];
        if (!text_equal(call->name, callee->function) || call->line != caller->line ||
            !text_equal(call->file, caller->file))
            break;
        same++;
    }
    close_calls(w, same, at);
    for (uint32_t i = same; i < depth; i++) {
        const struct symbol_frame *callee = &frames[depth - 1 - i], *caller = callee + 1;
        w->open[i] = (struct open_call){callee->function, caller->file, caller->line, at, true};
        w->open_count = i + 1;
    }
    const uint32_t line = count > 0 ? frames[0].line : 0;
    const char *file = count > 0 ? frames[0].file : NULL;
    if (w->line == line && text_equal(w->line_file, file))
        return;
    close_line(w, at);
    w->line = line;
    w->line_file = file;
    w->line_start = at;
}

struct breakpad_writer *breakpad_writer_new(void)
{
    return calloc(1, sizeof(struct breakpad_writer));
}

void breakpad_text(struct breakpad_writer *w, const char *text)
{
    text_buffer_put(&w->text, text, strlen(text));
}

bool breakpad_failed(const struct breakpad_writer *w)
{
    return w->failed || w->text.failed || w->lines.failed;
}

void breakpad_function_begin(struct breakpad_writer *w)
{
    w->call_count = 0;
    w->lines.bytes = 0;
    w->open_count = 0;
    w->line = 0;
    w->line_file = NULL;
}

void breakpad_function_end(struct breakpad_writer *w, uint32_t rva, uint32_t bytes,
                           const char *name)
{
    const uint32_t end = rva + bytes;
    close_calls(w, 0, end);
    close_line(w, end);
    breakpad_put(w, "FUNC %" PRIx32 " %" PRIx32 " 0 ", rva, bytes);
    breakpad_text(w, name);
    breakpad_text(w, "\n");
    put_calls(w);
    if (w->lines.bytes > 0)
        text_buffer_put(&w->text, w->lines.text, w->lines.bytes);
}

void breakpad_public(struct breakpad_writer *w, uint32_t rva, const char *name)
{
    breakpad_put(w, "PUBLIC %" PRIx32 " 0 ", rva);
    breakpad_text(w, name);
    breakpad_text(w, "\n");
}

void breakpad_writer_print(const struct breakpad_writer *w, const struct breakpad_head *head,
                           FILE *out)
{
    (void)fprintf(out, "MODULE %s %s %s %s\n", head->os, head->arch, head->id, head->name);
    if (head->code_id != NULL)
        (void)fprintf(out, "INFO CODE_ID %s%s%s\n", head->code_id,
                      head->image_name != NULL ? " " : "",
                      head->image_name != NULL ? head->image_name : "");
    (void)fprintf(out, "INFO GENERATOR twinstack\n");
    for (uint32_t i = 0; i < w->files.count; i++)
        (void)fprintf(out, "FILE %" PRIu32 " %s\n", i, w->files.texts[i]);
    for (uint32_t i = 0; i < w->origins.count; i++)
        (void)fprintf(out, "INLINE_ORIGIN %" PRIu32 " %s\n", i, w->origins.texts[i]);
    if (w->text.bytes > 0)
        (void)fwrite(w->text.text, 1, w->text.bytes, out);
}

void breakpad_writer_close(struct breakpad_writer *w)
{
    if (w == NULL)
        return;
    free(w->files.texts);
    free(w->files.slots.at);
    free(w->origins.texts);
    free(w->origins.slots.at);
    free(w->text.text);
    free(w->calls);
    free(w->lines.text);
    free(w);
}
