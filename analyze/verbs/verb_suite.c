/* twinstack suite: a wrong answer becomes a case of a reference suite. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "engine/dump_scrub.h"
#include "engine/steps_score.h"
#include "suite/suite_add.h"
#include "suite/suite_make.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

#define STEPS_END ".rec"

struct suite_options {
    const char *suite, *edition, *from, *out, *licence;
};

/* What the reader of dumps wants, of what the suite has. */
static struct scrub_thread *threads_of(const struct suite_dump_thread *threads, uint32_t count,
                                       struct arena *keep)
{
    struct scrub_thread *out = ARENA_ARRAY(keep, count, struct scrub_thread);
    for (uint32_t i = 0; out != NULL && i < count; i++) {
        const struct suite_dump_thread *from = &threads[i];
        struct scrub_walk *walks =
            ARENA_ARRAY(keep, (size_t)from->walk_count + 1, struct scrub_walk);
        if (walks == NULL)
            return NULL;
        for (uint32_t k = 0; k < from->walk_count; k++) {
            const struct suite_walk *walk = &from->walks[k];
            struct scrub_frame *frames =
                ARENA_ARRAY(keep, (size_t)walk->count + 1, struct scrub_frame);
            if (frames == NULL)
                return NULL;
            for (uint32_t f = 0; f < walk->count; f++)
                frames[f] = (struct scrub_frame){walk->frames[f].ip, walk->frames[f].sp};
            walks[k] = (struct scrub_walk){frames, walk->count};
        }
        out[i] = (struct scrub_thread){from->id, walks, from->walk_count, from->whole};
    }
    return out;
}

static enum status scrub(const char *dump, const char *symbols,
                         const struct suite_dump_thread *threads, uint32_t count,
                         struct arena *keep, struct suite_dump *out, struct fault *fault)
{
    const struct scrub_request request = {.dump = dump,
                                          .symbols = symbols,
                                          .threads = threads_of(threads, count, keep),
                                          .thread_count = count};
    struct scrubbed made;
    if (request.threads == NULL)
        return fault_no_memory(fault, "dump");
    if (dump_scrub(&request, keep, &made, fault) != ERR_NONE)
        return fault->code;
    struct suite_dump_file *files =
        ARENA_ARRAY(keep, (size_t)made.file_count + 1, struct suite_dump_file);
    if (files == NULL)
        return fault_no_memory(fault, "dump");
    for (uint32_t i = 0; i < made.file_count; i++)
        files[i] = (struct suite_dump_file){made.files[i].from, made.files[i].place};
    *out = (struct suite_dump){made.data, made.bytes, files, made.file_count, made.kept_stacks};
    return ERR_NONE;
}

static int add(const struct verb *self, void *options, const struct option_list *words,
               struct arena *keep)
{
    const struct suite_options *o = options;
    struct fault fault = FAULT_INIT;
    struct suite_addition added;

    if (o->suite == NULL)
        return verb_usage_error(self, "--suite is missing: the folder that gets the case");
    const struct suite_add_request request = {o->suite, words->items[0], o->edition, scrub};
    if (suite_add(&request, keep, &added, &fault) != ERR_NONE)
        return verb_fault(&fault);
    for (uint32_t i = 0; i < added.missing_count; i++)
        log_error("%s: it needs %s", words->items[0], added.missing[i]);
    if (added.missing_count > 0)
        return EXIT_INPUT;
    if (added.kept_stacks > 0)
        log_warn("of %" PRIu32 " thread%s the stack up to the last frame was kept, since our walk "
                 "is another one: look at it before you publish it",
                 added.kept_stacks, added.kept_stacks == 1 ? "" : "s");
    (void)printf("%s%s is in %s; %" PRIu32 " file%s copied\n", added.id,
                 added.cases > 1 ? arena_printf(keep, "/0 to %" PRIu32, added.cases - 1) : "",
                 added.list, added.copied, added.copied == 1 ? "" : "s");
    return EXIT_GOOD;
}

/* ---- make -------------------------------------------------------------------------------- */

/* One file of steps, whose moments go into the suite. */
struct making {
    const struct suite_options *o;
    struct suite_maker *maker;
    struct symbol_store *symbols;
    const char *group; /* its name, without the ending */
    struct arena *keep;
    struct steps_drafts left_out;
};

/* The file and, where a walk needs it, the PDB beside it. */
static enum status add_image(struct making *m, const struct module *module, struct fault *fault)
{
    const char *path = path_join(m->keep, m->o->from, module->name);
    const char *pdb =
        module->pdb_name != NULL ? path_join(m->keep, m->o->from, module->pdb_name) : NULL;
    if (path == NULL)
        return fault_no_memory(fault, "suite");
    if (suite_make_image(m->maker, path, fault) == ERR_NONE && pdb != NULL && path_is_file(pdb))
        (void)suite_make_image(m->maker, pdb, fault);
    return fault->code;
}

static enum status add_moment(void *context, const struct steps_draft *draft, struct fault *fault)
{
    struct making *m = context;
    const struct suite_made made = {m->group, draft->step, draft->function, draft->position};
    if (add_image(m, draft->module, fault) == ERR_NONE)
        (void)suite_make_moment(m->maker, draft->json, &made, fault);
    return fault->code;
}

static enum status add_steps(struct making *m, const char *name, struct fault *fault)
{
    struct steps_session *session = NULL;
    struct steps_drafts left_out;
    const char *path = path_join(m->keep, m->o->from, name);
    m->group = arena_text(m->keep, name, strlen(name) - strlen(STEPS_END));
    if (path == NULL || m->group == NULL)
        return fault_no_memory(fault, "steps");
    if (steps_session_open(path, m->symbols, m->keep, &session, fault) == ERR_NONE &&
        steps_session_drafts(session, add_moment, m, &left_out, fault) == ERR_NONE) {
        m->left_out.steps += left_out.steps;
        m->left_out.elsewhere += left_out.elsewhere;
        m->left_out.outermost += left_out.outermost;
    }
    if (fault->code != ERR_NONE)
        fault_set_path(fault, path);
    steps_session_close(session);
    return fault->code;
}

static bool is_steps(const char *name)
{
    const size_t length = strlen(name), end = strlen(STEPS_END);
    return length > end && strcmp(name + length - end, STEPS_END) == 0;
}

/* Each file of steps in the folder, in the order of names. */
static enum status add_folder(struct making *m, uint32_t *count, struct fault *fault)
{
    const struct symbol_store_options options = {.roots = &m->o->from, .root_count = 1};
    const char **names = NULL;
    size_t name_count = 0;
    if (folder_list(m->o->from, m->keep, &names, &name_count, fault) != ERR_NONE ||
        symbol_store_open(&options, &m->symbols, fault) != ERR_NONE)
        return fault->code;
    for (size_t i = 0; i < name_count && fault->code == ERR_NONE; i++) {
        if (!is_steps(names[i]))
            continue;
        (*count)++;
        log_progress("taking moments of %s", names[i]);
        (void)add_steps(m, names[i], fault);
    }
    log_progress_end();
    symbol_store_close(m->symbols);
    return fault->code;
}

static int print_made(const struct making *m, const struct suite_made_counts *counts)
{
    const struct steps_drafts *left = &m->left_out;
    (void)printf("%s: %" PRIu32 " moments, %" PRIu32 " of them must, %" PRIu32 " images and PDBs; "
                 "%" PRIu32 " cases from before\n",
                 m->o->out, counts->must + counts->may, counts->must, counts->files,
                 counts->base_cases);
    (void)printf("of %" PRIu32 " instructions: %" PRIu32 " in an image that is not there, %" PRIu32
                 " without a caller in theirs\n",
                 left->steps, left->elsewhere, left->outermost);
    return counts->must + counts->may > 0 ? EXIT_GOOD : EXIT_NOTHING;
}

static int make(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    const struct suite_options *o = options;
    struct making m = {.o = o, .keep = keep};
    struct suite_made_counts counts = {0};
    struct fault fault = FAULT_INIT;
    uint32_t files = 0;

    (void)words;
    if (o->from == NULL || o->out == NULL || o->edition == NULL || o->licence == NULL)
        return verb_usage_error(self, "--from, --out, --edition and --licence are needed");
    const struct suite_make_request request = {o->out, o->edition, o->suite, o->licence};
    if (suite_make_open(&request, keep, &m.maker, &fault) == ERR_NONE &&
        add_folder(&m, &files, &fault) == ERR_NONE && files > 0)
        (void)suite_make_finish(m.maker, &counts, &fault);
    suite_make_close(m.maker);
    if (fault.code != ERR_NONE)
        return verb_fault(&fault);
    if (files == 0) {
        log_warn("%s: no file of steps (*" STEPS_END ") there", o->from);
        return EXIT_NOTHING;
    }
    return print_made(&m, &counts);
}

static const struct subcommand subcommands[] = {
    {"add", "DRAFT", "add the case that the JSON file DRAFT describes", 1, 1, add},
    {"make", NULL, "make a larger edition of walks at every instruction", 0, 0, make},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct suite_options o = {0};
    const struct option_row rows[] = {
        OPTION_AS(SUITE, &o.suite, "`make`: what the new one starts from; default: nothing"),
        {"--edition", OPTION_STRING, &o.edition, "NAME",
         "the edition of the suite from now on (`add`: default: as it is)"},
        {"--from", OPTION_STRING, &o.from, "DIR",
         "`make`: what `twinstack steps --out DIR` left, with the images and PDBs"},
        OPTION_AS(OUT, &o.out, "`make`: the new suite"),
        {"--licence", OPTION_STRING, &o.licence, "NAME", "`make`: of the images"},
        OPTION(PROGRESS, NULL),
    };
    return subcommand_main(self, NULL, rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_suite = {
    .name = "suite",
    .summary = "make cases of a reference suite, of a wrong answer or of many moments",
    .subcommands = subcommands,
    .details =
        "The draft is one object of JSON with the members of a case (corpus/reference/README.md\n"
        "and its schema.json), and \"licence\" of its files. It describes an address: an image, "
        "its\n"
        "symbols, the rva, and the true functions, files and lines; or a moment: registers, "
        "stack,\n"
        "images, and the true frames, as `twinstack steps --moment` prints it; or a dump: its "
        "file, "
        "a folder\n"
        "of images, and \"threads\" with their ids and true frames. The files, of 2 MiB at most,\n"
        "are copied into the suite; of a dump only what these walks read, other bytes are zero.\n"
        "Facts that are missing are listed, all at once, and nothing is written: there is no case\n"
        "without a truth, its witnesses and a rule that decides.\n\n"
        "`make` writes an edition that is too large for a repository: of each walk at every\n"
        "instruction in DIR, the moments whose instruction and caller are in an image of that "
        "folder.\n"
        "Calls and returns were counted there; a moment is must where a walker of the system "
        "agrees,\n"
        "else may. Its shape is the function's name.\n\n"
        "examples:\n  twinstack suite add --suite corpus/reference draft.json\n"
        "  twinstack steps --out walks && cp build/victims/bin/steps-* walks\n"
        "  twinstack suite make --from walks --out large --edition 2026.11-large --licence MIT "
        "--suite corpus/reference",
    .exits = "  0  the suite has the cases\n"
             "  2  usage; the id, the name of a file or the folder is in use\n"
             "  3  the suite, the draft or its dump cannot be read, or facts are missing\n"
             "  5  make: there are no steps, or no moment of them can be used",
    .run = run,
};
