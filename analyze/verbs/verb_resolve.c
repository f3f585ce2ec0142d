/* twinstack resolve: offset stacks to logical frames, as a filter. The first user of libtwinstack:
 * it reads, resolves and writes stacks only through the installed header.
 *
 * Stacks are read into batches in input order; each batch is resolved and written to memory,
 * by workers when -j asks for them, and printed in the order in which it was read.  A ring of
 * batches bounds the memory, however long the stream is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "library/twinstack.h"
#include "model/names.h"
#include "report/speedscope.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/index_note.h"
#include "verbs/library_fault.h"
#include "verbs/resolve_symbols.h"
#include "verbs/resolve_understood.h"
#include "verbs/verbs.h"

enum resolve_format {
    RESOLVE_TEXT,
    RESOLVE_JSON,
    RESOLVE_NDJSON,
    RESOLVE_FOLDED,
    RESOLVE_SPEEDSCOPE,
    RESOLVE_UNDERSTOOD,
};

enum batch_state { BATCH_FREE, BATCH_READY, BATCH_TAKEN, BATCH_DONE };

struct batch {
    struct twinstack_batch *stacks;
    bool failed; /* something is missing from its text */
    enum batch_state state;
};

struct resolver {
    struct twinstack_symbols *symbols;
    enum resolve_format format;
    uint32_t write_flags;
    struct batch *batches;
    uint32_t batch_count, worker_count;
    uint64_t next_fill, next_take, next_print; /* batch numbers; modulo batch_count */
    struct thread *workers[VERB_JOBS_MAX];
    struct mutex *mutex;
    struct signal *changed;
    bool stopping;
    struct speedscope *speedscope;
    uint64_t printed, errors, frames; /* items; those that are no stacks; frames of the others */
    char first_error[sizeof((struct twinstack_error *)NULL)->text];
    bool unresolved, unchecked, damaged, failed;
    const char *lack;
    bool addresses, all;
    const char *walker;
    uint64_t left_out; /* frames in the middle of long stacks */
};

struct resolve_options {
    struct resolve_symbols symbols;
    uint64_t jobs;
    const char *format, *names, *index, *walker;
    bool json, ndjson, strict, addresses, all;
};

static void resolve_batch(struct resolver *r, struct batch *batch)
{
    static const enum twinstack_form forms[] = {
        [RESOLVE_TEXT] = TWINSTACK_FORM_TEXT,
        [RESOLVE_JSON] = TWINSTACK_FORM_JSON,
        [RESOLVE_NDJSON] = TWINSTACK_FORM_NDJSON,
        [RESOLVE_FOLDED] = TWINSTACK_FORM_FOLDED,
    };

    twinstack_batch_resolve(batch->stacks, r->symbols);
    /* frames of speedscope are numbered in order, so it is written when it is printed */
    batch->failed =
        r->format != RESOLVE_SPEEDSCOPE &&
        twinstack_batch_write(batch->stacks, forms[r->format], r->write_flags) != TWINSTACK_OK;
}

static void print_bytes(struct resolver *r, const char *text, size_t bytes)
{
    if (bytes > 0 && fwrite(text, 1, bytes, stdout) != bytes)
        r->failed = true;
}

static void print_items(struct resolver *r, const struct batch *batch, uint32_t first,
                        uint32_t count)
{
    size_t bytes;
    const char *text = twinstack_batch_text(batch->stacks, first, count, &bytes);

    print_bytes(r, text, bytes);
}

/* One stack is a document; several are an array of them. */
static void print_json(struct resolver *r, const struct batch *batch, bool last)
{
    const uint32_t count = twinstack_batch_count(batch->stacks);

    for (uint32_t i = 0; i < count; i++) {
        const bool alone = r->printed == 0 && i == 0 && count == 1 && last;
        if (!alone)
            print_bytes(r, r->printed + i == 0 ? "[\n" : ",\n", 2);
        print_items(r, batch, i, 1);
        if (last && i + 1 == count)
            print_bytes(r, alone ? "\n" : "\n]\n", alone ? 1 : 3);
    }
}

static void add_to_speedscope(struct speedscope *scope, const struct twinstack_stack *stack)
{
    speedscope_stack(scope, 1);
    for (uint32_t i = twinstack_frame_count(stack); i-- > 0;)
        speedscope_frame(scope, &(struct speedscope_frame){.module = twinstack_module(stack, i),
                                                           .function = twinstack_function(stack, i),
                                                           .file = twinstack_file(stack, i),
                                                           .offset = twinstack_offset(stack, i),
                                                           .line = twinstack_line(stack, i)});
}

/* What the forms for other programs leave out: errors go to stderr, and speedscope's samples. */
static void print_each(struct resolver *r, const struct batch *batch)
{
    struct twinstack_error error;

    for (uint32_t i = 0; i < twinstack_batch_count(batch->stacks); i++) {
        if (twinstack_batch_error(batch->stacks, i, &error) != TWINSTACK_OK) {
            log_error("%s", error.text);
        } else if (r->speedscope != NULL) {
            add_to_speedscope(r->speedscope, twinstack_batch_stack(batch->stacks, i));
            r->failed = !speedscope_stack_end(r->speedscope) || r->failed;
        }
    }
}

static void keep_first_error(struct resolver *r, const struct batch *batch)
{
    struct twinstack_error error;
    uint32_t i = 0;
    while (i < twinstack_batch_count(batch->stacks) &&
           twinstack_batch_error(batch->stacks, i, &error) == TWINSTACK_OK)
        i++;
    if (i < twinstack_batch_count(batch->stacks))
        memcpy(r->first_error, error.text, sizeof r->first_error);
}

/* Prints the next batch, which is done. LAST: no other follows. */
static void print_batch(struct resolver *r, struct batch *batch, bool last)
{
    struct twinstack_summary summary = {.size = sizeof summary};

    twinstack_batch_summary(batch->stacks, &summary);
    r->unresolved = r->unresolved || summary.unresolved != 0;
    r->unchecked = r->unchecked || summary.unchecked != 0;
    if (r->errors == 0 && summary.errors > 0)
        keep_first_error(r, batch);
    r->errors += summary.errors;
    r->frames += summary.frames;
    r->left_out += summary.left_out;
    r->lack = r->lack != NULL ? r->lack : summary.lack;
    r->failed = r->failed || batch->failed;
    if (r->format >= RESOLVE_FOLDED)
        print_each(r, batch);
    if (r->format == RESOLVE_JSON)
        print_json(r, batch, last);
    else if (r->format != RESOLVE_SPEEDSCOPE)
        print_items(r, batch, 0, twinstack_batch_count(batch->stacks));
    r->printed += twinstack_batch_count(batch->stacks);
    twinstack_batch_clear(batch->stacks);
}

static void worker(void *context)
{
    struct resolver *r = context;

    mutex_lock(r->mutex);
    for (;;) {
        struct batch *batch = &r->batches[r->next_take % r->batch_count];
        if (r->next_take < r->next_fill && batch->state == BATCH_READY) {
            batch->state = BATCH_TAKEN;
            r->next_take++;
            mutex_unlock(r->mutex);
            resolve_batch(r, batch);
            mutex_lock(r->mutex);
            batch->state = BATCH_DONE;
            signal_wake_all(r->changed);
        } else if (r->stopping) {
            break;
        } else {
            signal_wait(r->changed, r->mutex);
        }
    }
    mutex_unlock(r->mutex);
}

/* Workers start with the second batch, so that a single stack does not cost the start of threads.
 */
static void start_workers(struct resolver *r, uint32_t wanted)
{
    while (r->worker_count < wanted) {
        struct thread *thread = thread_start(worker, r);
        if (thread == NULL)
            return;
        r->workers[r->worker_count++] = thread;
    }
}

/* Waits for the oldest batch that is not printed, and prints it. */
static void print_oldest(struct resolver *r, bool last)
{
    struct batch *batch = &r->batches[r->next_print % r->batch_count];

    if (batch->state == BATCH_READY && r->worker_count == 0) {
        resolve_batch(r, batch);
    } else {
        mutex_lock(r->mutex);
        while (batch->state != BATCH_DONE)
            signal_wait(r->changed, r->mutex);
        mutex_unlock(r->mutex);
    }
    print_batch(r, batch, last);
    batch->state = BATCH_FREE;
    r->next_print++;
}

static void submit(struct resolver *r, struct batch *batch, uint32_t jobs)
{
    mutex_lock(r->mutex);
    batch->state = BATCH_READY;
    r->next_fill++;
    signal_wake_all(r->changed);
    mutex_unlock(r->mutex);
    if (jobs > 1 && r->next_fill > 1)
        start_workers(r, jobs);
    /* without workers one batch is held until the next one is read, so that the last batch is known
     * to be the last */
    const uint64_t held = r->worker_count > 0 ? r->batch_count - 1 : 1;
    while (r->next_fill - r->next_print > held)
        print_oldest(r, false);
}

/* Prints all that was read so far: a program at the other end of a pipe may wait for it. */
static void print_now(struct resolver *r)
{
    if (r->format == RESOLVE_JSON) /* its end depends on the last stack */
        return;
    while (r->next_print < r->next_fill)
        print_oldest(r, false);
    if (fflush(stdout) != 0)
        r->failed = true;
}

/* Damage ends a document or a record, and a read error any input, so it is not only one bad line.
 */
static bool is_damaged(const struct batch *batch, const struct twinstack_input *input)
{
    const enum twinstack_input_form form = twinstack_input_form(input);

    for (uint32_t i = 0; i < twinstack_batch_count(batch->stacks); i++) {
        const enum twinstack_status status = twinstack_batch_error(batch->stacks, i, NULL);
        if (status == TWINSTACK_IO || (status != TWINSTACK_OK && (form == TWINSTACK_INPUT_JSON ||
                                                                  form == TWINSTACK_INPUT_RECORD)))
            return true;
    }
    return false;
}

/* Reads one input to its end; false when it was empty. */
static bool read_input(struct resolver *r, struct twinstack_input *input, bool named, uint32_t jobs)
{
    enum twinstack_read more = TWINSTACK_READ_MORE;
    bool any = false;

    while (more != TWINSTACK_READ_END && !r->failed && !process_interrupted()) {
        struct batch *batch = &r->batches[r->next_fill % r->batch_count];
        more = twinstack_batch_read(batch->stacks, input, r->symbols);
        if (twinstack_batch_count(batch->stacks) > 0) {
            any = true;
            r->damaged = (named && is_damaged(batch, input)) || r->damaged;
            submit(r, batch, jobs);
        }
        if (more == TWINSTACK_READ_WAITS)
            print_now(r);
    }
    return any;
}

static bool prepare(struct resolver *r, uint32_t jobs)
{
    r->batch_count = jobs > 1 ? jobs * 2 + 2 : 2;
    r->batches = calloc(r->batch_count, sizeof *r->batches);
    r->mutex = mutex_new();
    r->changed = signal_new();
    if (r->batches == NULL || r->mutex == NULL || r->changed == NULL)
        return false;
    for (uint32_t i = 0; i < r->batch_count; i++)
        if ((r->batches[i].stacks = twinstack_batch_new()) == NULL)
            return false;
    if (r->format == RESOLVE_SPEEDSCOPE &&
        (r->speedscope = speedscope_start(stdout, "stacks")) == NULL)
        return false;
    return true;
}

static void finish(struct resolver *r)
{
    while (r->next_print < r->next_fill)
        print_oldest(r, r->next_print + 1 == r->next_fill);
    if (r->format == RESOLVE_JSON && r->printed == 0)
        print_bytes(r, "[]\n", 3);
    if (r->speedscope != NULL && !speedscope_end(r->speedscope))
        r->failed = true;
    if (fflush(stdout) != 0)
        r->failed = true;
}

static void release(struct resolver *r)
{
    if (r->mutex != NULL && r->changed != NULL) {
        mutex_lock(r->mutex);
        r->stopping = true;
        signal_wake_all(r->changed);
        mutex_unlock(r->mutex);
    }
    for (uint32_t i = 0; i < r->worker_count; i++)
        thread_join(r->workers[i]);
    for (uint32_t i = 0; r->batches != NULL && i < r->batch_count; i++)
        twinstack_batch_free(r->batches[i].stacks);
    free(r->batches);
    signal_free(r->changed);
    mutex_free(r->mutex);
}

static int report_empty(const char *path)
{
    struct fault fault = FAULT_INIT;

    fault_set_hint(&fault, ERR_ABSENT, FAULT_NO_OFFSET, "stack", "the file holds none");
    fault_set_path(&fault, path);
    return verb_fault(&fault);
}

/* What people read is one walk of a crash; programs get all. */
static void choose_walker(const struct resolver *r, struct twinstack_input *input)
{
    if (r->walker != NULL || (r->format == RESOLVE_TEXT && !r->all))
        twinstack_input_walker(input, r->walker);
}

static void warn_of_left_out(const struct resolver *r, uint32_t walks)
{
    if (r->left_out > 0)
        log_warn("%" PRIu64 " frames in the middle of stacks were left out: of a stack, the first "
                 "768 and the last 256 are kept",
                 r->left_out);
    if (walks > 0 && r->walker == NULL)
        log_note("%" PRIu32 " more stacks of records, by other walkers or captured on demand: "
                 "--all prints them",
                 walks);
}

/* Most lines are none of a stack. A report has headings, registers and memory around its frames, so
 * that is an error only where no line holds a frame. */
static int report_other_lines(const struct resolver *r)
{
    (r->frames > 0 ? log_warn : log_error)("%" PRIu64 " of %" PRIu64
                                           " lines hold no frame, such as app.exe!0x1537 or "
                                           "app.exe+0x1537; the first: %s",
                                           r->errors, r->errors + r->frames, r->first_error);
    return r->frames > 0 ? EXIT_GOOD : EXIT_INPUT;
}

/* Resolves all inputs. They stay open until everything is printed, since batches borrow from them.
 */
static int resolve_inputs(struct resolver *r, const struct option_list *files, uint32_t jobs,
                          bool strict)
{
    static const char *const standard[] = {"-"};
    const char *const *paths = files->count > 0 ? files->items : standard;
    const uint32_t count = files->count > 0 ? files->count : 1;
    int code = EXIT_GOOD;
    uint32_t walks = 0;
    struct twinstack_input **inputs = calloc(count, sizeof(*inputs));
    const uint32_t flags = (r->addresses ? TWINSTACK_INPUT_ADDRESSES : 0U) |
                           (r->format == RESOLVE_TEXT ? TWINSTACK_INPUT_PROMPT : 0U);

    if (inputs == NULL)
        return EXIT_INPUT;
    for (uint32_t i = 0; i < count; i++) {
        struct twinstack_error error;
        const bool named = strcmp(paths[i], "-") != 0;
        const enum twinstack_status status =
            twinstack_input_open(paths[i], flags, &inputs[i], &error);
        if (status == TWINSTACK_OK)
            choose_walker(r, inputs[i]);
        if (status != TWINSTACK_OK)
            code = library_fault(status, &error);
        else if (!read_input(r, inputs[i], named, jobs) && named && !process_interrupted())
            code = report_empty(paths[i]);
    }
    finish(r);
    for (uint32_t i = 0; i < count; i++) {
        walks += inputs[i] != NULL ? twinstack_input_left(inputs[i]) : 0;
        twinstack_input_close(inputs[i]);
    }
    free((void *)inputs);
    if (process_interrupted())
        return EXIT_INTERRUPTED;
    if (r->failed) {
        log_error("output could not be written whole");
        return EXIT_INPUT;
    }
    if (r->unchecked && (strict || r->format == RESOLVE_TEXT))
        log_warn("the input states no identity: names are of files that only fit by name "
                 "(`# module NAME CODE_ID DEBUG_ID` states one)");
    if (r->lack != NULL && r->format == RESOLVE_TEXT)
        log_warn("%s", r->lack);
    warn_of_left_out(r, walks);
    if (code == EXIT_GOOD && !r->damaged && r->errors > r->frames)
        code = report_other_lines(r);
    if (code == EXIT_GOOD &&
        (r->damaged || (strict && (r->unresolved || r->unchecked || r->errors > 0))))
        code = EXIT_INPUT;
    return code;
}

/* Reads the options that are words from a list. */
static bool read_words(const struct verb *self, const struct resolve_options *o,
                       enum resolve_format *format, struct twinstack_options *options)
{
    static const char *const formats[] = {
        [RESOLVE_TEXT] = "text",
        [RESOLVE_JSON] = "json",
        [RESOLVE_NDJSON] = "ndjson",
        [RESOLVE_FOLDED] = "folded",
        [RESOLVE_SPEEDSCOPE] = "speedscope",
        [RESOLVE_UNDERSTOOD] = "understood",
    };
    static const char *const spellings[] = {
        [TWINSTACK_NAMES_SHORT] = "short",
        [TWINSTACK_NAMES_FULL] = "full",
        [TWINSTACK_NAMES_DECORATED] = "decorated",
    };
    static const char *const indexings[] = {
        [TWINSTACK_INDEX_NEVER] = "never",
        [TWINSTACK_INDEX_AUTO] = "auto",
        [TWINSTACK_INDEX_ALWAYS] = "always",
    };
    const char *word = o->json ? "json" : o->format;
    if (o->ndjson)
        word = "ndjson";
    const int f = name_index(formats, COUNT_OF(formats), word);
    const int n = name_index(spellings, COUNT_OF(spellings), o->names);
    const int i = name_index(indexings, COUNT_OF(indexings), o->index);

    if (f < 0)
        (void)verb_usage_error(
            self, "there is no format '%s': text, folded, speedscope or understood", word);
    else if (n < 0)
        (void)verb_usage_error(self, "--names is short, full or decorated, not '%s'", o->names);
    else if (o->symbols.arch != NULL && !twinstack_is_arch(o->symbols.arch))
        (void)verb_usage_error(self, "there is no architecture '%s': arm64, x86_64, ...",
                               o->symbols.arch);
    else if (i < 0)
        (void)verb_usage_error(self, "--index is auto, never or always, not '%s'", o->index);
    else {
        *format = (enum resolve_format)f;
        options->names = (enum twinstack_names)n;
        options->indexing = (enum twinstack_indexing)i;
        return true;
    }
    return false;
}

static void choose_form(struct resolver *r, const struct resolve_options *o)
{
    const char *no_colour = getenv("NO_COLOR");

    r->addresses = o->addresses;
    r->all = o->all;
    r->walker = o->walker;
    if (r->addresses)
        r->write_flags |= TWINSTACK_WRITE_MODULES;
    if (file_is_terminal(stdout) && (no_colour == NULL || no_colour[0] == '\0'))
        r->write_flags |= TWINSTACK_WRITE_COLOUR;
}

static int resolve(const struct verb *self, void *given, const struct option_list *files,
                   struct arena *keep)
{
    const struct resolve_options *o = given;
    struct resolver r = {0};
    struct twinstack_options options = {.size = sizeof options};
    struct twinstack_error error;
    int code;

    if (!read_words(self, o, &r.format, &options))
        return EXIT_USAGE;
    if (o->jobs < 1 || o->jobs > VERB_JOBS_MAX)
        return verb_usage_error(self, "-j is 1 to %d", VERB_JOBS_MAX);
    if (r.format == RESOLVE_UNDERSTOOD)
        return resolve_understood(files, keep);
    choose_form(&r, o);
    process_catch_interrupts_until(EXIT_INTERRUPTED);
    const enum twinstack_status status =
        resolve_symbols_open(&o->symbols, &options, &r.symbols, &error);
    if (status != TWINSTACK_OK) {
        code = library_fault(status, &error);
    } else if (!prepare(&r, (uint32_t)o->jobs)) {
        log_error("out of memory");
        code = EXIT_INPUT;
    } else {
        code = resolve_inputs(&r, files, (uint32_t)o->jobs, o->strict);
    }
    release(&r);
    if (r.symbols != NULL) {
        uint64_t ns = 0;
        const uint32_t built = twinstack_indexes_built(r.symbols, &ns);
        index_note(built, ns);
        unused_note(twinstack_unused(r.symbols));
    }
    twinstack_close(r.symbols);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct resolve_options o = {.symbols.csv_base = TWINSTACK_CSV_BASE,
                                .jobs = 1,
                                .format = "text",
                                .names = "short",
                                .index = "auto"};
    const struct option_row rows[] = {
        {"--pdb", OPTION_LIST, &o.symbols.pdbs, "[NAME=]FILE", "a PDB, for the module NAME"},
        {"--csv", OPTION_LIST, &o.symbols.csvs, "[NAME=]FILE",
         "a symbol table as pdbdump prints it"},
        OPTION(CSV_BASE, &o.symbols.csv_base),
        OPTION(SYMBOLS, &o.symbols.roots),
        OPTION(INDEX, &o.index),
        OPTION(CACHE, &o.symbols.cache),
        FETCH_OPTION_ROWS(o.symbols.fetch),
        {"--arch", OPTION_STRING, &o.symbols.arch, "NAME",
         "slice of fat files: arm64, x86_64, ..."},
        {"--addresses", OPTION_FLAG, &o.addresses, NULL,
         "lines are 0xADDRESS, in modules of `# module NAME CODE_ID DEBUG_ID 0xBASE 0xSIZE`"},
        OPTION_AS(ALL, &o.all, "of a record: by each walker, and what was captured on demand"),
        {"--walker", OPTION_STRING, &o.walker, "NAME",
         "of records the stacks of this walker: rtl, dbghelp, dbghelp-own, ..."},
        OPTION(JSON, &o.json),
        OPTION_AS(NDJSON, &o.ndjson, "for each stack"),
        OPTION_WORDS(FORMAT, "text|folded|speedscope|understood", &o.format,
                     "understood: how many frames the input holds, and which line is none"),
        OPTION(NAMES, &o.names),
        OPTION_AS(JOBS, &o.jobs, "batches of stacks; default 1"),
        OPTION_AS(STRICT, &o.strict,
                  "exit with 3 when a frame has no name, or only one by a file's name"),
    };

    return verb_main(self, rows, COUNT_OF(rows), resolve, &o, argc, argv);
}

const struct verb verb_resolve = {
    .name = "resolve",
    .summary = "resolve offset stacks to functions, inline frames, files and lines",
    .usage = "[OPTION...] [FILE...|-]",
    .details =
        "Reads stacks of module!0xOFFSET lines (a line `> label` starts one), the JSON form, one\n"
        "JSON object per line, or a record file; standard input if no FILE is given.  Output is "
        "in\n"
        "input order.  A bad line gives an error and never stops the stream.\n\n"
        "The word before a name is its source: pdb, pdb-public, dwarf, coff, export, csv,\n"
        "breakpad, breakpad-public, ppdb, symtab, nearest, none or mismatch.  A bare FILE\napplies "
        "only to the module with its image's name or, if there is none, to the first module\nof "
        "the input that is not a system module.  FILE is a PDB (also a portable one) or "
        "a\nBreakpad .sym file.\n\n"
        "examples:\n"
        "  twinstack resolve --pdb app.pdb crash.txt\n"
        "  twinstack resolve --csv app.exe=symbols.csv --ndjson - < stacks.txt\n"
        "  twinstack resolve --symbols /srv/symbols -j 2 --ndjson < stacks.ndjson\n"
        "  twinstack resolve --symbols 'srv*cache*https://symbols.example/' crash.txt",
    .exits =
        "  0  done, even if frames have no name or a stream has bad lines\n"
        "  2  usage\n"
        "  3  a named file is missing, damaged or unsupported, or no line holds a frame; with\n"
        "     --strict also frames without a name and bad lines\n"
        "  130  interrupted",
    .run = run,
};
