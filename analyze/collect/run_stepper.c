/* Running the walk at every instruction: every steps-VARIANT.exe of the victims' folder. */
#include <string.h>

#include "base/files.h"
#include "collect/program.h"
#include "collect/runner.h"
#include "format/record/record.h"

enum { STEPS_LIMIT_MS = 600000, VARIANTS_MAX = 64 };

/* Who hears about the build that is being walked. */
struct stepped {
    void (*stepping)(const char *variant);
    const char *variant;
};

/* The files of the modules that were loaded, which a replay of the states needs. */
static void find_images(const struct runner *runner, struct arena *keep,
                        struct collected_steps *out, struct fault *fault)
{
    struct record record;
    if (record_read_file(out->file, keep, &record, fault) != ERR_NONE)
        return;
    out->images = ARENA_ARRAY(keep, (size_t)record.module_count + 1, const char *);
    if (out->images == NULL) {
        fault_no_memory(fault, "steps");
        return;
    }
    for (uint32_t i = 0; i < record.module_count; i++) {
        const char *path = record.modules[i].path != NULL
                               ? runner_host_path(runner, record.modules[i].path, keep)
                               : NULL;
        if (path != NULL)
            out->images[out->image_count++] = path;
    }
}

static void report_stepping(void *context)
{
    const struct stepped *s = context;
    s->stepping(s->variant);
}

static void run_program(struct runner *runner, const char *program, const char *walkers,
                        struct arena *keep, struct collected_steps *out, struct fault *fault)
{
    const char *guest = runner_guest_path(runner, program, keep);
    const char *file = runner_guest_path(runner, out->file, keep);
    const char *const args[] = {guest, file, walkers, NULL};
    struct process_result ended;
    struct stepped stepped = {runner->options->stepping, out->variant};

    if (guest == NULL || file == NULL) {
        fault_no_memory(fault, "steps");
        return;
    }
    if (stepped.stepping != NULL) {
        runner->while_context = &stepped;
        runner->while_running = report_stepping;
    }
    const enum status status = runner_run(runner, args, STEPS_LIMIT_MS, keep, &ended, fault);
    runner->while_running = NULL;
    if (status != ERR_NONE)
        return;
    if (ended.timed_out || ended.exit_code != 0) {
        fault_set_lasting(fault, ERR_IO, FAULT_NO_OFFSET, "walk at every instruction",
                          ended.timed_out ? "it did not end in time"
                                          : "it failed or was cut short");
        fault_set_path(fault, program);
        return;
    }
    out->wall_ns = ended.wall_ns;
    find_images(runner, keep, out, fault);
}

static bool is_named(const char *const *variants, uint32_t count, const char *variant)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(variants[i], variant) == 0)
            return true;
    return count == 0;
}

/* One program of the folder, if it is to be stepped through. */
static void take_program(struct runner *runner, const struct collect_options *options,
                         const char *name, const char *walkers, struct arena *keep,
                         struct collected_steps *one, struct fault *fault)
{
    one->program = path_join(keep, options->victims_folder, name);
    one->file = arena_printf(keep, "%s/steps-%s.rec", options->out_folder, one->variant);
    if (one->program == NULL || one->file == NULL)
        fault_no_memory(fault, "steps");
    else
        run_program(runner, one->program, walkers, keep, one, fault);
}

enum status collect_steps(const struct collect_options *options, const char *const *variants,
                          uint32_t variant_count, const char *walkers, struct arena *keep,
                          struct collected_steps **out, uint32_t *count, struct fault *fault)
{
    struct collect_options absolute = *options;
    struct runner runner;
    const char **names = NULL;
    size_t name_count = 0;

    *out = ARENA_ARRAY(keep, VARIANTS_MAX, struct collected_steps);
    *count = 0;
    if (*out == NULL || folder_make(options->out_folder, fault) != ERR_NONE)
        return fault_no_memory(fault, "steps");
    if (folder_list(options->victims_folder, keep, &names, &name_count, fault) != ERR_NONE)
        return fault->code;
    absolute.out_folder = path_absolute(options->out_folder, keep);
    absolute.victims_folder = path_absolute(options->victims_folder, keep);
    if (absolute.out_folder == NULL || absolute.victims_folder == NULL)
        return fault_no_memory(fault, "steps");
    (void)runner_open(&absolute, 0, &runner, fault);
    for (size_t i = 0; i < name_count && fault->code == ERR_NONE && *count < VARIANTS_MAX; i++) {
        struct collected_steps *one = &(*out)[*count];
        one->variant = program_variant(names[i], "steps-", keep);
        if (one->variant == NULL || !is_named(variants, variant_count, one->variant))
            continue;
        take_program(&runner, &absolute, names[i], walkers, keep, one, fault);
        *count += fault->code == ERR_NONE;
    }
    runner_close(&runner);
    return fault->code;
}
