/* See check_explain.h. A judge of Windows states what its walker was given and did
 * (victims/harness/judge/README.md); our engine states the same of its own. */
#include "verbs/check_explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void check_put_clean(const char *text)
{
    for (const char *at = text_or_empty(text); *at != '\0'; at++)
        (void)putchar((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at);
}

static const struct frame_evidence *evidence_of(const struct stack *stack, uint32_t index)
{
    for (uint32_t i = 0; i < stack->evidence_count; i++)
        if (stack->evidence[i].index == index)
            return &stack->evidence[i];
    return NULL;
}

/* What was undone in the frame that this one called, to get here. */
static void print_step(const struct frame_evidence *callee)
{
    (void)printf("      in frame %" PRIu32 ": ", callee->index);
    if (callee->sp_va == 0) { /* a walk of the dead process: engine/return_slots.h */
        (void)printf("return address at 0x%" PRIx64 ", the one word of the dump's stack with it\n",
                     callee->return_slot_va);
        return;
    }
    if (callee->function_end_rva != 0)
        (void)printf("entry 0x%" PRIx32 "-0x%" PRIx32, callee->function_begin_rva,
                     callee->function_end_rva);
    else
        (void)printf("no entry in .pdata");
    if (callee->where != NULL) {
        (void)printf(", pc in the ");
        check_put_clean(callee->where);
    }
    if (callee->caller_sp_va != 0)
        (void)printf(", stack 0x%" PRIx64 " -> 0x%" PRIx64, callee->sp_va, callee->caller_sp_va);
    if (callee->return_slot_va != 0)
        (void)printf(", return address at 0x%" PRIx64, callee->return_slot_va);
    (void)printf("\n");
    for (const char *line = callee->steps; line != NULL && *line != '\0';) {
        const int size = (int)strcspn(line, "\n");
        if (size > 1)
            (void)printf("        %.*s%s\n", size - 1, line + 1,
                         *line == '+' ? "" : "   (had not run)");
        line += size + (line[size] == '\n');
    }
}

/* The logical frames of one physical frame, innermost first. */
static bool print_frames(const struct stack *stack, uint32_t index)
{
    const struct frame *last = NULL;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *f = &stack->frames[i];
        if (f->index != index)
            continue;
        (void)printf("%s", last != NULL ? " < " : "  ");
        check_put_clean(f->function != NULL ? f->function : "?");
        last = f;
    }
    if (last == NULL)
        return false;
    (void)printf("  ");
    check_put_clean(last->module_name != NULL ? last->module_name : "no module");
    (void)printf("!0x%" PRIx64 "\n", last->offset);
    if (last->found_by != FOUND_GIVEN)
        (void)printf("      %s: %s\n", found_by_name(last->found_by),
                     found_by_rule(last->found_by));
    return true;
}

static void print_claim(const struct engine_claim *claim, const struct stack *stack, uint32_t index)
{
    const char *stop = stack_stop_text(stack);
    (void)printf("  %s", claim->engine);
    if (claim->kind == ENGINE_KIND_JUDGE && claim->version != NULL) {
        (void)printf(" (");
        check_put_clean(claim->version);
        (void)printf(")");
    }
    (void)printf("\n");
    if (!print_frames(stack, index)) {
        (void)printf("      has no such frame%s", stop != NULL ? "; its walk ended: " : "");
        check_put_clean(stop);
        (void)printf("\n");
    }
    const struct frame_evidence *callee = index > 0 ? evidence_of(stack, index - 1) : NULL;
    if (callee != NULL)
        print_step(callee);
}

void check_explain(const struct run_case *cases, uint32_t count, uint32_t index)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct run_case *c = &cases[i];
        const struct thread_result *t = c->result.thread_count > 0 ? &c->result.threads[0] : NULL;
        (void)printf("\nFRAME %" PRIu32 " OF %s.%s, AND WHAT MADE IT\n", index, c->scenario,
                     c->variant);
        for (uint32_t k = 0; t != NULL && k < c->claim_count; k++)
            if (t->stacks[k] != NULL && t->stacks[k]->state == STACK_OK)
                print_claim(&c->claims[k], t->stacks[k], index);
    }
}
