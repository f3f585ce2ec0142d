/* The ways in which a reporter's stack can be wrong: each is named where what it predicts is the
 * given stack, and nowhere else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "reporter/recognise.h"
#include "test.h"

enum { PLACES_MAX = 200 };

/* app was linked for 0x140000000, its code begins at 0x1000 and in the file at 0x400; old is no
 * longer loaded. */
static const struct module app = {
    .name = "app.exe", .code_id = "11111111a000", .base_va = 0x7ff690010000, .image_bytes = 0xa000};
static const struct module plug = {.name = "plug.dll",
                                   .code_id = "333333338000",
                                   .base_va = 0x7ffa40000000,
                                   .image_bytes = 0x8000};
static const struct module old = {
    .name = "old.dll", .base_va = 0x7ffa3fff0000, .image_bytes = 0x20000};
static const struct module *const modules[] = {&app, &plug, &old};

/* Frames like "app!1010 plug!2000i ?!77 app=name app!1010=name". */
static struct places parse(const char *text, struct arena *keep)
{
    struct place *at = ARENA_ARRAY(keep, PLACES_MAX, struct place);
    char *rest = arena_string(keep, text), *word;
    uint32_t count = 0;
    REQUIRE(at != NULL && rest != NULL);
    while ((word = text_next_word(&rest)) != NULL) {
        struct place *p = &at[count];
        char *name = strchr(word, '='), *mark = strchr(word, '!');
        REQUIRE(count < PLACES_MAX && (mark != NULL || name != NULL));
        if (name != NULL)
            *name++ = '\0';
        p->function = name;
        p->no_offset = mark == NULL;
        p->interrupted = count == 0;
        if (mark != NULL) {
            *mark++ = '\0';
            char *end;
            p->offset = strtoull(mark, &end, 16);
            if (*end != '\0')
                p->interrupted = *end == 'i';
        }
        for (size_t m = 0; m < COUNT_OF(modules); m++)
            if (module_names_equal(word, modules[m]->name)) {
                p->image = modules[m];
                p->module = modules[m]->name;
            }
        if (p->module == NULL && strcmp(word, "?") != 0)
            p->module = word;
        p->va = p->image != NULL ? p->image->base_va + p->offset : p->offset;
        count++;
    }
    if (count > 0 && count < PLACES_MAX)
        at[count] = at[count - 1]; /* what reads past the end finds one frame more */
    return (struct places){at, count};
}

struct world {
    struct arena keep;
    const char *chain, *thread;
};

static bool preferred_base(void *self, const struct module *module, uint64_t *out)
{
    (void)self;
    *out = module == &app ? 0x140000000 : module->base_va;
    return true;
}

static bool section(void *self, const struct module *module, uint64_t rva, uint32_t *start_rva,
                    uint32_t *start_foff)
{
    (void)self;
    (void)module;
    *start_rva = 0x1000;
    *start_foff = 0x400;
    return rva >= 0x1000;
}

static bool is_code(void *self, uint64_t va)
{
    (void)self;
    return va % 0x10000 >= 0x1000 && va % 0x10000 < 0x6000;
}

static uint64_t stack_slot(void *self, uint64_t va)
{
    (void)self;
    return va == app.base_va + 0x1777 ? 0x5ff8 : 0;
}

static uint32_t inlines(void *self, const struct place *frame)
{
    (void)self;
    return frame->image == &app && frame->offset == 0x1020 ? 2 : 0;
}

/* app!1020 is main's, and end's without the step back. */
static enum named_as named(void *self, const struct place *frame, const char *name)
{
    (void)self;
    if (frame->offset != 0x1020)
        return NAMED_UNKNOWN;
    return strcmp(name, "main") == 0  ? NAMED_HERE
           : strcmp(name, "end") == 0 ? NAMED_WITHOUT_STEP
                                      : NAMED_OTHERWISE;
}

static struct places chain(void *self)
{
    struct world *w = self;
    return parse(w->chain, &w->keep);
}

static bool thread(void *self, uint32_t index, uint32_t *id, struct places *out)
{
    struct world *w = self;
    *id = 7;
    *out = parse(w->thread, &w->keep);
    return index == 0;
}

#define TRUE_STACK "app!1010 app!1020 plug!2000 plug!2100 app!1040 app!1050"

struct row {
    const char *name, *truth, *given, *want;
    uint32_t first;
    const char *words; /* part of what is said; NULL: anything */
};

static const struct row rows[] = {
    {"the same", TRUE_STACK, TRUE_STACK, "sound", 0, NULL},
    {"without endings", "app!1010 plug!2000", "app!1010 PLUG!2000", "sound", 0, NULL},
    {"nothing", TRUE_STACK, "", "empty", 0, NULL},
    {"calls, looked up where they are", "app!1010 app!1020", "app!1010 app!101fi", "sound", 0,
     NULL},

    {"returns one lower", "app!1010 app!1020 app!1040", "app!1010 app!101f app!103f",
     "lookup_address", 1, "stepped back again"},
    {"the interrupted one lower", "app!1010 app!1020", "app!100f app!1020", "lookup_address", 0,
     "as if it were a return"},
    {"all lower", "app!1010 app!1020", "app!100f app!101f", "lookup_address", 0, "all addresses"},
    {"arm64 calls", "app!1010 app!1020", "app!1010 app!101c", "lookup_address", 1, NULL},
    {"a return marked as interrupted", "app!1010 app!1020", "app!1010 app!1020i", "lookup_address",
     1, "without the step"},
    {"an interrupted one marked as return", "app!1010 app!1020", "app!1010r app!1020",
     "lookup_address", 0, "too early"},
    {"the first frame of a captured context", "app!1010r app!1020", "app!1010 app!1020", "sound", 0,
     NULL},
    {"named without the step", "app!1010 app!1020", "app!1010=f app!1020=end", "lookup_address", 1,
     "one byte after"},
    {"named rightly", "app!1010 app!1020", "app!1010=f app!1020=main", "sound", 0, NULL},
    {"named otherwise", "app!1010 app!1020", "app!1010 app!1020=other", "other_symbols", 1,
     "other"},
    {"only names", "app!1020 app!1020", "app=main app=main", "sound", 0, NULL},
    {"only names, another", "app!1020 app!1020", "app=main app=other", "other_symbols", 1, NULL},

    {"absolute in their modules", "app!1010 plug!2000", "app!7ff690011010 plug!7ffa40002000",
     "absolute_addresses", 0, NULL},
    {"absolute in no module", "app!1010 plug!2000", "?!7ff690011010 ?!7ffa40002000",
     "absolute_addresses", 0, NULL},
    {"the preferred base subtracted", "app!1010 plug!2000", "app!7ff550011010 plug!2000",
     "preferred_base", 0, "subtracted"},
    {"the same in 32 bits", "app!1010 plug!2000", "app!50011010 plug!2000", "preferred_base", 0,
     "subtracted"},
    {"addresses at the preferred base", "app!1010 app!1020", "app!140001010 app!140001020",
     "preferred_base", 0, "image at"},
    {"low 32 bits", "app!1010 plug!2000", "app!90011010 plug!40002000", "low_32_bits", 0, NULL},
    {"sign-extended", "app!1010 app!1020", "?!ffffffff90011010 ?!ffffffff90011020", "low_32_bits",
     0, "sign"},
    {"offsets in the file", "app!1010 app!1020", "app!410 app!420", "shifted_offsets", 0, "file"},
    {"offsets in the section", "app!1010 app!1020", "app!10 app!20", "shifted_offsets", 0,
     "section"},
    {"beside a frame of no module, which has no section", "app!1010 ?!77 app!1020",
     "app!10 ?!77 app!20", "shifted_offsets", 0, "section"},
    {"the first of them is found after it", "?!77 app!1020", "?!77 app!20", "shifted_offsets", 1,
     "section"},
    {"a frame of no module that differs is in no section", "app!1010 ?!77 app!1020 app!1040",
     "app!10 ?!78 app!20 app!40", "unexplained", 0, NULL},
    {"a constant", TRUE_STACK, "app!1050 app!1060 plug!2040 plug!2140 app!1080 app!1090",
     "shifted_offsets", 0, "by +0x40"},
    {"a constant in one module", TRUE_STACK,
     "app!1010 app!1020 plug!1f80 plug!2080 app!1040 app!1050", "shifted_offsets", 2,
     "by -0x80 in plug.dll"},
    {"one frame off is no constant", "app!1010 app!1020 plug!2000", "app!1010 app!1020 plug!7000",
     "invented_frames", 2, NULL},

    {"modules swapped", TRUE_STACK, "plug!1010 plug!1020 app!2000 app!2100 plug!1040 plug!1050",
     "wrong_modules", 0, "frames of app.exe are written as frames of plug.dll"},
    {"of an unloaded module", "app!1010 plug!2000 plug!2100", "app!1010 old!12000 old!12100",
     "wrong_modules", 1, "old.dll"},
    {"another base of one module", TRUE_STACK,
     "app!1010 app!1020 plug!32000 plug!32100 app!1040 app!1050", "wrong_modules", 2,
     "was taken to be at"},
    {"the same multiple in all is a constant", "app!1010 app!1020 plug!2000 plug!2100",
     "app!11010 app!11020 plug!12000 plug!12100", "shifted_offsets", 0, "by +0x10000"},

    {"reversed", TRUE_STACK, "app!1050 app!1040 plug!2100 plug!2000 app!1020 app!1010", "reversed",
     0, NULL},
    {"inline frames", "app!1010 app!1020 app!1040", "app!1010 app!1020 app!1020 app!1020 app!1040",
     "inlines_as_frames", 1, NULL},
    {"one time too often for inline frames", "app!1010 app!1020 app!1040",
     "app!1010 app!1020 app!1020 app!1040", "duplicated_frames", 2, NULL},
    {"each twice", "app!1010 app!1040", "app!1010 app!1010 app!1040 app!1040", "duplicated_frames",
     1, NULL},
    {"the last again and again", "app!1010 app!1040", "app!1010 app!1040 app!1040 app!1040",
     "duplicated_frames", 2, "3 times in place of 1"},
    {"the whole stack twice", "app!1010 app!1040", "app!1010 app!1040 app!1010 app!1040",
     "duplicated_frames", 2, "2 times"},
    {"recursion", "app!1010 app!1040 app!1040 app!1050", "app!1010 app!1040 app!1040 app!1050",
     "sound", 0, NULL},

    {"by frame pointers", TRUE_STACK, "app!1010 app!1020 app!1040 app!1050", "frame_pointers", 2,
     NULL},
    {"the front alone is no chain", "app!1010 app!1020 plug!2000", "app!1010 app!1020",
     "dropped_frames", 2, "the last frame"},
    {"the first missing", TRUE_STACK, "app!1020 plug!2000 plug!2100 app!1040 app!1050",
     "dropped_frames", 0, "the first frame"},
    {"two missing in front", TRUE_STACK, "plug!2000 plug!2100 app!1040 app!1050", "dropped_frames",
     0, "the first 2"},
    {"one missing inside", TRUE_STACK, "app!1010 app!1020 plug!2000 app!1040 app!1050",
     "dropped_frames", 3, "frame 3 of 6"},
    {"every second missing", TRUE_STACK, "app!1010 plug!2000 app!1040", "dropped_frames", 1,
     "one in every 2 frames"},
    {"several missing", TRUE_STACK, "app!1010 plug!2100 app!1050", "dropped_frames", 1,
     "3 of 6 frames"},
    {"ended early", TRUE_STACK, "app!1010 app!1020 plug!2000", "truncated", 3, "after 3 of 6"},
    {"ended at a limit",
     "app!1 app!2 app!3 app!4 app!5 app!6 app!7 app!8 app!9 app!a app!b app!c app!d app!e app!f "
     "app!10 app!11",
     "app!1 app!2 app!3 app!4 app!5 app!6 app!7 app!8 app!9 app!a app!b app!c app!d app!e app!f "
     "app!10",
     "truncated", 16, "after 16 of 17"},

    {"the handler on top", "app!1010 app!1020 app!1040",
     "plug!3000 app!3100 app!1010 app!1020 app!1040", "handler_frames", 0, "begins at frame 2"},
    {"the handler on top, and truncated", TRUE_STACK, "plug!3000 app!1010 app!1020 plug!2000",
     "handler_frames", 0, "ends after 4"},
    {"a value of the stack on top is no handler", "app!1010 app!1020", "app!1777 app!1010 app!1020",
     "invented_frames", 0, "left on the stack at 0x5ff8"},
    {"another thread", TRUE_STACK, "plug!5000 plug!5010", "other_thread", 0, "thread 7"},
    {"another thread is more than frames twice", "plug!5000", "plug!5000 plug!5010", "other_thread",
     1, "thread 7"},
    {"a part of another thread", TRUE_STACK, "plug!5000", "unexplained", 0, NULL},
    {"left on the stack", "app!1010 app!1020 app!1040", "app!1010 app!1777 app!1020 app!1040",
     "invented_frames", 1, "left on the stack at 0x5ff8"},
    {"no code", "app!1010 app!1020 app!1040", "app!1010 app!9000 app!1020 app!1040",
     "invented_frames", 1, "no code"},
    {"in no module", "app!1010 app!1020 app!1040", "app!1010 app!1020 app!1040 ?!1234",
     "invented_frames", 3, "no code"},
    {"in place of one", "app!1010 app!1020 app!1040 app!1050",
     "app!1010 app!1020 app!5500 app!1050", "invented_frames", 2,
     "frame 2 is code, and nothing on the stack returns to it"},
    {"in place of one of two", "app!1010 app!1040", "app!1010 app!5500", "invented_frames", 1,
     "frame 1 is code, and nothing on the stack returns to it"},
    {"in place of a third", TRUE_STACK, "app!1010 app!5500 plug!2000 plug!2100 app!5600 app!1050",
     "invented_frames", 1, "frame 1 is code, and nothing on the stack returns to it, and 1 more"},
    {"in place of more than a third", TRUE_STACK,
     "app!1010 app!5500 plug!2000 plug!5000 app!5600 app!1050", "unexplained", 1, NULL},
    {"in place of the only one", "app!1010", "app!5500", "unexplained", 0, NULL},

    {"an identity of another build", "app!1010 plug!2000", "app!1010 plug!2000", "sound", 0, NULL},
    {"nothing in common", TRUE_STACK, "app!5000 app!5100 plug!5200", "unexplained", 0, NULL},
    {"in common up to a frame", "app!1010 app!1020 plug!2000 app!1040",
     "app!1010 app!1020 plug!5000 plug!5100", "unexplained", 2, NULL},
};

static struct crash_world make_world(struct world *w)
{
    arena_init(&w->keep, 0);
    w->chain = "app!1010 app!1020 app!1040 app!1050";
    w->thread = "plug!5000 plug!5010";
    return (struct crash_world){.self = w,
                                .modules = modules,
                                .module_count = COUNT_OF(modules),
                                .preferred_base = preferred_base,
                                .section = section,
                                .is_code = is_code,
                                .stack_slot = stack_slot,
                                .inlines = inlines,
                                .named = named,
                                .chain = chain,
                                .thread = thread};
}

TEST(each_way_is_named)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct world w;
        const struct crash_world world = make_world(&w);
        struct recognition in = {&world, &w.keep, parse(row->given, &w.keep),
                                 parse(row->truth, &w.keep)};
        struct recognised found;
        test_row(row->name);
        REQUIRE(recognise(&in, &found));
        CHECK_STR(mechanism_row(found.mechanism)->name, row->want);
        CHECK_EQ(found.first, row->first);
        if (row->words != NULL)
            CHECK(found.words != NULL && strstr(found.words, row->words) != NULL);
        arena_free(&w.keep);
    }
}

/* The order of the rows matters: nothing that is sound may be taken for anything else, whatever
 * the world knows, and a world that knows nothing must not accuse either. */
TEST(a_world_that_knows_nothing_accuses_nobody)
{
    const struct crash_world empty = {.self = NULL};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        (void)make_world(&w);
        const struct places truth = parse(rows[i].truth, &w.keep);
        struct recognition in = {&empty, &w.keep, truth, truth};
        struct recognised found;
        test_row(rows[i].name);
        REQUIRE(recognise(&in, &found));
        CHECK_STR(mechanism_row(found.mechanism)->name, "sound");
        arena_free(&w.keep);
    }
}

static uint32_t own_thread; /* of the many threads, the one whose stack is given */

static bool one_of_many(void *self, uint32_t index, uint32_t *id, struct places *out)
{
    struct world *w = self;
    *id = index;
    *out = parse(index == own_thread ? w->thread : "app!3000", &w->keep);
    return true;
}

/* Of a dump that states threads without end, the first 4,096 are compared. */
TEST(threads_without_end_are_not_followed)
{
    static const struct {
        const char *name, *want;
        uint32_t at;
    } threads[] = {{"the first", "other_thread", 0},
                   {"the last that is compared", "other_thread", 4095},
                   {"the one after it", "unexplained", 4096}};
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        struct world w;
        struct crash_world world = make_world(&w);
        struct recognition in = {&world, &w.keep, parse(w.thread, &w.keep),
                                 parse("app!1010 app!1020", &w.keep)};
        struct recognised found;
        test_row(threads[i].name);
        own_thread = threads[i].at;
        world.thread = one_of_many;
        REQUIRE(recognise(&in, &found));
        CHECK_STR(mechanism_row(found.mechanism)->name, threads[i].want);
        arena_free(&w.keep);
    }
}

TEST(an_identity_of_another_build)
{
    static const struct {
        const char *name, *module, *code_id, *want, *words;
    } ids[] = {{"the same", "app.exe", "11111111a000", "sound", NULL},
               {"another", "app.exe", "22222222a000", "wrong_build",
                "app.exe is stated as 22222222a000, and 11111111a000 ran"},
               {"of the second module", "plug.dll", "22222222a000", "wrong_build",
                "plug.dll is stated as 22222222a000, and 333333338000 ran"},
               {"none", "app.exe", "", "sound", NULL}};
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct world w;
        const struct crash_world world = make_world(&w);
        struct module stated = {.name = ids[i].module};
        struct place given = {
            .module = ids[i].module, .image = &stated, .offset = 0x1010, .interrupted = true};
        const bool first = strcmp(ids[i].module, "app.exe") == 0;
        struct recognition in = {
            &world, &w.keep, {&given, 1}, parse(first ? "app!1010" : "plug!1010", &w.keep)};
        struct recognised found;
        test_row(ids[i].name);
        (void)snprintf(stated.code_id, sizeof stated.code_id, "%s", ids[i].code_id);
        REQUIRE(recognise(&in, &found));
        CHECK_STR(mechanism_row(found.mechanism)->name, ids[i].want);
        CHECK(ids[i].words == NULL || text_equal(found.words, ids[i].words));
        arena_free(&w.keep);
    }
}

TEST(names_of_modules)
{
    static const struct {
        const char *name, *a, *b;
        bool equal;
    } names[] = {
        {"case", "App.exe", "aPP.EXE", true},
        {"the first letter and the last", "aZ.dll", "Az.DLL", true},
        {"turned", "Az.dll", "aZ.DLL", true},
        {"what comes before and after the letters", "@[.dll", "`{.dll", false},
        {"no ending", "app", "APP.exe", true},
        {"no ending, turned", "app.dll", "app", true},
        {"another ending", "app.dll", "app.exe", false},
        {"a start", "ap", "app.exe", false},
        {"none", NULL, "app.exe", false},
        {"two of none", NULL, NULL, true},
        {"dots", "a.b", "a.b.dll", true},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        test_row(names[i].name);
        CHECK_EQ(module_names_equal(names[i].a, names[i].b), names[i].equal);
    }
}
