/* Edges of the notations of stacks: the shortest text, the first and last address of an image, each
 * name that a value may have. What is expected follows from stack_input.h and from the documents
 * that the notations name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "stack_text.h"
#include "stacks/stack_input.h"
#include "stacks/stack_reader.h"
#include "test.h"

struct row {
    const char *name, *text, *want;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        test_row(rows[i].name);
        CHECK_STR(stack_text(rows[i].text, strlen(rows[i].text)), rows[i].want);
    }
}

#define ID "3249D99D0C4049318610F4E4FB0B6936"

TEST(lines_of_our_own_form)
{
    static const struct row rows[] = {
        {"a name of one letter", "a!0x1\n", "-: a!0x1@i\n"},
        {"X in capitals", "a!0X1f\n", "-: a!0x1f@i\n"},
        {"@ and no kind", "a!0x1@\nb!0x2@q\nc!0x3@ir\n",
         "-: !malformed@0\n-: !malformed@7\n-: !malformed@15\n"},
        {"a token and an IL offset", "a!0x06000001+0x5\nb!0x06ffffff+0xffffffff@i\n",
         "-: a!0x5@i b!0xffffffff@i\n"},
        {"an IL offset of 33 bits", "a!0x06000001+0x100000000\n", "-: !malformed@0\n"},
        {"a token without an IL offset", "a!0x06000001+\n", "-: !malformed@0\n"},
        {"a token of table 5 and of table 7", "a!0x05000001+0x5\nb!0x07000001+0x5\n",
         "-: !malformed@0\n-: !malformed@17\n"},
        {"a token of nine digits", "a!0x060000011+0x5\n", "-: !malformed@0\n"},
        {"generated code with a plus in its name", "jit!a+b+0x9\n", "-: jit!a+b!0x9@i\n"},
        {"quotes of three kinds", "\"a!0x1\"\n'b!0x2'\n`c!0x3`\n`d!0x4'\n",
         "-: a!0x1@i b!0x2@r c!0x3@r d!0x4@r\n"},
        {"a UUID after a frame", "a!0x1 {" ID "}\n", "-: a!0x1@i{," ID "0}\n"},
        {"in a list", "at \"a!0x1\",\n\"b!0x2\";\n", "-: a!0x1@i b!0x2@r\n"},
        {"blanks of every kind", " \t\f\va!0x1 \r\n", "-: a!0x1@i\n"},
        {"a UUID of 32 digits has age 0", "# module a - " ID "\na!0x1\n", "-: a!0x1@i{," ID "0}\n"},
        {"with dashes, too", "# module a - 3249D99D-0C40-4931-8610-F4E4FB0B6936\na!0x1\n",
         "-: a!0x1@i{," ID "0}\n"},
        {"neither is known", "# module a - -\na!0x1\n", "-: a!0x1@i\n"},
        {"a code id alone", "# module a 5ab380779000 -\na!0x1\n", "-: a!0x1@i{5AB380779000,}\n"},
        {"a range and no name", "# module 5ab380779000 " ID "1 0x1000 0x1000\n?!0x1001\n",
         "-: ?!0x1001@i\n"},
        {"a label without a blank", ">x\na!0x1\n>\nb!0x2\n", "x: a!0x1@i\n: b!0x2@i\n"},
    };
    check_rows(rows, COUNT_OF(rows));
}

/* 0x400000 to 0x401000 is a, 0x402000 to 0x403000 is b. */
TEST(addresses_of_a_load_map)
{
    static const struct row rows[] = {
        {"the first byte", "0x400000\n", "-: a!0x0@i\n"},
        {"the last byte", "0x400fff\n", "-: a!0xfff@i\n"},
        {"the one after it", "0x401000\n", "-: ?!0x401000@i\n"},
        {"one before it", "0x3fffff\n", "-: ?!0x3fffff@i\n"},
        {"the first byte of the other", "0x402000\n", "-: b!0x0@i\n"},
        {"written without a module", "?!0x402fff\n", "-: b!0xfff@i\n"},
        {"the one after the other", "?!0x403000\n", "-: ?!0x403000@i\n"},
        {"two in one stack", "0x400010\n0x402020\n", "-: a!0x10@i b!0x20@r\n"},
    };
    static const char map[] = "# module b - - 0x402000 0x1000\n# module c - - 0x400000 0x800\n"
                              "# module a - - 0x400000 0x1000\n# module d - - 0x500000 0x0\n"
                              "# module e - - 0xfffffffffffff000 0x1001\n";
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%s%s", map, rows[i].text);
        struct stack_input *input = stack_text_open(text, strlen(text));
        stack_input_addresses(input);
        test_row(rows[i].name);
        CHECK_STR(stack_text_of(input), rows[i].want);
    }
}

TEST(reports_in_xml)
{
    static const struct row rows[] = {
        {"the shortest comment", "<r><!----><frame module='a' offset='0x1'/></r>", "-: a!0x1@i\n"},
        {"a comment is no end of a comment", "<r><!-- > --><frame module='a' offset='0x1'/></r>",
         "-: a!0x1@i\n"},
        {"a '>' in quotes", "<r><frame module='a' note=\"x>y\" offset='0x1'/></r>", "-: a!0x1@i\n"},
        {"a quote of the other kind in quotes",
         "<r><frame module='a' note=\"it's\" offset='0x1'/></r>", "-: a!0x1@i\n"},
        {"blanks between name and value end the name",
         "<r><frame module = 'x' image='a' rva='0x1'/>", "-: a!0x1@i\n"},
        {"each name of a module",
         "<r><frame module='a' rva='0x1'/><frame ModuleName='b' rva='0x2'/>"
         "<frame image='c' rva='0x3'/><frame package='d' rva='0x4'/></r>",
         "-: a!0x1@i b!0x2@r c!0x3@r d!0x4@r\n"},
        {"each name of an offset",
         "<r><frame module='a' offset='0x1'/><frame module='b' RVA='0x2'/>"
         "<frame module='c' module_offset='0x3'/></r>",
         "-: a!0x1@i b!0x2@r c!0x3@r\n"},
        {"each name of a function",
         "<r><frame module='a' symbol='f'/><frame module='b' function='g'/>"
         "<frame module='c' function_name='h'/><frame module='d' Method='i'/></r>",
         "-: a!f!0x0@i b!g!0x0@r c!h!0x0@r d!i!0x0@r\n"},
        {"each name of an address",
         "<r><frame address='0x11'/><frame ip='0x12'/><frame pc='0x13'/>"
         "<frame instruction='0x14'/></r>",
         "-: ?!0x11@i ?!0x12@r ?!0x13@r ?!0x14@r\n"},
        {"the first of two values counts", "<r><frame module='a' image='b' offset='0x1'/></r>",
         "-: a!0x1@i\n"},
        {"a place says more than a function",
         "<r><frame module='a' function='f' offset='0x1'/></r>", "-: a!0x1@i\n"},
        {"an offset without a module or a function is none",
         "<r><frame offset='0x1' address='0x77'/></r>", "-: ?!0x77@i\n"},
        {"entities", "<r><frame module='a' function='x&lt;y&gt;::z&amp;&quot;&apos;'/></r>",
         "-: a!x<y>::z&\"'!0x0@i\n"},
        {"elements of their own, with blanks around",
         "<r><StackFrame><image> a </image><rva>\n0x1\n</rva></StackFrame></r>", "-: a!0x1@i\n"},
        {"a frame that is not closed",
         "<r><frame><image>a</image><rva>0x1</rva><frame ip='0x5'/></r>", "-: a!0x1@i ?!0x5@r\n"},
        {"two threads",
         "<r><thread id='12'><frame ip='0x5'/></thread><thread nr='3'>"
         "<frame ip='0x6'/></thread></r>",
         "thread 12: ?!0x5@i\nthread 3: ?!0x6@i\n"},
        {"lines of each name of a text",
         "<r><CallStack>a!0x1\n</CallStack><PCallStack>b!0x2\n</PCallStack>"
         "<stack_trace>c!0x3\n</stack_trace></r>",
         "-: a!0x1@i\n: b!0x2@i\n: c!0x3@i\n"},
    };
    check_rows(rows, COUNT_OF(rows));
}

/* develop.sentry.dev: frames are innermost last; image_addr and image_size give the range. */
#define EVENT(frames)                                                                              \
    "{\"exception\":{\"values\":[{\"stacktrace\":{\"frames\":[" frames "]}}]},"                    \
    "\"debug_meta\":{\"images\":[{\"code_file\":\"/x/a.so\",\"image_addr\":\"0x400000\","          \
    "\"image_size\":4096},{\"image_addr\":\"0x500000\",\"image_size\":4096},{\"code_file\":"       \
    "\"/x/b.so\",\"debug_id\":\"3249d99d-0c40-4931-8610-f4e4fb0b6936\",\"image_addr\":"            \
    "\"0x600000\",\"image_size\":1}]}}\n"

TEST(events_of_sentry)
{
    static const struct row rows[] = {
        {"the first byte", EVENT("{\"instruction_addr\":\"0x400000\"}"), "-: a.so!0x0@i\n"},
        {"the last byte", EVENT("{\"instruction_addr\":\"0x400fff\"}"), "-: a.so!0xfff@i\n"},
        {"the one after it", EVENT("{\"instruction_addr\":\"0x401000\"}"), "-: ?!0x401000@i\n"},
        {"one before it", EVENT("{\"instruction_addr\":\"0x3fffff\"}"), "-: ?!0x3fffff@i\n"},
        {"an image without a name", EVENT("{\"instruction_addr\":\"0x500000\"}"),
         "-: ?!0x500000@i\n"},
        {"an image of one byte", EVENT("{\"instruction_addr\":\"0x600000\"}"),
         "-: b.so!0x0@i{," ID "0}\n"},
        {"a package and its base, in no image",
         EVENT("{\"instruction_addr\":\"0x700010\",\"package\":\"/y/c.so\",\"image_addr\":"
               "\"0x700000\"}"),
         "-: c.so!0x10@i\n"},
        {"a package whose base is after the address",
         EVENT("{\"instruction_addr\":\"0x700010\",\"package\":\"/y/c.so\",\"image_addr\":"
               "\"0x700011\"}"),
         "-: ?!0x700010@i\n"},
        {"a package whose base is the address",
         EVENT("{\"instruction_addr\":\"0x700010\",\"package\":\"/y/c.so\",\"image_addr\":"
               "\"0x700010\"}"),
         "-: c.so!0x0@i\n"},
        {"a function and the image of its address",
         EVENT("{\"instruction_addr\":\"0x400020\",\"package\":\"/y/c.so\",\"function\":\"f\","
               "\"filename\":\"f.c\",\"lineno\":7}"),
         "-: a.so!f!0x20@i(f.c:7)\n"},
        {"a line without a function is not kept",
         EVENT("{\"instruction_addr\":\"0x400020\",\"filename\":\"f.c\",\"lineno\":7}"),
         "-: a.so!0x20@i\n"},
        {"threads, of which each has its name",
         "{\"threads\":{\"values\":[{\"name\":\"main\",\"stacktrace\":{\"frames\":["
         "{\"instruction_addr\":\"0x2\"},{\"instruction_addr\":\"0x1\"}]}},{\"name\":\"w\","
         "\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x3\"}]}}]}}\n",
         "main: ?!0x1@i ?!0x2@r\nw: ?!0x3@i\n"},
        {"a stack alone", "{\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x1\"}]}}\n",
         "-: ?!0x1@i\n"},
    };
    check_rows(rows, COUNT_OF(rows));
}

/* A document of one module, whose other members are MODULE, and of one frame. */
static void read_one(const char *module, const char *frame, struct arena *keep,
                     struct stack_item *out)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"modules\":[{\"name\":\"a\"%s}],\"label\":\"x\",\"times\":{\"unwind_ns\":3,"
                   "\"resolve_ns\":5,\"resolve_system_ns\":2},\"frames\":[%s]}",
                   module, frame);
    struct stack_input *input = stack_text_open(text, strlen(text));
    REQUIRE(stack_input_next(input, keep, out));
    stack_input_close(input);
}

TEST(a_document_that_is_refused_says_what_was_expected)
{
#define AT "{\"module\":0,\"offset\":\"0x1\"}"
    static const struct {
        const char *name, *module, *frame, *hint;
    } rows[] = {
        {"a code id of letters", ",\"code_id\":\"zz\"", AT,
         "expected timestamp and image size in hexadecimal"},
        {"a debug id with a g", ",\"debug_id\":\"g249D99D0C4049318610F4E4FB0B6936\"", AT,
         "expected the GUID's 32 hexadecimal digits and the age"},
        {"one of 64 digits", ",\"debug_id\":\"" ID ID "\"", AT,
         "expected the GUID's 32 hexadecimal digits and the age"},
        {"an MVID of 31 digits", ",\"mvid\":\"3249D99D0C40493186100F4E4FB0B69\"", AT,
         "expected a GUID's 32 hexadecimal digits"},
        {"a module that is no number", "", "{\"module\":true,\"offset\":\"0x1\"}",
         "expected an index into modules, or null"},
        {"a module before the first", "", "{\"module\":-1,\"offset\":\"0x1\"}",
         "expected an index into modules, or null"},
        {"a module after the last", "", "{\"module\":1,\"offset\":\"0x1\"}",
         "no module has that index"},
        {"half a module", ",\"index\":1", "{\"module\":0.5,\"offset\":\"0x1\"}",
         "no module has that index"},
        {"a frame that is a number", "", "7", "expected an object"},
        {"another kind", "", "{\"module\":0,\"offset\":\"0x1\",\"kind\":\"leaf\"}",
         "expected interrupted or return"},
        {"no offset", "", "{\"module\":0}", "a frame in a module needs an offset"},
        {"a token of table 5", "", "{\"module\":0,\"offset\":\"0x1\",\"method\":\"0x05000001\"}",
         "expected a token 0x06...... and an offset in its IL"},
        {"an offset in IL of 33 bits", "",
         "{\"module\":0,\"offset\":\"0x100000000\",\"method\":\"0x06000001\"}",
         "expected a token 0x06...... and an offset in its IL"},
        {"neither offset nor address", "", "{\"kind\":\"return\"}",
         "a frame needs an `offset` in a `module`, or an `address`"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct stack_item item;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        read_one(rows[i].module, rows[i].frame, &keep, &item);
        CHECK_STR(fault_code_name(item.fault.code), "malformed");
        CHECK_STR(item.fault.hint, rows[i].hint);
        arena_free(&keep);
    }
}

TEST(a_document_has_all_that_a_module_and_a_stack_state)
{
    static const struct {
        const char *name, *module, *code_id, *debug_id, *build_id, *mvid;
    } rows[] = {
        {"nothing", "", "", "", "", ""},
        {"empty texts", ",\"code_id\":\"\",\"debug_id\":\"\",\"mvid\":\"\"", "", "", "", ""},
        {"of PE", ",\"code_id\":\"5ab38077ABC000\",\"debug_id\":\"" ID "A\"", "5AB38077abc000",
         ID "a", "", ""},
        {"of ELF", ",\"code_id\":\"0123456789abcdef0123456789abcdef01234567\"", "", "",
         "0123456789abcdef0123456789abcdef01234567", ""},
        {"a debug id of zeros is none", ",\"debug_id\":\"00000000000000000000000000000000\"", "",
         "", "", ""},
        {"an MVID", ",\"mvid\":\"" ID "\"", "", "", "", "3249D99D-0C40-4931-8610-F4E4FB0B6936"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct stack_item item;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        read_one(rows[i].module,
                 "{\"module\":0,\"offset\":\"0x12\",\"method\":\"0x06000007\",\"type_arguments\":"
                 "\"int\"}",
                 &keep, &item);
        CHECK_STR(item.label, "x");
        REQUIRE(item.fault.code == ERR_NONE && item.stack.frame_count == 1);
        CHECK_EQ(item.stack.cost.unwind_ns, 3);
        CHECK_EQ(item.stack.cost.resolve_ns, 5);
        CHECK_EQ(item.stack.cost.system_ns, 2);
        const struct frame *frame = &item.stack.frames[0];
        CHECK_EQ(frame->method_token, 0x06000007);
        CHECK_EQ(frame->offset, 0x12);
        CHECK_STR(frame->type_arguments, "int");
        CHECK_STR(frame->module->code_id, rows[i].code_id);
        CHECK_STR(frame->module->debug_id, rows[i].debug_id);
        CHECK_STR(frame->module->mvid, rows[i].mvid);
        CHECK_STR(frame->module->build_id != NULL ? frame->module->build_id : "", rows[i].build_id);
        arena_free(&keep);
    }
}

/* A line may have 1 MiB; what comes after a longer one is read. */
TEST(a_line_of_json_that_is_too_long_is_left_out)
{
    enum { LONG = LIMIT_LINE_BYTES + 1 };
    static char text[LONG + 256];
    const char *const first = "{\"frames\":[{\"address\":\"0x1\"}]}\n";
    size_t at = (size_t)snprintf(text, sizeof text, "%s", first);
    memset(text + at, ' ', LONG);
    memcpy(text + at, "{\"label\":", 9);
    at += LONG;
    at += (size_t)snprintf(text + at, 64, "\n{\"frames\":[{\"address\":\"0x2\"}]}\n");
    CHECK_STR(stack_text(text, at), "-: ?!0x1@i\n-: !limit@31\n-: ?!0x2@i\n");
}

/* Writes UNITS at OUT in the order of bytes that BIG says; returns the place after them. */
static uint8_t *put_units(uint8_t *out, const uint16_t *units, size_t count, bool big)
{
    for (size_t i = 0; i < count; i++) {
        *out++ = (uint8_t)(big ? units[i] >> 8 : units[i]);
        *out++ = (uint8_t)(big ? units[i] : units[i] >> 8);
    }
    return out;
}

/* Text of Windows' shells that is larger than every buffer on its way, with letters of one to four
 * bytes in UTF-8, so that some are cut between two reads. */
TEST(utf16_is_read_to_its_end)
{
    enum { LINES_MAX = 100000 };
    static const uint16_t mark[] = {0xFEFF}, line[] = {'#', 0xFC, 0x4E2D, 0xD83D, 0xDCDA, '\n'};
    static const uint16_t letters[] = {0xFC, 0x4E2D, 0xD83D, 0xDCDA}, end[] = {'\n'};
    static const uint16_t frame[] = {'\n', 'a', '!', '0', 'x', '1', '\n'};
    static const struct {
        const char *name;
        int lines, letters; /* before the stack; in its label, each four times */
        bool big;
    } rows[] = {
        {"short", 1, 0, false},
        {"in the other order of bytes", 1, 0, true},
        {"many lines", LINES_MAX, 0, false},
        {"many lines, in the other order", LINES_MAX - 1, 0, true},
        {"a comment that is one long line", 50000, 15000, false},
        {"the same, in the other order", 49999, 15001, true},
    };
    uint8_t *data = malloc((size_t)LINES_MAX * sizeof line + 200000);
    REQUIRE(data != NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t *at = put_units(data, mark, 1, rows[i].big);
        test_row(rows[i].name);
        for (int k = 0; k < rows[i].lines; k++)
            at = put_units(at, line, COUNT_OF(line), rows[i].big);
        if (rows[i].letters > 0)
            at = put_units(at, line, 1, rows[i].big);
        for (int k = 0; k < rows[i].letters; k++)
            at = put_units(at, letters, COUNT_OF(letters), rows[i].big);
        at = put_units(at, end, 1, rows[i].big);
        at = put_units(at, (const uint16_t[]){'>', ' '}, 2, rows[i].big);
        at = put_units(at, letters, COUNT_OF(letters), rows[i].big);
        at = put_units(at, frame, COUNT_OF(frame), rows[i].big);
        CHECK_STR(stack_text((const char *)data, (size_t)(at - data)),
                  "\u00FC\u4E2D\U0001F4DA: a!0x1@i\n");
    }
    free(data);
}

/* Mail programs put "> " before what they quote; "> label" alone is our own form. */
TEST(what_a_mail_quotes_is_no_label)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"a whole mail", "> Hi, a crash:\n>\n> app.exe!0x1234\n> b.dll!0x33\n",
         "-: !malformed@0\n-: app.exe!0x1234@i b.dll!0x33@r\n"},
        {"a part of one",
         "Bob wrote:\n> #0  0x00401234 in f (x=1) at a.c:1\n"
         "> #1  0x00401244 in g (x=1) at a.c:2\n\nthanks\n",
         "-: !malformed@0\n-: !malformed@86\n-: ?!f!0x0@i(a.c:1) ?!g!0x0@r(a.c:2)\n"},
        {"quoted twice, with a label", ">> > one\n>> a!0x1\n>> b!0x2\n> > c!0x3\n",
         "one: a!0x1@i b!0x2@r c!0x3@r\n"},
        {"labels", "> one\n> two\na!0x1\n> three\n> four\n", "one:\ntwo: a!0x1@i\nthree:\nfour:\n"},
        {"a label that is a frame", "> a!0x1\na!0x1\n> b!0x1\nb!0x1\n",
         "a!0x1: a!0x1@i\nb!0x1: b!0x1@i\n"},
        {"a mark of Visual Studio", ">\ta.exe!f(int x) Line 12\n \ta.exe!g() Line 3\n",
         "-: a.exe!f(int x)!0x0@i a.exe!g()!0x0@r\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_STR(stack_text(rows[i].text, strlen(rows[i].text)), rows[i].want);
    }
}

TEST(every_end_of_a_line_ends_one)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"CR", "> a\r a.exe!0x1\rb.exe!0x2\r", "a: a.exe!0x1@i b.exe!0x2@r\n"},
        {"some of each", "> a\na.exe!0x1\rb.exe!0x2\r\n\rc.exe!0x3\r\r\nd.exe!0x4",
         "a: a.exe!0x1@i b.exe!0x2@r c.exe!0x3@r d.exe!0x4@r\n"},
        {"JSON in many lines", "{\r \"frames\": [{\"address\": \"0x1\"}]\r}\r", "-: ?!0x1@i\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_STR(stack_text(rows[i].text, strlen(rows[i].text)), rows[i].want);
    }
}

TEST(utf16_needs_no_mark)
{
    static const uint16_t text[] = {'>', ' ', 0xFC, '\r', '\n', 'a',
                                    '!', '0', 'x',  '1',  '\r', '\n'};
    static const uint8_t zeros[] = {0, 0, 0, 0, 'a', 0, '\n', 0};
    uint8_t data[2 * COUNT_OF(text)];
    for (int big = 0; big < 2; big++) {
        (void)put_units(data, text, COUNT_OF(text), big != 0);
        CHECK_STR(stack_text((const char *)data, sizeof data), "\u00FC: a!0x1@i\n");
    }
    CHECK_STR(stack_text((const char *)zeros, sizeof zeros), "-: !malformed@0\n-: !malformed@7\n");
}

/* Of an id that is written in hexadecimal: dashes and braces go, the first UPPER digits get large
 * letters and the others small ones, as stack_reader.h says. */
TEST(ids_have_letters_of_one_size)
{
    static const struct {
        const char *text, *want; /* NULL: it is none */
        size_t upper, room;
    } rows[] = {
        {"aAfF09", "AAFF09", 6, 16},
        {"aAfF09", "aaff09", 0, 16},
        {"aAfF", "AAff", 2, 16},
        {"{aB-cD-eF}", "ABCdef", 3, 16},
        {"", "", 8, 1},
        {"abc", "ABC", 8, 4},
        {"abc", NULL, 8, 3},
        {"g", NULL, 8, 16},
        {"`", NULL, 8, 16},
        {"G", NULL, 8, 16},
        {"@", NULL, 8, 16},
        {"/", NULL, 8, 16},
        {":", NULL, 8, 16},
        {"a b", NULL, 8, 16},
        {"0x1", NULL, 8, 16},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[16];
        test_row(rows[i].text);
        const bool good =
            input_copy_id(rows[i].text, strlen(rows[i].text), rows[i].upper, out, rows[i].room);
        CHECK_EQ(good, rows[i].want != NULL);
        if (good)
            CHECK_STR(out, rows[i].want);
    }
}
