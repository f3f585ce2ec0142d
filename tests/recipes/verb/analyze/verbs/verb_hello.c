/* twinstack hello: an example verb that prints a greeting. */
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
        const char *name = rest.count > 0 ? rest.items[0] : "world";
        if (as_json) {
            struct json j;
            json_to_stream(&j, stdout, true);
            json_object(&j);
            json_key_uint(&j, "schema_version", 1);
            json_key_string(&j, "hello", name);
            json_object_end(&j);
            json_newline(&j);
        } else {
            (void)printf("hello %s\n", name);
        }
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_hello = {
    .name = "hello",
    .summary = "greets",
    .usage = "[NAME] [--json]",
    .details = NULL,
    .exits = "  0  always",
    .run = run,
};
