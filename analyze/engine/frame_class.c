/* See frame_class.h. */
#include "engine/frame_class.h"

#include <string.h>

#include "base/text.h"
#include "symbol/symbol_store.h"

static bool starts_with(const char *text, size_t length, const char *start)
{
    const size_t start_length = strlen(start);
    return length >= start_length && strncmp(text, start, start_length) == 0;
}

/* With every generator, CMake puts the objects of a target into TARGET.dir. The innermost such
 * folder names the object's target. A target's folder asm/ holds replacements for parts of the C
 * runtime (__chkstk), which no truth mentions. */
enum frame_class frame_class_of_compiland(const char *compiland)
{
    enum frame_class found = CLASS_RUNTIME;

    while (compiland != NULL && *compiland != '\0') {
        const size_t length = strcspn(compiland, "/\\");
        if (length > 4 && strncmp(compiland + length - 4, ".dir", 4) == 0) {
            if (starts_with(compiland, length, "victims-") ||
                starts_with(compiland, length, "plugin"))
                found = CLASS_OWN;
            else
                found = starts_with(compiland, length, "capture") ||
                                starts_with(compiland, length, "twinstack-capture")
                            ? CLASS_CAPTURE
                            : CLASS_RUNTIME;
        } else if (length == 3 && strncmp(compiland, "asm", 3) == 0) {
            found = CLASS_RUNTIME;
        }
        compiland += length + (compiland[length] != '\0');
    }
    return found;
}

static bool is_own_image(const struct crash_case *crash, const struct frame *frame)
{
    if (crash->own.image_count == 0)
        return frame->symbols == SYMBOLS_PDB ||
               (frame->symbols == SYMBOLS_PPDB && frame->line != 0);
    for (uint32_t i = 0; i < crash->own.image_count; i++)
        if (text_equal_nocase(crash->own.images[i], frame->module_name))
            return true;
    return false;
}

static enum frame_class class_of(const struct crash_case *crash, const struct frame *frame)
{
    if (frame->frame_class == CLASS_GENERATED || frame->symbols == SYMBOLS_JIT)
        return CLASS_GENERATED;
    if (frame->module_name == NULL)
        return CLASS_NONE;
    if (frame->frame_class == CLASS_CAPTURE)
        return CLASS_CAPTURE; /* marked by the record */
    if (!is_own_image(crash, frame))
        return CLASS_SYSTEM;
    /* An assembly has no compilands. What the compiler adds, such as the first part of an async
     * method, has no lines. */
    if (frame->method_token != 0)
        return frame->line != 0 || frame->symbols != SYMBOLS_PPDB ? CLASS_OWN : CLASS_RUNTIME;
    return crash->own.image_count == 0 ? CLASS_OWN : frame_class_of_compiland(frame->compiland);
}

void frame_class_assign(const struct crash_case *crash, struct stack *stack)
{
    for (uint32_t i = 0; i < stack->frame_count; i++)
        stack->frames[i].frame_class = class_of(crash, &stack->frames[i]);
}

void frame_class_drop_system(struct stack *physical)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < physical->frame_count; i++) {
        const struct module *module = physical->frames[i].module;
        if (module == NULL || module->name == NULL || !symbol_is_system_module(module->name))
            physical->frames[kept++] = physical->frames[i];
    }
    physical->frame_count = kept;
}
