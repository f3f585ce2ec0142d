/* twinstack hello: an example verb that prints a greeting. */
#include <stdio.h>

#include "base/array.h"
#include "base/json.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

static int hello(const struct verb *self, void *given, const struct option_list *words,
                 struct arena *keep)
{
    const bool *as_json = given;
    const char *name = words->count > 0 ? words->items[0] : "world";
    struct json j;
    (void)self;
    (void)keep;
    if (!*as_json) {
        (void)printf("hello %s\n", name);
        return EXIT_GOOD;
    }
    json_to_stream(&j, stdout, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_string(&j, "hello", name);
    json_object_end(&j);
    json_newline(&j);
    return EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    bool as_json = false;
    const struct option_row rows[] = {
        OPTION(JSON, &as_json),
    };
    return verb_main(self, rows, COUNT_OF(rows), hello, &as_json, argc, argv);
}

const struct verb verb_hello = {
    .name = "hello",
    .summary = "greets",
    .usage = "[NAME] [--json]",
    .details = "example:\n  twinstack hello you",
    .exits = "  0  always",
    .run = run,
};
