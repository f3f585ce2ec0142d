/* See breakpad.h. */
#include "format/breakpad/breakpad.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "format/breakpad/records.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct breakpad_words *w)
{
    while (w->at < w->end && is_blank(*w->at))
        w->at++;
}

/* Removes and returns the next word; empty at the end. */
static struct breakpad_words next_word(struct breakpad_words *w)
{
    skip_blanks(w);
    struct breakpad_words word = {w->at, w->at};
    while (w->at < w->end && !is_blank(*w->at))
        w->at++;
    word.end = w->at;
    return word;
}

static bool take_word(struct breakpad_words *w, const char *text)
{
    struct breakpad_words rest = *w;
    const struct breakpad_words word = next_word(&rest);
    const size_t bytes = strlen(text);
    if ((size_t)(word.end - word.at) != bytes || memcmp(word.at, text, bytes) != 0)
        return false;
    *w = rest;
    return true;
}

static bool next_hex(struct breakpad_words *w, uint64_t *out)
{
    const struct breakpad_words word = next_word(w);
    return text_parse_hex(word.at, (size_t)(word.end - word.at), out);
}

/* Reads a decimal number. Breakpad's writers use -1 for unknown, which is read as 0. */
static bool next_number(struct breakpad_words *w, uint32_t *out)
{
    const struct breakpad_words word = next_word(w);
    uint64_t value;
    *out = 0;
    if (word.end - word.at == 2 && memcmp(word.at, "-1", 2) == 0)
        return true;
    if (!text_parse_uint(word.at, (size_t)(word.end - word.at), &value) || value > INT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* The rest of the line, as a name. */
static const char *rest_of(struct breakpad *file, struct breakpad_words w)
{
    skip_blanks(&w);
    return file->skimmed != NULL ? w.at : arena_text(&file->names, w.at, (size_t)(w.end - w.at));
}

static const char *keep_word(struct breakpad *file, struct breakpad_words word)
{
    return arena_text(&file->names, word.at, (size_t)(word.end - word.at));
}

/* The end of a range; false for ranges that wrap around or are empty. */
static bool end_of(uint64_t rva, uint64_t bytes, uint64_t *end)
{
    *end = rva + bytes;
    return bytes != 0 && *end > rva;
}

/* Makes room for one more element in FILE->FIELD; false when out of memory. */
#define MORE(file, field, fields)                                                                  \
    (more_room((void **)&(file)->fields, &(file)->field##_room, (file)->field##_count,             \
               sizeof *(file)->fields))

static bool more_room(void **items, uint32_t *room, uint32_t count, size_t size)
{
    void *wider = array_reserve(*items, room, (uint64_t)count + 1, size);
    if (wider == NULL)
        return false;
    *items = wider;
    return true;
}

enum { STACK_TEXT_MAX = 1 << 16 };

/* 32 hex digits and an age, or another writer's form; converted to the usual spelling of
 * debug_id. */
static void spell_id(struct breakpad_words word, char out[DEBUG_ID_BYTES])
{
    size_t n = 0;
    for (; word.at < word.end && n + 1 < DEBUG_ID_BYTES; word.at++) {
        const char c = *word.at;
        if (n < 32 && c >= 'a' && c <= 'z')
            out[n++] = (char)(c - 'a' + 'A');
        else if (n >= 32 && c >= 'A' && c <= 'Z')
            out[n++] = (char)(c - 'A' + 'a');
        else
            out[n++] = c;
    }
    out[n] = '\0';
}

static enum breakpad_parsed read_module(struct breakpad *file, struct breakpad_words w)
{
    const struct breakpad_words os = next_word(&w), arch = next_word(&w), id = next_word(&w);
    spell_id(id, file->debug_id);
    file->os = keep_word(file, os);
    file->arch = keep_word(file, arch);
    const char *name = rest_of(file, w);
    if (file->os == NULL || file->arch == NULL || name == NULL)
        return PARSED_NO_MEMORY;
    for (const char *c = name; *c != '\0'; c++)
        if (*c == '/' || *c == '\\')
            name = c + 1;
    file->module = name;
    return name[0] != '\0' && file->debug_id[0] != '\0' ? PARSED : PARSED_DAMAGED;
}

static enum breakpad_parsed read_info(struct breakpad *file, struct breakpad_words w)
{
    if (!take_word(&w, "CODE_ID"))
        return PARSED;
    file->code_id = keep_word(file, next_word(&w));
    const char *image = rest_of(file, w);
    if (file->code_id == NULL || image == NULL)
        return PARSED_NO_MEMORY;
    file->image = image[0] != '\0' ? image : NULL;
    return PARSED;
}

static enum breakpad_parsed read_file(struct breakpad *file, struct breakpad_words w)
{
    struct breakpad_name entry = {0, BREAKPAD_NO_FILE, NULL};
    if (!next_number(&w, &entry.number))
        return PARSED_DAMAGED;
    entry.name = rest_of(file, w);
    if (entry.name == NULL || !MORE(file, file, files))
        return PARSED_NO_MEMORY;
    file->files[file->file_count++] = entry;
    return PARSED;
}

static enum breakpad_parsed read_origin(struct breakpad *file, struct breakpad_words w)
{
    struct breakpad_name entry = {0, BREAKPAD_NO_FILE, NULL};
    uint32_t number;
    if (!next_number(&w, &entry.number))
        return PARSED_DAMAGED;
    struct breakpad_words older = w;
    if (next_number(&older, &number)) { /* a name never begins with a number */
        skip_blanks(&older);
        if (older.at < older.end) {
            entry.file = number;
            w = older;
        }
    }
    entry.name = rest_of(file, w);
    if (entry.name == NULL || !MORE(file, origin, origins))
        return PARSED_NO_MEMORY;
    file->origins[file->origin_count++] = entry;
    return PARSED;
}

static enum breakpad_parsed read_function(struct breakpad *file, struct breakpad_words w)
{
    struct breakpad_function entry = {.first_line = file->line_count,
                                      .first_inline = file->inline_count};
    uint64_t bytes, parameters;
    (void)take_word(&w, "m");
    if (!next_hex(&w, &entry.rva) || !next_hex(&w, &bytes) || !next_hex(&w, &parameters))
        return PARSED_DAMAGED;
    entry.params_bytes = (uint32_t)parameters;
    if (!end_of(entry.rva, bytes, &entry.end))
        entry.end = entry.rva; /* covers no code, so its lines are useless */
    entry.name = rest_of(file, w);
    if (entry.name == NULL || !MORE(file, function, functions))
        return PARSED_NO_MEMORY;
    file->current = file->function_count;
    file->functions[file->function_count++] = entry;
    return PARSED;
}

static enum breakpad_parsed read_public(struct breakpad *file, struct breakpad_words w)
{
    struct breakpad_public entry;
    uint64_t parameters;
    (void)take_word(&w, "m");
    if (!next_hex(&w, &entry.rva) || !next_hex(&w, &parameters))
        return PARSED_DAMAGED;
    entry.params_bytes = (uint32_t)parameters;
    entry.name = rest_of(file, w);
    if (entry.name == NULL || !MORE(file, public, publics))
        return PARSED_NO_MEMORY;
    file->publics[file->public_count++] = entry;
    return PARSED;
}

static enum breakpad_parsed read_line(struct breakpad *file, struct breakpad_words w)
{
    struct breakpad_line entry;
    uint64_t bytes;
    if (file->function_count == 0 || !next_hex(&w, &entry.rva) || !next_hex(&w, &bytes) ||
        !next_number(&w, &entry.line) || !next_number(&w, &entry.file))
        return PARSED_DAMAGED;
    if (!end_of(entry.rva, bytes, &entry.end))
        return bytes == 0 ? PARSED : PARSED_DAMAGED; /* DIA has lines without code */
    if (!MORE(file, line, lines))
        return PARSED_NO_MEMORY;
    file->lines[file->line_count++] = entry;
    file->functions[file->current].line_count++;
    return PARSED;
}

static uint32_t count_words(struct breakpad_words w)
{
    uint32_t count = 0;
    for (struct breakpad_words word = next_word(&w); word.at < word.end; word = next_word(&w))
        count++;
    return count;
}

static enum breakpad_parsed read_inline(struct breakpad *file, struct breakpad_words w)
{
    struct breakpad_inline entry = {.file = BREAKPAD_NO_FILE};
    uint64_t bytes;
    const bool older = count_words(w) % 2 == 1;
    if (file->function_count == 0 || !next_number(&w, &entry.level) ||
        !next_number(&w, &entry.line) || (!older && !next_number(&w, &entry.file)) ||
        !next_number(&w, &entry.origin))
        return PARSED_DAMAGED;
    for (skip_blanks(&w); w.at < w.end; skip_blanks(&w)) {
        if (!next_hex(&w, &entry.rva) || !next_hex(&w, &bytes))
            return PARSED_DAMAGED;
        if (!end_of(entry.rva, bytes, &entry.end))
            continue;
        if (!MORE(file, inline, inlines))
            return PARSED_NO_MEMORY;
        file->inlines[file->inline_count++] = entry;
        file->functions[file->current].inline_count++;
    }
    return PARSED;
}

/* STACK WIN types 0 (FPO) and 4 (frame data) have data that is used here; the others have none. */
static bool read_stack_kind(struct breakpad_words *w, struct breakpad_stack *out, bool *used)
{
    uint32_t type;
    *used = true;
    if (take_word(w, "CFI")) {
        out->kind = take_word(w, "INIT") ? STACK_CFI_INIT : STACK_CFI_NEXT;
        return true;
    }
    if (!take_word(w, "WIN") || !next_number(w, &type))
        return false;
    out->kind = type == 0 ? STACK_WIN_FPO : STACK_WIN_PROGRAM;
    *used = type == 0 || type == 4;
    return true;
}

static enum breakpad_parsed read_stack(struct breakpad *file, struct breakpad_words w)
{
    struct breakpad_stack entry = {0};
    uint64_t bytes;
    bool used;
    if (!read_stack_kind(&w, &entry, &used) || !next_hex(&w, &entry.rva))
        return PARSED_DAMAGED;
    entry.end = entry.rva;
    if (entry.kind != STACK_CFI_NEXT && !next_hex(&w, &bytes))
        return PARSED_DAMAGED;
    if (entry.kind != STACK_CFI_NEXT && !end_of(entry.rva, bytes, &entry.end))
        return bytes == 0 ? PARSED : PARSED_DAMAGED;
    skip_blanks(&w);
    if (w.end - w.at > STACK_TEXT_MAX)
        return PARSED_DAMAGED;
    entry.text = w.at;
    entry.bytes = (uint32_t)(w.end - w.at);
    if (!used)
        return PARSED;
    if (!MORE(file, stack, stacks))
        return PARSED_NO_MEMORY;
    file->stacks[file->stack_count++] = entry;
    return PARSED;
}

enum breakpad_parsed breakpad_read_record(struct breakpad *file, struct breakpad_words w,
                                          unsigned groups)
{
    static const struct {
        const char *word;
        enum breakpad_parsed (*read)(struct breakpad *file, struct breakpad_words w);
        enum breakpad_group group;
    } kinds[] = {
        {"FUNC", read_function, RECORD_NAME},        {"INLINE", read_inline, RECORD_CODE},
        {"STACK", read_stack, RECORD_OTHER},         {"PUBLIC", read_public, RECORD_NAME},
        {"INLINE_ORIGIN", read_origin, RECORD_NAME}, {"FILE", read_file, RECORD_NAME},
        {"INFO", read_info, RECORD_OTHER},
    };
    if (w.at < w.end && *w.at >= 'F' && *w.at <= 'S')
        for (size_t i = 0; i < COUNT_OF(kinds); i++)
            if (take_word(&w, kinds[i].word))
                return (kinds[i].group & groups) != 0 ? kinds[i].read(file, w) : PARSED;
    return (groups & RECORD_CODE) != 0 ? read_line(file, w) : PARSED;
}

bool breakpad_starts_function(struct breakpad_words w)
{
    uint64_t rva, bytes, parameters;
    if (!take_word(&w, "FUNC"))
        return false;
    (void)take_word(&w, "m");
    return next_hex(&w, &rva) && next_hex(&w, &bytes) && next_hex(&w, &parameters);
}

/* The bytes of a byte order mark in UTF-8, which editors put before a text. */
static size_t mark_bytes(const void *data, size_t bytes)
{
    return bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool breakpad_recognize(const void *data, size_t bytes)
{
    const size_t mark = mark_bytes(data, bytes);
    const char *at = (const char *)data + mark;
    return bytes - mark >= 7 && memcmp(at, "MODULE", 6) == 0 && is_blank(at[6]);
}

/* Removes the next line from the text; false at the end. */
bool breakpad_next_line(const char **at, const char *end, struct breakpad_words *out)
{
    if (*at == end)
        return false;
    const char *nul = memchr(*at, '\n', (size_t)(end - *at));
    *out = (struct breakpad_words){*at, nul != NULL ? nul : end};
    *at = nul != NULL ? nul + 1 : end;
    if (out->end > out->at && out->end[-1] == '\r')
        out->end--;
    skip_blanks(out);
    return true;
}

enum status breakpad_read_head(const char **at, const char *end, struct breakpad *out,
                               struct fault *fault)
{
    struct breakpad_words w = {NULL, NULL};
    memset(out, 0, sizeof *out);
    arena_init(&out->names, 0);
    if (!breakpad_recognize(*at, (size_t)(end - *at)))
        return fault_set(fault, ERR_UNSUPPORTED, 0, "Breakpad symbol file");
    *at += mark_bytes(*at, (size_t)(end - *at));
    out->names.limit_bytes = /* short texts take 16 bytes each */
        8 * (size_t)(end - *at) + (1U << 20);
    (void)breakpad_next_line(at, end, &w);
    (void)take_word(&w, "MODULE");
    switch (read_module(out, w)) {
    case PARSED:
        return ERR_NONE;
    case PARSED_NO_MEMORY:
        return fault_no_memory(fault, "Breakpad symbol file");
    default:
        return fault_set(fault, ERR_MALFORMED, 0, "MODULE line of a Breakpad symbol file");
    }
}

enum status breakpad_read_identity(const void *data, size_t bytes, struct breakpad *out,
                                   struct fault *fault)
{
    enum { LINES_MAX = 8 }; /* INFO lines directly follow MODULE */
    const char *at = data, *end = at + bytes;
    struct breakpad_words w;
    if (breakpad_read_head(&at, end, out, fault) != ERR_NONE)
        return fault->code;
    for (int i = 0; i < LINES_MAX && out->code_id == NULL && breakpad_next_line(&at, end, &w); i++)
        if (take_word(&w, "INFO") && read_info(out, w) == PARSED_NO_MEMORY)
            return fault_no_memory(fault, "Breakpad symbol file");
    return ERR_NONE;
}

static int compare(uint64_t a, uint64_t b, const void *left, const void *right)
{
    if (a != b)
        return a < b ? -1 : 1;
    /* of one array: the earlier stays first as far as qsort keeps elements in place */
    return left < right ? -1 : left > right;
}

static int by_function(const void *left, const void *right)
{
    const struct breakpad_function *a = left, *b = right;
    return a->rva != b->rva ? compare(a->rva, b->rva, a, b)
                            : (a->first_line > b->first_line) - (a->first_line < b->first_line);
}

static int by_public(const void *left, const void *right)
{
    const struct breakpad_public *a = left, *b = right;
    return a->rva != b->rva ? compare(a->rva, b->rva, a, b) : strcmp(a->name, b->name);
}

static int by_line(const void *left, const void *right)
{
    const struct breakpad_line *a = left, *b = right;
    return a->rva != b->rva ? compare(a->rva, b->rva, a, b)
                            : (a->line > b->line) - (a->line < b->line);
}

ARRAY_ORDER(by_number, struct breakpad_name, number)

/* An outer record goes before those in it. The texts point into the file, so they are in its order.
 * Of equal ranges a lookup takes the last one here, which has to be the first of the file, as in
 * Breakpad; omap_stretched.sym has five such pairs. Changes of rules are all applied, in order. */
static int by_stack(const void *left, const void *right)
{
    const struct breakpad_stack *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->rva != b->rva)
        return a->rva < b->rva ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    const int order = (a->text > b->text) - (a->text < b->text);
    return a->kind == STACK_CFI_NEXT ? order : -order;
}

#define SORT(items, count, order)                                                                  \
    do {                                                                                           \
        if ((count) > 1)                                                                           \
            array_sort(items, count, sizeof *(items), order);                                      \
    } while (0)

void breakpad_sort_lines(struct breakpad *file, const struct breakpad_function *function)
{
    if (file->line_count > 0)
        SORT(file->lines + function->first_line, function->line_count, by_line);
}

/* Links each record to the smallest one of its kind that contains its start. */
static void nest_stacks(struct breakpad *file)
{
    uint32_t kind = 0;
    for (uint32_t i = 0; i < file->stack_count; i++) {
        struct breakpad_stack *stack = &file->stacks[i];
        while (kind <= (uint32_t)stack->kind)
            file->stack_starts[kind++] = i;
        uint32_t around = i > file->stack_starts[stack->kind] ? i : 0;
        while (around != 0 && file->stacks[around - 1].end <= stack->rva)
            around = file->stacks[around - 1].around;
        stack->around = around;
    }
    while (kind <= BREAKPAD_STACK_KINDS)
        file->stack_starts[kind++] = file->stack_count;
}

static void sort_all(struct breakpad *file)
{
    for (uint32_t i = 0; i < file->function_count; i++)
        breakpad_sort_lines(file, &file->functions[i]);
    SORT(file->functions, file->function_count, by_function);
    SORT(file->publics, file->public_count, by_public);
    SORT(file->files, file->file_count, by_number);
    SORT(file->origins, file->origin_count, by_number);
    SORT(file->stacks, file->stack_count, by_stack);
    nest_stacks(file);
}

enum status breakpad_read(const void *data, size_t bytes, struct breakpad *out, struct fault *fault)
{
    const char *at = data, *end = at + bytes;
    struct breakpad_words w;
    if (breakpad_read_head(&at, end, out, fault) != ERR_NONE)
        return fault->code;
    while (breakpad_next_line(&at, end, &w)) {
        if (w.at == w.end || *w.at == '#')
            continue;
        const enum breakpad_parsed parsed = breakpad_read_record(out, w, RECORD_ANY);
        if (parsed == PARSED_NO_MEMORY)
            return fault_no_memory(fault, "Breakpad symbol file");
        out->damaged += parsed == PARSED_DAMAGED;
    }
    sort_all(out);
    return ERR_NONE;
}

void breakpad_close(struct breakpad *file)
{
    free(file->functions);
    free(file->lines);
    free(file->inlines);
    free(file->publics);
    free(file->files);
    free(file->origins);
    free(file->stacks);
    arena_free(&file->names);
    memset(file, 0, sizeof *file);
}
