/* Writes rust-minidump's JSON schema, so that readers of its output can read ours.
 * Source: the json-schema.md of rust-minidump's minidump-processor (facts only). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "stacks/rust.h"

struct writer {
    struct json *j;
    const struct minidump *dump;
    const struct stack *stacks;
    uint32_t stack_count, crashed;
    const struct registers *registers;
    int digits; /* of an address */
};

static void key_address(const struct writer *w, const char *key, uint64_t va)
{
    json_key(w->j, key);
    json_hex_wide(w->j, va, w->digits);
}

static const char *trust_of(enum found_by found)
{
    switch (found) {
    case FOUND_CONTEXT:
        return "context";
    case FOUND_FRAME_POINTER:
        return "frame_pointer";
    case FOUND_SCAN:
        return "scan";
    case FOUND_GIVEN:
        return "prewalked";
    case FOUND_UNWIND:
    case FOUND_LEAF:
    case FOUND_FRAME_SIZE:
    case FOUND_INLINED:
    case FOUND_CFI:
        break;
    }
    return "cfi";
}

static void write_lower(struct json *j, const char *key, const char *text)
{
    char lower[CODE_ID_BYTES];
    size_t i = 0;
    for (; text[i] != '\0' && i + 1 < sizeof(lower); i++)
        lower[i] = (char)tolower((unsigned char)text[i]);
    lower[i] = '\0';
    json_key_string(j, key, i > 0 ? lower : NULL);
}

static void write_crash(const struct writer *w, struct arena *scratch)
{
    struct json *j = w->j;
    bool present = w->dump->exception.present;
    json_key_object(j, "crash_info");
    if (present)
        key_address(w, "address", minidump_crash_va(w->dump));
    else
        json_key_null(j, "address");
    json_key_null(j, "adjusted_address");
    json_key_string(j, "assertion", w->dump->breakpad.assert_expression);
    json_key_array(j, "crash_inconsistencies");
    json_array_end(j);
    json_key_uint_if(j, "crashing_thread", w->crashed, present);
    json_key_null(j, "instruction");
    json_key_null(j, "instruction_pointer_update");
    json_key_null(j, "memory_accesses");
    json_key_null(j, "possible_bit_flips");
    json_key_string(j, "type", present ? minidump_reason(w->dump, scratch) : NULL);
    json_object_end(j);
}

static void write_registers(const struct writer *w)
{
    const struct registers *regs = w->registers;
    /* by name in alphabetical order, as in rust-minidump */
    struct {
        const char *name;
        uint64_t value;
    } rows[REG_COUNT + 3], swap;
    size_t count = 0;
    for (uint32_t i = 0; i < register_count(regs->cpu); i++) {
        rows[count].name = register_name(regs->cpu, i);
        rows[count++].value = register_is_sp(regs->cpu, i) ? regs->sp : regs->r[i];
    }
    rows[count].name = "pc";
    if (regs->cpu == CPU_X86)
        rows[count].name = "eip";
    else if (regs->cpu == CPU_X64)
        rows[count].name = "rip";
    rows[count++].value = regs->pc;
    if (regs->cpu == CPU_X86) {
        rows[count].name = "eflags";
        rows[count++].value = regs->flags;
    } else if (regs->cpu == CPU_ARM64) {
        rows[count].name = "sp";
        rows[count++].value = regs->sp;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && strcmp(rows[k - 1].name, rows[k].name) > 0; k--) {
            swap = rows[k];
            rows[k] = rows[k - 1];
            rows[k - 1] = swap;
        }
    json_key_object(w->j, "registers");
    for (size_t i = 0; i < count; i++)
        key_address(w, rows[i].name, rows[i].value);
    json_object_end(w->j);
}

static void key_line(struct json *j, uint32_t line)
{
    json_key_uint_known(j, "line", line);
}

/* The inline frames before PHYSICAL, which is frame number AT of the stack. */
static void write_inlines(struct json *j, const struct stack *stack, uint32_t at)
{
    uint32_t first = at;
    while (first > 0 && stack->frames[first - 1].inline_depth > 0 &&
           stack->frames[first - 1].index == stack->frames[at].index)
        first--;
    json_key(j, "inlines");
    if (first == at) {
        json_null(j);
        return;
    }
    json_array(j);
    for (uint32_t i = first; i < at; i++) {
        json_object(j);
        json_key_string(j, "file", stack->frames[i].file);
        json_key_string(j, "function", stack->frames[i].function);
        key_line(j, stack->frames[i].line);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_frame(const struct writer *w, const struct stack *stack, uint32_t at,
                        bool registers)
{
    const struct frame *frame = &stack->frames[at];
    struct json *j = w->j;
    /* the schema states instruction addresses: for callers one instruction back on arm64, otherwise
     * one byte */
    uint64_t back =
        frame->index > 0 ? rust_back(w->dump->cpu) : (uint64_t)(frame->kind == PC_RETURN);
    json_object(j);
    json_key_string(j, "file", frame->file);
    json_key_uint(j, "frame", frame->index);
    json_key_string(j, "function", frame->function);
    if (frame->function != NULL)
        key_address(w, "function_offset", frame->symbol_distance);
    else
        json_key_null(j, "function_offset");
    write_inlines(j, stack, at);
    key_line(j, frame->line);
    json_key_bool(j, "missing_symbols", frame->module_name != NULL && frame->function == NULL);
    json_key_string(j, "module", frame->module_name);
    if (frame->module_name != NULL)
        key_address(w, "module_offset", frame->offset - back);
    else
        json_key_null(j, "module_offset");
    key_address(w, "offset", frame->pc_va - back);
    if (registers && w->registers != NULL)
        write_registers(w);
    json_key_string(j, "trust", trust_of(frame->found_by));
    json_key_null(j, "unloaded_modules");
    json_object_end(j);
}

/* NUMBER: position in the dump's thread list. */
static void write_stack(const struct writer *w, uint32_t number, bool crashed)
{
    const struct stack *stack = &w->stacks[number];
    struct json *j = w->j;
    uint32_t physical = 0;
    for (uint32_t i = 0; i < stack->frame_count; i++)
        physical += stack->frames[i].inline_depth == 0;
    json_object(j);
    json_key_uint(j, "frame_count", physical);
    json_key_array(j, "frames");
    for (uint32_t i = 0; i < stack->frame_count; i++)
        if (stack->frames[i].inline_depth == 0)
            write_frame(w, stack, i, crashed && stack->frames[i].index == 0);
    json_array_end(j);
    json_key_null(j, "last_error_value");
    json_key_uint(j, "thread_id", stack->thread_id);
    json_key_string(j, "thread_name", stack->thread_name);
    if (crashed)
        json_key_uint(j, "threads_index", number);
    json_object_end(j);
}

/* True when any frame has a name. If not, no symbols were given, so none count as missing. */
static bool any_named(const struct writer *w)
{
    for (uint32_t s = 0; s < w->stack_count; s++)
        for (uint32_t k = 0; k < w->stacks[s].frame_count; k++)
            if (w->stacks[s].frames[k].function != NULL)
                return true;
    return false;
}

static void write_modules(const struct writer *w)
{
    struct json *j = w->j;
    const bool asked = any_named(w);
    json_key_array(j, "modules");
    for (uint32_t i = 0; i < w->dump->module_count; i++) {
        const struct minidump_module *row = &w->dump->modules[i];
        const struct module *module = &row->module;
        uint64_t v = row->file_version;
        char version[32];
        bool used = false, named = false;
        for (uint32_t s = 0; s < w->stack_count; s++)
            for (uint32_t k = 0; k < w->stacks[s].frame_count; k++) {
                const struct frame *frame = &w->stacks[s].frames[k];
                if (frame->module == NULL || frame->module->base_va != module->base_va)
                    continue;
                used = true;
                named |= frame->function != NULL;
            }
        (void)snprintf(version, sizeof(version), "%u.%u.%u.%u", (unsigned)(v >> 48),
                       (unsigned)(v >> 32 & 0xffff), (unsigned)(v >> 16 & 0xffff),
                       (unsigned)(v & 0xffff));
        json_object(j);
        key_address(w, "base_addr", module->base_va);
        json_key_null(j, "cert_subject");
        write_lower(j, "code_id", module->code_id);
        json_key_bool(j, "corrupt_symbols", false);
        json_key_string(j, "debug_file", module->pdb_name);
        json_key_string(j, "debug_id", module->debug_id[0] != '\0' ? module->debug_id : NULL);
        key_address(w, "end_addr", module->base_va + module->image_bytes);
        json_key_string(j, "filename", module->name);
        json_key_bool(j, "loaded_symbols", named);
        json_key_bool(j, "missing_symbols", asked && used && !named);
        json_key_null(j, "symbol_url");
        json_key_string(j, "version", v != 0 ? version : NULL);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_process(const struct writer *w)
{
    const struct minidump_misc *misc = &w->dump->misc;
    struct json *j = w->j;
    json_key_bool(j, "modules_contains_cert_info", false);
    json_key_uint_if(j, "pid", misc->process_id, misc->present && (misc->flags & 1) != 0);
    json_key_null(j, "proc_limits");
    json_key_uint_if(j, "process_uptime", w->dump->timestamp - misc->create_time,
                     misc->present && (misc->flags & 2) != 0 &&
                         w->dump->timestamp >= misc->create_time);
    json_key_null(j, "soft_errors");
    json_key_string(j, "status", "OK");
}

static void write_system(const struct writer *w, struct arena *scratch)
{
    const struct minidump_system *s = &w->dump->system;
    struct json *j = w->j;
    const char *os = minidump_os_name(w->dump, scratch), *version;
    char system[32];
    /* "Windows NT 5.1.2600 Service Pack 2": the version starts at the first digit */
    for (version = os; *version != '\0' && !isdigit((unsigned char)*version); version++) {
    }
    (void)snprintf(system, sizeof(system), "%.*s", (int)(version > os ? version - os - 1 : 0), os);
    json_key_object(j, "system_info");
    json_key_string(j, "cpu_arch", rust_cpus[w->dump->cpu]);
    json_key_uint(j, "cpu_count", s->processors);
    json_key_string(j, "cpu_info",
                    arena_printf(scratch, "%s%sfamily %u model %u stepping %u", s->vendor,
                                 s->vendor[0] != '\0' ? " " : "", (unsigned)s->level,
                                 (unsigned)s->revision >> 8, (unsigned)s->revision & 0xff));
    json_key_null(j, "cpu_microcode_version");
    json_key_string(j, "os", system);
    json_key_string(j, "os_ver", version);
    json_object_end(j);
}

static void write_unloaded(const struct writer *w)
{
    json_key_array(w->j, "unloaded_modules");
    for (uint32_t i = 0; i < w->dump->unloaded_count; i++) {
        const struct module *module = &w->dump->unloaded[i].module;
        json_object(w->j);
        key_address(w, "base_addr", module->base_va);
        json_key_null(w->j, "cert_subject");
        write_lower(w->j, "code_id", module->code_id);
        key_address(w, "end_addr", module->base_va + module->image_bytes);
        json_key_string(w->j, "filename", module->name);
        json_object_end(w->j);
    }
    json_array_end(w->j);
}

void rust_write(struct json *j, const struct minidump *dump, const struct stack *stacks,
                uint32_t stack_count, uint32_t crashed, const struct registers *registers)
{
    static const char *const others[] = {"handles", "linux_memory_map_count", "lsb_release",
                                         "mac_boot_args", "mac_crash_info"};
    struct writer w = {
        j, dump, stacks, stack_count, crashed, registers, 2 * (int)cpu_pointer_bytes(dump->cpu)};
    struct arena scratch;
    arena_init(&scratch, (size_t)1 << 20);
    json_object(j);
    write_crash(&w, &scratch);
    json_key(j, "crashing_thread");
    if (dump->exception.present && crashed < stack_count)
        write_stack(&w, crashed, true);
    else
        json_null(j);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        json_key_null(j, others[i]);
    json_key_uint_if(j, "main_module", 0, dump->module_count > 0);
    write_modules(&w);
    write_process(&w);
    write_system(&w, &scratch);
    json_key_uint(j, "thread_count", dump->thread_count);
    json_key_array(j, "threads");
    for (uint32_t i = 0; i < stack_count; i++)
        write_stack(&w, i, false);
    json_array_end(j);
    write_unloaded(&w);
    json_object_end(j);
    arena_free(&scratch);
}
