/* See pairs.h. */
#include "reporter/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"

enum { FOLDER_DEPTH = 8, TABLE_BYTES_MAX = 64 << 20 };

struct listing {
    struct arena *keep;
    struct pairs *out;
    bool dumps; /* these files are dumps, else stacks */
    struct fault *fault;
};

static const char *const dump_ends[] = {".dmp", ".mdmp", ".hdmp", ".minidump", NULL};
static const char *const other_ends[] = {".exe", ".dll", ".sys", ".pdb", ".sym", NULL};

static bool ends_in(const char *name, const char *const *ends)
{
    const char *dot = strrchr(name, '.');
    for (; dot != NULL && *ends != NULL; ends++)
        if (text_equal_nocase(dot, *ends))
            return true;
    return false;
}

static bool is_dump_name(const char *name)
{
    return ends_in(name, dump_ends);
}

static struct pair *add_pair(struct listing *l, const char *name)
{
    struct pairs *out = l->out;
    if (!ARENA_ROOM(l->keep, out->at, out->room, (uint64_t)out->count + 1) || name == NULL) {
        (void)fault_no_memory(l->fault, "pairs");
        return NULL;
    }
    out->at[out->count] = (struct pair){.name = name};
    return &out->at[out->count++];
}

/* PATH without the folder it was found in and without what follows the last dot. */
static char *stem_of(const char *below, struct arena *keep)
{
    const char *dot = strrchr(path_base(below), '.');
    return arena_text(keep, below,
                      dot != NULL && dot != path_base(below) ? (size_t)(dot - below)
                                                             : strlen(below));
}

static void list_files(struct listing *l, const char *folder, const char *below, int depth)
{
    const char **names;
    size_t count;
    if (folder_list(folder, l->keep, &names, &count, l->fault) != ERR_NONE) {
        fault_set_path(l->fault, folder);
        return;
    }
    for (size_t i = 0; i < count && l->fault->code == ERR_NONE; i++) {
        const char *path = path_join(l->keep, folder, names[i]);
        const char *inside = below[0] == '\0' ? names[i] : path_join(l->keep, below, names[i]);
        if (path == NULL || inside == NULL) {
            (void)fault_no_memory(l->fault, "pairs");
        } else if (path_is_folder(path)) {
            if (depth > 0)
                list_files(l, path, inside, depth - 1);
        } else if (names[i][0] != '.' && is_dump_name(names[i]) == l->dumps &&
                   !ends_in(names[i], other_ends)) {
            struct pair *pair = add_pair(l, stem_of(inside, l->keep));
            if (pair != NULL && l->dumps)
                pair->dump = path;
            else if (pair != NULL)
                pair->stack = path;
        }
    }
}

ARRAY_ORDER_TEXT(by_name, struct pair, name)

/* Makes one pair of a dump and a stack of the same name. Dumps were added first, and sorting keeps
 * the order of equal names. */
static enum status join(struct pairs *out, struct fault *fault)
{
    uint32_t count = 0;
    array_sort(out->at, out->count, sizeof *out->at, by_name);
    for (uint32_t i = 0; i < out->count; i++) {
        const struct pair *next = &out->at[i];
        struct pair *last = count > 0 ? &out->at[count - 1] : NULL;
        if (last == NULL || strcmp(last->name, next->name) != 0) {
            out->at[count++] = *next;
            continue;
        }
        const bool more_stack = next->stack != NULL || next->given != NULL;
        if ((next->dump != NULL && last->dump != NULL) ||
            (more_stack && (last->stack != NULL || last->given != NULL))) {
            (void)fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "pairs",
                                 "two files or stacks have this name: pair them by --pairs");
            fault_set_path(fault, next->name);
            return fault->code;
        }
        if (next->stack != NULL)
            last->stack = next->stack;
        if (next->given != NULL)
            last->given = next->given;
    }
    out->count = count;
    return ERR_NONE;
}

static int by_base(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return strcmp(path_base(x->name), path_base(y->name));
}

/* A label names a dump by its stem, with or without its ending or folder. The first DUMPS pairs
 * are sorted by that. */
static const char *name_of_label(const struct pairs *out, const char *label, uint32_t dumps,
                                 struct arena *keep)
{
    const struct pair wanted = {.name = is_dump_name(label) ? stem_of(label, keep) : label};
    const struct pair *found = wanted.name != NULL && dumps > 0
                                   ? bsearch(&wanted, out->at, dumps, sizeof *out->at, by_base)
                                   : NULL;
    return found != NULL ? found->name : wanted.name;
}

/* Takes the stacks of one file, each under its label. */
static void add_labelled(struct listing *l, const char *path)
{
    struct given_file *shared = &l->out->shared;
    const uint32_t dumps = l->out->count;
    array_sort(l->out->at, dumps, sizeof *l->out->at, by_base);
    if (given_read(path, l->keep, shared, l->fault) != ERR_NONE)
        return;
    if (shared->unreadable != NULL) {
        (void)fault_set_lasting(l->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "file of stacks",
                                shared->unreadable);
        fault_set_path(l->fault, path);
        return;
    }
    for (uint32_t i = 0; i < shared->count; i++) {
        const char *label = shared->stacks[i].label;
        struct pair *pair = add_pair(l, label != NULL ? name_of_label(l->out, label, dumps, l->keep)
                                                      : arena_printf(l->keep, "stack %u", i));
        if (pair == NULL)
            return;
        pair->given = &shared->stacks[i];
        pair->stack = path;
    }
}

/* The next cell of a line of CSV; quotes around it are taken away. */
static char *next_cell(char **at)
{
    char *cell = *at;
    if (cell == NULL)
        return NULL;
    char *end;
    if (*cell == '"') {
        end = strchr(++cell, '"');
        if (end == NULL)
            return NULL;
        *end++ = '\0';
        end += strcspn(end, ",");
    } else {
        end = cell + strcspn(cell, ",");
    }
    *at = *end == ',' ? end + 1 : NULL;
    *end = '\0';
    while (*cell == ' ')
        cell++;
    for (char *last = cell + strlen(cell); last > cell && last[-1] == ' ';)
        *--last = '\0';
    return cell;
}

static const char *below(const char *folder, const char *name, struct arena *keep)
{
    return name[0] == '/' || !path_is_folder(folder) ? name : path_join(keep, folder, name);
}

static bool add_row(struct listing *l, char *line, const char *dumps, const char *stacks)
{
    char *dump = next_cell(&line), *stack = next_cell(&line), *thread = next_cell(&line);
    uint64_t number = 0;
    if (dump == NULL || stack == NULL || (dump[0] == '\0' && stack[0] == '\0') ||
        (thread != NULL && thread[0] != '\0' &&
         !(strncmp(thread, "0x", 2) == 0 ? text_parse_hex(thread, strlen(thread), &number)
                                         : text_parse_uint(thread, strlen(thread), &number))))
        return false;
    const char *name = stem_of(dump[0] != '\0' ? dump : stack, l->keep);
    struct pair *pair =
        add_pair(l, number != 0 && name != NULL
                        ? arena_printf(l->keep, "%s thread %u", name, (uint32_t)number)
                        : name);
    if (pair == NULL)
        return false;
    pair->dump = dump[0] != '\0' ? below(dumps, dump, l->keep) : NULL;
    pair->stack = stack[0] != '\0' ? below(stacks, stack, l->keep) : NULL;
    pair->thread = (uint32_t)number;
    return true;
}

/* `dump,stack,thread`, with or without such a line as head. */
static void add_table(struct listing *l, const char *path, const char *dumps, const char *stacks)
{
    char *text;
    size_t bytes;
    if (file_read(path, TABLE_BYTES_MAX, l->keep, &text, &bytes, l->fault) != ERR_NONE)
        return;
    for (char *line = text; line != NULL && l->fault->code == ERR_NONE;) {
        char *end = line + strcspn(line, "\r\n");
        char *next = *end == '\0' ? NULL : end + strspn(end, "\r\n");
        const uint64_t offset = (uint64_t)(line - text);
        const bool head = offset == 0 && strncmp(line, "dump,stack", 10) == 0;
        *end = '\0';
        if (!head && *line != '\0' && !add_row(l, line, dumps, stacks)) {
            (void)fault_set_hint(l->fault, ERR_MALFORMED, offset, "line of the table of pairs",
                                 "expected: dump,stack,thread");
            fault_set_path(l->fault, path);
        }
        line = next;
    }
}

enum status pairs_find(const char *dumps, const char *stacks, const char *table, struct arena *keep,
                       struct pairs *out, struct fault *fault)
{
    struct listing l = {keep, out, true, fault};
    *out = (struct pairs){.count = 0};
    if (table != NULL) {
        add_table(&l, table, dumps, stacks);
        array_sort(out->at, out->count, sizeof *out->at, by_name);
        return fault->code;
    }
    list_files(&l, dumps, "", FOLDER_DEPTH);
    if (fault->code != ERR_NONE)
        return fault->code;
    l.dumps = false;
    if (path_is_folder(stacks))
        list_files(&l, stacks, "", FOLDER_DEPTH);
    else
        add_labelled(&l, stacks);
    return fault->code == ERR_NONE ? join(out, fault) : fault->code;
}
