/* twinstack case import: make a sealed case from any dump or stack. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "engine/dump.h"
#include "format/pe/pe.h"
#include "format/record/record.h"
#include "model/case.h"
#include "stacks/claims.h"
#include "verbs/case_import.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

struct import_request {
    struct case_source from;
    struct arena *keep;
    struct dump_session *session; /* NULL: no dump was given */
    struct crash_case crash;
    struct case_file files[4];
    const char *folder;
};

static enum status add_file(struct import_request *q, enum case_role role, const char *from,
                            const char *name, struct fault *fault)
{
    const char *to = path_join(q->keep, q->folder, name);
    if (to == NULL)
        return fault_no_memory(fault, "case");
    if (from != NULL && file_copy(from, to, fault) != ERR_NONE)
        return fault->code;
    struct case_file *file = &q->files[q->crash.file_count++];
    *file = (struct case_file){.role = role, .path = name};
    return ERR_NONE;
}

/* What the dump, if there is one, states about the crash. */
static void read_facts(const struct import_request *q, const struct stack *stack,
                       struct record *out)
{
    const char *why;
    *out = (struct record){.machine = pe_machine(CPU_X64),
                           .kind = RECORD_KIND_CRASH,
                           .suspect_id = stack->thread_id,
                           .pointer_bytes = 8,
                           .writer = RECORD_WRITER_WATCHER,
                           .hooks = RECORD_HOOK_WATCHER};
    if (q->session == NULL)
        return;
    const struct minidump *d = dump_minidump(q->session);
    union { /* a record to be written only reads its modules */
        const struct module *in;
        struct module *out;
    } modules = {dump_modules(q->session, &out->module_count)};
    out->modules = modules.out;
    out->machine = pe_machine(d->cpu);
    out->kind = d->exception.present ? RECORD_KIND_CRASH : RECORD_KIND_HANG;
    out->process_id = d->misc.process_id;
    out->suspect_id = dump_suspect(q->session, &why);
    out->pointer_bytes = cpu_pointer_bytes(d->cpu);
    out->exception_code = d->exception.code;
    out->exception_flags = d->exception.flags;
    out->exception_va = d->exception.address_va;
    out->exception_info[0] = d->exception.info[0];
    out->exception_info[1] = d->exception.info[1];
}

/* The stack of a file that becomes the record: the crashed thread's where the file says which that
 * is, else the first. */
static enum status write_record(struct import_request *q, struct fault *fault)
{
    struct stack_input *input;
    struct stack_item item, chosen = {0};
    struct record facts;
    bool found = false;
    if (stack_input_open_path(q->from.stack, &input, fault) != ERR_NONE)
        return fault->code;
    while (fault->code == ERR_NONE && stack_input_next(input, q->keep, &item)) {
        if (item.fault.code != ERR_NONE)
            *fault = item.fault;
        else if (!found || item.stack.role == THREAD_ROLE_SUSPECT)
            chosen = item;
        found = true;
        if (!item.crashed_first || item.stack.role == THREAD_ROLE_SUSPECT)
            break;
    }
    if (fault->code == ERR_NONE && !found)
        (void)fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "stack");
    stack_item_as_claim(&chosen);
    read_facts(q, &chosen.stack, &facts);
    if (fault->code == ERR_NONE) /* before the input is closed, which owns the names */
        (void)record_write(path_join(q->keep, q->folder, "record.rec"), &facts, &chosen.stack,
                           RECORD_STOP_END, q->keep, fault);
    stack_input_close(input);
    return fault->code;
}

static enum status write_given(struct import_request *q, struct fault *fault)
{
    struct record facts;
    read_facts(q, q->from.given, &facts);
    if (record_write(path_join(q->keep, q->folder, "record.rec"), &facts, q->from.given,
                     RECORD_STOP_END, q->keep, fault) != ERR_NONE)
        return fault->code;
    return add_file(q, ROLE_RECORD, NULL, "record.rec", fault);
}

/* A record is taken as it is; any other stack becomes one. */
static enum status add_stack(struct import_request *q, struct fault *fault)
{
    struct file_map map;
    if (q->from.given != NULL)
        return write_given(q, fault);
    if (file_map(q->from.stack, &map, fault) != ERR_NONE)
        return fault->code;
    const bool record = map.bytes >= 8 && memcmp(map.data, RECORD_MAGIC, 8) == 0;
    file_unmap(&map);
    if (!record && write_record(q, fault) != ERR_NONE)
        return fault->code;
    return add_file(q, ROLE_RECORD, record ? q->from.stack : NULL, "record.rec", fault);
}

/* The modules of the dump; without one, those of the stack. */
static const struct module *modules_of(struct import_request *q, uint32_t *count)
{
    struct fault damaged = FAULT_INIT;
    struct record record;
    const char *path = path_join(q->keep, q->folder, "record.rec");

    *count = 0;
    if (q->session != NULL)
        return dump_modules(q->session, count);
    if (path == NULL || q->from.stack == NULL ||
        record_read_file(path, q->keep, &record, &damaged) != ERR_NONE)
        return NULL;
    *count = record.module_count;
    return record.modules;
}

/* Images whose name matches one of the globs count as the user's own. */
static enum status set_own(struct import_request *q, struct fault *fault)
{
    uint32_t count;
    const struct module *modules = modules_of(q, &count);
    q->crash.own.images = ARENA_ARRAY(q->keep, (size_t)count + 1, const char *);
    if (q->crash.own.images == NULL)
        return fault_no_memory(fault, "case");
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < q->from.own.count; k++)
            if (text_glob(q->from.own.items[k], modules[i].name)) {
                q->crash.own.images[q->crash.own.image_count++] = modules[i].name;
                break;
            }
    return ERR_NONE;
}

static void describe(struct import_request *q)
{
    struct crash_case *c = &q->crash;
    const struct minidump *dump = q->session != NULL ? dump_minidump(q->session) : NULL;
    bool crashed = dump == NULL || dump->exception.present;
    c->folder = q->folder;
    c->scenario = q->from.name;
    c->variant = "imported";
    c->arch = dump != NULL ? dump->cpu : CPU_UNKNOWN;
    c->kind = crashed ? CASE_KIND_CRASH : CASE_KIND_HANG;
    c->expect.code = dump != NULL ? dump->exception.code : 0;
    c->expect.exit_code = c->expect.code;
    c->expect.hooks = HOOK_BIT(CASE_HOOK_IMPORT);
    c->got.code = c->expect.code;
    c->got.exit_code = c->expect.code;
    c->got.hooks = HOOK_BIT(CASE_HOOK_IMPORT);
    c->got.ended_by = CASE_ENDING_EXIT;
    c->host.os = dump != NULL ? minidump_os_name(dump, q->keep) : NULL;
    c->files = q->files;
}

static enum status fill_case(struct import_request *q, struct fault *fault)
{
    q->folder = arena_printf(q->keep, "%s/%s.imported", q->from.out, q->from.name);
    if (q->folder == NULL)
        return fault_no_memory(fault, "case");
    if (folder_make(q->folder, fault) != ERR_NONE)
        return fault->code;
    if ((q->from.stack != NULL || q->from.given != NULL) && add_stack(q, fault) != ERR_NONE)
        return fault->code;
    if (q->from.dump != NULL && add_file(q, ROLE_DUMP, q->from.dump, "dump.dmp", fault) != ERR_NONE)
        return fault->code;
    if (q->from.truth != NULL &&
        add_file(q, ROLE_TRUTH, q->from.truth, "truth.json", fault) != ERR_NONE)
        return fault->code;
    describe(q);
    if (set_own(q, fault) != ERR_NONE)
        return fault->code;
    return case_seal(q->folder, &q->crash, fault);
}

static const char *stem_of(const char *path, struct arena *keep)
{
    const char *base = path_base(path), *dot = strrchr(base, '.');
    return arena_text(keep, base, dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base));
}

const char *case_import_name(const char *name, struct arena *keep)
{
    char *out = arena_string(keep, name);
    for (char *c = out; c != NULL && *c != '\0'; c++)
        if (strchr(". /\\:", *c) != NULL)
            *c = '_'; /* a case's folder is SCENARIO.VARIANT */
    return out;
}

enum status case_import(const struct case_source *from, struct arena *keep, const char **folder,
                        struct fault *fault)
{
    struct import_request q = {.from = *from, .keep = keep};
    const char *file = from->dump != NULL ? from->dump : from->stack;
    q.from.name = case_import_name(from->name != NULL ? from->name : stem_of(file, keep), keep);
    if (q.from.name == NULL)
        return fault_no_memory(fault, "case");
    if (from->dump != NULL && dump_open(from->dump, NULL, keep, &q.session, fault) != ERR_NONE)
        return fault->code;
    if (fill_case(&q, fault) != ERR_NONE && from->stack != NULL)
        fault_set_path(fault, from->stack);
    dump_close(q.session);
    *folder = q.folder;
    return fault->code;
}

static int import(const struct verb *self, void *options, const struct option_list *words,
                  struct arena *keep)
{
    const struct case_source *from = options;
    struct fault fault = FAULT_INIT;
    const char *folder = NULL;
    (void)words;
    if (from->dump == NULL && from->stack == NULL)
        return verb_usage_error(self, "import needs --dump or --stack");
    if (case_import(from, keep, &folder, &fault) != ERR_NONE)
        return verb_fault(&fault);
    (void)printf("%s\n", folder);
    return EXIT_GOOD;
}

static const struct subcommand subcommands[] = {
    {"import", "[--dump FILE] [--stack FILE] [--truth FILE] [--own GLOB]... [--out DIR]",
     "make a sealed case from a dump, a stack or both", 0, 0, import},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct case_source from = {.out = "."};
    const struct option_row rows[] = {
        OPTION(DUMP, &from.dump),
        OPTION(STACK, &from.stack),
        OPTION_AS(TRUTH, &from.truth, "if it is known"),
        {"--own", OPTION_LIST, &from.own, "GLOB", "images that are yours"},
        OPTION_AS(OUT, &from.out, "the case's own is in it; default: the current folder"),
        OPTION_AS(NAME, &from.name, "the scenario; default: the file's name"),
    };
    return subcommand_main(self, NULL, rows, COUNT_OF(rows), &from, argc, argv);
}

const struct verb verb_case = {
    .name = "case",
    .summary = "make a sealed case from any dump or stack",
    .subcommands = subcommands,
    .details =
        "The case can be checked, compared and stored like those of the victims: its dump by the\n"
        "engine `dump` and the judges, its stack by `offset:rtl`.  `check --db` stores it as a "
        "run.\n"
        "Prints the case's folder.\n\n"
        "examples:\n"
        "  twinstack case import --dump app.dmp --stack app.txt --own 'app*.dll' --own app.exe\n"
        "  twinstack check app.imported --symbols symbols/",
    .exits =
        "  0  sealed\n  2  usage\n  3  an input is missing or damaged, or the case could not be "
        "written",
    .run = run,
};
