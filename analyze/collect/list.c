/* Asking victims for their scenarios: `victims-VARIANT.exe --list --json`, one object per line. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "collect/list_cache.h"
#include "collect/program.h"
#include "collect/runner.h"
#include "collect/toolchain.h"
#include "format/pe/pe.h"

enum { LIST_LIMIT_MS = 60000, SCENARIOS_MAX = 4096 };

static void read_scenario(const cJSON *row, struct arena *keep, struct scenario *out,
                          struct fault *fault)
{
    out->name = json_get_string(row, "name", keep, fault);
    out->kind = case_kind_parse(json_get_string(row, "kind", keep, fault));
    out->group = json_get_string(row, "group", keep, fault);
    out->about = json_get_string(row, "sentence", keep, fault);
    out->code = json_get_hex(row, "code", 0, fault);
    out->exit_code = json_get_hex(row, "exit_code", 0, fault);
    out->limit_ms = json_get_uint(row, "limit_ms", 20000, fault);
    out->hooks = hooks_read(row, fault);
    out->subjects = json_get_texts(row, "subjects", keep, &out->subject_count, fault);
    out->output = json_get_string(row, "output", keep, fault);
    if (!json_get_bool(row, "supported", true, fault)) {
        const char *reason = json_get_string(row, "reason", keep, fault);
        out->unsupported = reason != NULL ? reason : "this host cannot show it";
    }
    if (out->name == NULL || out->kind == CASE_KIND_NONE)
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "scenario of a victim program",
                       "it has no name or no kind");
}

static uint32_t count_lines(const char *text)
{
    uint32_t lines = 1;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* Reads the lines of one program's answer into OUT, which has room for all. */
static enum status read_answer(const char *text, const char *program, const char *variant,
                               struct arena *keep, struct scenario *out, uint32_t *count,
                               struct fault *fault)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\r\n");
        cJSON *row = NULL;
        if (length > 0 && json_parse(text, length, &row, fault) == ERR_NONE) {
            struct scenario *scenario = &out[(*count)++];
            scenario->program = program;
            scenario->variant = variant;
            scenario->arch = program_machine(program) == PE_MACHINE_X86 ? CPU_X86 : CPU_X64;
            read_scenario(row, keep, scenario, fault);
        }
        cJSON_Delete(row);
        if (fault->code != ERR_NONE) {
            fault_set_path(fault, program);
            return fault->code;
        }
        text += length + (text[length] != '\0');
    }
    return ERR_NONE;
}

/* Room for MORE scenarios at the end of the list; NULL: too many, or no memory. */
static struct scenario *widen_list(struct scenario **list, uint32_t count, uint32_t more,
                                   struct arena *keep, struct fault *fault)
{
    if (count + more > SCENARIOS_MAX) {
        fault_set(fault, ERR_LIMIT, SCENARIOS_MAX, "scenarios of the victims");
        return NULL;
    }
    uint32_t room = count;
    if (!ARENA_ROOM(keep, *list, room, (uint64_t)count + more)) {
        fault_no_memory(fault, "scenarios");
        return NULL;
    }
    return *list;
}

/* The build whose scenarios a build for x86 has as well: the one with most of them, since others,
 * such as those of managed code, have only their own. */
static const char *widest_variant(const struct scenario *list, uint32_t count)
{
    const char *widest = NULL;
    uint32_t most = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 0;
        for (uint32_t k = i; k < count; k++)
            same += strcmp(list[k].variant, list[i].variant) == 0;
        if (same > most) {
            most = same;
            widest = list[i].variant;
        }
    }
    return widest;
}

/* A 32-bit program that this host cannot start gets the scenarios of the programs that it can
 * start, all marked as unsupported. */
static enum status borrow_list(const char *program, const char *variant, struct arena *keep,
                               struct scenario **list, uint32_t *count, struct fault *fault)
{
    const uint32_t known = *count;
    const char *model = widest_variant(*list, known);
    struct scenario *wider = widen_list(list, known, known, keep, fault);

    for (uint32_t i = 0; wider != NULL && i < known; i++) {
        if (strcmp(wider[i].variant, model) != 0)
            continue;
        wider[*count] = wider[i];
        wider[*count].program = program;
        wider[*count].variant = variant;
        wider[*count].arch = CPU_X86;
        wider[(*count)++].unsupported = COLLECT_NO_WINE32;
    }
    return fault->code;
}

/* What Wine says on standard error when only its 64-bit half is there: programs start in this mode,
 * but a dump of them cannot be written. */
static const char wow64_mode[] = "experimental wow64 mode";

static bool is_for_wine32(const struct runner *runner, const char *program,
                          const struct process_result *answer, struct arena *keep)
{
    return program_machine(program) == PE_MACHINE_X86 &&
           (!prefix_runs_32_bits(runner->prefix, keep) ||
            strstr(answer->errors, wow64_mode) != NULL);
}

/* Why an answer is no list; NULL: it is one. */
static const char *lack_of(const struct process_result *answer)
{
    if (strstr(answer->errors, wow64_mode) != NULL)
        return "Wine ran it in its experimental wow64 mode";
    if (answer->timed_out)
        return "it did not answer in time";
    if (answer->exit_code != 0)
        return "it failed";
    if (answer->output_cut)
        return "it printed more than 64 MiB, and the rest is cut";
    return answer->output[0] == '\0' ? "it printed nothing" : NULL;
}

/* Runs PROGRAM --list. A Wine that has just started sometimes loses a program start, so a program
 * that does not answer is asked a second time. */
static enum status ask_twice(struct runner *runner, const char *program, struct arena *keep,
                             struct process_result *answer, struct fault *fault)
{
    const char *const args[] = {program, "--list", "--json", NULL};

    for (bool again = false;; again = true) {
        const struct runner loud = runner_with_mode(runner);
        if (runner_run(&loud, args, LIST_LIMIT_MS, keep, answer, fault) != ERR_NONE)
            return fault->code;
        const char *why = lack_of(answer);
        if (why == NULL || again || is_for_wine32(runner, program, answer, keep))
            return ERR_NONE;
        log_warn("%s: asked for its scenarios, %s; asking a second time", program, why);
        if (runner_reset(runner, fault) != ERR_NONE)
            return fault->code;
    }
}

/* The programs of one folder, and what is needed to ask them. */
struct asking {
    struct collect_options options; /* the caller's, but with our own keeps_waiting */
    const struct collect_options *given;
    struct list_cache cache;
    struct runner runner;
    bool is_open;          /* the runner: opened only when a program must be started */
    const char *list_path; /* of the program in question; NULL: nothing is kept */
};

/* Another process that runs the same victims caches their lists when it starts. */
static bool keeps_waiting(void *context)
{
    const struct asking *a = context;
    if (a->given->keeps_waiting != NULL && !a->given->keeps_waiting(a->given->wait_context))
        return false;
    struct arena scratch;
    arena_init(&scratch, 0);
    const bool arrived = list_cache_read(a->list_path, &scratch) != NULL;
    arena_free(&scratch);
    return !arrived;
}

static const char *read_list(const struct asking *a, bool may_borrow, struct arena *keep)
{
    const char *text = list_cache_read(a->list_path, keep);
    return text != NULL && (text[0] != '\0' || may_borrow) ? text : NULL;
}

/* What PROGRAM printed before; NULL: nothing, and then the runner is open, or FAULT says why not.
 */
static const char *read_kept(struct asking *a, const char *program, bool may_borrow,
                             struct arena *keep, struct fault *fault)
{
    a->list_path = a->given->ask_victims ? NULL : list_cache_path(&a->cache, program, keep);
    const char *text = read_list(a, may_borrow, keep);
    if (text != NULL || a->is_open)
        return text;
    if (runner_open(&a->options, 0, &a->runner, fault) == ERR_NONE) {
        a->is_open = true;
        return NULL;
    }
    runner_close(&a->runner);
    text = fault->code == ERR_TIMEOUT ? read_list(a, may_borrow, keep) : NULL;
    if (text != NULL)
        fault_clear(fault);
    return text;
}

/* What PROGRAM lists, kept or asked for now; "": this host cannot start it.  NULL: see FAULT. */
static const char *list_text(struct asking *a, const char *program, bool may_borrow,
                             struct arena *keep, struct fault *fault)
{
    struct process_result answer;
    const char *kept = read_kept(a, program, may_borrow, keep, fault);

    if (kept != NULL || fault->code != ERR_NONE)
        return kept;
    if (ask_twice(&a->runner, program, keep, &answer, fault) != ERR_NONE)
        return NULL;
    const char *why = lack_of(&answer);
    const bool borrows =
        why != NULL && may_borrow && is_for_wine32(&a->runner, program, &answer, keep);
    if (why != NULL && !borrows) {
        fault_set_lasting(fault, ERR_IO, FAULT_NO_OFFSET, "list of a victim program", why);
        fault_set_path(fault, program);
        return NULL;
    }
    const char *text = borrows ? "" : answer.output;
    list_cache_write(&a->cache, list_cache_path(&a->cache, program, keep), text);
    return text;
}

static enum status ask_program(struct asking *a, const char *program, const char *variant,
                               struct arena *keep, struct scenario **list, uint32_t *count,
                               struct fault *fault)
{
    const char *text = list_text(a, program, *count > 0, keep, fault);

    if (text == NULL)
        return fault->code;
    if (text[0] == '\0')
        return borrow_list(program, variant, keep, list, count, fault);
    struct scenario *wider = widen_list(list, *count, count_lines(text), keep, fault);
    if (wider == NULL)
        return fault->code;
    return read_answer(text, program, variant, keep, wider, count, fault);
}

static int compare_scenarios(const void *a, const void *b)
{
    const struct scenario *x = a, *y = b;
    const int by_name = strcmp(x->name, y->name);
    return by_name != 0 ? by_name : strcmp(x->variant, y->variant);
}

const char *program_variant(const char *name, const char *start, struct arena *keep)
{
    static const char end[] = ".exe";
    const size_t length = strlen(name), before = strlen(start), after = sizeof end - 1;

    if (length <= before + after || strncmp(name, start, before) != 0 ||
        !text_equal_nocase(name + length - after, end))
        return NULL;
    return arena_text(keep, name + before, length - before - after);
}

static bool has_variant(const struct scenario *list, uint32_t count, const char *variant)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].variant, variant) == 0)
            return true;
    return false;
}

/* The builds for x86 that toolchain.json names and that have no program. */
static enum status list_not_built(const char *folder, struct arena *keep, struct scenario **out,
                                  uint32_t *count, struct fault *fault)
{
    struct toolchain toolchain;

    (void)toolchain_read(folder, keep, &toolchain, fault);
    for (uint32_t i = 0; i < toolchain.build_count && fault->code == ERR_NONE; i++) {
        const char *variant = toolchain.builds[i].name;
        if (variant != NULL && collect_is_x86_variant(variant) &&
            !has_variant(*out, *count, variant))
            (void)borrow_list(arena_printf(keep, "%s/victims-%s.exe", folder, variant), variant,
                              keep, out, count, fault);
    }
    return fault->code;
}

static enum status ask_all(struct asking *a, struct arena *keep, struct scenario **out,
                           uint32_t *count, struct fault *fault)
{
    const char **names = NULL;
    size_t name_count = 0;
    const char *folder = path_absolute(a->given->victims_folder, keep);

    if (folder == NULL)
        folder = a->given->victims_folder;
    if (folder_list(folder, keep, &names, &name_count, fault) != ERR_NONE)
        return fault->code;
    for (size_t i = 0; i < name_count && fault->code == ERR_NONE; i++) {
        const char *variant = program_variant(names[i], "victims-", keep);
        if (variant != NULL)
            (void)ask_program(a, path_join(keep, folder, names[i]), variant, keep, out, count,
                              fault);
    }
    if (fault->code == ERR_NONE && *count == 0) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "victims-*.exe",
                       "build the victims first: `./run setup`");
        fault_set_path(fault, folder);
    }
    if (fault->code == ERR_NONE)
        (void)list_not_built(folder, keep, out, count, fault);
    if (*count > 1)
        array_sort(*out, *count, sizeof **out, compare_scenarios);
    return fault->code;
}

enum status collect_list(const struct collect_options *options, struct arena *keep,
                         struct scenario **out, uint32_t *count, struct fault *fault)
{
    struct asking a;

    *out = NULL;
    *count = 0;
    if (!path_is_folder(options->victims_folder)) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "folder of the victims",
                       "build the victims first: `./run setup`");
        fault_set_path(fault, options->victims_folder);
        return fault->code;
    }
    memset(&a, 0, sizeof a);
    a.given = options;
    a.options = *options;
    a.options.dlls = NULL; /* lists need no dumps */
    a.options.keeps_waiting = keeps_waiting;
    a.options.wait_context = &a;
    list_cache_open(options, keep, &a.cache);
    (void)ask_all(&a, keep, out, count, fault);
    if (a.is_open)
        runner_close(&a.runner);
    return fault->code;
}
