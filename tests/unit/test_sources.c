/* Files of symbols, opened alone: what each says of itself, and that its answers wait for its lock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/thread.h"
#include "format/pdb/pdb.h"
#include "format/pdb/types.h"
#include "symbol/source.h"
#include "test.h"

static void open_source(struct source *source, struct arena *keep, const char *path)
{
    struct fault fault = FAULT_INIT;

    arena_init(keep, 0);
    *source = (struct source){.path = path, .keep = keep};
    REQUIRE(source_open(source, &fault) == ERR_NONE);
}

/* The GUIDs as llvm-readobj prints them of the images; "Simple Symbol Query Protocol": a portable
 * PDB is kept under its GUID and FFFFFFFF. Only shapes.cs was compiled with -sourcelink. */
TEST(a_portable_pdb_says_where_it_is_kept_and_where_its_sources_are)
{
    static const struct {
        const char *name, *key, *says;
    } rows[] = {
        {"shapes.pdb", "B53353DF72B34F03ABD5AD2A99F84369FFFFFFFF", "\"source_link\":\"{"},
        {"fsharp.pdb", "6C526D70573C4316A9F277763D28707EFFFFFFFF", "\"source_link\":null,"},
        {"generic.pdb", "0C4B5DBBBD74477CA1C454A0A4120730FFFFFFFF", "\"source_link\":null,"},
        {"roslyn48.pdb", "1F10F3888A4D43068E39DDB77B03B43DFFFFFFFF", "\"source_link\":null,"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct source_place place = {"", "", ""};
        struct source source;
        struct arena keep;
        struct json j;
        char path[64];
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "corpus/managed/%s", rows[i].name);
        open_source(&source, &keep, test_source(path));
        source.kind->store_as(&source.id, &keep, &place);
        CHECK_STR(place.name, rows[i].name);
        CHECK_STR(place.key, rows[i].key);
        CHECK_STR(place.as, rows[i].name);
        json_to_text(&j, false);
        json_object(&j);
        REQUIRE(source.kind->describe(&source, &j, &fault) == ERR_NONE);
        json_object_end(&j);
        char *text = json_take(&j, NULL);
        CHECK_HAS(text, rows[i].says);
        free(text);
        source_close(&source);
        arena_free(&keep);
    }
}

/* The header of a stream of types: version, bytes of header, first and last number. A damaged table
 * costs the names of inlined functions, which a frame says. */
TEST(a_pdb_says_whether_its_types_are_readable)
{
    static const struct {
        const char *name;
        uint32_t stream, at;
        uint8_t xor ;
        enum frame_note note;
    } rows[] = {
        {"as it is", PDB_STREAM_TPI, 0, 0, NOTE_CODE_UNNAMED},
        {"types of an older version", PDB_STREAM_TPI, 3, 1, NOTE_PDB_NO_TYPES},
        {"types that end after their stream", PDB_STREAM_TPI, 19, 1, NOTE_PDB_NO_TYPES},
        {"types that lack the last one", PDB_STREAM_TPI, 14, 1, NOTE_PDB_NO_TYPES},
        {"ids of an older version", PDB_STREAM_IPI, 3, 1, NOTE_PDB_NO_TYPES},
        {"ids that lack the last one", PDB_STREAM_IPI, 14, 1, NOTE_PDB_NO_TYPES},
    };
    static const char file[] = "g16-age-trap/Native_x64_VS2022_EnabledExplicitly.pdb";
    size_t bytes;
    uint8_t *data = test_read(test_fixture(file), &bytes);
    char path[600];
    (void)snprintf(path, sizeof path, "%s/types.pdb", test_scratch());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct source source;
        struct arena keep;
        struct pdb pdb;
        uint32_t left;
        test_row(rows[i].name);
        REQUIRE(pdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
        const struct msf_stream stream = msf_stream(&pdb.msf, rows[i].stream);
        const uint8_t *head = msf_at(&stream, 0, &left);
        REQUIRE(head != NULL && left > 20);
        uint8_t *const damaged = data + (head - data) + rows[i].at;
        pdb_close(&pdb);
        *damaged ^= rows[i].xor ;
        test_write(path, data, bytes);
        *damaged ^= rows[i].xor ;
        open_source(&source, &keep, path);
        CHECK_EQ(source.kind->unnamed(&source), rows[i].note);
        source_close(&source);
        arena_free(&keep);
    }
}

/* Some stores compress files without another name. */
TEST(a_file_that_is_no_symbol_file_is_named)
{
    static const struct {
        const char *name, *text, *hint;
        bool is_packed;
    } rows[] = {
        {"bzip2", "BZh91AY", "it is compressed with bzip2: unpack it first (`bzip2 -d`)", true},
        {"a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
         "it is a pointer of Git LFS: get the file with `git lfs pull`", false},
        {"Microsoft's compress.exe", "SZDD\x88\xf0'\x33\x41",
         "it is compressed with compress.exe: unpack it first (`expand`)", true},
        {"TD32 of Delphi", "FB09\x20\x01",
         "it is a .tds file of Delphi or C++Builder: make a PDB of the linker's map file "
         "(`map2pdb`)",
         false},
        {"TD32 of C++Builder", "FB0A\x20\x01",
         "it is a .tds file of Delphi or C++Builder: make a PDB of the linker's map file "
         "(`map2pdb`)",
         false},
        {"a .dbg file", "DI\x01\x01\x4c\x01\x0f\x01",
         "it is a .dbg file, as Visual C++ 6 and older made: link again with a newer one", false},
        {"a minidump", "MDMP\x93\xa7", "it is a minidump: see `twinstack dump`", false},
    };
    char path[600];
    (void)snprintf(path, sizeof path, "%s/a.pdb", test_scratch());
    for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
        const bool as_pdb = i % 2 != 0; /* a store opens what is where a PDB is kept as a PDB */
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct source source = {.path = path, .keep = &keep, .kind = as_pdb ? &source_pdb : NULL};
        test_row(rows[i / 2].name);
        arena_init(&keep, 0);
        test_write(path, rows[i / 2].text, strlen(rows[i / 2].text));
        CHECK_EQ(source_open(&source, &fault), ERR_UNSUPPORTED);
        CHECK_STR(fault.hint, rows[i / 2].hint);
        CHECK_EQ(source.is_packed, rows[i / 2].is_packed);
        arena_free(&keep);
    }
}

enum asking { ASK_FRAMES, ASK_METHOD, ASK_LINES, ASK_NOTE, ASK_LISTS, ASK_PLACE };

struct question {
    struct source *pdb;
    const struct source *image;
    struct mutex *lock; /* over DONE */
    bool done;
    enum asking asking;
};

static void ask(void *context)
{
    struct question *q = context;
    struct source *pdb = q->pdb;
    struct symbol_frame out[SYMBOL_FRAMES_MAX];
    uint32_t numbers[4];
    switch (q->asking) {
    case ASK_FRAMES:
        (void)pdb->kind->frames(pdb, 0x1040, out);
        break;
    case ASK_METHOD:
        (void)pdb->kind->method(pdb, 0x06000001, 0, out);
        break;
    case ASK_LINES:
        (void)pdb->kind->lines(pdb, 0x1040, numbers, 4);
        break;
    case ASK_NOTE:
        (void)pdb->kind->note(pdb);
        break;
    case ASK_LISTS:
        (void)source_pdb_of(pdb);
        break;
    case ASK_PLACE:
        pdb->kind->place(pdb, q->image);
        break;
    }
    mutex_lock(q->lock);
    q->done = true;
    mutex_unlock(q->lock);
}

static bool is_done(struct question *q)
{
    mutex_lock(q->lock);
    const bool done = q->done;
    mutex_unlock(q->lock);
    return done;
}

/* source.h: what follows the mutex of a source is read and changed under it. */
TEST(each_question_of_a_pdb_waits_for_its_lock)
{
    enum { LONG_ENOUGH_MS = 50 };
    static const struct {
        const char *name;
        enum asking asking;
    } rows[] = {{"frames", ASK_FRAMES}, {"method", ASK_METHOD}, {"lines", ASK_LINES},
                {"note", ASK_NOTE},     {"lists", ASK_LISTS},   {"place", ASK_PLACE}};
    struct source pdb, image;
    struct arena keep, more;
    struct mutex *lock = mutex_new();

    REQUIRE(lock != NULL);
    open_source(&pdb, &keep, test_fixture("g16-age-trap/Native_x64_VS2022_EnabledExplicitly.pdb"));
    open_source(&image, &more,
                test_fixture("g16-age-trap/Native_x64_VS2022_EnabledExplicitly.exe"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct question q = {&pdb, &image, lock, false, rows[i].asking};
        test_row(rows[i].name);
        mutex_lock(pdb.mutex);
        struct thread *thread = thread_start(ask, &q);
        REQUIRE(thread != NULL);
        thread_sleep_ms(LONG_ENOUGH_MS);
        CHECK(!is_done(&q));
        mutex_unlock(pdb.mutex);
        thread_join(thread);
        CHECK(is_done(&q));
    }
    source_close(&pdb);
    source_close(&image);
    arena_free(&keep);
    arena_free(&more);
    mutex_free(lock);
}
