/* The PDB reader on damaged files, on forms that it recognises but does not read, and on the known
 * content of the fixtures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/pdb/pdb_module.h"
#include "format/pe/pe.h"
#include "pdb_world.h"
#include "test.h"

/* Opens arbitrary bytes as a PDB and queries everything. */
static void use_pdb(const uint8_t *data, size_t bytes, void *context)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct fault fault = FAULT_INIT;
    struct pdb pdb;
    struct pdb_lookup *lookup = NULL;
    struct pdb_frame_data frame_data;
    struct pdb_fpo fpo;
    struct pdb_frame_proc frame_proc;
    struct arena copies;
    (void)context;
    if (pdb_open(data, bytes, &pdb, &fault) != ERR_NONE) {
        CHECK(fault.what != NULL);
        return;
    }
    arena_init(&copies, 0);
    REQUIRE(pdb_lookup_open(&pdb, NAMES_FULL, &lookup, &fault) == ERR_NONE);
    for (uint32_t rva = 0x1000; rva < 0x2000; rva += 0x125) {
        (void)pdb_lookup(lookup, rva, frames);
        (void)pdb_frame_data_at(&pdb, rva, &copies, &frame_data);
        (void)pdb_fpo_at(&pdb, rva, &fpo);
        (void)pdb_frame_proc_at(&pdb, rva, &frame_proc);
    }
    arena_free(&copies);
    pdb_lookup_close(lookup);
    pdb_close(&pdb);
}

static const char *const small_files[] = {
    "g12-llvm/Stripped.pdb",
    "g12-llvm/test-columns.pdb",
    "g12-llvm/FPOTest.pdb",
};

TEST(truncations_are_faults_or_answers)
{
    test_limit(180);
    for (size_t i = 0; i < COUNT_OF(small_files); i++) {
        size_t bytes;
        test_row(small_files[i]);
        const uint8_t *data = test_read(test_fixture(small_files[i]), &bytes);
        for (size_t at = 0; at < bytes; at += 512) /* around every page, everywhere in the first */
            for (size_t near = at < 4096 ? 512 : 3; near-- > 0;)
                if (at + near >= 1 && at + near - 1 < bytes)
                    use_pdb(data, at + near - 1, NULL);
    }
}

TEST(flipped_bytes_are_faults_or_answers)
{
    test_limit(240);
    for (size_t i = 0; i < COUNT_OF(small_files); i++) {
        size_t bytes;
        test_row(small_files[i]);
        const uint8_t *data = test_read(test_fixture(small_files[i]), &bytes);
        test_flips(data, bytes, use_pdb, NULL);
    }
}

TEST(forms_that_are_not_read_are_named)
{
    static const struct {
        const char *name, *magic, *says;
    } rows[] = {
        {"MSF 1.00", "Microsoft C/C++ program database 1.00\r\n\032JG", "MSF 1.00"},
        {"MSF 2.00", "Microsoft C/C++ program database 2.00\r\n\032JG", "MSF 2.00"},
        {"portable", "BSJB\001\000\001", "portable"},
        {"something else", "PK\003\004 and much more text to be long enough", "signature"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t data[4096] = {0};
        struct fault fault = FAULT_INIT;
        struct pdb pdb;
        test_row(rows[i].name);
        memcpy(data, rows[i].magic, strlen(rows[i].magic));
        CHECK_EQ(pdb_open(data, sizeof data, &pdb, &fault), ERR_UNSUPPORTED);
        CHECK_HAS(fault.what, rows[i].says);
    }
}

TEST(headers_and_lists_are_read_in_two_steps)
{
    size_t bytes;
    struct fault fault = FAULT_INIT;
    struct pdb whole, pdb;
    char of_whole[DEBUG_ID_BYTES], of_headers[DEBUG_ID_BYTES];
    const uint8_t *data =
        test_read(test_source("corpus/symbols/victims-ob2.pdb/"
                              "62F62FFAE0AFDE9E4C4C44205044422E1/victims-ob2.pdb"),
                  &bytes);
    REQUIRE(pdb_open(data, bytes, &whole, &fault) == ERR_NONE);
    REQUIRE(pdb_open_headers(data, bytes, &pdb, &fault) == ERR_NONE);
    pdb_debug_id(&whole, of_whole);
    pdb_debug_id(&pdb, of_headers);
    CHECK_STR(of_headers, of_whole);
    CHECK_STR(of_whole, "62F62FFAE0AFDE9E4C4C44205044422E1"); /* as its folder is named */
    CHECK_HEX(pdb.machine, PE_MACHINE_X64);
    CHECK_HEX(whole.machine, PE_MACHINE_X64);
    CHECK_EQ(pdb.module_count, 0);
    CHECK_EQ(pdb.section_count, 0);
    REQUIRE(pdb_open_lists(&pdb, &fault) == ERR_NONE);
    CHECK_EQ(pdb.module_count, whole.module_count);
    CHECK_EQ(pdb.contribution_count, whole.contribution_count);
    CHECK_EQ(pdb.section_count, whole.section_count);
    CHECK_EQ(pdb.address_map_count, whole.address_map_count);
    pdb_close(&pdb);
    pdb_close(&whole);
}

static void check_identities(const char *image_path, const char *pdb_path, bool same)
{
    struct fault fault = FAULT_INIT;
    struct pdb pdb;
    struct pe pe;
    char of_image[DEBUG_ID_BYTES], of_pdb[DEBUG_ID_BYTES];
    size_t image_bytes, pdb_bytes;
    const uint8_t *image = test_read(image_path, &image_bytes);
    const uint8_t *data = test_read(pdb_path, &pdb_bytes);
    REQUIRE(pe_open(image, image_bytes, &pe, &fault) == ERR_NONE);
    REQUIRE(pdb_open(data, pdb_bytes, &pdb, &fault) == ERR_NONE);
    pe_debug_id(&pe, of_image);
    pdb_debug_id(&pdb, of_pdb);
    CHECK_EQ(strcmp(of_image, of_pdb) == 0, same);
    pdb_close(&pdb);
}

TEST(identities_match_those_of_the_images_of_the_corpus)
{
    static const struct {
        const char *name, *image, *pdb;
        bool same;
    } rows[] = {
        {"x64", "victims-ob2.exe/FEE28C9252a000/victims-ob2.exe",
         "victims-ob2.pdb/62F62FFAE0AFDE9E4C4C44205044422E1/victims-ob2.pdb", true},
        {"x86", "victims-x86-ob2.exe/512891A75ac000/victims-x86-ob2.exe",
         "victims-x86-ob2.pdb/5884E44757F723CE4C4C44205044422E1/victims-x86-ob2.pdb", true},
        {"a library", "plugin-call-ob2.dll/97B9A0349000/plugin-call-ob2.dll",
         "plugin-call-ob2.pdb/F60E14A10E7605B14C4C44205044422E1/plugin-call-ob2.pdb", true},
        {"another build", "victims-ob2.exe/FEE28C9252a000/victims-ob2.exe",
         "victims-ob0.pdb/5F4A361632CB4CEC4C4C44205044422E1/victims-ob0.pdb", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char image[600], pdb[600];
        test_row(rows[i].name);
        (void)snprintf(image, sizeof image, "%s/%s", test_source("corpus/symbols"), rows[i].image);
        (void)snprintf(pdb, sizeof pdb, "%s/%s", test_source("corpus/symbols"), rows[i].pdb);
        check_identities(image, pdb, rows[i].same);
    }
}

TEST(identities_match_those_of_the_images)
{
    static const struct {
        const char *image, *pdb;
        bool same;
    } rows[] = {
        {"g07-conpty-x64/conpty.node", "g07-conpty-x64/conpty.pdb", true},
        {"g02-basic32-x86/basic32.dll", "g02-basic32-x86/basic32.pdb", true},
        {"g06-writeargument-x64/WriteArgument.exe", "g06-writeargument-x64/WriteArgument.pdb",
         true},
        {"g01-crash-x86/crash.exe", "g01-crash-x86/crash_with_srcsrv.pdb", true},
        {"g16-age-trap/Native_x64_VS2022_EnabledExplicitly.exe",
         "g16-age-trap/Native_x64_VS2022_EnabledExplicitly.pdb", true},
        {"g16-age-trap/Native_x64_VS2022_EnabledExplicitly.exe",
         "g16-age-trap/Native_x64_VS2022_DisabledExplicitly.pdb", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].pdb);
        check_identities(test_fixture(rows[i].image), test_fixture(rows[i].pdb), rows[i].same);
    }
}

/* A Breakpad .sym file made by other readers (Microsoft's DIA among them): "start bytes line file"
 * under each function. The line must be right at the first and the last byte of its range. Of
 * several rows at one address, these files have the last. */
struct sym_totals {
    uint32_t lines, wrong, first_rows;
};

static void check_sym_line(struct pdb_world *world, const char *text, struct sym_totals *totals)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    char *end;
    const uint32_t start = (uint32_t)strtoul(text, &end, 16);
    const uint32_t bytes = (uint32_t)strtoul(end, &end, 16);
    uint32_t line = (uint32_t)strtoul(end, &end, 10);
    if (line == 0xf00f00 || line == 0xfeefee)
        line = 0; /* DIA passes on the marks for "no line" */
    for (uint32_t i = 0; i < 2 && bytes != 0; i++) {
        const uint32_t rva = i == 0 ? start : start + bytes - 1;
        const uint32_t count = pdb_lookup(world->lookup, rva, frames);
        totals->lines++;
        if (count != 0 && frames[count - 1].line == line)
            continue;
        if (rva == start && count != 0 &&
            pdb_world_is_first_of_rows(world, rva, frames[count - 1].line, line)) {
            totals->first_rows++;
            continue;
        }
        if (totals->wrong++ < 5)
            printf("rva 0x%x: theirs %u, ours %u\n", rva, line,
                   count != 0 ? frames[count - 1].line : 0);
    }
}

TEST(lines_are_those_of_the_sym_files)
{
    static const struct {
        const char *pdb, *sym;
        uint32_t lines, wrong, first_rows;
    } rows[] = {
        /* Two ranges end in code marked "no line". This .sym gives that code the line before. */
        {"g02-basic32-x86/basic32.pdb", "g02-basic32-x86/basic32.sym", 46000, 2, 698},
        {"g04-regtest-x86-omap/dump_syms_regtest.pdb", "g04-regtest-x86-omap/dump_syms_regtest.sym",
         4200, 0, 33},
        {"g04-regtest-x86-omap/omap_reorder_funcs.pdb",
         "g04-regtest-x86-omap/omap_reorder_funcs.sym", 4200, 0, 33},
        {"g04-regtest-x86-omap/omap_stretched.pdb", "g04-regtest-x86-omap/omap_stretched.sym", 4400,
         0, 33},
        {"g01-crash-x86/crash.pdb", "g01-crash-x86/crash.sym", 1300, 0, 36},
    };
    test_limit(120);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pdb_world world;
        struct sym_totals totals = {0, 0, 0};
        size_t bytes;
        test_row(rows[i].sym);
        char *text = (char *)test_read(test_fixture(rows[i].sym), &bytes);
        pdb_world_open(&world, test_fixture(rows[i].pdb), NAMES_SHORT);
        for (char *at = text, *end; at < text + bytes; at = end + 1) {
            end = memchr(at, '\n', (size_t)(text + bytes - at));
            if (end == NULL)
                break;
            *end = '\0'; /* the sanitizer's strspn() and strtoul() look for the end of the text */
            if (strspn(at, "0123456789abcdef") > 1 && at[strspn(at, "0123456789abcdef")] == ' ')
                check_sym_line(&world, at, &totals);
        }
        CHECK(totals.lines > rows[i].lines);
        CHECK_EQ(totals.wrong, rows[i].wrong);
        CHECK_EQ(totals.first_rows, rows[i].first_rows);
        pdb_world_close(&world);
    }
}

TEST(frame_data_and_frame_sizes)
{
    struct pdb_world world;
    struct pdb_frame_data data;
    struct pdb_frame_proc proc;
    struct arena copies;
    arena_init(&copies, 0);
    pdb_world_open(&world, test_fixture("g01-crash-x86/crash.pdb"), NAMES_SHORT);
    REQUIRE(pdb_frame_data_at(&world.pdb, 0x1000, &copies, &data));
    CHECK_HEX(data.start_rva, 0x1000);
    CHECK_HAS(data.program, "$T0");
    pdb_world_close(&world);
    pdb_world_open(&world, test_fixture("g13-sigsegv-x64/sigsegv.pdb"), NAMES_SHORT);
    REQUIRE(pdb_frame_proc_at(&world.pdb, 0x10d9, &proc));
    CHECK_EQ(proc.frame_bytes, 40);
    pdb_world_close(&world);
    arena_free(&copies);
}

/* Lines like "  > 0x1123: name (0x50)" (a function or inline site, by depth) followed by
 * "    0x1123: file:line (folder)". */
static void check_snapshot_line(struct pdb_world *world, const char *text, uint32_t *checked,
                                uint32_t *first_rows)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    static uint32_t depth;
    const size_t blanks = strspn(text, " ");
    char file[128];
    unsigned rva, line;
    if (text[blanks] == '>') {
        depth = (uint32_t)blanks / 2;
    } else if (sscanf(text + blanks, "0x%x: %127[^:]:%u", &rva, file, &line) == 3) {
        const uint32_t count = pdb_lookup(world->lookup, rva, frames);
        if (!CHECK(depth < count))
            return;
        const struct symbol_frame *frame = &frames[count - 1 - depth];
        if (depth == 0 && pdb_world_is_first_of_rows(world, rva, frame->line, line))
            ++*first_rows;
        else
            CHECK_EQ(frame->line, line);
        CHECK_STR(path_base(frame->file), file);
        ++*checked;
    }
}

TEST(a_published_inline_tree_is_ours)
{
    struct pdb_world world;
    uint32_t checked = 0, first_rows = 0;
    size_t bytes;
    char *text =
        (char *)test_read(test_fixture("g01-crash-x86/test_objects__pdb_functions.snap"), &bytes);
    pdb_world_open(&world, test_fixture("g01-crash-x86/crash.pdb"), NAMES_SHORT);
    for (char *at = text, *end; at < text + bytes; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + bytes - at));
        if (end == NULL)
            break;
        *end = '\0';
        check_snapshot_line(&world, at, &checked, &first_rows);
    }
    CHECK_EQ(checked, 290);
    CHECK_EQ(first_rows, 3);
    pdb_world_close(&world);
}

TEST(calling_conventions_and_namespaces)
{
    static const struct {
        uint32_t rva, line;
        const char *name;
    } rows[] = {
        {0x1380, 10, "foo"},           {0x1390, 13, "private_symbol"}, {0x13a0, 16, "main"},
        {0x13c0, 0, "foo_cdecl"},      {0x13d0, 0, "foo_stdcall"},     {0x13e0, 0, "foo_fastcall"},
        {0x13f0, 0, "foo_vectorcall"}, {0x1420, 0, "NS::Foo::bar"},
    };
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct pdb_world world;
    pdb_world_open(&world, test_fixture("g12-llvm/test.pdb"), NAMES_SHORT);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        REQUIRE(pdb_lookup(world.lookup, rows[i].rva, frames) == 1);
        CHECK_STR(frames[0].function, rows[i].name);
        if (rows[i].line != 0)
            CHECK_EQ(frames[0].line, rows[i].line);
    }
    pdb_world_close(&world);
}

/* What Microsoft's DIA says of rows of FPO data, in the STACK WIN 0 records that its dump_syms
 * made, and where they state no SEH, the code. (llvm-pdbutil takes the two flags from wrong bits.)
 */
TEST(fpo_rows_are_those_of_dia)
{
    static const struct {
        const char *name, *file;
        uint32_t rva, code, prolog, params, saved, locals;
        bool ebp;
    } rows[] = {
        {"four registers, ebp", "g02-basic32-x86/basic32.pdb", 0xb710, 0x17, 4, 0, 0x10, 0, true},
        {"arguments too", "g02-basic32-x86/basic32.pdb", 0x15650, 0x4c, 8, 0xc, 0x10, 0, true},
        {"no prologue, 16 bytes of arguments", "g04-regtest-x86-omap/dump_syms_regtest.pdb", 0x2db0,
         0x46, 0, 0x10, 4, 0, true},
        {"ebp alone", "g04-regtest-x86-omap/dump_syms_regtest.pdb", 0x2e5b, 0x17, 1, 8, 4, 0, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pdb_world world;
        struct pdb_fpo fpo;
        test_row(rows[i].name);
        pdb_world_open(&world, test_fixture(rows[i].file), NAMES_FULL);
        for (uint32_t into = 0; into < rows[i].code; into += rows[i].code - 1) {
            REQUIRE(pdb_fpo_at(&world.pdb, rows[i].rva + into, &fpo));
            CHECK_HEX(fpo.start_rva, rows[i].rva);
            CHECK_HEX(fpo.code_bytes, rows[i].code);
            CHECK_HEX(fpo.locals_bytes, rows[i].locals);
            CHECK_HEX(fpo.params_bytes, rows[i].params);
            CHECK_HEX(fpo.prolog_bytes, rows[i].prolog);
            CHECK_HEX(fpo.saved_registers * 4U, rows[i].saved);
            CHECK_EQ(fpo.uses_ebp, rows[i].ebp);
            CHECK_EQ(fpo.has_seh, false);
            CHECK_EQ(fpo.frame_type, 0);
        }
        pdb_world_close(&world);
    }
}
