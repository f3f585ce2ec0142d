/* See count_files.h. */
#include "stream/count_files.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/process.h"
#include "compare/signature.h"
#include "compare/signature_tally.h"
#include "stacks/notation.h"
#include "stacks/stack_input.h"
#include "symbol/symbol_store.h"

/* Neither form states whose code a frame is: system modules are known by name, and of stacks with
 * names all others count as the program's own. */
static void set_classes(const struct stack_item *item)
{
    for (uint32_t i = 0; i < item->stack.frame_count; i++) {
        struct frame *f = &item->stack.frames[i];
        if (f->frame_class == CLASS_CAPTURE)
            continue; /* marked by a record */
        if (f->module_name != NULL && symbol_is_system_module(f->module_name))
            f->frame_class = CLASS_SYSTEM;
        else if (item->named)
            f->frame_class = CLASS_OWN;
    }
}

/* Of JSON, an object without frames is no stack. */
static bool is_json(const struct stack_input *input)
{
    return stack_input_notation(input) == &notation_json ||
           stack_input_notation(input) == &notation_json_lines;
}

struct named {
    const struct signature_rules *rules;
    struct signature_tally *tally;
    uint64_t bad;
    struct fault *fault;
};

static enum status add_item(struct named *n, const struct stack_item *item, const char *where,
                            struct arena *work)
{
    const char *text = signature_of(n->rules, &item->stack, work);
    if (text != NULL && item->kind != NULL) /* of a record that is no crash */
        text = arena_printf(work, "%s: %s", item->kind, text);
    if (text == NULL)
        return fault_no_memory(n->fault, "signatures");
    return signature_tally_add(n->tally, text, 1, item->label != NULL ? item->label : where,
                               n->fault);
}

static enum status read_file(struct named *n, const char *path)
{
    struct stack_input *input;
    uint64_t number = 0;
    bool more = true;

    if (stack_input_open_path(path, &input, n->fault) != ERR_NONE)
        return n->fault->code;
    while (more && n->fault->code == ERR_NONE && !process_interrupted()) {
        struct stack_item item;
        struct arena work;
        char where[64];
        arena_init(&work, 0);
        more = stack_input_next(input, &work, &item) && item.fault.code != ERR_INTERRUPTED;
        if (more && item.fault.code == ERR_IO) {
            *n->fault = item.fault;
        } else if (more && (item.fault.code != ERR_NONE ||
                            (item.stack.frame_count == 0 && is_json(input)))) {
            n->bad++;
        } else if (more) {
            (void)snprintf(where, sizeof where, "stack %" PRIu64, ++number);
            set_classes(&item);
            (void)add_item(n, &item, where, &work);
            more = !item.is_event;
        }
        arena_free(&work);
    }
    stack_input_close(input);
    return n->fault->code;
}

enum status count_named_files(const char *const *files, uint32_t file_count,
                              const struct signature_rules *rules, struct signature_tally *tally,
                              uint64_t *bad, struct fault *fault)
{
    struct named n = {rules, tally, 0, fault};
    for (uint32_t i = 0; fault->code == ERR_NONE && i < file_count && !process_interrupted(); i++)
        (void)read_file(&n, files[i]);
    *bad = n.bad;
    return fault->code;
}

enum status count_files(const char *const *files, uint32_t file_count,
                        const struct count_options *options, struct signature_tally *tally,
                        uint64_t *bad, struct fault *fault)
{
    struct count_result result = {0};
    for (uint32_t i = 0; fault->code == ERR_NONE && i < file_count && !process_interrupted(); i++) {
        struct stack_input *input = NULL;
        if (stack_input_open_path(files[i], &input, fault) == ERR_NONE)
            (void)count_stacks(options, input, tally, &result, fault);
        fault_set_path(fault, files[i]);
        stack_input_close(input);
    }
    *bad = result.bad;
    return fault->code;
}
