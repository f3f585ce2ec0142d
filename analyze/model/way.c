/* See way.h. */
#include "model/way.h"

#include "model/names.h"

static const char *const names[WAY_COUNT] = {"foreign", "dump", "tuned", "offset"};

const char *case_way_name(enum case_way way)
{
    return names[way];
}

enum case_way case_way_parse(const char *text)
{
    const int found = name_index(names, WAY_COUNT, text);
    return found < 0 ? WAY_COUNT : (enum case_way)found;
}

static void write_parts(struct json *j, const char *key, const struct way_parts *parts)
{
    json_key_object(j, key);
    json_key_uint(j, "whole_ns", parts->whole_ns);
    json_key_uint(j, "open_ns", parts->open_ns);
    json_key_uint(j, "unwind_ns", parts->unwind_ns);
    json_key_uint(j, "load_ns", parts->load_ns);
    json_key_uint(j, "resolve_ns", parts->resolve_ns);
    json_key_uint(j, "own_ns", parts->own_ns);
    json_key_uint(j, "even_ns", parts->even_ns);
    json_key_uint(j, "odd_ns", parts->odd_ns);
    json_object_end(j);
}

static void write_first(struct json *j, const struct way_first *first)
{
    json_key_object(j, "first");
    json_key_uint(j, "whole_ns", first->whole_ns);
    json_key_uint(j, "even_ns", first->even_ns);
    json_key_uint(j, "odd_ns", first->odd_ns);
    json_object_end(j);
}

void way_costs_write_json(struct json *j, const struct way_cost *ways)
{
    json_array(j);
    for (int way = 0; ways != NULL && way < WAY_COUNT; way++) {
        if (ways[way].frames == 0)
            continue;
        json_object(j);
        json_key_string(j, "way", names[way]);
        json_key_uint(j, "frames", ways[way].frames);
        json_key_bool(j, "same_frames", ways[way].same != 0);
        write_parts(j, "cold", &ways[way].cold);
        write_parts(j, "warm", &ways[way].warm);
        write_first(j, &ways[way].first);
        json_object_end(j);
    }
    json_array_end(j);
}
