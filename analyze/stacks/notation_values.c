/* JSON with a value that is a text of frames, and Windows' events as JSON:
 *
 *   Message                          of an event, by PowerShell's Get-WinEvent
 *   message                          of an event, by Winlogbeat; of logs
 *   Event.EventData                  of an event, by evtx_dump
 *   winlog.event_data                of an event, by Winlogbeat
 *   error.stack, error.stack_trace   of an error, by Datadog and by Elastic
 *   data.body.crash_report.raw       a report of Apple's systems, by Rollbar
 *   exception.stacktrace             an attribute of OpenTelemetry's events
 *
 * The data of an event have names since Windows 11; before, the fourth is the module and the eighth
 * the offset.
 *
 * Facts: the documents of these programs; learn.microsoft.com, "Application Error" (1000). */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/json_documents.h"

enum { PLACE_NAMES = 4 };
typedef const char *const place[PLACE_NAMES];

static const cJSON *at_place(const cJSON *at, place names)
{
    for (size_t i = 0; i < PLACE_NAMES && names[i] != NULL; i++)
        at = cJSON_GetObjectItemCaseSensitive(at, names[i]);
    return at;
}

static const cJSON *first_of(const cJSON *object, place *places, size_t count)
{
    const cJSON *found = NULL;
    for (size_t i = 0; found == NULL && i < count; i++)
        found = at_place(object, places[i]);
    return found;
}

/* The data of an event that name a module; NULL: there are none. */
static const cJSON *data_of(const cJSON *object)
{
    static place places[] = {{"Event", "EventData"}, {"winlog", "event_data"}, {"EventData"}};
    return first_of(object, places, COUNT_OF(places));
}

/* The value of one of the NAMES in DATA, or the one at INDEX of a list that they are. */
static const char *value_of(const cJSON *data, const char *name, const char *number, int index)
{
    static place lists[] = {{"Data", "#text"}, {"Data"}};
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(data, name);
    if (value == NULL)
        value = cJSON_GetObjectItemCaseSensitive(data, number);
    if (value == NULL)
        value = cJSON_GetArrayItem(first_of(data, lists, COUNT_OF(lists)), index);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

static bool read_data(struct stack_input *input, const cJSON *data)
{
    enum { MODULE = 3, OFFSET = 7 };
    struct frame frame = {.found_by = FOUND_GIVEN, .identity = IDENTITY_UNCHECKED};
    const char *module = value_of(data, "ModuleName", "param4", MODULE);
    const char *offset = value_of(data, "FaultingOffset", "param8", OFFSET);
    uint64_t number;
    if (module == NULL || offset == NULL || !text_parse_hex(offset, strlen(offset), &number) ||
        !spelled_offset(input, (struct pattern_text){module, module + strlen(module)}, number,
                        &frame))
        return false;
    builder_add(&input->builder, frame);
    return true;
}

static const char *text_of(const cJSON *object)
{
    static place places[] = {{"error", "stack"},
                             {"error", "stack_trace"},
                             {"data", "body", "crash_report", "raw"},
                             {"attributes", "exception.stacktrace"},
                             {"exception.stacktrace"},
                             {"Message"},
                             {"message"}};
    const cJSON *text = first_of(object, places, COUNT_OF(places));
    return cJSON_IsString(text) ? text->valuestring : NULL;
}

static bool is_object(const cJSON *object)
{
    static const char *const others[] = {"threads",    "exception",  "stack",
                                         "stacktrace", "stackTrace", "backtrace"};
    if (json_is_own(object))
        return false;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (cJSON_GetObjectItemCaseSensitive(object, others[i]) != NULL)
            return false;
    return text_of(object) != NULL || cJSON_IsObject(data_of(object));
}

/* An event has its data in both forms. */
static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    const char *text = text_of(walk);
    if (!read_data(input, data_of(walk)) && text != NULL && !text_read_value(input, text))
        fault_set_hint(&out->fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "text of a stack",
                       "it holds several stacks: give the text alone");
    if (input->builder.count == 0 && out->fault.code == ERR_NONE)
        fault_set_hint(&out->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack",
                       "there are no threads, stacks or frames");
    json_end_walk(input, keep, &out->stack, &out->fault);
}

static const cJSON *first_walk(const cJSON *object)
{
    return object;
}

const struct notation notation_values = {.name = "a text, or an event, in JSON",
                                         .is_object = is_object,
                                         .first_walk = first_walk,
                                         .read_walk = read_walk};
