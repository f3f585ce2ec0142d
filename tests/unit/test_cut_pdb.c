/* A property of PDBs: taking a piece away never adds a wrong name or line without a mark.
 *
 * The stream directory is changed so that one stream at a time is cut to several lengths, as in a
 * PDB that was not copied completely. Then all code is looked up again. An answer may lack what was
 * cut, or have a note. It must not differ in any other way. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "cut_frames.h"
#include "pdb_world.h"
#include "symbol/pdb_unit.h"
#include "test.h"

enum { SHOWN_MAX = 8, CODE_MAX = 1 << 16, STEP_BYTES = 3 };

#define PDB_OF_CORPUS                                                                              \
    "corpus/symbols/plugin-call-ob2.pdb/F60E14A10E7605B14C4C44205044422E1/plugin-call-ob2.pdb"

/* False if NOW claims something that WHOLE does not, and no note says that it may be wrong. */
static bool is_honest(const struct symbol_frame *now, uint32_t now_count,
                      const struct symbol_frame *whole, uint32_t whole_count)
{
    for (uint32_t i = 0; i < now_count; i++)
        if (now[i].note != NOTE_NONE)
            return true;
    if (now_count == 0 || (now_count == 1 && now[0].function == NULL && now[0].line == 0))
        return true;
    return frames_same_or_lost(now, now_count, whole, whole_count);
}

struct tally {
    uint32_t cuts, refused, answers, marked, wrong;
};

static void ask_all(struct pdb_lookup *whole, struct pdb_lookup *cut, const struct pdb *pdb,
                    const char *name, uint32_t stream, uint32_t bytes, struct tally *tally)
{
    static struct symbol_frame before[SYMBOL_FRAMES_MAX], now[SYMBOL_FRAMES_MAX];
    for (uint32_t s = 0; s < pdb->section_count; s++) {
        const struct pdb_section *section = &pdb->sections[s];
        for (uint32_t at = 0; at < section->virtual_bytes && at < CODE_MAX; at += STEP_BYTES) {
            const uint32_t rva = section->rva + at;
            const uint32_t before_count = pdb_lookup(whole, rva, before);
            const uint32_t count = pdb_lookup(cut, rva, now);
            tally->answers++;
            tally->marked += count > 0 && now[count - 1].note != NOTE_NONE;
            if (is_honest(now, count, before, before_count) || tally->wrong++ >= SHOWN_MAX)
                continue;
            FAIL("%s, stream %u cut to %u bytes: 0x%x is %s %s:%u, not %s %s:%u", name, stream,
                 bytes, rva, now[0].function != NULL ? now[0].function : "?",
                 now[0].file != NULL ? now[0].file : "?", now[0].line,
                 before_count > 0 && before[0].function != NULL ? before[0].function : "?",
                 before_count > 0 && before[0].file != NULL ? before[0].file : "?",
                 before_count > 0 ? before[0].line : 0);
        }
    }
}

/* The same file, with STREAM stated as BYTES long. */
static void ask_cut(struct pdb_world *world, uint8_t *copy, const char *name, uint32_t stream,
                    uint32_t bytes, struct tally *tally)
{
    const struct msf *msf = &world->pdb.msf;
    const size_t directory = (size_t)(msf->directory.data - msf->data); /* small, so not copied */
    struct pdb pdb;
    struct pdb_lookup *lookup = NULL;
    struct fault fault = FAULT_INIT;
    tally->cuts++;
    memcpy(copy, world->map.data, world->map.bytes);
    /* The block lists follow all lengths, so a shorter stream must keep its number of blocks. */
    for (int i = 0; i < 4; i++)
        copy[directory + 4 + 4 * (size_t)stream + (size_t)i] = (uint8_t)(bytes >> (8 * i));
    if (pdb_open(copy, world->map.bytes, &pdb, &fault) != ERR_NONE) {
        tally->refused++;
        return;
    }
    REQUIRE(pdb_lookup_open(&pdb, NAMES_SHORT, &lookup, &fault) == ERR_NONE);
    ask_all(world->lookup, lookup, &world->pdb, name, stream, bytes, tally);
    pdb_lookup_close(lookup);
    pdb_close(&pdb);
}

TEST(a_cut_stream_never_makes_a_wrong_answer_without_a_mark)
{
    struct pdb_world world;
    struct tally tally = {0};
    pdb_world_open(&world, test_source(PDB_OF_CORPUS), NAMES_SHORT);
    const struct msf *msf = &world.pdb.msf;
    REQUIRE(msf->directory.data >= msf->data && msf->directory.data < msf->data + msf->bytes);
    uint8_t *copy = malloc(world.map.bytes);
    REQUIRE(copy != NULL);
    for (uint32_t s = 0; s < msf->stream_count; s++) {
        const uint32_t bytes = msf_stream(msf, s).bytes;
        const uint32_t last = bytes == 0 ? 0 : (bytes - 1) & ~(msf->block_bytes - 1);
        for (uint32_t k = 1; k < 32 && bytes - last > 4; k++)
            ask_cut(&world, copy, "plugin-call-ob2.pdb", s, last + ((bytes - last) * k / 32 & ~3u),
                    &tally);
    }
    CHECK_EQ(tally.wrong, 0);
    CHECK(tally.cuts > 100 && tally.refused < tally.cuts / 2 && tally.marked > 0);
    free(copy);
    pdb_world_close(&world);
}

/* Lines whose files were named in "/names", of which nothing is left. */
TEST(lines_without_the_names_of_their_files_are_marked)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct pdb_world world;
    struct pdb_lookup *lookup = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t lines = 0, unmarked = 0;
    pdb_world_open(&world, test_source(PDB_OF_CORPUS), NAMES_SHORT);
    world.pdb.names_bytes = 0; /* as pdb_open() leaves it when the stream cannot be read */
    REQUIRE(pdb_lookup_open(&world.pdb, NAMES_SHORT, &lookup, &fault) == ERR_NONE);
    for (uint32_t at = 0; at < world.pdb.sections[0].virtual_bytes; at += STEP_BYTES)
        if (pdb_lookup(lookup, world.pdb.sections[0].rva + at, frames) > 0 && frames[0].line != 0) {
            CHECK(frames[0].file == NULL);
            lines++;
            unmarked += frames[0].note != NOTE_PDB_PART_DAMAGED;
        }
    CHECK(lines > 0);
    CHECK_EQ(unmarked, 0);
    pdb_lookup_close(lookup);
    pdb_world_close(&world);
}

static void expect_whole(const char *path, void *context)
{
    struct pdb_world world;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    (void)context;
    test_row(path);
    REQUIRE(file_map(path, &world.map, &fault) == ERR_NONE);
    if (pdb_open(world.map.data, world.map.bytes, &world.pdb, &fault) == ERR_NONE) {
        for (uint32_t i = 0; i < world.pdb.module_count; i++) {
            struct pdb_unit unit;
            arena_init(&keep, 0);
            if (pdb_unit_open(&world.pdb, i, &keep, NULL, &unit) && unit.is_damaged)
                FAIL("module %u, %s, is said to be damaged (symbols %d, lines %d)", i,
                     unit.module.name, pdb_symbols_are_whole(&unit.module, NULL),
                     pdb_lines_are_whole(&unit.module));
            arena_free(&keep);
        }
        pdb_close(&world.pdb);
    }
    file_unmap(&world.map);
}

TEST(no_good_file_is_said_to_be_damaged)
{
    pdb_world_each(".pdb", expect_whole, NULL);
}
