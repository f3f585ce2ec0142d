/* JSON as a stream of stacks: one document, or one object per line. An object is read by the first
 * notation that knows it.
 *
 * {threads: [{..., stacks: [{..., frames}]}]}; `jobs` in place of `threads`, `frames` or one
 * `stack` in place of `stacks`, and any of them in place of `threads`, are fine. */
#include <string.h>

#include "base/array.h"
#include "stacks/json_documents.h"

bool json_is_own(const cJSON *object)
{
    static const char *const names[] = {"schema_version", "modules", "frames", "stacks"};
    const cJSON *member;
    cJSON_ArrayForEach(member, object)
    {
        for (size_t i = 0; member->string != NULL && i < COUNT_OF(names); i++)
            if (strcmp(member->string, names[i]) == 0)
                return true;
    }
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The end of the line that starts at FROM, or NULL when the line exceeds the limit. */
static const char *line_end(struct stack_input *input, size_t from)
{
    for (;;) {
        const char *stop = memchr(input->buffer + from, '\n', input->end - from);
        if (stop != NULL)
            return stop;
        if (input->end - from > LIMIT_LINE_BYTES)
            return NULL;
        if (!input_fill(input, (size_t)LIMIT_LINE_BYTES * 2))
            return input->buffer + input->end;
    }
}

/* True when '[' is followed by what an array of stacks can hold, or by nothing: logs begin with
 * "[Thread debugging ...". */
static bool starts_array(struct stack_input *input)
{
    const char *at = input_after_space(input, input->start);
    const char *next = input_after_space(input, (size_t)(at + 1 - input->buffer));
    return next == NULL || strchr("{[]\"", *next) != NULL;
}

/* The bytes of the first line where it is the heading of the document after it, as in Apple's .ips;
 * 0: it is not. No other line makes the reader wait for the next one: a pipe wants its answer. */
static size_t heading_bytes(struct stack_input *input)
{
    const char *stop = line_end(input, input->start);
    const struct pattern_text line = {input->buffer + input->start, stop};
    const size_t bytes = stop != NULL ? pattern_length(line) : 0;
    if (bytes == 0 || pattern_find_last(line, "\"bug_type\"") == NULL)
        return 0;
    const char *next = input_after_space(input, input->start + bytes);
    return next != NULL && *next == '{' && next + 1 < input->buffer + input->end &&
                   is_space(next[1])
               ? bytes
               : 0;
}

/* True when the first line is a whole object or the second line starts another one. */
static bool holds_objects(struct stack_input *input, size_t first)
{
    const char *stop = line_end(input, first);
    if (stop == NULL)
        return false;
    const size_t length = (size_t)(stop - input->buffer) - first;
    size_t last = first + length;
    while (last > first && is_space(input->buffer[last - 1]))
        last--;
    if (last > first + 1 && input->buffer[last - 1] == '}')
        return heading_bytes(input) == 0;
    const char *next = input_after_space(input, first + length);
    return next != NULL && *next == '{' && last > first + 1;
}

/* True when '{' is followed by another one, as in markup for LLVM's symbolizer. */
static bool starts_markup(struct stack_input *input, const char *at)
{
    const size_t first = (size_t)(at - input->buffer);
    return line_end(input, first) != NULL && input->end - first > 1 &&
           input->buffer[first + 1] == '{';
}

enum json_form json_find_form(struct stack_input *input)
{
    input_to_front(input); /* offsets count from the buffer's start */
    const char *at = input_after_space(input, input->start);
    if (at == NULL || (*at != '{' && *at != '['))
        return JSON_NONE;
    if (*at == '{' && starts_markup(input, at))
        return JSON_NONE;
    at = input_after_space(input, input->start);
    if (*at == '[')
        return starts_array(input) ? JSON_DOCUMENT : JSON_NONE;
    if (holds_objects(input, (size_t)(at - input->buffer)))
        return JSON_LINES;
    const size_t heading = heading_bytes(input);
    if (heading > 0)
        input_skip(input, heading);
    return JSON_DOCUMENT;
}

/* Moves to the first walk at or after the given thread; a thread without `stacks` is its own. */
static void seek_walk(struct stack_input *input, const cJSON *thread)
{
    input->walk = NULL;
    for (; thread != NULL; thread = thread->next) {
        const cJSON *walks = cJSON_GetObjectItemCaseSensitive(thread, "stacks");
        input->thread = thread;
        input->walk = cJSON_IsArray(walks) ? walks->child : thread;
        if (input->walk != NULL)
            return;
    }
    input->thread = NULL;
}

static void start_object(struct stack_input *input, const cJSON *object, struct fault *fault)
{
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(object, "json_dump");
    if (cJSON_IsObject(inner)) /* a processed crash of Socorro, Mozilla's server */
        object = inner;
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(object, "threads");

    if (threads == NULL)
        threads = cJSON_GetObjectItemCaseSensitive(object, "jobs");
    arena_reset(&input->scratch);
    input->object = object;
    input->thread = input->walk = NULL;
    input->modules = NULL;
    input->images = NULL;
    input->facts.of = NULL;
    input->object_label = NULL;
    input->many = false;
    if (!cJSON_IsObject(object)) {
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack", "expected an object");
        return;
    }
    for (input->reader = input->notations;
         (*input->reader)->is_object == NULL || !(*input->reader)->is_object(object);)
        input->reader++;
    if (json_get_uint(object, "schema_version", 1, fault) > 1)
        fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "schema_version",
                       "made by a newer program");
    if (fault->code == ERR_NONE && (*input->reader)->begin != NULL)
        (*input->reader)->begin(input, fault);
    if (fault->code != ERR_NONE)
        return;
    if ((*input->reader)->next_walk != NULL) {
        input->walk = (*input->reader)->next_walk(input);
    } else if ((*input->reader)->first_walk != NULL) {
        input->walk = (*input->reader)->first_walk(object);
    } else if (cJSON_IsArray(threads)) {
        seek_walk(input, threads->child);
        input->many = input->walk != NULL && (threads->child->next != NULL ||
                                              (input->walk != input->thread && input->walk->next));
    } else {
        const cJSON *walks = cJSON_GetObjectItemCaseSensitive(object, "stacks");
        input->walk = cJSON_IsArray(walks) ? walks->child : object;
        input->many = input->walk != NULL && input->walk != object && input->walk->next != NULL;
    }
}

/* Moves past the walk that was returned. */
static void next_walk(struct stack_input *input)
{
    const cJSON *walk = input->walk;
    if ((*input->reader)->next_walk != NULL)
        input->walk = (*input->reader)->next_walk(input);
    else if (walk == input->object)
        input->walk = NULL;
    else if (walk != input->thread && walk->next != NULL)
        input->walk = walk->next;
    else
        seek_walk(input, input->thread != NULL ? input->thread->next : NULL);
}

/* Takes the bytes of the next document. False at the end, or with a fault. */
static bool next_text(struct stack_input *input, struct stack_line *line, struct stack_item *out)
{
    char *text;
    if (input->notation->by_line) {
        do {
            if (!input_read_line(input, line))
                return false;
            while (!line->too_long && line->bytes > 0 && is_space(line->at[0])) {
                line->at++;
                line->bytes--;
            }
        } while (!line->too_long && (line->bytes == 0 || line->at[0] == '#'));
        return true;
    }
    if (input->reported)
        return false;
    input->reported = true;
    if (input_read_rest(input, &text, &line->bytes, &out->fault) != ERR_NONE)
        return false;
    line->at = text;
    if (input->broken) /* a part of a document is none */
        input_broken_fault(input, out);
    return !input->broken;
}

/* Reads the next document.  False at the end; *out has a fault when it is bad. */
static bool next_document(struct stack_input *input, struct stack_item *out)
{
    struct stack_line line = {NULL, 0, input->offset, false};

    cJSON_Delete(input->document);
    input->document = NULL;
    if (!next_text(input, &line, out))
        return out->fault.code != ERR_NONE;
    input->document_offset = line.offset;
    if (line.too_long) {
        item_fault(input, out, ERR_LIMIT, line.offset, "line", "longer than 1 MiB");
    } else if (json_parse(line.at, line.bytes, &input->document, &out->fault) != ERR_NONE) {
        if (out->fault.offset != FAULT_NO_OFFSET)
            out->fault.offset += line.offset;
        fault_set_path(&out->fault, input->name);
    }
    return true;
}

static void place_fault(struct stack_input *input, struct fault *fault)
{
    if (fault->offset == FAULT_NO_OFFSET)
        fault->offset = input->document_offset;
    fault_set_path(fault, input->name);
}

/* Moves to the next object, of the document's array or of the next document.  False at the end
 * or when *out has a fault. */
static bool next_object(struct stack_input *input, struct stack_item *out)
{
    const cJSON *object = NULL;

    if (input->element != NULL && input->element != input->document)
        object = input->element->next; /* the document is an array of objects */
    while (object == NULL) {
        input->object = input->element = NULL;
        if (!next_document(input, out) || out->fault.code != ERR_NONE)
            return false;
        object = cJSON_IsArray(input->document) ? input->document->child : input->document;
    }
    input->element = object;
    start_object(input, object, &out->fault);
    if (out->fault.code == ERR_NONE)
        return true;
    input->walk = NULL;
    place_fault(input, &out->fault);
    return false;
}

void json_no_place(struct fault *fault)
{
    if (fault->code == ERR_NONE)
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frame",
                       "it states no address, no offset in a module and no function");
}

void json_end_walk(struct stack_input *input, struct arena *keep, struct stack *out,
                   struct fault *fault)
{
    struct stack read;
    if (builder_finish(input, true, keep, &read) != ERR_NONE)
        fault_no_memory(fault, "stack");
    out->frames = read.frames;
    out->frame_count = read.frame_count;
    out->left_out += read.left_out;
}

bool json_next(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    while (input->walk == NULL) /* an object without threads gives no stack */
        if (!next_object(input, out))
            return out->fault.code != ERR_NONE;
    (*input->reader)->read_walk(input, input->walk, keep, out);
    if (out->fault.code != ERR_NONE)
        place_fault(input, &out->fault);
    next_walk(input);
    return true;
}
