/* A dump without what the walks of some threads do not need: as a case of a reference suite, which
 * strangers copy. Its layout stays, since that is what such a case is about: the same streams,
 * lists and places, with zeros for other bytes. */
#ifndef ENGINE_DUMP_SCRUB_H
#define ENGINE_DUMP_SCRUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"

struct scrub_frame {
    uint64_t pc_va, sp_va;
};

struct scrub_walk {
    const struct scrub_frame *frames; /* innermost first; the first is the thread's state */
    uint32_t count;
};

/* A thread whose walk is needed. */
struct scrub_thread {
    uint32_t id;
    const struct scrub_walk *walks; /* the true one, or each of several */
    uint32_t walk_count;            /* 0: none is known */
    bool whole;                     /* the walk ends after its frames */
};

struct scrub_request {
    const char *dump;
    const char *symbols; /* a folder, as a symbol server lays it out, or flat; NULL: the images are
                            in the dump's memory */
    const struct scrub_thread *threads;
    uint32_t thread_count;
};

struct scrub_file {
    const char *from;
    const char *place; /* as a symbol server lays it out: "a.dll/5F00...1000/a.dll" */
};

struct scrubbed {
    const uint8_t *data; /* in KEEP */
    size_t bytes;
    const struct scrub_file *files; /* images of the frames, on x86 with their PDBs */
    uint32_t file_count;
    uint32_t kept_stacks; /* threads whose stack was kept up to the last frame: our walk is not
                             theirs, so what a right one reads is not known */
};

/* What stays: the header, the directory; streams that say where threads, modules and memory are,
 * and what the exception is (others become unused ones); of the threads the registers without
 * floating point; of modules that have a frame their name and identity, and their memory; of other
 * memory the bytes that our walk reads, as far as the true frames go, and their return addresses.
 * Folders of paths become "x". Walks the result again, which has to give the same.
 *
 * Fails like dump_open(); ERR_ABSENT a thread, or the image of a frame; ERR_MALFORMED a first frame
 * is not where its thread is; ERR_UNSUPPORTED 32-bit threads in a 64-bit dump; ERR_MEMORY. */
enum status dump_scrub(const struct scrub_request *request, struct arena *keep,
                       struct scrubbed *out, struct fault *fault);

#endif
