/* See shadow_json.h. */
#include "study/shadow_json.h"

static void write_engine(struct json *j, const struct shadow_total *total)
{
    json_object(j);
    json_key_string(j, "engine", total->engine);
    json_key_string(j, "against", total->against);
    json_key_uint(j, "same", total->same);
    json_key_uint(j, "differs", total->differs);
    json_key_uint(j, "failed", total->failed);
    json_key_uint(j, "median_ns", total->median_ns);
    json_key_array(j, "hours");
    for (uint32_t i = 0; i < total->hour_count; i++) {
        json_object(j);
        json_key_string(j, "hour", total->hours[i].hour);
        json_key_uint(j, "judged", total->hours[i].judged);
        json_key_uint(j, "agreed", total->hours[i].agreed);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void write_cause(struct json *j, const struct shadow_cause *cause)
{
    json_object(j);
    json_key_string(j, "engine", cause->engine);
    json_key_string(j, "result", shadow_result_name(cause->result));
    json_key_string(j, "cause", cause->cause);
    json_key_string(j, "module", cause->module);
    json_key_uint(j, "count", cause->count);
    json_key_string(j, "first_hour", cause->first_hour);
    json_key_string(j, "last_hour", cause->last_hour);
    json_key_string(j, "report", cause->report);
    json_object_end(j);
}

void shadow_write_json(struct json *j, const struct shadow_list *list)
{
    json_object(j);
    json_key_uint(j, "reports", list->reports);
    json_key_array(j, "verdicts");
    for (uint32_t i = 0; i < list->verdict_count; i++) {
        json_object(j);
        json_key_string(j, "verdict", list->verdicts[i].verdict);
        json_key_uint(j, "count", list->verdicts[i].count);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_array(j, "engines");
    for (uint32_t i = 0; i < list->engine_count; i++)
        write_engine(j, &list->engines[i]);
    json_array_end(j);
    json_key_array(j, "causes");
    for (uint32_t i = 0; i < list->cause_count; i++)
        write_cause(j, &list->causes[i]);
    json_array_end(j);
    json_object_end(j);
}
