/* JSON with a value that is a text of frames, and Windows' events as JSON:
 *
 *   Message                          of an event, by PowerShell's Get-WinEvent
 *   message                          of an event, by Winlogbeat; of logs
 *   Event.EventData                  of an event, by evtx_dump
 *   winlog.event_data                of an event, by Winlogbeat
 *   error.stack, error.stack_trace   of an error, by Datadog and by Elastic
 *   error.threads[].stack            of each thread, by Datadog, whose error.stack is that of the
 *                                    crashed one; error.binary_images has their modules
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

/* The first thread of Datadog's; NULL: there is none. */
static const cJSON *threads_of(const cJSON *object)
{
    static place places[] = {{"error", "threads"}};
    const cJSON *threads = first_of(object, places, COUNT_OF(places));
    const cJSON *first = cJSON_IsArray(threads) ? threads->child : NULL;
    return cJSON_IsString(cJSON_GetObjectItemCaseSensitive(first, "stack")) ? first : NULL;
}

static bool read_data(struct stack_input *input, const cJSON *data)
{
    enum { MODULE = 3, OFFSET = 7 };
    struct frame frame = {.found_by = FOUND_GIVEN, .identity = IDENTITY_UNCHECKED};
    const char *module = value_of(data, "ModuleName", "param4", MODULE);
    const char *offset = value_of(data, "FaultingOffset", "param8", OFFSET);
    uint64_t number;
    if (module == NULL || offset == NULL || !text_parse_hex(offset, strlen(offset), &number) ||
        !spelled_fault(input, module, number, &frame))
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
    return text_of(object) != NULL || threads_of(object) != NULL || cJSON_IsObject(data_of(object));
}

/* From now on the modules of OBJECT's texts have the identities that it states. */
static void state_images(struct stack_input *input, const cJSON *object, struct fault *fault)
{
    static place places[] = {{"error", "binary_images"}};
    const cJSON *images = first_of(object, places, COUNT_OF(places)), *image;
    uint32_t count = 0;
    cJSON_ArrayForEach(image, images)
    {
        const char *name = json_get_string(image, "name", &input->scratch, fault);
        const char *id = json_get_string(image, "uuid", &input->scratch, fault);
        if (++count > LIMIT_MODULES) {
            fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "images");
            return;
        }
        if (name != NULL && id != NULL)
            (void)input_state_module(input, name, strlen(name), NULL, 0, id, strlen(id));
    }
}

static void begin(struct stack_input *input, struct fault *fault)
{
    const cJSON *thread = threads_of(input->object);
    input->more_walks = thread;
    input->in_more = false;
    for (; thread != NULL; thread = thread->next) /* in place of error.stack, which is the same */
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(thread, "crashed")))
            input->in_more = true;
    state_images(input, input->object, fault);
}

/* The text of the object, then those of its threads. */
static const cJSON *next_walk(struct stack_input *input)
{
    const cJSON *last = input->walk;
    if (last == NULL && !input->in_more)
        return input->object;
    input->in_more = true;
    return last == NULL || last == input->object ? input->more_walks : last->next;
}

static void read_thread(struct stack_input *input, const cJSON *walk, struct arena *keep,
                        struct stack_item *out)
{
    const char *text = json_get_string(walk, "stack", &input->scratch, &out->fault);
    if (text != NULL && !text_read_value(input, text))
        fault_set_hint(&out->fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "text of a stack",
                       "it holds several stacks: give the text alone");
    json_end_walk(input, keep, &out->stack, &out->fault);
    out->crashed_first = true;
    out->label = out->stack.label = out->stack.thread_name =
        json_get_string(walk, "name", keep, &out->fault);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(walk, "crashed")))
        out->stack.role = THREAD_ROLE_SUSPECT;
}

/* An event has its data in both forms. */
static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    if (input->in_more) {
        read_thread(input, walk, keep, out);
        return;
    }
    const char *text = text_of(walk);
    if (!read_data(input, data_of(walk)) && text != NULL && !text_read_value(input, text))
        fault_set_hint(&out->fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "text of a stack",
                       "it holds several stacks: give the text alone");
    if (input->builder.count == 0 && out->fault.code == ERR_NONE)
        fault_set_hint(&out->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack",
                       "there are no threads, stacks or frames");
    json_end_walk(input, keep, &out->stack, &out->fault);
}

const struct notation notation_values = {.name = "a text, or an event, in JSON",
                                         .is_object = is_object,
                                         .begin = begin,
                                         .next_walk = next_walk,
                                         .read_walk = read_walk};
