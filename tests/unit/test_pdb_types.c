/* Types as text, and the older FPO rows, from records made here. Kinds and layouts: Microsoft's
 * cvinfo.h (github.com/microsoft/microsoft-pdb); spelling: what undname prints for the same
 * function's decorated name. */
#include <string.h>

#include "format/pdb/types.h"
#include "make_pdb.h"
#include "test.h"

enum {
    LF_MODIFIER = 0x1001,
    LF_POINTER = 0x1002,
    LF_PROCEDURE = 0x1008,
    LF_MFUNCTION = 0x1009,
    LF_ARGLIST = 0x1201,
    LF_ARRAY = 0x1503,
    LF_CLASS = 0x1504,
    LF_STRUCTURE = 0x1505,
    LF_UNION = 0x1506,
    LF_ENUM = 0x1507,
    LF_INTERFACE = 0x1519,
    LF_CLASS2 = 0x1608,
    LF_STRUCTURE2 = 0x1609,
    LF_UNION2 = 0x160a,
    LF_INTERFACE2 = 0x160b,
    LF_CLASS_ST = 0x1004,
    LF_STRUCTURE_ST = 0x1005,
    LF_UNION_ST = 0x1006,
    LF_ENUM_ST = 0x1007,
    LF_ARRAY_ST = 0x1003,
    STREAM_OF_MODULE = 5
};

/* Adds the record of KIND with what CONTENTS has; returns its index. */
static uint32_t add(struct make_pdb *m, uint32_t kind, struct bag *contents)
{
    bag_align(contents);
    bag_u16(&m->ids, 2 + contents->bytes);
    bag_u16(&m->ids, kind);
    bag_put(&m->ids, contents->at, contents->bytes);
    contents->bytes = 0;
    return 0x1000 + m->id_count++;
}

static uint32_t add_words(struct make_pdb *m, uint32_t kind, const uint32_t *words, uint32_t count)
{
    struct bag bag = {0};
    for (uint32_t i = 0; i < count; i++)
        bag_u32(&bag, words[i]);
    const uint32_t index = add(m, kind, &bag);
    make_pdb_free(&(struct make_pdb){.ids = bag});
    return index;
}
#define ADD(m, kind, ...)                                                                          \
    add_words(m, kind, (const uint32_t[]){__VA_ARGS__}, COUNT_OF(((const uint32_t[]){__VA_ARGS__})))

/* A function of one parameter of TYPE, returning void. */
static uint32_t taking(struct make_pdb *m, uint32_t type)
{
    const uint32_t list = ADD(m, LF_ARGLIST, 1, type);
    return ADD(m, LF_PROCEDURE, 3, 0, list);
}

/* PDB with what M has, and its ids as types. */
static void open_types(struct make_pdb *m, struct pdb *pdb, struct pdb_types *types)
{
    struct fault fault = FAULT_INIT;
    size_t bytes;
    const uint8_t *data = make_pdb_file(m, &bytes);
    REQUIRE(pdb_open(data, bytes, pdb, &fault) == ERR_NONE);
    REQUIRE(pdb_types_open(pdb, PDB_STREAM_IPI, types));
}

static void check_type(const struct pdb_types *types, uint32_t function, const char *want)
{
    struct arena scratch;
    char text[256] = "?";
    arena_init(&scratch, 0);
    CHECK_EQ(pdb_type_parameters(types, function, &scratch, text, sizeof text), strlen(want));
    CHECK_STR(text, want);
    arena_free(&scratch);
}

/* A text that does not fit is none. "(int)" has five bytes, and its NUL. */
TEST(a_text_that_does_not_fit)
{
    struct make_pdb m;
    struct pdb_types types;
    struct pdb pdb;
    make_pdb_start(&m);
    const uint32_t function = taking(&m, 0x0074);
    open_types(&m, &pdb, &types);
    for (size_t room = 1; room <= 8; room++) {
        struct arena scratch;
        char text[9];
        memset(text, '#', sizeof text);
        arena_init(&scratch, 0);
        CHECK_EQ(pdb_type_parameters(&types, function, &scratch, text, room), room > 5 ? 5 : 0);
        CHECK_STR(text, room > 5 ? "(int)" : "");
        CHECK_EQ(text[room], '#');
        arena_free(&scratch);
    }
    pdb_close(&pdb);
    make_pdb_free(&m);
}

TEST(types_that_need_no_record)
{
    static const struct {
        const char *want;
        uint32_t type;
    } rows[] = {
        {"(void)", 0x03},
        {"(HRESULT)", 0x08},
        {"(signed char)", 0x10},
        {"(short)", 0x11},
        {"(long)", 0x12},
        {"(__int64)", 0x13},
        {"(__int128)", 0x14},
        {"(unsigned char)", 0x20},
        {"(unsigned short)", 0x21},
        {"(unsigned long)", 0x22},
        {"(unsigned __int64)", 0x23},
        {"(unsigned __int128)", 0x24},
        {"(bool)", 0x30},
        {"(float)", 0x40},
        {"(double)", 0x41},
        {"(long double)", 0x42},
        {"(__float128)", 0x43},
        {"(_Float16)", 0x46},
        {"(_Complex float)", 0x50},
        {"(_Complex double)", 0x51},
        {"(__int8)", 0x68},
        {"(unsigned __int8)", 0x69},
        {"(char)", 0x70},
        {"(wchar_t)", 0x71},
        {"(short)", 0x72},
        {"(unsigned short)", 0x73},
        {"(int)", 0x74},
        {"(unsigned int)", 0x75},
        {"(__int64)", 0x76},
        {"(unsigned __int64)", 0x77},
        {"(__int128)", 0x78},
        {"(unsigned __int128)", 0x79},
        {"(char16_t)", 0x7a},
        {"(char32_t)", 0x7b},
        {"(char8_t)", 0x7c},
        {"(...)", 0},
        {"(std::nullptr_t)", 0x103}, /* near pointer to void */
        {"(int *)", 0x474},          /* 32-bit pointer */
        {"(int *)", 0x674},          /* 64-bit pointer */
        {"(void *)", 0x603},
        {"", 0xff}, /* no kind */
    };
    uint32_t functions[COUNT_OF(rows)];
    struct pdb_types types;
    struct make_pdb m;
    struct pdb pdb;

    make_pdb_start(&m);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        functions[i] = taking(&m, rows[i].type);
    open_types(&m, &pdb, &types);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].want);
        check_type(&types, functions[i], rows[i].want);
    }
    pdb_close(&pdb);
    make_pdb_free(&m);
}

/* lfPointer: u32 type; attributes: kind 5 bits, mode 3 (0 pointer, 1 reference, 2 to a member, 3 to
 * a member function, 4 rvalue reference), 1 flat, volatile, const; then the class. */
enum {
    KIND64 = 12,
    REFERENCE = 1 << 5,
    MEMBER = 2 << 5,
    METHOD = 3 << 5,
    RVALUE = 4 << 5,
    VOLATILE = 1 << 9,
    CONST = 1 << 10
};

TEST(types_with_records)
{
    struct pdb_types types;
    struct bag name = {0};
    struct make_pdb m;
    struct pdb pdb;

    make_pdb_start(&m);
    for (int i = 0; i < 4; i++)
        bag_u32(&name, 0);
    bag_u16(&name, 4); /* its size: a number as it is */
    bag_text(&name, "ns::C");
    const uint32_t class = add(&m, LF_CLASS, &name);
    const uint32_t constant = ADD(&m, LF_MODIFIER, 0x74, 1);
    const uint32_t both = ADD(&m, LF_MODIFIER, class, 3);
    const uint32_t void_list = ADD(&m, LF_ARGLIST, 0);
    const uint32_t two = ADD(&m, LF_ARGLIST, 3, 0x74, 0x41, 0);
    const uint32_t function = ADD(&m, LF_PROCEDURE, 0x30, 0, two);
    const uint32_t to_function = ADD(&m, LF_POINTER, function, KIND64);
    const uint32_t const_class = ADD(&m, LF_MODIFIER, class, 1);
    const uint32_t this_const = ADD(&m, LF_POINTER, const_class, KIND64 | CONST);
    const uint32_t this_plain = ADD(&m, LF_POINTER, class, KIND64 | CONST);
    const uint32_t volatile_class = ADD(&m, LF_MODIFIER, class, 2);
    const uint32_t this_volatile = ADD(&m, LF_POINTER, volatile_class, KIND64 | CONST);
    const uint32_t method = ADD(&m, LF_MFUNCTION, 3, class, this_const, 0, two, 0);
    const struct {
        const char *want;
        uint32_t function;
    } rows[] = {
        {"(void)", ADD(&m, LF_PROCEDURE, 0x74, 0, void_list)},
        {"(int,double,...)", function},
        {"(ns::C)", taking(&m, class)},
        {"(int const)", taking(&m, constant)},
        {"(ns::C const volatile)", taking(&m, both)},
        {"(int const *)", taking(&m, ADD(&m, LF_POINTER, constant, KIND64))},
        {"(int * const)", taking(&m, ADD(&m, LF_POINTER, 0x74, KIND64 | CONST))},
        {"(int * const volatile)",
         taking(&m, ADD(&m, LF_POINTER, 0x74, KIND64 | CONST | VOLATILE))},
        {"(ns::C &)", taking(&m, ADD(&m, LF_POINTER, class, KIND64 | REFERENCE))},
        {"(ns::C &&)", taking(&m, ADD(&m, LF_POINTER, class, KIND64 | RVALUE))},
        {"(int * *)", taking(&m, ADD(&m, LF_POINTER, ADD(&m, LF_POINTER, 0x74, KIND64), KIND64))},
        {"(int ns::C::*)", taking(&m, ADD(&m, LF_POINTER, 0x74, KIND64 | MEMBER, class))},
        {"(bool (*)(int,double,...))", taking(&m, to_function)},
        {"(bool (*const)(int,double,...))",
         taking(&m, ADD(&m, LF_POINTER, function, KIND64 | CONST))},
        {"(bool (&)(int,double,...))",
         taking(&m, ADD(&m, LF_POINTER, function, KIND64 | REFERENCE))},
        {"(bool (**)(int,double,...))", taking(&m, ADD(&m, LF_POINTER, to_function, KIND64))},
        {"(void (ns::C::*)(int,double,...) const)",
         taking(&m, ADD(&m, LF_POINTER, method, KIND64 | METHOD, class))},
        {"(int,double,...) const", method},
        {"(int,double,...)", ADD(&m, LF_MFUNCTION, 3, class, this_plain, 0, two, 0)},
        {"(int,double,...)", ADD(&m, LF_MFUNCTION, 3, class, this_volatile, 0, two, 0)},
        {"(int,double,...)", ADD(&m, LF_MFUNCTION, 3, class, 0, 0, two, 0)}, /* static */
        {"(int[])", taking(&m, ADD(&m, LF_ARRAY, 0x74, 0x77, 12))},
        {"(int[])", taking(&m, ADD(&m, LF_ARRAY_ST, 0x74, 0x77, 12))},
        {"", class},                                 /* no function */
        {"", taking(&m, 0x7fff)},                    /* a type that is not there */
        {"", ADD(&m, LF_PROCEDURE, 3, 0, constant)}, /* its list is none */
        {"", ADD(&m, LF_PROCEDURE, 3, 0, ADD(&m, LF_ARGLIST, 2, 0x74))}, /* a list that is cut */
        {"", ADD(&m, LF_PROCEDURE, 3, 0)},                               /* cut before its list */
        {"", taking(&m, ADD(&m, LF_POINTER, 0x74))},                     /* without attributes */
        {"", taking(&m, ADD(&m, LF_POINTER, 0x1000 + m.id_count, KIND64))}, /* to itself */
        {"", taking(&m, ADD(&m, LF_CLASS, 0, 0, 0, 0))},             /* cut before its size */
        {"", taking(&m, ADD(&m, LF_CLASS, 0, 0, 0, 0, 0x78780004))}, /* a name without an end */
        {"", taking(&m, ADD(&m, LF_ENUM, 0, 0, 0))},                 /* cut before its name */
        {"", taking(&m, ADD(&m, LF_MODIFIER, 0x74))},                /* without its flags */
    };
    open_types(&m, &pdb, &types);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].want);
        check_type(&types, rows[i].function, rows[i].want);
    }
    pdb_close(&pdb);
    make_pdb_free(&(struct make_pdb){.ids = name});
    make_pdb_free(&m);
}

/* lfFuncId: u32 scope, u32 type, name; lfMFuncId: u32 class, u32 type, name; lfStringId: u32 list,
 * text. */
TEST(ids_are_functions_with_a_scope)
{
    enum { LF_FUNC_ID = 0x1601, LF_MFUNC_ID = 0x1602, LF_STRING_ID = 0x1605 };
    struct pdb_types types;
    struct bag bag = {0};
    struct make_pdb m;
    struct pdb pdb;

    make_pdb_start(&m);
    for (int i = 0; i < 4; i++)
        bag_u32(&bag, 0);
    bag_u16(&bag, 4);
    bag_text(&bag, "ns::C");
    const uint32_t class = add(&m, LF_CLASS, &bag);
    bag_u32(&bag, 0);
    bag_text(&bag, "ns");
    const uint32_t scope = add(&m, LF_STRING_ID, &bag);
    const struct {
        const char *name;
        uint32_t kind, scope;
        const char *text; /* NULL: "f" without an end */
        bool known;
        const char *want_name, *want_scope;
    } rows[] = {
        {"without a scope", LF_FUNC_ID, 0, "f", true, "f", ""},
        {"in a namespace", LF_FUNC_ID, scope, "f", true, "f", "ns"},
        {"in what is no text", LF_FUNC_ID, class, "f", true, "f", ""},
        {"in what is not there", LF_FUNC_ID, 0x7fff, "f", true, "f", ""},
        {"of a class", LF_MFUNC_ID, class, "f", true, "f", "ns::C"},
        /* without its class, "f" would be the name of another function */
        {"of what is no class", LF_MFUNC_ID, scope, "f", false, "", ""},
        {"of a class that is not there", LF_MFUNC_ID, 0x7fff, "f", false, "", ""},
        {"a name without an end", LF_FUNC_ID, 0, NULL, true, "", ""},
        {"no function", LF_STRING_ID, 0, "f", false, "", ""},
    };
    uint32_t ids[COUNT_OF(rows)];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bag_u32(&bag, rows[i].scope);
        bag_u32(&bag, 0x1234);
        if (rows[i].text != NULL)
            bag_text(&bag, rows[i].text);
        else
            bag_u32(&bag, 0x66666666);
        ids[i] = add(&m, rows[i].kind, &bag);
    }
    const uint32_t cut = ADD(&m, LF_FUNC_ID, 0);
    open_types(&m, &pdb, &types);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pdb_id_name got;
        struct arena copies;
        arena_init(&copies, 0);
        test_row(rows[i].name);
        if (CHECK_EQ(pdb_id_function(&types, &types, ids[i], &copies, &got), rows[i].known) &&
            rows[i].known) {
            CHECK_STR(got.name, rows[i].want_name);
            CHECK_STR(got.scope, rows[i].want_scope);
            CHECK_HEX(got.function_type, 0x1234);
        }
        CHECK(!pdb_id_function(&types, &types, cut, &copies, &got));
        arena_free(&copies);
    }
    pdb_close(&pdb);
    make_pdb_free(&(struct make_pdb){.ids = bag});
    make_pdb_free(&m);
}

/* Where the name is: after 16 bytes and a number (class, structure, interface), 8 and a number
 * (union), or 12 (enum); the oldest kinds have its length first. A number below 0x8000 takes two
 * bytes; others have a kind: LF_CHAR 0x8000 a byte more, LF_USHORT 0x8002 two, LF_ULONG 0x8004
 * four, LF_UQUADWORD 0x800a eight. */
TEST(names_follow_the_size_of_a_type)
{
    static const struct {
        const char *name;
        uint32_t kind, before, number, more;
        bool pascal;
    } rows[] = {
        {"class", LF_CLASS, 16, 8, 0, false},
        {"structure", LF_STRUCTURE, 16, 0x7fff, 0, false},
        {"interface", LF_INTERFACE, 16, 8, 0, false},
        {"union", LF_UNION, 8, 8, 0, false},
        {"enum", LF_ENUM, 12, 0, 0, false},
        {"class of VS 2019", LF_CLASS2, 16 + 2, 8, 0, false}, /* a count of two bytes, its size */
        {"structure of VS 2019", LF_STRUCTURE2, 16 + 2, 0x8002, 2, false},
        {"interface of VS 2019", LF_INTERFACE2, 16 + 2, 8, 0, false},
        {"union of VS 2019", LF_UNION2, 8 + 2, 8, 0, false},
        {"LF_CHAR", LF_CLASS, 16, 0x8000, 1, false},
        {"LF_SHORT", LF_CLASS, 16, 0x8001, 2, false},
        {"LF_USHORT", LF_UNION, 8, 0x8002, 2, false},
        {"LF_LONG", LF_STRUCTURE, 16, 0x8003, 4, false},
        {"LF_ULONG", LF_CLASS, 16, 0x8004, 4, false},
        {"LF_QUADWORD", LF_CLASS, 16, 0x8009, 8, false},
        {"LF_UQUADWORD", LF_CLASS, 16, 0x800a, 8, false},
        {"old class", LF_CLASS_ST, 16, 8, 0, true},
        {"old structure", LF_STRUCTURE_ST, 16, 8, 0, true},
        {"old union", LF_UNION_ST, 8, 8, 0, true},
        {"old enum", LF_ENUM_ST, 12, 0, 0, true},
    };
    uint32_t functions[COUNT_OF(rows)];
    struct pdb_types types;
    struct bag bag = {0};
    struct make_pdb m;
    struct pdb pdb;

    make_pdb_start(&m);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (uint32_t k = 0; k < rows[i].before; k++)
            bag_u8(&bag, 0);
        if (rows[i].kind != LF_ENUM && rows[i].kind != LF_ENUM_ST)
            bag_u16(&bag, rows[i].number);
        for (uint32_t k = 0; k < rows[i].more; k++)
            bag_u8(&bag, 1);
        if (rows[i].pascal)
            bag_pascal(&bag, "Name");
        else
            bag_text(&bag, "Name");
        functions[i] = taking(&m, add(&m, rows[i].kind, &bag));
    }
    open_types(&m, &pdb, &types);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        check_type(&types, functions[i], "(Name)");
    }
    pdb_close(&pdb);
    make_pdb_free(&(struct make_pdb){.ids = bag});
    make_pdb_free(&m);
}

/* FPO_DATA of winnt.h: start, bytes, locals (in 4), parameters (in 4), bytes of prolog; then 3 bits
 * registers, 1 SEH, 1 EBP, 1 reserved, 2 type of the frame (0 FPO, 1 trap, 2 TSS, 3 not FPO). */
TEST(every_bit_of_an_fpo_row)
{
    static const struct {
        uint32_t start, bytes, locals;
        uint16_t params;
        uint8_t prolog, bits;
        uint32_t registers, type;
        bool seh, ebp;
    } rows[] = {
        {0x1000, 0x10, 2, 3, 4, 0x00, 0, 0, false, false},
        {0x1010, 0x20, 0, 0, 0, 0x07, 7, 0, false, false},
        {0x1030, 0x01, 1, 1, 1, 0x08, 0, 0, true, false},
        {0x1040, 0x10, 0x10000, 0xffff, 0xff, 0x10, 0, 0, false, true},
        {0x1050, 0x10, 5, 6, 7, 0x20, 0, 0, false, false},
        {0x1060, 0x10, 5, 6, 7, 0xc3, 3, 3, false, false},
        {0x1070, 0x10, 5, 6, 7, 0x5c, 4, 1, true, true},
    };
    struct fault fault = FAULT_INIT;
    struct pdb_fpo fpo;
    struct make_pdb m;
    struct pdb pdb;
    size_t bytes;

    make_pdb_start(&m);
    m.symbols[0].bytes = 0; /* the stream of the module holds them: only its number is needed */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bag_u32(&m.symbols[0], rows[i].start);
        bag_u32(&m.symbols[0], rows[i].bytes);
        bag_u32(&m.symbols[0], rows[i].locals);
        bag_u16(&m.symbols[0], rows[i].params);
        bag_u8(&m.symbols[0], rows[i].prolog);
        bag_u8(&m.symbols[0], rows[i].bits);
    }
    const uint8_t *data = make_pdb_file(&m, &bytes);
    REQUIRE(pdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
    CHECK(!pdb_fpo_at(&pdb, 0x1000, &fpo));
    pdb.fpo_stream = STREAM_OF_MODULE;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint32_t last = rows[i].start + rows[i].bytes - 1;
        for (uint32_t rva = rows[i].start; rva <= last; rva += last - rva > 0 ? last - rva : 1) {
            REQUIRE(pdb_fpo_at(&pdb, rva, &fpo));
            CHECK_HEX(fpo.start_rva, rows[i].start);
            CHECK_HEX(fpo.code_bytes, rows[i].bytes);
            CHECK_EQ(fpo.locals_bytes, rows[i].locals * 4);
            CHECK_EQ(fpo.params_bytes, rows[i].params * 4U);
            CHECK_EQ(fpo.prolog_bytes, rows[i].prolog);
            CHECK_EQ(fpo.saved_registers, rows[i].registers);
            CHECK_EQ(fpo.has_seh, rows[i].seh);
            CHECK_EQ(fpo.uses_ebp, rows[i].ebp);
            CHECK_EQ(fpo.frame_type, rows[i].type);
        }
    }
    CHECK(!pdb_fpo_at(&pdb, 0xfff, &fpo));
    CHECK(!pdb_fpo_at(&pdb, 0x1031, &fpo));
    CHECK(!pdb_fpo_at(&pdb, 0x1080, &fpo));
    pdb_close(&pdb);
    make_pdb_free(&m);
}

/* FRAMEDATA of cvinfo.h: start, bytes, locals, parameters, most of the stack, program, prolog (2),
 * saved (2), flags: 1 SEH, 2 C++ exceptions, 4 the start of a function. */
TEST(frame_data_of_a_function_and_its_parts)
{
    static const struct {
        uint32_t start, bytes, flags;
    } rows[] = {{0x1000, 0x40, 4}, {0x1010, 0x30, 0}, {0x1100, 0x10, 1}, {0x1200, 8, 7}};
    static const struct {
        const char *name;
        uint32_t rva, row, function; /* 0: none */
    } places[] = {
        {"before all", 0xfff, 0, 0},
        {"the first byte", 0x1000, 0x1000, 0x1000},
        {"before the second part", 0x100f, 0x1000, 0x1000},
        {"the second part", 0x1010, 0x1010, 0x1000},
        {"its last byte", 0x103f, 0x1010, 0x1000},
        {"after the function", 0x1040, 0, 0},
        {"a part whose function is not there", 0x1105, 0x1100, 0},
        {"the last row", 0x1207, 0x1200, 0x1200},
        {"after all", 0x1208, 0, 0},
    };
    struct fault fault = FAULT_INIT;
    struct pdb_frame_data data;
    struct arena copies;
    struct make_pdb m;
    struct pdb pdb;
    size_t bytes;

    make_pdb_start(&m);
    const uint32_t program = make_name(&m, "$T0 .raSearch =");
    m.symbols[0].bytes = 0; /* the stream of the module holds them: only its number is needed */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bag_u32(&m.symbols[0], rows[i].start);
        bag_u32(&m.symbols[0], rows[i].bytes);
        for (uint32_t word = 1; word <= 3; word++)
            bag_u32(&m.symbols[0], word * 4);
        bag_u32(&m.symbols[0], program);
        bag_u16(&m.symbols[0], 17);
        bag_u16(&m.symbols[0], 18);
        bag_u32(&m.symbols[0], rows[i].flags);
    }
    const uint8_t *file = make_pdb_file(&m, &bytes);
    REQUIRE(pdb_open(file, bytes, &pdb, &fault) == ERR_NONE);
    pdb.frame_data_stream = STREAM_OF_MODULE;
    arena_init(&copies, 0);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        test_row(places[i].name);
        REQUIRE(pdb_frame_data_at(&pdb, places[i].rva, &copies, &data) == (places[i].row != 0));
        if (places[i].row != 0) {
            CHECK_HEX(data.start_rva, places[i].row);
            CHECK_EQ(data.locals_bytes, 4);
            CHECK_EQ(data.params_bytes, 8);
            CHECK_EQ(data.stack_max_bytes, 12);
            CHECK_EQ(data.prolog_bytes, 17);
            CHECK_EQ(data.saved_bytes, 18);
            CHECK_STR(data.program, "$T0 .raSearch =");
        }
        REQUIRE(pdb_frame_function_at(&pdb, places[i].rva, &data) == (places[i].function != 0));
        if (places[i].function != 0)
            CHECK_HEX(data.start_rva, places[i].function);
    }
    arena_free(&copies);
    pdb_close(&pdb);
    make_pdb_free(&m);
}
