/* Stacks as people read them, of `resolve` and of `dump`: every line whole. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "library/dump_text.h"
#include "library/stack_text.h"
#include "test.h"

static void check_text(struct text_out *out, const char *want)
{
    CHECK(!out->failed);
    text_put(out, "", 1);
    CHECK_STR(out->text, want);
    text_free(out);
}

#define PDB "pdb        "
#define NONE "none       "

/* A stack of one frame, 0x10 in a.dll. */
TEST(a_stack_of_one_frame_is_written)
{
    static const struct {
        const char *name;
        struct frame frame;
        struct stack stack;
        bool goes_on, colour;
        const char *want;
    } rows[] = {
        {"a name and a line",
         {.function = "f", .symbols = SYMBOLS_PDB, .file = "a.c", .line = 7},
         {.label = "x\n"},
         false,
         false,
         "> x?\n 0  a.dll!0x10  " PDB "f  a.c:7\n\n"},
        {"its rest follows",
         {.function = "f", .symbols = SYMBOLS_PDB, .file = "a.c"},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x10  " PDB "f  a.c\n"},
        {"inlined",
         {.function = "f", .symbols = SYMBOLS_PDB, .inline_depth = 1, .symbol_distance = 1},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x10  " PDB "[inline] f\n"},
        {"async, and the token of a method",
         {.function = "f", .symbols = SYMBOLS_PDB, .note = NOTE_ASYNC, .method_token = 0x06000009},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x06000009+0x10  " PDB "[async] f\n"},
        {"an iterator",
         {.function = "f", .symbols = SYMBOLS_PDB, .note = NOTE_ITERATOR},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x10  " PDB "[iterator] f\n"},
        {"a thunk, by the nearest name before it",
         {.function = "f",
          .symbols = SYMBOLS_EXPORT,
          .note = NOTE_LINK_JUMP,
          .symbol_distance = 0x1f},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x10  export     [thunk] f+0x1f\n"},
        {"a note of other words, and a name",
         {.function = "f", .symbols = SYMBOLS_PDB, .note = NOTE_OTHER, .note_words = "why"},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x10  " PDB "f\n"},
        {"no name, and why",
         {.note = NOTE_OTHER, .note_words = "why\a"},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x10  " NONE "(why?)\n"},
        {"no name, and a line",
         {.file = "a.c", .line = 7},
         {.label = NULL},
         true,
         false,
         " 0  a.dll!0x10  " NONE "(in no known module)  a.c:7\n"},
        {"the walk ended here: a name",
         {.function = "f", .symbols = SYMBOLS_PDB},
         {.stop = STOP_NO_UNWIND},
         false,
         false,
         " 0  a.dll!0x10  " PDB "f\n    (stopped in a function without unwind data: f)\n\n"},
        {"the walk ended here: a module",
         {.note = NOTE_NONE},
         {.stop = STOP_NO_UNWIND},
         false,
         false,
         " 0  a.dll!0x10  " NONE "(in no known module)\n"
         "    (stopped in a function without unwind data: a.dll)\n\n"},
        {"the walk ended for another reason",
         {.function = "f", .symbols = SYMBOLS_PDB},
         {.stop = STOP_DEBUGGER_END},
         false,
         false,
         " 0  a.dll!0x10  " PDB "f\n\n"},
        {"failed, and no reason",
         {.function = "f", .symbols = SYMBOLS_PDB},
         {.state = STACK_FAILED},
         true,
         false,
         "    (failed)\n 0  a.dll!0x10  " PDB "f\n"},
        {"colours",
         {.function = "f", .symbols = SYMBOLS_PDB, .file = "a.c", .line = 70},
         {.label = NULL},
         true,
         true,
         "\033[2m 0  a.dll!0x10  " PDB "\033[0m\033[1mf\033[0m  \033[2ma.c:70\033[0m\n"},
        {"the colour of what is inlined",
         {.function = "f", .symbols = SYMBOLS_PDB, .inline_depth = 2},
         {.label = NULL},
         true,
         true,
         "\033[2m 0  a.dll!0x10  " PDB "\033[0m\033[36m[inline] f\033[0m\n"},
        {"the colour of a note",
         {.note = NOTE_OTHER, .note_words = "why"},
         {.label = NULL},
         true,
         true,
         "\033[2m 0  a.dll!0x10  " NONE "\033[0m\033[33m(why)\033[0m\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text_out out = {0};
        struct frame frame = rows[i].frame;
        struct stack stack = rows[i].stack;
        test_row(rows[i].name);
        frame.module_name = "a.dll";
        frame.offset = 0x10;
        stack.frames = &frame;
        stack.frame_count = 1;
        stack_text_write(&out, &stack, rows[i].goes_on, rows[i].colour);
        check_text(&out, rows[i].want);
    }
}

/* Names that may be wrong say so after the line. */
TEST(a_doubtful_name_has_its_note)
{
    static const struct {
        enum frame_note note;
        bool said;
    } rows[] = {{NOTE_NONE, false},
                {NOTE_SPLIT_MISSING, false},
                {NOTE_PDB_PART_DAMAGED, true},
                {NOTE_IMAGE_PART_DAMAGED, true},
                {NOTE_PDB_OTHER_BUILD, true},
                {NOTE_GIVEN_FILE_OTHER_BUILD, true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text_out out = {0};
        struct frame frame = {.module_name = "a.dll",
                              .offset = 0x10,
                              .function = "f",
                              .symbols = SYMBOLS_PDB,
                              .note = rows[i].note};
        const struct stack stack = {.frames = &frame, .frame_count = 1};
        char want[400];
        const char *words = frame_note_name(rows[i].note);
        test_row(words);
        (void)snprintf(want, sizeof want, " 0  a.dll!0x10  " PDB "f%s%s%s\n",
                       rows[i].said ? "  (" : "", rows[i].said ? words : "",
                       rows[i].said ? ")" : "");
        stack_text_write(&out, &stack, true, false);
        check_text(&out, want);
    }
}

/* Only the nearest name before an address shows how far before; of Breakpad, COFF, ELF and
 * generated code as of exports. */
TEST(a_nearest_name_shows_its_distance)
{
    static const bool shows[SYMBOLS_COUNT] = {
        [SYMBOLS_EXPORT] = true, [SYMBOLS_COFF] = true,   [SYMBOLS_PDB_PUBLIC] = true,
        [SYMBOLS_JIT] = true,    [SYMBOLS_SYMTAB] = true, [SYMBOLS_BREAKPAD_PUBLIC] = true,
        [SYMBOLS_NEAREST] = true};
    for (int from = SYMBOLS_PDB; from < SYMBOLS_COUNT; from++) {
        struct text_out out = {0};
        struct frame frame = {.module_name = "a.dll",
                              .function = "f",
                              .symbols = (enum symbols_from)from,
                              .symbol_distance = 0xab};
        const struct stack stack = {.frames = &frame, .frame_count = 1};
        char want[100];
        test_row(symbols_from_name((enum symbols_from)from));
        (void)snprintf(want, sizeof want, " 0  a.dll!0x0  %-10s %s\n",
                       symbols_from_name((enum symbols_from)from), shows[from] ? "f+0xab" : "f");
        stack_text_write(&out, &stack, true, false);
        check_text(&out, want);
    }
}

/* A place of 48 columns and a name of 56 widen the columns; longer ones do not. */
TEST(columns_are_as_wide_as_what_fits)
{
    static const struct {
        const char *name;
        size_t place, function, index; /* columns of the second frame; its index */
        int place_pad, name_pad, index_columns;
    } rows[] = {
        {"a place that fits", 48, 1, 1, 48, 1, 2},   {"one that does not", 49, 1, 1, 10, 1, 2},
        {"a name that fits", 10, 56, 99, 10, 56, 2}, {"one that does not fit", 10, 57, 1, 10, 1, 2},
        {"a hundred frames", 10, 1, 100, 10, 1, 3},  {"999", 10, 1, 999, 10, 1, 3},
        {"a thousand", 10, 1, 1000, 10, 1, 4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char module[64], function[64], want[600];
        struct text_out out = {0};
        test_row(rows[i].name);
        memset(module, 'm', sizeof module);
        module[rows[i].place - strlen("!0x1")] = '\0';
        memset(function, 'g', sizeof function);
        function[rows[i].function] = '\0';
        struct frame frames[] = {
            {.module_name = "a.dll", .offset = 0x10, .function = "f", .file = "a.c", .line = 7},
            {.index = (uint32_t)rows[i].index,
             .module_name = module,
             .offset = 1,
             .function = function,
             .file = "b.c",
             .line = 8}};
        const struct stack stack = {.frames = frames, .frame_count = COUNT_OF(frames)};
        char place[64];
        (void)snprintf(place, sizeof place, "%s!0x1", module);
        (void)snprintf(want, sizeof want,
                       "%*d  %-*s  " NONE "%-*s  a.c:7\n%*zu  %-*s  " NONE "%-*s  b.c:8\n",
                       rows[i].index_columns, 0, rows[i].place_pad, "a.dll!0x10", rows[i].name_pad,
                       "f", rows[i].index_columns, rows[i].index, rows[i].place_pad, place,
                       rows[i].name_pad, function);
        stack_text_write(&out, &stack, true, false);
        check_text(&out, want);
    }
}

/* limits.h: of a deep stack the first 768 frames are kept, then the last. */
TEST(what_a_deep_stack_leaves_out_is_said_where_it_was)
{
    enum { HEAD = 768 };
    static const struct {
        uint32_t left_out;
        const char *resolved, *dumped; /* the lines between the two */
    } rows[] = {{0, "", ""}, {5, "     5 frames left out\n", "         ... 5 frames left out\n"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int dumped = 0; dumped < 2; dumped++) {
            struct text_out out = {0};
            struct frame *frames = calloc(HEAD + 1, sizeof *frames);
            char around[300];
            REQUIRE(frames != NULL);
            for (uint32_t k = 0; k <= HEAD; k++)
                frames[k] = (struct frame){.index = k, .module_name = "a", .function = "f"};
            const struct stack stack = {
                .frames = frames, .frame_count = HEAD + 1, .left_out = rows[i].left_out};
            if (dumped)
                dump_print_stack(&out, &stack);
            else
                stack_text_write(&out, &stack, true, false);
            text_put(&out, "", 1);
            const char *line = strstr(out.text, dumped ? "  #767" : "767  ");
            const char *next = strstr(out.text, dumped ? "  #768" : "768  ");
            REQUIRE(line != NULL && next != NULL);
            line = strchr(line, '\n') + 1;
            (void)snprintf(around, sizeof around, "%.*s", (int)(next - line), line);
            CHECK_STR(around, dumped ? rows[i].dumped : rows[i].resolved);
            text_free(&out);
            free(frames);
        }
}

TEST(a_stack_of_a_dump_is_printed)
{
    static const struct {
        const char *name;
        struct frame frame;
        struct stack stack;
        const char *head, *function, *place, *after;
    } rows[] = {
        {"all of it",
         {.index = 3,
          .module_name = "a.dll",
          .offset = 0x10,
          .function = "f",
          .file = "C:\\x\\a.c",
          .line = 7,
          .kind = PC_INTERRUPTED,
          .found_by = FOUND_LEAF,
          .note = NOTE_OTHER,
          .note_words = "why"},
         {.thread_id = 8,
          .thread_name = "main\n",
          .role = THREAD_ROLE_SUSPECT,
          .stop = STOP_DEBUGGER_END},
         "\nthread 8 \"main?\" (suspect)\n  #3     ",
         "f",
         "a.c:7",
         " a.dll!0x10  leaf, interrupted (why)\n  stop: the debugger's backtrace ends\n"},
        {"generated code of a caller",
         {.pc_va = 0x7700,
          .offset = 0x10,
          .method_token = 0x06000009,
          .kind = PC_RETURN,
          .found_by = FOUND_LEAF},
         {.thread_id = 8},
         "\nthread 8\n  #0     ",
         "?",
         "",
         " ?!0x06000009+0x7700  leaf\n"},
        {"inlined",
         {.inline_depth = 1, .function = "f", .file = "a.c", .line = 9},
         {.thread_id = 8},
         "\nthread 8\n         ",
         "f",
         "a.c:9",
         " inlined\n"},
        {"not walked",
         {.function = "f", .kind = PC_RETURN, .module_name = "a.dll", .found_by = FOUND_LEAF},
         {.thread_id = 8, .state = STACK_FAILED, .stop_detail = "why"},
         "\nthread 8\n  #0     ",
         "f",
         "",
         " a.dll!0x0  leaf\n  not walked: why\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text_out out = {0};
        struct frame frame = rows[i].frame;
        struct stack stack = rows[i].stack;
        char want[400];
        test_row(rows[i].name);
        stack.frames = &frame;
        stack.frame_count = 1;
        (void)snprintf(want, sizeof want, "%s%-44s %-28s%s", rows[i].head, rows[i].function,
                       rows[i].place, rows[i].after);
        dump_print_stack(&out, &stack);
        check_text(&out, want);
    }
}
