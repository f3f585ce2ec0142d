/* The code of a frame's evidence: bytes as hexadecimal in, instructions out. */
#ifndef CODE_EVIDENCE_H
#define CODE_EVIDENCE_H

#include "base/json.h"
#include "code/code.h"

/* Leaves of CODE_BEFORE of each frame what is shown: from an instruction on, at most CODE_SHOWN_MAX
 * bytes. Where no instruction begins or ends at pc, CODE_ALIGNED is cleared, and the last few bytes
 * are left. What an engine gives has the code of whole functions. Fails: ERR_MEMORY. */
enum status evidence_cut_code(enum cpu cpu, struct stack *stack, struct arena *keep,
                              struct fault *fault);

/* The instructions around the pc of evidence that was cut. OFFSET, KIND: of its frame. Without
 * lines where the bytes are not known, or CODE_ALIGNED is not set. Fails: ERR_MEMORY. */
enum status evidence_list_code(enum cpu cpu, const struct frame_evidence *evidence, uint64_t offset,
                               enum pc_kind kind, struct arena *keep, struct code_listing *out,
                               struct fault *fault);

/* {"note", "lines": [{"at", "bytes", "text", "mark"}]}; null for a listing without lines. */
void code_listing_write(const struct code_listing *listing, struct json *j);

#endif
