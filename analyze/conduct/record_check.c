/* See record_check.h. */
#include "conduct/record_check.h"

#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "engine/opened.h"

/* True when PATH is that of an image in a folder of its identity, NAME/CODE ID/NAME, and has
 * MODULE's name; *SAME: its identity, too. */
static bool is_image_of(const char *path, const struct module *module, bool *same)
{
    char stated[CODE_ID_BYTES] = "";
    const char *name = path_base(path), *id = name;
    const size_t name_bytes = strlen(name);
    if (name == path || !text_equal_nocase(name, module->name))
        return false;
    for (id--; id > path && id[-1] != '/';)
        id--;
    const size_t id_bytes = (size_t)(name - 1 - id), left = (size_t)(id - path);
    if (id_bytes >= sizeof stated || left < name_bytes + 1 ||
        strncmp(id - 1 - name_bytes, name, name_bytes) != 0)
        return false;
    memcpy(stated, id, id_bytes);
    *same = *same || text_equal_nocase(stated, module->code_id);
    return true;
}

/* True when the case has images of the name of one of RECORD's modules, but none of its identity.
 */
static bool names_other_image(const struct crash_case *crash, const struct record *record)
{
    for (uint32_t m = 0; m < record->module_count; m++) {
        bool known = false, same = false;
        for (uint32_t f = 0; f < crash->file_count && record->modules[m].name != NULL; f++)
            if (crash->files[f].role == ROLE_IMAGE && record->modules[m].code_id[0] != '\0')
                known = is_image_of(crash->files[f].path, &record->modules[m], &same) || known;
        if (known && !same)
            return true;
    }
    return false;
}

/* True when the stack begins at VA; or VA is a frame further out, in managed code: a .NET runtime
 * raises a fault of such code a second time, with the address of the first. */
static bool is_on_stack(const struct record *record, const struct record_stack *stack, uint64_t va)
{
    const uint32_t count = record_method_at(record, va) != NULL ? stack->frame_count : 1;
    for (uint32_t i = 0; i < count; i++)
        if (stack->frames[i].pc_va == va)
            return true;
    return false;
}

/* Timings are in order of time. */
static const char *contradicts_itself(const struct record *record)
{
    const struct record_timing *write = record_timing_find(record, RECORD_STAGE_RECORD_WRITE, 0);
    const struct record_timing *dump = record_timing_find(record, RECORD_STAGE_DUMP_WRITE, 0);
    const struct record_stack *first = record->stack_count > 0 ? &record->stacks[0] : NULL;
    if (write != NULL && dump != NULL && write > dump)
        return "the record was written only after the dump, so a dump that fails "
               "loses both";
    if (record->stop_dump_ns != 0 && record->stop_rtl_ns >= record->stop_dump_ns)
        return "the record says that the threads were stopped as long for the walk "
               "as for the "
               "walk and the dump";
    if (record->kind == RECORD_KIND_CRASH && record->exception_code != 0 && record->suspect_id == 0)
        return "the record does not say which thread crashed";
    /* A reporter that leaves a stack as text states no exception. */
    if (record->kind == RECORD_KIND_CRASH && record->exception_code != 0 && first != NULL &&
        first->walker == RECORD_WALKER_RTL && first->state == RECORD_STATE_OK &&
        first->frame_count > 0 && !is_on_stack(record, first, record->exception_va))
        return "the record's exception address is not where its stack begins";
    return NULL;
}

/* The module of DUMP's list that shares an address with MODULE; NULL: none. */
static const struct module *listed_at(const struct minidump *dump, const struct module *module)
{
    for (uint32_t i = 0; i < dump->module_count; i++) {
        const struct module *listed = &dump->modules[i].module;
        if (module->base_va < listed->base_va + listed->image_bytes &&
            listed->base_va < module->base_va + module->image_bytes)
            return listed;
    }
    return NULL;
}

/* True when frame INDEX shows that its module was loaded: its code raised the exception, or the
 * walk read its unwind data, which is part of the image. A jump to where no code is raises an
 * exception, too: then the address is the one that could not be executed. */
static bool shows_loaded(const struct record *record, const struct record_stack *stack,
                         uint32_t index)
{
    enum { EXECUTED = 8 };
    const struct frame *frame = &stack->frames[index];
    const bool jumped = record->exception_code == 0xc0000005 && /* access violation */
                        record->exception_info[0] == EXECUTED &&
                        record->exception_info[1] == record->exception_va;
    if (index + 1 < stack->frame_count && stack->frames[index + 1].found_by == FOUND_UNWIND)
        return true;
    return record->exception_code != 0 && !jumped && frame->kind == PC_INTERRUPTED &&
           frame->pc_va == record->exception_va;
}

/* True when STACK has a frame in a module that is still loaded, as RECORD says, while DUMP, which
 * lists the modules of that moment, has none at its addresses, but has others of the record at
 * their bases: a record that was made from text has bases of its own. Assemblies do not count: the
 * runtime maps them itself, so the system does not list them. Nor does a module that was loaded
 * by what the walk met there: then the dump, or our reader of it, lost it. */
static bool has_lost_module(const struct record *record, const struct record_stack *stack,
                            const struct minidump *dump)
{
    bool missing = false, same = false;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct module *module = stack->frames[i].module;
        missing =
            missing || (module != NULL && stack->frames[i].method_token == 0 &&
                        module->image_bytes != 0 && module->unloaded_at_ns == MODULE_STILL_LOADED &&
                        listed_at(dump, module) == NULL && !shows_loaded(record, stack, i));
    }
    for (uint32_t i = 0; i < record->module_count && missing && !same; i++) {
        const struct module *listed = listed_at(dump, &record->modules[i]);
        same = listed != NULL && listed->base_va == record->modules[i].base_va;
    }
    return same;
}

/* True when the record does not know that a module of its first stack was unloaded, which the dump
 * shows. */
static bool misses_unload(const struct opened_case *c)
{
    const struct record *record = c->record;
    const struct record_stack *first = record->stack_count > 0 ? &record->stacks[0] : NULL;
    const struct minidump *dump = c->dump != NULL ? dump_minidump(c->dump) : NULL;

    return record->kind == RECORD_KIND_CRASH && first != NULL &&
           first->walker == RECORD_WALKER_RTL && dump != NULL && !dump->partial &&
           has_lost_module(record, first, dump);
}

const char *record_contradiction(const struct opened_case *c)
{
    const char *text = contradicts_itself(c->record);
    if (text != NULL)
        return text;
    if (names_other_image(c->crash, c->record))
        return "the record states another timestamp or size of an image than the "
               "file that ran has";
    if (misses_unload(c))
        return "the record says that a module of the stack was still loaded, but "
               "the dump's list "
               "of modules does not have it";
    return NULL;
}
