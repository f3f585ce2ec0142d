/* What a dump says about one thread: its true stack, how far that is certain, and the answers that
 * recognise() needs. */
#ifndef REPORTER_FACTS_H
#define REPORTER_FACTS_H

#include "base/fault.h"
#include "model/stack.h"
#include "reporter/recognise.h"

struct dump_session;   /* engine/dump.h */
struct registers;      /* format/context/registers.h */
struct symbol_store;   /* symbol/symbol_store.h */
struct unwind_process; /* unwind/dead_process.h */

struct crash_facts {
    struct arena *keep;
    struct dump_session *session;
    struct symbol_store *symbols;
    struct crash_world world;
    uint32_t thread_id;
    uint64_t sp_va;
    struct stack stack;  /* as walked, physical frames */
    struct places truth; /* the same */
    /* Frames at the front that unwind tables of the true images gave. Further ones are from frame
     * pointers or a scan. */
    uint32_t certain;
    bool complete; /* and the walk reached the thread's start */
    /* The module after whose frames the walk is not certain, since a file of it is missing; NULL.
     */
    const struct module *lacking;
    bool lacks_pdb; /* that file: else the image */
};

/* Opens the dump at PATH and walks THREAD (0: the one it is about). Release with facts_close().
 * Fails: as dump_open(); ERR_ABSENT no such thread. */
enum status facts_open(const char *path, struct symbol_store *symbols, uint32_t thread,
                       struct arena *keep, struct crash_facts *out, struct fault *fault);
void facts_close(struct crash_facts *facts);

#endif
