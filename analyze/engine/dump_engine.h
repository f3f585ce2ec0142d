/* The `dump` engine: the stacks of a case's minidump, by our own reader, unwinder and symbols. */
#ifndef ENGINE_DUMP_ENGINE_H
#define ENGINE_DUMP_ENGINE_H

#include "engine/dump.h"
#include "engine/engine.h"

/* Walks, converts and resolves one thread, and measures the cost of each stage. If SYMBOLS is NULL,
 * the stack has physical frames only. */
enum status dump_thread_stack(struct dump_session *session, uint32_t thread_id,
                              struct symbol_store *symbols, struct arena *keep, struct stack *out,
                              struct fault *fault);

/* The stack of the thread under suspicion, without the others: for measuring. OWN_ONLY leaves the
 * frames of system modules without names. */
enum status dump_suspect_stack(const struct engine_input *in, struct dump_session *session,
                               bool own_only, struct arena *keep, struct stack *out,
                               struct fault *fault);

/* The stack of a thread that could not be walked: no frames, and the reason. */
struct stack dump_failed_stack(uint32_t thread_id, const struct fault *why, struct arena *keep);

extern const struct engine engine_dump;

/* What any other reader sees of a managed process's dump: without the code map of the user
 * stream. An exhibit, in cases whose dump has such a map. */
extern const struct engine engine_dump_plain;

#endif
