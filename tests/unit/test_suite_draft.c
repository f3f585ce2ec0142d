/* What a draft of a case lacks, fact by fact: by $defs/case of corpus/reference/schema.json and the
 * sentences of suite_draft_missing(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "suite/suite_draft.h"
#include "test.h"

#define REST                                                                                       \
    "\"shape\":\"plain\",\"position\":\"row\",\"rule\":{\"kind\":\"thread\",\"name\":\"a line\","  \
    "\"address\":\"https://example.org/1\"},\"licence\":\"MIT\",\"known_by\":[\"a 1\",\"b 1\"],"   \
    "\"processor\":\"x64\","
#define WALK "[{\"ip\":\"0x60101f\",\"sp\":\"0x7f88\"},{\"ip\":\"0x601013\",\"sp\":\"0x7f90\"}]"
#define FRAME "{\"function\":\"f\",\"file\":\"/a.c\",\"line\":8,\"inlined\":false}"

static const char address[] =
    "{" REST "\"id\":\"addresses/x64/plain/issue-1\",\"kind\":\"address\",\"capability\":"
    "\"addresses.pdb\",\"given\":{\"image\":\"a.dll\",\"symbols\":\"a.pdb\",\"rva\":\"0x1002\","
    "\"lookup\":\"interrupted\"},\"truth\":{\"level\":\"must\",\"frames\":[" FRAME "],"
    "\"whole\":true}}";
static const char moment[] =
    "{" REST "\"id\":\"moments/x64/push/1\",\"kind\":\"moment\",\"capability\":\"moments.x64\","
    "\"given\":{\"registers\":{\"rip\":\"0x60101f\",\"rsp\":\"0x7f88\"},\"stack\":[{\"at\":"
    "\"0x7f88\",\"bytes\":\"1310\"}],\"modules\":[{\"path\":\"a.dll\",\"base\":\"0x600000\","
    "\"size\":\"0x3000\"}]},\"truth\":{\"level\":\"must\",\"frames\":" WALK ",\"whole\":true}}";
static const char dump[] =
    "{" REST "\"id\":\"dumps/x64/pieces/1\",\"kind\":\"dump\",\"capability\":\"dumps.x64\","
    "\"given\":{\"dump\":\"a.dmp\",\"symbols\":null,\"thread\":7},\"truth\":{\"level\":\"must\","
    "\"frames\":" WALK ",\"whole\":true}}";

static cJSON *parsed(const char *text)
{
    struct fault fault = FAULT_INIT;
    cJSON *tree = NULL;
    REQUIRE(json_parse(text, strlen(text), &tree, &fault) == ERR_NONE);
    return tree;
}

/* Sets the member of DRAFT that PATH names, "given.stack.0.at"; VALUE is taken, the text "-"
 * removes the member. */
static void change(cJSON *draft, const char *path, cJSON *value)
{
    const bool removes = cJSON_IsString(value) && strcmp(value->valuestring, "-") == 0;
    const char *dot;
    char key[64];
    for (; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        (void)snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
        draft = cJSON_IsArray(draft) ? cJSON_GetArrayItem(draft, (int)strtol(key, NULL, 10))
                                     : cJSON_GetObjectItemCaseSensitive(draft, key);
        REQUIRE(draft != NULL);
    }
    cJSON_DeleteItemFromObjectCaseSensitive(draft, path);
    if (removes)
        cJSON_Delete(value);
    else
        REQUIRE(cJSON_AddItemToObject(draft, path, value));
}

/* DRAFT with the CHANGES, an object whose members are paths. */
static cJSON *changed(const char *draft, const char *changes)
{
    cJSON *tree = parsed(draft), *all = parsed(changes);
    while (all->child != NULL) {
        cJSON *one = cJSON_DetachItemViaPointer(all, all->child);
        change(tree, one->string, cJSON_Duplicate(one, true));
        cJSON_Delete(one);
    }
    cJSON_Delete(all);
    return tree;
}

struct draft_row {
    const char *name, *changes, *lacks; /* LACKS: the members that the sentences begin with */
};

static void check_rows(const char *draft, const struct draft_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char names[200] = "";
        size_t length = 0;
        uint32_t missing = 0;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        cJSON *tree = changed(draft, rows[i].changes);
        const char *const *lacks = suite_draft_missing(tree, &keep, &missing);
        CHECK(lacks != NULL);
        for (uint32_t n = 0; lacks != NULL && n < missing; n++) {
            const char *end = strchr(lacks[n] + 1, '"');
            REQUIRE(lacks[n][0] == '"' && end != NULL);
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%.*s",
                                       n > 0 ? " " : "", (int)(end - lacks[n] - 1), lacks[n] + 1);
        }
        CHECK_STR(names, rows[i].lacks);
        cJSON_Delete(tree);
        arena_free(&keep);
    }
}

TEST(what_any_draft_needs)
{
    static const struct draft_row rows[] = {
        {"nothing", "{}", ""},
        {"no kind", "{\"kind\":\"-\"}", "kind"},
        {"an unknown kind", "{\"kind\":\"place\"}", "kind"},
        {"no id", "{\"id\":\"-\"}", "id"},
        {"an id that is a number", "{\"id\":7}", "id"},
        {"an id of another kind", "{\"id\":\"moments/x64/a\"}", "id"},
        {"an id of its kind alone", "{\"id\":\"addresses/\"}", "id"},
        {"an id with an empty part", "{\"id\":\"addresses/x64//a\"}", "id"},
        {"an id that ends with a slash", "{\"id\":\"addresses/x64/\"}", "id"},
        {"an id with a capital", "{\"id\":\"addresses/X64\"}", "id"},
        {"an id with an underscore", "{\"id\":\"addresses/a_b\"}", "id"},
        {"an id of each letter", "{\"id\":\"addresses/0123456789-abcdefghijklmnopqrstuvwxyz/a\"}",
         ""},
        {"arm", "{\"processor\":\"arm\"}", ""},
        {"arm64", "{\"processor\":\"arm64\"}", ""},
        {"x86", "{\"processor\":\"x86\"}", ""},
        {"another processor", "{\"processor\":\"mips\"}", "processor"},
        {"no processor", "{\"processor\":\"-\"}", "processor"},
        {"an empty shape", "{\"shape\":\"\"}", "processor"},
        {"no position", "{\"position\":\"-\"}", "processor"},
        {"a rule of a page", "{\"rule.kind\":\"page\"}", ""},
        {"of a standard", "{\"rule.kind\":\"standard\"}", ""},
        {"of a vendor", "{\"rule.kind\":\"vendor source\"}", ""},
        {"of a run", "{\"rule.kind\":\"executed\"}", ""},
        {"of hearsay", "{\"rule.kind\":\"hearsay\"}", "rule"},
        {"a rule without a name", "{\"rule.name\":\"\"}", "rule"},
        {"a rule that no page says", "{\"rule.address\":null}", ""},
        {"a rule that does not say so", "{\"rule.address\":\"-\"}", "rule"},
        {"a page that is not secured", "{\"rule.address\":\"http://a\"}", "rule"},
        {"a page that is a number", "{\"rule.address\":1}", "rule"},
        {"no licence", "{\"licence\":\"-\"}", "licence"},
        {"an empty licence", "{\"licence\":\"\"}", "licence"},
        {"two at once", "{\"licence\":\"-\",\"id\":\"-\"}", "id licence"},
    };
    check_rows(address, rows, COUNT_OF(rows));
}

TEST(what_an_address_needs)
{
    static const struct draft_row rows[] = {
        {"without an image", "{\"given.image\":\"-\"}", ""},
        {"without symbols", "{\"given.symbols\":null}", ""},
        {"without both", "{\"given.image\":\"-\",\"given.symbols\":null}", "given"},
        {"a place in decimal", "{\"given.rva\":\"1002\"}", "given"},
        {"a place without digits", "{\"given.rva\":\"0x\"}", "given"},
        {"a place of capitals", "{\"given.rva\":\"0x100A\"}", "given"},
        {"the first place", "{\"given.rva\":\"0x0\"}", ""},
        {"every digit", "{\"given.rva\":\"0x123456789abcdef\"}", ""},
        {"a letter more", "{\"given.rva\":\"0xg\"}", "given"},
        {"a return", "{\"given.lookup\":\"return\"}", ""},
        {"a call", "{\"given.lookup\":\"call\"}", "given"},
        {"no lookup", "{\"given.lookup\":\"-\"}", "given"},
        {"dwarf", "{\"capability\":\"addresses.dwarf\"}", ""},
        {"of a processor", "{\"capability\":\"addresses.x64\"}", "capability"},
        {"no capability", "{\"capability\":\"-\"}", "capability"},
        {"no truth", "{\"truth\":\"-\"}", "truth"},
        {"no level", "{\"truth.level\":\"-\"}", "truth"},
        {"another level", "{\"truth\":{\"level\":\"might\",\"accepted\":[[" FRAME "]]}}", "truth"},
        {"no frames", "{\"truth.frames\":[]}", "truth"},
        {"frames that are none", "{\"truth.frames\":{\"a\":1}}", "truth"},
        {"no function", "{\"truth.frames.0.function\":\"-\"}", "truth"},
        {"no file", "{\"truth.frames.0.file\":\"-\"}", "truth"},
        {"no line", "{\"truth.frames.0.line\":\"-\"}", "truth"},
        {"not whether it is inlined", "{\"truth.frames.0.inlined\":\"-\"}", "truth"},
        {"the function alone", "{\"truth.frames.0.file\":null,\"truth.frames.0.line\":null}", ""},
        {"the file alone", "{\"truth.frames.0.function\":null,\"truth.frames.0.line\":null}", ""},
        {"the line alone", "{\"truth.frames.0.file\":null,\"truth.frames.0.function\":null}", ""},
        {"nothing of a frame",
         "{\"truth.frames.0.file\":null,\"truth.frames.0.function\":null,"
         "\"truth.frames.0.line\":null}",
         "truth"},
        {"unknown", "{\"truth\":{\"level\":\"unknown\"}}", ""},
        {"unknown with frames", "{\"truth.level\":\"unknown\"}", "truth"},
        {"unknown with accepted", "{\"truth\":{\"level\":\"unknown\",\"accepted\":[]}}", "truth"},
        {"accepted", "{\"truth\":{\"level\":\"may\",\"accepted\":[[" FRAME "],[" FRAME "]]}}", ""},
        {"none accepted", "{\"truth\":{\"level\":\"may\",\"accepted\":[]}}", "truth"},
        {"one that is no walk", "{\"truth\":{\"level\":\"may\",\"accepted\":[[" FRAME "],7]}}",
         "truth"},
        {"one of another kind", "{\"truth\":{\"level\":\"may\",\"accepted\":[" WALK "]}}", "truth"},
    };
    check_rows(address, rows, COUNT_OF(rows));
}

#define MAY "\"truth\":{\"level\":\"may\",\"accepted\":[[" FRAME "]]},"
#define BY(...) "{\"known_by\":[" __VA_ARGS__ "]}"

TEST(which_witnesses_are_enough)
{
    static const struct draft_row rows[] = {
        {"a text", "{\"known_by\":\"a\"}", "known_by"},
        {"none", BY(""), "known_by"},
        {"one of a must", BY("\"a 1\""), "known_by"},
        {"one of a may", "{" MAY "\"known_by\":[\"a 1\"]}", ""},
        {"none of a may", "{" MAY "\"known_by\":[]}", "known_by"},
        {"one of an unknown one", "{\"truth\":{\"level\":\"unknown\"},\"known_by\":[\"a\"]}", ""},
        {"an empty one", BY("\"\",\"a\",\"b\""), "known_by"},
        {"a number", BY("7,\"a\",\"b\""), "known_by"},
        {"ours", BY("\"a\",\"b\",\"twinstack 0.9\""), "known_by"},
        {"one twice", BY("\"a\",\"b\",\"a\""), "known_by"},
        {"without versions", BY("\"executed\",\"the page\""), ""},
        {"two versions of one", BY("\"a 0.1\",\"a 9.1\""), "known_by"},
        {"two versions of one, and another", BY("\"a 1\",\"b 1\",\"a 2\""), ""},
        {"names of two words", BY("\"a b 1\",\"a c 1\""), ""},
        {"two versions of two words", BY("\"a b 1\",\"a b 2\""), "known_by"},
        {"no versions, by a letter after a digit", BY("\"a :1\",\"a :2\""), ""},
        {"no versions, by a letter before a digit", BY("\"a /1\",\"a /2\""), ""},
        {"one that is the start of another", BY("\"a\",\"ab\""), ""},
        {"two programs of LLVM", BY("\"llvm-symbolizer 19\",\"llvm-undname 19\""), "known_by"},
        {"LLVM's debugger", BY("\"lldb 16\",\"LLDB 19\""), "known_by"},
        {"LLVM's debugger and symbolizer", BY("\"LLDB 16\",\"llvm-symbolizer 19\""), "known_by"},
        {"two of Microsoft", BY("\"Microsoft's DIA 14\",\"Microsoft's rules\""), "known_by"},
        {"two of Wine", BY("\"Wine's dbghelp\",\"Wine's ntdll\""), "known_by"},
        {"Wine and Microsoft", BY("\"Wine's dbghelp\",\"Microsoft's DIA 14\""), ""},
        {"Wine and LLVM", BY("\"Wine's dbghelp\",\"llvm-symbolizer 19\""), ""},
        {"Microsoft and LLVM", BY("\"Microsoft's DIA 14\",\"lldb 16\""), ""},
    };
    check_rows(address, rows, COUNT_OF(rows));
}

TEST(what_a_moment_needs)
{
    static const struct draft_row rows[] = {
        {"nothing", "{}", ""},
        {"an id of an address", "{\"id\":\"addresses/x64/a\"}", "id"},
        {"x86",
         "{\"processor\":\"x86\",\"capability\":\"moments.x86\",\"given.registers\":{\"eip\":"
         "\"0x60101f\",\"esp\":\"0x7f88\"}}",
         ""},
        {"arm64",
         "{\"processor\":\"arm64\",\"capability\":\"moments.arm64\",\"given.registers\":{\"pc\":"
         "\"0x60101f\",\"sp\":\"0x7f88\"}}",
         ""},
        {"arm", "{\"processor\":\"arm\",\"capability\":\"moments.arm\"}", "given truth"},
        {"registers of another processor", "{\"processor\":\"x86\"}", "given capability truth"},
        {"a capability without a dot", "{\"capability\":\"momentsx64\"}", "capability"},
        {"a capability that goes on", "{\"capability\":\"moments.x64s\"}", "capability"},
        {"no capability", "{\"capability\":\"-\"}", "capability"},
        {"no instruction pointer", "{\"given.registers.rip\":\"-\"}", "given truth"},
        {"no stack pointer", "{\"given.registers.rsp\":\"-\"}", "given truth"},
        {"a register in decimal", "{\"given.registers.rbx\":\"12\"}", "given"},
        {"a register more", "{\"given.registers.rbx\":\"0x12\"}", ""},
        {"no stack", "{\"given.stack\":[]}", "given"},
        {"a stack at no address", "{\"given.stack.0.at\":\"7f88\"}", "given"},
        {"half a byte of the stack", "{\"given.stack.0.bytes\":\"131\"}", "given"},
        {"no byte of the stack", "{\"given.stack.0.bytes\":\"\"}", "given"},
        {"a byte of capitals", "{\"given.stack.0.bytes\":\"1A\"}", "given"},
        {"no modules", "{\"given.modules\":[]}", "given truth"},
        {"a module without a path", "{\"given.modules.0.path\":\"\"}", "given"},
        {"a module without a base", "{\"given.modules.0.base\":\"-\"}", "given truth"},
        {"a module without a size", "{\"given.modules.0.size\":\"-\"}", "given truth"},
        {"a size without 0x", "{\"given.modules.0.size\":\"3000\"}", "given"},
        {"the module's first byte", "{\"truth.frames.1.ip\":\"0x600000\"}", ""},
        {"the module's last byte", "{\"truth.frames.1.ip\":\"0x602fff\"}", ""},
        {"a byte before it", "{\"truth.frames.1.ip\":\"0x5fffff\"}", "truth"},
        {"a byte after it", "{\"truth.frames.1.ip\":\"0x603000\"}", "truth"},
        {"in a second module",
         "{\"truth.frames.1.ip\":\"0x603000\",\"given.modules\":[{\"path\":\"a\",\"base\":"
         "\"0x600000\",\"size\":\"0x3000\"},{\"path\":\"b\",\"base\":\"0x603000\",\"size\":"
         "\"0x1\"}]}",
         ""},
        {"another first place", "{\"truth.frames.0.ip\":\"0x60101e\"}", "truth"},
        {"another first stack pointer", "{\"truth.frames.0.sp\":\"0x7f80\"}", "truth"},
        {"a place in decimal", "{\"truth.frames.1.ip\":\"601013\"}", "truth"},
        {"no stack pointer of a frame", "{\"truth.frames.1.sp\":\"-\"}", "truth"},
        {"an accepted walk", "{\"truth\":{\"level\":\"may\",\"accepted\":[" WALK "]}}", ""},
        {"an accepted walk of no frame", "{\"truth\":{\"level\":\"may\",\"accepted\":[[]]}}",
         "truth"},
    };
    check_rows(moment, rows, COUNT_OF(rows));
}

TEST(what_a_dump_needs)
{
    static const struct draft_row rows[] = {
        {"nothing", "{}", ""},
        {"arm, of which there are no moments",
         "{\"processor\":\"arm\",\"capability\":\"dumps.arm\"}", ""},
        {"another capability", "{\"capability\":\"moments.x64\"}", "capability"},
        {"no dump", "{\"given.dump\":\"-\"}", "given"},
        {"symbols", "{\"given.symbols\":\"symbols\"}", ""},
        {"empty symbols", "{\"given.symbols\":\"\"}", "given"},
        {"not whether there are symbols", "{\"given.symbols\":\"-\"}", "given"},
        {"no thread", "{\"given.thread\":\"-\"}", "given"},
        {"thread 0", "{\"given.thread\":0}", ""},
        {"the last thread", "{\"given.thread\":4294967295}", ""},
        {"a thread of 33 bits", "{\"given.thread\":4294967296}", "given"},
        {"a negative thread", "{\"given.thread\":-1}", "given"},
        {"half a thread", "{\"given.thread\":1.5}", "given"},
        {"a thread in a text", "{\"given.thread\":\"7\"}", "given"},
        {"no frames", "{\"truth.frames\":[]}", "truth"},
        {"a frame without a stack pointer", "{\"truth.frames.0.sp\":\"-\"}", "truth"},
        {"a list of threads",
         "{\"given.thread\":\"-\",\"threads\":[{\"thread\":1},{\"thread\":2}]}", ""},
        {"an empty list of threads", "{\"threads\":[]}", "given"},
        {"one of them is none", "{\"given.thread\":\"-\",\"threads\":[{\"thread\":1},{}]}",
         "given"},
        {"one with a truth that is none",
         "{\"threads\":[{\"thread\":1},{\"truth\":{\"level\":\"no\"}}]}", "truth"},
        {"one with a single witness", "{\"threads\":[{\"known_by\":[\"a\"]},{\"thread\":1}]}",
         "known_by"},
        {"one without a position", "{\"position\":\"-\",\"threads\":[{\"position\":\"a\"},{}]}",
         "processor"},
        {"each with a position",
         "{\"position\":\"-\",\"threads\":[{\"position\":\"a\"},{\"position\":\"b\"}]}", ""},
    };
    check_rows(dump, rows, COUNT_OF(rows));
}

/* The longest id has 399 bytes, that of a thread with its number. */
TEST(how_long_an_id_may_be)
{
    static const struct {
        const char *name, *draft, *threads;
        size_t bytes;
        uint32_t missing;
    } rows[] = {
        {"the longest", address, "", 399, 0},
        {"a byte more", address, "", 400, 1},
        {"the longest with a number", dump, ",\"threads\":[{\"thread\":1}]", 397, 0},
        {"a byte more with a number", dump, ",\"threads\":[{\"thread\":1}]", 398, 1},
        {"far too long, with a number", dump, ",\"threads\":[{\"thread\":1}]", 400, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *prefix = rows[i].draft == dump ? "dumps/" : "addresses/";
        char id[512], changes[700];
        uint32_t missing = 0;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        memset(id, 'a', sizeof id);
        memcpy(id, prefix, strlen(prefix));
        (void)snprintf(changes, sizeof changes, "{\"id\":\"%.*s\"%s}", (int)rows[i].bytes, id,
                       rows[i].threads);
        cJSON *tree = changed(rows[i].draft, changes);
        CHECK(suite_draft_missing(tree, &keep, &missing) != NULL);
        CHECK_EQ(missing, rows[i].missing);
        cJSON_Delete(tree);
        arena_free(&keep);
    }
}

static void check_line(const char *draft, const char *changes, uint32_t number, const char *want)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    cJSON *tree = changed(draft, changes), *cases = suite_draft_cases(tree);
    cJSON *one = cJSON_GetArrayItem(cases, (int)number);
    REQUIRE(one != NULL);
    CHECK_STR(suite_draft_line(one, &keep, &fault), want);
    cJSON_Delete(cases);
    cJSON_Delete(tree);
    arena_free(&keep);
}

/* The members of the schema, names as lists, and nothing else. */
TEST(a_line_has_the_members_of_the_schema)
{
    static const char head[] =
        "\"shape\":\"plain\",\"position\":\"row\",\"rule\":{\"kind\":\"thread\",\"name\":\"a "
        "line\",\"address\":\"https://example.org/1\"},\"needs\":[],\"conflicts_with\":[],"
        "\"issues\":[],\"os\":null,";
    static const struct {
        const char *name, *changes, *start, *end;
    } rows[] = {
        {"an address", "{}",
         "{\"id\":\"addresses/x64/plain/issue-1\",\"kind\":\"address\",\"processor\":\"x64\",",
         "\"capability\":\"addresses.pdb\",\"given\":{\"image\":\"a.dll\",\"symbols\":\"a.pdb\","
         "\"rva\":\"0x1002\",\"lookup\":\"interrupted\"},\"truth\":{\"level\":\"must\",\"frames\":"
         "[{\"function\":[\"f\"],\"file\":[\"/a.c\"],\"line\":8,\"inlined\":false}],\"whole\":true}"
         ",\"known_by\":[\"a 1\",\"b 1\"]}\n"},
        {"accepted",
         "{\"truth\":{\"level\":\"may\",\"accepted\":[[{\"function\":null,\"file\":"
         "[\"/a.c\",\"a.c\"],\"line\":8,\"inlined\":true}],[{\"function\":\"g\"}]]}}",
         "{\"id\":\"addresses/x64/plain/issue-1\",\"kind\":\"address\",\"processor\":\"x64\",",
         "\"capability\":\"addresses.pdb\",\"given\":{\"image\":\"a.dll\",\"symbols\":\"a.pdb\","
         "\"rva\":\"0x1002\",\"lookup\":\"interrupted\"},\"truth\":{\"level\":\"may\",\"accepted\":"
         "[[{\"function\":null,\"file\":[\"/a.c\",\"a.c\"],\"line\":8,\"inlined\":true}],"
         "[{\"function\":[\"g\"]}]]},\"known_by\":[\"a 1\",\"b 1\"]}\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char want[1200];
        test_row(rows[i].name);
        (void)snprintf(want, sizeof want, "%s%s%s", rows[i].start, head, rows[i].end);
        check_line(address, rows[i].changes, 0, want);
    }
}

/* What a thread has of its own goes before what the draft says of all. */
TEST(each_thread_of_a_dump_becomes_a_case)
{
    static const char changes[] =
        "{\"os\":\"Windows 10\",\"issues\":[\"a/b#1\"],\"threads\":[{\"thread\":1},{\"thread\":2,"
        "\"position\":\"own\",\"truth\":{\"level\":\"unknown\"},\"known_by\":[\"c\"]}]}";
    static const char middle[] =
        "\"rule\":{\"kind\":\"thread\",\"name\":\"a line\",\"address\":\"https://example.org/1\"},"
        "\"needs\":[],\"conflicts_with\":[],\"issues\":[\"a/b#1\"],\"os\":\"Windows 10\","
        "\"capability\":\"dumps.x64\",\"given\":{\"dump\":\"a.dmp\",\"symbols\":null,\"thread\":";
    static const struct {
        const char *name, *start, *end;
    } rows[] = {
        {"all of the draft",
         "{\"id\":\"dumps/x64/pieces/1/0\",\"kind\":\"dump\",\"processor\":\"x64\",\"shape\":"
         "\"plain\",\"position\":\"row\",",
         "1},\"truth\":{\"level\":\"must\",\"frames\":" WALK ",\"whole\":true},\"known_by\":"
         "[\"a 1\",\"b 1\"]}\n"},
        {"its own",
         "{\"id\":\"dumps/x64/pieces/1/1\",\"kind\":\"dump\",\"processor\":\"x64\",\"shape\":"
         "\"plain\",\"position\":\"own\",",
         "2},\"truth\":{\"level\":\"unknown\"},\"known_by\":[\"c\"]}\n"},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        char want[1200];
        test_row(rows[i].name);
        (void)snprintf(want, sizeof want, "%s%s%s", rows[i].start, middle, rows[i].end);
        check_line(dump, changes, i, want);
    }
}
