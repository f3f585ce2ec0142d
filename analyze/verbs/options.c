/* Options of verbs, parsed by their table.  See verb.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/text.h"
#include "verbs/common.h"
#include "verbs/help.h"
#include "verbs/nearest.h"
#include "verbs/output.h"
#include "verbs/verb.h"

static const struct option_row *find_row(const struct option_row *rows, size_t row_count,
                                         const char *word, size_t length)
{
    for (size_t i = 0; i < row_count; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, word, length) == 0)
            return &rows[i];
    return NULL;
}

/* "250", "250ms", "20s", "2m", "1h" */
static bool parse_duration(const char *text, uint64_t *out)
{
    static const struct {
        const char *suffix;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"", 1}};
    const size_t digits = strspn(text, "0123456789");
    uint64_t value = 0;

    if (!text_parse_uint(text, digits, &value))
        return false;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(text + digits, units[i].suffix) != 0)
            continue;
        if (value > UINT64_MAX / units[i].ms)
            return false;
        *out = value * units[i].ms;
        return true;
    }
    return false;
}

static bool list_add(struct option_list *list, const char *item, struct arena *keep)
{
    uint32_t room = list->count;
    if (!ARENA_ROOM(keep, list->items, room, (uint64_t)list->count + 1))
        return false;
    list->items[list->count++] = item;
    return true;
}

/* "ob0,ob2" */
static bool list_add_words(struct option_list *list, const char *text, struct arena *keep)
{
    for (;;) {
        const size_t length = strcspn(text, ",");
        const char *word = arena_printf(keep, "%.*s", (int)length, text);
        if (word == NULL || !list_add(list, word, keep))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

static bool takes_no_value(const struct option_row *row)
{
    const enum option_kind kind =
        row->kind == OPTION_OLD ? ((const struct option_old *)row->value)->kind : row->kind;
    return kind == OPTION_FLAG;
}

/* `--json out.json`, as `report` was documented once.  The next word may be a run, whose name is
 * none of these. */
static bool is_old_file(const char *word)
{
    const size_t length = strlen(word);
    return strcmp(word, "-") == 0 || word[0] == '/' || strncmp(word, "./", 2) == 0 ||
           strncmp(word, "../", 3) == 0 || (length > 5 && strcmp(word + length - 5, ".json") == 0);
}

static bool take_value(const struct option_row *row, const char *text, struct arena *keep)
{
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)row->value = true;
        return true;
    case OPTION_STRING:
    case OPTION_FLAG_OR_FILE:
        *(const char **)row->value = text;
        return true;
    case OPTION_UINT:
        return text_parse_uint(text, strlen(text), row->value) ||
               (strncmp(text, "0x", 2) == 0 && text_parse_hex(text, strlen(text), row->value));
    case OPTION_DURATION_MS:
        return parse_duration(text, row->value);
    case OPTION_PROGRESS:
        return log_progress_as(text);
    case OPTION_OUTPUT:
        return output_to(text);
    case OPTION_LIST:
        return list_add(row->value, text, keep);
    case OPTION_COMMAS:
        return list_add_words(row->value, text, keep);
    case OPTION_OLD: {
        const struct option_old *old = row->value;
        const struct option_row meant = {row->name, old->kind, old->value, row->argument, NULL};
        log_note("%s is an old form of %s", row->name, old->instead);
        return take_value(&meant, text, keep);
    }
    }
    return false;
}

static const char *nearest_option(const struct option_row *rows, size_t row_count, const char *word,
                                  size_t length)
{
    struct nearest nearest;
    nearest_begin(&nearest, word, length);
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].kind != OPTION_OLD)
            nearest_look(&nearest, rows[i].name);
    nearest_look(&nearest, "--help");
    return nearest.name;
}

/* Takes one option at argv[*at]; moves *at over a separate value.  False after a usage error. */
static bool take_option(const struct verb *self, const struct option_row *rows, size_t row_count,
                        int argc, char **argv, int *at, struct arena *keep)
{
    const char *word = argv[*at];
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    const size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const struct option_row *row = find_row(rows, row_count, word, length);
    const char *value = equals != NULL ? equals + 1 : NULL;

    if (row == NULL && word[1] != '-') { /* "-j4" */
        row = find_row(rows, row_count, word, 2);
        value = word + 2;
        if (row != NULL && takes_no_value(row))
            row = NULL;
    }
    if (row == NULL) {
        const char *near = nearest_option(rows, row_count, word, length);
        (void)verb_usage_error(self, "there is no option '%.*s'%s%s%s", (int)length, word,
                               near != NULL ? ", did you mean " : "", near != NULL ? near : "",
                               near != NULL ? "?" : "");
        return false;
    }
    if (row->kind == OPTION_FLAG_OR_FILE) {
        if (value == NULL && *at + 1 < argc && is_old_file(argv[*at + 1]))
            value = argv[++*at];
        if (value != NULL)
            log_note("%s FILE is an old form of %s -o FILE", row->name, row->name);
        else
            value = "-";
    } else if (takes_no_value(row)) {
        if (value != NULL) {
            (void)verb_usage_error(self, "%s takes no value", row->name);
            return false;
        }
    } else if (value == NULL) {
        if (*at + 1 >= argc) {
            (void)verb_usage_error(self, "%s needs a value: %s", row->name, row->argument);
            return false;
        }
        value = argv[++*at];
    }
    if (!take_value(row, value, keep)) {
        (void)verb_usage_error(self, "%s cannot take '%s' (expected %s)", row->name, value,
                               row->argument);
        return false;
    }
    return true;
}

/* The rows that a verb states and those of every verb, in KEEP; the old forms are last, so that
 * *shown rows are for help. NULL: out of memory. */
static struct option_row *all_rows(const struct option_row *rows, size_t row_count,
                                   struct arena *keep, size_t *count, size_t *shown)
{
    const struct option_row everywhere[] = {OPTION(OUTPUT, NULL)};
    struct option_row *all = ARENA_ARRAY(keep, row_count + COUNT_OF(everywhere), struct option_row);
    size_t n = 0;
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].kind != OPTION_OLD)
            all[n++] = rows[i];
    for (size_t i = 0; i < COUNT_OF(everywhere); i++)
        all[n++] = everywhere[i];
    *shown = n;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].kind == OPTION_OLD)
            all[n++] = rows[i];
    *count = n;
    return all;
}

bool options_parse(const struct verb *self, const struct option_row *own, size_t own_count,
                   int argc, char **argv, struct arena *keep, struct option_list *rest,
                   int *exit_code)
{
    bool options_ended = false;
    size_t count = 0, shown = 0;
    const struct option_row *rows = all_rows(own, own_count, keep, &count, &shown);

    rest->count = 0;
    rest->items = NULL;
    *exit_code = EXIT_INPUT;
    if (rows == NULL)
        return false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            if (!list_add(rest, word, keep))
                return false;
        } else if (strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help_print(self, rows, shown);
            *exit_code = EXIT_GOOD;
            return false;
        } else if (!take_option(self, rows, count, argc, argv, &i, keep)) {
            *exit_code = EXIT_USAGE;
            return false;
        }
    }
    *exit_code = EXIT_GOOD;
    return true;
}

/* "db: list, import FILE or prune": what there is; and what NAME (NULL: none) was meant to be. */
static int refuse_subcommand(const struct verb *self, const char *name)
{
    char text[512] = "";
    struct nearest nearest;
    nearest_begin(&nearest, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
    for (const struct subcommand *s = self->subcommands; s->name != NULL; s++) {
        const size_t used = strlen(text);
        const char *between = s[1].name != NULL ? ", " : " or ";
        if (s == self->subcommands)
            between = "";
        (void)snprintf(text + used, sizeof text - used, "%s%s%s%s", between, s->name,
                       s->usage != NULL ? " " : "", s->usage != NULL ? s->usage : "");
        nearest_look(&nearest, s->name);
    }
    if (nearest.name != NULL && nearest.distance > 0)
        return verb_usage_error(self, "there is no '%s %s', did you mean %s?", self->name, name,
                                nearest.name);
    return verb_usage_error(self, "what to do: %s", text);
}

int subcommand_run(const struct verb *self, const char *otherwise, void *options,
                   const struct option_list *rest, struct arena *keep)
{
    const char *name = rest->count > 0 ? rest->items[0] : otherwise;
    const struct option_list words = {rest->items + (rest->count > 0),
                                      rest->count - (rest->count > 0)};
    for (const struct subcommand *s = self->subcommands; name != NULL && s->name != NULL; s++)
        if (strcmp(s->name, name) == 0 && words.count >= s->least && words.count <= s->most)
            return s->run(self, options, &words, keep);
    return refuse_subcommand(self, name);
}

int verb_usage_error(const struct verb *self, const char *format, ...)
{
    char text[512];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    log_error("%s; see `twinstack %s --help`", text, self->name);
    return EXIT_USAGE;
}

bool verb_takes_no_words(const struct verb *self, const struct option_list *words)
{
    if (words->count > 0)
        (void)verb_usage_error(self, "'%s' is too many", words->items[0]);
    return words->count == 0;
}

int verb_fault(const struct fault *fault)
{
    log_fault(fault);
    switch (fault->code) {
    case ERR_NONE:
        return EXIT_GOOD;
    case ERR_USAGE:
        return EXIT_USAGE;
    case ERR_TIMEOUT:
        return EXIT_TIME_LIMIT;
    case ERR_INTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_INPUT;
    }
}

int verb_main(const struct verb *self, const struct option_row *rows, size_t row_count,
              verb_body *body, void *options, int argc, char **argv)
{
    struct option_list words;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, row_count, argc, argv, &keep, &words, &code))
        code = body(self, options, &words, &keep);
    arena_free(&keep);
    return code;
}

struct choice {
    const char *otherwise;
    void *options;
};

static int run_choice(const struct verb *self, void *options, const struct option_list *words,
                      struct arena *keep)
{
    const struct choice *choice = options;
    return subcommand_run(self, choice->otherwise, choice->options, words, keep);
}

int subcommand_main(const struct verb *self, const char *otherwise, const struct option_row *rows,
                    size_t row_count, void *options, int argc, char **argv)
{
    struct choice choice = {otherwise, options};
    return verb_main(self, rows, row_count, run_choice, &choice, argc, argv);
}
