/* All verbs and their options as one JSON document, for programs that start this one, and for the
 * test that compares the verbs with each other. */
#include "base/json.h"
#include "verbs/common.h"
#include "verbs/help_forms.h"

static struct json document;

static void put_option(struct json *j, const struct option_row *row)
{
    static const char *const kinds[] = {
        [OPTION_FLAG] = "none",        [OPTION_FLAG_OR_FILE] = "none", [OPTION_STRING] = "text",
        [OPTION_PROGRESS] = "text",    [OPTION_OUTPUT] = "text",       [OPTION_UINT] = "number",
        [OPTION_DURATION_MS] = "time", [OPTION_LIST] = "text",         [OPTION_COMMAS] = "words",
        [OPTION_OLD] = NULL,
    };
    const struct common_facts facts = common_facts_of(row);
    json_object(j);
    json_key_string(j, "name", row->name);
    json_key_string(j, "value", kinds[row->kind]);
    json_key_string(j, "argument", row->argument);
    json_key_bool(j, "repeated", row->kind == OPTION_LIST || row->kind == OPTION_COMMAS);
    json_key_bool(j, "common", facts.common);
    json_key_string(j, "help", facts.help);
    json_key_string(j, "note", facts.note);
    json_object_end(j);
}

static void json_verb(const struct verb *self, const struct option_row *rows, size_t row_count)
{
    struct json *const j = &document;
    json_object(j);
    json_key_string(j, "name", self->name);
    json_key_string(j, "summary", self->summary);
    json_key_string(j, "usage", self->usage);
    json_key_array(j, "subcommands");
    for (const struct subcommand *s = self->subcommands; s != NULL && s->name != NULL; s++) {
        json_object(j);
        json_key_string(j, "name", s->name);
        json_key_string(j, "usage", s->usage);
        json_key_string(j, "summary", s->summary);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_array(j, "options");
    for (size_t i = 0; i < row_count; i++)
        put_option(j, &rows[i]);
    json_array_end(j);
    json_object_end(j);
}

void help_json(const struct verb *only)
{
    const struct help_table table = help_verbs();
    json_print_list(&document, "verbs");
    for (size_t i = 0; i < table.count; i++)
        if (only == NULL || only == table.rows[i])
            help_of(table.rows[i], json_verb);
    json_print_list_end(&document);
}
