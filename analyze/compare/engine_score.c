/* Figures of one engine on one case, counted from the marked tables. These are only counts, so that
 * runs can add them up; rates and intervals are computed where they are shown. */
#include "compare/engine_score.h"

#include "compare/align.h"
#include "compare/mismatch.h"
#include "compare/same_names.h"
#include <string.h>

static bool is_demanded(const struct thread_result *thread, uint32_t row,
                        const struct truth_frame **out)
{
    const int32_t at = thread_result_cell(thread, row, 0)->frame;
    if (at < 0 || thread->truth == NULL)
        return false;
    *out = &thread->truth->frames[at];
    return (*out)->gap == TRUTH_GAP_NONE && !(*out)->tail;
}

static const struct frame *frame_at(const struct thread_result *thread, uint32_t row,
                                    uint32_t column)
{
    const int32_t at = thread_result_cell(thread, row, column)->frame;
    return at < 0 ? NULL : &thread->stacks[column - 1]->frames[at];
}

/* True when any engine knows the row's frame as the victim's own code: judges report no classes. */
static bool is_own_row(const struct thread_result *thread, uint32_t row)
{
    for (uint32_t c = 1; c < thread->column_count; c++) {
        const struct frame *frame = frame_at(thread, row, c);
        if (frame != NULL && frame->frame_class == CLASS_OWN)
            return true;
    }
    return false;
}

/* The frame is inline in this build: no engine found it as a physical frame. (An engine that looks
 * up another address may name the wrong function, but it never turns an inline frame into a
 * physical one.) */
static bool is_inline_row(const struct thread_result *thread, uint32_t row,
                          const struct truth_frame *truth)
{
    for (uint32_t c = 1; c < thread->column_count; c++) {
        const struct frame *frame = frame_at(thread, row, c);
        if (frame != NULL && frame->inline_depth == 0 &&
            compare_names(truth->function, frame->function))
            return false;
    }
    return true;
}

/* The innermost frame of COLUMN is that of the reference. Nothing else says where a crash was if
 * the truth demands no frame, as after a return to where no code is. */
static bool starts_like_reference(const struct thread_result *thread, uint32_t column)
{
    const struct stack *reference =
        thread->reference != 0 ? thread->stacks[thread->reference - 1] : NULL;
    const struct stack *stack = thread->stacks[column - 1];
    if (reference == NULL || reference == stack || reference->frame_count == 0)
        return true;
    const struct frame *a = stack->frames, *b = reference->frames;
    return stack->frame_count > 0 && frames_same_module(a, b) && a->offset == b->offset &&
           a->method_token == b->method_token && a->kind == b->kind;
}

/* Of one thread, from its innermost frame on. */
struct innermost {
    uint32_t demanded, right; /* right: in a row, with nothing wrong among them */
    bool wrong;               /* a frame that is not there: of the whole thread */
};

/* The innermost COUNT frames are right, or all of them if there are fewer. */
static bool top_is_right(const struct innermost *top, uint32_t count)
{
    return top->demanded == 0 ? !top->wrong
                              : top->right >= (top->demanded < count ? top->demanded : count);
}

static struct innermost score_truth(const struct thread_result *thread, uint32_t column,
                                    const char *root, bool bare, struct engine_score *out)
{
    struct innermost top = {0, 0, false};
    bool in_a_row = true;
    for (uint32_t row = 0; row < thread->row_count; row++) {
        const struct align_cell *cell = thread_result_cell(thread, row, column);
        const struct frame *frame = frame_at(thread, row, column);
        const struct truth_frame *truth = NULL;
        const bool wanted = is_demanded(thread, row, &truth);
        if (frame != NULL && (wanted || is_own_row(thread, row))) {
            out->own_frames++;
            const bool wrong = !wanted && !cause_is_innocent(cell->cause);
            top.wrong = top.wrong || wrong;
            in_a_row = in_a_row && !wrong;
        }
        if (!wanted || (frame == NULL && cell->cause == CAUSE_RECURSION_ELIDED))
            continue; /* frames left out to stay within the limit are not demanded */
        top.demanded++;
        out->truth_frames++;
        const bool right = frame != NULL && compare_names(truth->function, frame->function);
        const bool inlined = is_inline_row(thread, row, truth);
        out->inline_demanded += inlined;
        in_a_row = in_a_row && right;
        top.right += in_a_row;
        if (!right)
            continue;
        out->right_frames++;
        out->inline_right += inlined;
        if (truth->line != 0) {
            out->lines_judged++;
            out->lines_right +=
                frame->line == truth->line &&
                (truth->file == NULL || compare_files(truth->file, frame->file, root, bare));
        }
    }
    if (top.demanded == 0)
        top.wrong = top.wrong || !starts_like_reference(thread, column);
    return top;
}

static void score_physical(const struct thread_result *thread, uint32_t column, uint32_t reference,
                           struct engine_score *out)
{
    for (uint32_t row = 0; row < thread->row_count; row++) {
        const struct frame *a = frame_at(thread, row, column);
        const struct frame *b = frame_at(thread, row, reference);
        const bool counts =
            (a != NULL && a->inline_depth == 0) || (b != NULL && b->inline_depth == 0);
        if (!counts)
            continue;
        out->physical_judged++;
        out->physical_same += a != NULL && b != NULL && frames_same_module(a, b) &&
                              a->method_token == b->method_token && a->offset == b->offset &&
                              a->kind == b->kind;
    }
}

void score_claim(const struct compare_input *in, const struct case_result *result, uint32_t claim,
                 struct engine_score *out)
{
    const char *root = in->crash != NULL ? in->crash->own.source_root : NULL;
    const struct engine_claim *claimed = &in->claims[claim];
    bool wrong = false;
    memset(out, 0, sizeof *out);
    out->engine = claimed->engine;
    out->kind = claimed->kind;
    out->subject = claimed->subject;
    out->first_divergence = -1;
    out->state = claimed->skipped ? STACK_SKIPPED : STACK_FAILED;
    out->reason = claimed->why;

    for (uint32_t i = 0; i < result->thread_count; i++) {
        const struct thread_result *thread = &result->threads[i];
        const struct stack *stack = thread->stacks[claim];
        if (i == 0 && stack != NULL) {
            out->state = stack->state;
            if (stack->state != STACK_OK)
                out->reason = stack->stop != STOP_NONE ? stack_stop_text(stack) : claimed->why;
            else
                out->reason = NULL;
        }
        if (stack == NULL || stack->state != STACK_OK)
            continue;
        for (uint32_t row = 0; row < thread->row_count; row++)
            out->frames += frame_at(thread, row, claim + 1) != NULL;
        if (thread->truth != NULL) {
            const struct innermost top =
                score_truth(thread, claim + 1, root, claim_prints_base_names(claimed), out);
            wrong = wrong || top.wrong;
            if (!out->judged) { /* the first one: under suspicion */
                out->top1 = top_is_right(&top, 1);
                out->top3 = top_is_right(&top, 3);
                out->top5 = top_is_right(&top, 5);
            }
            out->judged = true;
        }
        if (thread->reference == claim + 1)
            out->reference = true;
        else if (thread->reference != 0)
            score_physical(thread, claim + 1, thread->reference, out);
    }
    for (uint32_t i = 0; i < result->finding_count && out->first_divergence < 0; i++)
        if (strcmp(result->findings[i].engine, claimed->engine) == 0 &&
            (!out->judged || result->findings[i].against_truth))
            out->first_divergence = (int32_t)result->findings[i].row;
    out->exact = out->judged && !wrong && out->right_frames == out->truth_frames &&
                 out->lines_right == out->lines_judged;
}
