/* The code beside a walk on the page of results, of images that are made by hand: instructions as
 * Intel's and Arm's manuals encode them, functions as rows of the exception directory. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "suite/suite_code.h"
#include "test.h"

enum { FILE_BYTES = 0x600, HEAD_AT = 0x80, SECTIONS_AT = HEAD_AT + 24 + 240, TABLE_RVA = 0x2000 };

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void put_section(uint8_t *row, const char *name, uint32_t rva, uint32_t foff, uint32_t bytes)
{
    memcpy(row, name, strlen(name));
    put(row + 8, bytes, 4);
    put(row + 12, rva, 4);
    put(row + 16, bytes, 4);
    put(row + 20, foff, 4);
}

/* An image of MACHINE whose code, at rva 0x1000, is CODE; ROWS of three numbers are its functions.
 */
static void put_image(const char *name, uint16_t machine, const uint8_t *code, uint32_t bytes,
                      const uint32_t *rows, uint32_t row_count)
{
    static uint8_t file[FILE_BYTES];
    uint8_t *optional = file + HEAD_AT + 24;
    const bool wide = machine != 0x14c;
    char path[600];
    memset(file, 0, sizeof file);
    memcpy(file, "MZ", 2);
    put(file + 60, HEAD_AT, 4);
    memcpy(file + HEAD_AT, "PE\0\0", 4);
    put(file + HEAD_AT + 4, machine, 2);
    put(file + HEAD_AT + 6, 2, 2);
    put(file + HEAD_AT + 20, 240, 2);
    put(optional, wide ? 0x20b : 0x10b, 2);
    put(optional + 56, 0x3000, 4);
    put(optional + 60, 0x200, 4);
    put(optional + (wide ? 108 : 92), 16, 4);
    put(optional + (wide ? 112 : 96) + 8 * 3, TABLE_RVA, 4);
    put(optional + (wide ? 112 : 96) + 8 * 3 + 4, 12 * row_count, 4);
    put_section(file + SECTIONS_AT, ".text", 0x1000, 0x200, bytes);
    put_section(file + SECTIONS_AT + 40, ".pdata", TABLE_RVA, 0x400, 0x200);
    memcpy(file + 0x200, code, bytes);
    for (uint32_t i = 0; i < 3 * row_count; i++)
        put(file + 0x400 + 4 * (size_t)i, rows[i], 4);
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), name);
    test_write(path, file, sizeof file);
}

static void put_images(void)
{
    static const uint8_t x64[] = {
        0x90, 0x90, 0xc3,             /* 1000: nop; nop; ret, in no row     */
        0x48, 0x83, 0xec, 0x28,       /* 1003: sub rsp, 28h                 */
        0xe8, 0x06, 0x00, 0x00, 0x00, /* 1007: call 1012, which is 100c + 6 */
        0x90,                         /* 100c: nop                          */
        0x48, 0x83, 0xc4, 0x28,       /* 100d: add rsp, 28h                 */
        0xc3,                         /* 1011: ret                          */
        0x31, 0xc0, 0xc3,             /* 1012: xor eax, eax; ret            */
        0x90, 0xc3,                   /* 1015: nop; ret, in no row          */
        0xe8, 0xf6, 0xff, 0xff, 0xff, /* 1017: call 1012, which is 101c - a */
        0x90,                         /* 101c: nop, in no row               */
        0xc3,                         /* 101d: ret                          */
    };
    static const uint32_t functions[] = {0x1003, 0x1012, 0, 0x1012, 0x1015, 0,
                                         0x1017, 0x101c, 0, 0x101d, 0x101e, 0};
    static const uint8_t x86[] = {0x55, 0x89, 0xe5, 0x5d, 0xc3};
    uint8_t arm64[12 * 4];
    static const uint32_t one[] = {0x1000, 0x1051, 0};
    uint8_t wide[16 * 5 + 1];
    for (size_t i = 0; i < 16; i++)
        put(wide + 5 * i, 0xb8, 5); /* mov eax, 0 */
    wide[16 * 5] = 0xc3;
    for (size_t i = 0; i < 12; i++)
        put(arm64 + 4 * i, i == 11 ? 0xd65f03c0 : 0xd503201f, 4); /* ret; nop */
    put_image("x64.exe", 0x8664, x64, sizeof x64, functions, 4);
    put_image("long.exe", 0x8664, wide, sizeof wide, one, 1);
    put_image("x86.exe", 0x14c, x86, sizeof x86, functions, 4);
    put_image("arm64.exe", 0xaa64, arm64, sizeof arm64, functions, 0);
    char path[600];
    (void)snprintf(path, sizeof path, "%s/text.exe", test_scratch());
    test_write(path, "no image", 8);
}

/* "1000 nop; 1001=pc ret": the lines, with what marks them. */
static const char *text_of(const struct code_listing *listing, struct arena *keep)
{
    const char *text = "";
    for (uint32_t i = 0; text != NULL && i < listing->count; i++) {
        const struct code_line *line = &listing->lines[i];
        const char *mark = code_mark_name(line->mark);
        text = arena_printf(keep, "%s%s%llx%s%s %s", text, i > 0 ? "; " : "",
                            (unsigned long long)line->at, mark != NULL ? "=" : "",
                            mark != NULL ? mark : "", line->text);
    }
    return text;
}

#define ASKED(GIVEN) "{\"given\":{" GIVEN "}}\n"
#define MODULE(PATH, BASE, SIZE)                                                                   \
    "{\"path\":\"" PATH "\",\"base\":\"" BASE "\",\"size\":\"" SIZE "\"}"
#define X64 "\"modules\":[" MODULE("x64.exe", "0x10000", "0x3000") "]"
#define AT(REGISTERS) ASKED("\"registers\":{" REGISTERS "}," X64)
#define ADDRESS(IMAGE, RVA, LOOKUP)                                                                \
    ASKED("\"image\":\"" IMAGE "\",\"rva\":\"" RVA "\",\"lookup\":\"" LOOKUP "\"")
#define NO_IMAGE "it is in no image of the suite"
#define NO_FRAME "the case has no frame"
#define NO_PE "its image is no PE file"
#define FAR "it is in no section of the image, or far from all that is known to be code"
#define NO_CHAIN "no chain of instructions leads from where code begins to it"

TEST(the_code_of_a_case_is_listed)
{
    static const struct suite_frame frames[] = {{.ip = 0x11014}, {.ip = 0x1100c}, {.ip = 0x1101c}};
    static const struct suite_walk walk = {frames, COUNT_OF(frames)};
    static const struct {
        const char *name;
        enum suite_kind kind;
        const char *question;
        bool walked;
        uint32_t frame;
        const char *text, *why;
    } rows[] = {
        {"a state", SUITE_MOMENT, AT("\"rip\":\"0x11007\""), false, 0,
         "11003 sub rsp, 0x28; 11007=pc call 0x11012; 1100c nop; 1100d add rsp, 0x28; 11011 ret",
         NULL},
        {"the truth is before the state", SUITE_MOMENT, AT("\"rip\":\"0x11007\""), true, 0,
         "11012 xor eax, eax; 11014=pc ret", NULL},
        {"a caller", SUITE_MOMENT, AT("\"rip\":\"0x11007\""), true, 1,
         "11003 sub rsp, 0x28; 11007=call call 0x11012; 1100c=pc nop; 1100d add rsp, 0x28; "
         "11011 ret",
         NULL},
        {"a caller whose call is its last instruction", SUITE_MOMENT, AT(""), true, 2,
         "11017=call call 0x11012", NULL},
        {"a frame that the truth does not have", SUITE_MOMENT, AT("\"rip\":\"0x11007\""), true, 3,
         "", NO_FRAME},
        {"a caller, without a truth", SUITE_MOMENT, AT("\"rip\":\"0x11007\""), false, 1, "",
         NO_FRAME},
        {"a leaf before the first function", SUITE_MOMENT, AT("\"rip\":\"0x11002\""), false, 0,
         "11000 nop; 11001 nop; 11002=pc ret", NULL},
        {"a leaf between two", SUITE_MOMENT, AT("\"rip\":\"0x11015\""), false, 0,
         "11015=pc nop; 11016 ret", NULL},
        {"the last function", SUITE_MOMENT, AT("\"rip\":\"0x1101d\""), false, 0, "1101d=pc ret",
         NULL},
        {"within an instruction", SUITE_MOMENT, AT("\"rip\":\"0x11008\""), false, 0, "", NO_CHAIN},
        {"in the headers", SUITE_MOMENT, AT("\"rip\":\"0x10010\""), false, 0, "", FAR},
        {"after the code", SUITE_MOMENT, AT("\"rip\":\"0x1101e\""), false, 0, "", FAR},
        {"before the image", SUITE_MOMENT, AT("\"rip\":\"0xffff\""), false, 0, "", NO_IMAGE},
        {"at its end", SUITE_MOMENT, AT("\"rip\":\"0x13000\""), false, 0, "", NO_IMAGE},
        {"no register", SUITE_MOMENT, AT(""), false, 0, "", NO_FRAME},
        {"the second module", SUITE_MOMENT,
         ASKED("\"registers\":{\"rip\":\"0x11016\"},\"modules\":[" MODULE(
             "x86.exe", "0x10000", "0x1016") "," MODULE("x64.exe", "0x10000",
                                                        "0x3000") "," MODULE("x86.exe", "0x10000",
                                                                             "0x3000") "]"),
         false, 0, "11015 nop; 11016=pc ret", NULL},
        {"a file that is not there, then one that is no image", SUITE_MOMENT,
         ASKED("\"registers\":{\"rip\":\"0x11016\"},\"modules\":[" MODULE(
             "none.exe", "0x10000", "0x3000") "," MODULE("text.exe", "0x10000", "0x3000") "]"),
         false, 0, "", NO_IMAGE},
        {"x86 begins with its section", SUITE_MOMENT,
         ASKED("\"registers\":{\"eip\":\"0x401001\"},\"modules\":[" MODULE("x86.exe", "0x400000",
                                                                           "0x3000") "]"),
         false, 0, "401000 push ebp; 401001=pc mov ebp, esp; 401003 pop ebp; 401004 ret", NULL},
        {"arm64 begins at most 32 bytes before it", SUITE_MOMENT,
         ASKED("\"registers\":{\"pc\":\"0x11028\"},\"modules\":[" MODULE("arm64.exe", "0x10000",
                                                                         "0x3000") "]"),
         false, 0,
         "11008 nop; 1100c nop; 11010 nop; 11014 nop; 11018 nop; 1101c nop; 11020 nop; 11024 nop; "
         "11028=pc nop; 1102c ret",
         NULL},
        {"an address", SUITE_ADDRESS, ADDRESS("x64.exe", "0x1012", "exact"), false, 0,
         "1012=pc xor eax, eax; 1014 ret", NULL},
        {"a return address", SUITE_ADDRESS, ADDRESS("x64.exe", "0x101c", "return"), false, 0,
         "1017=call call 0x1012", NULL},
        {"an address above 4 GiB", SUITE_ADDRESS, ADDRESS("x64.exe", "0x100001012", "exact"), false,
         0, "", NO_PE},
        {"an image that is none", SUITE_ADDRESS, ADDRESS("text.exe", "0x1012", "exact"), false, 0,
         "", NO_PE},
        {"an image elsewhere", SUITE_ADDRESS, ADDRESS("../x64.exe", "0x1012", "exact"), false, 0,
         "", NO_PE},
        {"an absolute path", SUITE_ADDRESS, ADDRESS("/x64.exe", "0x1012", "exact"), false, 0, "",
         NO_PE},
        {"32 bytes before it, and as many from it on", SUITE_ADDRESS,
         ADDRESS("long.exe", "0x1028", "exact"), false, 0,
         "100a mov eax, 0; 100f mov eax, 0; 1014 mov eax, 0; 1019 mov eax, 0; 101e mov eax, 0; "
         "1023 mov eax, 0; 1028=pc mov eax, 0; 102d mov eax, 0; 1032 mov eax, 0; 1037 mov eax, 0; "
         "103c mov eax, 0; 1041 mov eax, 0",
         NULL},
        {"a dump", SUITE_DUMP, AT("\"rip\":\"0x11007\""), false, 0, "",
         "its image is known by the dump alone"},
        {"no JSON", SUITE_MOMENT, "{", false, 0, "", NO_FRAME},
    };
    put_images();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct suite suite = {.folder = test_scratch()};
        const struct suite_case c = {.kind = rows[i].kind,
                                     .question = rows[i].question,
                                     .walks = &walk,
                                     .walk_count = rows[i].walked};
        struct suite_images *images = suite_images_open(&suite);
        struct fault fault = FAULT_INIT;
        struct code_listing got;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        for (int again = 0; again < 2; again++) { /* then the image is open */
            const char *why = "";
            REQUIRE(suite_code_list(images, &c, rows[i].frame, &keep, &got, &why, &fault) ==
                    ERR_NONE);
            CHECK_STR(text_of(&got, &keep), rows[i].text);
            CHECK_STR(why, rows[i].why);
        }
        suite_images_close(images);
        arena_free(&keep);
    }
}
