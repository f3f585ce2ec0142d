/* twinstack suite: a wrong answer becomes a case of a reference suite. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/log.h"
#include "engine/dump_scrub.h"
#include "suite/suite_add.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

struct suite_options {
    const char *suite, *edition;
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

static const struct subcommand subcommands[] = {
    {"add", "DRAFT", "add the case that the JSON file DRAFT describes", 1, 1, add},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct suite_options o = {0};
    const struct option_row rows[] = {
        OPTION(SUITE, &o.suite),
        {"--edition", OPTION_STRING, &o.edition, "NAME",
         "the edition of the suite from now on (default: as it is)"},
    };
    return subcommand_main(self, NULL, rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_suite = {
    .name = "suite",
    .summary = "make a case of a reference suite from a wrong answer",
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
        "examples:\n  twinstack suite add --suite corpus/reference draft.json",
    .exits = "  0  the suite has the case\n"
             "  2  usage; the id or the name of a file is in use\n"
             "  3  the suite, the draft or its dump cannot be read, or facts are missing",
    .run = run,
};
