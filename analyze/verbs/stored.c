/* Stored runs for verbs: see stored.h. */
#include "verbs/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"

int stored_fault(const struct fault *fault, bool database)
{
    if (!database)
        return verb_fault(fault);
    log_fault(fault);
    return fault->code == ERR_USAGE ? EXIT_USAGE : EXIT_DATABASE;
}

bool stored_open(const char *path, enum store_mode mode, struct store **out, int *exit_code)
{
    struct fault fault = FAULT_INIT;
    if (store_open(path, mode == STORE_READ ? STORE_READ_OLD : mode, out, &fault) == ERR_NONE)
        return true;
    *exit_code = stored_fault(&fault, true);
    return false;
}

static enum status read_cases(struct store *store, uint64_t run_id, bool with_stacks,
                              struct arena *keep, struct stored_run *out, struct fault *fault)
{
    struct case_query query = {.run_id = run_id, .limit = STORE_PAGE_MAX};
    out->case_count = 0;
    do {
        struct case_page page;
        if (store_list_cases(store, &query, keep, &page, fault) != ERR_NONE)
            return fault->code;
        if (out->cases == NULL)
            out->cases = ARENA_ARRAY(keep, (size_t)page.total + 1, struct run_case);
        if (out->cases == NULL)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases of a run");
        for (uint32_t i = 0; i < page.count; i++) {
            struct run_case *c = &out->cases[out->case_count++];
            *c = page.cases[i];
            if (with_stacks && store_read_case(store, page.cases[i].id, keep, c, fault) != ERR_NONE)
                return fault->code;
        }
        query.after = page.next;
    } while (query.after != 0);
    return ERR_NONE;
}

enum status stored_read(struct store *store, const char *word, bool with_stacks, struct arena *keep,
                        struct stored_run *out, struct fault *fault)
{
    uint64_t id = 0;
    memset(out, 0, sizeof *out);
    if (store_find_run(store, word, &id, fault) != ERR_NONE ||
        store_read_run(store, id, keep, &out->info, fault) != ERR_NONE)
        return fault->code;
    return read_cases(store, id, with_stacks, keep, out, fault);
}

enum status stored_read_any(struct store *store, const char *word, struct arena *keep,
                            struct stored_run *out, struct fault *fault)
{
    const char *colon = strrchr(word, ':');
    const char *path = colon != NULL ? arena_text(keep, word, (size_t)(colon - word)) : word;
    if (path_is_file(word)) {
        path = word;
        colon = NULL;
    }
    if (path == NULL || !path_is_file(path))
        return stored_read(store, word, false, keep, out, fault);
    struct store *other = NULL;
    if (store_open(path, STORE_READ_OLD, &other, fault) == ERR_NONE)
        (void)stored_read(other, colon != NULL ? colon + 1 : "latest", false, keep, out, fault);
    store_close(other);
    return fault->code;
}

enum status stored_read_before(struct store *store, const char *word, const struct run_info *now,
                               struct arena *keep, struct stored_run *out, struct fault *fault)
{
    uint64_t id = 0;
    if (strcmp(word, "baseline") != 0)
        return stored_read_any(store, word, keep, out, fault);
    if (store_get_baseline(store, now->branch, now->platform, &id, fault) != ERR_NONE)
        return fault->code;
    return stored_read(store, arena_printf(keep, "%" PRIu64, id), false, keep, out, fault);
}

/* Reads back what was written to STREAM, and puts it in place whole. */
static enum status put_in_place(const char *path, FILE *stream, struct fault *fault)
{
    const long bytes = ftell(stream);
    char *text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
    if (text == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "report");
    if (fseek(stream, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)bytes, stream) != (size_t)bytes)
        (void)fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "report");
    else
        (void)file_write(path, text, (size_t)bytes, fault);
    free(text);
    return fault->code;
}

enum status stored_write(const char *path, stored_write_fn *write, const void *context,
                         struct fault *fault)
{
    if (strcmp(path, "-") == 0)
        return write(context, stdout, fault);
    FILE *stream = tmpfile();
    if (stream == NULL)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    if (write(context, stream, fault) == ERR_NONE)
        (void)put_in_place(path, stream, fault);
    (void)fclose(stream);
    return fault->code;
}
