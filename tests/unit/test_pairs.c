/* Which stack belongs to which dump, and what a file of stacks says (reporter/pairs.h, given.h).
 * Nothing here opens a dump: names of files are all that counts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "reporter/pairs.h"
#include "test.h"

enum { TEXT_BYTES = 2000 };

static char root[600]; /* of a row's files */

static void start_row(const char *name, size_t i)
{
    test_row(name);
    (void)snprintf(root, sizeof root, "%s/%zu", test_scratch(), i);
}

static const char *in(const char *name)
{
    static char path[900];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

/* Makes the files of a list "a/b.dmp c.txt", each with the same text. */
static void make_files(const char *list, const char *text)
{
    while (*list != '\0') {
        char name[200], path[1000];
        struct fault fault = FAULT_INIT;
        const size_t bytes = strcspn(list, " ");
        (void)snprintf(name, sizeof name, "%.*s", (int)bytes, list);
        (void)snprintf(path, sizeof path, "%s", in(name));
        char *slash = strrchr(path, '/');
        *slash = '\0';
        REQUIRE(folder_make(path, &fault) == ERR_NONE);
        *slash = '/';
        test_write(path, text, strlen(text));
        list += bytes + strspn(list + bytes, " ");
    }
}

/* A path below the row's folder, without what is before it. */
static const char *inside(const char *path)
{
    const size_t bytes = strlen(root);
    if (path == NULL)
        return "-";
    return strncmp(path, root, bytes) == 0 ? path + bytes + 1 : path;
}

/* "NAME=DUMP,STACK[,#FRAMES of a file of many][,THREAD]; ..." */
static void show_pairs(const struct pairs *pairs, char *out)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < pairs->count && at < TEXT_BYTES; i++) {
        const struct pair *pair = &pairs->at[i];
        at += (size_t)snprintf(out + at, TEXT_BYTES - at, "%s=%s,%s", pair->name,
                               inside(pair->dump), inside(pair->stack));
        if (pair->given != NULL)
            at += (size_t)snprintf(out + at, TEXT_BYTES - at, ",#%u", pair->given->places.count);
        if (pair->thread != 0)
            at += (size_t)snprintf(out + at, TEXT_BYTES - at, ",%u", pair->thread);
        at += (size_t)snprintf(out + at, TEXT_BYTES - at, "; ");
    }
}

#define ONE "a.exe!0x10\n"
#define DEEP "d/1/2/3/4/5/6/7/8/"

static const struct found {
    const char *name, *files, *want;
    enum status status;
} by_name[] = {
    {"nothing", "d/none.exe s/none.pdb", "", ERR_NONE},
    {"of one name", "d/a.dmp s/a.txt", "a=d/a.dmp,s/a.txt; ", ERR_NONE},
    {"each alone", "d/a.dmp s/b.txt", "a=d/a.dmp,-; b=-,s/b.txt; ", ERR_NONE},
    {"sorted by name", "d/c.dmp d/a.dmp s/b.json s/c.txt",
     "a=d/a.dmp,-; b=-,s/b.json; c=d/c.dmp,s/c.txt; ", ERR_NONE},
    {"every ending of a dump", "d/a.dmp d/b.mdmp d/c.hdmp d/e.minidump d/F.DMP s/x",
     "F=d/F.DMP,-; a=d/a.dmp,-; b=d/b.mdmp,-; c=d/c.hdmp,-; e=d/e.minidump,-; x=-,s/x; ", ERR_NONE},
    {"images and symbols are neither", "d/a.dmp s/a.txt s/b.exe s/c.dll s/e.sys s/f.pdb s/g.sym",
     "a=d/a.dmp,s/a.txt; ", ERR_NONE},
    {"a stack beside the dumps, a dump beside the stacks", "d/a.dmp d/b.txt s/c.dmp s/a.txt",
     "a=d/a.dmp,s/a.txt; ", ERR_NONE},
    {"only the last ending is left out", "d/a.1.dmp s/a.1.txt s/b.1",
     "a.1=d/a.1.dmp,s/a.1.txt; "
     "b=-,s/b.1; ",
     ERR_NONE},
    {"a name that begins with a dot is hidden", "d/.a.dmp d/b.dmp s/.b s/c.c",
     "b=d/b.dmp,-; c=-,s/c.c; ", ERR_NONE},
    {"folders are part of the name", "d/x/a.dmp d/y/a.dmp s/y/a.txt s/a.txt",
     "a=-,s/a.txt; x/a=d/x/a.dmp,-; y/a=d/y/a.dmp,s/y/a.txt; ", ERR_NONE},
    {"a dot in a folder's name", "d/x.y/a.dmp s/x.y/a", "x.y/a=d/x.y/a.dmp,s/x.y/a; ", ERR_NONE},
    {"eight folders deep", DEEP "a.dmp " DEEP "9/b.dmp s/c",
     "1/2/3/4/5/6/7/8/a=" DEEP "a.dmp,-; c=-,s/c; ", ERR_NONE},
    {"two dumps of one name", "d/a.dmp d/a.mdmp s/b", "a", ERR_MALFORMED},
    {"two stacks of one name", "d/b.dmp s/a.txt s/a.json", "a", ERR_MALFORMED},
};

TEST(dumps_and_stacks_of_one_name_are_a_pair)
{
    for (size_t i = 0; i < COUNT_OF(by_name); i++) {
        const struct found *row = &by_name[i];
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct pairs pairs;
        char dumps[900], text[TEXT_BYTES];
        start_row(row->name, i);
        arena_init(&keep, 0);
        make_files(row->files, ONE);
        (void)snprintf(dumps, sizeof dumps, "%s", in("d"));
        CHECK_EQ(pairs_find(dumps, in("s"), NULL, &keep, &pairs, &fault), row->status);
        if (row->status == ERR_NONE) {
            show_pairs(&pairs, text);
            CHECK_STR(text, row->want);
        } else {
            CHECK_STR(fault.path, row->want);
        }
        arena_free(&keep);
    }
}

/* The stacks have one to four frames, so that each is known by their number. */
#define MANY(A, B, C) "> " A "\n" ONE "> " B "\n" ONE ONE "> " C "\n" ONE ONE ONE

static const struct labelled {
    const char *name, *dumps, *text, *want;
    enum status status;
} by_label[] = {
    {"by stem, ending and folder", "d/a.dmp d/b.dmp d/x/c.dmp", MANY("a", "b.dmp", "c"),
     "a=d/a.dmp,s.txt,#1; b=d/b.dmp,s.txt,#2; x/c=d/x/c.dmp,s.txt,#3; ", ERR_NONE},
    {"in another order", "d/b.dmp d/x/a.dmp d/c.dmp", MANY("c.DMP", "x/a", "b"),
     "b=d/b.dmp,s.txt,#3; c=d/c.dmp,s.txt,#1; x/a=d/x/a.dmp,s.txt,#2; ", ERR_NONE},
    {"an ending that no dump has", "d/a.dmp", MANY("a.txt", "b", "c.dmp"),
     "a=d/a.dmp,-; a.txt=-,s.txt,#1; b=-,s.txt,#2; c=-,s.txt,#3; ", ERR_NONE},
    {"one without a label", "d/b.dmp", ONE "> b\n" ONE ONE,
     "b=d/b.dmp,s.txt,#2; stack 0=-,s.txt,#1; ", ERR_NONE},
    {"without dumps", "d/x.txt", MANY("c", "b", "a"), "a=-,s.txt,#3; b=-,s.txt,#2; c=-,s.txt,#1; ",
     ERR_NONE},
    {"without frames", "d/a.dmp", "> a\n> b\n" ONE, "a=d/a.dmp,s.txt,#0; b=-,s.txt,#1; ", ERR_NONE},
    {"a label twice", "d/a.dmp", MANY("a", "b", "a"), "a", ERR_MALFORMED},
    {"a label twice, of no dump", "d/a.dmp", MANY("c", "b", "c"), "c", ERR_MALFORMED},
    {"no stacks", "d/a.dmp", "one\ntwo\n", "s.txt", ERR_MALFORMED},
};

TEST(a_label_names_its_dump)
{
    for (size_t i = 0; i < COUNT_OF(by_label); i++) {
        const struct labelled *row = &by_label[i];
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct pairs pairs;
        char dumps[900], text[TEXT_BYTES];
        start_row(row->name, i);
        arena_init(&keep, 0);
        make_files(row->dumps, "");
        make_files("s.txt", row->text);
        (void)snprintf(dumps, sizeof dumps, "%s", in("d"));
        CHECK_EQ(pairs_find(dumps, in("s.txt"), NULL, &keep, &pairs, &fault), row->status);
        if (row->status == ERR_NONE) {
            show_pairs(&pairs, text);
            CHECK_STR(text, row->want);
        } else {
            CHECK_STR(inside(fault.path), row->want);
        }
        arena_free(&keep);
    }
}

static const struct tabled {
    const char *name, *table, *want;
    int offset; /* of the line that is no such line; -1: all are */
} by_table[] = {
    {"empty", "", "", -1},
    {"one line", "a.dmp,b.txt\n", "a=d/a.dmp,s/b.txt; ", -1},
    {"a head", "dump,stack,thread\na.dmp,b.txt,\n", "a=d/a.dmp,s/b.txt; ", -1},
    {"a head of two", "dump,stack\na.dmp,b.txt", "a=d/a.dmp,s/b.txt; ", -1},
    {"a head later is a pair", "a.dmp,b\ndump,stack\n", "a=d/a.dmp,s/b; dump=d/dump,s/stack; ", -1},
    {"threads", "a.dmp,b,7\na.dmp,c,0x1F\na.dmp,e,0\n",
     "a=d/a.dmp,s/e; a thread 31=d/a.dmp,s/c,31; a thread 7=d/a.dmp,s/b,7; ", -1},
    {"thread 1", "a.dmp,b,1\n", "a thread 1=d/a.dmp,s/b,1; ", -1},
    {"sorted", "c,1\nb,2\na,3\n", "a=d/a,s/3; b=d/b,s/2; c=d/c,s/1; ", -1},
    {"lines of Windows and blank ones", "\r\na.dmp,b\r\n\r\nc.dmp,e\r\n",
     "a=d/a.dmp,s/b; c=d/c.dmp,s/e; ", -1},
    {"quotes and blanks", "\"a,1.dmp\",\"b 2.txt\"\n  c.dmp  ,  e  , 5 \n",
     "a,1=d/a,1.dmp,s/b 2.txt; c thread 5=d/c.dmp,s/e,5; ", -1},
    {"something after a quote", "\"a.dmp\" ,b\n", "a=d/a.dmp,s/b; ", -1},
    {"absolute", "/x/a.dmp,/y/b\n", "/x/a=/x/a.dmp,/y/b; ", -1},
    {"names of one letter", "a,b\n", "a=d/a,s/b; ", -1},
    {"a dump alone, a stack alone", "a.dmp,\n,b.txt\n", "a=d/a.dmp,-; b=-,s/b.txt; ", -1},
    {"one cell", "a.dmp,b\nc.dmp\n", NULL, 8},
    {"two empty cells", "a.dmp,b\n\n,\n", NULL, 9},
    {"blanks only", "  ,  \n", NULL, 0},
    {"no end of a quote", "\"a.dmp,b\n", NULL, 0},
    {"no number", "dump,stack,thread\na.dmp,b,x\n", NULL, 18},
    {"half a number", "a.dmp,b,7x\n", NULL, 0},
    {"no number after 0x", "a.dmp,b,0xg\n", NULL, 0},
};

TEST(a_table_pairs_what_names_do_not)
{
    for (size_t i = 0; i < COUNT_OF(by_table); i++) {
        const struct tabled *row = &by_table[i];
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct pairs pairs;
        char dumps[900], stacks[900], text[TEXT_BYTES];
        start_row(row->name, i);
        arena_init(&keep, 0);
        make_files("d/a.dmp s/b.txt", ONE);
        make_files("t.csv", row->table);
        (void)snprintf(dumps, sizeof dumps, "%s", in("d"));
        (void)snprintf(stacks, sizeof stacks, "%s", in("s"));
        CHECK_EQ(pairs_find(dumps, stacks, in("t.csv"), &keep, &pairs, &fault),
                 row->offset < 0 ? ERR_NONE : ERR_MALFORMED);
        if (row->offset < 0) {
            show_pairs(&pairs, text);
            CHECK_STR(text, row->want);
        } else {
            CHECK_EQ(fault.offset, row->offset);
            CHECK_STR(inside(fault.path), "t.csv");
        }
        arena_free(&keep);
    }
}

TEST(a_folder_a_file_or_a_table_that_is_not_there_is_said)
{
    static const struct {
        const char *name, *dumps, *stacks, *table, *path;
        enum status want;
    } rows[] = {
        {"dumps", "none", "s", NULL, "none", ERR_ABSENT},
        {"stacks", "d", "none", NULL, "none", ERR_MALFORMED},
        {"table", "d", "s", "none", "none", ERR_ABSENT},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct pairs pairs;
        char dumps[900], stacks[900];
        start_row(rows[i].name, i);
        make_files("d/a.dmp s/b.txt", ONE);
        arena_init(&keep, 0);
        (void)snprintf(dumps, sizeof dumps, "%s", in(rows[i].dumps));
        (void)snprintf(stacks, sizeof stacks, "%s", in(rows[i].stacks));
        CHECK_EQ(pairs_find(dumps, stacks, rows[i].table != NULL ? in(rows[i].table) : NULL, &keep,
                            &pairs, &fault),
                 rows[i].want);
        CHECK_STR(inside(fault.path), rows[i].path);
        arena_free(&keep);
    }
}

/* ---- a file of stacks --------------------------------------------------------------------- */

#define ID "0123456789ABCDEF0123456789ABCDEF1"
#define LETTERS_50 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"
#define JSON_MODULES "\"modules\":[{\"index\":0,\"name\":\"a.exe\"}]"
#define JSON_FRAME(OFFSET) "{\"module\":0,\"offset\":\"" OFFSET "\"}"
#define NAMED(INDEX, DEPTH, OFFSET, NAME)                                                          \
    "{\"index\":" INDEX ",\"inline_depth\":" DEPTH ",\"module\":\"a.exe\",\"offset\":\"0x" OFFSET  \
    "\",\"function\":\"" NAME "\"}"

/* Frames as "MODULE!OFFSET", then "@" interrupted, "{ID}" an identity, "=NAME" a function, "?" no
 * offset, ":VA" the address that a reporter states with a name. */
static const struct given_row {
    const char *name, *text, *want;
    uint32_t suspect, frames, ignored;
    const char *first, *unreadable;
} given_rows[] = {
    {"two frames", "a.exe!0x10\nb.dll!0x20\n", "-: a.exe!10@ b.dll!20 ", 0, 2, 0, NULL, NULL},
    {"kinds", "a!0x1@r\na!0x2@i\n", "-: a!1 a!2@ ", 0, 2, 0, NULL, NULL},
    {"one module, another, and it again", "a!0x1\na!0x2\nb!0x3\na!0x4\n", "-: a!1@ a!2 b!3 a!4 ", 0,
     4, 0, NULL, NULL},
    {"an identity", "a!0x1 {" ID "}\na!0x2\nb!0x3\n", "-: a!1@{" ID "} a!2 b!3 ", 0, 3, 0, NULL,
     NULL},
    {"an identity of many frames", "# module a - " ID "\na!0x1\nb!0x2\na!0x3\na!0x4\n",
     "-: a!1@{" ID "} b!2 a!3{" ID "} a!4{" ID "} ", 0, 4, 0, NULL, NULL},
    {"a code id alone", "# module a 5F0000001000 -\na!0x1\n", "-: a!1@{5F0000001000} ", 0, 1, 0,
     NULL, NULL},
    {"in no module", "?!0x7ff000\na!0x1\n", "-: ?!7ff000@ a!1 ", 0, 2, 0, NULL, NULL},
    {"labels", "> one\na!0x1\n> two\na!0x2\na!0x3\n", "one: a!1@ two: a!2@ a!3 ", 0, 3, 0, NULL,
     NULL},
    {"the thread that crashed",
     "{" JSON_MODULES ",\"threads\":[{\"id\":5,\"stacks\":[{\"frames\":[" JSON_FRAME(
         "0x1") "]}]},{\"id\":9,\"crashed\":true,\"role\":\"suspect\",\"stacks\":[{\"role\":"
                "\"suspect\",\"frames\":[" JSON_FRAME("0x2") "]}]}]}",
     "thread 5: a.exe!1@ thread 9: a.exe!2@ ", 1, 2, 0, NULL, NULL},
    {"inline frames are not compared",
     "{\"frames\":[" NAMED("0", "1", "10", "f") "," NAMED("0", "0", "10", "g") "," NAMED(
         "1", "1", "20", "h") "," NAMED("1", "0", "20", "main") "]}\n",
     "-: a.exe!10@=g a.exe!20=main ", 0, 2, 0, NULL, NULL},
    {"a name and an offset in the function", "a.exe!f+0x10\na.exe!0x20\n",
     "-: a.exe!0@?=f a.exe!20 ", 0, 2, 0, NULL, NULL},
    {"an address beside it", "#0  0x00007ff700001010 in f ()\n#1  0x00007ff700001020 in main ()\n",
     "-: ?!7ff700001010@=f:7ff700001010 ?!7ff700001020=main:7ff700001020 ", 0, 2, 0, NULL, NULL},
    {"as many other lines", "one\ntwo\na!0x1\na!0x2\n", "-: a!1@ a!2 ", 0, 2, 2, "one", NULL},
    {"one other line more", "a!0x1\none\ntwo\n", "-: a!1@ ", 0, 1, 2, "one",
     "2 of 3 lines hold no frame, first \"one\""},
    {"only another", "one\n", "", 0, 0, 1, "one", "no line holds a frame, first \"one\""},
    {"what cannot be printed", "\x1f\x20\x7e\x7f\x80z\n", "", 0, 0, 1, "? ~??z",
     "no line holds a frame, first \"? ~??z\""},
    {"60 bytes of a line", LETTERS_50 "0123456789+-\n", "", 0, 0, 1, LETTERS_50 "0123456789",
     "no line holds a frame, first \"" LETTERS_50 "0123456789\""},
    {"empty", "", "", 0, 0, 0, NULL, NULL},
};

static void show_given(const struct given_file *file, char *out)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < file->count; i++) {
        const struct given_stack *stack = &file->stacks[i];
        at += (size_t)snprintf(out + at, TEXT_BYTES - at,
                               "%s: ", stack->label != NULL ? stack->label : "-");
        for (uint32_t k = 0; k < stack->places.count && at < TEXT_BYTES; k++) {
            const struct place *place = &stack->places.at[k];
            at += (size_t)snprintf(out + at, TEXT_BYTES - at, "%s!%" PRIx64 "%s%s",
                                   place->module != NULL ? place->module : "?", place->offset,
                                   place->interrupted ? "@" : "", place->no_offset ? "?" : "");
            if (place->function != NULL)
                at += (size_t)snprintf(out + at, TEXT_BYTES - at, "=%s", place->function);
            if (place->va != 0)
                at += (size_t)snprintf(out + at, TEXT_BYTES - at, ":%" PRIx64, place->va);
            if (place->image != NULL)
                at += (size_t)snprintf(out + at, TEXT_BYTES - at, "{%s}",
                                       place->image->debug_id[0] != '\0' ? place->image->debug_id
                                                                         : place->image->code_id);
            at += (size_t)snprintf(out + at, TEXT_BYTES - at, " ");
        }
    }
}

TEST(a_file_of_stacks_says_what_its_lines_say)
{
    for (size_t i = 0; i < COUNT_OF(given_rows); i++) {
        const struct given_row *row = &given_rows[i];
        struct fault fault = FAULT_INIT;
        struct given_file file;
        struct arena keep;
        char text[TEXT_BYTES];
        start_row(row->name, i);
        arena_init(&keep, 0);
        make_files("s.txt", row->text);
        REQUIRE(given_read(in("s.txt"), &keep, &file, &fault) == ERR_NONE);
        show_given(&file, text);
        CHECK_STR(text, row->want);
        CHECK_EQ(file.suspect, row->suspect);
        CHECK_EQ(file.frames, row->frames);
        CHECK_EQ(file.ignored, row->ignored);
        CHECK_STR(file.first_ignored, row->first);
        CHECK_STR(file.unreadable, row->unreadable);
        arena_free(&keep);
    }
}

TEST(a_file_of_stacks_that_is_not_there_is_named)
{
    struct fault fault = FAULT_INIT;
    struct given_file file;
    struct arena keep;
    start_row("none", 0);
    arena_init(&keep, 0);
    CHECK_EQ(given_read(in("none.txt"), &keep, &file, &fault), ERR_NONE);
    CHECK_EQ(file.count, 0);
    CHECK_HAS(file.unreadable, "none.txt");
    arena_free(&keep);
}
