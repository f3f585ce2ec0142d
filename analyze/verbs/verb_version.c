/* twinstack version: what this program is and what it was built with. */
#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/json.h"
#include "verbs/verbs.h"

static int run(const struct verb *self, int argc, char **argv)
{
    bool as_json = false;
    const struct option_row rows[] = {
        {"--json", OPTION_FLAG, &as_json, NULL, "one JSON document"},
    };
    struct arena keep;
    struct option_list rest;
    int code = EXIT_GOOD;

    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        if (as_json) {
            struct json j;
            json_to_stream(&j, stdout, true);
            json_object(&j);
            json_key_uint(&j, "schema_version", 1);
            json_key_string(&j, "version", TWINSTACK_VERSION);
            json_key_string(&j, "cjson", cJSON_Version());
            json_object_end(&j);
            json_newline(&j);
        } else {
            (void)printf("twinstack %s\n", TWINSTACK_VERSION);
        }
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_version = {
    .name = "version",
    .summary = "what this program is",
    .usage = "[--json]",
    .details = NULL,
    .exits = "  0  always",
    .run = run,
};
