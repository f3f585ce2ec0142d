/* twinstack cache: the symbol indexes and downloads that this program keeps for the next time. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/cache.h"
#include "base/json.h"
#include "base/log.h"
#include "report/words.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

struct cache_options {
    const char *folder;
    uint64_t left_mib;
    bool as_json;
};

static void print_text(const struct cache *cache, const struct cache_item *items, uint32_t count,
                       uint64_t bytes)
{
    char text[24], limit[24], when[32];

    for (uint32_t i = 0; i < count; i++)
        (void)printf("%-8s  %8s  %s  %s\n", cache_kind_name(items[i].kind),
                     bytes_text((double)items[i].bytes, text), time_text(items[i].used_ns, when),
                     items[i].key);
    (void)printf("%s: %" PRIu32 " file%s, %s of at most %s\n", cache->folder, count,
                 count == 1 ? "" : "s", bytes_text((double)bytes, text),
                 bytes_text((double)cache->limit_bytes, limit));
}

static void print_json(const struct cache *cache, const struct cache_item *items, uint32_t count,
                       uint64_t bytes)
{
    struct json j;
    char when[32];

    json_to_stream(&j, stdout, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_string(&j, "folder", cache->folder);
    json_key_uint(&j, "limit_bytes", cache->limit_bytes);
    json_key_uint(&j, "bytes", bytes);
    json_key_array(&j, "files");
    for (uint32_t i = 0; i < count; i++) {
        json_object(&j);
        json_key_string(&j, "kind", cache_kind_name(items[i].kind));
        json_key_string(&j, "key", items[i].key);
        json_key_uint(&j, "bytes", items[i].bytes);
        json_key_string(&j, "used", time_text(items[i].used_ns, when));
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
}

static int no_cache(void)
{
    log_error("the cache is turned off: name a folder with --cache or TWINSTACK_CACHE");
    return EXIT_INPUT;
}

static int list(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    const struct cache_options *o = options;
    struct fault fault = FAULT_INIT;
    struct cache_item *items;
    struct cache cache;
    uint64_t bytes = 0;
    uint32_t count;

    (void)self;
    (void)words;
    cache_locate(o->folder, keep, &cache);
    if (cache.folder == NULL)
        return no_cache();
    if (cache_list(&cache, keep, &items, &count, &fault) != ERR_NONE)
        return verb_fault(&fault);
    for (uint32_t i = 0; i < count; i++)
        bytes += items[i].bytes;
    if (o->as_json)
        print_json(&cache, items, count, bytes);
    else
        print_text(&cache, items, count, bytes);
    return EXIT_GOOD;
}

static int clear(const struct verb *self, void *options, const struct option_list *words,
                 struct arena *keep)
{
    const struct cache_options *o = options;
    struct fault fault = FAULT_INIT;
    struct cache cache;
    uint64_t bytes;
    uint32_t count;
    char text[24];

    (void)words;
    if (o->left_mib > UINT64_MAX >> 20)
        return verb_usage_error(self, "--keep-mib is too large");
    cache_locate(o->folder, keep, &cache);
    if (cache.folder == NULL)
        return no_cache();
    if (cache_trim(&cache, o->left_mib << 20, NULL, &count, &bytes, &fault) != ERR_NONE)
        return verb_fault(&fault);
    (void)printf("%s: %" PRIu32 " file%s deleted, %s\n", cache.folder, count, count == 1 ? "" : "s",
                 bytes_text((double)bytes, text));
    return EXIT_GOOD;
}

static const struct subcommand subcommands[] = {
    {"list", NULL, "every file, the least recently used first", 0, 0, list},
    {"clear", NULL, "delete the files, all of them or down to --keep-mib", 0, 0, clear},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct cache_options o = {0};
    struct option_old keep = {OPTION_UINT, &o.left_mib, "--keep-mib N"};
    const struct option_row rows[] = {
        OPTION(CACHE, &o.folder),
        {"--keep-mib", OPTION_UINT, &o.left_mib, "N",
         "clear: delete the least recently used until N MiB are left (default 0)"},
        {"--keep", OPTION_OLD, &keep, "MIB", NULL},
        OPTION_AS(JSON, &o.as_json, "list"),
    };
    return subcommand_main(self, "list", rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_cache = {
    .name = "cache",
    .summary = "list or clear the symbol indexes and downloads kept for later",
    .subcommands = subcommands,
    .details =
        "One folder holds everything that can be made or fetched again: --cache DIR, else\n"
        "TWINSTACK_CACHE, else XDG_CACHE_HOME/twinstack, LOCALAPPDATA/twinstack or\n"
        "~/.cache/twinstack.  The word none in place of DIR turns it off.  When all files "
        "together\n"
        "exceed TWINSTACK_CACHE_LIMIT (in MiB; default 8192), those that were used least recently\n"
        "are deleted.\n\n"
        "examples:\n  twinstack cache list --json\n  twinstack cache clear --keep-mib 500",
    .exits = "  0  done\n  2  usage\n  3  the cache is turned off",
    .run = run,
};
