/* See made_world.h. */
#include "made_world.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "test.h"

/* The frames as text, innermost first: "name+0x1 file:line < name+0x2 ..."; "-" when there are
 * none. */
static const char *describe(const struct symbol_frame *frames, uint32_t count)
{
    static char out[1024];
    size_t at = 0;
    (void)snprintf(out, sizeof out, "%s", count == 0 ? "-" : "");
    for (uint32_t i = 0; i < count && at < sizeof out; i++) {
        const struct symbol_frame *f = &frames[i];
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%s", i != 0 ? " < " : "",
                               f->function != NULL ? f->function : "?");
        if (!f->inlined && f->distance != 0 && at < sizeof out)
            at += (size_t)snprintf(out + at, sizeof out - at, "+0x%x", (unsigned)f->distance);
        if (f->file != NULL && at < sizeof out)
            at +=
                (size_t)snprintf(out + at, sizeof out - at, " %s:%u", path_base(f->file), f->line);
        if (f->note != NOTE_NONE && at < sizeof out)
            at += (size_t)snprintf(out + at, sizeof out - at, " (%s)", frame_note_name(f->note));
    }
    return out;
}

void made_open(struct made_world *w, struct make_pdb *m)
{
    struct fault fault = FAULT_INIT;
    size_t bytes;
    const uint8_t *data = make_pdb_file(m, &bytes);
    arena_init(&w->keep, 0);
    const char *path = path_join(&w->keep, test_scratch(), "made.pdb");
    const char *index_path = path_join(&w->keep, test_scratch(), "made.index");
    test_write(path, data, bytes);
    make_pdb_free(m);
    pdb_world_open(&w->world, path, NAMES_SHORT);
    REQUIRE(symbol_index_build(&w->world.pdb, &w->world.map, NAMES_SHORT, 1, index_path, NULL,
                               &fault) == ERR_NONE);
    REQUIRE(symbol_index_open(index_path, &w->world.map, NAMES_SHORT, &w->index, &fault) ==
            ERR_NONE);
}

void made_close(struct made_world *w)
{
    symbol_index_close(w->index);
    pdb_world_close(&w->world);
    arena_free(&w->keep);
}

void made_check(struct made_world *w, uint32_t rva, const char *want)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    CHECK_STR(describe(frames, pdb_lookup(w->world.lookup, rva, frames)), want);
    CHECK_STR(describe(frames, symbol_index_lookup(w->index, rva, frames)), want);
}
