/* Split DWARF: a unit of a .dwo file, or of a .dwp package by its index. DWARF 5, 7.3.2 and 7.3.5;
 * the index of version 2: https://gcc.gnu.org/wiki/DebugFissionDWP. */
#include <stdlib.h>
#include <string.h>

#include "dwarf_maker.h"
#include "test.h"

enum { SKELETON = 4, SPLIT_COMPILE = 5, ID = 7 };
enum { SECT_INFO = 1, SECT_TYPES = 2, SECT_ABBREV = 3 };

/* A unit of KIND, whose id is ID; NAME: of its function; NULL: none. */
static struct made *unit_of(const struct made *like, uint8_t kind, const char *name)
{
    static const uint64_t code[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
    struct made *m = test_copy(like, sizeof *like);
    m->kind = kind;
    start_unit(m);
    if (name != NULL) {
        shape(m, 2, FUNCTION, false, code);
        put_unsigned(&m->info, 2);
        put_text(&m->info, name);
        code_range(m);
    }
    end_unit(m);
    return m;
}

struct index_row {
    const char *name;
    uint32_t version, columns[3], column_count;
    uint32_t units, slots;
    uint64_t ids[2];      /* of the slots */
    uint32_t rows[2];     /* of the slots, from 1 */
    uint32_t row_of_unit; /* the row that has the unit; the other one has nothing */
    int32_t offset, size; /* added to those of .debug_info */
    uint32_t cut;         /* bytes that are missing at the end */
    bool found;
};

static void put_index(struct part *to, const struct index_row *row, const struct made *m,
                      uint32_t before)
{
    put_fixed(to, row->version, row->version == 2 ? 4 : 2, m->big);
    if (row->version != 2)
        put_fixed(to, 0, 2, m->big);
    put_fixed(to, row->column_count, 4, m->big);
    put_fixed(to, row->units, 4, m->big);
    put_fixed(to, row->slots, 4, m->big);
    for (uint32_t i = 0; i < row->slots; i++)
        put_fixed(to, row->ids[i], 8, m->big);
    for (uint32_t i = 0; i < row->slots; i++)
        put_fixed(to, row->rows[i], 4, m->big);
    for (uint32_t c = 0; c < row->column_count; c++)
        put_fixed(to, row->columns[c], 4, m->big);
    for (int sizes = 0; sizes < 2; sizes++)
        for (uint32_t u = 1; u <= row->units; u++)
            for (uint32_t c = 0; c < row->column_count; c++) {
                const uint32_t section = row->columns[c];
                const size_t bytes = section == SECT_INFO ? m->info.bytes : m->abbrev.bytes;
                const int32_t more = section == SECT_INFO ? sizes ? row->size : row->offset : 0;
                const uint32_t value = sizes ? (uint32_t)bytes : before;
                put_fixed(to, u == row->row_of_unit ? value + (uint32_t)more : 0, 4, m->big);
            }
    to->bytes -= row->cut;
}

/* The name of the function at AT; "-": none. */
static const char *name_at(const struct object_debug *debug, const struct object_debug *split,
                           bool *lacks)
{
    static char name[64];
    const struct dwarf_input input = {
        .debug = debug, .splits = &split, .split_count = split != NULL};
    struct fault fault = FAULT_INIT;
    struct dwarf_place place;
    struct dwarf *dwarf;
    REQUIRE(dwarf_open(&input, &dwarf, &fault) == ERR_NONE);
    dwarf_at(dwarf, AT, &place);
    *lacks = place.lacks_split;
    const char *found = place.scope != NULL ? dwarf_scope_name(place.scope) : NULL;
    strcpy(name, found != NULL ? found : "-");
    dwarf_close(dwarf);
    return name;
}

TEST(a_skeleton_finds_its_unit)
{
    static const struct {
        const char *name;
        uint8_t kind; /* of the unit in the .dwo file; 0: no such file */
        const char *want;
    } rows[] = {
        {"no file", 0, "-"}, {"the unit", SPLIT_COMPILE, "full"}, {"a unit of no id", 1, "-"}};
    for (size_t f = 4; f < FORMATS; f++)
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            struct made *m = unit_of(&formats[f], SKELETON, NULL);
            struct made *full = unit_of(&formats[f], rows[i].kind, "full");
            const struct object_debug debug = sections_of(m);
            struct object_debug split = {.address_bytes = m->address_bytes, .big_endian = m->big};
            bool lacks;
            test_row(rows[i].name);
            split.split[DEBUG_INFO] = (struct byte_view){full->info.data, full->info.bytes};
            split.split[DEBUG_ABBREV] = (struct byte_view){full->abbrev.data, full->abbrev.bytes};
            CHECK_STR(name_at(&debug, rows[i].kind != 0 ? &split : NULL, &lacks), rows[i].want);
            CHECK_EQ(lacks, strcmp(rows[i].want, "-") == 0);
            free(full);
            free(m);
        }
}

TEST(the_index_of_a_package_leads_to_its_unit)
{
#define TWO {SECT_INFO, SECT_ABBREV}, 2
    static const struct index_row rows[] = {
        {"version 5", 5, TWO, 1, 1, {ID}, {1}, 1, 0, 0, 0, true},
        {"version 2", 2, TWO, 1, 1, {ID}, {1}, 1, 0, 0, 0, true},
        {"version 3", 3, TWO, 1, 1, {ID}, {1}, 1, 0, 0, 0, false},
        {"version 6", 6, TWO, 1, 1, {ID}, {1}, 1, 0, 0, 0, false},
        {"columns in another order",
         5,
         {SECT_ABBREV, SECT_INFO},
         2,
         1,
         1,
         {ID},
         {1},
         1,
         0,
         0,
         0,
         true},
        {"a column that is not read",
         5,
         {SECT_TYPES, SECT_ABBREV, SECT_INFO},
         3,
         1,
         1,
         {ID},
         {1},
         1,
         0,
         0,
         0,
         true},
        {"no column of units", 5, {SECT_ABBREV}, 1, 1, 1, {ID}, {1}, 1, 0, 0, 0, false},
        {"no column of abbreviations", 5, {SECT_INFO}, 1, 1, 1, {ID}, {1}, 1, 0, 0, 0, false},
        {"the second row", 5, TWO, 2, 2, {9, ID}, {1, 2}, 2, 0, 0, 0, true},
        {"the second row, in the first slot", 5, TWO, 2, 2, {ID, 9}, {2, 1}, 2, 0, 0, 0, true},
        {"a free slot before it", 5, TWO, 1, 2, {0, ID}, {0, 1}, 1, 0, 0, 0, true},
        {"another id", 5, TWO, 1, 1, {ID + 1}, {1}, 1, 0, 0, 0, false},
        {"a free slot of that id", 5, TWO, 1, 1, {ID}, {0}, 1, 0, 0, 0, false},
        {"a row after the last", 5, TWO, 1, 1, {ID}, {2}, 1, 0, 0, 0, false},
        {"a unit that ends after the section", 5, TWO, 1, 1, {ID}, {1}, 1, 0, 1, 0, false},
        {"one that begins after it", 5, TWO, 1, 1, {ID}, {1}, 1, 1 << 20, 0, 0, false},
        {"the offset of another place", 5, TWO, 1, 1, {ID}, {1}, 1, -1, 0, 0, false},
        {"an index without its last byte", 5, TWO, 1, 1, {ID}, {1}, 1, 0, 0, 1, false},
        {"an index without sizes", 5, TWO, 1, 1, {ID}, {1}, 1, 0, 0, 8, false},
        {"a head alone", 5, TWO, 0, 0, {0}, {0}, 1, 0, 0, 0, false},
    };
    enum { BEFORE = 3 }; /* bytes of another unit in each section */
    for (size_t f = 4; f < FORMATS; f++)
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            struct made *m = unit_of(&formats[f], SKELETON, NULL);
            struct made *full = unit_of(&formats[f], SPLIT_COMPILE, "full");
            struct part *info = calloc(1, sizeof *info), *abbrev = calloc(1, sizeof *abbrev);
            struct part *index = calloc(1, sizeof *index);
            const struct object_debug debug = sections_of(m);
            struct object_debug split = {.address_bytes = m->address_bytes, .big_endian = m->big};
            bool lacks;
            test_row(rows[i].name);
            REQUIRE(info != NULL && abbrev != NULL && index != NULL);
            put_index(index, &rows[i], full, BEFORE);
            memcpy(info->data + BEFORE, full->info.data, full->info.bytes);
            memcpy(abbrev->data + BEFORE, full->abbrev.data, full->abbrev.bytes);
            split.split[DEBUG_INFO] = (struct byte_view){info->data, BEFORE + full->info.bytes};
            split.split[DEBUG_ABBREV] =
                (struct byte_view){abbrev->data, BEFORE + full->abbrev.bytes};
            split.split[DEBUG_UNIT_INDEX] = (struct byte_view){index->data, index->bytes};
            CHECK_STR(name_at(&debug, &split, &lacks), rows[i].found ? "full" : "-");
            free(index);
            free(abbrev);
            free(info);
            free(full);
            free(m);
        }
}
