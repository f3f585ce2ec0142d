/* Signatures: a stack without the frames that every stack has, reduced to a few names, so that
 * equal crashes group together.  Rules are text, one per line; the first that matches a frame
 * decides:
 *
 *     skip class system          frames of this class are skipped
 *     skip function memcpy*      so are these; * and ?
 *     skip module ucrtbase.dll
 *     join function assert*      goes into the signature, and the next frame too
 *     keep module ntdll.dll      goes into the signature whatever later rules say
 *     forget function terminate  skipped; if it led to a hook of the capture, so are the frames
 *                                before, since they are handlers
 *     depth 3                    so many frames in a signature (joined ones not counted)
 *
 * '#' starts a comment.  What no rule matches is kept when it has a name. */
#ifndef COMPARE_SIGNATURE_H
#define COMPARE_SIGNATURE_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/stack.h"

struct signature_rules;

/* The rules that are used when none are given. */
extern const char signature_default_rules[];

/* Fails: ERR_MALFORMED with the line's offset; ERR_MEMORY. */
enum status signature_read_rules(const char *text, size_t bytes, struct arena *keep,
                                 struct signature_rules **out, struct fault *fault);

/* The same in steps, for callers that resolve a stack only as far as its signature needs: start,
 * then frames in order until one call returns false, then the text. */
struct signature_builder;

/* NULL: out of memory. RULES are borrowed until signature_builder_free(). */
struct signature_builder *signature_builder_new(const struct signature_rules *rules);
void signature_builder_free(struct signature_builder *builder);
void signature_builder_start(struct signature_builder *builder);

/* STABLE: the function's name is never freed or changed, so its rule can be looked up by its
 * address. False: the signature is complete. */
bool signature_builder_add(struct signature_builder *builder, const struct frame *frame,
                           bool stable);

/* The text so far, terminated, until the next start; NULL: no frame was kept, or out of memory
 * (*failed). */
const char *signature_builder_text(struct signature_builder *builder, bool *failed);

/* The signature of a stack without a kept frame: see signature_of(). */
const char *signature_of_none(const struct stack *stack, struct arena *keep);

/* "poke | middle | main"; a stack without a kept frame is named after the module and offset of its
 * first frame that is neither the system's nor the capture's, else of its first frame; an empty one
 * is "(no frames)".  NULL: out of memory. */
const char *signature_of(const struct signature_rules *rules, const struct stack *stack,
                         struct arena *keep);

#endif
