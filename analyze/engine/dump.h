/* A minidump opened for walking: the dump, the images and PDBs of its modules, and the resulting
 * stacks. Shared by the `dump` engine, libtwinstack and the judges. */
#ifndef ENGINE_DUMP_H
#define ENGINE_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/files.h"
#include "format/minidump/minidump.h"
#include "model/stack.h"
#include "unwind/unwind.h"

struct symbol_store; /* symbol/symbol_store.h */
struct dump_session; /* lives in the arena it was opened with; release it with dump_close() */

/* Opens PATH. SYMBOLS is borrowed and may be NULL: then no image or PDB is used. Fails like
 * file_map and minidump_read. */
enum status dump_open(const char *path, struct symbol_store *symbols, struct arena *keep,
                      struct dump_session **out, struct fault *fault);
void dump_close(struct dump_session *session);

/* The same over a file that is mapped already and stays so until the session is closed. PATH is
 * for the fault. */
enum status dump_open_map(const struct file_map *map, const char *path,
                          struct symbol_store *symbols, struct arena *keep,
                          struct dump_session **out, struct fault *fault);

/* The dump's user stream has a code map with methods of a .NET runtime. */
bool dump_has_methods(const struct dump_session *session);

/* From now on the session walks as if the user stream had no code map: as any other reader of the
 * dump must, since only our capture writes one. The modules' identities stay. */
void dump_ignore_code_map(struct dump_session *session);

/* Reads what minidump_read() leaves to minidump_read_details(), for showing the whole dump. */
enum status dump_tell(struct dump_session *session, struct arena *keep, struct fault *fault);

const struct minidump *dump_minidump(const struct dump_session *session);

/* Modules with their authoritative identities: from the user stream if the dump has one, else from
 * the module list. module.index is the position. */
const struct module *dump_modules(const struct dump_session *session, uint32_t *count);

uint32_t dump_suspect(const struct dump_session *session, const char **why);

/* Walks a thread; the crashed thread starts from the exception's context. */
enum status dump_walk(struct dump_session *session, uint32_t thread_id, struct arena *keep,
                      struct unwind_stack *out, struct fault *fault);

/* The physical frames of a walk as a stack; resolve it with symbol_resolve_stack(). */
enum status dump_stack(struct dump_session *session, uint32_t thread_id,
                       const struct unwind_stack *walk, struct arena *keep, struct stack *out,
                       struct fault *fault);

/* The registers a walk of that thread starts from, and what kind of address its pc is. Fails:
 * ERR_ABSENT no such thread or context; ERR_MISMATCH the context belongs to another thread. */
enum status dump_registers(const struct dump_session *session, uint32_t thread_id,
                           struct registers *out, enum pc_kind *kind, struct fault *fault);

/* The dead process as the unwinders see it, used to explain a frame. */
const struct unwind_process *dump_process(const struct dump_session *session);

#endif
