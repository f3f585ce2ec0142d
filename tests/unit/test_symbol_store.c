/* Which file gives a module its symbols: by identity, by name only if there is no identity, and
 * never by guess. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "format/pdb/pdb.h"
#include "format/pe/pe.h"
#include "symbol/symbol_store.h"
#include "test.h"

static const char *const explicit_pdb = "g16-age-trap/Native_x64_VS2022_EnabledExplicitly.pdb";
static const char *const explicit_exe = "g16-age-trap/Native_x64_VS2022_EnabledExplicitly.exe";
static const char *const disabled_pdb = "g16-age-trap/Native_x64_VS2022_DisabledExplicitly.pdb";
#define EXPLICIT_ID "3F1874FD0B8040EA9EAABAFD6A98BF732"
#define CABINET_RVA 0x73b0 /* std::_String_val<std::_Simple_types<char> >::~_String_val() */
#define DISABLED_ID "3F1874FD0B8040EA9EAABAFD6A98BF736"

static struct symbol_store *open_store(const char *root)
{
    const char *roots[] = {root};
    const struct symbol_store_options options = {.roots = roots, .root_count = root != NULL};
    struct symbol_store *store = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
    return store;
}

static struct module module_of(const char *name, const char *debug_id, const char *code_id)
{
    struct module module = {.name = name, .unloaded_at_ns = MODULE_STILL_LOADED};
    (void)snprintf(module.debug_id, sizeof module.debug_id, "%s", debug_id);
    (void)snprintf(module.code_id, sizeof module.code_id, "%s", code_id);
    return module;
}

/* Copies a fixture into the scratch folder under another name. */
static void place(const char *fixture, const char *path)
{
    struct fault fault = FAULT_INIT;
    char to[600], folder[600];
    (void)snprintf(to, sizeof to, "%s/%s", test_scratch(), path);
    (void)snprintf(folder, sizeof folder, "%s", to);
    *strrchr(folder, '/') = '\0';
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    REQUIRE(file_copy(test_fixture(fixture), to, &fault) == ERR_NONE);
}

/* The physical frame of an address of the module. */
static struct frame resolve_at(struct symbol_store *store, const struct module *module,
                               uint64_t offset)
{
    static struct arena keep;
    struct frame in = {.module = module, .module_name = module->name, .offset = offset};
    const struct stack stack = {.frames = &in, .frame_count = 1};
    struct stack out;
    struct fault fault = FAULT_INIT;

    arena_free(&keep);
    arena_init(&keep, 0);
    REQUIRE(symbol_resolve_stack(store, &stack, &keep, &out, &fault) == ERR_NONE);
    REQUIRE(out.frame_count >= 1);
    return out.frames[out.frame_count - 1];
}

/* 0x1040 is code in both programs of the pair. */
static struct frame resolve(struct symbol_store *store, const struct module *module)
{
    return resolve_at(store, module, 0x1040);
}

static const struct {
    const char *name, *module, *debug_id, *code_id;
    enum symbols_from symbols;
    enum identity_state identity;
} rows[] = {
    {"GUID and age", "x.exe", EXPLICIT_ID, "", SYMBOLS_PDB, IDENTITY_CHECKED},
    {"timestamp and size, through the image", "Native_x64_VS2022_EnabledExplicitly.exe", "",
     "62F14F628000", SYMBOLS_PDB, IDENTITY_CHECKED},
    {"a name alone", "native_x64_vs2022_enabledexplicitly.EXE", "", "", SYMBOLS_PDB,
     IDENTITY_UNCHECKED},
    {"the same GUID with another age", "Native_x64_VS2022_EnabledExplicitly.exe",
     "3F1874FD0B8040EA9EAABAFD6A98BF733", "", SYMBOLS_MISMATCH, IDENTITY_UNCHECKED},
    {"an unknown module", "y.exe", "", "", SYMBOLS_NONE, IDENTITY_UNCHECKED},
    {"an unknown identity", "y.exe", "00000000000000000000000000000000A", "", SYMBOLS_NONE,
     IDENTITY_UNCHECKED},
};

TEST(symbol_store_finds_by_identity_in_a_plain_folder)
{
    place(explicit_pdb, "some/where/Native_x64_VS2022_EnabledExplicitly.pdb");
    place(explicit_exe, "Native_x64_VS2022_EnabledExplicitly.exe");
    struct symbol_store *store = open_store(test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct module module = module_of(rows[i].module, rows[i].debug_id, rows[i].code_id);
        test_row(rows[i].name);
        const struct frame frame = resolve(store, &module);
        CHECK_STR(symbols_from_name(frame.symbols), symbols_from_name(rows[i].symbols));
        CHECK_EQ(frame.identity, rows[i].identity);
        CHECK((frame.function != NULL) == (rows[i].symbols == SYMBOLS_PDB));
        CHECK(frame.function != NULL || frame.note != NOTE_NONE);
    }
    symbol_store_close(store);
}

/* The second round finds the index that the first one built. */
TEST(symbol_store_reads_the_lists_of_a_pdb_that_has_an_index)
{
    place(explicit_pdb, "symbols/Native_x64_VS2022_EnabledExplicitly.pdb");
    char root[600], cache[600];
    (void)snprintf(root, sizeof root, "%s/symbols", test_scratch());
    (void)snprintf(cache, sizeof cache, "%s/cache", test_scratch());
    const char *roots[] = {root};
    const struct symbol_store_options options = {
        .roots = roots, .root_count = 1, .indexing = INDEXING_ALWAYS, .cache = cache};
    const struct module module = module_of("x.exe", EXPLICIT_ID, "");
    for (uint32_t round = 0; round < 2; round++) {
        struct symbol_store *store = NULL;
        struct symbol_store_built built;
        struct fault fault = FAULT_INIT;
        REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
        CHECK_EQ(resolve(store, &module).symbols, SYMBOLS_PDB);
        symbol_store_built(store, &built);
        CHECK_EQ(built.indexes, 1 - round);
        const struct pdb *pdb = symbol_store_pdb(store, &module);
        REQUIRE(pdb != NULL);
        CHECK(pdb->module_count > 0);
        CHECK(pdb->section_count > 0);
        CHECK(pdb->contribution_count > 0);
        symbol_store_close(store);
    }
}

TEST(symbol_store_finds_by_identity_in_the_layout_of_symbol_servers)
{
    place(explicit_pdb, "Native_x64_VS2022_EnabledExplicitly.pdb/" EXPLICIT_ID
                        "/Native_x64_VS2022_EnabledExplicitly.pdb");
    place(explicit_exe, "native_x64_vs2022_enabledexplicitly.exe/62f14f628000/"
                        "Native_x64_VS2022_EnabledExplicitly.exe");
    struct symbol_store *store = open_store(test_scratch());
    const struct module by_code =
        module_of("Native_x64_VS2022_EnabledExplicitly.exe", "", "62F14F628000");
    CHECK_EQ(resolve(store, &by_code).symbols, SYMBOLS_PDB);
    CHECK(symbol_store_image(store, &by_code) != NULL);
    const struct module by_debug =
        module_of("Native_x64_VS2022_EnabledExplicitly.exe", EXPLICIT_ID, "");
    CHECK_EQ(resolve(store, &by_debug).symbols, SYMBOLS_PDB);
    CHECK(symbol_store_pdb(store, &by_debug) != NULL);
    const struct module by_name = module_of("Native_x64_VS2022_EnabledExplicitly.exe", "", "");
    CHECK_EQ(resolve(store, &by_name).symbols, SYMBOLS_PDB);
    CHECK_EQ(resolve(store, &by_name).identity, IDENTITY_UNCHECKED);
    const struct module contradicting =
        module_of("Native_x64_VS2022_EnabledExplicitly.exe", EXPLICIT_ID "0", "62F14F628000");
    const struct frame frame = resolve(store, &contradicting);
    CHECK_EQ(frame.symbols, SYMBOLS_MISMATCH);
    CHECK_EQ(frame.note, NOTE_IMAGE_OTHER_PDB);
    symbol_store_close(store);
}

TEST(symbol_store_finds_in_servers_of_two_tiers)
{
    place(explicit_pdb, "na/native_x64_vs2022_enabledexplicitly.pdb/" EXPLICIT_ID
                        "/Native_x64_VS2022_EnabledExplicitly.pdb");
    place(explicit_exe, "na/Native_x64_VS2022_EnabledExplicitly.exe/62F14F628000/"
                        "Native_x64_VS2022_EnabledExplicitly.exe");
    struct symbol_store *store = open_store(test_scratch());
    for (size_t i = 0; i < 3; i++) { /* GUID and age; timestamp and size; a name alone */
        const struct module module =
            module_of("Native_x64_VS2022_EnabledExplicitly.exe", rows[i].debug_id, rows[i].code_id);
        test_row(rows[i].name);
        CHECK_EQ(resolve(store, &module).symbols, SYMBOLS_PDB);
    }
    symbol_store_close(store);
}

/* bzip2's files are not read; gzip's are, and this one is cut. */
TEST(symbol_store_says_that_an_entry_of_a_server_is_compressed)
{
    static const struct {
        const char *name, *data;
        enum frame_note note;
    } packed[] = {{"bzip2", "BZh9", NOTE_FILE_PACKED}, {"gzip", "\x1f\x8b\x08", NOTE_PDB_DAMAGED}};
    for (size_t i = 0; i < COUNT_OF(packed); i++) {
        struct fault fault = FAULT_INIT;
        char path[600];
        test_row(packed[i].name);
        (void)snprintf(path, sizeof path, "%s/x.pdb/" EXPLICIT_ID, test_scratch());
        REQUIRE(folder_make(path, &fault) == ERR_NONE);
        (void)snprintf(path, sizeof path, "%s/x.pdb/" EXPLICIT_ID "/x.pdb", test_scratch());
        test_write(path, packed[i].data, strlen(packed[i].data));
        struct symbol_store *store = open_store(test_scratch());
        const struct module module = module_of("x.exe", EXPLICIT_ID, "");
        CHECK_EQ(resolve(store, &module).note, packed[i].note);
        symbol_store_close(store);
    }
}

TEST(symbol_store_says_that_an_entry_of_a_server_is_of_another_build)
{
    place(disabled_pdb, "Native_x64_VS2022_EnabledExplicitly.pdb/" EXPLICIT_ID
                        "/Native_x64_VS2022_EnabledExplicitly.pdb");
    struct symbol_store *store = open_store(test_scratch());
    const struct module module =
        module_of("Native_x64_VS2022_EnabledExplicitly.exe", EXPLICIT_ID, "");
    const struct frame frame = resolve(store, &module);
    CHECK_EQ(frame.symbols, SYMBOLS_MISMATCH);
    CHECK(frame.function == NULL);
    symbol_store_close(store);
}

TEST(symbol_store_does_not_choose_between_two_builds_of_a_name)
{
    place(explicit_pdb, "one/app.pdb");
    place(disabled_pdb, "two/app.pdb");
    struct symbol_store *store = open_store(test_scratch());
    const struct module name_only = module_of("app.exe", "", "");
    const struct module known = module_of("app.exe", DISABLED_ID, "");
    const struct frame frame = resolve(store, &name_only);
    CHECK_EQ(frame.symbols, SYMBOLS_NONE);
    CHECK_EQ(frame.identity, IDENTITY_AMBIGUOUS);
    CHECK_EQ(frame.note, NOTE_SEVERAL_BUILDS);
    CHECK_EQ(resolve(store, &known).symbols, SYMBOLS_PDB);
    symbol_store_close(store);
}

/* The worked example at the head of store_find.c: three builds of app.pdb. */
TEST(symbol_store_has_three_builds_of_a_name)
{
    static const struct {
        const char *name, *debug_id;
        enum symbols_from symbols;
        enum identity_state identity;
        enum frame_note note;
    } asked[] = {
        {"one in a folder", EXPLICIT_ID, SYMBOLS_PDB, IDENTITY_CHECKED, NOTE_NONE},
        {"the other age", DISABLED_ID, SYMBOLS_PDB, IDENTITY_CHECKED, NOTE_NONE},
        {"as on a server", "F60E14A10E7605B14C4C44205044422E1", SYMBOLS_PDB_PUBLIC,
         IDENTITY_CHECKED, NOTE_NONE},
        {"an age that is not there", "3F1874FD0B8040EA9EAABAFD6A98BF733", SYMBOLS_MISMATCH,
         IDENTITY_UNCHECKED, NOTE_PDB_OTHER_BUILD},
        {"only the name", "", SYMBOLS_NONE, IDENTITY_AMBIGUOUS, NOTE_SEVERAL_BUILDS},
    };
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    place(explicit_pdb, "one/app.pdb");
    place(disabled_pdb, "two/app.pdb");
    place(explicit_pdb, "app.pdb/F60E14A10E7605B14C4C44205044422E1/app.pdb"); /* its folder */
    REQUIRE(
        file_copy(
            test_source("corpus/symbols/plugin-call-ob2.pdb/F60E14A10E7605B14C4C44205044422E1/"
                        "plugin-call-ob2.pdb"),
            path_join(&keep, test_scratch(), "app.pdb/F60E14A10E7605B14C4C44205044422E1/app.pdb"),
            &fault) == ERR_NONE);
    struct symbol_store *store = open_store(test_scratch());
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const struct module module = module_of("app.exe", asked[i].debug_id, "");
        test_row(asked[i].name);
        const struct frame frame = resolve(store, &module);
        CHECK_STR(symbols_from_name(frame.symbols), symbols_from_name(asked[i].symbols));
        CHECK_EQ(frame.identity, asked[i].identity);
        CHECK_EQ(frame.note, asked[i].note);
    }
    symbol_store_close(store);
    arena_free(&keep);
}

static size_t put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
    return bytes;
}

/* Writes a fixture as a cabinet of one uncompressed file: header of 36 bytes, folder, file, then
 * blocks of at most 32 KiB. */
static void place_packed(const char *fixture, const char *path)
{
    enum { HEAD_BYTES = 36, FOLDER_BYTES = 8, FILE_BYTES = 16 + 2, BLOCK = 32768, DATA_BYTES = 8 };
    char to[600], folder[600];
    struct fault fault = FAULT_INIT;
    size_t bytes, at = 0;
    const uint8_t *data = test_read(test_fixture(fixture), &bytes);
    const size_t blocks = (bytes + BLOCK - 1) / BLOCK,
                 start = HEAD_BYTES + FOLDER_BYTES + FILE_BYTES;
    const size_t total = start + bytes + blocks * DATA_BYTES;
    uint8_t *out = calloc(1, total);
    REQUIRE(out != NULL);
    memcpy(out, "MSCF", 4);
    at = 8 + put(out + 8, total, 8);
    at += put(out + at, HEAD_BYTES + FOLDER_BYTES, 8); /* offset of the file's entry */
    put(out + at, 0x0103, 2);                          /* version */
    put(out + at + 2, 1, 2);                           /* folders */
    put(out + at + 4, 1, 2);                           /* files */
    put(out + HEAD_BYTES, start, 4);
    put(out + HEAD_BYTES + 4, blocks, 2);
    put(out + HEAD_BYTES + FOLDER_BYTES, bytes, 4);
    memcpy(out + HEAD_BYTES + FOLDER_BYTES + 16, "f", 2);
    at = start;
    for (size_t from = 0; from < bytes; from += BLOCK) {
        const size_t part = bytes - from < BLOCK ? bytes - from : BLOCK;
        put(out + at + 4, part, 2);
        put(out + at + 6, part, 2);
        memcpy(out + at + DATA_BYTES, data + from, part);
        at += DATA_BYTES + part;
    }
    (void)snprintf(to, sizeof to, "%s/%s", test_scratch(), path);
    (void)snprintf(folder, sizeof folder, "%s", to);
    *strrchr(folder, '/') = '\0';
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    test_write(to, out, total);
    free(out);
}

/* Dumps state one record of an image that has several: which one depends on their writer. */
TEST(symbol_store_finds_an_image_that_names_two_pdbs)
{
    enum { ENTRY_AT = 56, POGO_AT = 0x194c }; /* the third entry, and its data */
    static const struct {
        const char *name, *debug_id;
        enum symbols_from symbols;
        bool has_image;
    } pdbs[] = {
        {"the first", EXPLICIT_ID, SYMBOLS_PDB, true},
        {"the last", "414141414141414141414141414141411", SYMBOLS_NONE, true},
        {"another", "424141414141414141414141414141411", SYMBOLS_MISMATCH, false},
    };
    struct fault fault = FAULT_INIT;
    struct pe pe;
    size_t bytes;
    uint8_t *data = test_read(test_fixture(explicit_exe), &bytes);
    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    const uint8_t *entries = pe_at(&pe, pe.directories[PE_DIR_DEBUG].rva, 84);
    REQUIRE(entries != NULL && entries[ENTRY_AT + 12] == 13);
    data[(size_t)(entries - data) + ENTRY_AT + 12] = PE_DEBUG_CODEVIEW;
    memcpy(data + POGO_AT, "RSDSAAAAAAAAAAAAAAAA\1\0\0\0app.ni.pdb", 35);
    place(explicit_pdb, "Native_x64_VS2022_EnabledExplicitly.pdb");
    char path[600];
    (void)snprintf(path, sizeof path, "%s/app.exe", test_scratch());
    test_write(path, data, bytes);
    struct symbol_store *store = open_store(test_scratch());
    for (size_t i = 0; i < COUNT_OF(pdbs); i++) {
        const struct module module = module_of("app.exe", pdbs[i].debug_id, "62F14F628000");
        test_row(pdbs[i].name);
        CHECK_EQ(resolve(store, &module).symbols, pdbs[i].symbols);
        CHECK_EQ(symbol_store_image(store, &module) != NULL, pdbs[i].has_image);
    }
    symbol_store_close(store);
}

TEST(symbol_store_reads_images_in_cabinets)
{
    static const struct {
        const char *name, *path, *code_id;
        enum identity_state identity;
    } images[] = {
        {"in the layout of symbol servers", "app.exe/62F14F628000/app.ex_", "62F14F628000",
         IDENTITY_CHECKED},
        {"in a plain folder", "things/app.ex_", "62F14F628000", IDENTITY_CHECKED},
        {"of another build", "things/app.ex_", "62F14F629000", IDENTITY_UNCHECKED},
    };
    for (size_t i = 0; i < COUNT_OF(images); i++) {
        char root[600];
        test_row(images[i].name);
        (void)snprintf(root, sizeof root, "row%zu/%s", i, images[i].path);
        place_packed(explicit_exe, root);
        (void)snprintf(root, sizeof root, "%s/row%zu", test_scratch(), i);
        struct symbol_store *store = open_store(root);
        const struct module module = module_of("app.exe", "", images[i].code_id);
        const struct file_map *image = symbol_store_image(store, &module);
        CHECK_EQ(image != NULL, images[i].identity == IDENTITY_CHECKED);
        CHECK(image == NULL || memcmp(image->data, "MZ", 2) == 0);
        symbol_store_close(store);
    }
}

/* What is in a cabinet is known once it is unpacked: an image is no damaged PDB. */
TEST(symbol_store_finds_an_image_in_a_cabinet_by_its_name)
{
    place_packed(explicit_exe, "things/app.ex_");
    struct symbol_store *store = open_store(test_scratch());
    const struct module module = module_of("app.exe", "", "");
    CHECK(symbol_store_image(store, &module) != NULL);
    CHECK_EQ(resolve_at(store, &module, 1).note, NOTE_NOT_COVERED);
    symbol_store_close(store);
}

/* Among the files that may belong to an image are some that are no object files. */
TEST(symbol_store_finds_the_alternate_file_of_an_image_beside_other_kinds)
{
    struct symbol_store *store = open_store(test_fixture("images/i12-elf-dump_syms"));
    const struct module module = module_of("basic.dwz", "", "");
    CHECK_EQ(resolve_at(store, &module, 0x12d5).symbols, SYMBOLS_DWARF);
    symbol_store_close(store);
}

TEST(symbol_store_says_that_a_file_of_the_modules_name_is_damaged)
{
    static const struct {
        const char *name, *path, *text;
        enum frame_note note;
    } files[] = {
        {"a PDB", "pdb/app.pdb", "Microsoft C/C++ MSF 7.00\r\n", NOTE_PDB_DAMAGED},
        {"a PDB before 1998", "old/app.pdb", "Microsoft C/C++ program database 2.00",
         NOTE_PDB_UNSUPPORTED},
        {"a .sym file", "sym/app.sym", "MODULE windows x86_64\n", NOTE_SYM_DAMAGED},
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char path[600];
        struct fault fault = FAULT_INIT;
        const struct module by_name = module_of("app.exe", "", "");
        const struct module by_id = module_of("app.exe", EXPLICIT_ID, "");
        test_row(files[i].name);
        (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), files[i].path);
        *strrchr(path, '/') = '\0';
        REQUIRE(folder_make(path, &fault) == ERR_NONE);
        struct symbol_store *store = open_store(path);
        path[strlen(path)] = '/';
        test_write(path, files[i].text, strlen(files[i].text));
        CHECK_EQ(resolve(store, &by_name).note, files[i].note);
        CHECK_EQ(resolve(store, &by_id).note, files[i].note);
        symbol_store_close(store);
    }
}

TEST(symbol_store_reads_a_cabinet)
{
    place("g02-basic32-x86/basic32.pd_",
          "basic32.pdb/34060D222DBB44E5AA72243CE8326C2F2/basic32.pd_");
    struct symbol_store *store = open_store(test_scratch());
    const struct module module = module_of("basic32.dll", "34060D222DBB44E5AA72243CE8326C2F2", "");
    const struct frame frame = resolve_at(store, &module, CABINET_RVA);
    CHECK_EQ(frame.symbols, SYMBOLS_PDB);
    CHECK_EQ(frame.identity, IDENTITY_CHECKED);
    symbol_store_close(store);
}

static const struct {
    const char *name, *modules[4]; /* in the order of the input */
    const char *named;             /* the module that gets the bare file; NULL: none */
} bare[] = {
    {"its own image's name",
     {"Native_x64_VS2022_EnabledExplicitly.exe"},
     "Native_x64_VS2022_EnabledExplicitly.exe"},
    {"its own image's name, not the first",
     {"a.exe", "native_x64_vs2022_enabledexplicitly.dll"},
     "native_x64_vs2022_enabledexplicitly.dll"},
    {"else the first that is no system module",
     {"ntdll.dll", "KERNEL32.DLL", "a.exe", "b.exe"},
     "a.exe"},
    {"system modules alone", {"ntdll.dll", "KERNELBASE.dll"}, NULL},
};

TEST(symbol_store_lets_a_bare_file_answer_for_one_module)
{
    for (size_t i = 0; i < COUNT_OF(bare); i++) {
        struct symbol_store *store = open_store(NULL);
        struct module modules[4];
        struct frame frames[4] = {{0}};
        struct stack stack = {.frames = frames};
        struct stack out;
        struct arena keep;
        struct fault fault = FAULT_INIT;

        test_row(bare[i].name);
        REQUIRE(symbol_store_bind_pdb(store, NULL, test_fixture(explicit_pdb), &fault) == ERR_NONE);
        for (uint32_t m = 0; m < 4 && bare[i].modules[m] != NULL; m++) {
            modules[m] = module_of(bare[i].modules[m], "", "");
            frames[m] = (struct frame){.index = m,
                                       .module = &modules[m],
                                       .module_name = modules[m].name,
                                       .offset = 0x1040};
            stack.frame_count++;
        }
        arena_init(&keep, 0);
        REQUIRE(symbol_resolve_stack(store, &stack, &keep, &out, &fault) == ERR_NONE);
        for (uint32_t f = 0; f < out.frame_count; f++) {
            const bool named =
                bare[i].named != NULL && strcmp(bare[i].named, out.frames[f].module_name) == 0;
            CHECK((out.frames[f].function != NULL) == named);
        }
        arena_free(&keep);
        symbol_store_close(store);
    }
}

TEST(symbol_store_never_lets_a_bare_file_name_another_identity)
{
    struct symbol_store *store = open_store(NULL);
    struct fault fault = FAULT_INIT;
    const struct module other = module_of("a.exe", DISABLED_ID, "");
    const struct module own = module_of("b.exe", EXPLICIT_ID, "");

    REQUIRE(symbol_store_bind_pdb(store, NULL, test_fixture(explicit_pdb), &fault) == ERR_NONE);
    CHECK_EQ(resolve(store, &other).symbols, SYMBOLS_NONE);
    CHECK_EQ(resolve(store, &own).symbols, SYMBOLS_PDB);
    symbol_store_close(store);
}

TEST(symbol_store_binds_by_name_and_says_a_mismatch)
{
    struct symbol_store *store = open_store(NULL);
    struct fault fault = FAULT_INIT;
    const struct module plain = module_of("A.EXE", "", "");
    const struct module wrong = module_of("a.exe", DISABLED_ID, "");

    REQUIRE(symbol_store_bind_pdb(store, "a.exe", test_fixture(explicit_pdb), &fault) == ERR_NONE);
    CHECK_EQ(resolve(store, &plain).symbols, SYMBOLS_PDB);
    CHECK_EQ(resolve(store, &plain).identity, IDENTITY_UNCHECKED);
    CHECK_EQ(resolve(store, &wrong).symbols, SYMBOLS_MISMATCH);
    symbol_store_close(store);
}

TEST(symbol_store_falls_back_to_exports_and_says_so)
{
    place("g07-conpty-x64/conpty.node", "conpty.node");
    struct symbol_store *store = open_store(test_scratch());
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const struct module module = module_of("conpty.node", "", "");
    struct symbol_module *sources = symbol_store_module(store, &module);
    uint32_t named = 0, other = 0, asked = 0;

    for (uint32_t rva = 0x1000; rva < 0x30000; rva += 16, asked++) {
        if (symbol_lookup(sources, rva, frames) == 0)
            continue;
        named++;
        other += frames[0].from != SYMBOLS_EXPORT;
    }
    CHECK(named > 0);
    CHECK(named < asked / 16); /* an export does not name all code after it */
    CHECK_EQ(other, 0);
    symbol_store_close(store);
}

TEST(a_portable_pdb_has_the_text_and_the_address_of_its_sources)
{
    struct symbol_store *store = open_store(test_source("corpus/managed"));
    const struct module module = module_of("shapes.dll", "", "");
    struct symbol_module *sources = symbol_store_module(store, &module);
    struct symbol_source found;
    struct arena keep;

    arena_init(&keep, 0);
    symbol_source(sources, "Z:\\src\\shapes.cs", &keep, &found);
    CHECK_EQ(found.bytes, 3086);
    REQUIRE(found.text != NULL);
    CHECK(strstr(found.text, "static class Shapes") != NULL);
    REQUIRE(found.url != NULL);
    CHECK_STR(found.url,
              "https://example.invalid/raw/0123456789abcdef0123456789abcdef01234567/shapes.cs");
    symbol_source(sources, "Z:\\src\\other.cs", &keep, &found);
    CHECK(found.text == NULL && found.url == NULL);
    const struct module native = module_of("kernel32.dll", "", "");
    symbol_source(symbol_store_module(store, &native), "a.c", &keep, &found);
    CHECK(found.text == NULL && found.url == NULL);
    symbol_store_close(store);
    arena_free(&keep);
}

TEST(symbol_store_refuses_what_is_not_there)
{
    const char *roots[] = {"no-such-folder"};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1};
    struct symbol_store *store = NULL;
    struct fault fault = FAULT_INIT;
    CHECK_EQ(symbol_store_open(&options, &store, &fault), ERR_ABSENT);
    CHECK(store == NULL);
    store = open_store(NULL);
    fault_clear(&fault);
    CHECK_EQ(symbol_store_bind_pdb(store, NULL, "no-such.pdb", &fault), ERR_ABSENT);
    fault_clear(&fault);
    CHECK_EQ(symbol_store_bind_pdb(store, NULL, test_source("corpus/botman/stacks.txt"), &fault),
             ERR_UNSUPPORTED);
    symbol_store_close(store);
}
