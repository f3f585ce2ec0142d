/* Every reference row of the fixtures (X.pdb.ref.jsonl). Where two other tools agree, ours must
 * agree with them in depth, lines, base file names, and names up to the parameter list. The other
 * rows are counted by cause. symbol/README.md says which tool is right and why. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/pdb/pdb_module.h"
#include "pdb_world.h"
#include "symbol/undecorate.h"
#include "test.h"

/* Why ours differs from pdb-addr2line ("they") in rows on which the two other tools disagree. The
 * table in symbol/README.md says which is right. */
enum cause {
    CAUSE_PADDING_LINE,     /* after a procedure: they continue with its last line */
    CAUSE_PADDING_NAME,     /* after a procedure: they give nothing, we name it */
    CAUSE_PADDING_FASTLINK, /* after a public without a size: they name it, we do not */
    CAUSE_MANAGED,          /* they have no lines for managed code */
    CAUSE_NO_LINE,          /* code marked as having no line: they continue with the line before */
    CAUSE_TABLES,           /* two line tables overlap: llvm-symbolizer takes the one we take */
    CAUSE_FIRST_ROW, /* two rows at one address: they take the last one there, we the first */
    CAUSE_INLINEE,   /* two records of an inlinee: they take the last one, we the first */
    CAUSE_FOLDED,    /* folded code: they join one procedure's name to another's line */
    CAUSE_NONE,
    CAUSES,
};

static const struct {
    const char *words;
    uint32_t rows; /* in the fixtures */
} causes[CAUSES] = {
    {"padding: the line before against none", 160},
    {"padding: nothing against the name before", 101},
    {"padding of FASTLINK: the name before against nothing", 34},
    {"managed code: no line against a line", 20},
    {"code marked as without a line: the line before against none", 1},
    {"overlapping line tables: one against the other", 1},
    {"two rows at this address: the last against the first", 210},
    {"two records of an inlinee: the last against the first", 1},
    {"folded code: one procedure's name with another's line against its own", 6},
    {"unexplained", 0},
};

struct counts {
    uint32_t files, agreed, agreed_good, others, others_good;
    uint32_t by_cause[CAUSES]; /* of the others */
};

static const char *text_of(const cJSON *frame, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(frame, key));
    return text != NULL ? text : "";
}

static uint32_t line_of(const cJSON *frame)
{
    const double line = cJSON_GetNumberValue(cJSON_GetObjectItem(frame, "line"));
    return line > 0 ? (uint32_t)line : 0;
}

/* Turns "?b@a@@..." into a::b if its parts are simple names. Other names are unchanged. */
static const char *plain_scopes(const char *name, struct arena *keep)
{
    const char *parts[16];
    size_t bytes[16], count = 0;
    if (name[0] != '?' || name[1] == '?')
        return name;
    for (const char *at = name + 1; *at != '@' && *at != '\0' && count < 16;) {
        const char *end = strchr(at, '@');
        if (end == NULL)
            return name;
        parts[count] = at;
        bytes[count++] = (size_t)(end - at);
        at = end + 1;
    }
    char *out = arena_string(keep, "");
    while (count-- > 0)
        out = arena_printf(keep, "%s%s%.*s", out, out[0] != '\0' ? "::" : "", (int)bytes[count],
                           strncmp(parts[count], "?A0x", 4) == 0 ? "" : parts[count]);
    return out;
}

/* Replaces llvm-symbolizer's terms for compiler-made functions with Microsoft's. */
static const char *microsoft_words(const char *name, struct arena *keep)
{
    const char *dtor = strstr(name, " deleting dtor'");
    if (strncmp(name, "[thunk]: ", 9) == 0)
        name += 9;
    if (dtor == NULL)
        return name;
    return arena_printf(keep, "%.*s deleting destructor'", (int)(dtor - name), name);
}

/* True when the names are the same apart from how each tool spells them. */
static bool name_matches(const char *ours, const char *theirs, struct arena *keep)
{
    static char readable[UNDECORATED_BYTES];
    if (pdb_world_same_name(ours, theirs) ||
        pdb_world_same_name(ours, pdb_world_cut_parameters(theirs, keep)))
        return true;
    const char *cut = pdb_world_cut_parameters(theirs, keep);
    if (undecorate(cut, NAMES_SHORT, true, readable, sizeof readable) != 0 &&
        pdb_world_same_name(ours, readable))
        return true;
    if (undecorate(ours, NAMES_SHORT, true, readable, sizeof readable) != 0 &&
        pdb_world_same_name(readable, pdb_world_cut_parameters(theirs, keep)))
        return true;
    const char *tail = strstr(ours, "'::"); /* an unnamed namespace has many spellings */
    return pdb_world_same_name(ours, plain_scopes(theirs, keep)) ||
           (tail != NULL && ours[0] == '`' && strcmp(plain_scopes(theirs, keep), tail + 3) == 0);
}

/* The first difference: "depth", "line", "file", "name"; NULL: none. */
static const char *difference(const struct symbol_frame *frames, uint32_t count, const cJSON *row,
                              struct arena *keep)
{
    const cJSON *want = cJSON_GetObjectItem(row, "frames");
    const cJSON *llvm = cJSON_GetObjectItem(row, "llvm");
    if ((uint32_t)cJSON_GetArraySize(want) != count)
        return "depth";
    for (uint32_t i = 0; i < count; i++)
        if (frames[i].line != line_of(cJSON_GetArrayItem(want, (int)i)))
            return "line";
    for (uint32_t i = 0; i < count; i++) {
        const char *file = frames[i].file != NULL ? frames[i].file : "";
        if (strcmp(path_base(file), path_base(text_of(cJSON_GetArrayItem(want, (int)i), "file"))) !=
            0)
            return "file";
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *ours = frames[i].function != NULL ? frames[i].function : "";
        const char *theirs = text_of(cJSON_GetArrayItem(want, (int)i), "function");
        const char *judge = cJSON_IsArray(llvm) && cJSON_GetArraySize(llvm) == (int)count
                                ? text_of(cJSON_GetArrayItem(llvm, (int)i), "function")
                                : theirs;
        judge = microsoft_words(judge, keep);
        if (theirs[0] != '\0' && !name_matches(ours, theirs, keep) &&
            !name_matches(ours, judge, keep))
            return "name";
    }
    return NULL;
}

/* True when several procedures of MODULE start where PROCEDURE does. */
static bool is_folded(const struct pdb_module *module, const struct pdb_procedure *procedure)
{
    struct pdb_symbol symbol;
    struct pdb_procedure other;
    uint32_t count = 0;
    for (uint32_t soff = 4; pdb_symbol_at(module, soff, &symbol);
         soff = pdb_symbol_next(module, &symbol))
        count += pdb_procedure_read(module, &symbol, &other) &&
                 other.start.section == procedure->start.section &&
                 other.start.offset == procedure->start.offset;
    return count > 1;
}

static enum cause cause_of(struct pdb_world *world, uint32_t rva, const struct symbol_frame *frames,
                           uint32_t count, const cJSON *row, const char *what)
{
    const cJSON *want = cJSON_GetObjectItem(row, "frames");
    const uint32_t wanted = (uint32_t)cJSON_GetArraySize(want);
    const uint32_t line = line_of(cJSON_GetArrayItem(want, (int)wanted - 1));
    const uint32_t ours = count != 0 ? frames[count - 1].line : 0;
    struct pdb_place place;
    struct pdb_module module;
    struct pdb_procedure procedure;
    struct arena copies;
    if (strcmp(what, "line") == 0 && pdb_world_is_first_of_rows(world, rva, ours, line))
        return CAUSE_FIRST_ROW;
    if (strcmp(what, "line") == 0 && wanted == count && count > 1 && ours == line)
        return CAUSE_INLINEE;
    arena_init(&copies, 0);
    const bool padding = pdb_place_of_rva(&world->pdb, rva, &place) &&
                         !pdb_procedure_at(&world->pdb, place, &copies, &module, &procedure);
    const bool folded = !padding && is_folded(&module, &procedure);
    arena_free(&copies);
    if (folded && strcmp(what, "line") == 0 && ours != 0)
        return CAUSE_FOLDED;
    if (padding && strcmp(what, "line") == 0 && ours == 0 && line != 0)
        return CAUSE_PADDING_LINE;
    if (padding && wanted == 0 && count == 1)
        return CAUSE_PADDING_NAME;
    if (padding && wanted == 1 && count == 0 && world->pdb.fastlink)
        return CAUSE_PADDING_FASTLINK;
    if (!padding && strcmp(what, "line") == 0 && procedure.is_managed && line == 0 && ours != 0)
        return CAUSE_MANAGED;
    if (!padding && strcmp(what, "line") == 0 && ours == 0 && line != 0)
        return CAUSE_NO_LINE;
    const cJSON *judge = cJSON_GetObjectItem(row, "llvm");
    return count == 1 && cJSON_GetArraySize(judge) == 1 &&
                   line_of(cJSON_GetArrayItem(judge, 0)) == ours
               ? CAUSE_TABLES
               : CAUSE_NONE;
}

static void check_row(struct pdb_world *world, const char *line, struct counts *counts)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    struct arena keep;
    cJSON *row = cJSON_Parse(line);
    REQUIRE(row != NULL);
    arena_init(&keep, 0);
    const uint32_t rva = (uint32_t)strtoul(text_of(row, "rva"), NULL, 16);
    const uint32_t count = pdb_lookup(world->lookup, rva, frames);
    const cJSON *procedures = cJSON_GetObjectItem(row, "own_decode_procs");
    if (procedures != NULL) { /* rows of an old PDB: names only */
        bool found = false;
        for (int i = 0; i < cJSON_GetArraySize(procedures); i++)
            found = found || (count == 1 && frames[0].function != NULL &&
                              strcmp(frames[0].function,
                                     cJSON_GetStringValue(cJSON_GetArrayItem(procedures, i))) == 0);
        counts->agreed++;
        counts->agreed_good += CHECK(found);
    } else {
        const char *what = difference(frames, count, row, &keep);
        const bool agree = cJSON_IsTrue(cJSON_GetObjectItem(row, "agree"));
        if (agree &&
            !(what != NULL && cause_of(world, rva, frames, count, row, what) == CAUSE_FOLDED)) {
            counts->agreed++;
            counts->agreed_good += what == NULL;
            if (what != NULL)
                FAIL("rva 0x%x: %s differs; ours: %u frames, %s line %u; row %.300s", rva, what,
                     count, count != 0 && frames[0].function ? frames[0].function : "none",
                     count != 0 ? frames[0].line : 0, line);
        } else {
            counts->others++;
            if (what == NULL)
                counts->others_good++;
            else
                counts->by_cause[cause_of(world, rva, frames, count, row, what)]++;
        }
    }
    arena_free(&keep);
    cJSON_Delete(row);
}

static void check_file(const char *path, void *context)
{
    struct counts *counts = context;
    struct pdb_world world;
    size_t bytes;
    char *text = (char *)test_read(path, &bytes);
    struct arena keep;
    arena_init(&keep, 0);
    char *pdb_path = arena_string(&keep, path);
    pdb_path[strlen(path) - strlen(".ref.jsonl")] = '\0';
    test_row(path_base(pdb_path));
    pdb_world_open(&world, pdb_path, NAMES_SHORT);
    for (char *at = text; at < text + bytes;) {
        char *end = memchr(at, '\n', (size_t)(text + bytes - at));
        if (end == NULL)
            break;
        *end = '\0';
        check_row(&world, at, counts);
        at = end + 1;
    }
    counts->files++;
    pdb_world_close(&world);
    arena_free(&keep);
    test_row(NULL);
}

TEST(rows_on_which_two_tools_agree_are_ours_too)
{
    struct counts counts;
    memset(&counts, 0, sizeof counts);
    test_limit(120);
    (void)test_fixture("g07-conpty-x64/conpty.pdb"); /* these two are fetched, if they can be */
    (void)test_fixture("g08-setup-x86/Setup.pdb");
    pdb_world_each(".ref.jsonl", check_file, &counts);
    printf("%u files; agreed rows %u of %u; other rows as pdb-addr2line %u of %u\n", counts.files,
           counts.agreed_good, counts.agreed, counts.others_good, counts.others);
    CHECK(counts.files >= 30);
    CHECK(counts.agreed > 4000);
    CHECK_EQ(counts.agreed_good, counts.agreed);
    for (int i = 0; i < CAUSES; i++) { /* the table in symbol/README.md */
        printf("%5u  %s\n", counts.by_cause[i], causes[i].words);
        test_row(causes[i].words);
        CHECK_EQ(counts.by_cause[i], causes[i].rows);
    }
}
