/* twinstack resolve: offset stacks to logical frames, as a filter.
 *
 * Stacks are read into batches in input order; each batch is resolved and written to memory,
 * by workers when -j asks for them, and printed in the order in which it was read.  A ring of
 * batches bounds the memory, however long the stream is. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "model/names.h"
#include "report/speedscope.h"
#include "symbol/csv.h"
#include "symbol/store.h"
#include "verbs/fetch_options.h"
#include "verbs/index_note.h"
#include "verbs/resolve_write.h"
#include "verbs/verbs.h"

enum { BATCH_STACKS = 64, BATCH_FRAMES = 4096, BATCH_KEEP_BYTES = 1 << 22 };

enum batch_state { BATCH_FREE, BATCH_READY, BATCH_TAKEN, BATCH_DONE };

struct batch {
    struct arena keep;
    struct json json; /* a buffer that is kept from batch to batch */
    bool unresolved, unchecked, failed;
    enum frame_note lack; /* of a frame with a name, why others may be missing; NOTE_NONE */
    enum batch_state state;
    uint32_t count;
    struct stack_item items[BATCH_STACKS];
    struct stack resolved[BATCH_STACKS]; /* those of items without a fault */
    size_t ends[BATCH_STACKS];           /* where each item's text ends    */
    struct text_out text;
};

struct resolver {
    struct symbol_store *store;
    enum resolve_format format;
    bool colour;
    bool by_name; /* a file may be chosen by its name: there are roots to search */
    struct batch *batches;
    uint32_t batch_count, worker_count;
    uint64_t next_fill, next_take, next_print; /* batch numbers; modulo batch_count */
    struct thread *workers[VERB_JOBS_MAX];
    struct mutex *mutex;
    struct signal *changed;
    bool stopping;
    struct speedscope *speedscope;
    uint64_t printed; /* items */
    bool unresolved, unchecked, bad_input, damaged, failed;
    enum frame_note lack;
    bool addresses;
};

struct resolve_options {
    struct option_list pdbs, csvs, roots;
    uint64_t csv_base, jobs;
    const char *format, *names, *arch, *cache, *index;
    bool json, ndjson, strict, addresses;
    struct fetch_words fetch;
};

static void write_item(struct resolver *r, struct batch *batch, uint32_t i)
{
    const struct stack_item *item = &batch->items[i];
    const bool faulty = item->fault.code != ERR_NONE;
    struct json *j = &batch->json;

    switch (r->format) {
    case RESOLVE_TEXT:
        if (faulty)
            resolve_write_text_fault(&batch->text, item, r->colour);
        else
            resolve_write_text(&batch->text, &batch->resolved[i], item->goes_on, r->colour);
        break;
    case RESOLVE_JSON:
    case RESOLVE_NDJSON:
        if (faulty)
            stack_item_write_error(j, item);
        else if (r->addresses)
            j->failed =
                !resolve_write_loaded(j, &batch->resolved[i], r->store, &batch->keep) || j->failed;
        else
            stack_write_json(j, &batch->resolved[i]);
        if (r->format == RESOLVE_NDJSON)
            json_newline(j);
        j->has_item[0] = false;
        break;
    case RESOLVE_FOLDED:
        if (!faulty)
            resolve_write_folded(&batch->text, &batch->resolved[i]);
        break;
    case RESOLVE_SPEEDSCOPE: /* its frames are numbered in order, so it is written when it is
                                printed */
        break;
    }
    batch->ends[i] = j->bytes;
}

static bool is_lack(enum frame_note note)
{
    return note == NOTE_SPLIT_MISSING || note == NOTE_IMAGE_PART_DAMAGED ||
           note == NOTE_PDB_PART_DAMAGED;
}

/* A name is unchecked when a file was chosen for it by its name alone. */
static void judge_frame(struct resolver *r, struct batch *batch, const struct frame *frame)
{
    if (is_lack(frame->note))
        batch->lack = frame->note;
    if (frame->function == NULL)
        batch->unresolved = true;
    else if (r->by_name && !batch->unchecked && frame->module != NULL &&
             frame->symbols != SYMBOLS_JIT && frame->identity == IDENTITY_UNCHECKED)
        batch->unchecked = !symbol_store_is_bound(r->store, frame->module->name);
}

static void resolve_batch(struct resolver *r, struct batch *batch)
{
    text_restart(&batch->text);
    batch->json.bytes = 0;
    batch->unresolved = false;
    batch->unchecked = false;
    batch->lack = NOTE_NONE;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct stack_item *item = &batch->items[i];
        struct stack *out = &batch->resolved[i];
        if (item->fault.code == ERR_NONE)
            (void)symbol_resolve_stack(r->store, &item->stack, &batch->keep, out, &item->fault);
        if (item->fault.code == ERR_NONE)
            for (uint32_t k = 0; k < out->frame_count; k++)
                judge_frame(r, batch, &out->frames[k]);
        write_item(r, batch, i);
    }
    batch->failed = batch->text.failed || batch->json.failed;
}

static void print_bytes(struct resolver *r, const char *text, size_t bytes)
{
    if (bytes > 0 && fwrite(text, 1, bytes, stdout) != bytes)
        r->failed = true;
}

/* One stack is a document; several are an array of them. */
static void print_json(struct resolver *r, const struct batch *batch, bool last)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const size_t start = i > 0 ? batch->ends[i - 1] : 0;
        const bool alone = r->printed == 0 && i == 0 && batch->count == 1 && last;
        if (!alone)
            print_bytes(r, r->printed + i == 0 ? "[\n" : ",\n", 2);
        print_bytes(r, batch->json.text + start, batch->ends[i] - start);
        if (last && i + 1 == batch->count)
            print_bytes(r, alone ? "\n" : "\n]\n", alone ? 1 : 3);
    }
}

/* Prints the next batch, which is done. LAST: no other follows. */
static void print_batch(struct resolver *r, struct batch *batch, bool last)
{
    r->unresolved = r->unresolved || batch->unresolved;
    r->unchecked = r->unchecked || batch->unchecked;
    r->lack = r->lack != NOTE_NONE ? r->lack : batch->lack;
    r->failed = r->failed || batch->failed;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct fault *fault = &batch->items[i].fault;
        r->bad_input = r->bad_input || fault->code != ERR_NONE;
        if (fault->code != ERR_NONE && r->format >= RESOLVE_FOLDED)
            log_fault(fault);
        if (fault->code == ERR_NONE && r->speedscope != NULL &&
            !speedscope_add(r->speedscope, &batch->resolved[i], 1))
            r->failed = true;
    }
    if (r->format == RESOLVE_JSON)
        print_json(r, batch, last);
    else if (r->format == RESOLVE_NDJSON)
        print_bytes(r, batch->json.text, batch->json.bytes);
    else
        print_bytes(r, batch->text.text, batch->text.bytes);
    r->printed += batch->count;
    batch->count = 0;
    if (batch->keep.used_bytes > BATCH_KEEP_BYTES)
        arena_free(&batch->keep);
    else
        arena_reset(&batch->keep);
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

/* Reads one input to its end; false when it was empty. */
static bool read_input(struct resolver *r, struct stack_input *input, bool named, uint32_t jobs)
{
    bool more = true, any = false;

    if (r->format == RESOLVE_TEXT)
        stack_input_prompt(input);
    while (more && !r->failed && !process_interrupted()) {
        struct batch *batch = &r->batches[r->next_fill % r->batch_count];
        uint32_t frames = 0;
        bool waits = false;
        while (!waits && batch->count < BATCH_STACKS && frames < BATCH_FRAMES) {
            struct stack_item *item = &batch->items[batch->count];
            more = stack_input_next(input, &batch->keep, item);
            if (!more)
                break;
            any = true;
            const enum stack_input_form form = stack_input_form(input);
            if (item->fault.code == ERR_NONE)
                symbol_store_expect(r->store, &item->stack);
            else if (named &&
                     (form == INPUT_JSON || form == INPUT_RECORD || item->fault.code == ERR_IO))
                r->damaged = true;
            frames += item->stack.frame_count;
            batch->count++;
            waits = stack_input_waits(input, 0);
        }
        if (batch->count > 0)
            submit(r, batch, jobs);
        if (waits)
            print_now(r);
    }
    return any;
}

static bool bind(struct symbol_store *store, const char *word, bool csv, uint64_t base,
                 struct fault *fault)
{
    const char *equals = strchr(word, '=');
    char name[256];

    if (equals != NULL && !path_is_file(word) && (size_t)(equals - word) < sizeof name) {
        memcpy(name, word, (size_t)(equals - word));
        name[equals - word] = '\0';
        word = equals + 1;
    } else {
        equals = NULL;
    }
    const char *bound = equals != NULL ? name : NULL;
    return (csv ? symbol_store_bind_csv(store, bound, word, base, fault)
                : symbol_store_bind_pdb(store, bound, word, fault)) == ERR_NONE;
}

static bool open_store(const struct resolve_options *o, enum symbol_names names,
                       enum symbol_indexing indexing, struct symbol_store **out,
                       struct fault *fault)
{
    const struct symbol_store_options options = {
        .roots = o->roots.items,
        .root_count = o->roots.count,
        .names = names,
        .indexing = indexing,
        .arch = object_arch_parse(o->arch),
        .cache = o->cache,
        .system = true,
        .fetch = fetch_options_make(&o->fetch),
    };
    if (symbol_store_open(&options, out, fault) != ERR_NONE)
        return false;
    fetch_options_check(*out);
    for (uint32_t i = 0; i < o->pdbs.count; i++)
        if (!bind(*out, o->pdbs.items[i], false, 0, fault))
            return false;
    for (uint32_t i = 0; i < o->csvs.count; i++)
        if (!bind(*out, o->csvs.items[i], true, o->csv_base, fault))
            return false;
    return true;
}

static bool prepare(struct resolver *r, uint32_t jobs)
{
    r->batch_count = jobs > 1 ? jobs * 2 + 2 : 2;
    r->batches = calloc(r->batch_count, sizeof *r->batches);
    r->mutex = mutex_new();
    r->changed = signal_new();
    if (r->batches == NULL || r->mutex == NULL || r->changed == NULL)
        return false;
    for (uint32_t i = 0; i < r->batch_count; i++) {
        arena_init(&r->batches[i].keep, 0);
        json_to_text(&r->batches[i].json, r->format == RESOLVE_JSON);
    }
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
    for (uint32_t i = 0; r->batches != NULL && i < r->batch_count; i++) {
        arena_free(&r->batches[i].keep);
        text_free(&r->batches[i].text);
        json_free(&r->batches[i].json);
    }
    free(r->batches);
    signal_free(r->changed);
    mutex_free(r->mutex);
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
    struct stack_input **inputs = calloc(count, sizeof(*inputs));

    if (inputs == NULL)
        return EXIT_INPUT;
    for (uint32_t i = 0; i < count; i++) {
        struct fault fault = FAULT_INIT;
        const bool named = strcmp(paths[i], "-") != 0;
        if (stack_input_open_path(paths[i], &inputs[i], &fault) == ERR_NONE && r->addresses)
            stack_input_addresses(inputs[i]);
        if (fault.code == ERR_NONE && !read_input(r, inputs[i], named, jobs) && named &&
            !process_interrupted()) {
            fault_set_hint(&fault, ERR_ABSENT, FAULT_NO_OFFSET, "stack", "the file holds none");
            fault_set_path(&fault, paths[i]);
        }
        if (fault.code != ERR_NONE)
            code = verb_fault(&fault);
    }
    finish(r);
    for (uint32_t i = 0; i < count; i++)
        stack_input_close(inputs[i]);
    free(inputs);
    if (process_interrupted())
        return EXIT_INTERRUPTED;
    if (r->failed) {
        log_error("output could not be written whole");
        return EXIT_INPUT;
    }
    if (r->unchecked && (strict || r->format == RESOLVE_TEXT))
        log_warn("the input states no identity: names are of files that only fit by name "
                 "(`# module NAME CODE_ID DEBUG_ID` states one)");
    if (r->lack != NOTE_NONE && r->format == RESOLVE_TEXT)
        log_warn("%s", frame_note_name(r->lack));
    if (code == EXIT_GOOD &&
        (r->damaged || (strict && (r->unresolved || r->unchecked || r->bad_input))))
        code = EXIT_INPUT;
    return code;
}

static bool read_format(const struct verb *self, const struct resolve_options *o,
                        enum resolve_format *format, enum symbol_names *names)
{
    static const char *const formats[] = {
        [RESOLVE_TEXT] = "text",
        [RESOLVE_JSON] = "json",
        [RESOLVE_NDJSON] = "ndjson",
        [RESOLVE_FOLDED] = "folded",
        [RESOLVE_SPEEDSCOPE] = "speedscope",
    };
    static const char *const spellings[] = {
        [NAMES_SHORT] = "short",
        [NAMES_FULL] = "full",
        [NAMES_DECORATED] = "decorated",
    };
    const char *word = o->ndjson ? "ndjson" : o->json ? "json" : o->format;
    const int f = name_index(formats, COUNT_OF(formats), word);
    const int n = name_index(spellings, COUNT_OF(spellings), o->names);

    if (f < 0)
        (void)verb_usage_error(self, "there is no format '%s': text, folded or speedscope", word);
    else if (n < 0)
        (void)verb_usage_error(self, "--names is short, full or decorated, not '%s'", o->names);
    else if (object_arch_parse(o->arch) == ARCH_OTHER)
        (void)verb_usage_error(self, "there is no architecture '%s': arm64, x86_64, ...", o->arch);
    else {
        *format = (enum resolve_format)f;
        *names = (enum symbol_names)n;
        return true;
    }
    return false;
}

static int resolve(const struct verb *self, void *given, const struct option_list *files,
                   struct arena *keep)
{
    const struct resolve_options *o = given;
    (void)keep;
    struct resolver r = {0};
    struct fault fault = FAULT_INIT;
    enum symbol_names names;
    enum symbol_indexing indexing;
    int code;

    if (!read_format(self, o, &r.format, &names))
        return EXIT_USAGE;
    if (!symbol_indexing_parse(o->index, &indexing))
        return verb_usage_error(self, "--index is auto, never or always, not '%s'", o->index);
    if (o->jobs < 1 || o->jobs > VERB_JOBS_MAX)
        return verb_usage_error(self, "-j is 1 to %d", VERB_JOBS_MAX);
    const char *no_colour = getenv("NO_COLOR");
    r.colour = file_is_terminal(stdout) && (no_colour == NULL || no_colour[0] == '\0');
    process_catch_interrupts();
    if (!open_store(o, names, indexing, &r.store, &fault)) {
        code = verb_fault(&fault);
    } else if (!prepare(&r, (uint32_t)o->jobs)) {
        log_error("out of memory");
        code = EXIT_INPUT;
    } else {
        r.by_name = o->roots.count > 0;
        r.addresses = o->addresses;
        code = resolve_inputs(&r, files, (uint32_t)o->jobs, o->strict);
    }
    release(&r);
    index_note_of(r.store);
    symbol_store_close(r.store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct resolve_options o = {.csv_base = CSV_BASE_DEFAULT,
                                .jobs = 1,
                                .format = "text",
                                .names = "short",
                                .index = "auto"};
    const struct option_row rows[] = {
        {"--pdb", OPTION_LIST, &o.pdbs, "[NAME=]FILE", "a PDB, for the module NAME"},
        {"--csv", OPTION_LIST, &o.csvs, "[NAME=]FILE", "a symbol table as pdbdump prints it"},
        {"--csv-base", OPTION_UINT, &o.csv_base, "ADDRESS",
         "load base of the addresses in it (0x400000)"},
        {"--symbols", OPTION_LIST, &o.roots, "DIR|FILE|SRV",
         "symbol store, folder, file, or server: srv*CACHE*URL"},
        {"--index", OPTION_STRING, &o.index, "auto|never|always",
         "use symbol indexes; auto builds them where that saves time"},
        OPTION_CACHE(&o.cache),
        FETCH_OPTION_ROWS(o.fetch),
        {"--arch", OPTION_STRING, &o.arch, "NAME", "slice of fat files: arm64, x86_64, ..."},
        {"--addresses", OPTION_FLAG, &o.addresses, NULL,
         "lines are 0xADDRESS, in modules of `# module NAME CODE_ID DEBUG_ID 0xBASE 0xSIZE`"},
        {"--json", OPTION_FLAG, &o.json, NULL, "one JSON document"},
        {"--ndjson", OPTION_FLAG, &o.ndjson, NULL, "one JSON object per stack, one per line"},
        {"--format", OPTION_STRING, &o.format, "text|folded|speedscope", "output format"},
        {"--names", OPTION_STRING, &o.names, "short|full|decorated",
         "how much of a function's name is printed"},
        {"-j", OPTION_UINT, &o.jobs, "N", "resolve N batches of stacks at once (1)"},
        {"--strict", OPTION_FLAG, &o.strict, NULL,
         "exit with 3 when a frame has no name, or only one by a file's name"},
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
    .exits = "  0  done, even if frames have no name or a stream has bad lines\n"
             "  2  usage\n"
             "  3  a named file is missing, damaged or unsupported; with --strict also frames\n"
             "     without a name and bad lines\n"
             "  130  interrupted",
    .run = run,
};
