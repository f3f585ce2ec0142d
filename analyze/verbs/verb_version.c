/* twinstack version: print the version and how it was built and what it was built with. */
#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/array.h"
#include "base/json.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

static int print(const struct verb *self, void *given, const struct option_list *words,
                 struct arena *keep)
{
    const bool *as_json = given;
    (void)keep;
    if (!verb_takes_no_words(self, words))
        return EXIT_USAGE;
    if (*as_json) {
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
    return EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    bool as_json = false;
    const struct option_row rows[] = {
        OPTION(JSON, &as_json),
    };
    return verb_main(self, rows, COUNT_OF(rows), print, &as_json, argc, argv);
}

const struct verb verb_version = {
    .name = "version",
    .summary = "print the version and how it was built",
    .usage = "[--json]",
    .details = NULL,
    .exits = "  0  printed\n  2  usage",
    .run = run,
};
