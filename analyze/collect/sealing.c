/* Makes a case from the files that a victim left: see sealing.h.
 *
 * Images and PDBs of our own are copied once each into OUT/symbols, by identity, and every
 * case lists them with their hashes; the system's images go there too, by hard link, but no
 * case lists them, so that a case can travel without them. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/thread.h"
#include "collect/program.h"
#include "collect/runner.h"
#include "collect/sealing.h"
#include "format/context/registers.h"
#include "format/pdb/pdb.h"
#include "format/pe/pe.h"
#include "format/portable_pdb/ppdb.h"
#include "format/record/record.h"
#include "stacks/stack_input.h"

enum { OUTCOME_MAX_BYTES = 1 << 20, CASE_FILES_MAX = 512 };

/* The files that the launcher and the capture write, and their roles in a case. */
static const struct {
    const char *name;
    enum case_role role;
} known_files[] = {
    {"record.rec", ROLE_RECORD},
    {"dump.dmp", ROLE_DUMP},
    {"truth.json", ROLE_TRUTH},
    {"stdout.txt", ROLE_STDOUT},
};

/* A case that is being made; everything lives in KEEP. */
struct draft {
    const struct evidence *evidence;
    const struct runner *runner;
    const struct scenario *scenario;
    const char *folder;
    struct arena *keep;
    struct fault *fault;
    struct record record; /* empty when there is none */
    struct crash_case crash;
};

static enum status out_of_memory(struct draft *d)
{
    return fault_no_memory(d->fault, "case");
}

static void add_file(struct draft *d, enum case_role role, const char *path)
{
    struct crash_case *c = &d->crash;

    if (path == NULL || c->file_count == CASE_FILES_MAX) {
        (void)out_of_memory(d);
        return;
    }
    c->files[c->file_count].role = role;
    c->files[c->file_count++].path = path;
}

static void add_left_files(struct draft *d)
{
    const char **names = NULL;
    size_t count = 0;

    if (folder_list(d->folder, d->keep, &names, &count, d->fault) != ERR_NONE)
        return;
    for (size_t i = 0; i < count && d->fault->code == ERR_NONE; i++) {
        enum case_role role = ROLE_OTHER;
        for (size_t k = 0; k < COUNT_OF(known_files); k++)
            if (strcmp(known_files[k].name, names[i]) == 0)
                role = known_files[k].role;
        add_file(d, role, names[i]);
    }
}

/* The line that the launcher leaves about the victim's end. */
static void read_outcome(struct draft *d)
{
    char *text = NULL;
    size_t bytes = 0;
    cJSON *root = NULL;
    const char *path = path_join(d->keep, d->folder, "outcome.json");

    if (path == NULL) {
        (void)out_of_memory(d);
        return;
    }
    if (file_read(path, OUTCOME_MAX_BYTES, d->keep, &text, &bytes, d->fault) == ERR_NONE &&
        json_parse(text, bytes, &root, d->fault) == ERR_NONE) {
        d->crash.got.exit_code = json_get_hex(root, "exit_code", 0, d->fault);
        d->crash.got.wall_ms = json_get_uint(root, "wall_ms", 0, d->fault);
        d->crash.got.ended_by =
            case_ending_parse(json_get_string(root, "ended_by", d->keep, d->fault));
    }
    fault_set_path(d->fault, path);
    cJSON_Delete(root);
}

struct identity {
    char code_id[CODE_ID_BYTES], debug_id[DEBUG_ID_BYTES];
    const char *pdb_name; /* NULL: none */
};

static bool read_identity(const char *path, struct arena *keep, struct identity *out)
{
    struct fault ignored = FAULT_INIT;
    struct file_map map;
    struct pe pe;
    struct pe_codeview view;

    memset(out, 0, sizeof *out);
    if (file_map(path, &map, &ignored) != ERR_NONE)
        return false;
    const bool sound = pe_open(map.data, map.bytes, &pe, &ignored) == ERR_NONE;
    if (sound) {
        pe_code_id(&pe, out->code_id);
        pe_debug_id(&pe, out->debug_id);
        if (pe_codeview(&pe, &view))
            out->pdb_name = arena_string(keep, path_base(view.pdb_path));
    }
    file_unmap(&map);
    return sound;
}

/* Why the PDB at PATH is not the one that an image names, with identity WANTED; NULL: it is. */
static const char *pdb_lack(const char *path, const char *wanted)
{
    struct fault fault = FAULT_INIT;
    struct file_map map;
    struct pdb pdb;
    struct ppdb ppdb;
    char id[DEBUG_ID_BYTES];

    if (file_map(path, &map, &fault) != ERR_NONE)
        return "is missing";
    if (ppdb_recognize(map.data, map.bytes)) {
        if (ppdb_open(map.data, map.bytes, &ppdb, &fault) == ERR_NONE)
            ppdb_debug_id(&ppdb, id);
    } else if (pdb_open_headers(map.data, map.bytes, &pdb, &fault) == ERR_NONE) {
        pdb_debug_id(&pdb, id);
        pdb_close(&pdb);
    }
    file_unmap(&map);
    if (fault.code != ERR_NONE)
        return "is damaged";
    return strcmp(id, wanted) == 0 ? NULL : "is of another build";
}

static const char *add_lack(struct arena *keep, const char *list, const char *what,
                            const char *lack)
{
    return arena_printf(keep, "%s%s%s %s", list != NULL ? list : "", list != NULL ? ", " : "", what,
                        lack);
}

/* Adds what the PDB of the image lacks, whose path is NAME in FOLDER. */
static const char *add_pdb_lack(struct arena *keep, const char *list, const char *folder,
                                const char *name)
{
    struct identity id = {.pdb_name = NULL};
    const char *image = path_join(keep, folder, name);
    if ((text_glob("*.exe", name) || text_glob("*.dll", name)) && image != NULL)
        (void)read_identity(image, keep, &id);
    const char *beside =
        id.pdb_name == NULL
            ? NULL
            : arena_printf(keep, "%.*s%s", (int)(path_base(name) - name), name, id.pdb_name);
    const char *pdb = beside != NULL ? path_join(keep, folder, beside) : NULL;
    const char *lack = pdb != NULL ? pdb_lack(pdb, id.debug_id) : NULL;
    return lack != NULL ? add_lack(keep, list, beside, lack) : list;
}

const char *collect_lacking_pdbs(const char *victims_folder, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    const char **names = NULL, *list = NULL;
    size_t count = 0;

    (void)folder_list(victims_folder, keep, &names, &count, &ignored);
    for (size_t i = 0; i < count; i++)
        list = add_pdb_lack(keep, list, victims_folder, names[i]);
    struct toolchain toolchain;
    (void)toolchain_read(victims_folder, keep, &toolchain, &ignored);
    for (const char **plugin = toolchain.plugins; plugin != NULL && *plugin != NULL; plugin++)
        if (path_base(*plugin) != *plugin) /* in a folder of its own */
            list = add_pdb_lack(keep, list, victims_folder, *plugin);
    return list;
}

/* For a 32-bit program the name system32 means another folder. */
static const char *true_path(const struct draft *d, const char *path)
{
    static const char system32[] = "C:\\windows\\system32\\";

    if (path == NULL || d->record.machine != PE_MACHINE_X86 ||
        !text_glob("c:\\windows\\system32\\*", path))
        return path;
    return arena_printf(d->keep, "C:\\windows\\syswow64\\%s", path + sizeof system32 - 1);
}

/* The module of another capture's text: the file beside the program, or the system's. */
static struct module find_module(struct draft *d, const char *name)
{
    struct module module = {.name = name, .unloaded_at_ns = MODULE_STILL_LOADED};
    const char *program = d->scenario->program;
    const char *path =
        arena_printf(d->keep, "%.*s%s", (int)(path_base(program) - program), program, name);
    struct identity id;

    if (path != NULL && path_is_file(path)) {
        module.path = runner_guest_path(d->runner, path, d->keep);
    } else {
        module.path = arena_printf(d->keep, "C:\\windows\\system32\\%s", name);
        path = runner_host_path(d->runner, true_path(d, module.path), d->keep);
    }
    if (path == NULL || !read_identity(path, d->keep, &id))
        return module;
    memcpy(module.code_id, id.code_id, sizeof module.code_id);
    memcpy(module.debug_id, id.debug_id, sizeof module.debug_id);
    module.pdb_name = id.pdb_name;
    return module;
}

/* The record that the first stack of INPUT makes. Bases are not known: offsets need none. */
static void write_stack(struct draft *d, struct stack_input *input, const char *to)
{
    const uint32_t machine = program_machine(d->scenario->program);
    struct record facts = {.machine = machine,
                           .kind = RECORD_KIND_CRASH,
                           .pointer_bytes = cpu_pointer_bytes(pe_cpu(machine)),
                           .writer = RECORD_WRITER_IN_PROCESS};
    struct stack_item item = {0};
    uint64_t thread;

    do
        if (!stack_input_next(input, d->keep, &item))
            return;
    while (item.fault.code != ERR_NONE && item.fault.code != ERR_INTERRUPTED); /* no frame */
    if (item.fault.code == ERR_INTERRUPTED) {
        *d->fault = item.fault;
        return;
    }
    if (item.label != NULL && strncmp(item.label, "thread ", 7) == 0 &&
        text_parse_uint(item.label + 7, strlen(item.label + 7), &thread))
        facts.suspect_id = (uint32_t)thread;
    facts.modules = ARENA_ARRAY(d->keep, (size_t)item.stack.frame_count + 1, struct module);
    if (facts.modules == NULL) {
        (void)out_of_memory(d);
        return;
    }
    d->record.machine = machine; /* for true_path() */
    for (uint32_t i = 0; i < item.stack.frame_count; i++)
        if (item.stack.frames[i].module_name != NULL)
            facts.modules[facts.module_count++] = find_module(d, item.stack.frames[i].module_name);
    (void)record_write(to, &facts, &item.stack, RECORD_STOP_WALKER, d->keep, d->fault);
}

/* Another capture library may leave a text in place of a record (capture/capture_port.h). */
static void record_of_text(struct draft *d, const char *to)
{
    const char *path = path_join(d->keep, d->folder, "stack.txt");
    struct stack_input *input;

    if (path == NULL || !path_is_file(path) ||
        stack_input_open_path(path, &input, d->fault) != ERR_NONE)
        return;
    write_stack(d, input, to);
    stack_input_close(input);
}

/* A damaged record is also evidence: it is sealed as it is, and its readers report the damage. */
static void read_record(struct draft *d)
{
    struct fault damage = FAULT_INIT;
    const char *path = path_join(d->keep, d->folder, "record.rec");

    if (path != NULL && !path_is_file(path))
        record_of_text(d, path);
    if (path == NULL || !path_is_file(path))
        return;
    if (record_read_file(path, d->keep, &d->record, &damage) == ERR_MEMORY)
        (void)out_of_memory(d);
    d->crash.got.code = d->record.exception_code;
    d->crash.got.hooks = d->record.hooks & HOOKS_OF_RECORDS;
}

/* Copies FROM to its place in the shared store, unless it is there; the place in the form
 * that a case lists, or NULL. */
static const char *keep_symbols(struct draft *d, const char *from, const char *name, const char *id,
                                bool link)
{
    const char *inside = arena_printf(d->keep, "symbols/%s/%s", name, id);
    const char *folder =
        inside != NULL ? path_join(d->keep, d->evidence->options->out_folder, inside) : NULL;
    const char *to = folder != NULL ? path_join(d->keep, folder, name) : NULL;
    struct file_map map;

    if (to == NULL) {
        (void)out_of_memory(d);
        return NULL;
    }
    mutex_lock(d->evidence->symbols_lock);
    if (!path_is_file(to) || path_bytes(to) != path_bytes(from)) {
        if (folder_make(folder, d->fault) == ERR_NONE) {
            if (link) {
                (void)file_copy(from, to, d->fault);
            } else if (file_map(from, &map, d->fault) == ERR_NONE) {
                (void)file_write(to, map.data, map.bytes, d->fault);
                file_unmap(&map);
            }
        }
    }
    mutex_unlock(d->evidence->symbols_lock);
    return d->fault->code == ERR_NONE ? arena_printf(d->keep, "../../%s/%s", inside, name) : NULL;
}

static bool is_known_name(const struct draft *d, const char *name)
{
    for (uint32_t i = 0; i < d->crash.own.image_count; i++)
        if (text_equal_nocase(d->crash.own.images[i], name))
            return true;
    return false;
}

/* An image of ours.  MODULE NULL: it left no record. */
static void add_own_image(struct draft *d, const char *path, const struct module *module)
{
    struct identity id;
    const char *name = path_base(path);
    char *pdb = arena_string(d->keep, path);

    /* Of the same PDB it is the same image: then the record is wrong, which is for the verdict. */
    if (!read_identity(path, d->keep, &id) ||
        (module != NULL && !text_equal_nocase(module->code_id, id.code_id) &&
         (id.debug_id[0] == '\0' || strcmp(module->debug_id, id.debug_id) != 0))) {
        fault_set_hint(d->fault, ERR_MISMATCH, FAULT_NO_OFFSET, "image of a victim",
                       "it was built anew while the victims ran; run again");
        fault_set_path(d->fault, path);
        return;
    }
    if (!is_known_name(d, name))
        d->crash.own.images[d->crash.own.image_count++] = arena_string(d->keep, name);
    add_file(d, ROLE_IMAGE, keep_symbols(d, path, name, id.code_id, false));
    if (id.pdb_name == NULL || id.debug_id[0] == '\0' || pdb == NULL || d->fault->code != ERR_NONE)
        return;
    pdb[name - path] = '\0'; /* the PDB is beside its image */
    const char *pdb_path = arena_printf(d->keep, "%s%s", pdb, id.pdb_name);
    if (pdb_path != NULL && path_is_file(pdb_path))
        add_file(d, ROLE_PDB, keep_symbols(d, pdb_path, id.pdb_name, id.debug_id, false));
}

/* The same image, loaded before: a module that was unloaded and loaded again. */
static bool was_loaded_before(const struct record *record, uint32_t index)
{
    const struct module *module = &record->modules[index];
    for (uint32_t i = 0; i < index; i++)
        if (record->modules[i].name != NULL &&
            text_equal_nocase(record->modules[i].name, module->name) &&
            strcmp(record->modules[i].code_id, module->code_id) == 0)
            return true;
    return false;
}

/* Our images are in the victims' folder or below it. A system image goes into the store if its file
 * is the one that was loaded. */
static void add_image(struct draft *d, const struct module *module)
{
    struct identity id;
    const char *reported = true_path(d, module->path);
    const char *path = reported != NULL ? runner_host_path(d->runner, reported, d->keep) : NULL;

    if (path == NULL)
        return;
    if (path_is_below(path, d->evidence->options->victims_folder))
        add_own_image(d, path, module);
    else if (read_identity(path, d->keep, &id) && text_equal_nocase(id.code_id, module->code_id))
        (void)keep_symbols(d, path, module->name, module->code_id, true);
}

static void add_images(struct draft *d)
{
    const uint32_t count = d->record.module_count;

    d->crash.own.images = ARENA_ARRAY(d->keep, (size_t)count + 1, const char *);
    if (d->crash.own.images == NULL) {
        (void)out_of_memory(d);
        return;
    }
    for (uint32_t i = 0; i < count && d->fault->code == ERR_NONE; i++)
        if (d->record.modules[i].name != NULL && !was_loaded_before(&d->record, i))
            add_image(d, &d->record.modules[i]);
    if (d->fault->code == ERR_NONE && !is_known_name(d, path_base(d->scenario->program)))
        add_own_image(d, d->scenario->program, NULL);
}

/* From the record or, if nothing was captured, from the program. */
static enum cpu cpu_of(const struct record *record, const char *program)
{
    const enum cpu cpu = pe_cpu(record->machine != 0 ? record->machine : program_machine(program));
    return cpu != CPU_UNKNOWN ? cpu : CPU_X64;
}

static const char *flags_of(const struct evidence *evidence, const char *variant)
{
    const struct toolchain *toolchain = &evidence->toolchain;
    for (uint32_t i = 0; i < toolchain->build_count; i++)
        if (strcmp(toolchain->builds[i].name, variant) == 0)
            return toolchain->builds[i].version;
    return NULL;
}

static void describe(struct draft *d)
{
    const struct evidence *evidence = d->evidence;
    struct crash_case *c = &d->crash;
    union { /* the tools are only read when the case is written */
        const struct named_version *in;
        struct named_version *out;
    } tools = {evidence->options->tools};

    c->folder = d->folder;
    c->scenario = d->scenario->name;
    c->variant = d->scenario->variant;
    c->kind = d->scenario->kind;
    c->arch = cpu_of(&d->record, d->scenario->program);
    c->expect.code = d->scenario->code;
    c->expect.exit_code = d->scenario->exit_code;
    c->expect.hooks = d->scenario->hooks;
    c->expect.subjects = d->scenario->subjects;
    c->expect.subject_count = d->scenario->subject_count;
    c->expect.output = d->scenario->output;
    c->own.source_root = evidence->options->source_root;
    c->host.os = evidence->host.os;
    c->host.wine = evidence->host.wine;
    c->host.cpu = evidence->host.cpu;
    c->toolchain.compiler = evidence->toolchain.compiler;
    c->toolchain.flags = flags_of(evidence, d->scenario->variant);
    c->tools = tools.out;
    c->tool_count = evidence->options->tool_count;
}

enum status evidence_seal(const struct evidence *evidence, const struct runner *runner,
                          const struct scenario *scenario, const char *folder, struct fault *fault)
{
    struct arena keep;
    struct draft d;

    arena_init(&keep, 0);
    memset(&d, 0, sizeof d);
    d.evidence = evidence;
    d.runner = runner;
    d.scenario = scenario;
    d.folder = folder;
    d.keep = &keep;
    d.fault = fault;
    d.crash.files = ARENA_ARRAY(&keep, CASE_FILES_MAX, struct case_file);
    if (d.crash.files == NULL)
        (void)out_of_memory(&d);
    if (fault->code == ERR_NONE)
        read_outcome(&d);
    if (fault->code == ERR_NONE)
        read_record(&d);
    if (fault->code == ERR_NONE)
        add_left_files(&d);
    if (fault->code == ERR_NONE)
        add_images(&d);
    describe(&d);
    if (fault->code == ERR_NONE)
        (void)case_seal(folder, &d.crash, fault);
    arena_free(&keep);
    return fault->code;
}

/* Wine's name and version, and what emulates its 32-bit half: times of x86 differ by it. */
static const char *name_wine(const struct collect_options *options, const char *version,
                             struct arena *keep)
{
    const char *emulator = options->prefix_folder != NULL
                               ? wine32_emulator(options->prefix_folder, options->launcher[0], keep)
                               : NULL;
    return emulator != NULL ? arena_printf(keep, "%s, x86 in %s", version, emulator)
                            : arena_string(keep, version);
}

enum status collect_describe_host(const struct collect_options *options, struct arena *keep,
                                  struct collect_host *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    if (host_describe(keep, &out->os, &out->cpu, fault) != ERR_NONE)
        return fault->code;
    if (options->launcher == NULL || options->launcher[0] == NULL ||
        strstr(path_base(options->launcher[0]), "wine") == NULL)
        return ERR_NONE;
    /* Asked once, because Wine's start script takes a tenth of a second.  Never called by two
     * threads at a time. */
    static char asked[512], version[128];
    if (strcmp(asked, options->launcher[0]) == 0) {
        out->wine = version[0] != '\0' ? name_wine(options, version, keep) : NULL;
        return ERR_NONE;
    }
    const char *const argv[] = {options->launcher[0], "--version", NULL};
    struct process_request request;
    struct process_result answer;
    struct fault ignored = FAULT_INIT;
    memset(&request, 0, sizeof request);
    request.argv = argv;
    request.limit_ms = 15000;
    if (process_run(&request, keep, &answer, &ignored) == ERR_NONE && answer.exit_code == 0)
        (void)snprintf(version, sizeof version, "%.*s", (int)strcspn(answer.output, "\r\n"),
                       answer.output);
    (void)snprintf(asked, sizeof asked, "%s", options->launcher[0]);
    out->wine = version[0] != '\0' ? name_wine(options, version, keep) : NULL;
    return ERR_NONE;
}

enum status evidence_open(const struct collect_options *options, struct arena *keep,
                          struct evidence *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->options = options;
    out->symbols_lock = mutex_new();
    if (out->symbols_lock == NULL)
        return fault_no_memory(fault, "collector");
    if (toolchain_read(options->victims_folder, keep, &out->toolchain, fault) != ERR_NONE)
        return fault->code;
    return collect_describe_host(options, keep, &out->host, fault);
}

void evidence_close(struct evidence *evidence)
{
    mutex_free(evidence->symbols_lock);
}
