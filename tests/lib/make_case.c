/* The text format of make_case.h. Only tests write it, so any error in it aborts. */
#include "make_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { LINES_MAX = 4096, WORDS_MAX = 12, THREAD = 7 };

static void die(const char *what, const char *line)
{
    (void)fprintf(stderr, "make_case: %s: %s\n", what, line);
    abort();
}

static uint32_t split(struct arena *keep, const char *text, char separator, char **out,
                      uint32_t max)
{
    uint32_t count = 0;
    for (const char *at = text; *at != 0;) {
        const char *end = strchr(at, separator);
        const size_t size = end != NULL ? (size_t)(end - at) : strlen(at);
        if (size > 0 && count < max)
            out[count++] = arena_text(keep, at, size);
        at += size + (end != NULL);
    }
    return count;
}

static const struct module *module_of(struct arena *keep, const char *name)
{
    static struct module known[64];
    static uint32_t count;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    if (count == COUNT_OF(known))
        die("too many modules", name);
    struct module *m = &known[count++];
    (void)keep;
    char *copy = malloc(strlen(name) + 1); /* lives as long as the test's process */
    if (copy == NULL)
        die("no memory", name);
    strcpy(copy, name);
    m->index = count - 1;
    m->name = copy;
    m->image_bytes = 0x10000;
    m->base_va = 0x140000000u + count * 0x100000u;
    m->unloaded_at_ns = MODULE_STILL_LOADED;
    (void)snprintf(m->code_id, sizeof m->code_id, "%08X10000", count);
    (void)snprintf(m->debug_id, sizeof m->debug_id, "%032X1", count);
    return m;
}

static void place(struct arena *keep, struct frame *f, char *word)
{
    char *plus = strchr(word, '+');
    if (plus == NULL || !text_parse_hex(plus + 1, strlen(plus + 1), &f->offset))
        die("place", word);
    *plus = 0;
    if (strcmp(word, "?") == 0) {
        f->pc_va = f->offset;
        return;
    }
    f->module = module_of(keep, word);
    f->module_name = f->module->name;
    f->pc_va = f->module->base_va + f->offset;
}

static void source(struct arena *keep, char *word, const char **file, uint32_t *line)
{
    char *colon = strrchr(word, ':');
    uint64_t number = 0;
    if (colon == NULL || !text_parse_uint(colon + 1, strlen(colon + 1), &number))
        die("source", word);
    *colon = 0;
    *file = arena_string(keep, word);
    *line = (uint32_t)number;
}

static bool class_of(const char *word, enum frame_class *out)
{
    static const struct {
        const char *word;
        enum frame_class frame_class;
    } rows[] = {{"own", CLASS_OWN},    {"capture", CLASS_CAPTURE},     {"runtime", CLASS_RUNTIME},
                {"sys", CLASS_SYSTEM}, {"generated", CLASS_GENERATED}, {"none", CLASS_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].word, word) == 0) {
            *out = rows[i].frame_class;
            return true;
        }
    return false;
}

static void describe(struct arena *keep, struct frame *f, const char *word)
{
    struct module *gone = NULL;
    if (strcmp(word, "interrupted") == 0)
        f->kind = PC_INTERRUPTED;
    else if (strcmp(word, "return") == 0)
        f->kind = PC_RETURN;
    else if (strcmp(word, "machine_frame") == 0)
        f->note = NOTE_MACHINE_FRAME;
    else if (strcmp(word, "scan") == 0)
        f->found_by = FOUND_SCAN;
    else if (strcmp(word, "frame_pointer") == 0)
        f->found_by = FOUND_FRAME_POINTER;
    else if (strcmp(word, "export") == 0)
        f->symbols = SYMBOLS_EXPORT;
    else if (strcmp(word, "none") == 0)
        f->symbols = SYMBOLS_NONE;
    else if (strcmp(word, "mismatch") == 0)
        f->symbols = SYMBOLS_MISMATCH;
    else if (strcmp(word, "other_pdb") == 0) {
        f->symbols = SYMBOLS_MISMATCH;
        f->note = NOTE_IMAGE_OTHER_PDB;
    } else if (strcmp(word, "coff") == 0)
        f->symbols = SYMBOLS_COFF;
    else if (strcmp(word, "public") == 0)
        f->symbols = SYMBOLS_PDB_PUBLIC;
    else if (strcmp(word, "jit") == 0)
        f->symbols = SYMBOLS_JIT;
    else if (strcmp(word, "ambiguous") == 0)
        f->identity = IDENTITY_AMBIGUOUS;
    else if (strcmp(word, "unloaded") == 0) {
        gone = arena_alloc(keep, sizeof *gone);
        *gone = *f->module;
        gone->unloaded_at_ns = 99;
        f->module = gone;
    } else if (strncmp(word, "start=", 6) == 0)
        (void)text_parse_hex(word + 6, strlen(word + 6), &f->symbol_distance);
    else if (strncmp(word, "token=", 6) == 0) {
        uint64_t token = 0;
        (void)text_parse_hex(word + 6, strlen(word + 6), &token);
        f->method_token = (uint32_t)token;
    } else if (strncmp(word, "pc=", 3) == 0)
        (void)text_parse_hex(word + 3, strlen(word + 3), &f->pc_va);
    else
        die("word", word);
}

static bool make_frame(struct arena *keep, char *line, struct frame *f)
{
    char *words[WORDS_MAX];
    const bool inlined = line[0] == '>';
    const uint32_t count = split(keep, inlined ? line + 1 : line, ' ', words, WORDS_MAX);
    if (count < 3)
        die("frame", line);
    memset(f, 0, sizeof *f);
    f->symbols = SYMBOLS_PDB;
    f->kind = PC_RETURN;
    f->found_by = inlined ? FOUND_INLINED : FOUND_UNWIND;
    place(keep, f, words[0]);
    if (!class_of(words[1], &f->frame_class))
        die("class", words[1]);
    if (strcmp(words[2], "-") != 0)
        f->function = words[2];
    else
        f->symbols = SYMBOLS_NONE;
    uint32_t next = 3;
    if (count > 3 && strchr(words[3], ':') != NULL)
        source(keep, words[next++], &f->file, &f->line);
    for (; next < count; next++)
        describe(keep, f, words[next]);
    return inlined;
}

struct stack make_stack(struct arena *keep, const char *engine, const char *text)
{
    char *lines[LINES_MAX];
    struct stack s = {.engine = engine,
                      .thread_id = THREAD,
                      .role = THREAD_ROLE_SUSPECT,
                      .state = STACK_OK,
                      .stop = STOP_END,
                      .walk_ns = 5000};
    const uint32_t count = split(keep, text, '\n', lines, LINES_MAX);
    s.frames = arena_array(keep, (size_t)count + 1, sizeof *s.frames);
    uint32_t inlined = 0, index = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (*lines[i] == ' ')
            lines[i]++;
        if (lines[i][0] == '!') {
            const bool failed = lines[i][1] == '!';
            s.state = failed ? STACK_FAILED : STACK_OK;
            stack_set_stop_text(&s, lines[i] + (failed ? 3 : 2));
            continue;
        }
        struct frame *f = &s.frames[s.frame_count++];
        const bool is_inline = make_frame(keep, lines[i], f);
        f->index = index;
        inlined += is_inline;
        if (is_inline)
            continue;
        for (uint32_t k = 1; k <= inlined; k++)
            (f - k)->inline_depth = (uint16_t)k;
        if (index == 0 && strstr(lines[i], " return") == NULL) {
            for (uint32_t k = 0; k <= inlined; k++)
                (f - k)->kind = PC_INTERRUPTED;
            if (f->found_by == FOUND_UNWIND)
                f->found_by = FOUND_CONTEXT;
        }
        inlined = 0;
        index++;
    }
    return s;
}

struct truth *make_truth(struct arena *keep, const char *text)
{
    char *lines[LINES_MAX], *words[WORDS_MAX];
    if (text == NULL)
        return NULL;
    const uint32_t count = split(keep, text, '\n', lines, LINES_MAX);
    struct truth *truth = arena_alloc(keep, sizeof *truth);
    truth->threads = arena_alloc(keep, sizeof *truth->threads);
    truth->thread_count = 1;
    truth->threads[0].id = THREAD;
    truth->threads[0].role = THREAD_ROLE_SUSPECT;
    truth->threads[0].frames = arena_array(keep, (size_t)count + 1, sizeof(struct truth_frame));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t n = split(keep, lines[i], ' ', words, WORDS_MAX);
        if (n == 0)
            continue;
        struct truth_frame *f = &truth->threads[0].frames[truth->threads[0].frame_count++];
        if (words[0][0] == '[') {
            words[0][strcspn(words[0], "]")] = 0;
            f->gap = truth_gap_parse(words[0] + 1);
            continue;
        }
        f->function = words[0];
        if (n > 1)
            source(keep, words[1], &f->file, &f->line);
        f->tail = n > 2 && strcmp(words[2], "tail") == 0;
    }
    return truth;
}

struct engine_claim make_claim(struct arena *keep, const char *engine, bool subject,
                               const char *text)
{
    struct engine_claim claim = {.engine = engine, .shares = "symbols", .subject = subject};
    claim.kind = engine_kind_of(engine);
    if (text == NULL) {
        claim.skipped = true;
        claim.why = "not installed";
        return claim;
    }
    claim.stacks = arena_alloc(keep, sizeof *claim.stacks);
    claim.stacks[0] = make_stack(keep, engine, text);
    claim.stack_count = 1;
    claim.cost.total_ns = 2000000;
    return claim;
}

struct crash_case make_crash(enum case_kind kind)
{
    static const char *images[] = {"app.exe"};
    static struct case_file files[] = {{.role = ROLE_RECORD, .path = "record.rec", .bytes = 100},
                                       {.role = ROLE_DUMP, .path = "dump.dmp", .bytes = 1000}};
    struct crash_case c = {.scenario = "null_write", .variant = "ob2", .arch = CPU_X64};
    c.kind = kind;
    c.expect.code = c.got.code = 0xC0000005u;
    c.expect.exit_code = c.got.exit_code = 0xC0000005u;
    c.expect.hooks = c.got.hooks = HOOK_BIT(CASE_HOOK_UNHANDLED);
    c.got.ended_by = CASE_ENDING_EXIT;
    c.own.images = images;
    c.own.image_count = 1;
    c.own.source_root = "/src";
    c.files = files;
    c.file_count = 2;
    return c;
}
